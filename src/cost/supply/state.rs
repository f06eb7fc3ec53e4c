//! What the rail tree stands at, and what changed since.

use super::Source;
use crate::units::{Amperes, Volts, Watts};
use serde::{Deserialize, Serialize};

/// Voltages, currents and losses of the rail tree.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct SupplyState {
    /// Voltage that each rail is set to: that of the operating point until
    /// [`SupplyTree::set_rail_voltage`](super::SupplyTree::set_rail_voltage) moves it.
    pub(super) set: Vec<Volts>,
    /// Voltage of each rail.
    pub rail_voltage: Vec<Volts>,
    /// Current of each rail: its loads and the regulators that draw from it.
    pub rail_current: Vec<Amperes>,
    /// Power of the loads of each rail, without the loss of grids.
    pub rail_power: Vec<Watts>,
    /// True for a rail whose source, switch or regulator cannot give what is asked: it stands where the
    /// most passes, and its figures are those of that.
    pub rail_collapsed: Vec<bool>,
    /// Input current of each regulator of the profile; zero for one that is not in use.
    pub regulator_current: Vec<Amperes>,
    /// Loss of each regulator likewise.
    pub regulator_loss: Vec<Watts>,
    /// Mode that each regulator is in: 0 is the lightest, the last full load.
    pub regulator_mode: Vec<usize>,
    /// Mode that a regulator is kept in whatever its load (while it wakes, or by a choice).
    pub held_mode: Vec<Option<usize>>,
    /// What each regulator draws at its input to change its mode, beside what its law says.
    pub wake_power: Vec<Watts>,
    /// Loss in the grid of each domain.
    pub grid_loss: Vec<Watts>,
    /// Voltage behind each grid of the tree.
    pub(super) grid_voltage: Vec<Volts>,
    /// True for a grid that lets less through than is asked.
    pub(super) grid_collapsed: Vec<bool>,
    /// Each source, in the order of the rails that they feed.
    pub sources: Vec<SourceState>,
    /// What all sources give at their terminals.
    pub source_power: Watts,
}

/// What a source stands at.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SourceState {
    /// Voltage without load. What moves it (charge, storage) sets it, and marks the rail as changed.
    pub open_circuit: Volts,
    /// Voltage at its terminals.
    pub voltage: Volts,
    /// Current.
    pub current: Amperes,
    /// What it gives at its terminals.
    pub power: Watts,
    /// What it burns inside itself, beside that.
    pub inside: Watts,
}

impl SourceState {
    pub(super) fn at_first(source: &Source) -> Self {
        Self {
            open_circuit: source.open_circuit,
            voltage: source.open_circuit,
            current: Amperes::ZERO,
            power: Watts::ZERO,
            inside: Watts::ZERO,
        }
    }
}

impl SupplyState {
    /// Voltage that a rail is set to; nothing before the state has been solved or prepared.
    pub fn set_voltage(&self, rail: usize) -> Option<Volts> {
        self.set.get(rail).copied()
    }

    /// True where some rail or grid cannot give what is asked.
    pub fn is_collapsed(&self) -> bool {
        self.rail_collapsed.iter().chain(&self.grid_collapsed).any(|collapsed| *collapsed)
    }

    /// Loss in all regulators and grids.
    pub fn loss(&self) -> Watts {
        self.regulator_loss.iter().chain(&self.grid_loss).copied().sum()
    }
}

/// A set of indices (of taps whose power changed), a bit each.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Changed {
    /// The first 64, which need no list.
    first: u64,
    rest: Vec<u64>,
}

impl Changed {
    /// Adds an index.
    pub fn mark(&mut self, index: usize) {
        match (index / 64).checked_sub(1) {
            None => self.first |= 1 << index,
            Some(word) => {
                if self.rest.len() <= word {
                    self.rest.resize(word + 1, 0);
                }
                self.rest[word] |= 1 << (index % 64);
            }
        }
    }

    /// True where nothing is marked.
    pub fn is_empty(&self) -> bool {
        self.first == 0 && self.rest.iter().all(|word| *word == 0)
    }

    /// Takes all out.
    pub fn clear(&mut self) {
        self.first = 0;
        self.rest.fill(0);
    }

    /// Takes the lowest out.
    pub(super) fn take_first(&mut self) -> Option<usize> {
        if self.first != 0 {
            let bit = self.first.trailing_zeros() as usize;
            self.first &= self.first - 1;
            return Some(bit);
        }
        let (word, bits) = self.rest.iter_mut().enumerate().find(|(_, bits)| **bits != 0)?;
        let bit = bits.trailing_zeros() as usize;
        *bits &= *bits - 1;
        Some((word + 1) * 64 + bit)
    }

    /// Takes all out, one by one.
    pub(super) fn drain(&mut self, mut each: impl FnMut(usize)) {
        while let Some(index) = self.take_first() {
            each(index);
        }
    }
}
