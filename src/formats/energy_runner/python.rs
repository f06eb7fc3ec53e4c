//! `results.json` of the Python runner: trials, each with its samples in joule and the numbers of
//! the samples at which the pin's events arrived.
//!
//! The measured window of a trial lies between its last two events: one before them is a stray
//! edge. The time from one trial to the next is not recorded; trials stand one after another here,
//! with a gap of one second between them.

use super::super::{FormatError, Input, Options, Place, ReadFault};
use super::{PYTHON, PYTHON_FOLDER, results, tell};
use crate::trace::{
    Block, Channel, ChannelId, ChannelKind, Edge, Layout, Level, LineId, SampleClock, SampleSink,
    Span, SpanKind, StatedRun,
};
use crate::units::{Hertz, SimTime, Volts};
use serde::Deserialize;
use std::path::Path;

pub(super) const FILE: &str = "results.json";
/// LPM01A in energy mode, `freq 1k`: the file does not repeat it.
const RATE: Hertz = Hertz(1000.0);
const GAP: u64 = 1000;
const LARGEST: u64 = 1 << 30;

#[derive(Deserialize)]
struct Trial {
    infer: Infer,
    power: Power,
}

#[derive(Deserialize)]
struct Infer {
    iterations: Option<u64>,
}

#[derive(Deserialize)]
struct Power {
    /// Joule; what could not be read is none.
    samples: Vec<Option<f64>>,
    /// The number of the event as text, and the sample at which it arrived.
    timestamps: Vec<(String, u64)>,
    voltage: Option<f64>,
}

pub(super) fn read_folder(
    folder: &Path,
    _: &Options,
    sink: &mut dyn SampleSink,
) -> Result<(), FormatError> {
    let published = folder.join("results.txt");
    let run = match published.is_file() {
        true => Some(results::read(&mut Input::open(&published)?)?),
        false => None,
    };
    read(&mut Input::open(&folder.join(FILE))?, run, sink)
}

pub(super) fn read(
    input: &mut Input<'_>,
    published: Option<StatedRun>,
    sink: &mut dyn SampleSink,
) -> Result<(), FormatError> {
    let text = without_nan(input.text(LARGEST)?);
    if text.trim().is_empty() {
        return Err(input.fault(Place::Whole, ReadFault::Empty));
    }
    let trials: Vec<Trial> = serde_json::from_str(&text).map_err(|error| {
        let reason = error.to_string();
        input.fault(Place::Line(error.line() as u64), ReadFault::Json { reason })
    })?;
    drop(text);
    if trials.iter().all(|trial| trial.power.samples.is_empty()) {
        return Err(input.fault(Place::Whole, ReadFault::NoSamples));
    }
    let mut layout = Layout {
        format: if published.is_some() { PYTHON_FOLDER.name } else { PYTHON.name }.into(),
        channels: vec![Channel::new("energy", ChannelKind::Power, "dut")],
        lines: vec![super::LINE.into()],
        supply: trials.iter().find_map(|trial| trial.power.voltage).map(Volts),
        run: published,
        ..Layout::default()
    };
    layout.remarks.push("samples are joule, at 1 kHz".into());
    layout.remarks.push(
        "the time between trials is not recorded: they stand one second apart from each other"
            .into(),
    );
    let iterations = trials.iter().find_map(|trial| trial.infer.iterations);
    let run = layout.run.get_or_insert_default();
    run.inferences_per_window = iterations.or(run.inferences_per_window);
    let clock = clock(input)?;
    let (edges, windows) = events(input, &trials, clock, &mut layout)?;
    tell(&layout, &edges, &[], sink);
    windows.into_iter().for_each(|window| sink.span(window));
    let mut first = 0;
    let mut values = Vec::new();
    for trial in &trials {
        values.clear();
        values
            .extend(trial.power.samples.iter().map(|s| s.map_or(f64::NAN, |joule| joule * RATE.0)));
        sink.samples(ChannelId(0), &Block::even(clock, first, &values));
        first += values.len() as u64 + GAP;
    }
    sink.end(clock.at(first.saturating_sub(GAP)));
    Ok(())
}

fn clock(input: &Input<'_>) -> Result<SampleClock, FormatError> {
    SampleClock::new(SimTime::ZERO, RATE)
        .ok_or_else(|| input.fault(Place::Whole, ReadFault::NoSamples))
}

/// The edges of all trials, and the window of each that has one.
fn events(
    input: &Input<'_>,
    trials: &[Trial],
    clock: SampleClock,
    layout: &mut Layout,
) -> Result<(Vec<Edge>, Vec<Span>), FormatError> {
    let (mut edges, mut windows) = (Vec::new(), Vec::new());
    let mut first = 0u64;
    for (number, trial) in trials.iter().enumerate() {
        let samples = trial.power.samples.len() as u64;
        let mut of_trial = Vec::new();
        for (name, sample) in &trial.power.timestamps {
            if *sample > samples {
                let fault = ReadFault::Value {
                    what: format!("the sample of event {name} of trial {number}"),
                    found: sample.to_string(),
                    expected: "a sample of its trial",
                };
                return Err(input.fault(Place::Whole, fault));
            }
            of_trial.push(clock.at(first + sample));
        }
        if let [.., start, stop] = of_trial[..]
            && start < stop
        {
            let name = format!("trial {number}");
            let kind = SpanKind::Window;
            windows.push(Span {
                kind,
                name,
                track: "window".into(),
                inference: None,
                start,
                end: stop,
            });
        } else {
            layout.remarks.push(format!(
                "trial {number} has {} of two time stamps: it gives no window",
                of_trial.len()
            ));
        }
        if of_trial.len() > 2 {
            layout.remarks.push(format!(
                "trial {number} has {} time stamps: the last two are its window",
                of_trial.len()
            ));
        }
        edges.extend(of_trial.into_iter().map(|at| Edge { line: LineId(0), at, to: Level::Low }));
        first += samples + GAP;
    }
    edges.sort_by_key(|edge| edge.at);
    Ok((edges, windows))
}

/// The same JSON with `NaN`, which Python writes and JSON lacks, as `null`.
fn without_nan(text: String) -> String {
    if !text.contains("NaN") {
        return text;
    }
    let mut out = String::with_capacity(text.len());
    let mut quoted = false;
    let mut rest = text.as_str();
    while let Some(at) = rest.find(['"', '\\', 'N']) {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let (taken, written) = match from.as_bytes() {
            [b'N', b'a', b'N', ..] if !quoted => (3, "null"),
            [b'\\', ..] => (from.chars().take(2).map(char::len_utf8).sum(), ""),
            [b'"', ..] => {
                quoted = !quoted;
                (1, "")
            }
            _ => (1, ""),
        };
        let (token, after) = from.split_at(taken);
        out.push_str(if written.is_empty() { token } else { written });
        rest = after;
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_python_writes_for_a_missing_sample_becomes_a_gap() {
        let text = r#"[{"name": "NaN \"NaN", "samples": [1.0, NaN, -NaN]}]"#;
        let expected = r#"[{"name": "NaN \"NaN", "samples": [1.0, null, -null]}]"#;
        assert_eq!(without_nan(text.into()), expected);
    }
}
