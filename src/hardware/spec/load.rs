//! State loads: blocks that run no network and draw power by state.

use super::domain::LeakageSpec;
use crate::evidence::{Condition, Valued, described};
use crate::units::{Ratio, Volts, Watts};

described! {
    /// A block that runs no network (modem, display, image pipeline, PLL, IO, sensors): what it draws
    /// depends on its state alone.
    pub struct StateLoad {
        /// Its name.
        pub name: String,
        /// The rail that feeds it.
        pub rail: String,
        /// Exponent of dynamic power over voltage; 2 when left out, 0 for IO and radio at their own
        /// supply.
        #[serde(default)]
        pub voltage_exponent: Option<Valued<Ratio>>,
        /// True for what heats another package (a display, a radio).
        #[serde(default)]
        pub off_chip: bool,
        /// Its states.
        pub states: Vec<LoadState>,
        /// The state it is in unless an operating point or the user names another; the first when left
        /// out.
        #[serde(default)]
        pub initial: Option<String>,
    }
}

described! {
    /// A state of a block.
    pub struct LoadState {
        /// Its name.
        pub name: String,
        /// The voltage that its powers are stated at.
        pub voltage: Condition<Volts>,
        /// Switching power in this state.
        pub dynamic: Valued<Watts>,
        /// Leakage in this state, as a power that stays, or with its growth over voltage and
        /// temperature.
        #[serde(default)]
        pub leakage: Option<LoadLeakage>,
    }
}

/// Leakage of a block in a state.
#[derive(Debug, Clone, serde::Deserialize)]
pub enum LoadLeakage {
    /// A power at the stated voltage, in proportion to the voltage elsewhere; nothing is known of its
    /// growth with temperature.
    Constant(Valued<Watts>),
    /// With its growth.
    Growing(Box<LeakageSpec>),
}

use crate::evidence::{FieldPath, Parameter, Parameters};
super::precision::either_parameter!(LoadLeakage: Constant, Growing);
