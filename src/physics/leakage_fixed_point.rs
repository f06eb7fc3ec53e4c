//! The steady junction temperature when leakage heats the die that leaks.
//!
//! `T = T_a + theta (P_d + P_l exp(b_T (T - T0)))`, solved by
//! `T = T_a + theta P_d - W0(-a) / b_T`, `a = b_T theta P_l exp(b_T (T_a + theta P_d - T0))`
//!
//! Symbols: `T_a` \[degC\] ambient, `theta` \[K/W\] junction to ambient, `P_d` \[W\] power apart from
//! leakage, `P_l` \[W\] leakage at the rail's voltage and `T0` \[degC\], `b_T` \[1/K\] its growth,
//! `W0` the principal branch of the Lambert function. A steady temperature exists while `a <= 1/e`;
//! there the loop gain `b_T theta P_leak(T)` is at most 1, and beyond it heat comes faster than it
//! leaves (thermal runaway). At the limit `P_d = (ln(1 / (e b_T theta P_l)) / b_T + T0 - T_a) / theta`
//! and `T = T_a + theta P_d + 1 / b_T`. Source: the equation with `W e^W = x` put in (Corless et al.,
//! Adv. Comput. Math. 5, 1996). Valid for one junction at one temperature and where the exponential
//! holds. Neglected: the growth of `theta` and of the other power with temperature; that throttling
//! or damage sets in before.

use super::lambert::lambert_w0;
use super::leakage::Leakage;
use crate::units::{Celsius, KelvinsPerWatt, Volts, Watts};

/// A leaking junction and its way to ambient.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LeakageFixedPoint {
    /// Ambient temperature \[degC\].
    pub ambient: Celsius,
    /// Thermal resistance from junction to ambient \[K/W\].
    pub resistance: KelvinsPerWatt,
    /// Leakage with its growth.
    pub leakage: Leakage,
    /// Voltage of the leaking rail \[V\].
    pub voltage: Volts,
}

/// Where the temperature goes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SteadyTemperature {
    /// The junction settles.
    Settles(Celsius),
    /// Leakage heats the junction faster than heat leaves it, at any temperature.
    RunsAway,
}

impl LeakageFixedPoint {
    /// The steady junction temperature at a power apart from leakage.
    pub fn steady(&self, dynamic: Watts) -> SteadyTemperature {
        let growth = self.leakage.per_kelvin.0;
        let bare = self.ambient.0 + (self.resistance * dynamic).0;
        let from_bare = self.leakage.at(self.voltage, Celsius(bare));
        let leaked = (self.resistance * from_bare).0;
        let strength = growth * leaked;
        if strength == 0.0 {
            return SteadyTemperature::Settles(Celsius(bare + leaked));
        }
        match lambert_w0(-strength) {
            Some(w) => SteadyTemperature::Settles(Celsius(bare - w / growth)),
            None => SteadyTemperature::RunsAway,
        }
    }

    /// The largest power apart from leakage at which a steady temperature exists. Negative where
    /// leakage alone runs away; infinite for leakage that does not grow.
    pub fn largest_power(&self) -> Watts {
        let rise = self.rise_per_growth();
        if rise <= 0.0 {
            return Watts(f64::INFINITY);
        }
        let growth = self.leakage.per_kelvin.0;
        let reference = (self.leakage.temperature - self.ambient).0;
        Watts(((-1.0 - rise.ln()) / growth + reference) / self.resistance.0)
    }

    /// The steady temperature at the largest power: above it every temperature runs away. Infinite
    /// for leakage that does not grow.
    pub fn critical_temperature(&self) -> Celsius {
        let rise = self.rise_per_growth();
        if rise <= 0.0 {
            return Celsius(f64::INFINITY);
        }
        Celsius(self.leakage.temperature.0 - rise.ln() / self.leakage.per_kelvin.0)
    }

    /// Growth of the leakage's heating with temperature at a junction temperature \[1\]; steady
    /// temperatures have at most 1.
    pub fn loop_gain(&self, junction: Celsius) -> f64 {
        let leaked = self.resistance * self.leakage.at(self.voltage, junction);
        self.leakage.per_kelvin.0 * leaked.0
    }

    /// The loop gain at the leakage's own reference temperature.
    fn rise_per_growth(&self) -> f64 {
        self.loop_gain(self.leakage.temperature)
    }
}

/// The steady temperature of a junction that several leakages heat, each at the voltage of its rail.
///
/// With `f(T) = T_a + theta (P_d + sum P_i(T)) - T`, which is convex: Newton from below runs up to the
/// lower of its roots, or to where `f` no longer falls, and then there is none.
pub fn steady_of(
    ambient: Celsius,
    resistance: KelvinsPerWatt,
    dynamic: Watts,
    leakages: &[(Leakage, Volts)],
) -> SteadyTemperature {
    const ENOUGH: usize = 200;
    let mut junction = Celsius(ambient.0 + (resistance * dynamic).0);
    for _ in 0..ENOUGH {
        let leaked: Watts = leakages.iter().map(|(law, v)| law.at(*v, junction)).sum();
        let gain = leakages.iter().map(|(law, v)| law.per_kelvin.0 * law.at(*v, junction).0);
        let slope = resistance.0 * gain.sum::<f64>() - 1.0;
        let gap = ambient.0 + (resistance * (dynamic + leaked)).0 - junction.0;
        if gap.abs() < 1e-9 {
            return SteadyTemperature::Settles(junction);
        }
        let step = -gap / slope;
        if slope >= 0.0 || !step.is_finite() {
            return SteadyTemperature::RunsAway;
        }
        junction.0 += step;
    }
    SteadyTemperature::RunsAway
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::{PerKelvin, PerVolt};

    fn module(ambient: f64, resistance: f64, leakage: f64, growth: f64) -> LeakageFixedPoint {
        LeakageFixedPoint {
            ambient: Celsius(ambient),
            resistance: KelvinsPerWatt(resistance),
            leakage: Leakage {
                power: Watts(leakage),
                voltage: Volts(0.9),
                temperature: Celsius(50.0),
                per_volt: PerVolt(4.0),
                per_kelvin: PerKelvin(growth),
            },
            voltage: Volts(0.9),
        }
    }

    fn settled(law: &LeakageFixedPoint, power: f64) -> f64 {
        match law.steady(Watts(power)) {
            SteadyTemperature::Settles(temperature) => temperature.0,
            SteadyTemperature::RunsAway => panic!("{law:?} runs away at {power} W"),
        }
    }

    #[test]
    fn the_steady_temperature_carries_its_own_leakage() {
        let law = module(40.0, 2.2, 2.5, 0.017);
        let junction = settled(&law, 18.0);
        assert!((junction - 90.5602129677).abs() < 1e-9);
        let leakage = law.leakage.at(Volts(0.9), Celsius(junction)).0;
        assert!((junction - (40.0 + 2.2 * (18.0 + leakage))).abs() < 1e-11);
        assert!((law.loop_gain(Celsius(junction)) - 0.18632362).abs() < 1e-8);
    }

    #[test]
    fn several_leakages_settle_where_their_sum_would() {
        let law = module(40.0, 2.2, 2.5, 0.017);
        let half = Leakage { power: Watts(1.25), ..law.leakage };
        let both = [(half, Volts(0.9)), (half, Volts(0.9))];
        let steady = |power| steady_of(law.ambient, law.resistance, Watts(power), &both);
        let SteadyTemperature::Settles(junction) = steady(18.0) else { panic!() };
        assert!((junction.0 - settled(&law, 18.0)).abs() < 1e-8);
        assert!(matches!(steady(law.largest_power().0 * 0.999), SteadyTemperature::Settles(_)));
        assert_eq!(steady(law.largest_power().0 * 1.001), SteadyTemperature::RunsAway);
    }

    #[test]
    fn beyond_the_largest_power_the_junction_runs_away() {
        let law = module(40.0, 2.2, 2.5, 0.017);
        let limit = law.largest_power().0;
        assert!((limit - 41.1709583606).abs() < 1e-9);
        assert_eq!(law.steady(Watts(limit * 1.000_001)), SteadyTemperature::RunsAway);
        let critical = law.critical_temperature().0;
        assert!((critical - 189.399637805).abs() < 1e-9);
        assert!((settled(&law, limit * (1.0 - 1e-12)) - critical).abs() < 1e-3);
        assert!((law.loop_gain(Celsius(critical)) - 1.0).abs() < 1e-12);
        assert_eq!(law.steady(Watts(1e300)), SteadyTemperature::RunsAway);
    }

    #[test]
    fn leakage_that_does_not_grow_never_runs_away() {
        let constant = module(40.0, 2.2, 2.5, 0.0);
        assert!((settled(&constant, 18.0) - (40.0 + 2.2 * 20.5)).abs() < 1e-12);
        assert_eq!(constant.largest_power(), Watts(f64::INFINITY));
        let off = LeakageFixedPoint { voltage: Volts(0.0), ..module(40.0, 2.2, 2.5, 0.017) };
        assert!((settled(&off, 18.0) - 79.6).abs() < 1e-12);
        let falling = module(40.0, 2.2, 2.5, -0.01);
        let junction = settled(&falling, 18.0);
        let leakage = falling.leakage.at(Volts(0.9), Celsius(junction)).0;
        assert!((junction - (40.0 + 2.2 * (18.0 + leakage))).abs() < 1e-11);
    }

    #[test]
    fn leakage_alone_can_run_away() {
        let law = module(120.0, 8.0, 3.0, 0.025);
        assert!(law.largest_power().0 < 0.0);
        assert_eq!(law.steady(Watts(0.0)), SteadyTemperature::RunsAway);
    }
}
