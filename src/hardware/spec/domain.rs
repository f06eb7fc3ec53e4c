//! Power domains: what shares a rail, a clock and a power switch.

use super::precision::either_parameter;
use crate::evidence::{Condition, FieldPath, Kind, Parameter, Parameters, Valued, described};
use crate::units::{
    Amperes, Celsius, Coulombs, Farads, Joules, JoulesPerCycle, Ohms, PerKelvin, PerVolt, Quantity,
    Ratio, Seconds, Volts, Watts,
};
use serde::Deserialize;
use std::collections::BTreeMap;

described! {
    /// A power domain: what shares a rail, a clock and a power switch.
    pub struct Domain {
        /// Its name.
        pub name: String,
        /// The rail that feeds it.
        pub rail: String,
        /// The clock that drives it.
        pub clock: String,
        /// Voltage at which its dynamic costs, and those of what is in it, are stated.
        pub nominal_voltage: Condition<Volts>,
        /// Exponent of dynamic energy over voltage; 2 when left out.
        #[serde(default)]
        pub voltage_exponent: Option<Valued<Ratio>>,
        /// Cost of a cycle of the running clock while the domain is on, whatever the engines do.
        #[serde(default)]
        pub clock_tree: Option<PerCycle>,
        /// Leakage while powered.
        #[serde(default)]
        pub leakage: Option<LeakageSpec>,
        /// Resistance of its power grid and switch, between the rail and it: what it takes stands in the
        /// loss of its grid.
        #[serde(default)]
        pub ir_drop: Option<Valued<Ohms>>,
        /// Capacitance behind its power switch (the domain itself and its decoupling), which is charged
        /// anew after a state that cuts its power: states with a `ramp_time`.
        #[serde(default)]
        pub capacitance: Option<Valued<Farads>>,
        /// States with less power than on, for idle times; the first is the one used.
        #[serde(default)]
        pub states: Vec<DomainState>,
        /// True for what heats another package (a DRAM, a sensor).
        #[serde(default)]
        pub off_chip: bool,
    }
}

described! {
    /// A state of a domain that is not at work. Its power replaces clock tree, leakage and the
    /// background of the domain's memories; the shares say how much of the first two is left.
    pub struct DomainState {
        /// Its name.
        pub name: String,
        /// What a cycle of a clock that goes on costs.
        #[serde(default)]
        pub per_cycle: Option<PerCycle>,
        /// What is drawn whatever the clock does.
        #[serde(default)]
        pub standing: Option<Standing>,
        /// Share of the running clock tree that is left (clock gated at the leaves).
        #[serde(default)]
        pub clock_share: Option<Valued<Ratio>>,
        /// Share of the leakage that is left: all while clock gated, 5 to 30 % in retention, 1 to 5 %
        /// behind a power switch.
        #[serde(default)]
        pub leakage_share: Option<Valued<Ratio>>,
        /// States of memories meanwhile, by memory (`lpddr: "self_refresh"`). Of a memory that is not
        /// named, nothing is left.
        #[serde(default)]
        pub memories: BTreeMap<String, String>,
        /// Voltage that is enough for what is kept, where it is less than that at work.
        #[serde(default)]
        pub voltage: Option<Valued<Volts>>,
        /// Memories of the domain whose contents are lost in it. Weights that live there are loaded anew
        /// on waking, from the memory's `reloaded_from`.
        #[serde(default)]
        pub loses: Vec<String>,
        /// Time to go into it (saving registers, draining queues, writing back dirty lines), at working
        /// power; it is not broken off.
        #[serde(default)]
        pub entry_time: Option<Valued<Seconds>>,
        /// Energy of going into it, beyond the working power during the entry time.
        #[serde(default)]
        pub entry_energy: Option<Valued<Joules>>,
        /// Of a state that cuts the domain's power: time of the ramp in which its capacitance is charged
        /// again, at constant current. A part of the wake time, which is at least as long.
        #[serde(default)]
        pub ramp_time: Option<Valued<Seconds>>,
        /// Time to be at work again.
        #[serde(default)]
        pub wake_time: Option<Valued<Seconds>>,
        /// Energy of coming back, beyond the on power during the wake time.
        #[serde(default)]
        pub wake_energy: Option<Valued<Joules>>,
    }
}

described! {
    /// Leakage at a reference point, with its growth.
    pub struct LeakageSpec {
        /// Power at the nominal voltage and the temperature below.
        pub power: Valued<Watts>,
        /// The temperature it is stated for.
        pub temperature: Condition<Celsius>,
        /// Growth with voltage.
        pub per_volt: Valued<PerVolt>,
        /// Growth with temperature.
        pub per_kelvin: Valued<PerKelvin>,
    }
}

/// A cost by clock cycle, as an energy or as a current per clock at the nominal voltage.
#[derive(Debug, Clone, Deserialize)]
pub enum PerCycle {
    /// Energy (`130 uW/MHz`).
    Energy(Valued<JoulesPerCycle>),
    /// Charge (`105 uA/MHz`).
    Charge(Valued<Coulombs>),
}

/// A constant draw, as a power or as a current.
#[derive(Debug, Clone, Deserialize)]
pub enum Standing {
    /// Power.
    Power(Valued<Watts>),
    /// Current, whatever the voltage.
    Current(Valued<Amperes>),
}

either_parameter!(PerCycle: Energy, Charge);
either_parameter!(Standing: Power, Current);

impl PerCycle {
    /// The evidence it rests on.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Energy(v) => v.kind(),
            Self::Charge(v) => v.kind(),
        }
    }

    /// Energy of a cycle at the nominal voltage.
    pub fn energy_at_nominal(&self, nominal: Volts) -> Joules {
        match self {
            Self::Energy(v) => Joules(v.get().si()),
            Self::Charge(v) => nominal * v.get(),
        }
    }
}

impl Standing {
    /// The evidence it rests on.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Power(v) => v.kind(),
            Self::Current(v) => v.kind(),
        }
    }

    /// Power at a voltage.
    pub fn at(&self, voltage: Volts) -> Watts {
        match self {
            Self::Power(v) => v.get(),
            Self::Current(v) => voltage * v.get(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn current_per_clock_is_a_charge_per_cycle() {
        // 105 uA/MHz at 120 MHz is 12.6 mA; at 1.28 V that is 16.128 mW, or 134.4 pJ a cycle.
        let cycle: PerCycle = ron::from_str("Charge(\"105 uA/MHz\")").unwrap();
        assert!((cycle.energy_at_nominal(Volts(1.28)).0 - 134.4e-12).abs() < 1e-18);
    }
}
