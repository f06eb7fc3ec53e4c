//! Adaptive voltage: what a die needs for a frequency that its table states for the slowest dies.
//!
//! `f ~ (V - V_t)^a / V`; `s g(V) = g(V_table)` with `g(V) = (V - V_t)^a / V`
//!
//! Symbols: `V` \[V\] supply, `V_t` \[V\] threshold, `a` \[1\] exponent, 2 for long channels and 1.2 to 1.5
//! where velocity saturates; `s` \[1\] how much faster the critical paths of this die are than those that
//! the table was made for, at equal voltage. Source: the alpha-power law, T. Sakurai and A. Newton, IEEE
//! Journal of Solid-State Circuits 25, 1990. Valid above the threshold, at one temperature; a floor keeps
//! memories above their retention and noise limits. Silicon bins of one chip differ by some 60 mV (Allwinner
//! H6). Neglected: ageing, how threshold and mobility change with temperature, error of the monitor beyond
//! what the margin allows for.

use super::law_error::{LawError, not_negative, positive};
use crate::units::{Ratio, Volts};

/// What a loop that sets the voltage knows of its die.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AdaptiveVoltage {
    threshold: Volts,
    exponent: f64,
    speed: Ratio,
    margin: Volts,
    floor: Volts,
}

impl AdaptiveVoltage {
    /// A die of threshold voltage and exponent whose paths are `speed` times as fast as those of the table,
    /// under a loop that stays `margin` above what they need, and never below `floor`.
    ///
    /// # Errors
    ///
    /// A value that is negative or not finite, an exponent below one, dies slower than the table's.
    pub fn new(
        (threshold, exponent): (Volts, f64),
        speed: Ratio,
        margin: Volts,
        floor: Volts,
    ) -> Result<Self, LawError> {
        positive("threshold voltage", 1, threshold.0)?;
        not_negative("margin", 1, margin.0)?;
        not_negative("floor", 1, floor.0)?;
        for (what, value) in [("exponent of the alpha-power law", exponent), ("speed", speed.0)] {
            if !(value.is_finite() && value >= 1.0) {
                let range = "finite and at least one";
                return Err(LawError::OutOfRange { what, entry: 1, value, range });
            }
        }
        Ok(Self { threshold, exponent, speed, margin, floor })
    }

    /// The voltage for a point whose table states `table`, never above that.
    ///
    /// # Errors
    ///
    /// A voltage of the table that is not above the threshold.
    pub fn voltage(&self, table: Volts) -> Result<Volts, LawError> {
        if !(table.0.is_finite() && table > self.threshold) {
            let (what, value) = ("voltage of the table", table.0);
            let range = "finite and above the threshold";
            return Err(LawError::OutOfRange { what, entry: 1, value, range });
        }
        Ok((self.least(table) + self.margin).max(self.floor).min(table))
    }

    /// Dynamic energy of a cycle against that at the voltage of the table.
    ///
    /// # Errors
    ///
    /// As [`Self::voltage`].
    pub fn energy_share(&self, table: Volts) -> Result<Ratio, LawError> {
        let share = self.voltage(table)? / table;
        Ok(Ratio(share * share))
    }

    /// What the paths need, between the threshold and the voltage of the table: speed rises with voltage, so
    /// halving finds it.
    fn least(&self, table: Volts) -> Volts {
        let speed = |volts: f64| (volts - self.threshold.0).powf(self.exponent) / volts;
        let needed = speed(table.0) / self.speed.0;
        let (mut low, mut high) = (self.threshold.0, table.0);
        loop {
            let middle = low + (high - low) / 2.0;
            if middle <= low || middle >= high {
                return Volts(high);
            }
            *(if speed(middle) < needed { &mut low } else { &mut high }) = middle;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn law(exponent: f64, speed: f64) -> AdaptiveVoltage {
        let paths = (Volts(0.35), exponent);
        AdaptiveVoltage::new(paths, Ratio(speed), Volts::ZERO, Volts::ZERO).unwrap()
    }

    /// With a = 1, V = V_t / (1 - (1 - V_t / V_0) / s); with a = 2, k = (V_0 - V_t)^2 / (s V_0) and
    /// V = V_t + k/2 + sqrt(k V_t + k^2/4).
    #[test]
    fn closed_forms_of_whole_exponents() {
        let (threshold, table, speed) = (0.35, 1.0, 1.2);
        let one = law(1.0, speed).voltage(Volts(table)).unwrap();
        assert!((one.0 - threshold / (1.0 - (1.0 - threshold / table) / speed)).abs() < 1e-12);
        let two = law(2.0, speed).voltage(Volts(table)).unwrap();
        let k = (table - threshold) * (table - threshold) / (speed * table);
        assert!((two.0 - threshold - k / 2.0 - (k * threshold + k * k / 4.0).sqrt()).abs() < 1e-12);
    }

    #[test]
    fn a_die_like_those_of_the_table_gains_nothing() {
        assert_eq!(law(1.3, 1.0).voltage(Volts(0.9)), Ok(Volts(0.9)));
        assert_eq!(law(1.3, 1.0).energy_share(Volts(0.9)), Ok(Ratio(1.0)));
    }

    #[test]
    fn margin_and_floor_hold() {
        let with = |margin, floor| {
            let paths = (Volts(0.35), 1.3);
            let law = AdaptiveVoltage::new(paths, Ratio(1.1), Volts(margin), Volts(floor)).unwrap();
            law.voltage(Volts(0.9)).unwrap().0
        };
        assert!((with(0.02, 0.0) - with(0.0, 0.0) - 0.02).abs() < 1e-12);
        assert_eq!(with(0.0, 0.88), 0.88);
        assert_eq!(with(0.5, 0.0), 0.9, "never above the table");
    }

    #[test]
    fn what_makes_no_law_is_refused() {
        let new = |threshold, exponent, speed| {
            let paths = (Volts(threshold), exponent);
            AdaptiveVoltage::new(paths, Ratio(speed), Volts::ZERO, Volts::ZERO)
        };
        assert!(new(0.0, 1.3, 1.1).is_err() && new(0.35, 0.9, 1.1).is_err());
        assert!(new(0.35, 1.3, 0.99).is_err() && new(0.35, 1.3, f64::NAN).is_err());
        assert!(law(1.3, 1.1).voltage(Volts(0.35)).is_err());
        assert!(law(1.3, 1.1).voltage(Volts(f64::NAN)).is_err());
    }

    proptest! {
        #[test]
        fn the_paths_are_just_as_fast_as_they_have_to_be(
            exponent in 1.0f64..2.0, speed in 1.0f64..1.5, table in 0.5f64..1.3,
        ) {
            let volts = law(exponent, speed).voltage(Volts(table)).unwrap().0;
            let g = |volts: f64| (volts - 0.35).powf(exponent) / volts;
            prop_assert!((speed * g(volts) / g(table) - 1.0).abs() < 1e-9);
            prop_assert!(volts > 0.35 && volts <= table);
        }
    }
}
