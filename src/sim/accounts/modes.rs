//! Modes of regulators over time: how long each is in which, and what a change to a heavier one takes.
//!
//! A regulator whose modes name no time of waking is at once in the mode that its load asks for. One that
//! names it stays in the lighter mode meanwhile, and draws the energy of the change at its input over that
//! time. It goes to a lighter mode at once, and a change that is not needed any more is broken off.

use super::Held;
use crate::cost::{SupplyState, SupplyTree};
use crate::hardware::Regulator;
use crate::sim::kernel::Generation;
use crate::sim::supplied::RegulatorUse;
use crate::units::{Joules, SimTime, Watts};
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;

/// A regulator in use with more than one mode.
#[derive(Debug, Clone)]
pub(super) struct Moded {
    pub(super) regulator: usize,
    /// The rail that it feeds.
    pub(super) output: usize,
    modes: usize,
    /// Some change takes time.
    wakes: bool,
}

/// A change under way.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Waking {
    to: usize,
    end: SimTime,
}

/// What of it moves.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ModeState {
    /// The mode that it is in; nothing before the first load.
    mode: Option<usize>,
    since: SimTime,
    residency: Vec<SimTime>,
    changes: u64,
    waking: Option<Waking>,
    /// Power of the change under way.
    pub(super) wake: Held,
    pub(super) generation: Generation,
}

/// What a look at a regulator led to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    Same,
    /// The tree is to be solved again.
    Moved,
    /// Likewise, and a change is over at this instant if nothing comes between.
    Until(SimTime),
}

impl Moded {
    pub(super) fn of(regulator: usize, stated: &Regulator, tree: &SupplyTree) -> Option<Self> {
        let modes = tree.modes(regulator);
        let timed = |own: &crate::hardware::RegulatorMode| {
            own.wake_time.as_ref().is_some_and(|time| time.get().0 > 0.0)
        };
        let wakes = stated.modes.iter().any(timed);
        let output = tree.output_of(regulator)?;
        (modes > 1).then_some(Self { regulator, output, modes, wakes })
    }

    pub(super) fn at_first(&self) -> ModeState {
        ModeState { residency: vec![SimTime::ZERO; self.modes], ..ModeState::default() }
    }

    /// What the load asks of it now that the tree is solved.
    pub(super) fn look(
        &self,
        state: &mut ModeState,
        now: SimTime,
        tree: &SupplyTree,
        supply: &mut SupplyState,
    ) -> Look {
        let present = supply.regulator_mode[self.regulator];
        if !self.wakes || state.mode.is_none() {
            state.enter(now, present);
            if self.wakes {
                supply.held_mode[self.regulator] = Some(present);
            }
            return Look::Same;
        }
        let wanted = tree.wanted_mode(self.regulator, supply).unwrap_or(present);
        match wanted.cmp(&present) {
            Ordering::Greater => self.wake((present, wanted), state, now, tree, supply),
            Ordering::Equal if state.waking.is_none() => Look::Same,
            _ => {
                self.settle(wanted, state, now, supply);
                Look::Moved
            }
        }
    }

    /// It is in a mode from now on, and no change is under way.
    fn settle(&self, mode: usize, state: &mut ModeState, now: SimTime, supply: &mut SupplyState) {
        state.generation.renew();
        state.waking = None;
        state.wake.set(now, 0.0);
        supply.wake_power[self.regulator] = Watts::ZERO;
        supply.held_mode[self.regulator] = Some(mode);
        state.enter(now, mode);
    }

    /// Begins a change to a heavier mode, or leads the one under way further.
    fn wake(
        &self,
        (present, wanted): (usize, usize),
        state: &mut ModeState,
        now: SimTime,
        tree: &SupplyTree,
        supply: &mut SupplyState,
    ) -> Look {
        let (from, end, power) = match state.waking {
            Some(waking) if wanted <= waking.to => return Look::Same,
            Some(waking) => (waking.to, waking.end, state.wake.value),
            None => (present, now, 0.0),
        };
        let change = tree.mode_change(self.regulator, from, wanted);
        let more = SimTime::from_seconds(change.time).unwrap_or(SimTime(u64::MAX));
        let left = Joules(power * end.since(now).seconds().0);
        // Past the end of time it never stands.
        let end = SimTime(end.0.saturating_add(more.0));
        let lasts = end.since(now).seconds();
        if lasts.0 <= 0.0 {
            self.settle(wanted, state, now, supply);
            return Look::Moved;
        }
        let power = (left + change.energy) / lasts;
        state.wake.set(now, power.0);
        supply.wake_power[self.regulator] = power;
        state.waking = Some(Waking { to: wanted, end });
        state.generation.renew();
        Look::Until(end)
    }

    /// The change under way is over.
    pub(super) fn woken(&self, state: &mut ModeState, now: SimTime, supply: &mut SupplyState) {
        if let Some(waking) = state.waking {
            self.settle(waking.to, state, now, supply);
        }
    }

    pub(super) fn close(
        &self,
        state: &mut ModeState,
        now: SimTime,
        stated: &Regulator,
    ) -> RegulatorUse {
        state.spend(now);
        state.wake.integrate(now);
        let names = stated.modes.iter().map(|mode| mode.name.clone()).chain(["full".to_owned()]);
        RegulatorUse {
            name: stated.name.clone(),
            modes: names.zip(state.residency.iter().copied()).collect(),
            changes: state.changes,
            wake_energy: Joules(state.wake.whole()),
        }
    }
}

impl ModeState {
    fn enter(&mut self, now: SimTime, mode: usize) {
        if self.mode == Some(mode) {
            return;
        }
        self.spend(now);
        self.changes += u64::from(self.mode.is_some());
        self.mode = Some(mode);
    }

    fn spend(&mut self, now: SimTime) {
        let lasted = now.since(self.since);
        if let Some(own) = self.mode.and_then(|mode| self.residency.get_mut(mode)) {
            *own = SimTime(own.0.saturating_add(lasted.0));
        }
        self.since = now;
    }
}
