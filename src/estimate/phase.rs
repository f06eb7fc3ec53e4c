//! How long a phase takes, and what it waits for.
//!
//! `T = max(cycles / f, n_c t_c + bytes_c / BW_c for each channel c)`, with `n_c` requests that wait for
//! the latency `t_c`: engine and transfers run side by side, and
//! the slowest of them sets the pace of all.

use crate::cost::{Setting, bandwidth, latency};
use crate::evidence::Kind;
use crate::mapping::{Phase, Transfer};
use crate::units::Seconds;

/// Durations within a phase.
#[derive(Debug, Clone, PartialEq)]
pub struct PhaseTime {
    /// The engine's part.
    pub compute: Seconds,
    /// Each transfer's part, in the order of the phase.
    pub transfers: Vec<Seconds>,
    /// The whole phase.
    pub total: Seconds,
    /// The transfer that takes longest, when it is longer than the engine: its channel.
    pub bound_by_channel: Option<usize>,
    /// What the whole rests on, the engine's own cycles apart.
    pub kind: Kind,
}

/// Time of a transfer on its channel: what its requests wait for, and its bytes.
pub fn transfer_time(transfer: &Transfer, setting: Setting<'_>) -> (Seconds, Kind) {
    let (rate, kind) = bandwidth(transfer.channel, setting);
    let kind = kind.weaker(transfer.count_kind);
    let moving = transfer.bytes() / rate;
    if transfer.requests <= 0.0 {
        return (moving, kind);
    }
    let (each, latency_kind) = latency(transfer.channel, setting);
    let waiting = each * transfer.requests;
    (waiting + moving, if waiting.0 > 0.0 { kind.weaker(latency_kind) } else { kind })
}

/// Times of a phase that runs on engine number `engine`.
pub fn phase_time(phase: &Phase, engine: usize, setting: Setting<'_>) -> PhaseTime {
    let mut transfers = Vec::with_capacity(phase.transfers.len());
    let time = slowest(phase, engine, setting, |own| transfers.push(own));
    PhaseTime { transfers, ..time }
}

/// The same, handing the times of transfers on instead of keeping them.
pub(super) fn slowest(
    phase: &Phase,
    engine: usize,
    setting: Setting<'_>,
    mut each: impl FnMut(Seconds),
) -> PhaseTime {
    let (clock, clock_kind) = setting.point.clocks[setting.profile.links().engine_domain[engine]];
    let compute = phase.compute / clock;
    let mut time = PhaseTime {
        compute,
        transfers: Vec::new(),
        total: compute,
        bound_by_channel: None,
        kind: clock_kind,
    };
    for transfer in &phase.transfers {
        let (own, kind) = transfer_time(transfer, setting);
        if own > time.total {
            time.total = own;
            time.bound_by_channel = Some(transfer.channel);
            time.kind = kind;
        }
        each(own);
    }
    time
}
