//! The operator graph as the user wrote it: operators and tensors with shapes and types, the work
//! each operator is, importers, and the RON form.
//!
//! Nothing here knows hardware. Names and operator types of the file are kept, since energy per
//! layer must follow the user's layers.

mod arithmetic;
mod builder;
mod consistency;
mod dead;
mod einsum;
mod element_ops;
mod error;
mod file;
mod function;
mod generate;
mod graph;
pub mod import;
mod infer;
mod memory;
mod misfit;
mod op;
mod operand;
mod pattern;
mod profile;
mod quality;
mod shipped;
mod sparsity;
mod states;
mod statistics;
mod sums;
mod tensor;
mod totals;
mod transform;
mod transformer;
mod variant;
mod weights;
mod work;

pub use element_ops::ElementOps;
pub use error::ModelError;
pub use file::{read_ron, write_ron};
pub use function::Function;
pub use generate::{Choice, Family, Generator, families, generate, generators};
pub use graph::{Layout, Live, ModelGraph, Operator, OperatorId, Origin, TensorId};
pub use import::{Bindings, Options, Pass, WeightFormat, load, load_with};
pub(crate) use memory::{ALIGNMENT, Block, Kept, Used, keep};
pub use memory::{
    ActivationMemory, Buffers, Edge, LiveMemory, LiveTensor, OrderMethod, StoredTensor,
};
pub use op::{
    Cell, Convolution, ElementFunction, Movement, Op, OpKind, Padding, Pool, PoolFunction,
    Recurrence, Reduction,
};
pub use operand::{Encoded, Operand, OperandRole};
pub use pattern::name_fits;
pub use profile::{LayerProfile, ModelProfile};
pub use quality::Quality;
pub use shipped::shipped_models;
pub use sparsity::Sparsity;
pub use statistics::WeightStatistics;
pub use sums::{Sums, WeightMean};
pub use tensor::{ElementType, Shape, Tensor, TensorRole};
pub use totals::{
    read_parameters, stored_parameters, total_element_ops, total_live_macs, total_macs,
    total_output_bytes, total_parameters, total_weight_bytes,
};
pub use transform::{Fallback, Transform, TransformRecord, apply};
pub use variant::{Demand, Variant};
pub use work::{Gemm, Layer, Window, Work};
