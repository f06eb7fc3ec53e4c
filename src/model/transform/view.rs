//! New extents over the same bytes.
//!
//! A view keeps the order of elements. The batch is the outermost part of that order before and
//! after, so that the leading extent grows with it. Any other change stays in the group of axes that
//! hold the same elements together on both sides, and shows where the group has one axis behind the
//! view. An axis of one element belongs to neither of the groups beside it: one that grows is followed
//! only where the view kept all such axes at its place.

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
    let (read, written) = (Split::of(before), Split::of(m.made));
    let groups = groups(before, &read, m.made, &written)?;
    let mut new = m.made.0.clone();
    for gap in 0..=groups.len() {
        let at = |split: &Split, side: fn(&Group) -> &Range<usize>| {
            let behind = gap.checked_sub(1).and_then(|group| groups.get(group));
            split.between(behind.map(side), groups.get(gap).map(side))
        };
        let (ones, kept) = (at(&read, |group| &group.0), at(&written, |group| &group.1));
        if ones.iter().all(|axis| after.extent(*axis) == 1) {
            continue;
        }
        if ones.len() != kept.len() {
            return None;
        }
        for (from, to) in ones.iter().zip(&kept) {
            *new.get_mut(*to)? = after.extent(*from);
        }
    }
    for (i, (from, to)) in groups.iter().enumerate() {
        let axes = read.range(from)?;
        if before.0.get(axes.clone()) == after.0.get(axes.clone()) {
            continue;
        }
        let [axis] = *written.axes.get(to.clone())? else { return None };
        // The outermost part of what was merged may be the samples, and get an axis of its own.
        if m.change == Change::Batch && may_split(&groups, i, &read, &written) {
            return None;
        }
        *new.get_mut(axis)? = after.0.get(axes)?.iter().try_fold(1u64, |n, d| n.checked_mul(*d))?;
    }
    let made = Shape(new);
    (made.elements() == after.elements()).then_some(made)
}

/// Whether the view put more axes of one element in front of a group than were there.
fn may_split(groups: &[Group], i: usize, read: &Split, written: &Split) -> bool {
    let behind = i.checked_sub(1).and_then(|group| groups.get(group));
    let here = groups.get(i);
    let ones = read.between(behind.map(|g| &g.0), here.map(|g| &g.0)).len();
    written.between(behind.map(|g| &g.1), here.map(|g| &g.1)).len() > ones
}

fn outermost(made: &Shape, old: u64, new: u64) -> Option<Shape> {
    let mut made = made.clone();
    let leading = made.0.first_mut()?;
    let scaled = leading.checked_mul(new)?;
    *leading = scaled.checked_div(old).filter(|_| scaled.is_multiple_of(old))?;
    Some(made)
}

/// Axes of more than one element, by position.
struct Split {
    axes: Vec<usize>,
    rank: usize,
}

impl Split {
    fn of(shape: &Shape) -> Self {
        let axes = (0..shape.rank()).filter(|axis| shape.extent(*axis) != 1).collect();
        Self { axes, rank: shape.rank() }
    }

    /// From the first to the last axis of a group, with those of one element between them.
    fn range(&self, group: &Range<usize>) -> Option<Range<usize>> {
        let axes = self.axes.get(group.clone())?;
        Some(*axes.first()?..axes.last()? + 1)
    }

    /// Axes of one element between two groups, or between a group and an end.
    fn between(&self, behind: Option<&Range<usize>>, ahead: Option<&Range<usize>>) -> Vec<usize> {
        let start = behind.and_then(|group| self.range(group)).map_or(0, |axes| axes.end);
        let end = ahead.and_then(|group| self.range(group)).map_or(self.rank, |axes| axes.start);
        (start..end).collect()
    }
}

/// Axes, counted among those of more than one element, that hold the same elements on both sides.
type Group = (Range<usize>, Range<usize>);

/// The smallest such groups.
fn groups(before: &Shape, read: &Split, made: &Shape, written: &Split) -> Option<Vec<Group>> {
    let mut groups = Vec::new();
    let (mut i, mut j) = (0, 0);
    while i < read.axes.len() || j < written.axes.len() {
        let (from, to) = (i, j);
        let (mut held, mut holds) = (1u64, 1u64);
        loop {
            if held <= holds && i < read.axes.len() {
                held = held.checked_mul(before.extent(*read.axes.get(i)?))?;
                i += 1;
            } else {
                holds = holds.checked_mul(made.extent(*written.axes.get(j)?))?;
                j += 1;
            }
            if held == holds {
                break;
            }
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

    #[test]
    fn an_extent_of_one_that_grows_joins_neither_side() {
        let other = |b: &[u64], m: &[u64], a: &[u64]| view(b, m, a, Change::Extents);
        let batch = |b: &[u64], m: &[u64], a: &[u64]| view(b, m, a, Change::Batch);
        assert_eq!(other(&[2, 1, 1, 32], &[2, 32], &[2, 5, 6, 32]), None);
        assert_eq!(batch(&[128, 1, 64], &[128, 4, 16], &[128, 8, 64]), None);
        let kept = batch(&[128, 1, 64], &[128, 1, 4, 16], &[128, 8, 64]);
        assert_eq!(kept, Some(vec![128, 8, 4, 16]), "the one axis of one element");
        assert_eq!(batch(&[128, 4, 16], &[128, 1, 64], &[128, 32, 16]), None, "samples in front");
        let inside = other(&[2, 8, 1, 64], &[2, 512], &[2, 8, 5, 64]);
        assert_eq!(inside, Some(vec![2, 2560]), "merged with both sides");
        assert_eq!(other(&[0, 5], &[0], &[0, 6]), Some(vec![0]), "an empty tensor");
    }
}
