//! `capture record`: the trace of a run as a meter would have written it.

use super::measurement::stated;
use super::{Answer, CliError};
use crate::formats::{csv, ppk2_csv};
use crate::report::{FolderError, write_file_with};
use crate::trace::Instrument;
use crate::units::{Amperes, Hertz, Ratio, Volts};
use clap::Args;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

/// Arguments of `capture record`.
#[derive(Debug, Args)]
pub(super) struct Record {
    /// The folder of a run
    run: PathBuf,
    /// The .csv file to write, as the app of a Power Profiler Kit exports it: D0 is high while an inference runs,
    /// D1 changes where a layer starts
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Voltage that the meter supplies
    #[arg(long, value_name = "VOLTAGE")]
    voltage: String,
    /// Samples a second
    #[arg(long, value_name = "RATE", default_value = "100 kHz")]
    rate: String,
    /// Standard deviation of a sample
    #[arg(long, value_name = "CURRENT", default_value = "0 uA")]
    noise: String,
    /// What it reads over what flows, such as "101 %"
    #[arg(long, value_name = "FACTOR", default_value = "100 %")]
    gain: String,
    /// What it reads where nothing flows
    #[arg(long, value_name = "CURRENT", default_value = "0 uA", allow_hyphen_values = true)]
    offset: String,
    /// How many of its seconds go by in a second
    #[arg(long, value_name = "FACTOR", default_value = "100 %")]
    clock: String,
    /// The step that readings are multiples of; none where it is zero
    #[arg(long, value_name = "CURRENT", default_value = "0 uA")]
    step: String,
    /// Which noise it is
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
}

impl Record {
    pub(super) fn run(&self) -> Result<Answer, CliError> {
        let trace = csv::read_folder(&self.run)?;
        let reading = self.instrument()?.read(&trace)?;
        let seconds = reading.current.len() as f64 / reading.rate.0;
        write_file_with(&self.out, |staged| {
            let write = || -> std::io::Result<()> {
                let mut out = BufWriter::new(File::create(staged)?);
                ppk2_csv::write(&reading, &mut out)?;
                out.flush()
            };
            let path: &Path = &self.out;
            write().map_err(|source| FolderError::Io { path: path.to_owned(), source })
        })?;
        Ok(Answer::yes(format!(
            "{}: {} samples, {seconds:.3} s\n",
            self.out.display(),
            reading.current.len()
        )))
    }

    fn instrument(&self) -> Result<Instrument, CliError> {
        let current = |argument, text: &str| stated::<Amperes>(argument, text);
        Ok(Instrument {
            rate: stated::<Hertz>("--rate", &self.rate)?,
            voltage: stated::<Volts>("--voltage", &self.voltage)?,
            gain: stated::<Ratio>("--gain", &self.gain)?,
            clock: stated::<Ratio>("--clock", &self.clock)?,
            offset: current("--offset", &self.offset)?,
            noise: current("--noise", &self.noise)?,
            step: current("--step", &self.step)?,
            seed: self.seed,
        })
    }
}
