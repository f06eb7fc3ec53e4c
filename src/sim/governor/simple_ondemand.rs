//! The governor `simple_ondemand` of `devfreq`: for accelerators, graphics and memories that know how long
//! they were busy.
//!
//! `load > up` goes to the fastest point; `load > up - down` stays; else
//! `f = load f_cur / (up - down / 2)` and the lowest point of at least that. Thresholds are whole per cent, 90
//! and 5 unless a driver states others, and half of `down` is rounded to whole per cent below: 88 % at first.
//! A window of no length goes to the fastest point. Polling periods are those of drivers, 10 to 100 ms.

use super::{GovernorError, Observed};
use crate::physics::opp_table::OppTable;
use crate::units::{Hertz, Seconds};

/// The governor `simple_ondemand`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SimpleOndemand {
    pub(super) period: Seconds,
    pub(super) up_threshold: u8,
    pub(super) down_differential: u8,
}

impl SimpleOndemand {
    /// Load in per cent above which it goes to the fastest point, where a driver states none.
    pub const UP_THRESHOLD: u8 = 90;
    /// Per cent below it in which it stays.
    pub const DOWN_DIFFERENTIAL: u8 = 5;

    /// With a polling period and thresholds in per cent.
    ///
    /// # Errors
    /// A period that is not above zero, a threshold of zero or above 100 %, a differential that reaches it.
    pub fn new(
        period: Seconds,
        up_threshold: u8,
        down_differential: u8,
    ) -> Result<Self, GovernorError> {
        GovernorError::unless_passes("the polling period", period)?;
        if up_threshold == 0 || up_threshold > 100 {
            let (what, range) = ("the up threshold in per cent", "1 to 100");
            return Err(GovernorError::OutOfRange { what, value: f64::from(up_threshold), range });
        }
        if down_differential >= up_threshold {
            let (what, range) = ("the down differential in per cent", "below the up threshold");
            let value = f64::from(down_differential);
            return Err(GovernorError::OutOfRange { what, value, range });
        }
        Ok(Self { period, up_threshold, down_differential })
    }

    pub(super) fn period(&self) -> Seconds {
        self.period
    }

    pub(super) fn decide(&self, seen: &Observed, table: &OppTable) -> usize {
        let (up, down) = (self.up_threshold, self.down_differential);
        let per_cent = seen.busy.0 * 100.0;
        if seen.window <= Seconds::ZERO || per_cent > f64::from(up) {
            return table.fastest();
        }
        if per_cent > f64::from(up - down) {
            return seen.current;
        }
        let target = f64::from(up - down / 2);
        table.at_least(Hertz(table.at(seen.current).frequency.0 * per_cent / target))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::physics::opp_table::tables::{big, table};
    use crate::units::{Ratio, SimTime};

    fn asked(load: f64, current: usize, window: f64, table: &OppTable) -> usize {
        let governor = SimpleOndemand::new(Seconds(0.05), 90, 5).unwrap();
        let at = (SimTime(0), Seconds(window));
        governor.decide(&Observed::window(at, Ratio(load), (current, Ratio(1.0))), table)
    }

    /// A Mali-G72 as the MT8183 runs it, 300 to 800 MHz.
    #[test]
    fn a_graphics_unit_follows_its_load() {
        let mhz = [300.0, 340.0, 400.0, 460.0, 540.0, 620.0, 698.0, 743.0, 800.0];
        let volts = [0.625, 0.6375, 0.65625, 0.675, 0.7, 0.725, 0.76875, 0.79375, 0.825];
        let points: Vec<_> = mhz.into_iter().zip(volts).collect();
        let mali = table((&points, 1000.0), 1.0);
        assert_eq!(asked(0.91, 0, 0.05, &mali), 8);
        assert_eq!(asked(0.90, 4, 0.05, &mali), 4, "not above the threshold");
        assert_eq!(asked(0.86, 4, 0.05, &mali), 4);
        // 0.5 x 800 / 0.88 = 454.5 MHz, and 460 MHz is next; from there 0.85 stays above 443 MHz.
        assert_eq!(asked(0.5, 8, 0.05, &mali), 3);
        assert_eq!(asked(0.85, 3, 0.05, &mali), 3);
        assert_eq!(asked(0.0, 3, 0.05, &mali), 0);
    }

    /// With 87.5 % for 88 % this load would ask for 2208.6 MHz, and so for 2400.
    #[test]
    fn half_of_the_differential_is_whole_per_cent() {
        assert_eq!(asked(0.8052, 6, 0.05, &big()), 5);
    }

    #[test]
    fn a_window_of_no_length_goes_to_the_fastest_point() {
        assert_eq!(asked(0.0, 0, 0.0, &big()), 6);
    }

    #[test]
    fn what_makes_no_simple_ondemand_is_refused() {
        let new = |period, up, down| SimpleOndemand::new(Seconds(period), up, down);
        assert!(new(0.05, 100, 99).is_ok());
        assert!(new(0.0, 90, 5).is_err() && new(0.05, 0, 0).is_err());
        assert!(new(0.05, 101, 5).is_err() && new(0.05, 90, 90).is_err());
    }
}
