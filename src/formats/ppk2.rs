//! Sessions of Nordic's Power Profiler: a zip of `session.raw` and `metadata.json`.
//!
//! A sample is six bytes: float32 microampere, little-endian, then 16 bits, *big-endian*, two for
//! each digital channel from the lowest on: 1 low, 2 high, 3 both within the sample, 0 not
//! recorded. `metadata.json` states `samplesPerSecond`, `startSystemTime` \[ms since 1970\] and
//! `formatVersion`. Layouts are those of the sources of the vendor's app (pc-nrfconnect-ppk). The
//! voltage is not in the file.

mod write;

pub use write::write;

use super::archive::{Archive, MAGIC};
use super::fields::Fields;
use super::line_reading::{LineReading, LineState};
use super::{Format, FormatError, Input, Options, Place, ReadFault, Shape};
use crate::trace::{
    Block, Channel, ChannelId, ChannelKind, Edge, Layout, LineId, Origin, SampleClock, SampleSink,
};
use crate::units::{Hertz, SimTime};
use serde::Deserialize;

pub(super) const PPK2: Format = Format {
    name: "ppk2",
    title: "Nordic Power Profiler Kit II: session (.ppk2)",
    shape: Shape::File {
        recognises: |head| {
            let name = first_entry(head.bytes());
            name.is_some_and(|name| [RAW, METADATA, MINIMAP].map(str::as_bytes).contains(&name))
        },
        read,
    },
};

const RAW: &str = "session.raw";
const METADATA: &str = "metadata.json";
const MINIMAP: &str = "minimap.raw";
const VERSION: u32 = 2;
const LINES: usize = 8;
const FRAME: usize = 6;
/// Samples read at once.
const BLOCK: usize = 64 * 1024;
const LARGEST_METADATA: u64 = 1 << 20;

/// The name of the entry that an archive starts with.
pub(super) fn first_entry(head: &[u8]) -> Option<&[u8]> {
    let mut fields = Fields::of(head.strip_prefix(MAGIC)?);
    fields.bytes(22)?;
    let length = fields.u16()?;
    fields.u16()?;
    fields.bytes(length.into())
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metadata {
    metadata: Session,
    format_version: Option<u32>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Session {
    samples_per_second: f64,
    start_system_time: Option<f64>,
}

fn read(
    input: &mut Input<'_>,
    options: &Options,
    sink: &mut dyn SampleSink,
) -> Result<(), FormatError> {
    let archive = Archive::open(input)?;
    let text = archive.text(input, METADATA, LARGEST_METADATA)?;
    let metadata: Metadata = serde_json::from_str(&text).map_err(|error| {
        let reason = format!("{METADATA}: {error}");
        input.fault(Place::Whole, ReadFault::Json { reason })
    })?;
    if metadata.format_version != Some(VERSION) {
        let found = metadata.format_version.map_or("(none)".into(), |v| v.to_string());
        let fault = ReadFault::Version { what: "the session", found, known: "2" };
        return Err(input.fault(Place::Whole, fault));
    }
    let Some(raw) = archive.find(RAW) else {
        return Err(input.fault(Place::Whole, ReadFault::Missing { what: RAW.into() }));
    };
    let clock = clock(input, &metadata.metadata, raw.size)?;
    sink.begin(&layout(&metadata.metadata, options));
    let mut frames = Frames::new(clock, sink);
    raw.stream(input, FRAME * BLOCK, &mut |_, piece| frames.take_in(piece))?;
    let end = clock.at(frames.done);
    sink.end(end);
    Ok(())
}

/// The clock of the session, checked to reach its last sample.
fn clock(input: &Input<'_>, session: &Session, size: u64) -> Result<SampleClock, FormatError> {
    let whole = |fault| input.fault(Place::Whole, fault);
    let rate = session.samples_per_second;
    let Some(clock) = SampleClock::new(SimTime::ZERO, Hertz(rate)) else {
        return Err(whole(ReadFault::Value {
            what: "samplesPerSecond".into(),
            found: rate.to_string(),
            expected: "a rate above zero",
        }));
    };
    let (samples, left) = (size / FRAME as u64, size % FRAME as u64);
    if left != 0 {
        let expected = FRAME as u64;
        return Err(whole(ReadFault::Truncated { what: "a sample", expected, found: left }));
    }
    if samples == 0 {
        return Err(whole(ReadFault::NoSamples));
    }
    clock
        .reaches(samples)
        .map_err(|_| whole(ReadFault::PastEnd { at: (samples as f64 / rate).to_string() }))?;
    Ok(clock)
}

fn layout(session: &Session, options: &Options) -> Layout {
    let mut layout = Layout {
        format: PPK2.name.into(),
        channels: vec![Channel::new("current", ChannelKind::Current, "dut")],
        lines: (0..LINES).map(|line| format!("D{line}")).collect(),
        supply: options.voltage,
        ..Layout::default()
    };
    if let Some(ms) = session.start_system_time.filter(|ms| ms.abs() < 9e12) {
        layout.origin = Origin::Wall { unix_ns: (ms * 1e6).round() as i64, utc: true };
    }
    if options.voltage.is_none() {
        layout.remarks.push("the supply voltage is not in the file".into());
    }
    layout
}

/// Frames on their way to the sink.
struct Frames<'s> {
    clock: SampleClock,
    sink: &'s mut dyn SampleSink,
    lines: [LineState; LINES],
    values: Vec<f64>,
    done: u64,
}

impl<'s> Frames<'s> {
    fn new(clock: SampleClock, sink: &'s mut dyn SampleSink) -> Self {
        Self {
            clock,
            sink,
            lines: [LineState::default(); LINES],
            values: Vec::with_capacity(BLOCK),
            done: 0,
        }
    }

    fn take_in(&mut self, bytes: &[u8]) -> Result<(), ReadFault> {
        self.values.clear();
        let first = self.done;
        let mut fields = Fields::of(bytes);
        while let (Some(microampere), Some(bits)) = (fields.f32(), fields.u16()) {
            self.edges(bits.swap_bytes());
            self.values.push(f64::from(microampere) * 1e-6);
            self.done += 1;
        }
        self.sink.samples(ChannelId(0), &Block::even(self.clock, first, &self.values));
        Ok(())
    }

    fn edges(&mut self, bits: u16) {
        for (line, state) in self.lines.iter_mut().enumerate() {
            if let Some(to) = state.take(reading(bits >> (2 * line) & 3)) {
                let at = self.clock.at(self.done);
                self.sink.edge(Edge { line: LineId(line), at, to });
            }
        }
    }
}

fn reading(bits: u16) -> LineReading {
    match bits {
        1 => LineReading::Low,
        2 => LineReading::High,
        3 => LineReading::Both,
        _ => LineReading::Unknown,
    }
}

#[cfg(test)]
mod tests;
