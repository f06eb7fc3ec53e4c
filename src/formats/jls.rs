//! Captures of Joulescope: JLS version 2.
//!
//! A file is a head and chunks, each with a head of 32 bytes and its own CRC-32C. A signal of a
//! fixed rate has a chain of *data* chunks (level 0: first sample number, count, packed samples)
//! and a chain of *summaries* (level 1: mean, deviation, least and most of so many samples). A data
//! chunk may be left out: constant ones of narrow integers always are, others when the program
//! asked for it. What is left out is filled from the means of the summaries; what no summary
//! covers is a gap. Signals run side by side, each at its own rate. Layouts are those of
//! `include/jls/format.h` of the public sources (jetperch/jls), of which no code is used.
//!
//! The file is walked twice: once over the heads of all chunks (definitions, how far each signal
//! reaches, the UTC map, annotations), then along the chains, each signal as far as the others.

mod chunk;
mod clocks;
mod crc;
mod definitions;
mod marks;
mod survey;
mod track;

use super::{Format, FormatError, Input, Options, Place, ReadFault, Shape};
use crate::trace::{ChannelId, LineId, SampleSink};
use clocks::Clocks;
use survey::Survey;
use track::{Out, Track};

pub(super) const JLS: Format = Format {
    name: "joulescope-jls",
    title: "Joulescope: JLS version 2",
    shape: Shape::File { recognises: |head| head.starts_with(b"jlsfmt\r\n"), read },
};

/// The same suffix, another format: known to say so.
pub(super) const JLS_1: Format = Format {
    name: "joulescope-jls-1",
    title: "Joulescope: JLS version 1 (before 2022; only to say that it has to be converted)",
    shape: Shape::File {
        recognises: |head| head.starts_with(b"\xd3tagfmt "),
        read: |input, _, _| {
            let fault = ReadFault::Version {
                what: "JLS",
                found: "1".into(),
                known: "2; the Joulescope application opens version 1 and saves version 2",
            };
            Err(input.fault(Place::Byte(0), fault))
        },
    },
};

fn read(
    input: &mut Input<'_>,
    options: &Options,
    sink: &mut dyn SampleSink,
) -> Result<(), FormatError> {
    let mut survey = Survey::of(input)?;
    let clocks = Clocks::of(input, &mut survey)?;
    let mut layout = survey.layout();
    layout.origin = clocks.origin();
    layout.supply = options.voltage.filter(|_| !survey.measures_voltage());
    let marks = marks::read(input, &survey, &clocks, &mut layout)?;
    let (mut channels, mut lines) = (Vec::new(), Vec::new());
    for (signal, clock) in survey.signals.values().zip(&clocks.clocks) {
        let Some(clock) = *clock else { continue };
        if signal.is_line() {
            let out = Out::Line(LineId(lines.len()));
            lines.push(Track::new(signal, clock, out, survey.end));
        } else {
            let out = Out::Channel(ChannelId(channels.len()));
            channels.push(Track::new(signal, clock, out, survey.end));
        }
    }
    for track in channels.iter_mut().chain(&mut lines) {
        track.prepare(input)?;
    }
    sink.begin(&layout);
    marks.into_iter().for_each(|mark| sink.mark(mark));
    // The earliest piece of samples first, after the edges that reach to its end.
    while let Some((at, until)) = earliest(&channels) {
        for line in &mut lines {
            while line.next().is_some_and(|piece| piece.start < until) {
                line.step(input, sink)?;
            }
        }
        if let Some(channel) = channels.get_mut(at) {
            channel.step(input, sink)?;
        }
    }
    for line in &mut lines {
        while line.next().is_some() {
            line.step(input, sink)?;
        }
    }
    sink.end(clocks.end);
    Ok(())
}

/// The channel whose next piece starts first, and the end of that piece.
fn earliest(channels: &[Track<'_>]) -> Option<(usize, crate::units::SimTime)> {
    let next = channels.iter().enumerate().filter_map(|(at, track)| Some((at, track.next()?)));
    let (at, piece) = next.min_by_key(|(_, piece)| piece.start)?;
    Some((at, piece.end))
}

#[cfg(test)]
mod tests;
