//! The governor `schedutil`: a frequency in proportion to utilisation, with a quarter to spare.
//!
//! `f = 1.25 f_max u / c`, and the lowest point of at least that
//!
//! Symbols: `u` \[1\] utilisation as the scheduler tracks it (`physics::pelt`), invariant to frequency and
//! capacity; `c` \[1\] capacity of the unit at its fastest point. Changes come not faster than the rate
//! limit. Utilisation is of the busiest unit of the domain. Neglected: boosts of tasks that wait for input
//! and output, clamps of utilisation, deadline and real-time tasks, and that a unit which never idled is not
//! slowed down.

use super::{GovernorError, GovernorState, Observed};
use crate::physics::opp_table::OppTable;
use crate::physics::pelt::{HALF_LIFE, Pelt};
use crate::units::{Ratio, Seconds};

/// The governor `schedutil`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Schedutil {
    pub(super) period: Seconds,
    pub(super) rate_limit: Seconds,
    pub(super) headroom: Ratio,
    pub(super) half_life: Seconds,
}

impl Schedutil {
    /// What utilisation is multiplied with: it then makes up four fifths of the frequency.
    pub const HEADROOM: Ratio = Ratio(1.25);

    /// Asked at each tick of the scheduler, with a limit to the rate of changes.
    ///
    /// # Errors
    /// A tick that is not above zero, a rate limit below zero.
    pub fn new(tick: Seconds, rate_limit: Seconds) -> Result<Self, GovernorError> {
        GovernorError::unless_passes("the tick", tick)?;
        if !(rate_limit.0.is_finite() && rate_limit >= Seconds::ZERO) {
            let (what, range) = ("the rate limit", "finite and not below zero");
            return Err(GovernorError::OutOfRange { what, value: rate_limit.0, range });
        }
        Ok(Self { period: tick, rate_limit, headroom: Self::HEADROOM, half_life: HALF_LIFE })
    }

    /// The same with another headroom.
    ///
    /// # Errors
    /// Below one, or not finite.
    pub fn with_headroom(self, headroom: Ratio) -> Result<Self, GovernorError> {
        if headroom.0.is_finite() && headroom.0 >= 1.0 {
            return Ok(Self { headroom, ..self });
        }
        let (what, range) = ("the headroom", "finite and at least one");
        Err(GovernorError::OutOfRange { what, value: headroom.0, range })
    }

    /// The same with another half life of utilisation.
    ///
    /// # Errors
    /// Not above zero.
    pub fn with_half_life(self, half_life: Seconds) -> Result<Self, GovernorError> {
        GovernorError::unless_passes("the half life of utilisation", half_life)?;
        Ok(Self { half_life, ..self })
    }

    pub(super) fn period(&self) -> Seconds {
        self.period
    }

    /// What utilisation is multiplied with.
    pub fn headroom(&self) -> Ratio {
        self.headroom
    }

    /// The point for a utilisation.
    #[inline]
    pub fn point(&self, utilisation: Ratio, table: &OppTable) -> usize {
        let most = table.at(table.fastest());
        let share = self.headroom.0 * utilisation.0 / most.capacity.0;
        table.at_least(most.frequency * share)
    }

    #[inline]
    pub(super) fn decide(
        &self,
        state: &mut GovernorState,
        seen: &Observed,
        table: &OppTable,
    ) -> usize {
        match seen.tracked {
            Some(utilisation) => state.utilisation = Pelt::at(utilisation),
            None => state.utilisation.advance(seen.done, seen.window, self.half_life),
        }
        let wanted = self.point(state.utilisation.utilisation(), table);
        match state.changed {
            Some((_, last)) if wanted == last => last,
            Some((when, last)) if seen.now.since(when).seconds() < self.rate_limit => last,
            _ => {
                state.changed = Some((seen.now, wanted));
                wanted
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::physics::opp_table::tables::{big, little};
    use crate::units::SimTime;

    const TICK: SimTime = SimTime(1_000_000_000);

    /// Ticks with a load that asks for this capacity all the time; what is chosen at each.
    fn followed(governor: &Schedutil, table: &OppTable, load: &[f64]) -> Vec<usize> {
        let (mut state, mut current, mut now) = (GovernorState::default(), 0, SimTime::ZERO);
        load.iter()
            .map(|asked| {
                now = now.after(TICK).unwrap();
                let capacity = table.at(current).capacity;
                let busy = Ratio((asked / capacity.0).min(1.0));
                let seen = Observed::window((now, TICK.seconds()), busy, (current, capacity));
                current = governor.decide(&mut state, &seen, table);
                current
            })
            .collect()
    }

    /// A steady load of 0.45: 1.25 x 0.45 x 2400 = 1350 MHz, the next point is 1416 MHz, and it stays.
    #[test]
    fn a_steady_load_ends_at_the_next_point_above_it_with_a_quarter_to_spare() {
        let governor = Schedutil::new(Seconds(1e-3), Seconds::ZERO).unwrap();
        let chosen = followed(&governor, &big(), &[0.45; 500]);
        assert!(chosen.windows(2).all(|pair| pair[0] <= pair[1]), "{chosen:?}");
        assert!(chosen[300..].iter().all(|point| *point == 1));
        // Beyond four fifths of its capacity it runs at its fastest, and no capacity above is asked for.
        assert_eq!(followed(&governor, &big(), &[0.81; 500])[499], 6);
        assert_eq!(followed(&governor, &big(), &[0.79; 500])[499], 6);
        assert_eq!(followed(&governor, &big(), &[0.73; 500])[499], 5);
        let little = little();
        let most = little.at(4).capacity.0;
        assert_eq!(followed(&governor, &little, &[most * 0.4; 500])[499], 0);
        assert_eq!(followed(&governor, &little, &[most * 0.5; 500])[499], 1);
    }

    /// From rest to full load u = 1 - 2^(-t / 32.768 ms) asks for 1200 MHz until u = 0.4 and for more than
    /// 2208 MHz from u = 0.736 on: 24.2 and 63 ms, where capacity keeps up. At the slowest point u heads for
    /// 0.5 only: u = 0.5 (1 - 2^(-t/T)) passes 0.4 after 2.32 half lives, 76.1 ms.
    #[test]
    fn it_climbs_as_utilisation_does() {
        let governor = Schedutil::new(Seconds(1e-3), Seconds::ZERO).unwrap();
        let chosen = followed(&governor, &big(), &[1.0; 400]);
        let first = chosen.iter().position(|point| *point == 1).unwrap() + 1;
        assert_eq!(first, 77);
        assert_eq!(chosen[399], 6);
    }

    #[test]
    fn changes_come_no_faster_than_the_rate_limit() {
        let load: Vec<f64> =
            (0..600).map(|tick| if tick / 100 % 2 == 0 { 0.9 } else { 0.1 }).collect();
        let changes = |limit| {
            let governor = Schedutil::new(Seconds(1e-3), Seconds(limit)).unwrap();
            let chosen = followed(&governor, &big(), &load);
            let at: Vec<usize> =
                (1..chosen.len()).filter(|t| chosen[*t] != chosen[t - 1]).collect();
            at
        };
        let (free, limited) = (changes(0.0), changes(20e-3));
        assert!(free.windows(2).any(|pair| pair[1] - pair[0] < 20), "{free:?}");
        assert!(limited.windows(2).all(|pair| pair[1] - pair[0] >= 20), "{limited:?}");
        assert!(!limited.is_empty());
    }

    #[test]
    fn what_is_tracked_exactly_counts_before_the_window() {
        let governor = Schedutil::new(Seconds(1e-3), Seconds::ZERO).unwrap();
        let mut state = GovernorState::default();
        let seen = Observed::window((TICK, TICK.seconds()), Ratio(0.0), (0, Ratio(0.5)));
        let seen = Observed { tracked: Some(Ratio(0.7)), ..seen };
        assert_eq!(governor.decide(&mut state, &seen, &big()), 5);
        assert_eq!(state.utilisation().utilisation(), Ratio(0.7));
    }

    #[test]
    fn what_makes_no_schedutil_is_refused() {
        let new = |tick, limit| Schedutil::new(Seconds(tick), Seconds(limit));
        assert!(new(0.0, 0.0).is_err() && new(1e-3, -1.0).is_err() && new(1e-3, f64::NAN).is_err());
        let good = new(1e-3, 0.0).unwrap();
        assert!(good.with_headroom(Ratio(0.9)).is_err() && good.with_headroom(Ratio(1.0)).is_ok());
        assert!(good.with_half_life(Seconds(0.0)).is_err());
    }
}
