//! What is asked of a capture: which file, how it is read, which stretches count.

use super::{FoldFault, Folded, Measured, PowerSeries, Rails, Window, WindowOptions, fold};
use crate::formats::{self, FormatError, Opened, Options, csv};
use crate::trace::{Mark, Readings};
use crate::units::{Seconds, SimTime};
use std::path::{Path, PathBuf};

/// A capture, or the folder of a run, with what is to be known to measure it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Request {
    /// The file or folder.
    pub path: PathBuf,
    /// The format, where its content does not tell it.
    pub format: Option<String>,
    /// How it is read.
    pub options: Options,
    /// Which stretches count.
    pub windows: WindowOptions,
    /// Inferences in each window, where no file says it.
    pub inferences: Option<u64>,
    /// A log of the host.
    pub log: Option<PathBuf>,
}

impl Request {
    /// True for the folder of a run that nobody calls by another format.
    pub fn is_run(&self) -> bool {
        self.format.is_none() && is_run(&self.path)
    }

    /// The format of what is named.
    ///
    /// # Errors
    /// It cannot be read, or no format looks like it.
    pub fn open(&self) -> Result<Opened, FormatError> {
        match &self.format {
            Some(name) => formats::open_as(&self.path, name),
            None => formats::open(&self.path),
        }
    }

    /// The lines of the log that is named.
    ///
    /// # Errors
    /// The log cannot be read.
    pub fn log(&self) -> Result<Vec<Mark>, FormatError> {
        let Some(path) = &self.log else { return Ok(Vec::new()) };
        let mut readings = Readings::default();
        formats::open(path)?.read(&Options::default(), &mut readings)?;
        Ok(readings.marks)
    }

    /// Measures it, whoever wrote it.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn measure(&self) -> Result<Measured, FormatError> {
        if self.is_run() {
            let (trace, log) = (csv::read_folder(&self.path)?, self.log()?);
            return Ok(Measured::of_trace(&trace, &self.windows, self.inferences, &log));
        }
        let (opened, log) = (self.open()?, self.log()?);
        Measured::read(&opened, &self.options, &self.windows, self.inferences, &log)
    }

    /// All of its power.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn series(&self) -> Result<PowerSeries, FormatError> {
        let mut series = PowerSeries::default();
        if self.is_run() {
            csv::read_folder(&self.path)?.replay(&mut series);
        } else {
            let mut rails = Rails::power(&mut series, self.options.voltage);
            self.open()?.read(&self.options, &mut rails)?;
        }
        Ok(series)
    }
}

/// The profile of one inference from the windows that were measured in a series, each without a margin at its end.
///
/// # Errors
/// There is nothing to fold.
pub fn fold_measured(
    series: &PowerSeries,
    measured: &Measured,
    margin: Seconds,
) -> Result<Folded, FoldFault> {
    let margin = SimTime::from_seconds(margin).unwrap_or_default().0;
    let within = measured.measured.iter().map(|own| Window {
        start: own.window.start,
        stop: SimTime(own.window.stop.0.saturating_sub(margin)),
        name: own.window.name.clone(),
    });
    let windows: Vec<Window> = within.filter(|window| window.start < window.stop).collect();
    fold(&series.power, &windows, measured.inferences_per_window)
}

/// True for the folder of a run.
pub fn is_run(path: &Path) -> bool {
    path.join(csv::POWER_FILE).is_file() && path.join(csv::SPANS_FILE).is_file()
}
