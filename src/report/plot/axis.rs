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

    fn stepped(low: f64, high: f64, step: f64, unit: &str) -> Self {
        let exponent = thousands(low.abs().max(high.abs()));
        let scale = 1000f64.powi(exponent);
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
        let prefix = PREFIXES.get((exponent + 5) as usize).copied().unwrap_or_default();
        Self { low, high, ticks: ticks.collect(), unit: format!("{prefix}{unit}") }
    }

    /// Where a value is between the limits, from 0 to 1.
    pub(super) fn share(&self, value: f64) -> f64 {
        (value - self.low) / (self.high - self.low)
    }
}

/// 1, 2, 2.5 or 5 times a power of ten, not below `step`.
fn round_step(step: f64) -> f64 {
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
    fn below_zero_and_between_large_numbers() {
        let signed = Axis::around(-0.5, 2.0, 5, "W");
        assert_eq!(labels(&signed), ["−0.5", "0.0", "0.5", "1.0", "1.5", "2.0"]);
        let late = Axis::within(1.0, 1.0004, 4, "s");
        assert_eq!(labels(&late), ["1.0000", "1.0001", "1.0002", "1.0003", "1.0004"]);
        assert!(Axis::around(0.0, 0.0, 5, "W").ticks.len() <= 2);
    }
}
