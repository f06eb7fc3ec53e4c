//! A run of MLPerf Inference with power: `spl.txt` of the meter beside what loadgen wrote.
//!
//! `mlperf_log_detail.txt` has one JSON object a line behind `:::MLLOG `; its `power_begin` and
//! `power_end` are wall-clock texts in the style of `spl.txt` that bound the measured run.
//! `mlperf_log_summary.txt` has the scenario, the rate and the percentiles of latency. Runs from
//! v2.0 on state how many queries were done; before, only the rate is known but for `Offline`,
//! which is one query.

use super::ptdaemon::{self, Beside};
use super::stamps::{DateOrder, Picoseconds, calendar, in_seconds};
use super::{Format, FormatError, Input, Options, Place, ReadFault, Shape, lines};
use crate::trace::{SampleSink, StatedRun};
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// The folder of a run.
pub(super) const FOLDER: Format = Format {
    name: "mlperf-inference",
    title: "MLPerf Inference with power: folder of spl.txt and loadgen's logs",
    shape: Shape::Folder {
        recognises: |folder| folder.join(METER).is_file() && found(folder, DETAIL).is_some(),
        read,
    },
};

const METER: &str = "spl.txt";
const DETAIL: &str = "mlperf_log_detail";
const SUMMARY: &str = "mlperf_log_summary";

/// The first file by name that starts with `stem` and ends with `.txt`.
fn found(folder: &Path, stem: &str) -> Option<PathBuf> {
    let entries = std::fs::read_dir(folder).ok()?;
    let mut files: Vec<_> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with(stem) && name.ends_with(".txt") && path.is_file()
        })
        .collect();
    files.sort();
    files.into_iter().next()
}

fn read(folder: &Path, _: &Options, sink: &mut dyn SampleSink) -> Result<(), FormatError> {
    let mut beside = Beside { format: FOLDER.name, ..Beside::default() };
    let detail = match found(folder, DETAIL) {
        Some(path) => detail(&mut Input::open(&path)?)?,
        None => {
            let file = folder.display().to_string();
            let fault = ReadFault::Missing { what: format!("{DETAIL}.txt") };
            return Err(FormatError::Unreadable { file, place: Place::Whole, fault });
        }
    };
    let summary = match found(folder, SUMMARY) {
        Some(path) => summary(&mut Input::open(&path)?)?,
        None => {
            beside.remarks.push(format!("{SUMMARY}.txt is not there"));
            Summary::default()
        }
    };
    beside.remarks.extend(summary.remarks());
    let inferences = detail.inferences(&summary);
    if inferences.is_none() {
        beside.remarks.push("how many inferences the window holds is not stated".into());
    }
    beside.run = Some(StatedRun { inferences_per_window: inferences, ..StatedRun::default() });
    beside.remarks.push(
        "the window is on the clock of the device under test; in published runs its steps of load show about 0.8 s later in the meter's samples, and nothing is shifted for it".into(),
    );
    if detail.windows.is_empty() {
        beside.remarks.push("there is no power_begin and power_end: no window".into());
    }
    beside.windows = detail.windows;
    ptdaemon::read(&mut Input::open(&folder.join(METER))?, beside, sink)
}

/// What the detail log says.
#[derive(Debug, Default, PartialEq)]
struct Detail {
    windows: Vec<(Picoseconds, Picoseconds)>,
    samples_per_query: Option<u64>,
    queries_generated: Option<u64>,
    queries_done: Option<u64>,
}

#[derive(Deserialize)]
struct Entry {
    key: String,
    value: serde_json::Value,
}

/// Keys of the detail log that are read; the others, one or several for each query, are passed by.
const KEYS: [&str; 5] = [
    "power_begin",
    "power_end",
    "effective_samples_per_query",
    "generated_query_count",
    "result_query_count",
];

fn detail(input: &mut Input<'_>) -> Result<Detail, FormatError> {
    let mut detail = Detail::default();
    let mut begun = None;
    lines::each(input, |line| {
        let Some(json) = line.text.trim_start().strip_prefix(":::MLLOG ") else { return Ok(()) };
        if !line.whole || !KEYS.iter().any(|key| json.contains(key)) {
            return Ok(());
        }
        let entry: Entry = serde_json::from_str(json)
            .map_err(|error| ReadFault::Json { reason: error.to_string() })?;
        let count = entry.value.as_u64();
        match entry.key.as_str() {
            "power_begin" => begun = Some(instant(&entry)?),
            "power_end" => {
                let end = instant(&entry)?;
                let what = || ReadFault::Missing { what: "power_begin before power_end".into() };
                let start = begun.take().ok_or_else(what)?;
                if end < start {
                    let (before, at) = (in_seconds(0), in_seconds(end - start));
                    return Err(ReadFault::Backwards { before, at });
                }
                detail.windows.push((start, end));
            }
            "effective_samples_per_query" => detail.samples_per_query = count,
            "generated_query_count" => detail.queries_generated = count,
            "result_query_count" => detail.queries_done = count,
            _ => {}
        }
        Ok(())
    })?;
    Ok(detail)
}

fn instant(entry: &Entry) -> Result<Picoseconds, ReadFault> {
    let text = entry.value.as_str().unwrap_or_default();
    let stamp = text.split_once(' ');
    let stamp = stamp.and_then(|(date, time)| calendar(date, time, DateOrder::MonthFirst));
    stamp.ok_or_else(|| ReadFault::Value {
        what: entry.key.clone(),
        found: entry.value.to_string(),
        expected: "`MM-DD-YYYY HH:MM:SS.mmm`",
    })
}

impl Detail {
    /// Inferences of the run: loadgen makes more queries beforehand than it can do, but for
    /// `Offline`, which is one.
    fn inferences(&self, summary: &Summary) -> Option<u64> {
        let offline = summary.scenario.as_deref() == Some("Offline");
        let queries = self.queries_done.or(self.queries_generated.filter(|_| offline))?;
        (self.windows.len() <= 1).then(|| queries.checked_mul(self.samples_per_query?))?
    }
}

/// What the summary says.
#[derive(Debug, Default, PartialEq)]
struct Summary {
    scenario: Option<String>,
    result: Option<String>,
    /// The rate with its label.
    rates: Vec<(String, f64)>,
    /// Nanoseconds with their label.
    latencies: Vec<(String, f64)>,
}

fn summary(input: &mut Input<'_>) -> Result<Summary, FormatError> {
    let mut summary = Summary::default();
    lines::each(input, |line| {
        let Some((label, value)) = line.text.split_once(':') else { return Ok(()) };
        let (label, value) = (label.trim(), value.trim());
        if label == "Scenario" {
            summary.scenario = Some(value.into());
        } else if label == "Result is" {
            summary.result = Some(value.into());
        } else if label.starts_with("QPS w/ ") || label.to_lowercase().starts_with("samples per s")
        {
            summary.rates.push((label.into(), lines::number(value, label)?));
        } else if let Some(which) = label.strip_suffix(" (ns)")
            && wanted(which)
        {
            let which = which.trim_end_matches(" latency").trim_end();
            summary.latencies.push((which.into(), lines::number(value, label)?));
        }
        Ok(())
    })?;
    Ok(summary)
}

fn wanted(label: &str) -> bool {
    ["Mean", "50.00 ", "90.00 ", "99.00 "].iter().any(|start| label.starts_with(start))
}

impl Summary {
    fn remarks(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        let scenario = self.scenario.iter().map(|s| format!("scenario {s}"));
        let rates = self.rates.iter().map(|(label, rate)| format!("{label} {rate}"));
        let latencies =
            self.latencies.iter().map(|(label, ns)| format!("{label} latency {} ms", ns * 1e-6));
        let said: Vec<_> = scenario.chain(rates).chain(latencies).collect();
        if !said.is_empty() {
            remarks.push(format!("loadgen: {}", said.join(", ")));
        }
        if let Some(result) = self.result.as_ref().filter(|result| *result != "VALID") {
            remarks.push(format!("loadgen calls the run {result}"));
        }
        remarks
    }
}

#[cfg(test)]
mod tests;
