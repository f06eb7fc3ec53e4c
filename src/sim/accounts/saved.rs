//! Accounts as they are written down.

use super::supplies::Moving;
use super::{Accounts, Numbers};
use crate::cost::{KnownPower, SupplyState};
use crate::evidence::Kind;
use crate::trace::{ComponentId, RailId, Sink};
use crate::units::{Amperes, SimTime, Volts, Watts};
use serde::{Deserialize, Serialize};

/// What moves of accounts.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::sim) struct SavedAccounts {
    numbers: Numbers,
    standing: Vec<(usize, KnownPower)>,
    lasting: Kind,
    supply: SupplyState,
    supplies: Moving,
    loads: Vec<Watts>,
    /// What sinks were told; nothing where they were told nothing.
    told: Vec<Option<f64>>,
    told_rails: Vec<Option<(Volts, Amperes)>>,
}

impl Accounts<'_> {
    /// What moves, between two instants.
    pub(in crate::sim) fn save(&self) -> SavedAccounts {
        let Self {
            setting: _,
            header: _,
            places: _,
            taps: _,
            at_tap: _,
            numbers,
            standing,
            standing_by_kind: _,
            standing_changed: _,
            lasting,
            tree: _,
            may_collapse: _,
            grids: _,
            supply,
            supplies,
            loads,
            taps_changed: _,
            is_tap_changed: _,
            to_solve: _,
            changed: _,
            is_changed: _,
            told,
            told_rails,
            heat: _,
        } = self;
        let rail = |own: &(Volts, Amperes)| Some(*own).filter(|(volts, _)| !volts.0.is_nan());
        SavedAccounts {
            numbers: numbers.clone(),
            standing: standing.clone(),
            lasting: *lasting,
            supply: supply.clone(),
            supplies: supplies.moving.clone(),
            loads: loads.clone(),
            told: told.iter().map(|own| Some(*own).filter(|own| !own.is_nan())).collect(),
            told_rails: told_rails.iter().map(rail).collect(),
        }
    }

    /// Whether what was saved can be of these accounts.
    pub(in crate::sim) fn fits(&self, saved: &SavedAccounts) -> bool {
        self.numbers.has_shape_of(&saved.numbers)
            && self.supplies.fits(&saved.supplies)
            && self.standing.len() == saved.standing.len()
            && self.loads.len() == saved.loads.len()
            && self.told.len() == saved.told.len()
            && self.told_rails.len() == saved.told_rails.len()
            && saved.standing.iter().all(|(rail, _)| *rail < self.told_rails.len())
    }

    /// Takes up what was saved.
    pub(in crate::sim) fn restore(&mut self, saved: SavedAccounts) {
        let SavedAccounts { numbers, standing, lasting, supply, supplies, loads, told, told_rails } =
            saved;
        let stands = numbers.standing;
        (self.numbers, self.standing, self.lasting) = (numbers, standing, lasting);
        self.sum_standing();
        self.numbers.standing = stands;
        (self.supply, self.loads) = (supply, loads);
        self.supplies.moving = supplies;
        let unknown = (Volts(f64::NAN), Amperes(f64::NAN));
        self.told = told.into_iter().map(|own| own.unwrap_or(f64::NAN)).collect();
        self.told_rails = told_rails.into_iter().map(|own| own.unwrap_or(unknown)).collect();
        self.standing_changed = false;
        self.taps_changed.clear();
        self.is_tap_changed.fill(false);
        self.to_solve.clear();
        self.changed.clear();
        self.is_changed.fill(false);
    }

    /// Tells a sink that knows nothing yet what holds from `now` on; that before is unknown to it.
    pub(in crate::sim) fn tell_all(&self, now: SimTime, sink: &mut impl Sink) {
        let places = || (0..self.told.len()).map(ComponentId);
        let rails = || (0..self.told_rails.len()).map(RailId);
        if now > SimTime::ZERO {
            places().for_each(|place| sink.power(SimTime::ZERO, place, Watts(f64::NAN)));
            let (voltage, current) = (Volts(f64::NAN), Amperes(f64::NAN));
            rails().for_each(|rail| sink.rail(SimTime::ZERO, rail, voltage, current));
        }
        for (place, power) in places().zip(&self.told) {
            // Nothing was told of what has never drawn.
            sink.power(now, place, Watts(if power.is_nan() { 0.0 } else { *power }));
        }
        for (rail, (voltage, current)) in rails().zip(&self.told_rails) {
            sink.rail(now, rail, *voltage, *current);
        }
    }
}

impl Numbers {
    fn has_shape_of(&self, other: &Self) -> bool {
        let shape = |own: &Self| {
            let held = [
                own.components.len(),
                own.rail_load.len(),
                own.rail_current.len(),
                own.losses.len(),
                own.grids.len(),
                own.rest_evidence.len(),
                own.rest_losses.len(),
            ];
            (held, own.layers.iter().map(Vec::len).collect::<Vec<_>>())
        };
        shape(self) == shape(other)
    }
}
