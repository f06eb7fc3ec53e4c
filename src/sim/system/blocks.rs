//! Blocks that run no network: their schedules, and detectors that put them to work.

use super::{Event, System};
use crate::cost::load_power_in;
use crate::sim::SimError;
use crate::sim::kernel::{Class, Queue};
use crate::sim::load::{LoadError, StateChange, StateChanges};
use crate::trace::{Sink, SpanKind};
use crate::units::{SimTime, TimeError};
use serde::{Deserialize, Serialize};

/// A block in a run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(in crate::sim) struct Block {
    /// The states that it goes through; nothing of one that stays.
    pub(in crate::sim) changes: Option<StateChanges>,
    /// The state that it is in by itself.
    pub(in crate::sim) own: usize,
    /// The next change.
    next: Option<StateChange>,
    /// States that detectors at work ask for; the last one holds.
    asked: Vec<usize>,
    since: SimTime,
    /// Time in each state.
    pub(in crate::sim) residency: Vec<SimTime>,
}

impl Block {
    /// A block with so many states.
    pub(in crate::sim) fn new(own: usize, states: usize, changes: Option<StateChanges>) -> Self {
        Self {
            changes,
            own,
            next: None,
            asked: Vec::new(),
            since: SimTime::ZERO,
            residency: vec![SimTime::ZERO; states],
        }
    }

    pub(super) fn state(&self) -> usize {
        self.asked.last().copied().unwrap_or(self.own)
    }

    /// Books the time up to `now`; returns when it began.
    pub(in crate::sim) fn spend(&mut self, now: SimTime) -> SimTime {
        let state = self.state();
        if let Some(time) = self.residency.get_mut(state) {
            *time = SimTime(time.0.saturating_add(now.since(self.since).0));
        }
        std::mem::replace(&mut self.since, now)
    }
}

impl<S: Sink> System<'_, '_, S> {
    /// Sets a block to what it starts with.
    pub(super) fn begin_block(
        &mut self,
        load: usize,
        queue: &mut Queue<Event>,
    ) -> Result<(), SimError> {
        self.look_up_change(load, queue)?;
        self.set_block(SimTime::ZERO, load);
        Ok(())
    }

    fn look_up_change(&mut self, load: usize, queue: &mut Queue<Event>) -> Result<(), SimError> {
        let block = &mut self.blocks[load];
        let next = block.changes.as_mut().and_then(Iterator::next).transpose();
        block.next = match next {
            // Its states go on past the end of time.
            Err(LoadError::Time(TimeError::PastEnd)) => None,
            other => other?,
        };
        if let Some(change) = block.next {
            queue.schedule(change.at, Class::Control, Event::Block { load })?;
        }
        Ok(())
    }

    /// A block goes into its next state.
    pub(super) fn next_block_state(
        &mut self,
        load: usize,
        queue: &mut Queue<Event>,
    ) -> Result<(), SimError> {
        if let Some(change) = self.blocks[load].next.take() {
            self.change_block(queue.now(), load, |block| block.own = change.state);
        }
        self.look_up_change(load, queue)
    }

    /// A detector puts a block to work.
    pub(super) fn enter_block(&mut self, now: SimTime, load: usize, state: usize) {
        self.change_block(now, load, |block| block.asked.push(state));
    }

    /// A detector is done with a block.
    pub(super) fn leave_block(&mut self, now: SimTime, load: usize, state: usize) {
        self.change_block(now, load, |block| {
            if let Some(place) = block.asked.iter().rposition(|own| *own == state) {
                block.asked.remove(place);
            }
        });
    }

    fn change_block(&mut self, now: SimTime, load: usize, change: impl FnOnce(&mut Block)) {
        let was = self.blocks[load].state();
        change(&mut self.blocks[load]);
        let is = self.blocks[load].state();
        if was == is {
            return;
        }
        // The time was spent in the state that it was in.
        let block = &mut self.blocks[load];
        let (own, asked) = (block.own, std::mem::take(&mut block.asked));
        block.own = was;
        let since = block.spend(now);
        (block.own, block.asked) = (own, asked);
        self.tell_block(load, was, (since, now));
        self.set_block(now, load);
    }

    pub(super) fn tell_block(&mut self, load: usize, state: usize, times: (SimTime, SimTime)) {
        let unit = &self.setting.profile.spec().loads[load];
        // One that never changes has no lane.
        if self.hears.states && unit.states.len() > 1 {
            let name = unit.states.get(state).map_or("", |state| state.name.as_str());
            self.tell((SpanKind::State, name, unit.name.as_str()), None, times);
        }
    }

    pub(super) fn set_block(&mut self, now: SimTime, load: usize) {
        let power = load_power_in(load, self.blocks[load].state(), self.setting_now());
        self.accounts.set_load(now, load, power);
        self.tell_load_leakage(now, load);
    }
}
