//! Who waits for a memory that an engine reads in place.
//!
//! An engine that says how many bytes it asks for at a time reads a stream: it waits for the latency once,
//! and then gets no more than those bytes in each latency. A stream of `B` bytes takes
//! `max(B / BW, B t / Q)`, which as requests of the law `B / BW + n t` is `n = B / Q - B / (BW t)`.
//! An engine that says nothing waits once for each pass over an operand.
//!
//! Symbols: `BW` \[B/s\] bandwidth and `t` \[s\] latency of the memory, `Q` \[B\] bytes in flight.

use super::flows::Flow;
use crate::cost::{Setting, bandwidth, latency};
use crate::hardware::InFlight;
use crate::model::OperandRole;
use crate::units::{Bytes, Quantity};

/// Requests that wait while so many bytes of an operand are read from a memory in so many passes.
pub(super) fn waits(
    flow: &Flow,
    channel: usize,
    bytes: Bytes,
    passes: f64,
    engine: usize,
    setting: Setting<'_>,
) -> f64 {
    let Some(streams) = &setting.profile.spec().engines[engine].in_flight else { return passes };
    let once = passes.min(1.0);
    let (wait, rate) = (latency(channel, setting).0.0, bandwidth(channel, setting).0.si());
    match in_flight(streams, flow.role) {
        Some(asked) if wait > 0.0 => (bytes.0 / asked.0 - bytes.0 / (rate * wait)).max(once),
        _ => once,
    }
}

fn in_flight(streams: &InFlight, role: OperandRole) -> Option<Bytes> {
    let of_role = match role {
        OperandRole::Filter => &streams.weights,
        OperandRole::Side => &streams.records,
        OperandRole::Data => &streams.activations,
    };
    of_role.as_ref().map(|bytes| bytes.get())
}
