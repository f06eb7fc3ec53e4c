//! Weights that come closer while the operator before theirs runs.
//!
//! Where an engine says so ([`Ahead`](crate::hardware::Ahead)), weights come from their home once, into a
//! memory near by, and are read there as often as the datapath asks. As long as home and that memory are
//! idle while the operator before runs, they come then: `min(B, (T - T_h) r, (T - T_n) BW_n)` of their bytes,
//! with `T` \[s\] the time of that operator, `T_h` and `T_n` those of home and near memory in it, and `r` \[B/s\]
//! the pace of the stream. The rest comes beside their own operator. So a layer's transfers may hold weights of
//! the next one; the sum over layers does not change.
//!
//! Biases and scales are read where they live at each pass, as Arm's compiler counts their cycles. (Its bytes
//! by memory count them once: they then come with the weights.)
//!
//! Assumed: room for the weights of two operators in the near memory, and that the engine moves them by
//! itself. Left out: parts of weights that come in while an operator before the last one runs.

use super::flows::Flow;
use super::plan::{Phase, PhaseKind, Step, Transfer};
use super::streams::{Near, requests};
use crate::cost::{Setting, access_energy, bandwidth, latency};
use crate::evidence::Kind;
use crate::units::{Bytes, Quantity, Seconds};

/// Weights of one operator that may come ahead.
#[derive(Debug, Clone, Copy)]
pub(super) struct Early {
    /// The memory they live in.
    pub(super) home: usize,
    /// The memory they come into.
    pub(super) near: usize,
    /// All of them, once.
    pub(super) bytes: Bytes,
    /// Latencies of home that their stream takes.
    latencies: f64,
    /// The same of the longest stream beside it.
    beside: f64,
}

impl Early {
    pub(super) fn of(flow: &Flow, into: usize, near: &Near<'_>) -> Self {
        Self {
            home: flow.home,
            near: into,
            bytes: flow.bytes,
            latencies: near.latencies(flow.role, flow.bytes),
            beside: near.beside_weights(flow.home),
        }
    }
}

impl Early {
    /// A phase as it is when all of the weights have come before it: what placement goes by, which does not
    /// know yet what runs before.
    pub(super) fn come(&self, phase: &Phase, setting: Setting<'_>) -> Phase {
        let mut phase = phase.clone();
        if is_steady(&phase) {
            let moved = [
                transfer(self.home, (self.bytes, Bytes::ZERO), 0.0, setting),
                transfer(self.near, (Bytes::ZERO, self.bytes), 0.0, setting),
            ];
            add(&mut phase.transfers, &moved, -1.0);
            if let Some(rest) = phase.transfers.iter_mut().find(|t| t.channel == self.home) {
                rest.requests = requests(self.home, self.beside, rest.bytes(), setting);
            }
        }
        phase
    }
}

/// Moves what comes ahead from its own step into the one before on the same engine.
pub(super) fn fetch_ahead(steps: &mut [Step], early: &[Option<Early>], setting: Setting<'_>) {
    let mut before: Option<usize> = None;
    for (index, coming) in early.iter().enumerate() {
        let earlier = before.filter(|b| {
            let engine = |at: usize| steps.get(at).map(|s| s.engine);
            engine(*b) == engine(index)
        });
        if let (Some(coming), Some(earlier)) = (coming, earlier)
            && let Some(own) = steps.get(earlier)
        {
            let bytes = room(own, coming, setting);
            if bytes.0 > 0.0 {
                move_to(steps, (index, earlier), coming, bytes, setting);
            }
        }
        if steps.get(index).is_some_and(|s| s.phases.iter().any(is_steady)) {
            before = Some(index);
        }
    }
}

fn is_steady(phase: &Phase) -> bool {
    phase.kind == PhaseKind::Steady
}

/// Share of the idle time that is taken.
const UNHURRIED: f64 = 1.0 - 1e-9;

/// Time that a transfer takes on its channel.
fn time(transfer: &Transfer, setting: Setting<'_>) -> f64 {
    let rate = bandwidth(transfer.channel, setting).0.si();
    transfer.bytes().0 / rate + transfer.requests * latency(transfer.channel, setting).0.0
}

/// Bytes that can come while a step runs.
fn room(step: &Step, coming: &Early, setting: Setting<'_>) -> Bytes {
    let Some(phase) = step.phases.iter().find(|p| is_steady(p)) else { return Bytes::ZERO };
    let domain = setting.profile.links().engine_domain[step.engine];
    let compute: Seconds = phase.compute / setting.point.clocks[domain].0;
    let times = phase.transfers.iter().map(|t| (t.channel, time(t, setting)));
    let all = times.clone().fold(compute.0, |most, (_, own)| most.max(own));
    let idle = |channel: usize| {
        let busy = times.clone().find(|(c, _)| *c == channel).map_or(0.0, |(_, own)| own);
        all - busy
    };
    let rate = |channel: usize| bandwidth(channel, setting).0.si();
    let stream = coming.latencies * latency(coming.home, setting).0.0;
    let beside = phase.transfers.iter().find(|t| t.channel == coming.home);
    let idle_at_home = if stream > 0.0 {
        // Streams of other operands wait beside it.
        let own = beside.map_or(0.0, |own| own.bytes().0 / rate(coming.home));
        all - own - latency(coming.home, setting).0.0
    } else {
        idle(coming.home)
    };
    let in_stream = if stream > 0.0 { all / stream } else { f64::INFINITY };
    // Not the last of its idle time: what is as long as the engine does not set the pace.
    let from_home = (coming.bytes.0 * in_stream).min(idle_at_home * rate(coming.home)) * UNHURRIED;
    let into_near = idle(coming.near) * rate(coming.near) * UNHURRIED;
    Bytes(coming.bytes.0.min(from_home).min(into_near).max(0.0))
}

fn move_to(
    steps: &mut [Step],
    (own, earlier): (usize, usize),
    coming: &Early,
    bytes: Bytes,
    setting: Setting<'_>,
) {
    let share = bytes.0 / coming.bytes.0;
    let moved = [
        transfer(coming.home, (bytes, Bytes::ZERO), 0.0, setting),
        transfer(coming.near, (Bytes::ZERO, bytes), 0.0, setting),
    ];
    let left = coming.beside.max(coming.latencies * (1.0 - share));
    let more = coming.latencies * share;
    for (index, sign) in [(own, -1.0), (earlier, 1.0)] {
        let Some(step) = steps.get_mut(index) else { continue };
        let steady = step.phases.iter_mut().find(|p| is_steady(p)).map(|p| &mut p.transfers);
        for list in std::iter::once(&mut step.traffic).chain(steady) {
            let at_home = |t: &&mut Transfer| t.channel == coming.home;
            let longest = list.iter_mut().find(at_home).map_or(0.0, |t| longest(t, setting));
            add(list, &moved, sign);
            if let Some(t) = list.iter_mut().find(at_home) {
                let longest = if sign < 0.0 { left } else { longest.max(more) };
                if sign < 0.0 || more > 0.0 {
                    t.requests = requests(coming.home, longest, t.bytes(), setting);
                }
            }
        }
    }
}

/// Latencies of the longest stream of a channel, where streams and no bytes set its time.
fn longest(transfer: &Transfer, setting: Setting<'_>) -> f64 {
    let (wait, rate) =
        (latency(transfer.channel, setting).0.0, bandwidth(transfer.channel, setting).0.si());
    let in_bytes = if wait > 0.0 { transfer.bytes().0 / (rate * wait) } else { 0.0 };
    if transfer.requests > 1.0 { transfer.requests + in_bytes } else { 0.0 }
}

fn transfer(
    channel: usize,
    (read, write): (Bytes, Bytes),
    requests: f64,
    setting: Setting<'_>,
) -> Transfer {
    let (energy, energy_kind) = access_energy(channel, read, write, setting);
    Transfer { channel, read, write, requests, energy, energy_kind, count_kind: Kind::STRONGEST }
}

/// Adds transfers to a list, or takes them off it.
fn add(list: &mut Vec<Transfer>, moved: &[Transfer], sign: f64) {
    let least = |value: f64| value.max(0.0);
    for other in moved {
        match list.iter_mut().find(|t| t.channel == other.channel) {
            Some(t) => {
                t.read = Bytes(least(t.read.0 + sign * other.read.0));
                t.write = Bytes(least(t.write.0 + sign * other.write.0));
                t.requests = least(t.requests + sign * other.requests);
                t.energy = crate::units::Joules(least(t.energy.0 + sign * other.energy.0));
                t.energy_kind = t.energy_kind.weaker(other.energy_kind);
                t.count_kind = t.count_kind.weaker(other.count_kind);
            }
            None => list.push(*other),
        }
    }
    list.retain(|t| t.bytes().0 > 0.0);
}
