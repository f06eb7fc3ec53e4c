//! What a run tells: power changes, rail changes, spans.

use super::{Block, ChannelKind, Edge, Mark};
use crate::units::{Amperes, SimTime, Volts, Watts};
use serde::{Deserialize, Serialize};

/// Index of a component in the [`Header`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ComponentId(pub usize);

/// Index of a rail in the [`Header`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RailId(pub usize);

/// What a component is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum ComponentKind {
    /// An engine's own switching.
    Engine,
    /// A memory's accesses and background.
    Memory,
    /// A cache's accesses.
    Cache,
    /// What passes a link.
    Link,
    /// The clock tree of a domain.
    Clock,
    /// The leakage of a domain.
    Leakage,
    /// A domain in a state of rest, or coming out of it.
    Rest,
    /// A block that runs no network.
    Load,
    /// What a regulator burns.
    RegulatorLoss,
    /// What the power grid of a domain burns.
    GridLoss,
    /// What a meter saw on a supply line.
    Measured,
}

/// A place where power goes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Component {
    /// Name, unique in a trace.
    pub name: String,
    /// What it is.
    pub kind: ComponentKind,
    /// The power domain it belongs to; empty for a regulator and a state load.
    pub domain: String,
    /// The rail that feeds it; for a regulator, the rail it draws from.
    pub rail: String,
}

impl Component {
    /// True for what domains draw, false for losses on the way to them.
    pub fn is_load(&self) -> bool {
        !matches!(self.kind, ComponentKind::RegulatorLoss | ComponentKind::GridLoss)
    }
}

/// A supply rail.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rail {
    /// Name, unique in a trace.
    pub name: String,
    /// True when a source (battery, bench supply) feeds it, false behind a regulator.
    pub is_source: bool,
}

/// Index of a counter in the [`Header`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CounterId(pub usize);

/// A quantity beside power, voltage and current: a temperature, a clock, a load.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counter {
    /// Name, unique in a trace.
    pub name: String,
    /// What it counts, and so its unit.
    pub kind: ChannelKind,
}

/// The fixed part of a trace.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// Places where power goes.
    pub components: Vec<Component>,
    /// Supply rails.
    pub rails: Vec<Rail>,
    /// Quantities beside power.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub counters: Vec<Counter>,
    /// Digital lines.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<String>,
}

/// What a span stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum SpanKind {
    /// One inference, start to end.
    Inference,
    /// One layer of an inference.
    Layer,
    /// A part of a layer: dispatch, fill, steady, drain.
    Phase,
    /// Nothing to do.
    Idle,
    /// A change of power state.
    Transition,
    /// A domain or a block in one of its states.
    State,
    /// A stretch of a capture that is measured, with one or many inferences back to back.
    Window,
}

impl SpanKind {
    /// In lower case, for files and tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Inference => "inference",
            Self::Layer => "layer",
            Self::Phase => "phase",
            Self::Idle => "idle",
            Self::Transition => "transition",
            Self::State => "state",
            Self::Window => "window",
        }
    }
}

/// What a pass of a stream is called in its span.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PassName {
    /// It runs a network.
    Inference,
    /// It is a look of a detector that is no network.
    Look,
    /// It is work of a processor that is no network.
    Task,
}

impl PassName {
    /// The name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Inference => "inference",
            Self::Look => "look",
            Self::Task => "task",
        }
    }
}

/// Something that went on from `start` to `end`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    /// What it stands for.
    pub kind: SpanKind,
    /// Its label (a layer's name).
    pub name: String,
    /// The lane it is drawn in: the engine, domain or workload it concerns.
    pub track: String,
    /// Number of the inference it belongs to, from 0.
    pub inference: Option<u64>,
    /// Start.
    pub start: SimTime,
    /// End, never before the start.
    pub end: SimTime,
}

impl Span {
    /// True of an inference of a network: neither a look nor a task.
    pub fn is_inference(&self) -> bool {
        let others = [PassName::Look.name(), PassName::Task.name()];
        self.kind == SpanKind::Inference && !others.contains(&self.name.as_str())
    }
}

/// Where a run writes. Calls come in the order of time; of several changes of one component at one
/// instant the last holds. A value that is not a number means that it is unknown from then on:
/// captures have gaps, simulated runs have none.
pub trait Sink {
    /// The fixed part, before anything else.
    fn begin(&mut self, header: &Header);
    /// From `at` on, the component draws `power`.
    fn power(&mut self, at: SimTime, component: ComponentId, power: Watts);
    /// From `at` on, the rail stands at `voltage` and carries `current`.
    fn rail(&mut self, at: SimTime, rail: RailId, voltage: Volts, current: Amperes);
    /// A span that has ended; those that a file states may come before their time.
    fn span(&mut self, span: Span);
    /// Whether spans of a kind are of use here: others need not be made.
    fn hears(&self, kind: SpanKind) -> bool {
        let _ = kind;
        true
    }
    /// Power of one component, sample after sample. Only where no other component changes within
    /// the block.
    fn powers(&mut self, component: ComponentId, block: &Block<'_>) {
        for (at, _, value) in block.segments() {
            self.power(at, component, Watts(value));
        }
    }
    /// From `at` on, the counter stands at `value`, in the unit of its kind.
    fn counter(&mut self, at: SimTime, counter: CounterId, value: f64) {
        let _ = (at, counter, value);
    }
    /// A digital line changes; comes before any power that starts after it.
    fn edge(&mut self, edge: Edge) {
        let _ = edge;
    }
    /// A line of a log.
    fn mark(&mut self, mark: Mark) {
        let _ = mark;
    }
    /// The run ends.
    fn end(&mut self, at: SimTime);
}

/// Hears everything and keeps nothing.
#[derive(Debug, Default)]
pub struct Deaf;

impl Sink for Deaf {
    fn begin(&mut self, _: &Header) {}
    fn power(&mut self, _: SimTime, _: ComponentId, _: Watts) {}
    fn rail(&mut self, _: SimTime, _: RailId, _: Volts, _: Amperes) {}
    fn span(&mut self, _: Span) {}
    fn hears(&self, _: SpanKind) -> bool {
        false
    }
    fn end(&mut self, _: SimTime) {}
}

/// Writes into two sinks.
#[derive(Debug)]
pub struct Tee<'a, A, B>(pub &'a mut A, pub &'a mut B);

impl<A: Sink, B: Sink> Sink for Tee<'_, A, B> {
    fn begin(&mut self, header: &Header) {
        self.0.begin(header);
        self.1.begin(header);
    }
    fn power(&mut self, at: SimTime, component: ComponentId, power: Watts) {
        self.0.power(at, component, power);
        self.1.power(at, component, power);
    }
    fn rail(&mut self, at: SimTime, rail: RailId, voltage: Volts, current: Amperes) {
        self.0.rail(at, rail, voltage, current);
        self.1.rail(at, rail, voltage, current);
    }
    fn span(&mut self, span: Span) {
        match (self.0.hears(span.kind), self.1.hears(span.kind)) {
            (true, true) => {
                self.0.span(span.clone());
                self.1.span(span);
            }
            (true, false) => self.0.span(span),
            (false, true) => self.1.span(span),
            (false, false) => {}
        }
    }
    fn hears(&self, kind: SpanKind) -> bool {
        self.0.hears(kind) || self.1.hears(kind)
    }
    fn powers(&mut self, component: ComponentId, block: &Block<'_>) {
        self.0.powers(component, block);
        self.1.powers(component, block);
    }
    fn counter(&mut self, at: SimTime, counter: CounterId, value: f64) {
        self.0.counter(at, counter, value);
        self.1.counter(at, counter, value);
    }
    fn edge(&mut self, edge: Edge) {
        self.0.edge(edge);
        self.1.edge(edge);
    }
    fn mark(&mut self, mark: Mark) {
        self.0.mark(mark.clone());
        self.1.mark(mark);
    }
    fn end(&mut self, at: SimTime) {
        self.0.end(at);
        self.1.end(at);
    }
}
