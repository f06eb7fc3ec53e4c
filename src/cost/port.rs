//! A memory as an engine sees it, in cycles of the engine.

use super::{Setting, bandwidth, latency};
use crate::evidence::Kind;
use crate::hardware::TensorClass;
use crate::model::OpKind;
use crate::units::Quantity;

/// Latency, pace and burst of a memory.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Port {
    /// Cycles to the first byte.
    pub(super) latency: f64,
    /// Bytes a cycle.
    pub(super) bytes_per_cycle: f64,
    /// Bytes of its longest burst; 0 where bursts do not matter.
    pub(super) burst: f64,
    /// What all of it rests on.
    pub(super) kind: Kind,
}

impl Port {
    /// No memory at all: nothing waits for it.
    const FREE: Self =
        Self { latency: 0.0, bytes_per_cycle: f64::INFINITY, burst: 0.0, kind: Kind::STRONGEST };

    /// The first memory of an engine that holds a class of tensors.
    pub(super) fn of(class: TensorClass, engine: usize, setting: Setting<'_>) -> Self {
        let spec = setting.profile.spec();
        let class = setting.profile.class_of_home(engine, class);
        let reached = setting.profile.links().engine_memories.get(engine).into_iter().flatten();
        let mut holding = reached.copied().filter(|m| spec.memories[*m].holds.contains(&class));
        holding.next().map_or(Self::FREE, |memory| Self::at(memory, engine, setting))
    }

    /// The memory that weights of a kind of operator may come into ahead of it.
    pub(super) fn ahead(kind: OpKind, engine: usize, setting: Setting<'_>) -> Option<Self> {
        let ahead = setting.profile.spec().engines[engine].ahead.as_ref()?;
        let near = setting.profile.links().engine_ahead.get(engine).copied().flatten()?;
        ahead.kinds.contains(&kind).then(|| Self::at(near, engine, setting))
    }

    fn at(memory: usize, engine: usize, setting: Setting<'_>) -> Self {
        let (clock, clock_kind) =
            setting.point.clocks[setting.profile.links().engine_domain[engine]];
        let (rate, rate_kind) = bandwidth(memory, setting);
        let (wait, wait_kind) = latency(memory, setting);
        let burst = setting.profile.channel(memory, setting.point).burst;
        let kind = clock_kind.weaker(rate_kind).weaker(wait_kind);
        Self {
            latency: wait.0 * clock.0,
            bytes_per_cycle: rate.si() / clock.0,
            burst: burst.map_or(0.0, |b| b.get().0),
            kind: burst.map_or(kind, |b| kind.weaker(b.kind())),
        }
    }

    /// Cycles of a stream of bytes, of which so many are on their way at a time.
    pub(super) fn stream(&self, bytes: f64, in_flight: Option<f64>) -> f64 {
        let asked = in_flight.filter(|_| self.latency > 0.0).map(|own| own / self.latency);
        let rate = asked.map_or(self.bytes_per_cycle, |asked| asked.min(self.bytes_per_cycle));
        bytes / rate + self.latency
    }

    /// What a run of bytes that lie together takes, over its bytes.
    pub(super) fn burst_share(&self, run: f64) -> f64 {
        if run > 0.0 { (self.burst / run).max(1.0) } else { 1.0 }
    }
}
