//! A change of extents carried through operators that only move data.
//!
//! Axes, permutations and target shapes are not kept in a graph. What an operator did to the old
//! extents says which of its readings are possible; where all of them give the same new extents,
//! those are taken, and otherwise it is refused.

use super::propagate::Change;
use super::view::viewed;
use crate::model::{Movement, Op, Shape};

/// A step that moves data, before and after.
pub(super) struct Moved<'a> {
    pub op: &'a Op,
    pub native: &'a str,
    /// Inputs as they were.
    pub before: &'a [Option<&'a Shape>],
    /// Inputs as they are.
    pub after: &'a [Option<&'a Shape>],
    /// The output as it was.
    pub made: &'a Shape,
    /// All outputs, and those of others that take a part of the same, as they were.
    pub parts: &'a [&'a Shape],
    pub change: Change,
}

/// Inputs that an error shows.
const INPUTS_SHOWN: usize = 8;

/// Readings that are tried before giving up.
const READINGS: usize = 10_000;

/// The new output; or why it cannot be told.
pub(super) fn carried(m: &Moved<'_>) -> Result<Shape, String> {
    if *m.op == Op::Opaque {
        return Err("what it makes of another shape is not known".to_owned());
    }
    let (Some(before), Some(after)) = (m.input(m.before), m.input(m.after)) else {
        return Err("the shape of its input is not known".to_owned());
    };
    let carried = match m.op {
        Op::Movement(Movement::Concatenate) => joined(m),
        Op::Movement(Movement::Gather) => picked(m),
        Op::Movement(Movement::View) => viewed(m, before, after),
        Op::Movement(Movement::Transpose) => permuted(m, before, after),
        Op::Movement(Movement::Slice) | Op::Reduce(_) if before.rank() > m.made.rank() => {
            dropped(m, before, after)
        }
        Op::Reduce(_) | Op::Movement(Movement::Slice | Movement::Pad | Movement::Broadcast) => {
            by_axis(m, before, after)
        }
        Op::Movement(Movement::Resize) => by_axis(m, before, after),
        _ => as_an_input(m).or_else(|| more_samples(m, before, after)),
    };
    carried.ok_or_else(|| {
        if *m.op == Op::Movement(Movement::Concatenate) {
            let inputs = m.after.iter().flatten().map(|shape| shape.to_string());
            let inputs: Vec<_> = inputs.take(INPUTS_SHOWN).collect();
            return format!("its inputs ({}) no longer join", inputs.join(", "));
        }
        format!(
            "its output was {} from {before}, and it cannot be told which extents follow when that \
             becomes {after}",
            m.made
        )
    })
}

impl<'a> Moved<'a> {
    /// The input that data is moved from.
    fn input(&self, shapes: &[Option<&'a Shape>]) -> Option<&'a Shape> {
        shapes.first().copied().flatten()
    }

    /// Whether an axis is the one of the samples.
    fn is_batch(&self, axis: usize) -> bool {
        axis == 0 && self.change == Change::Batch
    }
}

/// What keeps its extents has those of the input that it had the extents of.
fn as_an_input(m: &Moved<'_>) -> Option<Shape> {
    let mut readings = Readings::default();
    for (before, after) in m.before.iter().zip(m.after) {
        if let (Some(before), Some(after)) = (before, after)
            && *before == m.made
        {
            readings.add((*after).clone());
        }
    }
    readings.only()
}

/// An operator of another kind does for each sample what it did.
fn more_samples(m: &Moved<'_>, before: &Shape, after: &Shape) -> Option<Shape> {
    let mut made = m.made.clone();
    let (old, new) = (before.0.first()?, after.0.first()?);
    let leading = made.0.first_mut()?;
    let alike = m.is_batch(0) && before.0.get(1..) == after.0.get(1..) && leading == old;
    *leading = *new;
    alike.then_some(made)
}

fn by_axis(m: &Moved<'_>, before: &Shape, after: &Shape) -> Option<Shape> {
    let rank = m.made.rank();
    // Repetition aligns at the end; all others have the axes of their input.
    let added = rank.checked_sub(before.rank())?;
    if added > 0 && *m.op != Op::Movement(Movement::Broadcast) {
        return None;
    }
    let extents = (0..rank).map(|axis| {
        let made = m.made.extent(axis);
        let Some(at) = axis.checked_sub(added) else { return Some(made) };
        let (old, new) = (before.extent(at), after.extent(at));
        if old == new { Some(made) } else { along(m, at, (old, new), made) }
    });
    extents.collect::<Option<Vec<_>>>().map(Shape)
}

/// The new extent of an axis whose old one changes.
fn along(m: &Moved<'_>, axis: usize, (old, new): (u64, u64), made: u64) -> Option<u64> {
    match m.op {
        // A reduced axis of one element and a kept one look alike, and so do one of which a place is
        // taken and one that is taken whole.
        Op::Reduce(_) | Op::Movement(Movement::Slice) if old == 1 && !m.is_batch(axis) => None,
        Op::Reduce(_) if made == 1 && old != 1 => Some(1),
        // As much is added as before.
        Op::Movement(Movement::Pad) => made.checked_sub(old)?.checked_add(new),
        Op::Movement(Movement::Slice) if made != old => an_equal_part(m, axis, (old, new), made),
        // An axis is repeated or resampled by a whole factor; anything else may be a target.
        Op::Movement(Movement::Broadcast | Movement::Resize) if made != old => {
            let factor = made.checked_div(old)?;
            let whole = made.is_multiple_of(old) && old > 1;
            whole.then(|| new.checked_mul(factor)).flatten()
        }
        _ => (made == old).then_some(new),
    }
}

/// A tensor split into equal parts stays so.
fn an_equal_part(m: &Moved<'_>, axis: usize, (old, new): (u64, u64), made: u64) -> Option<u64> {
    let parts = u64::try_from(m.parts.len()).ok().filter(|parts| *parts > 1)?;
    let equal = m.parts.iter().all(|part| part.extent(axis) == made);
    let whole = equal && made.checked_mul(parts) == Some(old) && new.is_multiple_of(parts);
    whole.then(|| new / parts)
}

/// The old extents say where each axis went, unless two of the same extent change differently.
fn permuted(m: &Moved<'_>, before: &Shape, after: &Shape) -> Option<Shape> {
    let same_rank = before.rank() == m.made.rank() && before.rank() == after.rank();
    let mut left: Vec<(u64, u64)> = before.0.iter().copied().zip(after.0.iter().copied()).collect();
    let mut made = m.made.0.clone();
    let mut targets = made.iter_mut();
    let leads = m.is_batch(0) && before.0.first() == m.made.0.first();
    if leads && same_rank {
        *targets.next()? = left.remove(0).1;
    }
    for target in targets {
        let mut fitting = left.iter().filter(|(old, _)| old == target);
        let (old, new) = *fitting.next()?;
        if fitting.any(|other| other.1 != new) {
            return None;
        }
        left.remove(left.iter().position(|axis| *axis == (old, new))?);
        *target = new;
    }
    same_rank.then_some(Shape(made))
}

/// Some axes are gone: the others stand in their order.
fn dropped(m: &Moved<'_>, before: &Shape, after: &Shape) -> Option<Shape> {
    let mut search = Dropped { m, before, after, readings: Readings::default(), tried: 0 };
    search.from(0, &mut Vec::new());
    if search.tried > READINGS { None } else { search.readings.only() }
}

struct Dropped<'a> {
    m: &'a Moved<'a>,
    before: &'a Shape,
    after: &'a Shape,
    readings: Readings,
    tried: usize,
}

impl Dropped<'_> {
    fn from(&mut self, axis: usize, kept: &mut Vec<u64>) {
        self.tried += 1;
        let wanted = self.m.made.rank() - kept.len();
        let here = self.before.rank() - axis;
        if self.tried > READINGS || wanted > here {
            return;
        }
        if here == 0 {
            self.readings.add(Shape(kept.clone()));
            return;
        }
        let (old, new) = (self.before.extent(axis), self.after.extent(axis));
        if wanted > 0 && self.m.made.extent(kept.len()) == old {
            kept.push(new);
            self.from(axis + 1, kept);
            kept.pop();
        }
        // The samples are not summed up, where they can be kept.
        let leads = self.m.is_batch(axis) && self.m.made.0.first() == Some(&old);
        if !leads {
            self.from(axis + 1, kept);
        }
    }
}

/// Along one axis inputs are joined; the others they share.
fn joined(m: &Moved<'_>) -> Option<Shape> {
    let before: Vec<&Shape> = m.before.iter().copied().flatten().collect();
    let after: Vec<&Shape> = m.after.iter().copied().flatten().collect();
    let mut readings = Readings::default();
    for axis in 0..m.made.rank() {
        if join(&before, axis).as_ref() == Some(m.made)
            && let Some(joined) = join(&after, axis)
        {
            readings.add(joined);
        }
    }
    readings.only()
}

fn join(shapes: &[&Shape], axis: usize) -> Option<Shape> {
    let mut joined = (*shapes.first()?).clone();
    let mut sum = 0u64;
    for shape in shapes {
        sum = sum.checked_add(*shape.0.get(axis)?)?;
        let differs = |at: usize| at != axis && shape.extent(at) != joined.extent(at);
        if shape.rank() != joined.rank() || (0..shape.rank()).any(differs) {
            return None;
        }
    }
    *joined.0.get_mut(axis)? = sum;
    Some(joined)
}

/// In place of one axis of the table stand those of the indices.
fn picked(m: &Moved<'_>) -> Option<Shape> {
    let pair = |shapes: &[Option<&Shape>]| {
        Some((
            shapes.first().copied().flatten()?.clone(),
            shapes.get(1).copied().flatten()?.clone(),
        ))
    };
    let ((table, indices), (new_table, new_indices)) = (pair(m.before)?, pair(m.after)?);
    let mut readings = Readings::default();
    for axis in 0..table.rank() {
        if pick(&table, &indices, axis).as_ref() == Some(m.made)
            && let Some(made) = pick(&new_table, &new_indices, axis)
        {
            readings.add(made);
        }
    }
    readings.only()
}

fn pick(table: &Shape, indices: &Shape, axis: usize) -> Option<Shape> {
    let (front, back) = (table.0.get(..axis)?, table.0.get(axis + 1..)?);
    Some(Shape([front, &indices.0, back].concat()))
}

/// Outputs of all possible readings.
#[derive(Default)]
pub(super) struct Readings(Vec<Shape>);

impl Readings {
    pub fn add(&mut self, shape: Shape) {
        if self.0.len() < 2 && !self.0.contains(&shape) {
            self.0.push(shape);
        }
    }

    /// The one that all have.
    pub fn only(mut self) -> Option<Shape> {
        let first = self.0.pop();
        first.filter(|_| self.0.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Reduction;

    fn new(
        op: Op,
        before: &[u64],
        made: &[u64],
        after: &[u64],
        change: Change,
    ) -> Option<Vec<u64>> {
        let (before, made) = (Shape(before.to_vec()), Shape(made.to_vec()));
        let after = Shape(after.to_vec());
        let moved = Moved {
            op: &op,
            native: "",
            before: &[Some(&before)],
            after: &[Some(&after)],
            made: &made,
            parts: &[&made],
            change,
        };
        carried(&moved).ok().map(|shape| shape.0)
    }

    fn moved(kind: Movement, before: &[u64], made: &[u64], after: &[u64]) -> Option<Vec<u64>> {
        new(Op::Movement(kind), before, made, after, Change::Extents)
    }

    #[test]
    fn what_old_extents_settle_is_carried() {
        use Movement as M;
        for (kind, before, made, after, expected) in [
            (
                M::Transpose,
                &[1, 3, 8, 9][..],
                &[1, 8, 9, 3][..],
                &[1, 3, 4, 5][..],
                &[1, 4, 5, 3][..],
            ),
            (M::Pad, &[1, 8, 8, 3], &[1, 10, 11, 3], &[1, 4, 4, 3], &[1, 6, 7, 3]),
            (M::Slice, &[1, 8, 9], &[1, 8, 3], &[1, 4, 9], &[1, 4, 3]),
            (M::Broadcast, &[8, 1], &[2, 8, 7], &[4, 1], &[2, 4, 7]),
            (M::Broadcast, &[8, 3], &[16, 3], &[5, 3], &[10, 3]),
            (M::Resize, &[1, 8, 8, 3], &[1, 16, 16, 3], &[1, 4, 4, 3], &[1, 8, 8, 3]),
        ] {
            assert_eq!(moved(kind, before, made, after).as_deref(), Some(expected), "{kind:?}");
        }
        let reduced = |made: &[u64]| {
            new(Op::Reduce(Reduction::Mean), &[1, 8, 8, 3], made, &[1, 4, 4, 3], Change::Extents)
        };
        assert_eq!(reduced(&[1, 3]), Some(vec![1, 3]));
        assert_eq!(reduced(&[1, 1, 1, 3]), Some(vec![1, 1, 1, 3]));
        assert_eq!(reduced(&[1, 8, 3]), Some(vec![1, 4, 3]), "either of the two");
        let batch =
            new(Op::Reduce(Reduction::Mean), &[1, 5, 1], &[1, 1], &[4, 5, 1], Change::Batch);
        assert_eq!(batch, Some(vec![4, 1]), "the samples are kept");
    }

    #[test]
    fn what_old_extents_leave_open_is_not_guessed() {
        use Movement as M;
        assert_eq!(moved(M::Transpose, &[1, 8, 8, 3], &[1, 8, 3, 8], &[1, 4, 8, 3]), None);
        assert_eq!(moved(M::Slice, &[1, 8], &[1, 4], &[1, 6]), None);
        assert_eq!(moved(M::Slice, &[4, 1, 8], &[4, 1, 3], &[4, 5, 8]), None);
        assert_eq!(moved(M::Resize, &[1, 8, 8, 3], &[1, 12, 12, 3], &[1, 4, 4, 3]), None);
        let opaque = new(Op::Opaque, &[8], &[8], &[4], Change::Extents);
        assert_eq!(opaque, None);
    }
}
