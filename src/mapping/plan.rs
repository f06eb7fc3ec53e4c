//! The plan: steps with cycles, bytes by memory, and phases.

use super::memory::MemoryInUse;
use crate::cost::{Cost, Refusal};
use crate::evidence::Kind;
use crate::hardware::Point;
use crate::model::OpKind;
use crate::units::{Bytes, Cycles, Joules};
use std::borrow::Cow;

/// A part of a step, in which engine and transfers run side by side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PhaseKind {
    /// Bringing what another engine made from where it wrote it.
    Handover,
    /// Calling the operator.
    Dispatch,
    /// Loading the first tile.
    Fill,
    /// Computing, with transfers beside it.
    Steady,
    /// Storing the last tile.
    Drain,
}

impl PhaseKind {
    /// In lower case, for files and tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Handover => "handover",
            Self::Dispatch => "dispatch",
            Self::Fill => "fill",
            Self::Steady => "steady",
            Self::Drain => "drain",
        }
    }
}

/// Traffic of one memory, cache or link.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Transfer {
    /// The channel, by number.
    pub channel: usize,
    /// Bytes read from it.
    pub read: Bytes,
    /// Bytes written to it.
    pub write: Bytes,
    /// Requests that wait for the channel's latency: pieces of operands that are moved, passes over an
    /// operand that an engine works from in place, lines that it stands still for.
    pub requests: f64,
    /// Energy of both at the operating point.
    pub energy: Joules,
    /// What the energy rests on.
    pub energy_kind: Kind,
    /// What bytes and requests rest on: the room of buffers and caches, where it decides how often
    /// something comes and in how many pieces.
    pub count_kind: Kind,
}

impl Transfer {
    /// Bytes that occupy the channel.
    pub fn bytes(&self) -> Bytes {
        self.read + self.write
    }

    /// A part of the transfer, with so many of its requests.
    pub(super) fn part(&self, share: f64, requests: f64) -> Self {
        Self {
            read: self.read * share,
            write: self.write * share,
            requests,
            energy: self.energy * share,
            ..*self
        }
    }
}

/// How long another tool says that a phase takes, and what it says that is waited for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stated {
    /// Cycles of the engine's clock from its start to its end.
    pub cycles: Cycles,
    /// The channel that takes longest, where it takes longer than the engine.
    pub channel: Option<usize>,
}

/// One phase of a step.
#[derive(Debug, Clone, PartialEq)]
pub struct Phase {
    /// What happens.
    pub kind: PhaseKind,
    /// Cycles of the engine at work.
    pub compute: Cycles,
    /// Switching energy of the engine.
    pub energy: Joules,
    /// Transfers, which go on beside the engine; the slowest part sets the pace of all.
    pub transfers: Vec<Transfer>,
    /// Pieces that the operand cut finest comes in while the engine computes, each with events of its own
    /// where tiles are simulated; 1 where nothing overlaps.
    pub pieces: u64,
    /// Its length where it is not ours to compute: what the profile's bandwidths make of the transfers
    /// sets no pace then.
    pub stated: Option<Stated>,
}

/// One operator on its engine.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// The layer, by its place in the network.
    pub layer: usize,
    /// The layer's name.
    pub name: String,
    /// The layer's kind.
    pub kind: OpKind,
    /// Multiply-accumulates of the graph.
    pub macs: u64,
    /// Element operations of the graph.
    pub element_ops: u64,
    /// The engine, by index.
    pub engine: usize,
    /// Its cost there.
    pub cost: Cost,
    /// All traffic, by memory.
    pub traffic: Vec<Transfer>,
    /// The phases it runs through.
    pub phases: Vec<Phase>,
    /// True where its result stays in a buffer for the next layer.
    pub keeps_result: bool,
}

/// An operator that no engine of the profile runs. It is in no sum.
#[derive(Debug, Clone, PartialEq)]
pub struct Uncosted {
    /// The layer, by its place in the network.
    pub layer: usize,
    /// The layer's name.
    pub name: String,
    /// The layer's kind.
    pub kind: OpKind,
    /// Its MACs and element operations.
    pub operations: u64,
    /// Share of all operations of the network.
    pub share: f64,
    /// Why each engine refused.
    pub reasons: Vec<String>,
}

/// A layer that an engine before the one that runs it refuses.
#[derive(Debug, Clone, PartialEq)]
pub struct Fallback {
    /// The layer, by its place in the network.
    pub layer: usize,
    /// The engine that runs it.
    pub engine: usize,
    /// Its share of all operations of the network.
    pub share: f64,
    /// Engines before that one in the profile, and why they do not run it.
    pub refused: Vec<(usize, Refusal)>,
}

/// A network mapped onto a profile at an operating point.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// Name of the network.
    pub network: String,
    /// The operating point.
    pub point: Point,
    /// Steps in the order they run.
    pub steps: Vec<Step>,
    /// What could not be costed.
    pub uncosted: Vec<Uncosted>,
    /// What fell back to a later engine.
    pub fallbacks: Vec<Fallback>,
    /// Share of all MACs and element operations that are in `steps`.
    pub costed_share: f64,
    /// True when weights and activations fit the memories they live in.
    pub fits: bool,
    /// What the reader should know.
    pub notes: Vec<String>,
    /// Where tensors live, for the engines in use.
    pub memory: Vec<MemoryInUse>,
    /// Parts of a batch that go through all layers one after the other; the figures of `steps` are those
    /// of all of them. One where everything goes through at once.
    pub passes: u64,
}

impl Plan {
    /// Steps of one of its passes.
    pub fn steps_of_a_pass(&self) -> Cow<'_, [Step]> {
        match self.passes {
            0 | 1 => Cow::Borrowed(&self.steps),
            passes => self.steps.iter().map(|step| step.times(1, passes)).collect(),
        }
    }

    /// Layers of which nobody knows how much work they are; no share of operations holds them.
    pub fn unknown_layers(&self) -> usize {
        self.uncosted.iter().filter(|layer| layer.kind == OpKind::Opaque).count()
    }
}
