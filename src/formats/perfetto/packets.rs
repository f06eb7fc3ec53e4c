//! Packets into bytes, one at a time.

use super::super::FormatError;
use super::message::{
    COUNTER, Counter, DebugAnnotation, INSTANT, ORDER_EXPLICIT, SLICE_BEGIN, SLICE_END,
    STATE_CLEARED, TRACE_PACKET, TracePacket, TrackDescriptor, TrackEvent,
};
use crate::trace::Span;
use prost::Message;
use prost::encoding::{WireType, encode_key};
use std::collections::BTreeMap;
use std::io::{self, Write};

const SEQUENCE: u32 = 1;

/// What tracks stand under.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Group {
    Activity,
    Power,
    Rails,
    Counters,
    Lines,
    Marks,
    Gaps,
}

impl Group {
    fn name(self) -> &'static str {
        match self {
            Self::Activity => "activity",
            Self::Power => "power",
            Self::Rails => "rails",
            Self::Counters => "counters",
            Self::Lines => "lines",
            Self::Marks => "marks",
            Self::Gaps => "gaps",
        }
    }
}

pub(super) struct Packets<W> {
    out: W,
    buffer: Vec<u8>,
    tracks: u64,
    begun: bool,
    groups: BTreeMap<Group, u64>,
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
        Self { out, buffer: Vec::new(), tracks: 0, begun: false, groups: BTreeMap::new() }
    }

    /// The track of a group, described when it is first asked for.
    pub(super) fn group(&mut self, group: Group) -> Result<u64, FormatError> {
        if let Some(track) = self.groups.get(&group) {
            return Ok(*track);
        }
        let track = self.reserve();
        self.groups.insert(group, track);
        self.describe(track, group.name(), None, None)?;
        Ok(track)
    }

    /// A track of slices.
    pub(super) fn lane(&mut self, name: &str, parent: u64) -> Result<u64, FormatError> {
        let track = self.reserve();
        self.describe(track, name, Some(parent), None)?;
        Ok(track)
    }

    /// Describes a track of values.
    pub(super) fn counter(
        &mut self,
        track: u64,
        counted: &Counted,
        parent: u64,
    ) -> Result<(), FormatError> {
        let counter = Counter {
            unit_name: Some(counted.unit.to_owned()),
            y_axis_share_key: counted.scale.map(str::to_owned),
            ..Counter::default()
        };
        self.describe(track, &counted.name, Some(parent), Some(counter))
    }

    /// The number of a track that is described later. Tracks stand in the order of their numbers.
    pub(super) fn reserve(&mut self) -> u64 {
        // 0 is the default track of a sequence.
        self.tracks += 1;
        self.tracks
    }

    fn describe(
        &mut self,
        track: u64,
        name: &str,
        parent_uuid: Option<u64>,
        counter: Option<Counter>,
    ) -> Result<(), FormatError> {
        let first = !std::mem::replace(&mut self.begun, true);
        let descriptor = TrackDescriptor {
            uuid: Some(track),
            name: Some(name.to_owned()),
            parent_uuid,
            counter,
            child_ordering: Some(ORDER_EXPLICIT),
            sibling_order_rank: i32::try_from(track).ok(),
            ..TrackDescriptor::default()
        };
        self.write(&TracePacket {
            sequence: Some(SEQUENCE),
            sequence_flags: first.then_some(STATE_CLEARED),
            track_descriptor: Some(descriptor),
            ..TracePacket::default()
        })
    }

    pub(super) fn span_begin(
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
        let annotations = inference.into_iter().collect();
        self.named(at, track, SLICE_BEGIN, name, span.kind.name(), annotations)
    }

    pub(super) fn slice_begin(
        &mut self,
        at: u64,
        track: u64,
        name: &str,
        category: &str,
    ) -> Result<(), FormatError> {
        self.named(at, track, SLICE_BEGIN, name, category, Vec::new())
    }

    pub(super) fn instant(
        &mut self,
        at: u64,
        track: u64,
        name: &str,
        category: &str,
    ) -> Result<(), FormatError> {
        self.named(at, track, INSTANT, name, category, Vec::new())
    }

    fn named(
        &mut self,
        at: u64,
        track: u64,
        kind: i32,
        name: &str,
        category: &str,
        debug_annotations: Vec<DebugAnnotation>,
    ) -> Result<(), FormatError> {
        let event = TrackEvent {
            name: Some(name.to_owned()),
            categories: vec![category.to_owned()],
            debug_annotations,
            ..TrackEvent::default()
        };
        self.event(at, track, kind, event)
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
            sequence: Some(SEQUENCE),
            track_event: Some(TrackEvent { kind: Some(kind), track_uuid: Some(track), ..event }),
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

    pub(super) fn flush(&mut self) -> Result<(), FormatError> {
        self.out.flush().map_err(failed)
    }
}

fn failed(source: io::Error) -> FormatError {
    FormatError::Write { file: "Perfetto trace".to_owned(), source }
}
