//! The rate of ticks, from what is printed beside them.

use super::super::ReadFault;

/// Ticks a second, and how well that is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct TickRate {
    low: f64,
    high: f64,
}

impl TickRate {
    /// A rate that is known.
    pub(super) fn of(hertz: f64) -> Self {
        Self { low: hertz, high: hertz }
    }

    /// From ticks and the whole milliseconds, cut and not rounded, that are printed for them: t
    /// ticks that print as m ms have t / (m + 1) < rate <= t / m ticks a millisecond.
    pub(super) fn from_milliseconds(
        pairs: impl Iterator<Item = (f64, f64)>,
    ) -> Result<Self, ReadFault> {
        let (mut low, mut high) = (0.0f64, f64::INFINITY);
        for (ticks, milliseconds) in pairs {
            low = low.max(ticks / (milliseconds + 1.0));
            high = high.min(ticks / milliseconds);
        }
        // A rate that all layers agree on, of at least 1 kHz.
        if high.is_finite() && low >= 1.0 && low <= high {
            return Ok(Self { low: low * 1e3, high: high * 1e3 });
        }
        Err(ReadFault::Needs {
            what: "the rate of the ticks",
            option: "--rate with the ticks of a second, for a cycle counter the clock of the core",
        })
    }

    /// The middle of the bounds, by ratio.
    pub(super) fn hertz(self) -> f64 {
        (self.low * self.high).sqrt()
    }

    pub(super) fn remark(self) -> String {
        let half = ((self.high / self.low).sqrt() - 1.0) * 100.0;
        format!(
            "ticks are taken at {:.4e} Hz, which the whole milliseconds beside them tell to {half:.2} % (--rate says it)",
            self.hertz()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_milliseconds_bound_the_rate_from_both_sides() {
        let clock = 120e6;
        let layers = [3.2e6, 12.9e6, 0.4e6, 7.19e6];
        let pairs = layers.map(|ticks: f64| (ticks, (ticks / clock * 1e3).floor()));
        let rate = TickRate::from_milliseconds(pairs.into_iter()).unwrap();
        assert!(rate.low < clock && clock <= rate.high);
        assert!((rate.hertz() / clock - 1.0).abs() < 0.01, "{rate:?}");
    }

    #[test]
    fn a_rate_that_does_not_show_is_asked_for() {
        for pairs in [vec![], vec![(500.0, 0.0)], vec![(1000.0, 1.0), (1000.0, 4.0)]] {
            let error = TickRate::from_milliseconds(pairs.into_iter()).unwrap_err();
            assert!(error.to_string().contains("--rate"));
        }
    }
}
