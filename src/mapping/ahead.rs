//! Weights that come closer while the operator before theirs runs.
//!
//! Where an engine says so ([`Ahead`](crate::hardware::Ahead)), weights come from their home once, into a
//! memory near by, and are read there as often as the datapath asks (which of them do is a question of cost:
//! [`weights_stay`](crate::cost::Passes::weights_stay)). As far as home and that memory are idle while the
//! operator before runs, they come then: `min(B, T r, T BW_h - B_h, (T - T_n) BW_n)` of their bytes, with `T` \[s\]
//! the time of that operator, `B_h` \[B\] what it takes from home itself, `T_n` \[s\] its time on the near memory,
//! and `r` \[B/s\] the pace of the stream, which runs beside those of that operator ([`super::streams`]). The rest
//! comes beside its own operator, but for what its first results need: weights of the fewest channels that a
//! block has are waited for (phase `fill`) as far as they did not come before, nor could while the operator before
//! made its own last results, when its weights are in; at the start of a network all of them. So a layer's transfers may hold weights of the next one; the sum over layers does not change.
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
use crate::hardware::Array;
use crate::model::Work;
use crate::units::{Bytes, Cycles, Joules, Quantity, Seconds};

/// Weights of one operator that may come ahead.
#[derive(Debug, Clone, Copy)]
pub(super) struct Early {
    /// The memory they live in.
    pub(super) home: usize,
    /// The memory they come into.
    pub(super) near: usize,
    /// All of them, once.
    pub(super) bytes: Bytes,
    /// Share of them that the first results need.
    first: f64,
    /// Latencies of home that their stream takes.
    latencies: f64,
    /// The same of the longest stream beside it.
    beside: f64,
}

impl Early {
    pub(super) fn of(
        flow: &Flow,
        into: usize,
        near: &Near<'_>,
        (work, array): (&Work, &Array),
    ) -> Self {
        Self {
            home: flow.home,
            near: into,
            bytes: flow.bytes,
            first: first(work, array),
            latencies: near.latencies(flow.role, flow.bytes),
            beside: near.beside_weights(flow.home),
        }
    }
}

/// Share of the weights that the first results of an operator need: those of the fewest channels of a block.
fn first(work: &Work, array: &Array) -> f64 {
    let channels = work.window.map(|window| window.output_channels);
    match (array, channels.or(work.gemm.map(|gemm| gemm.n))) {
        (Array::Blocks(blocks), Some(channels)) => {
            (blocks.channel_step as f64 / channels.max(1) as f64).min(1.0)
        }
        _ => 0.0,
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
        let (mut come, mut meanwhile) = (Bytes::ZERO, Bytes::ZERO);
        if let (Some(coming), Some(earlier)) = (coming, earlier)
            && let Some(own) = steps.get(earlier)
        {
            let last = early.get(earlier).copied().flatten().map_or(1.0, |own| own.first);
            meanwhile = in_last_results(own, coming, last, setting);
            come = room(own, coming, setting);
            if come.0 > 0.0 {
                move_to(steps, (index, earlier), coming, come, setting);
            }
        }
        if let (Some(coming), Some(step)) = (coming, steps.get_mut(index)) {
            wait_for_first(step, coming, (come, meanwhile), setting);
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

/// Bytes that can come while the last results of a step are made, a share of it: its own weights are in then.
fn in_last_results(step: &Step, coming: &Early, share: f64, setting: Setting<'_>) -> Bytes {
    let Some(phase) = step.phases.iter().find(|p| is_steady(p)) else { return Bytes::ZERO };
    let domain = setting.profile.links().engine_domain[step.engine];
    let compute: Seconds = phase.compute / setting.point.clocks[domain].0;
    let wait = latency(coming.home, setting).0.0;
    let in_bytes = coming.bytes.0 / bandwidth(coming.home, setting).0.si();
    let alone = in_bytes.max(coming.latencies * wait).max(f64::MIN_POSITIVE);
    Bytes(coming.bytes.0 * (compute.0 * share - wait).max(0.0) / alone)
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

/// Takes what the first results need, and what has not come, out of what comes beside the operator.
fn wait_for_first(
    step: &mut Step,
    coming: &Early,
    (come, meanwhile): (Bytes, Bytes),
    setting: Setting<'_>,
) {
    let bytes = Bytes(coming.bytes.0 * coming.first - come.0.max(meanwhile.0));
    let steady = step.phases.iter().position(is_steady).filter(|_| bytes.0 > 0.0);
    let Some(place) = steady else { return };
    let share = bytes.0 / coming.bytes.0;
    let asked = requests(coming.home, coming.latencies * share, bytes, setting);
    let moved = [
        transfer(coming.home, (bytes, Bytes::ZERO), asked, setting),
        transfer(coming.near, (Bytes::ZERO, bytes), 0.0, setting),
    ];
    if let Some(phase) = step.phases.get_mut(place) {
        add(&mut phase.transfers, &moved, -1.0);
        let left = 1.0 - share - come.0 / coming.bytes.0;
        if let Some(rest) = phase.transfers.iter_mut().find(|t| t.channel == coming.home) {
            let longest = coming.beside.max(coming.latencies * left);
            rest.requests = requests(coming.home, longest, rest.bytes(), setting);
        }
    }
    let (compute, energy) = (Cycles::ZERO, Joules::ZERO);
    let (kind, transfers, stated) = (PhaseKind::Fill, moved.to_vec(), None);
    let phase = Phase { kind, compute, energy, transfers, pieces: 1, stated };
    step.phases.insert(place, phase);
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
                t.energy = Joules(least(t.energy.0 + sign * other.energy.0));
                t.energy_kind = t.energy_kind.weaker(other.energy_kind);
                t.count_kind = t.count_kind.weaker(other.count_kind);
            }
            None => list.push(*other),
        }
    }
    list.retain(|t| t.bytes().0 > 0.0);
}
