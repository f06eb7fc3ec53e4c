//! A logarithmic axis with ticks at powers of ten.

/// An axis from `low` to `high`, both above zero, on pixels `from` to `to`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct LogAxis {
    pub low: f64,
    pub high: f64,
    pub from: f64,
    pub to: f64,
}

/// A tick with its label; small ones have none.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Tick {
    pub value: f64,
    pub label: Option<String>,
}

impl LogAxis {
    /// The pixel of a value.
    pub(super) fn place(&self, value: f64) -> f64 {
        self.from + (self.to - self.from) * (value / self.low).ln() / (self.high / self.low).ln()
    }

    /// Pixels of a factor of ten.
    pub(super) fn decade(&self) -> f64 {
        (self.to - self.from).abs() / (self.high / self.low).log10()
    }

    /// Powers of ten with labels, and what lies between them without, or with where there are few.
    pub(super) fn ticks(&self) -> Vec<Tick> {
        self.labelled(text)
    }

    /// The same with a unit behind each label.
    pub(super) fn ticks_in(&self, unit: &str) -> Vec<Tick> {
        self.labelled(|step, exponent| prefixed(step, exponent, unit))
    }

    fn labelled(&self, text: impl Fn(i32, i32) -> String) -> Vec<Tick> {
        let (first, last) = (self.low.log10().floor() as i32, self.high.log10().ceil() as i32);
        let (wide, widest) = (self.decade() > 260.0, self.decade() > 1200.0);
        let mut ticks = Vec::new();
        for exponent in first..=last {
            for step in 1..10 {
                let value = f64::from(step) * 10f64.powi(exponent);
                if value < self.low * (1.0 - 1e-9) || value > self.high * (1.0 + 1e-9) {
                    continue;
                }
                let labelled = step == 1 || (wide && matches!(step, 2 | 5)) || widest;
                ticks.push(Tick { value, label: labelled.then(|| text(step, exponent)) });
            }
        }
        ticks
    }
}

/// `0.01`, `1`, `500`, `10 k`, `2 G`.
fn text(step: i32, exponent: i32) -> String {
    if (-3..=-1).contains(&exponent) {
        let decimals = exponent.unsigned_abs() as usize;
        return format!("{:.decimals$}", f64::from(step) * 10f64.powi(exponent));
    }
    prefixed(step, exponent, "")
}

/// `10 ms`, `500 µJ`.
fn prefixed(step: i32, exponent: i32, unit: &str) -> String {
    const PREFIXES: [&str; 11] = ["f", "p", "n", "µ", "m", "", "k", "M", "G", "T", "P"];
    let thousands = exponent.div_euclid(3).clamp(-5, 5);
    let digits = f64::from(step) * 10f64.powi(exponent - 3 * thousands);
    let prefix = PREFIXES.get((thousands + 5) as usize).copied().unwrap_or_default();
    format!("{digits:.0} {prefix}{unit}").trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(low: f64, high: f64, to: f64) -> Vec<String> {
        let axis = LogAxis { low, high, from: 0.0, to };
        axis.ticks().into_iter().filter_map(|tick| tick.label).collect()
    }

    #[test]
    fn decades_have_engineering_labels() {
        assert_eq!(labels(0.02, 2e3, 500.0), ["0.1", "1", "10", "100", "1 k"]);
        assert_eq!(labels(3e8, 2e12, 500.0), ["1 G", "10 G", "100 G", "1 T"]);
        assert_eq!(labels(5e-6, 2e-2, 500.0), ["10 µ", "100 µ", "0.001", "0.01"]);
    }

    #[test]
    fn few_decades_have_more_labels() {
        assert_eq!(labels(0.9, 12.0, 600.0), ["1", "2", "5", "10"]);
        assert_eq!(labels(2.9, 5.1, 600.0), ["3", "4", "5"]);
    }

    #[test]
    fn a_unit_stands_behind_its_prefix() {
        let axis = LogAxis { low: 2e-6, high: 2.0, from: 0.0, to: 600.0 };
        let labels = axis.ticks_in("s").into_iter().filter_map(|tick| tick.label);
        let expected = ["10 µs", "100 µs", "1 ms", "10 ms", "100 ms", "1 s"];
        assert_eq!(labels.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_factor_is_a_length_wherever_it_stands() {
        let axis = LogAxis { low: 0.1, high: 1e4, from: 100.0, to: 600.0 };
        assert!((axis.place(1.0) - 200.0).abs() < 1e-9 && (axis.place(1e4) - 600.0).abs() < 1e-9);
        assert!((axis.decade() - 100.0).abs() < 1e-9);
        assert!((axis.place(30.0) - axis.place(3.0) - 100.0).abs() < 1e-9);
    }
}
