//! How long a phase takes, and what it waits for.
//!
//! `T = max(cycles / f, bytes_m / BW_m for each memory m)`: engine and transfers run side by side, and
//! the slowest of them sets the pace of all.

use crate::cost::Setting;
use crate::evidence::Kind;
use crate::hardware::Bandwidth;
use crate::mapping::{Phase, Transfer};
use crate::units::{BytesPerSecond, Seconds};

/// Durations within a phase.
#[derive(Debug, Clone, PartialEq)]
pub struct PhaseTime {
    /// The engine's part.
    pub compute: Seconds,
    /// Each transfer's part, in the order of the phase.
    pub transfers: Vec<Seconds>,
    /// The whole phase.
    pub total: Seconds,
    /// The transfer that takes longest, when it is longer than the engine: its memory.
    pub bound_by_memory: Option<usize>,
    /// What the whole rests on, the engine's own cycles apart.
    pub kind: Kind,
}

/// Bandwidth of a memory at the operating point.
pub(crate) fn bandwidth(memory: usize, setting: Setting<'_>) -> (BytesPerSecond, Kind) {
    let (clock, clock_kind) = setting.point.clocks[setting.profile.links().memory_domain[memory]];
    match &setting.profile.spec().memories[memory].bandwidth {
        Bandwidth::PerSecond(rate) => (rate.get(), rate.kind()),
        Bandwidth::PerCycle(rate) => (rate.get() * clock, rate.kind().weaker(clock_kind)),
    }
}

/// Time of a transfer on its memory's port.
pub fn transfer_time(transfer: &Transfer, setting: Setting<'_>) -> (Seconds, Kind) {
    let (rate, kind) = bandwidth(transfer.memory, setting);
    (transfer.bytes() / rate, kind)
}

/// Times of a phase that runs on engine number `engine`.
pub fn phase_time(phase: &Phase, engine: usize, setting: Setting<'_>) -> PhaseTime {
    let (clock, clock_kind) = setting.point.clocks[setting.profile.links().engine_domain[engine]];
    let compute = phase.compute / clock;
    let mut time = PhaseTime {
        compute,
        transfers: Vec::with_capacity(phase.transfers.len()),
        total: compute,
        bound_by_memory: None,
        kind: clock_kind,
    };
    for transfer in &phase.transfers {
        let (own, kind) = transfer_time(transfer, setting);
        if own > time.total {
            time.total = own;
            time.bound_by_memory = Some(transfer.memory);
            time.kind = kind;
        }
        time.transfers.push(own);
    }
    time
}
