//! The order of a region with the lowest peak, by a search that sees every order worth seeing.
//!
//! A state is the set of operators that have run; how many bytes are alive follows from the set
//! alone, so that of all ways to a set only the one with the lowest peak is kept. States are taken up
//! in the order of their peaks: the first that holds every operator is the best.
//!
//! An operator that gives up at least what it makes, and runs within the peak reached already, is
//! run at once and no other beside it: had it come later in some order, moving it here would leave
//! no more bytes alive at any point between.

use super::live::Total;
use super::region::Region;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::rc::Rc;

/// What a search found out.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// An order below the ceiling. No order has a lower peak, but one at or below the floor.
    Best(Vec<usize>),
    /// No order is below the ceiling.
    Nothing,
    /// The search ran out of its budget.
    Unknown,
}

/// What a peak has to be to matter.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// Peaks at or below this are all equally good.
    pub floor: Total,
    /// Only peaks below this are wanted.
    pub ceiling: Total,
}

/// A set of operators of a region.
type Set = Rc<[u64]>;

fn holds(set: &[u64], operator: usize) -> bool {
    set.get(operator / 64).is_some_and(|word| word >> (operator % 64) & 1 == 1)
}

/// A set reached in the best way known so far.
#[derive(Debug, Clone)]
struct State {
    has_run: Set,
    /// Operators that can run next, in the order of the file.
    ready: Vec<usize>,
    count: usize,
    alive: Total,
    peak: Total,
    /// The state before, and the operators run since.
    parent: usize,
    run: Vec<usize>,
}

struct Search<'a> {
    region: &'a Region,
    limits: Limits,
    states: Vec<State>,
    known: BTreeMap<Set, usize>,
    /// Lowest peak first, of these the one nearest to the end, of these the oldest.
    open: BinaryHeap<Reverse<(Total, Reverse<usize>, usize)>>,
}

/// What a state costs of a budget beside the operators looked at to make it.
const STATE: usize = 10;

/// Searches a region. `budget` is how many operators it may look at; those looked at are taken off.
pub(super) fn search(region: &Region, limits: Limits, budget: &mut usize) -> Found {
    let mut search = Search {
        region,
        limits,
        states: Vec::new(),
        known: BTreeMap::new(),
        open: BinaryHeap::new(),
    };
    search.keep(search.first());
    while let Some(Reverse((peak, _, at))) = search.open.pop() {
        let Some(state) = search.states.get(at).cloned() else { break };
        if peak > state.peak {
            continue; // A better way to it was found since.
        }
        if state.count == region.len() {
            return Found::Best(search.path(at));
        }
        for operator in &state.ready {
            let Some(next) = search.after(&state, at, *operator) else { continue };
            let looked_at = next.run.len().saturating_mul(next.ready.len() + 1);
            match budget.checked_sub(looked_at.saturating_add(STATE)) {
                Some(left) => *budget = left,
                None => return Found::Unknown,
            }
            search.keep(next);
        }
    }
    Found::Nothing
}

impl Search<'_> {
    fn first(&self) -> State {
        let has_run: Set = vec![0; self.region.len().div_ceil(64)].into();
        let needs = self.region.predecessors.iter().enumerate();
        let ready = needs.filter(|(_, makers)| makers.is_empty()).map(|(at, _)| at).collect();
        let (alive, peak) = (self.region.start, self.limits.floor);
        let mut state = State { has_run, ready, count: 0, alive, peak, parent: 0, run: Vec::new() };
        self.settle(&mut state);
        state
    }

    /// The state behind one more operator; nothing when the peak is not worth it.
    fn after(&self, state: &State, at: usize, operator: usize) -> Option<State> {
        let during = state.alive + self.region.made_by(operator);
        if during >= self.limits.ceiling {
            return None;
        }
        let mut next = State { parent: at, run: Vec::new(), ..state.clone() };
        next.peak = next.peak.max(during);
        self.run(&mut next, operator);
        self.settle(&mut next);
        Some(next)
    }

    fn run(&self, state: &mut State, operator: usize) {
        let given_up = self.region.given_up(operator, |other| holds(&state.has_run, other));
        state.alive = (state.alive + self.region.made_by(operator)).saturating_sub(given_up);
        let mut has_run = state.has_run.to_vec();
        if let Some(word) = has_run.get_mut(operator / 64) {
            *word |= 1 << (operator % 64);
        }
        state.has_run = has_run.into();
        state.ready.retain(|ready| *ready != operator);
        for next in self.region.successors.get(operator).into_iter().flatten() {
            let makers = self.region.predecessors.get(*next).into_iter().flatten();
            if makers.into_iter().all(|maker| holds(&state.has_run, *maker)) {
                state.ready.push(*next);
            }
        }
        state.ready.sort_unstable();
        state.run.push(operator);
        state.count += 1;
    }

    /// Runs all that costs nothing.
    fn settle(&self, state: &mut State) {
        while let Some(operator) = self.free(state) {
            self.run(state, operator);
        }
    }

    fn free(&self, state: &State) -> Option<usize> {
        let costs_nothing = |operator: &usize| {
            let made = self.region.made_by(*operator);
            state.alive + made <= state.peak
                && made <= self.region.given_up(*operator, |other| holds(&state.has_run, other))
        };
        state.ready.iter().copied().find(costs_nothing)
    }

    fn keep(&mut self, state: State) {
        let known = self.known.get(&state.has_run).copied();
        let at = known.unwrap_or(self.states.len());
        let entry = Reverse((state.peak, Reverse(state.count), at));
        match known.and_then(|at| self.states.get_mut(at)) {
            Some(older) if older.peak <= state.peak => return,
            Some(older) => *older = state,
            None => {
                self.known.insert(state.has_run.clone(), at);
                self.states.push(state);
            }
        }
        self.open.push(entry);
    }

    /// The operators that lead to a state.
    fn path(&self, last: usize) -> Vec<usize> {
        let (mut order, mut at) = (Vec::new(), last);
        while let Some(state) = self.states.get(at) {
            order.extend(state.run.iter().rev());
            if at == 0 {
                break;
            }
            at = state.parent;
        }
        order.reverse();
        order
    }
}
