//! Sessions of sigrok and PulseView: a zip of `version`, `metadata`, `logic-1-N` and
//! `analog-1-CHANNEL-N`.
//!
//! `metadata` is an ini file whose section `device 1` states the rate as text (`1 kHz`), the bytes
//! of one logic sample (`unitsize`) and the names of the channels (`probe1`, `analog9`); analogue
//! channels are numbered behind all logic ones. Logic samples hold a bit a channel, from the lowest
//! bit of the first byte on; analogue ones are float32. Layouts are those of libsigrok
//! (`output/srzip.c`, `session_driver.c`).
//!
//! The file keeps no unit of an analogue channel. sigrok itself takes them for volt; so does this
//! reader, unless the channel's name ends in a unit (`CH1 (A)`) or the caller states one.

mod metadata;

use super::archive::{Archive, Entry};
use super::fields::Fields;
use super::named_unit::{labelled, quantity};
use super::ppk2::first_entry;
use super::{Format, FormatError, Input, Options, Place, ReadFault, Shape};
use crate::trace::{
    Block, Channel, ChannelId, ChannelKind, Edge, Layout, Level, LineId, SampleClock, SampleSink,
};
use crate::units::{Hertz, SimTime};
use metadata::Metadata;

pub(super) const SIGROK: Format = Format {
    name: "sigrok-session",
    title: "sigrok, PulseView: session (.sr)",
    shape: Shape::File {
        recognises: |head| {
            let name = first_entry(head.bytes()).and_then(|name| std::str::from_utf8(name).ok());
            name.is_some_and(|name| {
                matches!(name, "version" | "metadata")
                    || name.starts_with("logic-1")
                    || name.starts_with("analog-1-")
            })
        },
        read,
    },
};

const LARGEST_TEXT: u64 = 1 << 20;
/// Samples read at once.
const BLOCK: usize = 64 * 1024;

/// Pieces that follow each other: those of the logic channels, or of one analogue channel.
struct Track<'a> {
    pieces: std::vec::IntoIter<&'a Entry>,
    /// Bytes of a sample.
    unit: usize,
    /// The number of the next sample.
    next: u64,
    channel: ChannelId,
    scale: f64,
}

fn read(
    input: &mut Input<'_>,
    options: &Options,
    sink: &mut dyn SampleSink,
) -> Result<(), FormatError> {
    let archive = Archive::open(input)?;
    let version = archive.text(input, "version", LARGEST_TEXT)?;
    if !matches!(version.trim(), "1" | "2") {
        let found = version.trim().chars().take(20).collect();
        let fault = ReadFault::Version { what: "the session", found, known: "1 and 2" };
        return Err(input.fault(Place::Whole, fault));
    }
    let text = archive.text(input, "metadata", LARGEST_TEXT)?;
    let metadata = Metadata::parse(&text).map_err(|fault| input.fault(Place::Whole, fault))?;
    let clock = clock(input, &metadata, options)?;
    let mut layout = Layout { format: SIGROK.name.into(), ..Layout::default() };
    layout.remarks.extend(metadata.remarks.iter().cloned());
    layout.lines = metadata.probes.iter().map(|(_, name)| name.clone()).collect();
    let mut logic = Track {
        pieces: pieces(input, &archive, &metadata.capture)?.into_iter(),
        unit: metadata.unit,
        next: 0,
        channel: ChannelId(0),
        scale: 1.0,
    };
    let mut analogue = analogue(input, &archive, &metadata, options, &mut layout)?;
    let samples = samples(input, std::iter::once(&logic).chain(&analogue))?;
    if samples == 0 {
        return Err(input.fault(Place::Whole, ReadFault::NoSamples));
    }
    let past = |_| {
        let at = (samples as f64 / clock.rate().0).to_string();
        input.fault(Place::Whole, ReadFault::PastEnd { at })
    };
    let end = clock.reaches(samples).map_err(past)?;
    sink.begin(&layout);
    let mut levels = Levels { clock, before: Vec::new(), metadata: &metadata };
    // The earliest piece of samples first, after the logic that reaches to its end.
    while let Some(track) =
        analogue.iter_mut().filter(|track| track.pieces.len() > 0).min_by_key(|track| track.next)
    {
        let reach = track.next + track.pieces.as_slice().first().map_or(0, |e| e.size / 4);
        while logic.next < reach && levels.piece(input, &mut logic, sink)? {}
        track.piece(input, clock, sink)?;
    }
    while levels.piece(input, &mut logic, sink)? {}
    sink.end(end);
    Ok(())
}

fn clock(
    input: &Input<'_>,
    metadata: &Metadata,
    options: &Options,
) -> Result<SampleClock, FormatError> {
    let Some(rate) = metadata.rate.or(options.rate) else {
        let fault = ReadFault::Needs { what: "the sample rate", option: "--rate" };
        return Err(input.fault(Place::Whole, fault));
    };
    SampleClock::new(SimTime::ZERO, rate).ok_or_else(|| {
        let Hertz(rate) = rate;
        let fault = ReadFault::Value {
            what: "samplerate".into(),
            found: format!("{rate} Hz"),
            expected: "more than 0 and at most 1 THz",
        };
        input.fault(Place::Whole, fault)
    })
}

/// The entries `base` or `base-1`, `base-2` and so on, without one missing.
fn pieces<'a>(
    input: &Input<'_>,
    archive: &'a Archive,
    base: &str,
) -> Result<Vec<&'a Entry>, FormatError> {
    let number = |entry: &Entry| -> Option<u64> {
        match entry.name.strip_prefix(base)? {
            "" => Some(1),
            rest => rest.strip_prefix('-')?.parse().ok(),
        }
    };
    let mut found: Vec<_> =
        archive.entries.iter().filter_map(|entry| Some((number(entry)?, entry))).collect();
    found.sort_by_key(|(number, _)| *number);
    for (expected, (number, _)) in (1..).zip(&found) {
        if *number != expected {
            let what = format!("{base}-{expected}");
            return Err(input.fault(Place::Whole, ReadFault::Missing { what }));
        }
    }
    Ok(found.into_iter().map(|(_, entry)| entry).collect())
}

fn analogue<'a>(
    input: &Input<'_>,
    archive: &'a Archive,
    metadata: &Metadata,
    options: &Options,
    layout: &mut Layout,
) -> Result<Vec<Track<'a>>, FormatError> {
    let mut tracks = Vec::new();
    let mut guessed = Vec::new();
    for (number, name) in &metadata.analogue {
        let stated = options.table.unit.as_deref().and_then(quantity);
        let (name, kind, scale) = match (labelled(name), stated) {
            (Some((name, kind, scale)), _) => (name, kind, scale),
            (None, Some((kind, scale))) => (name.as_str(), kind, scale),
            (None, None) => {
                guessed.push(name.as_str());
                (name.as_str(), ChannelKind::Voltage, 1.0)
            }
        };
        let pieces = pieces(input, archive, &format!("analog-1-{number}"))?;
        let channel = ChannelId(layout.channels.len());
        layout.channels.push(Channel::new(name, kind, name));
        tracks.push(Track { pieces: pieces.into_iter(), unit: 4, next: 0, channel, scale });
    }
    if !guessed.is_empty() {
        layout
            .remarks
            .push(format!("the file keeps no unit of {}: taken as volt", guessed.join(", ")));
    }
    Ok(tracks)
}

/// Samples of the longest track; every piece has to hold whole ones.
fn samples<'a>(
    input: &Input<'_>,
    tracks: impl Iterator<Item = &'a Track<'a>>,
) -> Result<u64, FormatError> {
    let mut longest = 0;
    for track in tracks {
        let mut samples = 0u64;
        for entry in track.pieces.as_slice() {
            let (unit, left) = (track.unit as u64, entry.size % track.unit as u64);
            if left != 0 {
                let fault = ReadFault::Truncated { what: "a sample", expected: unit, found: left };
                return Err(input.fault(Place::Whole, fault));
            }
            samples = samples.saturating_add(entry.size / unit);
        }
        longest = longest.max(samples);
    }
    Ok(longest)
}

impl Track<'_> {
    /// Streams the next piece of an analogue channel.
    fn piece(
        &mut self,
        input: &mut Input<'_>,
        clock: SampleClock,
        sink: &mut dyn SampleSink,
    ) -> Result<(), FormatError> {
        let Some(entry) = self.pieces.next() else { return Ok(()) };
        let mut values = Vec::with_capacity(BLOCK);
        entry.stream(input, BLOCK * self.unit, &mut |_, bytes| {
            values.clear();
            let mut fields = Fields::of(bytes);
            while let Some(value) = fields.f32() {
                values.push(f64::from(value) * self.scale);
            }
            sink.samples(self.channel, &Block::even(clock, self.next, &values));
            self.next += values.len() as u64;
            Ok(())
        })
    }
}

/// The levels of the logic channels.
struct Levels<'m> {
    clock: SampleClock,
    before: Vec<u8>,
    metadata: &'m Metadata,
}

impl Levels<'_> {
    /// Tells the edges of the next piece; false where there is none.
    fn piece(
        &mut self,
        input: &mut Input<'_>,
        track: &mut Track<'_>,
        sink: &mut dyn SampleSink,
    ) -> Result<bool, FormatError> {
        let Some(entry) = track.pieces.next() else { return Ok(false) };
        let (unit, next) = (track.unit, &mut track.next);
        entry.stream(input, BLOCK * unit, &mut |_, bytes| {
            for sample in bytes.chunks_exact(unit) {
                if sample != self.before.as_slice() {
                    self.edges(sample, *next, sink);
                    self.before.clear();
                    self.before.extend_from_slice(sample);
                }
                *next += 1;
            }
            Ok(())
        })?;
        Ok(true)
    }

    fn edges(&self, sample: &[u8], number: u64, sink: &mut dyn SampleSink) {
        let bit = |sample: &[u8], probe: usize| Some(sample.get(probe / 8)? >> (probe % 8) & 1);
        for (line, (probe, _)) in self.metadata.probes.iter().enumerate() {
            let Some(now) = bit(sample, *probe) else { continue };
            if bit(&self.before, *probe) != Some(now) {
                let to = if now == 1 { Level::High } else { Level::Low };
                sink.edge(Edge { line: LineId(line), at: self.clock.at(number), to });
            }
        }
    }
}

#[cfg(test)]
mod tests;
