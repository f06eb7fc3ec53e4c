//! What an operator reads, one operand at a time.

use super::{ElementFunction, Movement, Op, Sparsity, Tensor, TensorRole, WeightStatistics};
use crate::model::ElementType;
use serde::Serialize;

/// What part an operand plays in the operator's loops.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub enum OperandRole {
    /// Streams past the other: the input, the rows of a product.
    Data,
    /// The other factor of MAC work: filters, the columns of a product, stored or computed.
    Filter,
    /// Read once beside them: bias, statistics, indices.
    Side,
}

/// How small a stored operand is where it is compressed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Encoded {
    /// Bits of an element.
    pub bits: f64,
    /// True where a compiler said so, false for the entropy of the values.
    pub stated: bool,
}

/// One operand.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Operand {
    /// Its part in the loops.
    pub role: OperandRole,
    /// True when it is stored with the model.
    pub constant: bool,
    /// Type of its elements as stored.
    pub element: ElementType,
    /// Elements that the operator reads; of a table that rows are picked from, the picked ones.
    pub elements: u64,
    /// Times that it is read, one after the other: the recurrent weights once a step.
    pub repeats: u64,
    /// How it is stored when zeros are left out.
    pub sparsity: Option<Sparsity>,
    /// The operator's port that it comes in at.
    #[serde(skip)]
    pub port: usize,
    /// Which of the network's [`Buffers`](super::Buffers) it lies in, where these have been made out.
    #[serde(skip)]
    pub buffer: Option<usize>,
    /// True where it is what the network is handed, as far as its buffers have been made out.
    #[serde(skip)]
    pub handed_in: bool,
    /// How small it is where it is compressed, of a constant whose values or whose code are known.
    #[serde(skip)]
    pub encoded: Option<Encoded>,
    /// What its values are like, of a constant whose values are known.
    #[serde(skip)]
    pub statistics: Option<WeightStatistics>,
}

/// True for a state that an operator only writes new rows into: `Scatter` of the rows (its first
/// operand) into a state (its second). What it makes lies in the bytes of the state.
pub(super) fn is_written_in_place(op: &Op, port: usize, role: TensorRole) -> bool {
    role == TensorRole::State && port == 1 && *op == Op::Movement(Movement::Scatter)
}

impl Encoded {
    fn of(tensor: &Tensor) -> Option<Self> {
        if tensor.role != TensorRole::Constant {
            return None;
        }
        let elements = tensor.elements().filter(|elements| *elements > 0)? as f64;
        let stated = tensor.encoded_bytes.map(|bytes| bytes as f64 * 8.0 / elements);
        let entropy = || tensor.statistics.map(|own| own.entropy_bits);
        let bits = stated.or_else(entropy)?;
        Some(Self { bits, stated: stated.is_some() })
    }
}

impl Operand {
    pub(super) fn of(
        op: &Op,
        port: usize,
        tensor: &Tensor,
        elements: u64,
        output: u64,
        repeats: u64,
    ) -> Self {
        let role = match (op, port) {
            (_, 0) => OperandRole::Data,
            (
                Op::Convolution(_)
                | Op::FullyConnected
                | Op::MatMul { .. }
                | Op::Einsum(_)
                | Op::Recurrence(_),
                1,
            ) => OperandRole::Filter,
            (Op::Elementwise(ElementFunction::Rotate), _) => OperandRole::Side,
            (Op::Elementwise(_) | Op::Movement(Movement::Concatenate), _) => OperandRole::Data,
            _ => OperandRole::Side,
        };
        // Of tables only the rows that are asked for are read.
        let picked = match op {
            Op::Movement(Movement::Gather | Movement::Slice) => port == 0,
            Op::Elementwise(ElementFunction::Rotate) => port > 0,
            _ => false,
        };
        let elements = if picked { elements.min(output) } else { elements };
        let constant = tensor.role == TensorRole::Constant;
        let repeats = if role == OperandRole::Filter { repeats } else { 1 };
        let sparsity = tensor.sparsity;
        let (element, buffer, encoded) = (tensor.element, None, Encoded::of(tensor));
        let handed_in = false;
        Self {
            role,
            constant,
            element,
            elements,
            repeats,
            sparsity,
            port,
            buffer,
            handed_in,
            encoded,
            statistics: if constant { tensor.statistics } else { None },
        }
    }

    /// Stored bits of an element whose values take `bits`.
    fn stored_bits(&self, bits: u64) -> f64 {
        self.sparsity.map_or(bits as f64, |sparsity| sparsity.bits_per_element(bits))
    }

    /// Bytes read, as stored.
    pub fn stored_bytes(&self) -> f64 {
        self.elements as f64 * self.stored_bits(self.element.bits()) / 8.0
    }

    /// Bytes read where it is compressed: as many as a compiler said, or `over_entropy` times the entropy of
    /// its values and at most as many as otherwise. Nothing where neither is known.
    pub fn encoded_bytes(&self, over_entropy: f64) -> Option<f64> {
        let Encoded { bits, stated } = self.encoded?;
        let bits = if stated {
            bits
        } else {
            (bits * over_entropy).min(self.stored_bits(self.element.bits()))
        };
        Some(self.elements as f64 * bits / 8.0)
    }

    /// Bytes read when a layer of `own` elements is converted to a number format of `bits`. Accumulators
    /// and indices (32-bit integers and wider) keep their width, and so do constants that the layer
    /// stores in fewer bits than it computes in: it widens them as it reads.
    pub fn converted_bytes(&self, own: ElementType, bits: u64) -> f64 {
        let wide = matches!(
            self.element,
            ElementType::Int32 | ElementType::UInt32 | ElementType::Int64 | ElementType::UInt64
        );
        let width = self.element.bits();
        let widened = self.constant && width < own.bits() && width < bits;
        if wide || widened {
            return self.stored_bytes();
        }
        self.elements as f64 * self.stored_bits(bits) / 8.0
    }
}
