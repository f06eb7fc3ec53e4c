//! Newtypes over `f64` in SI, and the products between them that physics allows.

use super::Dimension;
use serde::{Deserialize, Serialize};
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub};

/// A physical quantity with a fixed dimension, held in SI.
pub trait Quantity: Copy + std::fmt::Debug + PartialOrd + 'static {
    /// What it is, in words (`voltage`), for messages.
    const NAME: &'static str;
    /// The SI unit as printed (`V`).
    const UNIT: &'static str;
    /// What it is, with its article (`a voltage`, `an energy`).
    fn with_article() -> String {
        let article = if Self::NAME.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
        format!("{article} {}", Self::NAME)
    }
    /// A correct literal, for messages (`1.28 V`).
    const EXAMPLE: &'static str;
    /// The dimension a literal must have.
    const DIMENSION: Dimension;
    /// True when zero is an arbitrary point or the sign is free (temperatures, offsets), so that a
    /// spread is a normal in the quantity itself and not in its logarithm.
    const SIGNED: bool = false;
    /// Wraps a value in SI.
    fn from_si(value: f64) -> Self;
    /// The value in SI.
    fn si(self) -> f64;
}

macro_rules! quantity {
    ($(#[$doc:meta])* $name:ident, $what:literal, $unit:literal, $example:literal, $dimension:expr $(, $signed:literal)?) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Default, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub f64);

        impl Quantity for $name {
            const NAME: &'static str = $what;
            const UNIT: &'static str = $unit;
            const EXAMPLE: &'static str = $example;
            const DIMENSION: Dimension = $dimension;
            $(const SIGNED: bool = $signed;)?
            #[inline]
            fn from_si(value: f64) -> Self { Self(value) }
            #[inline]
            fn si(self) -> f64 { self.0 }
        }
        impl $name {
            /// Zero of this quantity.
            pub const ZERO: Self = Self(0.0);
            /// The larger of two.
            #[inline]
            pub fn max(self, other: Self) -> Self { Self(self.0.max(other.0)) }
            /// The smaller of two.
            #[inline]
            pub fn min(self, other: Self) -> Self { Self(self.0.min(other.0)) }
        }
        impl Add for $name { type Output = Self; #[inline] fn add(self, o: Self) -> Self { Self(self.0 + o.0) } }
        impl Sub for $name { type Output = Self; #[inline] fn sub(self, o: Self) -> Self { Self(self.0 - o.0) } }
        impl Neg for $name { type Output = Self; #[inline] fn neg(self) -> Self { Self(-self.0) } }
        impl AddAssign for $name { #[inline] fn add_assign(&mut self, o: Self) { self.0 += o.0 } }
        impl Mul<f64> for $name { type Output = Self; #[inline] fn mul(self, k: f64) -> Self { Self(self.0 * k) } }
        impl Div<f64> for $name { type Output = Self; #[inline] fn div(self, k: f64) -> Self { Self(self.0 / k) } }
        impl Div for $name { type Output = f64; #[inline] fn div(self, o: Self) -> f64 { self.0 / o.0 } }
        impl std::iter::Sum for $name { #[inline] fn sum<I: Iterator<Item = Self>>(i: I) -> Self { i.fold(Self(0.0), |a, b| a + b) } }
        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(&engineering(self.0, $unit))
            }
        }
    };
}

const NONE: Dimension = Dimension::NONE;
const SECOND: Dimension = Dimension { second: 1, ..NONE };
const PER_SECOND: Dimension = Dimension { second: -1, ..NONE };
const JOULE: Dimension = Dimension { joule: 1, ..NONE };
const VOLT: Dimension = Dimension { volt: 1, ..NONE };
const KELVIN: Dimension = Dimension { kelvin: 1, ..NONE };
const BYTE: Dimension = Dimension { byte: 1, ..NONE };

quantity!(/** A duration \[s\]. */ Seconds, "duration", "s", "5 us", SECOND);
quantity!(/** A frequency \[Hz\]. */ Hertz, "frequency", "Hz", "120 MHz", PER_SECOND);
quantity!(/** An electric potential \[V\]. */ Volts, "voltage", "V", "1.28 V", VOLT);
quantity!(/** A current \[A\]. */ Amperes, "current", "A", "13 mA", Dimension { second: -1, joule: 1, volt: -1, ..NONE });
quantity!(/** A rise of current \[A/s\]. */ AmperesPerSecond, "rise of current", "A/s", "1 A/us", Dimension { second: -2, joule: 1, volt: -1, ..NONE });
quantity!(/** A rise of voltage \[V/s\]. */ VoltsPerSecond, "rise of voltage", "V/s", "12.5 mV/us", Dimension { second: -1, ..VOLT });
quantity!(/** A power \[W\]; drawn is positive, delivered negative. */ Watts, "power", "W", "40 mW", Dimension { second: -1, joule: 1, ..NONE });
quantity!(/** An energy \[J\]. */ Joules, "energy", "J", "30 nJ", JOULE);
quantity!(/** A charge \[C\]; as a cost per clock cycle it is written `uA/MHz`. */ Coulombs, "charge (current per clock)", "C", "105 uA/MHz", Dimension { joule: 1, volt: -1, ..NONE });
quantity!(/** A resistance \[ohm\]. */ Ohms, "resistance", "Ω", "50 mOhm", Dimension { second: 1, joule: -1, volt: 2, ..NONE });
quantity!(/** A capacitance \[F\]. */ Farads, "capacitance", "F", "100 uF", Dimension { joule: 1, volt: -2, ..NONE });
quantity!(/** A temperature on the Celsius scale \[degC\]. */ Celsius, "temperature", "°C", "25 degC", Dimension { celsius_scale: true, ..KELVIN }, true);
quantity!(/** A temperature difference \[K\]. */ Kelvins, "temperature difference", "K", "10 K", KELVIN, true);
quantity!(/** An amount of memory or traffic \[B\]. */ Bytes, "memory size", "B", "640 KiB", BYTE);
quantity!(/** A memory bandwidth \[B/s\]. */ BytesPerSecond, "bandwidth", "B/s", "480 MB/s", Dimension { second: -1, ..BYTE });
quantity!(/** A memory bandwidth tied to a clock \[B/cycle\]. */ BytesPerCycle, "bandwidth per clock cycle", "B/cycle", "4 B/cycle", Dimension { cycle: -1, ..BYTE });
quantity!(/** Operand traffic of one multiply-accumulate \[B/MAC\]. */ BytesPerMac, "traffic per MAC", "B/MAC", "8 B/MAC", Dimension { mac: -1, ..BYTE });
quantity!(/** Energy of one multiply-accumulate \[J/MAC\]. */ JoulesPerMac, "energy per MAC", "J/MAC", "0.23 pJ", Dimension { mac: -1, ..JOULE });
quantity!(/** Energy of one element operation \[J/op\]. */ JoulesPerOperation, "energy per operation", "J/op", "0.1 pJ", Dimension { operation: -1, ..JOULE });
quantity!(/** Energy of moving one byte \[J/B\]. */ JoulesPerByte, "energy per byte", "J/B", "5 pJ/B", Dimension { byte: -1, ..JOULE });
quantity!(/** Energy of one clock cycle \[J/cycle\]; also written `uW/MHz`. */ JoulesPerCycle, "energy per clock cycle", "J/cycle", "130 uW/MHz", Dimension { cycle: -1, ..JOULE });
quantity!(/** A compute rate tied to a clock \[MAC/cycle\]. */ MacsPerCycle, "MACs per cycle", "MAC/cycle", "1 MAC/cycle", Dimension { mac: 1, cycle: -1, ..NONE });
quantity!(/** A rate of element operations or results tied to a clock \[op/cycle\]. */ OperationsPerCycle, "operations per cycle", "op/cycle", "4 op/cycle", Dimension { operation: 1, cycle: -1, ..NONE });
quantity!(/** A compute rate \[MAC/s\]. */ MacsPerSecond, "MACs per second", "MAC/s", "1 GMAC/s", Dimension { mac: 1, ..PER_SECOND });
quantity!(/** Operational intensity in multiply-accumulates \[MAC/B\]. */ MacsPerByte, "MACs per byte", "MAC/B", "10 MAC/B", Dimension { mac: 1, byte: -1, ..NONE });
quantity!(/** Multiply-accumulates that an energy is enough for \[MAC/J\]. */ MacsPerJoule, "MACs per joule", "MAC/J", "1 GMAC/J", Dimension { mac: 1, joule: -1, ..NONE });
quantity!(/** A rate of element operations \[op/s\]. */ OperationsPerSecond, "operations per second", "op/s", "1 Gop/s", Dimension { operation: 1, ..PER_SECOND });
quantity!(/** Operational intensity in element operations \[op/B\]. */ OperationsPerByte, "operations per byte", "op/B", "1 op/B", Dimension { operation: 1, byte: -1, ..NONE });
quantity!(/** Element operations that an energy is enough for \[op/J\]. */ OperationsPerJoule, "operations per joule", "op/J", "1 Gop/J", Dimension { operation: 1, joule: -1, ..NONE });
quantity!(/** A software cost \[cycle/MAC\]. */ CyclesPerMac, "cycles per MAC", "cycle/MAC", "1.8 cycle/MAC", Dimension { mac: -1, cycle: 1, ..NONE });
quantity!(/** A software cost \[cycle/element\]. */ CyclesPerElement, "cycles per element", "cycle/element", "15 cycle/element", Dimension { element: -1, cycle: 1, ..NONE });
quantity!(/** A software cost \[cycle/op\]. */ CyclesPerOperation, "cycles per operation", "cycle/op", "4 cycle/op", Dimension { operation: -1, cycle: 1, ..NONE });
quantity!(/** A number of clock cycles. */ Cycles, "number of cycles", "cycle", "500 cycle", Dimension { cycle: 1, ..NONE });
quantity!(/** A pure ratio. */ Ratio, "ratio", "", "88 %", NONE);
quantity!(/** A relative error, of either sign. */ RelativeError, "relative error", "", "-3.5 %", NONE, true);
quantity!(/** Growth with temperature \[1/K\]. */ PerKelvin, "rate per kelvin", "1/K", "0.035 1/K", Dimension { kelvin: -1, ..NONE });
quantity!(/** A thermal resistance \[K/W\]. */ KelvinsPerWatt, "thermal resistance", "K/W", "45 K/W", Dimension { second: 1, joule: -1, ..KELVIN });
quantity!(/** A heat capacity \[J/K\]. */ JoulesPerKelvin, "heat capacity", "J/K", "0.9 J/K", Dimension { kelvin: -1, ..JOULE });
quantity!(/** A gain of power over temperature \[W/K\]. */ WattsPerKelvin, "power per kelvin", "W/K", "0.5 W/K", Dimension { second: -1, joule: 1, kelvin: -1, ..NONE });
quantity!(/** Growth with voltage \[1/V\]. */ PerVolt, "rate per volt", "1/V", "4 1/V", Dimension { volt: -1, ..NONE });
quantity!(/** Energy-delay product \[J s\]. */ JouleSeconds, "energy-delay product", "J s", "1 mJ s", Dimension { second: 1, ..JOULE });
quantity!(/** Energy times the square of the delay \[J s^2\]. */ JouleSecondsSquared, "energy-delay-squared product", "J s^2", "1 uJ s^2", Dimension { second: 2, ..JOULE });

macro_rules! product {
    ($a:ident * $b:ident = $c:ident) => {
        impl Mul<$b> for $a {
            type Output = $c;
            #[inline]
            fn mul(self, o: $b) -> $c {
                $c(self.0 * o.0)
            }
        }
        impl Mul<$a> for $b {
            type Output = $c;
            #[inline]
            fn mul(self, o: $a) -> $c {
                $c(self.0 * o.0)
            }
        }
        impl Div<$a> for $c {
            type Output = $b;
            #[inline]
            fn div(self, o: $a) -> $b {
                $b(self.0 / o.0)
            }
        }
        impl Div<$b> for $c {
            type Output = $a;
            #[inline]
            fn div(self, o: $b) -> $a {
                $a(self.0 / o.0)
            }
        }
    };
}

product!(Volts * Amperes = Watts);
product!(Watts * Seconds = Joules);
product!(Volts * Coulombs = Joules);
product!(Amperes * Seconds = Coulombs);
product!(AmperesPerSecond * Seconds = Amperes);
product!(VoltsPerSecond * Seconds = Volts);
product!(Ohms * Amperes = Volts);
product!(Farads * Volts = Coulombs);
product!(Ohms * Farads = Seconds);
product!(Joules * Seconds = JouleSeconds);
product!(JouleSeconds * Seconds = JouleSecondsSquared);
product!(BytesPerSecond * Seconds = Bytes);
product!(JoulesPerByte * Bytes = Joules);
product!(JoulesPerCycle * Hertz = Watts);
product!(JoulesPerCycle * Cycles = Joules);
product!(BytesPerCycle * Hertz = BytesPerSecond);
product!(Hertz * Seconds = Cycles);
product!(MacsPerCycle * Hertz = MacsPerSecond);
product!(MacsPerByte * BytesPerSecond = MacsPerSecond);
product!(OperationsPerCycle * Hertz = OperationsPerSecond);
product!(OperationsPerByte * BytesPerSecond = OperationsPerSecond);
product!(KelvinsPerWatt * Watts = Kelvins);
product!(JoulesPerKelvin * Kelvins = Joules);
product!(KelvinsPerWatt * JoulesPerKelvin = Seconds);

impl JoulesPerMac {
    /// Energy of `count` multiply-accumulates.
    pub fn times(self, count: u64) -> Joules {
        Joules(self.0 * count as f64)
    }
}

impl JoulesPerOperation {
    /// Energy of `count` element operations.
    pub fn times(self, count: u64) -> Joules {
        Joules(self.0 * count as f64)
    }
}

/// A value with an SI prefix and four significant digits: `engineering(0.0408, "W")` is
/// `40.80 mW`. Byte counts take binary prefixes, pure numbers none.
pub fn engineering(value: f64, unit: &str) -> String {
    if unit == "B" {
        return binary_prefix(value);
    }
    if value == 0.0 || !value.is_finite() || unit.is_empty() {
        return format!("{} {unit}", significant(value)).trim_end().to_owned();
    }
    const PREFIXES: [&str; 11] = ["f", "p", "n", "µ", "m", "", "k", "M", "G", "T", "P"];
    let mut exponent = (value.abs().log10() / 3.0).floor().clamp(-5.0, 5.0) as i32;
    // 999.96 would print as "1000": it belongs to the next prefix.
    if (value / 1000f64.powi(exponent)).abs() >= 999.95 && exponent < 5 {
        exponent += 1;
    }
    let scaled = value / 1000f64.powi(exponent);
    let prefix = PREFIXES.get((exponent + 5) as usize).copied().unwrap_or("");
    format!("{} {prefix}{unit}", significant(scaled))
}

fn binary_prefix(value: f64) -> String {
    let mut scaled = value;
    for prefix in ["B", "KiB", "MiB", "GiB"] {
        if scaled.abs() < 1024.0 {
            return if prefix == "B" {
                format!("{scaled:.0} B")
            } else {
                format!("{} {prefix}", significant(scaled))
            };
        }
        scaled /= 1024.0;
    }
    format!("{} TiB", significant(scaled))
}

fn significant(value: f64) -> String {
    if !value.is_finite() {
        return format!("{value}");
    }
    if value == 0.0 {
        return "0".to_owned();
    }
    // The exponent after rounding to four digits: 0.99999 is 1.000.
    let rounded = format!("{value:.3e}");
    let magnitude: i32 = rounded.split_once('e').and_then(|(_, e)| e.parse().ok()).unwrap_or(0);
    let decimals = (3 - magnitude).clamp(0, 6) as usize;
    format!("{value:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_carry_their_units() {
        let power: Watts = Volts(1.8) * Amperes(0.01);
        let energy: Joules = power * Seconds(2.0);
        assert!((energy.0 - 0.036).abs() < 1e-15);
        let charge: Coulombs = energy / Volts(1.8);
        assert!((charge.0 - 0.02).abs() < 1e-15);
    }

    #[test]
    fn printing_picks_the_prefix_a_person_would() {
        assert_eq!(engineering(0.0408412, "W"), "40.84 mW");
        assert_eq!(engineering(7.3737e-3, "J"), "7.374 mJ");
        assert_eq!(engineering(0.99999, "V"), "1.000 V");
        assert_eq!(engineering(0.0, "W"), "0 W");
        assert_eq!(engineering(655_360.0, "B"), "640.0 KiB");
        assert_eq!(engineering(-2.5e-12, "J"), "-2.500 pJ");
    }
}
