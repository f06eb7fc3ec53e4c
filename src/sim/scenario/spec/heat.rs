//! Heat, as it stands in the file.

use super::variant_parameters;
use crate::evidence::{Condition, FieldPath, Parameter, Parameters, described};
use crate::units::Celsius;
use serde::Deserialize;

/// Whether leakage follows the heat that a run makes.
#[derive(Debug, Clone, Default, Deserialize)]
pub enum HeatSpec {
    /// It does not: all leaks as at the temperature that the profile states.
    #[default]
    Fixed,
    /// It does, through the package of the profile.
    Coupled(Box<CoupledSpec>),
}

variant_parameters!(HeatSpec: Coupled);

described! {
    /// The surroundings of a package in a run.
    pub struct CoupledSpec {
        /// Temperature of the air; that of the package when left out.
        #[serde(default)]
        pub ambient: Option<Condition<Celsius>>,
        /// How warm the package is at the start.
        #[serde(default)]
        pub start: HeatStartSpec,
    }
}

/// How warm a package is at the start.
#[derive(Debug, Clone, Default, Deserialize)]
pub enum HeatStartSpec {
    /// As the air.
    #[default]
    Ambient,
    /// As it settles while nothing is asked for.
    Settled,
    /// All of it at a temperature.
    At(Condition<Celsius>),
}

variant_parameters!(HeatStartSpec: At);
