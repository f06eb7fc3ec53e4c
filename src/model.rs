//! The operator graph as the user wrote it: operators and tensors with shapes and types, the work
//! each operator is, importers, and the RON form.
//!
//! Nothing here knows hardware. Names and operator types of the file are kept, since energy per
//! layer must follow the user's layers.

mod arithmetic;
mod consistency;
mod error;
mod file;
mod graph;
pub mod import;
mod memory;
mod misfit;
mod op;
mod operand;
mod shipped;
mod tensor;
mod totals;
mod work;

pub use error::ModelError;
pub use file::{read_ron, write_ron};
pub use graph::{Layout, ModelGraph, Operator, OperatorId, Origin, TensorId};
pub use import::{Bindings, load};
pub use op::{Convolution, ElementFunction, Movement, Op, OpKind, Padding, Pool, PoolFunction};
pub use operand::{Operand, OperandRole};
pub use shipped::shipped_models;
pub use tensor::{ElementType, Shape, Tensor, TensorRole};
pub use totals::{
    total_element_ops, total_macs, total_output_bytes, total_parameters, total_weight_bytes,
};
pub use work::{Gemm, Layer, Window, Work};
