//! Packets into bytes, one at a time.

use super::super::FormatError;
use super::message::{
    COUNTER, CounterDescriptor, DebugAnnotation, ORDER_EXPLICIT, SLICE_BEGIN, SLICE_END,
    STATE_CLEARED, TRACE_PACKET, TracePacket, TrackDescriptor, TrackEvent,
};
use crate::trace::Span;
use prost::Message;
use prost::encoding::{WireType, encode_key};
use std::io::{self, Write};

const SEQUENCE: u32 = 1;

pub(super) struct Packets<W> {
    out: W,
    buffer: Vec<u8>,
    tracks: u64,
}

/// What a counter counts.
pub(super) struct Counted {
    pub name: String,
    pub unit: &'static str,
    /// Counters of one key are drawn to one scale.
    pub scale: Option<&'static str>,
}

impl<W: Write> Packets<W> {
    pub(super) fn new(out: W) -> Self {
        Self { out, buffer: Vec::new(), tracks: 0 }
    }

    /// A track with others under it, in the order in which they are described.
    pub(super) fn group(&mut self, name: &str) -> Result<u64, FormatError> {
        self.track(name, None, None)
    }

    /// A track of slices.
    pub(super) fn lane(&mut self, name: &str, parent: u64) -> Result<u64, FormatError> {
        self.track(name, Some(parent), None)
    }

    pub(super) fn counter(&mut self, counted: &Counted, parent: u64) -> Result<u64, FormatError> {
        let counter = CounterDescriptor {
            unit_name: Some(counted.unit.to_owned()),
            y_axis_share_key: counted.scale.map(str::to_owned),
        };
        self.track(&counted.name, Some(parent), Some(counter))
    }

    fn track(
        &mut self,
        name: &str,
        parent_uuid: Option<u64>,
        counter: Option<CounterDescriptor>,
    ) -> Result<u64, FormatError> {
        // 0 is the default track of a sequence.
        self.tracks += 1;
        let first = (self.tracks == 1).then_some(STATE_CLEARED);
        let descriptor = TrackDescriptor {
            uuid: Some(self.tracks),
            name: Some(name.to_owned()),
            parent_uuid,
            counter,
            child_ordering: Some(ORDER_EXPLICIT),
            sibling_order_rank: i32::try_from(self.tracks).ok(),
        };
        self.write(&TracePacket {
            trusted_packet_sequence_id: Some(SEQUENCE),
            sequence_flags: first,
            track_descriptor: Some(descriptor),
            ..TracePacket::default()
        })?;
        Ok(self.tracks)
    }

    pub(super) fn slice_begin(
        &mut self,
        at: u64,
        track: u64,
        span: &Span,
    ) -> Result<(), FormatError> {
        let name = if span.name.is_empty() { span.kind.name() } else { &span.name };
        let inference = span.inference.map(|number| DebugAnnotation {
            name: Some("inference".to_owned()),
            uint_value: Some(number),
        });
        self.event(
            at,
            track,
            SLICE_BEGIN,
            TrackEvent {
                name: Some(name.to_owned()),
                categories: vec![span.kind.name().to_owned()],
                debug_annotations: inference.into_iter().collect(),
                ..TrackEvent::default()
            },
        )
    }

    pub(super) fn slice_end(&mut self, at: u64, track: u64) -> Result<(), FormatError> {
        self.event(at, track, SLICE_END, TrackEvent::default())
    }

    pub(super) fn value(&mut self, at: u64, track: u64, value: f64) -> Result<(), FormatError> {
        let event = TrackEvent { double_counter_value: Some(value), ..TrackEvent::default() };
        self.event(at, track, COUNTER, event)
    }

    fn event(
        &mut self,
        at: u64,
        track: u64,
        kind: i32,
        event: TrackEvent,
    ) -> Result<(), FormatError> {
        self.write(&TracePacket {
            timestamp: Some(at),
            trusted_packet_sequence_id: Some(SEQUENCE),
            track_event: Some(TrackEvent { r#type: Some(kind), track_uuid: Some(track), ..event }),
            ..TracePacket::default()
        })
    }

    fn write(&mut self, packet: &TracePacket) -> Result<(), FormatError> {
        self.buffer.clear();
        encode_key(TRACE_PACKET, WireType::LengthDelimited, &mut self.buffer);
        packet
            .encode_length_delimited(&mut self.buffer)
            .map_err(|error| failed(io::Error::other(error)))?;
        self.out.write_all(&self.buffer).map_err(failed)
    }

    pub(super) fn flush(mut self) -> Result<(), FormatError> {
        self.out.flush().map_err(failed)
    }
}

fn failed(source: io::Error) -> FormatError {
    FormatError::Write { file: "Perfetto trace".to_owned(), source }
}
