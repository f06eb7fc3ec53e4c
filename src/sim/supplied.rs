//! What feeds a run, at its end: sources, regulators, brown-outs.

use crate::units::{Coulombs, Joules, SimTime, Volts, Watts};
use serde::{Deserialize, Serialize};

/// What a source holds when a run starts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SupplyStart {
    /// A battery, so much of its capacity.
    Charge(crate::units::Ratio),
    /// A storage capacitor, its own voltage.
    Voltage(Volts),
}

/// Why a rail browns out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Cause {
    /// Its battery or storage is empty.
    Empty,
    /// It stands below the lowest voltage that what it feeds works from.
    BelowMinimum,
    /// No voltage passes the power that is asked for.
    Collapse,
}

impl Cause {
    /// In words, for tables and files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::BelowMinimum => "below_minimum",
            Self::Collapse => "collapse",
        }
    }
}

/// A rail that could not be held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct BrownOut {
    /// When it began.
    pub at: SimTime,
    /// The rail, by its number.
    pub rail: usize,
    /// Why.
    pub cause: Cause,
}

/// What a source held and holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Holding {
    /// As much as is asked for.
    Endless,
    /// A battery.
    Battery {
        /// Charge of a full one.
        capacity: Coulombs,
        /// Charge at the start.
        start: Coulombs,
        /// Charge at the end.
        left: Coulombs,
    },
    /// A storage capacitor.
    Storage {
        /// Energy at the start.
        start: Joules,
        /// Energy at the end.
        left: Joules,
        /// What leaked away.
        leaked: Joules,
    },
}

impl Holding {
    /// What kind of source holds so.
    pub fn name(self) -> &'static str {
        match self {
            Self::Endless => "bench",
            Self::Battery { .. } => "battery",
            Self::Storage { .. } => "storage",
        }
    }
}

/// A source in a run.
#[derive(Debug, Clone, PartialEq)]
pub struct SourceUse {
    /// The supply of the profile; nothing of an ideal one that is not named.
    pub name: Option<String>,
    /// The rail that it feeds, by number.
    pub rail: usize,
    /// Energy that it gave at its terminals.
    pub given: Joules,
    /// What it burnt in its own resistance, beside that.
    pub inside: Joules,
    /// Charge that was taken from it.
    pub charge: Coulombs,
    /// What it holds.
    pub holding: Holding,
    /// Lowest voltage of its terminals.
    pub lowest: Volts,
    /// When it had no more to give.
    pub empty: Option<SimTime>,
}

impl SourceUse {
    /// The gap between what a storage lost and what was given, burnt and leaked, over what it held.
    pub fn residual(&self) -> f64 {
        match self.holding {
            Holding::Storage { start, left, leaked } => {
                let gap = start - left - self.given - self.inside - leaked;
                if start.0 > 0.0 { gap.0.abs() / start.0 } else { gap.0.abs() }
            }
            Holding::Endless | Holding::Battery { .. } => 0.0,
        }
    }
}

/// A regulator with several modes in a run.
#[derive(Debug, Clone, PartialEq)]
pub struct RegulatorUse {
    /// Its name.
    pub name: String,
    /// Time in each mode by its name, full load last (`full`).
    pub modes: Vec<(String, SimTime)>,
    /// How often it went from one mode to another.
    pub changes: u64,
    /// What changes to heavier modes took, part of its loss.
    pub wake_energy: Joules,
}

/// All of it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Supplied {
    /// Sources, in the order of the rails that they feed.
    pub sources: Vec<SourceUse>,
    /// Regulators with more than one mode.
    pub regulators: Vec<RegulatorUse>,
    /// How often a rail could not be held any more.
    pub brown_outs: u64,
    /// The first time.
    pub first: Option<BrownOut>,
    /// True of a run that ended with it.
    pub ended: bool,
}

/// What a source gives at present.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct Draw {
    /// At its terminals.
    pub(super) power: Watts,
    pub(super) current: crate::units::Amperes,
    /// It gives less than it is asked for, all that passes its resistance.
    pub(super) collapsed: bool,
}
