//! The captures of MLPerf Tiny: EnergyRunner's binary trace with its time stamps, host log and
//! results, and the newer Python runner's JSON.
//!
//! `trace1-energy.bin` is one byte 0xF1, a float32 sample rate, then float32 energies of each
//! sample in *microjoule* (the driver's documentation says joule; the published energies say
//! microjoule). `trace1-timestamps.json` holds the seconds at which the device pulled its pin, on
//! the clock of the trace; `log.txt` is the host's. Layouts were checked against the published
//! results of rounds v0.5 to v1.3, see `captures.md` of the reference data.

mod binary;
mod log;
mod log_alone;
mod python;
mod results;

use super::{Format, FormatError, Input, Options, Place, ReadFault, Shape};
use crate::trace::{Edge, Layout, Level, LineId, Mark, SampleSink};
use crate::units::{Seconds, SimTime};
use std::path::{Path, PathBuf};

/// A folder of EnergyRunner.
pub(super) const FOLDER: Format = Format {
    name: "energyrunner",
    title: "EEMBC EnergyRunner (MLPerf Tiny): folder of trace, time stamps, log and results",
    shape: Shape::Folder { recognises: |folder| trace_in(folder).is_some(), read },
};

/// A folder of the Python runner.
pub(super) const PYTHON_FOLDER: Format = Format {
    name: "mlperf-tiny-runner",
    title: "MLPerf Tiny Python runner: folder with results.json",
    shape: Shape::Folder {
        recognises: |folder| folder.join(python::FILE).is_file(),
        read: python::read_folder,
    },
};

/// The trace alone.
pub(super) const TRACE: Format = Format {
    name: "energyrunner-trace",
    title: "EEMBC EnergyRunner: trace1-energy.bin alone",
    shape: Shape::File {
        recognises: |head| binary::rate(head.bytes()).is_some(),
        read: |input, _, sink| binary::read(input, Layout::default(), &[], &[], sink),
    },
};

/// The Python runner's results alone.
pub(super) const PYTHON: Format = Format {
    name: "mlperf-tiny-json",
    title: "MLPerf Tiny Python runner: results.json alone",
    shape: Shape::File {
        recognises: |head| {
            let text = head.text().trim_start();
            text.starts_with('[') && text.contains("\"infer\"") && text.contains("\"power\"")
        },
        read: |input, _, sink| python::read(input, None, sink),
    },
};

/// The host's log alone.
pub(super) const LOG: Format = Format {
    name: "energyrunner-log",
    title: "EEMBC EnergyRunner: log.txt alone",
    shape: Shape::File {
        recognises: log_alone::recognises,
        read: |input, _, sink| log_alone::read(input, sink),
    },
};

/// Text files beside a trace are small; what is larger is none of them.
const LARGEST_TEXT: u64 = 64 << 20;

const TRACE_END: &str = "-energy.bin";
const LINE: &str = "timestamp";

/// The trace of a folder: the first by name.
fn trace_in(folder: &Path) -> Option<PathBuf> {
    let entries = std::fs::read_dir(folder).ok()?;
    let mut traces: Vec<_> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.to_string_lossy().ends_with(TRACE_END))
        .collect();
    traces.sort();
    traces.into_iter().next()
}

fn read(folder: &Path, _: &Options, sink: &mut dyn SampleSink) -> Result<(), FormatError> {
    let mut layout = Layout { format: FOLDER.name.into(), ..Layout::default() };
    let Some(trace) = trace_in(folder) else {
        let fault = ReadFault::Missing { what: format!("a trace called *{TRACE_END}") };
        return Err(unreadable(folder, fault));
    };
    let stamps = PathBuf::from(trace.to_string_lossy().replace(TRACE_END, "-timestamps.json"));
    let edges = match optional(&stamps, &mut layout)? {
        Some(mut input) => time_stamps(&mut input)?,
        None => Vec::new(),
    };
    let marks = match optional(&folder.join("log.txt"), &mut layout)? {
        Some(mut input) => {
            let log = log::read(&mut input)?;
            layout.supply = log.supply;
            layout.remarks.extend(log.remarks);
            log.marks
        }
        None => Vec::new(),
    };
    if let Some(mut input) = optional(&folder.join("results.txt"), &mut layout)? {
        layout.run = Some(results::read(&mut input)?);
    }
    binary::read(&mut Input::open(&trace)?, layout, &edges, &marks, sink)
}

fn unreadable(path: &Path, fault: ReadFault) -> FormatError {
    FormatError::Unreadable { file: path.display().to_string(), place: Place::Whole, fault }
}

/// A file that may be absent; that it is gets said.
fn optional(path: &Path, layout: &mut Layout) -> Result<Option<Input<'static>>, FormatError> {
    if path.is_file() {
        return Input::open(path).map(Some);
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    layout.remarks.push(format!("{name} is not there"));
    Ok(None)
}

/// The instants of the pin, each a fall of the line.
fn time_stamps(input: &mut Input<'_>) -> Result<Vec<Edge>, FormatError> {
    let text = input.text(LARGEST_TEXT)?;
    let seconds: Vec<f64> = serde_json::from_str(&text).map_err(|error| {
        let place = Place::Line(error.line() as u64);
        input.fault(place, ReadFault::Json { reason: error.to_string() })
    })?;
    let mut edges: Vec<Edge> = Vec::new();
    for second in seconds {
        let past = || input.fault(Place::Whole, ReadFault::PastEnd { at: second.to_string() });
        let at = SimTime::from_seconds(Seconds(second)).map_err(|_| past())?;
        if let Some(before) = edges.last().filter(|before| before.at >= at) {
            let fault = ReadFault::backwards(before.at, at);
            return Err(input.fault(Place::Whole, fault));
        }
        edges.push(Edge { line: LineId(0), at, to: Level::Low });
    }
    Ok(edges)
}

/// Tells what stands beside the samples.
fn tell(layout: &Layout, edges: &[Edge], marks: &[Mark], sink: &mut dyn SampleSink) {
    sink.begin(layout);
    edges.iter().for_each(|edge| sink.edge(*edge));
    marks.iter().for_each(|mark| sink.mark(mark.clone()));
}

#[cfg(test)]
mod tests;
