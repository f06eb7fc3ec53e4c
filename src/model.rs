//! The operator graph as the user wrote it: operators and tensors with shapes and types, the work
//! each operator is, importers, and the RON form.
//!
//! Nothing here knows hardware. Names and operator types of the file are kept, since energy per
//! layer must follow the user's layers.

mod arithmetic;
mod consistency;
mod einsum;
mod element_ops;
mod error;
mod file;
mod graph;
pub mod import;
mod memory;
mod misfit;
mod op;
mod operand;
mod profile;
mod shipped;
mod sparsity;
mod statistics;
mod sums;
mod tensor;
mod totals;
mod work;

pub use element_ops::ElementOps;
pub use error::ModelError;
pub use file::{read_ron, write_ron};
pub use graph::{Layout, Live, ModelGraph, Operator, OperatorId, Origin, TensorId};
pub use import::{Bindings, load};
pub use memory::{ActivationMemory, LiveMemory, LiveTensor, OrderMethod};
pub use op::{
    Cell, Convolution, ElementFunction, Movement, Op, OpKind, Padding, Pool, PoolFunction,
    Recurrence,
};
pub use operand::{Operand, OperandRole};
pub use profile::{LayerProfile, ModelProfile};
pub use shipped::shipped_models;
pub use sparsity::Sparsity;
pub use statistics::WeightStatistics;
pub use sums::{Sums, WeightMean};
pub use tensor::{ElementType, Shape, Tensor, TensorRole};
pub use totals::{
    total_element_ops, total_live_macs, total_macs, total_output_bytes, total_parameters,
    total_weight_bytes,
};
pub use work::{Gemm, Layer, Window, Work};
