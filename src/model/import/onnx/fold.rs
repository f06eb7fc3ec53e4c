//! Numbers of short tensors carried through the arithmetic that shapes are made by.
//!
//! What is not covered is not known, which is never an error here.

use super::node::Node;
use super::shapes::Output;
use super::shapes::part::cuts;
use super::shapes::resize::shape_of_shape;
use super::value::{NUMBERS_KEPT, Numbers, Value};
use crate::model::{ElementType, Shape};
use std::rc::Rc;

/// The numbers of each output of a node, where they follow from those of its inputs.
pub(super) fn numbers(node: &Node<'_>, outputs: &[Output]) -> Vec<Option<Rc<Numbers>>> {
    if node.native == "Split" {
        return split(node, outputs).unwrap_or_default();
    }
    let Some(shape) = outputs.first().and_then(|o| o.shape.as_ref()) else { return Vec::new() };
    let Some(count) = shape.elements().filter(|n| *n <= NUMBERS_KEPT) else { return Vec::new() };
    let found = first(node, shape, outputs).filter(|n| n.len() as u64 == count);
    vec![found]
}

fn first(node: &Node<'_>, shape: &Shape, outputs: &[Output]) -> Option<Rc<Numbers>> {
    match node.native {
        "Identity" | "Reshape" | "Squeeze" | "Unsqueeze" | "Flatten" | "Dropout" => {
            node.numbers(0).cloned()
        }
        "Cast" | "CastLike" => cast(node.numbers(0)?, outputs.first()?.element),
        "Shape" => Some(Rc::new(Numbers::Ints(shape_of_shape(node)?))),
        "Size" => {
            let elements = i64::try_from(node.shape(0)?.elements()?).ok()?;
            Some(Rc::new(Numbers::Ints(vec![elements])))
        }
        "Constant" => constant(node),
        "ConstantOfShape" => repeated(node, shape),
        "Gather" => gather(node).map(Rc::new),
        "Concat" => concat(node).map(Rc::new),
        "Slice" => slice(node).map(Rc::new),
        "Expand" => stretched(node.numbers(0)?, node.shape(0)?, shape).map(Rc::new),
        "Range" => range(node, shape).map(Rc::new),
        "ReduceProd" | "ReduceSum" | "ReduceMax" | "ReduceMin" => reduce(node, shape).map(Rc::new),
        "Where" => choose(node, shape).map(Rc::new),
        _ => arithmetic(node, shape).map(Rc::new),
    }
}

fn cast(numbers: &Rc<Numbers>, to: ElementType) -> Option<Rc<Numbers>> {
    use ElementType as E;
    Some(match (&**numbers, to) {
        (Numbers::Ints(ints), E::Bool) => {
            Rc::new(Numbers::Ints(ints.iter().map(|i| i64::from(*i != 0)).collect()))
        }
        (Numbers::Ints(_), E::Int64 | E::Int32) => numbers.clone(),
        (Numbers::Ints(_), E::Float32 | E::Float64) => Rc::new(Numbers::Floats(numbers.floats())),
        (Numbers::Floats(floats), E::Int64 | E::Int32) => {
            Rc::new(Numbers::Ints(floats.iter().map(|f| *f as i64).collect()))
        }
        (Numbers::Floats(_), E::Float32 | E::Float64) => numbers.clone(),
        _ => return None,
    })
}

fn constant(node: &Node<'_>) -> Option<Rc<Numbers>> {
    if let Some(attribute) = node.attribute("value") {
        return Value::stored(attribute.tensor.as_ref()?).ok()?.numbers;
    }
    let floats = |list: &[f32]| Numbers::Floats(list.iter().map(|f| f64::from(*f)).collect());
    Some(Rc::new(if let Some(a) = node.attribute("value_int") {
        Numbers::Ints(vec![a.int])
    } else if let Some(a) = node.attribute("value_ints") {
        Numbers::Ints(a.ints.clone())
    } else if let Some(a) = node.attribute("value_float") {
        floats(&[a.float])
    } else {
        floats(&node.attribute("value_floats")?.floats)
    }))
}

fn repeated(node: &Node<'_>, shape: &Shape) -> Option<Rc<Numbers>> {
    let one = match node.attribute("value") {
        Some(attribute) => Value::stored(attribute.tensor.as_ref()?).ok()?.numbers?,
        None => Rc::new(Numbers::Floats(vec![0.0])),
    };
    let count = usize::try_from(shape.elements()?).ok()?;
    one.pick(std::iter::repeat_n(0, count)).map(Rc::new)
}

/// The parts before, along and behind an axis.
fn around(shape: &Shape, axis: usize) -> Option<(usize, usize, usize)> {
    let product = |extents: &[u64]| {
        extents.iter().try_fold(1usize, |n, e| n.checked_mul(usize::try_from(*e).ok()?))
    };
    let (outer, inner) = shape.0.split_at_checked(axis)?;
    let (along, inner) = inner.split_first()?;
    Some((product(outer)?, usize::try_from(*along).ok()?, product(inner)?))
}

/// Numbers, unless there are none: an extent of 0 leaves the others unbounded.
fn some(numbers: &Numbers) -> Option<&Numbers> {
    (numbers.len() > 0).then_some(numbers)
}

fn axis_of(node: &Node<'_>, default: i64, rank: usize) -> Option<usize> {
    super::node::axis(node.int("axis", default), rank).ok()
}

fn gather(node: &Node<'_>) -> Option<Numbers> {
    let (data, indices) = (some(node.numbers(0)?)?, node.numbers(1)?.ints()?);
    let shape = node.shape(0)?;
    let (outer, along, inner) = around(shape, axis_of(node, 0, shape.rank())?)?;
    let mut places = Vec::new();
    for block in 0..outer {
        for index in indices {
            let counted = if *index < 0 { index.checked_add(along as i64)? } else { *index };
            let index = usize::try_from(counted).ok().filter(|i| *i < along)?;
            places.extend((0..inner).map(|i| (block * along + index) * inner + i));
        }
        // A made-up list of indices must not outgrow what is kept.
        if places.len() as u64 > NUMBERS_KEPT {
            return None;
        }
    }
    data.pick(places.into_iter())
}

/// Along the outermost axis the numbers simply follow each other.
fn concat(node: &Node<'_>) -> Option<Numbers> {
    if axis_of(node, 1, node.shape(0)?.rank())? != 0 {
        return None;
    }
    let parts: Vec<_> = (0..node.inputs.len()).map(|p| node.numbers(p)).collect::<Option<_>>()?;
    if parts.iter().any(|part| part.ints().is_none()) {
        return Some(Numbers::Floats(parts.iter().flat_map(|part| part.floats()).collect()));
    }
    Some(Numbers::Ints(parts.iter().filter_map(|part| part.ints()).flatten().copied().collect()))
}

fn slice(node: &Node<'_>) -> Option<Numbers> {
    let (data, shape) = (some(node.numbers(0)?)?, node.shape(0)?);
    let cuts = cuts(node, shape).ok()??;
    let [cut] = cuts[..] else { return None };
    let (outer, along, inner) = around(shape, cut.axis)?;
    let mut places = Vec::new();
    for block in 0..outer {
        for taken in 0..i64::try_from(cut.count).ok()? {
            let index =
                usize::try_from(cut.start.checked_add(taken.checked_mul(cut.step)?)?).ok()?;
            places.extend((0..inner).map(|i| (block * along + index) * inner + i));
        }
    }
    data.pick(places.into_iter())
}

fn split(node: &Node<'_>, outputs: &[Output]) -> Option<Vec<Option<Rc<Numbers>>>> {
    let (data, shape) = (node.numbers(0)?, node.shape(0)?);
    if shape.rank() != 1 {
        return None;
    }
    let mut from = 0usize;
    let mut part = |output: &Output| {
        let length = usize::try_from(output.shape.as_ref()?.elements()?).ok()?;
        let places = from..from.checked_add(length)?;
        from = places.end;
        data.pick(places).map(Rc::new)
    };
    Some(outputs.iter().map(&mut part).collect())
}

/// For each place of a result the place of an operand that broadcasts to it.
fn places(operand: &Shape, result: &Shape) -> Option<Vec<usize>> {
    let count = usize::try_from(result.elements().filter(|n| *n <= NUMBERS_KEPT)?).ok()?;
    let mut places = vec![0usize; count];
    let (mut step, mut stride) = (1usize, 1usize);
    for axis in 0..result.rank() {
        let extent = usize::try_from(*result.0.iter().rev().nth(axis)?).ok()?;
        let own = operand.0.iter().rev().nth(axis).copied().unwrap_or(1);
        if own != 1 {
            for (place, entry) in places.iter_mut().enumerate() {
                *entry += place / step % extent * stride;
            }
        }
        step = step.checked_mul(extent)?;
        stride = stride.checked_mul(usize::try_from(own).ok()?)?;
    }
    Some(places)
}

fn stretched(numbers: &Numbers, operand: &Shape, result: &Shape) -> Option<Numbers> {
    numbers.pick(places(operand, result)?.into_iter())
}

fn operand(node: &Node<'_>, port: usize, result: &Shape) -> Option<Numbers> {
    stretched(node.numbers(port)?, node.shape(port)?, result)
}

fn range(node: &Node<'_>, shape: &Shape) -> Option<Numbers> {
    let count = i64::try_from(shape.elements()?).ok()?;
    let one = |port: usize| node.numbers(port)?.ints()?.first().copied();
    let (start, step) = (one(0)?, one(2)?);
    let number = |i: i64| start.checked_add(i.checked_mul(step)?);
    Some(Numbers::Ints((0..count).map(number).collect::<Option<_>>()?))
}

fn reduce(node: &Node<'_>, result: &Shape) -> Option<Numbers> {
    let ints = node.numbers(0)?.ints()?;
    if result.elements()? != 1 || ints.is_empty() {
        return None;
    }
    let mut ints = ints.iter().copied();
    let number = match node.native {
        "ReduceProd" => ints.try_fold(1i64, i64::checked_mul)?,
        "ReduceSum" => ints.try_fold(0i64, i64::checked_add)?,
        "ReduceMax" => ints.max()?,
        _ => ints.min()?,
    };
    Some(Numbers::Ints(vec![number]))
}

fn choose(node: &Node<'_>, shape: &Shape) -> Option<Numbers> {
    let condition = operand(node, 0, shape)?;
    let (yes, no) = (operand(node, 1, shape)?, operand(node, 2, shape)?);
    let condition = condition.ints()?.iter().map(|c| *c != 0);
    if let (Some(yes), Some(no)) = (yes.ints(), no.ints()) {
        let both = yes.iter().zip(no).zip(condition);
        return Some(Numbers::Ints(both.map(|((y, n), c)| if c { *y } else { *n }).collect()));
    }
    let (yes, no) = (yes.floats(), no.floats());
    let both = yes.iter().zip(&no).zip(condition);
    Some(Numbers::Floats(both.map(|((y, n), c)| if c { *y } else { *n }).collect()))
}

fn arithmetic(node: &Node<'_>, shape: &Shape) -> Option<Numbers> {
    let a = operand(node, 0, shape)?;
    if node.inputs.len() == 1 {
        return unary(node.native, &a);
    }
    let b = operand(node, 1, shape)?;
    if node.inputs.len() != 2 {
        return None;
    }
    if let (Some(a), Some(b)) = (a.ints(), b.ints()) {
        let mut pairs = a.iter().zip(b);
        let mut all = Vec::with_capacity(a.len());
        pairs.try_for_each(|(a, b)| {
            all.push(on_ints(node.native, *a, *b)?);
            Some(())
        })?;
        return Some(Numbers::Ints(all));
    }
    let (a, b) = (a.floats(), b.floats());
    let all = a.iter().zip(&b).map(|(a, b)| on_floats(node.native, *a, *b));
    Some(Numbers::Floats(all.collect::<Option<_>>()?))
}

fn on_ints(native: &str, a: i64, b: i64) -> Option<i64> {
    match native {
        "Add" => a.checked_add(b),
        "Sub" => a.checked_sub(b),
        "Mul" => a.checked_mul(b),
        // Integers are divided towards zero.
        "Div" => a.checked_div(b),
        "Mod" if b > 0 => a.checked_rem_euclid(b),
        "Max" => Some(a.max(b)),
        "Min" => Some(a.min(b)),
        "Pow" => a.checked_pow(u32::try_from(b).ok()?),
        "Equal" => Some(i64::from(a == b)),
        "Less" => Some(i64::from(a < b)),
        "LessOrEqual" => Some(i64::from(a <= b)),
        "Greater" => Some(i64::from(a > b)),
        "GreaterOrEqual" => Some(i64::from(a >= b)),
        "And" => Some(i64::from(a != 0 && b != 0)),
        "Or" => Some(i64::from(a != 0 || b != 0)),
        _ => None,
    }
}

fn on_floats(native: &str, a: f64, b: f64) -> Option<f64> {
    Some(match native {
        "Add" => a + b,
        "Sub" => a - b,
        "Mul" => a * b,
        "Div" => a / b,
        "Max" => a.max(b),
        "Min" => a.min(b),
        _ => return None,
    })
}

fn unary(native: &str, numbers: &Numbers) -> Option<Numbers> {
    match numbers {
        Numbers::Ints(ints) => {
            let number = |i: &i64| match native {
                "Neg" => i.checked_neg(),
                "Abs" => i.checked_abs(),
                "Not" => Some(i64::from(*i == 0)),
                _ => None,
            };
            Some(Numbers::Ints(ints.iter().map(number).collect::<Option<_>>()?))
        }
        Numbers::Floats(floats) => {
            let number = |f: &f64| match native {
                "Neg" => Some(-f),
                "Abs" => Some(f.abs()),
                "Floor" => Some(f.floor()),
                "Ceil" => Some(f.ceil()),
                "Sqrt" => Some(f.sqrt()),
                _ => None,
            };
            Some(Numbers::Floats(floats.iter().map(number).collect::<Option<_>>()?))
        }
    }
}
