//! Analogue exports: volts at a rate.

use super::super::fields::Fields;
use super::super::{FormatError, Input, Place, ReadFault};
use super::{BLOCK, Piece, layout, pieces, since};
use crate::trace::{Block, Channel, ChannelId, ChannelKind, SampleClock, SampleSink};
use crate::units::{Hertz, SimTime};

pub(super) fn read(
    input: &mut Input<'_>,
    chunked: bool,
    sink: &mut dyn SampleSink,
) -> Result<(), FormatError> {
    let pieces = pieces(input, chunked, |input, at| Ok((head(input, chunked, at)?, 4)))?;
    if pieces.iter().all(|piece| piece.count == 0) {
        return Err(input.fault(Place::Whole, ReadFault::NoSamples));
    }
    let begin = pieces.first().map_or(0.0, |piece| piece.begin);
    let mut layout = layout(begin);
    layout.channels.push(Channel::new("analog", ChannelKind::Voltage, "analog"));
    if pieces.len() > 1 {
        layout.remarks.push(format!("{} pieces, with gaps between them", pieces.len()));
    }
    // Every clock before the first sample: a time past the end is an error of the head.
    let mut clocks = Vec::new();
    for piece in &pieces {
        let place = Place::Byte(piece.at);
        let start = since(input, place, begin, piece.begin)?;
        let clock = clock(input, place, start, piece.rate)?;
        let past = |_| {
            let at = (piece.count as f64 / piece.rate).to_string();
            input.fault(place, ReadFault::PastEnd { at })
        };
        clocks.push((clock, clock.reaches(piece.count).map_err(past)?));
    }
    sink.begin(&layout);
    let mut end = SimTime::ZERO;
    for (piece, (clock, last)) in pieces.iter().zip(clocks) {
        stream(input, piece, clock, sink)?;
        end = end.max(last);
    }
    sink.end(end);
    Ok(())
}

fn head(input: &mut Input<'_>, chunked: bool, at: u64) -> Result<Piece, FormatError> {
    let what = "the head of a piece";
    let mut bytes = Vec::new();
    let length = if chunked { 40 } else { 32 };
    input.take_into(at, length, what, &mut bytes)?;
    let mut fields = Fields::of(&bytes);
    let begin = fields.f64();
    let rate = if chunked {
        // The trigger is an instant of its own, not a sample.
        fields.f64();
        fields.f64()
    } else {
        fields.u64().map(|rate| rate as f64)
    };
    match (begin, rate, fields.u64(), fields.u64()) {
        (Some(begin), Some(rate), Some(reduction @ 1..), Some(count)) => {
            let rate = rate / reduction as f64;
            let length_s = if rate > 0.0 { count as f64 / rate } else { 0.0 };
            // Rounding must not let a piece overlap the next: half a sample is less than any gap.
            let end = begin + (length_s - 0.5 / rate.max(f64::MIN_POSITIVE)).max(0.0);
            Ok(Piece { at: at + length, count, begin, end, high: false, rate })
        }
        _ => {
            let fault = ReadFault::Value {
                what: "the reduction of the rate".into(),
                found: "0".into(),
                expected: "1 or more",
            };
            Err(input.fault(Place::Byte(at), fault))
        }
    }
}

fn clock(
    input: &Input<'_>,
    place: Place,
    start: SimTime,
    rate: f64,
) -> Result<SampleClock, FormatError> {
    SampleClock::new(start, Hertz(rate)).ok_or_else(|| {
        let fault = ReadFault::Value {
            what: "the sample rate".into(),
            found: format!("{rate} Hz"),
            expected: "more than 0 and at most 1 THz",
        };
        input.fault(place, fault)
    })
}

fn stream(
    input: &mut Input<'_>,
    piece: &Piece,
    clock: SampleClock,
    sink: &mut dyn SampleSink,
) -> Result<(), FormatError> {
    let (mut first, mut bytes, mut values) = (0, Vec::new(), Vec::new());
    while first < piece.count {
        let take = (piece.count - first).min(BLOCK);
        input.take_into(piece.at + first * 4, take * 4, "the samples", &mut bytes)?;
        let mut fields = Fields::of(&bytes);
        values.clear();
        while let Some(volts) = fields.f32() {
            values.push(f64::from(volts));
        }
        sink.samples(ChannelId(0), &Block::even(clock, first, &values));
        first += take;
    }
    Ok(())
}
