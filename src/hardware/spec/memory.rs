//! Memories, caches and links: what bytes pass through.

use super::precision::either_parameter;
use crate::evidence::{
    Condition, FieldPath, Parameter, Parameters, Valued, described, no_parameters,
};
use crate::units::{
    Bytes, BytesPerCycle, BytesPerSecond, Cycles, Hertz, Joules, JoulesPerByte, Ratio, Seconds,
    Volts, Watts,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

described! {
    /// A memory.
    pub struct Memory {
        /// Its name.
        pub name: String,
        /// The domain it is in.
        pub domain: String,
        /// How much it holds.
        pub capacity: Valued<Bytes>,
        /// How much of it a network has, where programs, stacks and drivers take the rest; all of it when
        /// left out.
        #[serde(default)]
        pub usable: Option<Valued<Bytes>>,
        /// What lives in it between layers; empty for a buffer that only stages.
        #[serde(default)]
        pub holds: Vec<TensorClass>,
        /// The buffer its traffic passes through on the way to an engine.
        #[serde(default)]
        pub staged_through: Option<String>,
        /// The memory that its weights come from after a state of its domain that loses them; when left
        /// out, the next memory of the engine that may hold weights.
        #[serde(default)]
        pub reloaded_from: Option<String>,
        /// What of it is moved to the buffer before an engine computes and back behind it, although the
        /// engine double-buffers: `Weights`, `Activations`.
        #[serde(default)]
        pub serial: Vec<TensorClass>,
        /// Bandwidth, shared by reads and writes.
        pub bandwidth: Bandwidth,
        /// Time from a request to its first byte: once for each piece that is moved to or from a buffer,
        /// for each pass of an engine that works from it, for each line that a cache misses.
        #[serde(default)]
        pub latency: Option<Delay>,
        /// Bytes of its longest burst, where what an engine reads together may be shorter and then takes
        /// as long.
        #[serde(default)]
        pub burst: Option<Valued<Bytes>>,
        /// Energy of a byte read. Left out where another number holds it (a run current measured
        /// while executing from this memory).
        #[serde(default)]
        pub read_energy: Option<Valued<JoulesPerByte>>,
        /// Energy of a byte written, likewise.
        #[serde(default)]
        pub write_energy: Option<Valued<JoulesPerByte>>,
        /// Rows of a DRAM: what opening one costs, and how often it is open already.
        #[serde(default)]
        pub rows: Option<Rows>,
        /// Power while it stands ready.
        #[serde(default)]
        pub background: Option<Valued<Watts>>,
        /// States with less power than ready (power-down, self-refresh), for a domain state to name.
        #[serde(default)]
        pub states: Vec<MemoryState>,
        /// Operating points of its own (data rates of an LPDDR), by name; an operating point of the
        /// profile names one. What a set point states replaces what stands above.
        #[serde(default)]
        pub set_points: BTreeMap<String, SetPoint>,
    }
}

described! {
    /// Rows of a DRAM. An access to a row that is not open activates it first.
    pub struct Rows {
        /// Share of the bursts that find their row open.
        pub hit: Valued<Ratio>,
        /// Bytes of a burst.
        pub burst: Valued<Bytes>,
        /// Energy of activating and precharging a row.
        pub activation: Valued<Joules>,
    }
}

described! {
    /// A state of a memory with less power than ready. What it holds is kept.
    pub struct MemoryState {
        /// Its name.
        pub name: String,
        /// Power in it.
        pub power: Valued<Watts>,
        /// Time to be ready again.
        #[serde(default)]
        pub wake_time: Option<Valued<Seconds>>,
    }
}

described! {
    /// An operating point of a memory.
    pub struct SetPoint {
        /// Bandwidth at this point.
        pub bandwidth: Bandwidth,
        /// Latency at this point.
        #[serde(default)]
        pub latency: Option<Delay>,
        /// Longest burst at this point.
        #[serde(default)]
        pub burst: Option<Valued<Bytes>>,
        /// Energy of a byte read at this point.
        #[serde(default)]
        pub read_energy: Option<Valued<JoulesPerByte>>,
        /// Energy of a byte written at this point.
        #[serde(default)]
        pub write_energy: Option<Valued<JoulesPerByte>>,
        /// Power while ready at this point.
        #[serde(default)]
        pub background: Option<Valued<Watts>>,
    }
}

described! {
    /// A cache between engines and the memories behind it: the flash accelerator of a Cortex-M, the L2
    /// of a processor cluster or of a GPU.
    pub struct Cache {
        /// Its name.
        pub name: String,
        /// The domain it is in.
        pub domain: String,
        /// How much it holds.
        pub capacity: Valued<Bytes>,
        /// Bytes of a line, which a miss fetches whole.
        pub line: Valued<Bytes>,
        /// What makes room for a new line.
        pub replacement: Replacement,
        /// Engines that see the memories through it.
        pub engines: Vec<String>,
        /// Memories behind it.
        pub backs: Vec<String>,
        /// True when it fetches the lines of a stream ahead: an engine waits for the memory behind once
        /// a pass, and not at each line.
        #[serde(default)]
        pub prefetches: bool,
        /// Bandwidth of hits.
        pub bandwidth: Bandwidth,
        /// Energy of a byte read, hit or refill, where no other number holds it.
        #[serde(default)]
        pub read_energy: Option<Valued<JoulesPerByte>>,
        /// Energy of a byte filled.
        #[serde(default)]
        pub write_energy: Option<Valued<JoulesPerByte>>,
    }
}

/// What a full cache throws out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Replacement {
    /// The line that was used longest ago.
    LeastRecentlyUsed,
    /// Any line.
    Random,
}

described! {
    /// A way between two memories with its own pace and cost: a DMA channel, a bus bridge, a chip's
    /// pads.
    pub struct Link {
        /// Its name.
        pub name: String,
        /// The domain it is in.
        pub domain: String,
        /// The two memories it joins.
        pub joins: (String, String),
        /// Bandwidth of both directions together.
        pub bandwidth: Bandwidth,
        /// Set-up of a transfer (a DMA descriptor), once for each piece of an operand.
        #[serde(default)]
        pub latency: Option<Delay>,
        /// Energy of a byte moved.
        #[serde(default)]
        pub energy: Option<Valued<JoulesPerByte>>,
    }
}

/// A bandwidth in time, tied to the clock of the domain, or following the flash wait states.
#[derive(Debug, Clone, Deserialize)]
pub enum Bandwidth {
    /// Bytes a second.
    PerSecond(Valued<BytesPerSecond>),
    /// Bytes a cycle of the domain's clock.
    PerCycle(Valued<BytesPerCycle>),
    /// One access of so many bytes, and wait states that grow with the clock.
    WaitStates(WaitStates),
}

described! {
    /// Wait states against clock and voltage. An access takes one cycle and the wait states.
    pub struct WaitStates {
        /// Bytes of an access.
        pub width: Valued<Bytes>,
        /// Limits by voltage of the rail of the memory's domain; that of the highest voltage not above
        /// the rail's holds.
        pub ranges: Vec<WaitStateRange>,
    }
}

described! {
    /// Clock limits of one voltage range.
    pub struct WaitStateRange {
        /// Lowest voltage of the range.
        pub voltage: Condition<Volts>,
        /// Highest clock with 0, 1, 2 … wait states, rising.
        pub limits: Vec<Condition<Hertz>>,
    }
}

/// A time, or cycles of the domain's clock.
#[derive(Debug, Clone, Deserialize)]
pub enum Delay {
    /// A time.
    Time(Valued<Seconds>),
    /// Cycles of the domain's clock.
    Cycles(Valued<Cycles>),
}

either_parameter!(Bandwidth: PerSecond, PerCycle, WaitStates);
either_parameter!(Delay: Time, Cycles);

/// A class of tensors, for placing them in memories.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum TensorClass {
    /// Stored with the model.
    Weights,
    /// Made and used during an inference; what is handed in and out too, where no memory of an engine says
    /// that it holds them.
    Activations,
    /// What is handed to the network.
    Inputs,
    /// What the network hands out.
    Results,
}

no_parameters!(TensorClass, Replacement);

impl Memory {
    /// What a network has of it.
    pub fn room(&self) -> &Valued<Bytes> {
        self.usable.as_ref().unwrap_or(&self.capacity)
    }
}

/// Voltages are written to the millivolt: what is meant to be equal is.
const VOLTAGE_SLACK: f64 = 1e-6;

impl WaitStates {
    /// The range that holds at a voltage: that of the highest voltage not above it, or the lowest.
    pub fn range_at(&self, voltage: Volts) -> Option<&WaitStateRange> {
        let slack = Volts(VOLTAGE_SLACK);
        let below = self.ranges.iter().rev().find(|r| r.voltage.get() <= voltage + slack);
        below.or(self.ranges.first())
    }

    /// The lowest voltage of its ranges, where a voltage is below all of them.
    pub fn above(&self, voltage: Volts) -> Option<Volts> {
        let lowest = self.ranges.first()?.voltage.get();
        (voltage.0 < lowest.0 - VOLTAGE_SLACK).then_some(lowest)
    }

    /// Wait states at a clock and voltage; past the last limit, those of the last.
    pub fn at(&self, clock: Hertz, voltage: Volts) -> u64 {
        let Some(range) = self.range_at(voltage) else { return 0 };
        let within = range.limits.iter().position(|limit| clock.0 <= limit.get().0 * (1.0 + 1e-9));
        within.unwrap_or(range.limits.len().saturating_sub(1)) as u64
    }
}
