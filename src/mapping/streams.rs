//! Who waits for a memory that an engine reads in place.
//!
//! An engine that says how many bytes it asks for at a time reads streams, which run side by side: a channel
//! waits for its latency once, and a stream gets no more than its bytes in flight in each latency. All
//! streams of a channel take `max(sum B / BW, max B t / Q)`, which as requests of the law `B / BW + n t` is
//! `n = max(1, max B / Q - sum B / (BW t))`. What is written is not waited for. An engine that says nothing waits once for each pass over an
//! operand.
//!
//! Symbols: `B` \[B\] bytes of a stream and `Q` \[B\] those of it in flight, `BW` \[B/s\] bandwidth and `t` \[s\]
//! latency of the channel.

use super::plan::Transfer;
use super::traffic::{Sum, Sums};
use crate::cost::{Setting, bandwidth, latency};
use crate::evidence::Kind;
use crate::hardware::InFlight;
use crate::model::OperandRole;
use crate::units::{Bytes, Quantity};
use std::collections::BTreeSet;

/// What passes between an engine and what it reads and writes in place, with the streams that it makes.
pub(super) struct Near<'a> {
    sums: Sums,
    in_flight: Option<&'a InFlight>,
    /// The longest stream of each channel and role, in latencies.
    longest: Vec<(usize, OperandRole, f64)>,
}

impl<'a> Near<'a> {
    pub(super) fn of(engine: usize, setting: Setting<'a>) -> Self {
        let in_flight = setting.profile.spec().engines[engine].in_flight.as_ref();
        Self { sums: Sums::default(), in_flight, longest: Vec::new() }
    }

    /// Latencies that a stream takes.
    pub(super) fn latencies(&self, role: OperandRole, bytes: Bytes) -> f64 {
        let asked = self.in_flight.and_then(|own| match role {
            OperandRole::Filter => own.weights.as_ref(),
            OperandRole::Side => own.records.as_ref(),
            OperandRole::Data => own.activations.as_ref(),
        });
        asked.map_or(0.0, |asked| bytes.0 / asked.get().0)
    }

    /// Passes of the engine over what is next to it.
    pub(super) fn pass(
        &mut self,
        role: OperandRole,
        channel: usize,
        (read, write): (Bytes, Bytes),
        passes: f64,
        kind: Kind,
    ) {
        if (read + write).0 <= 0.0 {
            return;
        }
        let streams = self.in_flight.is_some();
        if streams && read.0 > 0.0 {
            let own = self.latencies(role, read);
            let of_both = |(c, r, _): &&mut (usize, OperandRole, f64)| *c == channel && *r == role;
            match self.longest.iter_mut().find(of_both) {
                Some((_, _, longest)) => *longest = longest.max(own),
                None => self.longest.push((channel, role, own)),
            }
        }
        let requests = if streams { 0.0 } else { passes };
        let (bytes_kind, count_kind) = (kind, kind);
        self.sums.add(Sum { channel, read, write, requests, bytes_kind, count_kind });
    }

    /// What a cache asks of the memory behind it, and what it serves itself.
    pub(super) fn line_requests(&mut self, sum: Sum) {
        if (sum.read + sum.write).0 > 0.0 {
            self.sums.add(sum);
        }
    }

    /// The longest stream of a channel without those of weights, in latencies.
    pub(super) fn beside_weights(&self, channel: usize) -> f64 {
        let others = self.longest.iter().filter(|(_, role, _)| *role != OperandRole::Filter);
        others.filter(|(c, _, _)| *c == channel).fold(0.0, |most, (_, _, own)| most.max(*own))
    }

    /// All of it, by channel.
    pub(super) fn transfers(mut self, setting: Setting<'_>) -> Vec<Transfer> {
        let channels: BTreeSet<usize> = self.longest.iter().map(|(c, _, _)| *c).collect();
        for channel in channels {
            let own = self.longest.iter().filter(|(c, _, _)| *c == channel);
            let longest = own.fold(0.0f64, |most, (_, _, own)| most.max(*own));
            let all = self.sums.bytes(channel);
            self.sums.wait(channel, requests(channel, longest, all, setting));
        }
        self.sums.transfers(setting)
    }
}

/// Requests of a channel whose longest stream takes so many latencies.
pub(super) fn requests(channel: usize, longest: f64, all: Bytes, setting: Setting<'_>) -> f64 {
    let (wait, rate) = (latency(channel, setting).0.0, bandwidth(channel, setting).0.si());
    if wait > 0.0 && all.0 > 0.0 { (longest - all.0 / (rate * wait)).max(1.0) } else { 0.0 }
}
