//! The temperature at which hardware turns itself off.
//!
//! `T >= T_critical`: shutdown. No hysteresis and no polling: a comparator in hardware acts at once, and
//! what it has turned off stays off. Set above every other trip; on edge modules 97 to 105 degC.

use crate::units::Celsius;

/// A hard limit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CriticalTrip {
    /// Temperature of the shutdown \[degC\].
    pub temperature: Celsius,
}

impl CriticalTrip {
    /// True where it turns the system off.
    pub fn is_reached(&self, temperature: Celsius) -> bool {
        temperature >= self.temperature
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_acts_at_its_temperature_and_above() {
        let trip = CriticalTrip { temperature: Celsius(105.0) };
        assert!(!trip.is_reached(Celsius(104.999)));
        assert!(trip.is_reached(Celsius(105.0)) && trip.is_reached(Celsius(300.0)));
    }
}
