//! The governor `ondemand`: to the fastest point when the load of a window is high, and down in proportion.
//!
//! `load > up` goes to the fastest point, and looks more seldom from there while it lasts. Else, in kernels
//! of today, `f = f_min + load (f_max - f_min)` and the nearest point; in old ones, where
//! `load < up - down`, `f = load f_cur / (up - down)` and the lowest point above it. Default thresholds:
//! `up` 80 % and `down` 10 %, 95 % and 3 % with exact accounting of idle time; the window is a thousand
//! times the transition latency and not below 10 ms. Neglected: `powersave_bias`, waiting for input and
//! output as load.

use super::{GovernorError, GovernorState, Observed};
use crate::physics::opp_table::OppTable;
use crate::units::{Hertz, Ratio, Seconds};

/// How `ondemand` goes down.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum OndemandSlope {
    /// In proportion to the load, over the range of frequencies (kernels of today).
    Range,
    /// So far that the load comes to stand this much below the threshold (old kernels).
    DownDifferential(Ratio),
}

/// The governor `ondemand`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ondemand {
    pub(super) period: Seconds,
    pub(super) up_threshold: Ratio,
    pub(super) slope: OndemandSlope,
    pub(super) sampling_down_factor: u32,
}

impl Ondemand {
    /// With a sampling period, the load above which it goes to the fastest point, its way down, and how many
    /// times more seldom it looks from there.
    ///
    /// # Errors
    /// A period that is not above zero, a threshold outside (0, 1), a differential that is negative or
    /// reaches it, a factor of zero.
    pub fn new(
        period: Seconds,
        up_threshold: Ratio,
        slope: OndemandSlope,
        sampling_down_factor: u32,
    ) -> Result<Self, GovernorError> {
        GovernorError::unless_passes("the sampling period", period)?;
        let up = up_threshold.0;
        if !(up > 0.0 && up <= 1.0) {
            let (what, range) = ("the up threshold", "above zero and not above one");
            return Err(GovernorError::OutOfRange { what, value: up, range });
        }
        if let OndemandSlope::DownDifferential(Ratio(value)) = slope
            && !(value >= 0.0 && value < up)
        {
            let (what, range) =
                ("the down differential", "not below zero, and below the threshold");
            return Err(GovernorError::OutOfRange { what, value, range });
        }
        if sampling_down_factor == 0 {
            let (what, range) = ("the sampling down factor", "at least one");
            return Err(GovernorError::OutOfRange { what, value: 0.0, range });
        }
        Ok(Self { period, up_threshold, slope, sampling_down_factor })
    }

    /// The sampling period that kernels set for a transition latency: a thousand times as long, at least
    /// 10 ms.
    pub fn default_period(latency: Seconds) -> Seconds {
        (latency * 1000.0).max(Seconds(10e-3))
    }

    pub(super) fn period(&self) -> Seconds {
        self.period
    }

    pub(super) fn next(&self, state: &GovernorState) -> Seconds {
        self.period * f64::from(state.more_seldom.max(1))
    }

    pub(super) fn decide(
        &self,
        state: &mut GovernorState,
        seen: &Observed,
        table: &OppTable,
    ) -> usize {
        let (load, fastest) = (seen.busy.0, table.fastest());
        if load > self.up_threshold.0 {
            if seen.current < fastest.min(seen.highest) {
                state.more_seldom = self.sampling_down_factor;
            }
            return fastest;
        }
        match self.slope {
            OndemandSlope::Range => {
                state.more_seldom = 1;
                let (least, most) = (table.at(0).frequency, table.at(fastest).frequency);
                table.nearest(least + (most - least) * load)
            }
            OndemandSlope::DownDifferential(down) => {
                let target = self.up_threshold.0 - down.0;
                if load >= target {
                    return seen.current;
                }
                state.more_seldom = 1;
                table.at_least(Hertz(load * table.at(seen.current).frequency.0 / target))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::physics::opp_table::tables::big;
    use crate::units::SimTime;

    fn ondemand(slope: OndemandSlope, factor: u32) -> Ondemand {
        Ondemand::new(Seconds(0.01), Ratio(0.8), slope, factor).unwrap()
    }

    fn asked(ondemand: &Ondemand, state: &mut GovernorState, load: f64, current: usize) -> usize {
        let at = (SimTime(0), Seconds(0.01));
        let seen = Observed::window(at, Ratio(load), (current, big().at(current).capacity));
        ondemand.decide(state, &seen, &big())
    }

    /// 1200 to 2400 MHz: half a load is 1800 MHz, a quarter 1500 MHz, nearest to 1416 MHz.
    #[test]
    fn it_jumps_up_at_once_and_goes_down_in_proportion() {
        let (governor, state) = (ondemand(OndemandSlope::Range, 1), &mut GovernorState::default());
        assert_eq!(asked(&governor, state, 0.81, 0), 6);
        assert_eq!(asked(&governor, state, 0.5, 6), 3);
        assert_eq!(asked(&governor, state, 0.25, 3), 1);
        assert_eq!(asked(&governor, state, 0.0, 1), 0);
        // At the threshold itself it is still the proportion: 2160 MHz, nearest to 2208.
        assert_eq!(asked(&governor, state, 0.8, 6), 5);
    }

    /// Old kernels: between 70 and 80 % it stays, below it goes to where the load would be 70 %.
    #[test]
    fn older_kernels_keep_the_load_below_the_threshold() {
        let governor = ondemand(OndemandSlope::DownDifferential(Ratio(0.1)), 1);
        let state = &mut GovernorState::default();
        assert_eq!(asked(&governor, state, 0.75, 4), 4);
        // 0.5 x 2400 / 0.7 = 1714 MHz, and the next above is 1800 MHz.
        assert_eq!(asked(&governor, state, 0.5, 6), 3);
        assert_eq!(asked(&governor, state, 0.801, 2), 6);
    }

    #[test]
    fn at_the_fastest_point_it_looks_more_seldom_until_the_load_falls() {
        let (governor, state) = (ondemand(OndemandSlope::Range, 10), &mut GovernorState::default());
        assert_eq!(governor.next(state), Seconds(0.01));
        asked(&governor, state, 0.9, 0);
        assert_eq!(governor.next(state), Seconds(0.1));
        asked(&governor, state, 0.95, 6);
        assert_eq!(governor.next(state), Seconds(0.1));
        asked(&governor, state, 0.4, 6);
        assert_eq!(governor.next(state), Seconds(0.01));
    }

    #[test]
    fn what_makes_no_ondemand_is_refused() {
        let range = OndemandSlope::Range;
        let new =
            |period, up, slope, factor| Ondemand::new(Seconds(period), Ratio(up), slope, factor);
        assert!(new(0.01, 0.95, OndemandSlope::DownDifferential(Ratio(0.03)), 1).is_ok());
        assert!(new(0.0, 0.8, range, 1).is_err() && new(f64::NAN, 0.8, range, 1).is_err());
        assert!(new(0.01, 0.0, range, 1).is_err() && new(0.01, 1.1, range, 1).is_err());
        assert!(new(0.01, 0.8, OndemandSlope::DownDifferential(Ratio(0.8)), 1).is_err());
        assert!(new(0.01, 0.8, range, 0).is_err());
        assert_eq!(Ondemand::default_period(Seconds(40e-6)), Seconds(40e-3));
        assert_eq!(Ondemand::default_period(Seconds(1e-6)), Seconds(10e-3));
    }
}
