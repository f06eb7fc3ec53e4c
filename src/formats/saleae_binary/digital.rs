//! Digital exports: the times at which the level changes.

use super::super::fields::Fields;
use super::super::{FormatError, Input, Place, ReadFault};
use super::{BLOCK, Piece, layout, pieces, since};
use crate::trace::{Edge, Level, LineId, SampleSink};

pub(super) fn read(
    input: &mut Input<'_>,
    chunked: bool,
    sink: &mut dyn SampleSink,
) -> Result<(), FormatError> {
    let pieces = pieces(input, chunked, |input, at| Ok((head(input, chunked, at)?, 8)))?;
    let (Some(first), Some(last)) = (pieces.first(), pieces.last()) else { return Ok(()) };
    let begin = first.begin;
    let mut layout = layout(begin);
    layout.lines.push("digital".into());
    if pieces.len() > 1 {
        layout
            .remarks
            .push(format!("{} pieces: the level between them was not recorded", pieces.len()));
    }
    let end = since(input, Place::Whole, begin, last.end)?;
    sink.begin(&layout);
    let mut before: Option<f64> = None;
    for piece in &pieces {
        if let Some(before) = before.filter(|before| *before < piece.begin) {
            let at = since(input, Place::Byte(piece.at), begin, before)?;
            sink.edge(Edge { line: LineId(0), at, to: Level::Unknown });
        }
        stream(input, begin, piece, sink)?;
        before = Some(piece.end);
    }
    sink.end(end);
    Ok(())
}

fn head(input: &mut Input<'_>, chunked: bool, at: u64) -> Result<Piece, FormatError> {
    let what = "the head of a piece";
    let mut bytes = Vec::new();
    let length = if chunked { 36 } else { 28 };
    input.take_into(at, length, what, &mut bytes)?;
    let mut fields = Fields::of(&bytes);
    let state = fields.u32();
    if chunked {
        // The sample rate: times are in seconds already.
        fields.f64();
    }
    match (state, fields.f64(), fields.f64(), fields.u64()) {
        (Some(state @ (0 | 1)), Some(begin), Some(end), Some(count)) => {
            Ok(Piece { at: at + length, count, begin, end, high: state == 1, rate: 0.0 })
        }
        (state, ..) => {
            let fault = ReadFault::Value {
                what: "the first level".into(),
                found: state.unwrap_or_default().to_string(),
                expected: "0 or 1",
            };
            Err(input.fault(Place::Byte(at), fault))
        }
    }
}

fn level(high: bool) -> Level {
    if high { Level::High } else { Level::Low }
}

fn stream(
    input: &mut Input<'_>,
    begin: f64,
    piece: &Piece,
    sink: &mut dyn SampleSink,
) -> Result<(), FormatError> {
    let (mut high, mut before) = (piece.high, piece.begin);
    let at = since(input, Place::Byte(piece.at), begin, piece.begin)?;
    sink.edge(Edge { line: LineId(0), at, to: level(high) });
    let (mut done, mut bytes) = (0, Vec::new());
    while done < piece.count {
        let take = (piece.count - done).min(BLOCK);
        let from = piece.at + done * 8;
        input.take_into(from, take * 8, "the changes of level", &mut bytes)?;
        let mut fields = Fields::of(&bytes);
        while let Some(time) = fields.f64() {
            let place = Place::Byte(from + (bytes.len() - fields.rest().len()) as u64 - 8);
            if !time.is_finite() || time > piece.end {
                let fault = ReadFault::Value {
                    what: "the time of a change".into(),
                    found: format!("{time} s"),
                    expected: "a time before the end of its piece",
                };
                return Err(input.fault(place, fault));
            }
            if time < before {
                let (before, at) = (before.to_string(), time.to_string());
                return Err(input.fault(place, ReadFault::Backwards { before, at }));
            }
            before = time;
            high = !high;
            let at = since(input, place, begin, time)?;
            sink.edge(Edge { line: LineId(0), at, to: level(high) });
        }
        done += take;
    }
    Ok(())
}
