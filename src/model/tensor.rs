//! Tensors: shape, element type, role.

use super::{Sparsity, WeightStatistics};
use serde::{Deserialize, Serialize};
use std::fmt;

/// The type of a tensor's elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum ElementType {
    /// One bit stored as a byte.
    Bool,
    /// 2-bit signed integer, four to a byte.
    Int2,
    /// 4-bit signed integer, two to a byte.
    Int4,
    /// 8-bit signed integer.
    Int8,
    /// 8-bit unsigned integer.
    UInt8,
    /// 16-bit signed integer.
    Int16,
    /// 16-bit unsigned integer.
    UInt16,
    /// 32-bit signed integer.
    Int32,
    /// 32-bit unsigned integer.
    UInt32,
    /// 64-bit signed integer.
    Int64,
    /// 64-bit unsigned integer.
    UInt64,
    /// IEEE half precision.
    Float16,
    /// An eight-bit float of any kind.
    Float8,
    /// A four-bit float, two to a byte.
    Float4,
    /// Brain float.
    BFloat16,
    /// IEEE single precision.
    Float32,
    /// IEEE double precision.
    Float64,
    /// A type that has no fixed width (strings, resources).
    Other,
}

impl ElementType {
    /// True for the floating-point types.
    pub fn is_float(self) -> bool {
        matches!(
            self,
            Self::Float4
                | Self::Float8
                | Self::Float16
                | Self::BFloat16
                | Self::Float32
                | Self::Float64
        )
    }

    /// Width in bits; 0 for [`ElementType::Other`].
    pub fn bits(self) -> u64 {
        match self {
            Self::Int2 => 2,
            Self::Int4 | Self::Float4 => 4,
            Self::Bool | Self::Int8 | Self::UInt8 | Self::Float8 => 8,
            Self::Int16 | Self::UInt16 | Self::Float16 | Self::BFloat16 => 16,
            Self::Int32 | Self::UInt32 | Self::Float32 => 32,
            Self::Int64 | Self::UInt64 | Self::Float64 => 64,
            Self::Other => 0,
        }
    }
}

impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{self:?}"))
    }
}

/// Extents of a tensor, outermost first. A scalar has none.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Shape(pub Vec<u64>);

/// More elements than any stored tensor or input of a real network has.
pub(super) const MOST_ELEMENTS: u64 = 1 << 39;

impl Shape {
    /// Refuses what a file states though no machine holds it. The error says how much is too much.
    pub(super) fn check_given(&self) -> Result<(), String> {
        match self.elements() {
            Some(elements) if elements <= MOST_ELEMENTS => Ok(()),
            _ => Err(format!("a tensor of {self} is too large: at most 2^39 elements are read")),
        }
    }

    /// Number of elements; `None` past the range of 64 bits.
    pub fn elements(&self) -> Option<u64> {
        self.0.iter().try_fold(1u64, |n, &d| n.checked_mul(d))
    }

    /// Number of dimensions.
    pub fn rank(&self) -> usize {
        self.0.len()
    }

    /// The extent at `axis`, or 1 past the end.
    pub fn extent(&self, axis: usize) -> u64 {
        self.0.get(axis).copied().unwrap_or(1)
    }

    /// The innermost extent, or 1 for a scalar.
    pub fn last(&self) -> u64 {
        self.0.last().copied().unwrap_or(1)
    }
}

/// Dimensions shown; a file may hold a tensor of a million.
const AXES_SHOWN: usize = 16;

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.pad("scalar");
        }
        let mut text = self.0.iter().take(AXES_SHOWN).map(u64::to_string).collect::<Vec<_>>();
        if self.rank() > AXES_SHOWN {
            text.push("..".to_owned());
        }
        f.pad(&text.join("x"))
    }
}

/// What a tensor is to the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum TensorRole {
    /// Handed in from outside.
    Input,
    /// Handed in from outside and kept from one run to the next: the cache of a decoder, the state of
    /// a recurrent layer. It takes its bytes from the start of a run to its end.
    State,
    /// Stored with the model: weights, biases, tables.
    Constant,
    /// Made by an operator.
    #[default]
    Activation,
}

impl TensorRole {
    /// True for what comes from outside with each run.
    pub fn is_handed_in(self) -> bool {
        matches!(self, Self::Input | Self::State)
    }
}

/// A tensor of the graph.
#[derive(Debug, Clone, PartialEq)]
pub struct Tensor {
    /// The file's own name, made unique.
    pub name: String,
    /// Extents; `None` when they could not be found out.
    pub shape: Option<Shape>,
    /// Type of the elements.
    pub element: ElementType,
    /// What it is to the network.
    pub role: TensorRole,
    /// What its numbers are like, where a file gave them.
    pub statistics: Option<WeightStatistics>,
    /// How it is stored when zeros are left out.
    pub sparsity: Option<Sparsity>,
    /// Bytes of it when it is compressed for an engine that expands it, where a compiler said how many.
    pub encoded_bytes: Option<u64>,
}

impl Tensor {
    /// A tensor of which no more is known.
    pub fn new(
        name: impl Into<String>,
        shape: Option<Shape>,
        element: ElementType,
        role: TensorRole,
    ) -> Self {
        Self {
            name: name.into(),
            shape,
            element,
            role,
            statistics: None,
            sparsity: None,
            encoded_bytes: None,
        }
    }

    /// Number of elements; `None` when unknown or past the range of 64 bits.
    pub fn elements(&self) -> Option<u64> {
        self.shape.as_ref()?.elements()
    }

    /// Stored bytes, sub-byte types packed and zeros left out where that is how it is stored; `None`
    /// when unknown or out of range.
    pub fn bytes(&self) -> Option<u64> {
        let bits = self.elements()?.checked_mul(self.element.bits())?;
        let Some(sparsity) = self.sparsity else { return Some(bits.div_ceil(8)) };
        let each = sparsity.bits_per_element(self.element.bits());
        Some((self.elements()? as f64 * each / 8.0).ceil() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_checked() {
        assert_eq!(Shape(vec![1 << 40, 1 << 40]).elements(), None);
        assert_eq!(Shape(vec![]).elements(), Some(1));
        assert_eq!(Shape(vec![2, 3]).to_string(), "2x3");
        assert!(Shape(vec![1; 1_000_000]).to_string().len() < 40);
        let shape = Some(Shape(vec![3, 3]));
        let mut t = Tensor::new("w", shape, ElementType::Int4, TensorRole::Constant);
        assert_eq!(t.bytes(), Some(5), "nine 4-bit weights take five bytes");
        t.sparsity = Some(Sparsity::Structured { keep: 1, of: 4 });
        assert_eq!(t.bytes(), Some(2), "a quarter of nine, with two bits of index each");
    }
}
