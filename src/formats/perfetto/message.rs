//! The few Perfetto messages that are written, with the field numbers of the published protos
//! (`perfetto/trace/trace_packet.proto` and `track_event/*.proto`).

use prost::Message;

/// Number of `Trace.packet`, the only field of the outermost message.
pub(super) const TRACE_PACKET: u32 = 1;

#[derive(Clone, PartialEq, Message)]
pub(super) struct TracePacket {
    #[prost(uint64, optional, tag = "8")]
    pub timestamp: Option<u64>,
    #[prost(uint32, optional, tag = "10")]
    pub trusted_packet_sequence_id: Option<u32>,
    #[prost(uint32, optional, tag = "13")]
    pub sequence_flags: Option<u32>,
    #[prost(message, optional, tag = "11")]
    pub track_event: Option<TrackEvent>,
    #[prost(message, optional, tag = "60")]
    pub track_descriptor: Option<TrackDescriptor>,
}

/// `SEQ_INCREMENTAL_STATE_CLEARED`: nothing before this packet matters to the sequence.
pub(super) const STATE_CLEARED: u32 = 1;

#[derive(Clone, PartialEq, Message)]
pub(super) struct TrackDescriptor {
    #[prost(uint64, optional, tag = "1")]
    pub uuid: Option<u64>,
    #[prost(string, optional, tag = "2")]
    pub name: Option<String>,
    #[prost(uint64, optional, tag = "5")]
    pub parent_uuid: Option<u64>,
    #[prost(message, optional, tag = "8")]
    pub counter: Option<CounterDescriptor>,
    #[prost(int32, optional, tag = "11")]
    pub child_ordering: Option<i32>,
    #[prost(int32, optional, tag = "12")]
    pub sibling_order_rank: Option<i32>,
}

/// `ChildTracksOrdering.EXPLICIT`: by `sibling_order_rank`.
pub(super) const ORDER_EXPLICIT: i32 = 3;

#[derive(Clone, PartialEq, Message)]
pub(super) struct CounterDescriptor {
    #[prost(string, optional, tag = "6")]
    pub unit_name: Option<String>,
    #[prost(string, optional, tag = "7")]
    pub y_axis_share_key: Option<String>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct TrackEvent {
    #[prost(message, repeated, tag = "4")]
    pub debug_annotations: Vec<DebugAnnotation>,
    #[prost(int32, optional, tag = "9")]
    pub r#type: Option<i32>,
    #[prost(uint64, optional, tag = "11")]
    pub track_uuid: Option<u64>,
    #[prost(string, repeated, tag = "22")]
    pub categories: Vec<String>,
    #[prost(string, optional, tag = "23")]
    pub name: Option<String>,
    #[prost(double, optional, tag = "44")]
    pub double_counter_value: Option<f64>,
}

/// `TrackEvent.Type`.
pub(super) const SLICE_BEGIN: i32 = 1;
pub(super) const SLICE_END: i32 = 2;
pub(super) const INSTANT: i32 = 3;
pub(super) const COUNTER: i32 = 4;

#[derive(Clone, PartialEq, Message)]
pub(super) struct DebugAnnotation {
    #[prost(uint64, optional, tag = "3")]
    pub uint_value: Option<u64>,
    #[prost(string, optional, tag = "10")]
    pub name: Option<String>,
}
