//! Arguments that the verbs on captures share.

use super::CliError;
pub(super) use crate::capture::is_run;
use crate::capture::{EdgeRule, HostWords, Measured, PowerSeries, Request, WindowOptions};
use crate::formats::{Opened, Options, TableOptions};
use crate::trace::Mark;
use crate::units::{Hertz, Literal, Quantity, Volts};
use clap::{Args, ValueEnum};
use std::path::{Path, PathBuf};

/// A capture or a trace.
#[derive(Debug, Args)]
pub(super) struct CaptureArgument {
    /// A file or folder that an instrument, a runner or a run of joulecast wrote
    pub(super) capture: PathBuf,
    #[command(flatten)]
    reading: ReadingArguments,
}

/// How a capture is read.
#[derive(Debug, Args)]
pub(super) struct ReadingArguments {
    /// The format, where its content does not tell it; `joulecast capture formats` lists them
    #[arg(long, value_name = "NAME")]
    format: Option<String>,
    /// Sample rate, for files that do not say it, such as "100 kHz"
    #[arg(long, value_name = "RATE")]
    rate: Option<String>,
    /// Supply voltage, for files that hold a current alone, such as "3.3 V"
    #[arg(long, value_name = "VOLTAGE")]
    voltage: Option<String>,
    #[command(flatten)]
    table: TableArguments,
}

/// How a table of numbers is laid out.
#[derive(Debug, Args)]
#[command(next_help_heading = "Tables of numbers (--format csv)")]
struct TableArguments {
    /// Column of time, by name or number from 1
    #[arg(long, value_name = "COLUMN")]
    time_column: Option<String>,
    /// Unit of time: s, ms, us or ns
    #[arg(long, value_name = "UNIT")]
    time_unit: Option<String>,
    /// A column to read, and its unit: `Main=mA`, or `trig=level` for a digital line; every column of a
    /// known unit when left out or for lines alone
    #[arg(long, value_name = "COLUMN[=UNIT]")]
    column: Vec<String>,
    /// Unit of columns whose head does not say it, such as mA
    #[arg(long, value_name = "UNIT")]
    unit: Option<String>,
    /// What stands between cells
    #[arg(long, value_name = "CHARACTER")]
    delimiter: Option<char>,
    /// The decimal sign
    #[arg(long, value_name = "CHARACTER")]
    decimal: Option<char>,
    /// Lines before the head
    #[arg(long, value_name = "LINES")]
    skip: Option<u64>,
}

/// Which stretches are measured.
#[derive(Debug, Args)]
#[command(next_help_heading = "Windows")]
pub(super) struct WindowArguments {
    /// The digital line that marks windows
    #[arg(long, value_name = "NAME")]
    line: Option<String>,
    /// How its edges mark them; found when left out
    #[arg(long, value_name = "RULE")]
    edges: Option<Edges>,
    /// A log of the host that tells of windows, brought onto the meter's clock by the edges
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// Lines of a log that hold this tell of a start
    #[arg(long, value_name = "TEXT", default_value_t = HostWords::default().start)]
    start: String,
    /// Lines of a log that hold this tell of a stop
    #[arg(long, value_name = "TEXT", default_value_t = HostWords::default().stop)]
    stop: String,
    /// Windows to leave out at the start
    #[arg(long, value_name = "N", default_value_t = 0)]
    warm_up: usize,
    /// Inferences in each window, where no file says it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) inferences: Option<u64>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Edges {
    /// Falls pair up: start, stop
    Falls,
    /// Rises pair up: start, stop
    Rises,
    /// While the line is low
    Low,
    /// While the line is high
    High,
    /// No line: while power is high, between its change points
    Power,
}

impl CaptureArgument {
    /// The format of what is named.
    pub(super) fn open(&self) -> Result<Opened, CliError> {
        Ok(self.reading.request(&self.capture, None)?.open()?)
    }

    pub(super) fn options(&self) -> Result<Options, CliError> {
        self.reading.options()
    }

    /// True for the folder of a run that nobody calls by another format.
    pub(super) fn is_run(&self) -> bool {
        self.reading.format.is_none() && is_run(&self.capture)
    }

    /// Measures it, whoever wrote it.
    pub(super) fn measure(&self, windows: &WindowArguments) -> Result<Measured, CliError> {
        self.reading.measure(&self.capture, windows)
    }

    /// All of its power.
    pub(super) fn series(&self) -> Result<PowerSeries, CliError> {
        Ok(self.reading.request(&self.capture, None)?.series()?)
    }
}

impl ReadingArguments {
    fn options(&self) -> Result<Options, CliError> {
        let table = &self.table;
        Ok(Options {
            rate: quantity::<Hertz>("--rate", self.rate.as_deref())?,
            voltage: quantity::<Volts>("--voltage", self.voltage.as_deref())?,
            table: TableOptions {
                time_column: table.time_column.clone(),
                time_unit: table.time_unit.clone(),
                columns: table.column.clone(),
                unit: table.unit.clone(),
                delimiter: table.delimiter,
                decimal: table.decimal,
                skip: table.skip,
            },
        })
    }

    /// What is asked of a capture.
    fn request(
        &self,
        capture: &Path,
        windows: Option<&WindowArguments>,
    ) -> Result<Request, CliError> {
        Ok(Request {
            path: capture.to_owned(),
            format: self.format.clone(),
            options: self.options()?,
            windows: windows.map(WindowArguments::options).unwrap_or_default(),
            inferences: windows.and_then(|windows| windows.inferences),
            log: windows.and_then(|windows| windows.log.clone()),
        })
    }

    /// Measures a capture, whoever wrote it.
    pub(super) fn measure(
        &self,
        capture: &Path,
        windows: &WindowArguments,
    ) -> Result<Measured, CliError> {
        Ok(self.request(capture, Some(windows))?.measure()?)
    }
}

impl WindowArguments {
    /// The lines of the log that is named.
    pub(super) fn log(&self) -> Result<Vec<Mark>, CliError> {
        Ok(Request { log: self.log.clone(), ..Request::default() }.log()?)
    }

    pub(super) fn options(&self) -> WindowOptions {
        WindowOptions {
            line: self.line.clone(),
            rule: self.edges.map(|edges| match edges {
                Edges::Falls => EdgeRule::Falls,
                Edges::Rises => EdgeRule::Rises,
                Edges::Low => EdgeRule::Low,
                Edges::High => EdgeRule::High,
                Edges::Power => EdgeRule::Power,
            }),
            warm_up: self.warm_up,
            words: HostWords { start: self.start.clone(), stop: self.stop.clone() },
        }
    }
}

/// An argument with a unit, where it is given.
pub(super) fn quantity<Q: Quantity>(
    argument: &'static str,
    text: Option<&str>,
) -> Result<Option<Q>, CliError> {
    text.map(|text| stated(argument, text)).transpose()
}

/// An argument with a unit.
pub(super) fn stated<Q: Quantity>(argument: &'static str, text: &str) -> Result<Q, CliError> {
    let literal = Literal::parse_as::<Q>(text);
    literal
        .map(|literal| Q::from_si(literal.value))
        .map_err(|error| CliError::Argument { argument, error })
}
