//! Rails, the regulators between them, and what feeds them.

use crate::evidence::{Condition, FieldPath, Parameter, Parameters, Valued, described};
use crate::physics::LawError;
use crate::physics::buck_fit::{self, EfficiencyAt};
use crate::units::{
    Amperes, Coulombs, Farads, Joules, Ohms, Ratio, Seconds, Volts, VoltsPerSecond, Watts,
};
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
        /// How it converts; with `modes`, under full load.
        pub kind: RegulatorKind,
        /// Modes for lighter loads, the lightest first.
        #[serde(default)]
        pub modes: Vec<RegulatorMode>,
        /// Most it can give.
        #[serde(default)]
        pub max_current: Option<Valued<Amperes>>,
        /// How fast it moves its output in a run; at once when left out.
        #[serde(default)]
        pub slew: Option<Valued<VoltsPerSecond>>,
        /// Capacitance of its output: raising the rail takes what that stores, and lowering it gives
        /// nothing back. Needs the `slew` in which it is charged.
        #[serde(default)]
        pub output_capacitance: Option<Valued<Farads>>,
        /// True for one whose loss heats another package (a PMIC).
        #[serde(default)]
        pub off_chip: bool,
        /// Operating points at which it is in use; empty means all. Of two regulators that feed one
        /// rail, exactly one is in use at each point.
        #[serde(default)]
        pub operating_points: Vec<String>,
    }
}

described! {
    /// A mode of a regulator for light loads. It is entered below one load and left above another, which
    /// is not lower, so that a load between the two changes nothing.
    pub struct RegulatorMode {
        /// Its name (`eco`).
        pub name: String,
        /// How it converts meanwhile.
        pub kind: RegulatorKind,
        /// Load below which it is entered.
        pub enter_below: Valued<Amperes>,
        /// Load above which it is left for the next heavier one; that of entering when left out.
        #[serde(default)]
        pub leave_above: Option<Valued<Amperes>>,
        /// Time until the next heavier mode stands.
        #[serde(default)]
        pub wake_time: Option<Valued<Seconds>>,
        /// Energy of the change to it, at the input.
        #[serde(default)]
        pub wake_energy: Option<Valued<Joules>>,
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
    /// The same, its parts found from the efficiencies of a data sheet.
    BuckFit(Box<BuckFit>),
    /// Switching, by efficiency against load.
    Table(EfficiencyPoints),
    /// A switch that passes its input on.
    LoadSwitch(LoadSwitch),
}

super::precision::either_parameter!(RegulatorKind: Ldo, Switching, Buck, BuckFit, Table, LoadSwitch);

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
        /// load, and where it cannot be, the output follows the input. Never, when left out.
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
    /// A buck converter by points of its efficiency curve, which the law of [`Buck`] is fitted to.
    pub struct BuckFit {
        /// Input voltage of the points.
        pub input: Condition<Volts>,
        /// Output voltage of the points.
        pub output: Condition<Volts>,
        /// Efficiencies at loads, in any order.
        pub points: Vec<FitPoint>,
        /// Quiescent current; left out, it is fitted with the rest.
        #[serde(default)]
        pub quiescent: Option<Valued<Amperes>>,
        /// Load below which pulses are skipped; left out, it is looked for among the loads of the points.
        #[serde(default)]
        pub skips_below: Option<Valued<Amperes>>,
    }
}

described! {
    /// Efficiency at one load and, where they differ from those of all points, at its voltages.
    pub struct FitPoint {
        /// The load.
        pub load: Condition<Amperes>,
        /// The efficiency.
        pub efficiency: Valued<Ratio>,
        /// Input voltage.
        #[serde(default)]
        pub input: Option<Condition<Volts>>,
        /// Output voltage.
        #[serde(default)]
        pub output: Option<Condition<Volts>>,
    }
}

described! {
    /// A switch between two rails: the output stands below the input by `R I`.
    pub struct LoadSwitch {
        /// Resistance when on.
        pub resistance: Valued<Ohms>,
        /// What it draws itself when on.
        #[serde(default)]
        pub quiescent: Option<Valued<Amperes>>,
    }
}

described! {
    /// Efficiency at loads of a data sheet, interpolated over the logarithm of the load, and over the
    /// input voltage where points name it.
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
        /// Input voltage; all points of a table name it, or none does.
        #[serde(default)]
        pub input: Option<Condition<Volts>>,
    }
}

described! {
    /// What feeds a rail that no regulator feeds: a battery, a bench supply, a storage capacitor.
    ///
    /// Its terminals stand at the voltage that the operating point gives the rail. One that `follows`,
    /// has an `open_circuit` curve or is a `storage` stands below its open-circuit voltage by its
    /// resistance times its current, and the rail with it.
    pub struct Supply {
        /// Its name.
        pub name: String,
        /// The rail it feeds.
        pub rail: String,
        /// Charge it holds, of a battery.
        #[serde(default)]
        pub capacity: Option<Valued<Coulombs>>,
        /// Its resistance: its voltage sags by this times its current. What it burns inside itself is in
        /// no figure of energy.
        #[serde(default)]
        pub resistance: Option<Valued<Ohms>>,
        /// True where the rail sags with the current, from the voltage of the operating point.
        #[serde(default)]
        pub follows: bool,
        /// Open-circuit voltages of a battery, by the share of its charge that is left, rising.
        #[serde(default)]
        pub open_circuit: Vec<OpenCircuitPoint>,
        /// Share of its charge that is left; all when left out.
        #[serde(default)]
        pub charge: Option<Condition<Ratio>>,
        /// A capacitor in the place of a battery.
        #[serde(default)]
        pub storage: Option<Storage>,
        /// Most it can give.
        #[serde(default)]
        pub max_current: Option<Valued<Amperes>>,
    }
}

described! {
    /// Open-circuit voltage of a battery at a state of charge.
    pub struct OpenCircuitPoint {
        /// Share of the charge that is left.
        pub charge: Condition<Ratio>,
        /// The voltage.
        pub voltage: Valued<Volts>,
    }
}

described! {
    /// A storage capacitor; its series resistance is the `resistance` of the supply.
    pub struct Storage {
        /// Capacitance.
        pub capacitance: Valued<Farads>,
        /// Resistance of its leakage; none when left out.
        #[serde(default)]
        pub leakage: Option<Valued<Ohms>>,
        /// Highest voltage that it is charged to, at which it starts.
        pub maximum: Valued<Volts>,
        /// Lowest voltage that what it feeds works from.
        pub minimum: Valued<Volts>,
    }
}

impl BuckFit {
    /// The law that fits the points best. A spread does not bring an efficiency above one.
    ///
    /// # Errors
    ///
    /// No point, or a number that no law can have.
    pub fn fitted(&self) -> Result<buck_fit::BuckFit, LawError> {
        let point = |p: &FitPoint| EfficiencyAt {
            load: p.load.get(),
            efficiency: p.efficiency.get().0.min(1.0),
            input: p.input.as_ref().unwrap_or(&self.input).get(),
            output: p.output.as_ref().unwrap_or(&self.output).get(),
        };
        let points: Vec<EfficiencyAt> = self.points.iter().map(point).collect();
        let (quiescent, knee) = (self.quiescent.as_ref(), self.skips_below.as_ref());
        buck_fit::fit(&points, quiescent.map(Valued::get), knee.map(Valued::get))
    }
}

impl Supply {
    /// True where the rail stands below the open-circuit voltage by what the resistance takes.
    pub fn is_followed(&self) -> bool {
        self.follows || !self.open_circuit.is_empty() || self.storage.is_some()
    }
}

impl Regulator {
    /// Every way it converts: the kinds of its modes and that under full load, which comes last.
    pub fn kinds(&self) -> impl Iterator<Item = &RegulatorKind> {
        self.modes.iter().map(|mode| &mode.kind).chain([&self.kind])
    }

    /// True at an operating point that it is used at: those named, or all when none is.
    pub fn in_use_at(&self, point: &str) -> bool {
        self.operating_points.is_empty() || self.operating_points.iter().any(|p| p == point)
    }
}
