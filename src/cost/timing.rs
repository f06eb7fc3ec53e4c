//! What an engine's datapath answers about an operator: cycles and operand passes, or a refusal.

use crate::evidence::Kind;
use crate::hardware::Engine;
use crate::model::{OpKind, OperandRole, Work};
use crate::units::{Cycles, MacsPerCycle};

/// Why an engine does not run an operator.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Refusal {
    /// The engine has no such function.
    #[error("{engine} does not run {kind}")]
    Unsupported {
        /// The engine.
        engine: String,
        /// The kind of operator.
        kind: OpKind,
    },
    /// The engine is said to run the kind, and its datapath has nothing that does.
    #[error("{engine} has no datapath for {kind}")]
    NoFunction {
        /// The engine.
        engine: String,
        /// The kind of operator.
        kind: OpKind,
    },
    /// The engine's domain stays at rest at the operating point.
    #[error("{engine} takes no {kind}: {domain} is asleep ({state})")]
    Asleep {
        /// The engine.
        engine: String,
        /// The kind of operator.
        kind: OpKind,
        /// Its domain.
        domain: String,
        /// The state that the domain is in.
        state: String,
    },
    /// The window or the stride is none that the engine takes.
    #[error(
        "{engine} does not run {kind} with a window of {}x{} and a stride of {}",
        window.kernel_height, window.kernel_width, window.stride_height.max(window.stride_width)
    )]
    NoWindow {
        /// The engine.
        engine: String,
        /// The kind of operator.
        kind: OpKind,
        /// Its window.
        window: Box<crate::model::Window>,
    },
    /// The engine does not compute in the operator's number format.
    #[error("{engine} does not run {kind} in {element:?}")]
    NoPrecision {
        /// The engine.
        engine: String,
        /// The kind of operator.
        kind: OpKind,
        /// The element type.
        element: crate::model::ElementType,
    },
    /// The profile gives no energy for this work.
    #[error("{engine} has no energy for {kind} in {precision}")]
    NoEnergy {
        /// The engine.
        engine: String,
        /// The kind of operator.
        kind: OpKind,
        /// The number format.
        precision: crate::hardware::Precision,
    },
    /// The software gives no rate for this kind.
    #[error("software {software} has no rate for {kind} on {engine}")]
    NoRate {
        /// The engine.
        engine: String,
        /// The software stack.
        software: String,
        /// The kind of operator.
        kind: OpKind,
    },
}

impl Refusal {
    /// The engine does not compute in the format of the work.
    pub(super) fn no_precision(engine: &Engine, work: &Work) -> Self {
        let (kind, element) = (work.kind, work.element);
        Self::NoPrecision { engine: engine.name.clone(), kind, element }
    }

    /// Nothing in the engine's datapath does the work.
    pub(super) fn no_function(engine: &Engine, work: &Work) -> Self {
        Self::NoFunction { engine: engine.name.clone(), kind: work.kind }
    }
}

/// How often each operand passes between the array and the memory next to it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Passes {
    /// Readings of the input.
    pub input: f64,
    /// Times that each word of the input enters within a pass: more than once where windows overlap.
    pub windows: f64,
    /// Readings of the weights.
    pub weight: f64,
    /// Readings of what is stored beside the weights of MAC work: biases and scales.
    pub beside: f64,
    /// Writings of the output or its partial sums.
    pub output_written: f64,
    /// Bytes of the finished output as it lies in memory over those of its elements, at least 1.
    pub output_padded: f64,
    /// Readings of partial sums.
    pub output_read: f64,
    /// True where weights that might come closer ahead of the operator are read where they live.
    pub weights_stay: bool,
}

impl Passes {
    /// Each operand once: the least there can be.
    pub const ONCE: Self = Self {
        input: 1.0,
        windows: 1.0,
        weight: 1.0,
        beside: 1.0,
        output_written: 1.0,
        output_padded: 1.0,
        output_read: 0.0,
        weights_stay: false,
    };
}

/// Cycles of an operator, before energy.
pub(super) struct Timing {
    pub(super) compute: Cycles,
    pub(super) array_macs: u64,
    /// Multiply-accumulates that are made for each that is asked for, at least 1: results that a
    /// datapath makes and drops.
    pub(super) made: f64,
    /// Peak multiply-accumulates a cycle.
    pub(super) peak: MacsPerCycle,
    pub(super) passes: Passes,
    /// What the cycles at work rest on.
    pub(super) kind: Kind,
}

/// Words that an array takes in once for each pass over its input, over the elements of the input: a
/// product reads `m k` of them for each group, windows that overlap again and again.
pub(super) fn window_reads(work: &Work) -> f64 {
    let (Some(gemm), Some(_)) = (work.gemm, work.window) else { return 1.0 };
    let data = work.operands.iter().find(|o| o.role == OperandRole::Data);
    let words = gemm.groups as f64 * gemm.m as f64 * gemm.k as f64;
    match data {
        Some(data) if data.elements > 0 => (words / data.elements as f64).max(1.0),
        _ => 1.0,
    }
}
