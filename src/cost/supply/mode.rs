//! Modes of regulators: which one a load asks for, and what a change takes.

use super::law::Law;
use super::{RegulatorNode, SupplyState, SupplyTree};
use crate::hardware::Regulator;
use crate::units::{Amperes, Joules, Seconds};

/// A mode of a regulator.
#[derive(Debug, Clone)]
pub(super) struct Mode {
    pub(super) law: Law,
    /// Load below which it is entered, and above which it is left for the next; full load has none.
    between: Option<(Amperes, Amperes)>,
    wake: ModeChange,
}

/// What a change of mode takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ModeChange {
    /// Time until the new mode stands.
    pub time: Seconds,
    /// Energy at the regulator's input.
    pub energy: Joules,
}

impl ModeChange {
    const NONE: Self = Self { time: Seconds::ZERO, energy: Joules::ZERO };
}

/// Modes of a regulator, the lightest first and full load last.
pub(super) fn modes(regulator: &Regulator) -> Vec<Mode> {
    let light = regulator.modes.iter().map(|mode| {
        let enter = mode.enter_below.get();
        let leave = mode.leave_above.as_ref().map_or(enter, |leave| leave.get());
        Mode {
            law: Law::of(&mode.kind),
            // Spreads must not turn the two round.
            between: Some((enter, leave.max(enter))),
            wake: ModeChange {
                time: mode.wake_time.as_ref().map_or(Seconds::ZERO, |time| time.get()),
                energy: mode.wake_energy.as_ref().map_or(Joules::ZERO, |energy| energy.get()),
            },
        }
    });
    let full = Mode { law: Law::of(&regulator.kind), between: None, wake: ModeChange::NONE };
    light.chain([full]).collect()
}

impl RegulatorNode {
    /// The mode at a load, coming from another: as many steps heavier as the load is above what each is
    /// left at, or else lighter as it is below what each is entered at.
    pub(super) fn mode_at(&self, load: Amperes, from: usize) -> usize {
        let full = self.modes.len().max(1) - 1;
        let between = |mode: usize| self.modes.get(mode).and_then(|mode| mode.between);
        let from = from.min(full);
        let mut mode = from;
        while between(mode).is_some_and(|(_, leave)| load > leave) {
            mode += 1;
        }
        if mode > from {
            return mode;
        }
        while let Some(lighter) = mode.checked_sub(1) {
            if between(lighter).is_none_or(|(enter, _)| load >= enter) {
                break;
            }
            mode = lighter;
        }
        mode
    }
}

impl SupplyTree {
    /// Number of modes of a regulator: 1 for one that has no others than that of full load.
    pub fn modes(&self, regulator: usize) -> usize {
        self.regulators.get(regulator).map_or(0, |regulator| regulator.modes.len())
    }

    /// The mode that the present load asks of a regulator. It is another one than that of the state only
    /// where that is held.
    pub fn wanted_mode(&self, regulator: usize, state: &SupplyState) -> Option<usize> {
        let node = self.regulators.get(regulator)?;
        let load = *state.rail_current.get(node.output)?;
        Some(node.mode_at(load, *state.regulator_mode.get(regulator)?))
    }

    /// What a regulator takes to change its mode: to a heavier one the times and energies of all steps,
    /// to a lighter one nothing. Whoever keeps time holds the regulator in its mode
    /// ([`SupplyState::held_mode`]), looks at the mode that is wanted after each solution, and
    /// after the time of the change holds it in that one and solves from the rail that it feeds.
    pub fn mode_change(&self, regulator: usize, from: usize, to: usize) -> ModeChange {
        let modes = self.regulators.get(regulator).map_or(&[][..], |own| &own.modes);
        let steps = modes.get(from..to).unwrap_or_default();
        steps.iter().fold(ModeChange::NONE, |sum, mode| ModeChange {
            time: sum.time + mode.wake.time,
            energy: sum.energy + mode.wake.energy,
        })
    }
}
