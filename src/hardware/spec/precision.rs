//! Number formats that engines compute in.

use crate::evidence::no_parameters;
use crate::model::ElementType;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A number format that an engine computes in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Precision {
    /// 4-bit integer.
    Int4,
    /// 8-bit integer.
    Int8,
    /// 16-bit integer.
    Int16,
    /// 32-bit integer.
    Int32,
    /// 4-bit float of any kind.
    Float4,
    /// 8-bit float of any kind.
    Float8,
    /// IEEE half.
    Float16,
    /// Brain float.
    BFloat16,
    /// IEEE single.
    Float32,
    /// IEEE double.
    Float64,
}

impl Precision {
    /// The precision that elements of a type are computed in; `None` for types without arithmetic.
    pub fn of(element: ElementType) -> Option<Self> {
        Some(match element {
            ElementType::Int2 | ElementType::Int4 => Self::Int4,
            ElementType::Bool | ElementType::Int8 | ElementType::UInt8 => Self::Int8,
            ElementType::Int16 | ElementType::UInt16 => Self::Int16,
            ElementType::Int32 | ElementType::UInt32 => Self::Int32,
            ElementType::Int64 | ElementType::UInt64 => Self::Int32,
            ElementType::Float4 => Self::Float4,
            ElementType::Float8 => Self::Float8,
            ElementType::Float16 => Self::Float16,
            ElementType::BFloat16 => Self::BFloat16,
            ElementType::Float32 => Self::Float32,
            ElementType::Float64 => Self::Float64,
            ElementType::Other => return None,
        })
    }

    /// Width in bits.
    pub fn bits(self) -> u64 {
        match self {
            Self::Int4 | Self::Float4 => 4,
            Self::Int8 | Self::Float8 => 8,
            Self::Int16 | Self::Float16 | Self::BFloat16 => 16,
            Self::Int32 | Self::Float32 => 32,
            Self::Float64 => 64,
        }
    }

    /// Width in bits in which products are summed: 32 for integers of up to 16 bits and floats of up to
    /// 32, 64 above.
    pub fn accumulator_bits(self) -> u64 {
        match self {
            Self::Int4 | Self::Int8 | Self::Int16 => 32,
            Self::Float4 | Self::Float8 | Self::Float16 | Self::BFloat16 | Self::Float32 => 32,
            Self::Int32 | Self::Float64 => 64,
        }
    }
}

impl fmt::Display for Precision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{self:?}"))
    }
}

no_parameters!(Precision);

/// The parameter walk of an enum whose variants each hold one thing.
macro_rules! either_parameter {
    ($type:ident: $($variant:ident),*) => {
        impl Parameters for $type {
            fn walk(&mut self, path: &mut FieldPath, visit: &mut dyn FnMut(&FieldPath, &mut Parameter)) {
                match self { $(Self::$variant(v) => path.within(stringify!($variant), |p| v.walk(p, visit))),* }
            }
        }
    };
}
pub(super) use either_parameter;
