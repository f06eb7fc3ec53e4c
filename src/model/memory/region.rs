//! Pieces of an order between operators that no order can move.
//!
//! An operator that all others either feed or follow has one place in every order, and what is alive
//! there is the same in all of them. The pieces between such operators are ordered one by one, and
//! the peak of the whole is the largest of theirs: a chain has nothing to search.

use super::live::{Sweep, Total};
use super::storage::Storage;
use std::collections::BTreeSet;
use std::ops::Range;

/// A buffer that can be given up within a region.
#[derive(Debug)]
pub(super) struct Releasable {
    pub bytes: Total,
    /// Its users within the region.
    pub users: Vec<usize>,
}

/// Operators that follow each other in the file and can change places. They go by their position
/// within the region.
#[derive(Debug)]
pub(super) struct Region {
    /// Their positions in the file.
    pub range: Range<usize>,
    /// Bytes alive before the first.
    pub start: Total,
    /// Bytes that each one makes.
    pub made: Vec<Total>,
    pub buffers: Vec<Releasable>,
    /// Those of `buffers` that each one makes or reads.
    pub touched: Vec<Vec<usize>>,
    pub predecessors: Vec<Vec<usize>>,
    pub successors: Vec<Vec<usize>>,
    /// No order of the region has a lower peak than this.
    pub lower_bound: Total,
}

impl Region {
    /// Cuts out a range that no operator can leave. `before` is what is alive when it starts.
    pub(super) fn of(storage: &Storage, range: Range<usize>, before: Total) -> Self {
        let count = range.len();
        let mut region = Self {
            range: range.clone(),
            start: before,
            made: Vec::with_capacity(count),
            buffers: Vec::new(),
            touched: vec![Vec::new(); count],
            predecessors: Vec::with_capacity(count),
            successors: vec![Vec::new(); count],
            lower_bound: before,
        };
        let mut seen = BTreeSet::new();
        for at in range.clone() {
            region.operator(storage, at, &mut seen);
        }
        region.lower_bound = region.bound(storage, &seen);
        region
    }

    pub(super) fn len(&self) -> usize {
        self.made.len()
    }

    fn operator(&mut self, storage: &Storage, at: usize, seen: &mut BTreeSet<usize>) {
        let (first, local) = (self.range.start, at - self.range.start);
        let mut made = 0;
        for id in storage.touched.get(at).into_iter().flatten() {
            let Some(buffer) = storage.buffers.get(*id) else { continue };
            if buffer.maker == Some(at) {
                made += Total::from(buffer.bytes);
            }
            let ends_here = buffer.users.last().is_some_and(|last| *last < self.range.end);
            if buffer.is_kept || !ends_here || !seen.insert(*id) {
                continue;
            }
            let here = buffer.users.iter().filter(|user| **user >= first);
            let users: Vec<_> = here.map(|user| user - first).collect();
            for user in &users {
                if let Some(touched) = self.touched.get_mut(*user) {
                    touched.push(self.buffers.len());
                }
            }
            self.buffers.push(Releasable { bytes: Total::from(buffer.bytes), users });
        }
        self.made.push(made);
        let makers = storage.predecessors.get(at).into_iter().flatten();
        let makers: Vec<_> = makers.filter_map(|maker| maker.checked_sub(first)).collect();
        for maker in &makers {
            if let Some(successors) = self.successors.get_mut(*maker) {
                successors.push(local);
            }
        }
        self.predecessors.push(makers);
    }

    /// What stays alive throughout, and the most that one operator touches beside it.
    fn bound(&self, storage: &Storage, given_up: &BTreeSet<usize>) -> Total {
        let made_here = |maker: Option<usize>| maker.is_some_and(|at| self.range.contains(&at));
        let handed_in = given_up.iter().filter_map(|id| storage.buffers.get(*id));
        let handed_in = handed_in.filter(|b| !made_here(b.maker)).map(|b| Total::from(b.bytes));
        let stays = self.start.saturating_sub(handed_in.sum());
        let own = |at: usize| -> Total {
            let touched = storage.touched.get(at).into_iter().flatten();
            let counted = touched.filter_map(|id| storage.buffers.get(*id).map(|b| (id, b)));
            let counted = counted.filter(|(id, b)| given_up.contains(id) || made_here(b.maker));
            counted.map(|(_, b)| Total::from(b.bytes)).sum()
        };
        let most = self.range.clone().map(own).max().unwrap_or(0);
        self.start.max(stays.saturating_add(most))
    }

    /// Bytes that running an operator gives up, where `has_run` says which others have.
    pub(super) fn given_up(&self, operator: usize, has_run: impl Fn(usize) -> bool) -> Total {
        let touched = self.touched.get(operator).into_iter().flatten();
        let buffers = touched.filter_map(|at| self.buffers.get(*at));
        let last = |b: &&Releasable| b.users.iter().all(|user| *user == operator || has_run(*user));
        buffers.filter(last).map(|b| b.bytes).sum()
    }

    pub(super) fn made_by(&self, operator: usize) -> Total {
        self.made.get(operator).copied().unwrap_or(0)
    }

    /// The peak of an order of the region.
    pub(super) fn peak(&self, order: &[usize]) -> Total {
        let mut waiting: Vec<_> = self.buffers.iter().map(|b| b.users.len()).collect();
        let (mut alive, mut peak) = (self.start, 0);
        for operator in order {
            alive += self.made_by(*operator);
            peak = peak.max(alive);
            for at in self.touched.get(*operator).into_iter().flatten() {
                if let (Some(waiting), Some(buffer)) = (waiting.get_mut(*at), self.buffers.get(*at))
                {
                    *waiting = waiting.saturating_sub(1);
                    alive -= if *waiting == 0 { buffer.bytes.min(alive) } else { 0 };
                }
            }
        }
        peak
    }
}

/// The regions of the file's order, from the first to the last, without those of one operator.
pub(super) fn regions(storage: &Storage, sweep: &Sweep) -> Vec<Region> {
    let is_cut = cuts(storage);
    let mut regions = Vec::new();
    let mut start = 0;
    for at in 0..=is_cut.len() {
        if is_cut.get(at).copied().unwrap_or(true) {
            if at - start > 1 {
                let before = start.checked_sub(1).and_then(|last| sweep.after.get(last).copied());
                let before = before.unwrap_or_else(|| storage.handed_in());
                regions.push(Region::of(storage, start..at, before));
            }
            start = at + 1;
        }
    }
    regions
}

/// Operators that all others feed or follow. Such a one is the only sink of what the file has up to
/// it, and the only source of what the file has from it.
fn cuts(storage: &Storage) -> Vec<bool> {
    let count = storage.touched.len();
    let (latest, earliest) = bounds(storage);
    let (mut sources, mut sinks) = (vec![0i64; count + 1], vec![0i64; count + 1]);
    let step = |steps: &mut Vec<i64>, from: usize, to: usize| {
        if let Some(change) = steps.get_mut(from) {
            *change += 1;
        }
        if let Some(change) = steps.get_mut(to) {
            *change -= 1;
        }
    };
    for (at, (latest, earliest)) in latest.iter().zip(&earliest).enumerate() {
        step(&mut sources, *latest, at + 1);
        step(&mut sinks, at, *earliest);
    }
    let (mut source_count, mut sink_count) = (0, 0);
    let steps = sources.iter().zip(&sinks).take(count);
    let only = steps.map(|(source, sink)| {
        source_count += source;
        sink_count += sink;
        (source_count, sink_count) == (1, 1)
    });
    only.collect()
}

/// For each operator the place behind the last it needs, and the place of the first that needs it.
/// What is fixed needs all before it and is needed by all behind it.
fn bounds(storage: &Storage) -> (Vec<usize>, Vec<usize>) {
    let count = storage.touched.len();
    let (mut latest, mut earliest) = (Vec::with_capacity(count), vec![count; count]);
    let (mut behind_fixed, mut after) = (0, Vec::new());
    for (at, makers) in storage.predecessors.iter().enumerate() {
        let is_fixed = storage.is_fixed.get(at).copied().unwrap_or(false);
        let last = makers.last().map_or(0, |maker| maker + 1);
        latest.push(if is_fixed { at } else { last.max(behind_fixed) });
        for maker in makers {
            if let Some(first) = earliest.get_mut(*maker) {
                *first = (*first).min(at);
            }
        }
        if is_fixed {
            behind_fixed = at + 1;
            after.push(at);
        }
    }
    let mut fixed = after.into_iter().peekable();
    for (at, earliest) in earliest.iter_mut().enumerate() {
        while fixed.next_if(|next| *next < at).is_some() {}
        match fixed.peek() {
            Some(next) if *next == at => *earliest = at + 1,
            Some(next) => *earliest = (*earliest).min(*next),
            None => {}
        }
    }
    (latest, earliest)
}
