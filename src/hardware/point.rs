//! An operating point with its names resolved.

use crate::evidence::Kind;
use crate::units::{Celsius, Hertz, Volts};

/// Frequencies and voltages at which a profile is run, and the states of what runs no network.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// Its name.
    pub name: String,
    /// Clock of each domain, and what the number rests on.
    pub clocks: Vec<(Hertz, Kind)>,
    /// Voltage of each rail, and what the number rests on.
    pub voltages: Vec<(Volts, Kind)>,
    /// Regulators in use.
    pub regulators: Vec<usize>,
    /// Set point of each memory that has one here.
    pub set_points: Vec<Option<String>>,
    /// State of each state load, by index.
    pub load_states: Vec<usize>,
    /// State of each domain that stays at rest, by index.
    pub asleep: Vec<Option<usize>>,
    /// Temperatures of the moment; nothing where all leaks as at the one that the profile states.
    pub heated: Option<Heated>,
}

/// Temperatures that leakage follows, and what they rest on; nothing of what leaks as at the temperature
/// that the profile states.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Heated {
    /// Of each domain.
    pub domains: Vec<Option<(Celsius, Kind)>>,
    /// Of each state load.
    pub loads: Vec<Option<(Celsius, Kind)>>,
}
