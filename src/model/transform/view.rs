//! New extents over the same bytes.
//!
//! A view keeps the order of elements. The batch is the outermost part of that order before and
//! after, so that the leading extent grows with it. Any other change stays in the group of axes that
//! hold the same elements together on both sides, and shows where the group has one axis behind the
//! view.

use super::carry::Moved;
use super::propagate::Change;
use crate::model::Shape;
use std::ops::Range;

/// Views that read only the extents of their input.
const OF_EXTENTS: [&str; 4] = ["SHAPE", "RANK", "Shape", "Size"];

pub(super) fn viewed(m: &Moved<'_>, before: &Shape, after: &Shape) -> Option<Shape> {
    if OF_EXTENTS.contains(&m.native) {
        return Some(m.made.clone());
    }
    if before.elements() != m.made.elements() || before.rank() != after.rank() {
        return None;
    }
    let inner = |shape: &Shape| shape.0.get(1..).unwrap_or(&[]).to_vec();
    if m.change == Change::Batch && inner(before) == inner(after) {
        return outermost(m.made, before.extent(0), after.extent(0));
    }
    let mut made = m.made.0.clone();
    for (read, written) in groups(before, m.made)? {
        let changed = read.clone().filter(|axis| before.extent(*axis) != after.extent(*axis));
        if changed.count() == 0 {
            continue;
        }
        let elements = after.0.get(read)?.iter().try_fold(1u64, |n, d| n.checked_mul(*d))?;
        let mut open = written.filter(|axis| m.made.extent(*axis) != 1);
        let (Some(axis), None) = (open.next(), open.next()) else { return None };
        *made.get_mut(axis)? = elements;
    }
    let made = Shape(made);
    (made.elements() == after.elements()).then_some(made)
}

fn outermost(made: &Shape, old: u64, new: u64) -> Option<Shape> {
    let mut made = made.clone();
    let leading = made.0.first_mut()?;
    let scaled = leading.checked_mul(new)?;
    *leading = scaled.checked_div(old).filter(|_| scaled.is_multiple_of(old))?;
    Some(made)
}

/// The smallest neighbouring axes that hold as many elements on both sides. Extents of 1 belong to
/// the group before them, where they change nothing.
fn groups(before: &Shape, made: &Shape) -> Option<Vec<(Range<usize>, Range<usize>)>> {
    let mut groups = Vec::new();
    let (mut i, mut j) = (0, 0);
    while i < before.rank() || j < made.rank() {
        let (from, to) = (i, j);
        let (mut read, mut written) = (1u64, 1u64);
        loop {
            if read <= written && i < before.rank() {
                read = read.checked_mul(before.extent(i))?;
                i += 1;
            } else if j < made.rank() {
                written = written.checked_mul(made.extent(j))?;
                j += 1;
            } else {
                return None;
            }
            if read == written {
                break;
            }
        }
        while i < before.rank() && before.extent(i) == 1 {
            i += 1;
        }
        while j < made.rank() && made.extent(j) == 1 {
            j += 1;
        }
        groups.push((from..i, to..j));
    }
    Some(groups)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Movement, Op};

    fn view(before: &[u64], made: &[u64], after: &[u64], change: Change) -> Option<Vec<u64>> {
        let (before, made) = (Shape(before.to_vec()), Shape(made.to_vec()));
        let after = Shape(after.to_vec());
        let moved = Moved {
            op: &Op::Movement(Movement::View),
            native: "Reshape",
            before: &[],
            after: &[],
            made: &made,
            parts: &[],
            change,
        };
        viewed(&moved, &before, &after).map(|shape| shape.0)
    }

    #[test]
    fn a_batch_is_the_outermost_factor() {
        let batch = |b: &[u64], m: &[u64], a: &[u64]| view(b, m, a, Change::Batch);
        assert_eq!(batch(&[1, 1, 1, 64], &[1, 64], &[8, 1, 1, 64]), Some(vec![8, 64]));
        assert_eq!(
            batch(&[1, 12, 64, 64], &[12, 64, 64], &[2, 12, 64, 64]),
            Some(vec![24, 64, 64])
        );
        assert_eq!(batch(&[24, 64], &[2, 12, 64], &[12, 64]), Some(vec![1, 12, 64]));
        assert_eq!(batch(&[4, 6], &[3, 8], &[6, 6]), None, "not a whole number of rows");
    }

    #[test]
    fn a_flattened_plane_follows_and_a_split_axis_does_not() {
        let other = |b: &[u64], m: &[u64], a: &[u64]| view(b, m, a, Change::Extents);
        assert_eq!(other(&[1, 8, 8, 64], &[1, 4096], &[1, 5, 5, 64]), Some(vec![1, 1600]));
        assert_eq!(other(&[1, 64, 7, 7], &[1, 64, 49], &[1, 64, 4, 4]), Some(vec![1, 64, 16]));
        assert_eq!(other(&[1, 1, 1, 64], &[1, 64], &[1, 1, 1, 32]), Some(vec![1, 32]));
        assert_eq!(other(&[1, 64, 7], &[1, 4, 16, 7], &[1, 32, 7]), None);
        assert_eq!(other(&[1, 64, 7], &[1, 4, 16, 7], &[1, 64, 5]), Some(vec![1, 4, 16, 5]));
    }
}
