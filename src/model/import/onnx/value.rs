//! What is known of a tensor while a file is read: type, shape, and for short ones the numbers.

use super::external::EXTERNAL;
use super::proto;
use crate::model::weights::Weights;
use crate::model::{ElementType, Shape};
use std::rc::Rc;

/// Tensors that shape arithmetic works on are short; the numbers of longer ones are not kept.
pub(super) const NUMBERS_KEPT: u64 = 256;

/// More axes than any real tensor has; bounds what a made-up file can ask for.
const RANK_LIMIT: usize = 64;

/// The largest number of `TensorProto.DataType`.
const TYPES: i32 = 26;

/// A tensor's numbers.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Numbers {
    Ints(Vec<i64>),
    Floats(Vec<f64>),
}

impl Numbers {
    pub fn len(&self) -> usize {
        match self {
            Self::Ints(ints) => ints.len(),
            Self::Floats(floats) => floats.len(),
        }
    }

    pub fn ints(&self) -> Option<&[i64]> {
        match self {
            Self::Ints(ints) => Some(ints),
            Self::Floats(_) => None,
        }
    }

    /// The numbers at these places; `None` past the end.
    pub fn pick(&self, places: impl Iterator<Item = usize>) -> Option<Self> {
        fn each<T: Copy>(all: &[T], mut places: impl Iterator<Item = usize>) -> Option<Vec<T>> {
            places.try_fold(Vec::new(), |mut picked, place| {
                picked.push(*all.get(place)?);
                Some(picked)
            })
        }
        match self {
            Self::Ints(ints) => each(ints, places).map(Self::Ints),
            Self::Floats(floats) => each(floats, places).map(Self::Floats),
        }
    }

    pub fn floats(&self) -> Vec<f64> {
        match self {
            Self::Ints(ints) => ints.iter().map(|i| *i as f64).collect(),
            Self::Floats(floats) => floats.clone(),
        }
    }
}

/// What is known of a tensor.
#[derive(Debug, Clone)]
pub(super) struct Value {
    /// Type that is computed with.
    pub element: ElementType,
    /// Type that is stored: narrower for a constant that is dequantised before use.
    pub stored: ElementType,
    pub shape: Option<Shape>,
    /// Known without running the network.
    pub constant: bool,
    pub numbers: Option<Rc<Numbers>>,
    /// What the file stores of a constant.
    pub weights: Option<Rc<Weights>>,
    /// True when the stored weights have rows and columns the other way round.
    pub turned: bool,
}

impl Value {
    /// A tensor that the network makes.
    pub fn made(element: ElementType, shape: Option<Shape>) -> Self {
        let (numbers, weights) = (None, None);
        Self { element, stored: element, shape, constant: false, numbers, weights, turned: false }
    }

    /// A tensor that the file stores.
    pub fn stored(tensor: &proto::Tensor) -> Result<Self, String> {
        let element = element(tensor.data_type);
        let shape = shape(&tensor.dims).map_err(|e| format!("tensor `{}`: {e}", tensor.name))?;
        if !(0..=TYPES).contains(&tensor.data_type) {
            let (name, code) = (&tensor.name, tensor.data_type);
            return Err(format!("tensor `{name}` has element type {code}, which the format lacks"));
        }
        check_data(tensor, element, &shape)?;
        let few = shape.elements().is_some_and(|n| n <= NUMBERS_KEPT);
        let count = shape.elements().unwrap_or(0) as usize;
        let numbers = if few { numbers(tensor, element, count) } else { None };
        let numbers = numbers.filter(|n| n.len() == count).map(Rc::new);
        Ok(Self { constant: true, numbers, ..Self::made(element, Some(shape)) })
    }

    /// A tensor that the file stores by its non-zero elements: it is as large as they are many.
    pub fn sparse(sparse: &proto::SparseTensor) -> Result<Self, String> {
        let values = sparse.values.as_ref().ok_or("a sparse tensor has no values")?;
        let element = element(values.data_type);
        let shape = shape(&sparse.dims).map_err(|e| format!("tensor `{}`: {e}", values.name))?;
        Ok(Self { constant: true, ..Self::made(element, Some(shape)) })
    }
}

/// Extents as a shape, if they are ones.
pub(super) fn shape(dims: &[i64]) -> Result<Shape, String> {
    let extents = dims
        .iter()
        .map(|d| u64::try_from(*d).map_err(|_| format!("an extent of {d} in dimensions {dims:?}")));
    let shape = Shape(extents.collect::<Result<_, _>>()?);
    check(&shape)?;
    Ok(shape)
}

/// Refuses shapes that no machine could hold.
pub(super) fn check(shape: &Shape) -> Result<(), String> {
    if shape.rank() > RANK_LIMIT {
        return Err(format!("a tensor of {} dimensions", shape.rank()));
    }
    shape.check_given()?;
    // With one extent of 0 the product says nothing of the others.
    let each = shape.0.iter().all(|extent| i64::try_from(*extent).is_ok());
    if each { Ok(()) } else { Err(format!("a tensor of {shape} is too large")) }
}

/// Refuses data that are there, but not as many as the shape says. A file may leave them out
/// altogether and only describe its weights.
fn check_data(tensor: &proto::Tensor, element: ElementType, shape: &Shape) -> Result<(), String> {
    use ElementType as E;
    if tensor.data_location == EXTERNAL {
        return Ok(());
    }
    let elements = shape.elements().unwrap_or(u64::MAX);
    let (held, needed, what) = match (tensor.raw_data.len(), element) {
        (_, E::Other) => return Ok(()),
        (0, E::Float32) => (tensor.float_data.len(), elements, "numbers"),
        (0, E::Int64) => (tensor.int64_data.len(), elements, "numbers"),
        (0, E::Int32 | E::Int16 | E::UInt16 | E::Int8 | E::UInt8 | E::Bool)
        | (0, E::Float16 | E::BFloat16) => (tensor.int32_data.len(), elements, "numbers"),
        (0, E::Int4 | E::Float4) => (tensor.int32_data.len(), elements.div_ceil(2), "pairs"),
        (0, E::Float8) => (tensor.int32_data.len(), elements, "numbers"),
        (0, _) => return Ok(()),
        (bytes, _) => (bytes, elements.saturating_mul(element.bits()).div_ceil(8), "bytes"),
    };
    if held == 0 || held as u64 == needed {
        return Ok(());
    }
    let name = &tensor.name;
    Err(format!("tensor `{name}` of {shape} {element} needs {needed} {what}, but holds {held}"))
}

fn numbers(tensor: &proto::Tensor, element: ElementType, count: usize) -> Option<Numbers> {
    if tensor.data_location == EXTERNAL {
        return None;
    }
    let raw = &tensor.raw_data[..];
    Some(match element {
        ElementType::Float32 if raw.is_empty() => {
            Numbers::Floats(tensor.float_data.iter().map(|f| f64::from(*f)).collect())
        }
        ElementType::Float32 => Numbers::Floats(each(raw, |b| f64::from(f32::from_le_bytes(b)))),
        ElementType::Float64 if !raw.is_empty() => Numbers::Floats(each(raw, f64::from_le_bytes)),
        ElementType::Int64 if raw.is_empty() => Numbers::Ints(tensor.int64_data.clone()),
        ElementType::Int64 => Numbers::Ints(each(raw, i64::from_le_bytes)),
        ElementType::Int32 if !raw.is_empty() => {
            Numbers::Ints(each(raw, |b| i64::from(i32::from_le_bytes(b))))
        }
        ElementType::Bool | ElementType::UInt8 if !raw.is_empty() => {
            Numbers::Ints(each(raw, |[b]| i64::from(b)))
        }
        ElementType::Int8 if !raw.is_empty() => {
            Numbers::Ints(each(raw, |[b]| i64::from(i8::from_le_bytes([b]))))
        }
        ElementType::Int4 => {
            let pairs: Vec<u8> = if raw.is_empty() { low_bytes(tensor) } else { raw.to_vec() };
            let signed = tensor.data_type == INT4;
            let number = |n: u8| if signed && n > 7 { i64::from(n) - 16 } else { i64::from(n) };
            Numbers::Ints(nibbles(&pairs).take(count).map(number).collect())
        }
        ElementType::Int32 | ElementType::Bool | ElementType::UInt8 | ElementType::Int8 => {
            Numbers::Ints(tensor.int32_data.iter().map(|i| i64::from(*i)).collect())
        }
        _ => return None,
    })
}

fn each<const N: usize, T>(raw: &[u8], number: impl Fn([u8; N]) -> T) -> Vec<T> {
    raw.as_chunks::<N>().0.iter().map(|chunk| number(*chunk)).collect()
}

/// The lowest byte of each 32-bit integer, where narrow types stand.
fn low_bytes(tensor: &proto::Tensor) -> Vec<u8> {
    tensor.int32_data.iter().map(|i| i.to_le_bytes()[0]).collect()
}

/// Two elements of four bits a byte, the lower ones first.
pub(super) fn nibbles(bytes: &[u8]) -> impl Iterator<Item = u8> {
    bytes.iter().flat_map(|byte| [byte & 15, byte >> 4])
}

/// `TensorProto.INT4`.
pub(super) const INT4: i32 = 22;

/// `TensorProto.UINT4`.
pub(super) const UINT4: i32 = 21;

/// `TensorProto.DataType`.
pub(super) fn element(data_type: i32) -> ElementType {
    match data_type {
        1 => ElementType::Float32,
        2 => ElementType::UInt8,
        3 => ElementType::Int8,
        4 => ElementType::UInt16,
        5 => ElementType::Int16,
        6 => ElementType::Int32,
        7 => ElementType::Int64,
        9 => ElementType::Bool,
        10 => ElementType::Float16,
        11 => ElementType::Float64,
        12 => ElementType::UInt32,
        13 => ElementType::UInt64,
        16 => ElementType::BFloat16,
        17..=20 | 24 => ElementType::Float8,
        23 => ElementType::Float4,
        // Signed or not, two elements take a byte.
        UINT4 | INT4 => ElementType::Int4,
        _ => ElementType::Other,
    }
}
