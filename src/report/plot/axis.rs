//! Ticks at round values, with an SI prefix that keeps them short.

/// An axis from `low` to `high` in SI.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Axis {
    pub low: f64,
    pub high: f64,
    /// Position in SI and label of each tick.
    pub ticks: Vec<(f64, String)>,
    /// The unit with its prefix.
    pub unit: String,
}

const PREFIXES: [&str; 11] = ["f", "p", "n", "µ", "m", "", "k", "M", "G", "T", "P"];

impl Axis {
    /// Ticks of about `wanted` steps within the limits.
    pub(super) fn within(low: f64, high: f64, wanted: usize, unit: &str) -> Self {
        Self::stepped(low, high, round_step((high - low) / wanted.max(1) as f64), unit)
    }

    /// The same with the limits moved outwards to ticks.
    pub(super) fn around(low: f64, high: f64, wanted: usize, unit: &str) -> Self {
        let step = round_step((high - low) / wanted.max(1) as f64);
        let low = (low / step + 1e-9).floor() * step;
        let high = (high / step - 1e-9).ceil() * step;
        Self::stepped(low, high, step, unit)
    }

    /// From zero to a tick at or above `high` bytes, in about `wanted` steps, with a binary prefix.
    pub(super) fn bytes(high: f64, wanted: usize) -> Self {
        let high = high.max(1.0);
        let exponent = (high.log2() / 10.0 + 1e-12).floor().clamp(0.0, 4.0) as usize;
        let scale = 1024f64.powi(exponent as i32);
        // There are no parts of bytes.
        let least = if exponent == 0 { 1.0 } else { 0.0 };
        let step = round_step(high / scale / wanted.max(1) as f64).max(least) * scale;
        let high = (high / step - 1e-9).ceil() * step;
        let unit = ["B", "KiB", "MiB", "GiB", "TiB"].get(exponent).copied().unwrap_or_default();
        Self::scaled(0.0, high, step, scale, unit.to_owned())
    }

    /// The same for a share of one, in percent.
    pub(super) fn percent(low: f64, high: f64, wanted: usize) -> Self {
        let step = round_step((high - low) / wanted.max(1) as f64);
        Self::scaled(low, high, step, 0.01, "%".to_owned())
    }

    /// The same without a prefix.
    pub(super) fn bare(low: f64, high: f64, wanted: usize, unit: &str) -> Self {
        let step = round_step((high - low) / wanted.max(1) as f64);
        Self::scaled(low, high, step, 1.0, unit.to_owned())
    }

    fn stepped(low: f64, high: f64, step: f64, unit: &str) -> Self {
        let exponent = thousands(low.abs().max(high.abs()));
        let prefix = PREFIXES.get((exponent + 5) as usize).copied().unwrap_or_default();
        Self::scaled(low, high, step, 1000f64.powi(exponent), format!("{prefix}{unit}"))
    }

    /// Labels are values over `scale`.
    fn scaled(low: f64, high: f64, step: f64, scale: f64, unit: String) -> Self {
        let decimals = (-(step / scale).log10()).ceil().clamp(0.0, 15.0) as usize;
        // 2.5 has a decimal that its size does not show.
        let decimals =
            decimals + usize::from(!is_whole(step / scale * 10f64.powi(decimals as i32)));
        let first = (low / step - 1e-9).ceil();
        let last = (high / step + 1e-9).floor();
        let count = (last - first).clamp(0.0, 100.0) as usize;
        let ticks = (0..=count).map(|i| (first + i as f64) * step).map(|value| {
            let text = format!("{:.decimals$}", value / scale + 0.0);
            (value, text.replace('-', "−"))
        });
        Self { low, high, ticks: ticks.collect(), unit }
    }

    /// Where a value is between the limits, from 0 to 1.
    pub(super) fn share(&self, value: f64) -> f64 {
        (value - self.low) / (self.high - self.low)
    }
}

/// 1, 2, 2.5 or 5 times a power of ten, not below `step`.
pub(super) fn round_step(step: f64) -> f64 {
    let magnitude = 10f64.powf(step.log10().floor());
    if !(magnitude > 0.0 && magnitude.is_finite()) {
        return 1.0;
    }
    let factors = [1.0, 2.0, 2.5, 5.0, 10.0];
    let factor = factors.into_iter().find(|f| f * magnitude >= step * (1.0 - 1e-9));
    factor.unwrap_or(10.0) * magnitude
}

/// The power of a thousand a value is written with.
fn thousands(value: f64) -> i32 {
    if value > 0.0 && value.is_finite() {
        // A value a rounding error below 1000 belongs to the next.
        ((value.log10() + 1e-9) / 3.0).floor().clamp(-5.0, 5.0) as i32
    } else {
        0
    }
}

fn is_whole(value: f64) -> bool {
    (value - value.round()).abs() < 1e-6
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: &Axis) -> Vec<&str> {
        axis.ticks.iter().map(|t| t.1.as_str()).collect()
    }

    #[test]
    fn ticks_are_round_and_the_prefix_fits() {
        let power = Axis::around(0.0, 0.0434, 5, "W");
        assert_eq!(
            (labels(&power), power.unit.as_str()),
            (vec!["0", "10", "20", "30", "40", "50"], "mW")
        );
        let time = Axis::within(0.0, 0.1807, 8, "s");
        assert_eq!(labels(&time), ["0", "25", "50", "75", "100", "125", "150", "175"]);
        let fine = Axis::within(0.0, 1.3e-6, 6, "s");
        assert_eq!((labels(&fine)[1], fine.unit.as_str()), ("0.25", "µs"));
    }

    #[test]
    fn bytes_go_by_powers_of_1024() {
        let small = Axis::bytes(55_296.0, 5);
        assert_eq!((labels(&small), small.unit.as_str()), (vec!["0", "20", "40", "60"], "KiB"));
        assert_eq!(small.high, 60.0 * 1024.0);
        let few = Axis::bytes(3.0, 8);
        assert_eq!((labels(&few), few.unit.as_str()), (vec!["0", "1", "2", "3"], "B"));
        let none = Axis::bytes(0.0, 5);
        assert_eq!(labels(&none), ["0", "1"]);
        assert_eq!(Axis::bytes(1023.0, 4).unit, "B");
        assert_eq!(labels(&Axis::bytes(1024.0, 4)), ["0.00", "0.25", "0.50", "0.75", "1.00"]);
    }

    #[test]
    fn below_zero_and_between_large_numbers() {
        let signed = Axis::around(-0.5, 2.0, 5, "W");
        assert_eq!(labels(&signed), ["−0.5", "0.0", "0.5", "1.0", "1.5", "2.0"]);
        let late = Axis::within(1.0, 1.0004, 4, "s");
        assert_eq!(labels(&late), ["1.0000", "1.0001", "1.0002", "1.0003", "1.0004"]);
        assert!(Axis::around(0.0, 0.0, 5, "W").ticks.len() <= 2);
    }
}
