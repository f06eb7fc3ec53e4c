//! Binary exports of Saleae Logic 2, versions 0 and 1: one channel a file, digital or analogue.
//!
//! `<SALEAE>`, an i32 version, an i32 type (0 digital, 1 analogue), little-endian. A digital file
//! holds the first level, begin and end \[s\], a count, and the times \[s\] at which the level
//! changes; an analogue file begin, rate, reduction, a count, and float32 volts. Version 1 holds
//! several such pieces, with time missing between them. Layouts are those of the vendor's page on
//! export formats.
//!
//! The file is walked twice: heads first, so that a count that lies is an error before any sample.

mod analogue;
mod digital;

use super::fields::Fields;
use super::{Format, FormatError, Input, Options, Place, ReadFault, Shape};
use crate::trace::{Layout, Origin, SampleSink};
use crate::units::{Seconds, SimTime};

pub(super) const SALEAE: Format = Format {
    name: "saleae-binary",
    title: "Saleae Logic 2: raw data export, binary (one channel a file)",
    shape: Shape::File { recognises: |head| head.starts_with(MAGIC), read },
};

const MAGIC: &[u8] = b"<SALEAE>";
const HEAD: u64 = 16;
/// Numbers read at once.
const BLOCK: u64 = 64 * 1024;

/// One stretch without a gap.
#[derive(Debug, Clone, Copy)]
struct Piece {
    /// Where its numbers are.
    at: u64,
    count: u64,
    begin: f64,
    end: f64,
    /// The first level of a digital piece.
    high: bool,
    /// Samples a second of an analogue piece.
    rate: f64,
}

fn read(input: &mut Input<'_>, _: &Options, sink: &mut dyn SampleSink) -> Result<(), FormatError> {
    let head: [u8; HEAD as usize] = input.exactly(0, "its head")?;
    let mut fields = Fields::of(&head);
    if fields.bytes(MAGIC.len()) != Some(MAGIC) {
        let found = String::from_utf8_lossy(head.get(..MAGIC.len()).unwrap_or_default()).into();
        let fault = ReadFault::Head { expected: "<SALEAE>".into(), found };
        return Err(input.fault(Place::Byte(0), fault));
    }
    let (version, kind) = (fields.u32(), fields.u32());
    let chunked = match version {
        Some(0) => false,
        Some(1) => true,
        other => {
            let fault = ReadFault::Version {
                what: "the export",
                found: other.unwrap_or_default().to_string(),
                known: "0 and 1",
            };
            return Err(input.fault(Place::Byte(8), fault));
        }
    };
    match kind {
        Some(0) => digital::read(input, chunked, sink),
        Some(1) => analogue::read(input, chunked, sink),
        other => {
            let fault = ReadFault::Value {
                what: "the type of the export".into(),
                found: other.unwrap_or_default().to_string(),
                expected: "0 (digital) or 1 (analogue)",
            };
            Err(input.fault(Place::Byte(12), fault))
        }
    }
}

/// The pieces of a file, each with a head of `head` bytes, and the byte at which they must end.
fn pieces(
    input: &mut Input<'_>,
    chunked: bool,
    head: impl Fn(&mut Input<'_>, u64) -> Result<(Piece, u64), FormatError>,
) -> Result<Vec<Piece>, FormatError> {
    let (count, mut at) = match chunked {
        false => (1, HEAD),
        true => (u64::from_le_bytes(input.exactly(HEAD, "the number of pieces")?), HEAD + 8),
    };
    let mut pieces: Vec<Piece> = Vec::new();
    for _ in 0..count {
        let (piece, width) = head(input, at)?;
        let place = Place::Byte(at);
        let room = input.size.saturating_sub(piece.at);
        let size = piece.count.saturating_mul(width);
        if size > room {
            let fault = ReadFault::Size { what: "a piece", size, limit: room };
            return Err(input.fault(place, fault));
        }
        let before = pieces.last().map_or(piece.begin, |before| before.end);
        if !(piece.begin.is_finite() && piece.end.is_finite()) || piece.end < piece.begin {
            let fault = ReadFault::Value {
                what: "the time of a piece".into(),
                found: format!("{} s to {} s", piece.begin, piece.end),
                expected: "a start and an end behind it",
            };
            return Err(input.fault(place, fault));
        }
        if piece.begin < before {
            let fault =
                ReadFault::Backwards { before: before.to_string(), at: piece.begin.to_string() };
            return Err(input.fault(place, fault));
        }
        at = piece.at + size;
        pieces.push(piece);
    }
    if pieces.is_empty() {
        return Err(input.fault(Place::Byte(HEAD), ReadFault::NoSamples));
    }
    if at < input.size {
        let fault = ReadFault::Value {
            what: "the length of the file".into(),
            found: format!("{} bytes more than its counts", input.size - at),
            expected: "none",
        };
        return Err(input.fault(Place::Byte(at), fault));
    }
    Ok(pieces)
}

/// Time since the first piece begins.
fn since(input: &Input<'_>, place: Place, begin: f64, at: f64) -> Result<SimTime, FormatError> {
    SimTime::from_seconds(Seconds(at - begin))
        .map_err(|_| input.fault(place, ReadFault::PastEnd { at: (at - begin).to_string() }))
}

fn layout(begin: f64) -> Layout {
    let origin = if begin == 0.0 { Origin::FirstSample } else { Origin::OwnClock(begin) };
    Layout { format: SALEAE.name.into(), origin, ..Layout::default() }
}

#[cfg(test)]
mod tests;
