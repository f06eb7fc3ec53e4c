//! What a temperature sensor says of what it has followed to.
//!
//! `reading = resolution * round(T / resolution)`
//!
//! Symbols: `T` \[degC\] the temperature behind the sensor's lag (first order, stepped exactly with the
//! network by [`super::leaking_network`]), `resolution` \[K\] of its converter, 0.5 to 1 K on systems on
//! chip. It is read every sampling period; in between, who asks gets the last reading. Neglected: noise,
//! offset.

use crate::units::{Celsius, Kelvins};

/// How finely a sensor tells temperatures.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TemperatureReading {
    /// Step of its readings; zero for one that tells all.
    pub resolution: Kelvins,
}

impl TemperatureReading {
    /// What it says at a temperature: the nearest whole number of steps, from half a step on the next.
    pub fn of(&self, temperature: Celsius) -> Celsius {
        let step = self.resolution.0;
        if step > 0.0 { Celsius((temperature.0 / step).round() * step) } else { temperature }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readings_are_whole_steps_no_farther_than_half_of_one() {
        let half = TemperatureReading { resolution: Kelvins(0.5) };
        assert_eq!(half.of(Celsius(84.74)), Celsius(84.5));
        assert_eq!(half.of(Celsius(84.75)), Celsius(85.0));
        assert_eq!(half.of(Celsius(-10.2)), Celsius(-10.0));
        let exact = TemperatureReading { resolution: Kelvins(0.0) };
        assert_eq!(exact.of(Celsius(84.74)), Celsius(84.74));
    }
}
