//! Rails, the regulators between them, and what feeds them.

use crate::evidence::{Condition, FieldPath, Parameter, Parameters, Valued, described};
use crate::units::{Amperes, Coulombs, Ohms, Ratio, Volts, Watts};
use serde::Deserialize;

described! {
    /// A supply rail.
    pub struct RailSpec {
        /// Its name.
        pub name: String,
        /// Lowest voltage that its operating points may ask for.
        #[serde(default)]
        pub minimum: Option<Valued<Volts>>,
        /// Highest voltage likewise.
        #[serde(default)]
        pub maximum: Option<Valued<Volts>>,
    }
}

described! {
    /// A converter from one rail to another.
    pub struct Regulator {
        /// Its name.
        pub name: String,
        /// The rail it draws from.
        pub input: String,
        /// The rail it feeds.
        pub output: String,
        /// How it converts.
        pub kind: RegulatorKind,
        /// Most it can give.
        #[serde(default)]
        pub max_current: Option<Valued<Amperes>>,
        /// True for one whose loss heats another package (a PMIC).
        #[serde(default)]
        pub off_chip: bool,
        /// Operating points at which it is in use; empty means all. Of two regulators that feed one
        /// rail, exactly one is in use at each point.
        #[serde(default)]
        pub operating_points: Vec<String>,
    }
}

/// How a regulator converts.
#[derive(Debug, Clone, Deserialize)]
pub enum RegulatorKind {
    /// Linear: constant current.
    Ldo(Ldo),
    /// Switching, at a stated efficiency.
    Switching(Switching),
    /// Switching, by the parts of its loss.
    Buck(Box<Buck>),
    /// Switching, by efficiency against load.
    Table(EfficiencyPoints),
}

super::precision::either_parameter!(RegulatorKind: Ldo, Switching, Buck, Table);

described! {
    /// A linear regulator.
    pub struct Ldo {
        /// Quiescent current; left out where currents were measured at the input and hold it.
        #[serde(default)]
        pub quiescent: Option<Valued<Amperes>>,
        /// Share of the load current lost to ground.
        #[serde(default)]
        pub ground_share: Option<Valued<Ratio>>,
        /// Resistance of the pass element when fully on: input less output is at least this times the
        /// load, which the highest current is held against. No part of the loss.
        #[serde(default)]
        pub dropout: Option<Valued<Ohms>>,
    }
}

described! {
    /// A switching regulator at one efficiency.
    pub struct Switching {
        /// Conversion efficiency.
        pub efficiency: Valued<Ratio>,
        /// Quiescent current.
        pub quiescent: Valued<Amperes>,
    }
}

described! {
    /// A buck converter by the parts of its loss, which only steps down (`Switching` and `Table` may
    /// step up):
    /// `V_in I_q + p_sw min(1, I / I_pfm) + d I + R I^2`.
    pub struct Buck {
        /// Quiescent current `I_q`.
        pub quiescent: Valued<Amperes>,
        /// Switching loss `p_sw` while every pulse comes.
        pub switching_loss: Valued<Watts>,
        /// Load `I_pfm` below which pulses are skipped; none means never.
        #[serde(default)]
        pub skips_below: Option<Valued<Amperes>>,
        /// Loss in proportion to the load `d` (voltage drop of transitions and diodes).
        pub drop: Valued<Volts>,
        /// Resistance `R` of switches and inductor.
        pub resistance: Valued<Ohms>,
    }
}

described! {
    /// Efficiency at loads of a data sheet, interpolated over the logarithm of the load.
    pub struct EfficiencyPoints {
        /// Loads, rising, with the efficiency at each.
        pub points: Vec<EfficiencyPoint>,
        /// Quiescent current, where the efficiencies do not hold it.
        #[serde(default)]
        pub quiescent: Option<Valued<Amperes>>,
    }
}

described! {
    /// Efficiency at one load.
    pub struct EfficiencyPoint {
        /// The load.
        pub load: Condition<Amperes>,
        /// The efficiency.
        pub efficiency: Valued<Ratio>,
    }
}

described! {
    /// What feeds a rail that no regulator feeds: a battery, a bench supply.
    pub struct Supply {
        /// Its name.
        pub name: String,
        /// The rail it feeds.
        pub rail: String,
        /// Charge it holds, of a battery.
        #[serde(default)]
        pub capacity: Option<Valued<Coulombs>>,
        /// Its resistance: at the highest current its voltage sags by this times that. What it burns
        /// inside itself is in no figure.
        #[serde(default)]
        pub resistance: Option<Valued<Ohms>>,
        /// Most it can give.
        #[serde(default)]
        pub max_current: Option<Valued<Amperes>>,
    }
}

impl Regulator {
    /// True at an operating point that it is used at: those named, or all when none is.
    pub fn in_use_at(&self, point: &str) -> bool {
        self.operating_points.is_empty() || self.operating_points.iter().any(|p| p == point)
    }
}
