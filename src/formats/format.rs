//! The list of formats, and the one that a file is in.

use super::{
    FormatError, Head, Input, Place, ReadFault, ambiq_layers, any_csv, chrome_json, energy_runner,
    host_log, jls, joulescope_csv, loadgen, monsoon, nvidia_smi, perfetto, power_gadget, ppk2,
    ppk2_csv, ptdaemon, saleae_binary, saleae_csv, sigrok_csv, sigrok_sr, st_edge_ai, sysfs_log,
    tegrastats, tensorrt, tflm_profile,
};
use crate::diagnostic::nearest;
use crate::trace::SampleSink;
use crate::units::{Hertz, Volts};
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// What the user says about a file beyond its bytes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Options {
    /// The sample rate, for files that do not say it.
    pub rate: Option<Hertz>,
    /// The supply voltage, for files that do not say it.
    pub voltage: Option<Volts>,
    /// How a table of numbers is laid out.
    pub table: TableOptions,
}

/// How a table of numbers is laid out, for the reader of any CSV.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TableOptions {
    /// Name, or number from 1, of the column of time; none for a table at a sample rate.
    pub time_column: Option<String>,
    /// Unit of the column of time, where its head does not say it.
    pub time_unit: Option<String>,
    /// Columns to read, each `NAME` or `NAME=UNIT`; all of a known unit when empty.
    pub columns: Vec<String>,
    /// Unit of columns whose head does not say it.
    pub unit: Option<String>,
    /// What stands between cells; found when not given.
    pub delimiter: Option<char>,
    /// The decimal sign; found when not given.
    pub decimal: Option<char>,
    /// Lines before the head.
    pub skip: Option<u64>,
}

/// How a format is recognised and read.
#[derive(Clone, Copy)]
pub enum Shape {
    /// One file.
    File {
        /// True where the first bytes are of this format.
        recognises: fn(&Head) -> bool,
        /// Reads it.
        read: fn(&mut Input<'_>, &Options, &mut dyn SampleSink) -> Result<(), FormatError>,
    },
    /// A folder of files that belong together.
    Folder {
        /// True where the folder holds what this format needs.
        recognises: fn(&Path) -> bool,
        /// Reads it.
        read: fn(&Path, &Options, &mut dyn SampleSink) -> Result<(), FormatError>,
    },
}

impl std::fmt::Debug for Shape {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::File { .. } => "File",
            Self::Folder { .. } => "Folder",
        })
    }
}

/// A format that can be read.
#[derive(Debug, Clone, Copy)]
pub struct Format {
    /// Its name, for `--format`.
    pub name: &'static str,
    /// What writes it.
    pub title: &'static str,
    /// How it is recognised and read.
    pub shape: Shape,
}

/// Every format, the more particular before the more general: the first that recognises a file
/// reads it.
pub const FORMATS: &[Format] = &[
    energy_runner::FOLDER,
    energy_runner::PYTHON_FOLDER,
    energy_runner::TRACE,
    energy_runner::PYTHON,
    energy_runner::LOG,
    loadgen::FOLDER,
    ptdaemon::FORMAT,
    tegrastats::FORMAT,
    nvidia_smi::FORMAT,
    power_gadget::FORMAT,
    ambiq_layers::FORMAT,
    tflm_profile::FORMAT,
    tensorrt::FORMAT,
    st_edge_ai::FORMAT,
    sysfs_log::FORMAT,
    saleae_binary::SALEAE,
    ppk2::PPK2,
    sigrok_sr::SIGROK,
    jls::JLS,
    jls::JLS_1,
    perfetto::PERFETTO,
    chrome_json::CHROME_JSON,
    ppk2_csv::FORMAT,
    joulescope_csv::FORMAT,
    monsoon::FORMAT,
    saleae_csv::FORMAT,
    sigrok_csv::FORMAT,
    any_csv::FORMAT,
    host_log::FORMAT,
];

/// A file or folder whose format is known.
#[derive(Debug, Clone)]
pub struct Opened {
    /// The format.
    pub format: &'static Format,
    path: PathBuf,
}

/// Recognises the format of a file or folder by its content.
pub fn open(path: &Path) -> Result<Opened, FormatError> {
    let format = if path.is_dir() {
        FORMATS.iter().find(|format| match format.shape {
            Shape::Folder { recognises, .. } => recognises(path),
            Shape::File { .. } => false,
        })
    } else {
        let mut input = Input::open(path)?;
        let head = Head::of(&mut input)?;
        if head.bytes().is_empty() {
            return Err(input.fault(Place::Whole, ReadFault::Empty));
        }
        recognised(&head)
    };
    match format {
        Some(format) => Ok(Opened { format, path: path.to_owned() }),
        None => Err(FormatError::Unrecognised { file: path.display().to_string(), known: names() }),
    }
}

/// Takes a file or folder as one of a named format.
pub fn open_as(path: &Path, name: &str) -> Result<Opened, FormatError> {
    match FORMATS.iter().find(|format| format.name == name) {
        Some(format) => Ok(Opened { format, path: path.to_owned() }),
        None => Err(FormatError::NoFormat {
            name: name.into(),
            nearest: nearest(name, FORMATS.iter().map(|f| f.name)).map(str::to_owned),
            known: names(),
        }),
    }
}

/// The format of a file that starts like this.
pub fn recognised(head: &Head) -> Option<&'static Format> {
    FORMATS.iter().find(|format| match format.shape {
        Shape::File { recognises, .. } => recognises(head),
        Shape::Folder { .. } => false,
    })
}

fn names() -> String {
    FORMATS.iter().map(|format| format.name).collect::<Vec<_>>().join(", ")
}

impl Opened {
    /// Streams all of it into a sink.
    pub fn read(&self, options: &Options, sink: &mut dyn SampleSink) -> Result<(), FormatError> {
        match self.format.shape {
            Shape::Folder { read, .. } => read(&self.path, options, sink),
            Shape::File { read, .. } => read(&mut Input::open(&self.path)?, options, sink),
        }
    }
}
