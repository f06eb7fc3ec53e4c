//! States that a block goes through, whatever the system does: a day of use.

use super::LoadError;
use super::process::positive;
use crate::units::{Ratio, Seconds, SimTime, TimeError};
use serde::{Deserialize, Serialize};

/// States one after the other, each for a time; then over again, or the last for good. A state is the
/// number of one of a block's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StateSchedule {
    /// State, and when in a round it begins.
    begins: Vec<(usize, SimTime)>,
    /// How long a round lasts; nothing where the last state stays.
    round: Option<SimTime>,
}

/// Shares that add up to one within this are whole.
const SHARES_OFF: f64 = 1e-6;

impl StateSchedule {
    /// By state and how long each lasts.
    ///
    /// # Errors
    /// No state, a time of nothing, or times past the end of time.
    pub fn steps(steps: &[(usize, Seconds)], repeats: bool) -> Result<Self, LoadError> {
        if steps.is_empty() {
            return Err(LoadError::parameter("a schedule", "needs at least one state"));
        }
        let mut begins = Vec::with_capacity(steps.len());
        let mut at = SimTime::ZERO;
        for (state, lasts) in steps {
            positive("the time that a state lasts", *lasts)?;
            begins.push((*state, at));
            at = at.after(SimTime::from_seconds(*lasts)?)?;
        }
        Ok(Self { begins, round: repeats.then_some(at) })
    }

    /// By the share of a round that is spent in each state, in their order.
    ///
    /// # Errors
    /// Shares that are not whole together, and those of [`StateSchedule::steps`].
    pub fn residencies(shares: &[(usize, Ratio)], round: Seconds) -> Result<Self, LoadError> {
        positive("a round of states", round)?;
        let sum: Ratio = shares.iter().map(|(_, share)| *share).sum();
        let whole = (sum.0 - 1.0).abs() <= SHARES_OFF;
        if !whole {
            let problem = format!("add up to {} %, not to 100 %", sum.0 * 100.0);
            return Err(LoadError::parameter("shares of time", problem));
        }
        let spent = shares.iter().filter(|(_, share)| share.0 > 0.0);
        let steps: Vec<_> = spent.map(|(state, share)| (*state, round * share.0)).collect();
        let steps = Self::steps(&steps, true)?;
        // Rounded parts may miss the whole by a few picoseconds.
        let last = steps.begins.last().map_or(SimTime::ZERO, |(_, at)| *at);
        let whole = SimTime::from_seconds(round)?.max(SimTime(last.0.saturating_add(1)));
        Ok(Self { round: Some(whole), ..steps })
    }

    /// Share of a round in each of `states` states; of one that does not repeat, all of the last.
    pub fn shares(&self, states: usize) -> Vec<f64> {
        let mut shares = vec![0.0; states];
        let ends = self.begins.iter().skip(1).map(|(_, at)| *at).chain(self.round);
        let Some(round) = self.round else {
            let last = self.begins.last().and_then(|(state, _)| shares.get_mut(*state));
            last.into_iter().for_each(|share| *share = 1.0);
            return shares;
        };
        for ((state, begin), end) in self.begins.iter().zip(ends) {
            if let Some(share) = shares.get_mut(*state) {
                *share += end.since(*begin).seconds() / round.seconds();
            }
        }
        shares
    }

    /// The changes of a run, the first at its start.
    pub fn changes(&self) -> StateChanges {
        StateChanges { schedule: self.clone(), round: 0, place: 0 }
    }
}

/// A block goes into another state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct StateChange {
    /// When.
    pub at: SimTime,
    /// Into which of its states.
    pub state: usize,
}

/// Changes of state as a run goes on. Rounds are counted from the start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StateChanges {
    schedule: StateSchedule,
    round: u64,
    place: usize,
}

impl Iterator for StateChanges {
    type Item = Result<StateChange, LoadError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.place == self.schedule.begins.len() {
            self.schedule.round?;
            self.round = self.round.checked_add(1)?;
            self.place = 0;
        }
        let (state, begin) = *self.schedule.begins.get(self.place)?;
        self.place += 1;
        let start = self.schedule.round.unwrap_or_default().0.checked_mul(self.round);
        let at = start.ok_or(TimeError::PastEnd).and_then(|start| SimTime(start).after(begin));
        if at.is_err() {
            // Time has ended.
            (self.place, self.schedule.round) = (self.schedule.begins.len(), None);
        }
        Some(at.map(|at| StateChange { at, state }).map_err(LoadError::from))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(schedule: &StateSchedule, count: usize) -> Vec<(f64, usize)> {
        let changes = schedule.changes().take(count).map(Result::unwrap);
        changes.map(|c| (c.at.seconds().0, c.state)).collect()
    }

    #[test]
    fn states_follow_each_other_and_start_over_or_stay() {
        let steps = [(2, Seconds(1.0)), (0, Seconds(0.5))];
        let again = StateSchedule::steps(&steps, true).unwrap();
        assert_eq!(seconds(&again, 4), [(0.0, 2), (1.0, 0), (1.5, 2), (2.5, 0)]);
        let once = StateSchedule::steps(&steps, false).unwrap();
        assert_eq!(seconds(&once, 9), [(0.0, 2), (1.0, 0)]);
        assert_eq!(once.shares(3), [1.0, 0.0, 0.0]);
        let shares = again.shares(3);
        assert!((shares[0] - 1.0 / 3.0).abs() < 1e-12 && (shares[2] - 2.0 / 3.0).abs() < 1e-12);
    }

    #[test]
    fn residencies_are_the_shares_of_a_round() {
        let shares = [(1, Ratio(0.7)), (0, Ratio(0.0)), (2, Ratio(0.3))];
        let schedule = StateSchedule::residencies(&shares, Seconds(86_400.0)).unwrap();
        let told = [(0.0, 1), (60_480.0, 2), (86_400.0, 1)];
        for ((at, state), (due, next)) in seconds(&schedule, 3).into_iter().zip(told) {
            assert!((at - due).abs() < 1e-9 && state == next, "{at} {state}");
        }
        let found = schedule.shares(3);
        for (state, share) in shares {
            assert!((found[state] - share.0).abs() < 1e-12, "{found:?}");
        }
        // A third of a second is no number of picoseconds, three of them are.
        let thirds = [(0, Ratio(1.0 / 3.0)), (1, Ratio(1.0 / 3.0)), (2, Ratio(1.0 / 3.0))];
        let schedule = StateSchedule::residencies(&thirds, Seconds(1.0)).unwrap();
        assert_eq!(
            schedule.changes().nth(3_000).unwrap().unwrap().at,
            SimTime(1_000_000_000_000_000)
        );
    }

    #[test]
    fn what_is_not_whole_is_refused() {
        let said = |shares: &[f64]| {
            let shares: Vec<_> = shares.iter().map(|share| (0, Ratio(*share))).collect();
            StateSchedule::residencies(&shares, Seconds(1.0)).unwrap_err().to_string()
        };
        assert!(said(&[0.5, 0.4]).contains("add up to 90 %"), "{}", said(&[0.5, 0.4]));
        assert!(said(&[]).contains("add up to 0 %"));
        assert!(said(&[f64::NAN]).contains("add up to NaN"));
        assert!(StateSchedule::steps(&[], true).is_err());
        assert!(StateSchedule::steps(&[(0, Seconds(0.0))], true).is_err());
        assert!(StateSchedule::steps(&[(0, Seconds(1e7)), (0, Seconds(1e7))], true).is_err());
    }

    #[test]
    fn the_end_of_time_is_an_error_and_then_silence() {
        let schedule = StateSchedule::steps(&[(0, Seconds(1e7))], true).unwrap();
        let mut changes = schedule.changes();
        assert!(changes.next().unwrap().is_ok() && changes.next().unwrap().is_ok());
        assert!(changes.next().unwrap().is_err());
        assert!(changes.next().is_none());
    }
}
