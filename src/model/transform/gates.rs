//! Recurrent layers of another width: the state and the gates that are computed for it.

use super::channels::{Following, mixes_channels, times};
use super::draft::Draft;
use crate::model::{Op, Recurrence, Shape};
use std::collections::{BTreeMap, BTreeSet};

/// The state whose gates a layer computes.
pub(super) struct State {
    pub recurrence: usize,
    pub hidden: u64,
}

impl State {
    /// Each gate is as wide as the state.
    pub fn of_gates(&self, columns: u64, factor: f64) -> u64 {
        match columns.checked_div(self.hidden) {
            Some(gates) if columns.is_multiple_of(self.hidden) => {
                gates.saturating_mul(times(self.hidden, factor))
            }
            _ => columns,
        }
    }
}

/// Layers whose channels are the gates of a recurrence.
pub(super) fn states_in_front(draft: &Draft) -> BTreeMap<usize, State> {
    let makers = draft.makers();
    let mut states = BTreeMap::new();
    for (recurrence, step) in draft.steps.iter().enumerate() {
        let Op::Recurrence(r) = &step.operator.op else { continue };
        states.insert(recurrence, State { recurrence, hidden: r.hidden });
        let (mut seen, mut open) = (BTreeSet::new(), vec![step.input(0)]);
        while let Some(at) = open.pop() {
            let Some(at) = at.filter(|at| seen.insert(*at)) else { continue };
            let Some(i) = makers.get(&at) else { continue };
            let Some(step) = draft.steps.get(*i) else { continue };
            if mixes_channels(draft, step) {
                states.insert(*i, State { recurrence, hidden: r.hidden });
            } else {
                open.extend(step.inputs.iter().copied());
            }
        }
    }
    states
}

impl Following<'_> {
    /// A state of another width, where it comes back as it is.
    pub fn recurrence(
        &self,
        draft: &mut Draft,
        i: usize,
        r: &Recurrence,
        wanted: &dyn Fn(u64) -> u64,
    ) -> Result<bool, String> {
        let hidden = wanted(r.hidden);
        if hidden == r.hidden {
            return Ok(false);
        }
        let gates = r.cell.gates();
        let square = [r.directions, gates, r.hidden, r.hidden];
        let square = square.iter().try_fold(1u64, |n, extent| n.checked_mul(*extent));
        if self.was(1).and_then(Shape::elements) != square {
            return Err("its state is projected before it comes back".to_owned());
        }
        // Extents of weights, biases and states hold so many times the state.
        let all = gates.saturating_mul(r.directions);
        let times = [1, gates, 2 * gates, all, all.saturating_mul(2)];
        for port in 1..self.step.inputs.len() {
            let Some(shape) = self.was(port) else { continue };
            let follows = shape.0.iter().map(|extent| {
                let held = extent.checked_div(r.hidden)?;
                let whole = extent.is_multiple_of(r.hidden) && times.contains(&held);
                whole.then(|| held.checked_mul(hidden)).flatten()
            });
            let follows = follows.zip(&shape.0).map(|(new, old)| new.unwrap_or(*old));
            self.constant(draft, port, Shape(follows.collect()))?;
        }
        if let Some(Op::Recurrence(r)) = draft.steps.get_mut(i).map(|s| &mut s.operator.op) {
            r.hidden = hidden;
        }
        Ok(true)
    }
}
