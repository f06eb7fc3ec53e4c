//! How deadlines were held.

use super::Request;
use crate::units::SimTime;
use serde::{Deserialize, Serialize};

/// Deadlines that were held and missed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Deadlines {
    /// Done in time.
    pub held: u64,
    /// Done too late.
    pub late: u64,
    /// Dropped or refused.
    pub lost: u64,
    /// The most that one was late by.
    pub worst: SimTime,
}

impl Deadlines {
    /// A request was done at `end`. Without a deadline it does not count.
    pub fn done(&mut self, request: &Request, end: SimTime) {
        let Some(due) = request.due else { return };
        match end > due {
            false => self.held += 1,
            true => self.late += 1,
        }
        self.worst = self.worst.max(end.since(due));
    }

    /// A request was dropped or refused.
    pub fn lost(&mut self, request: &Request) {
        self.lost += u64::from(request.due.is_some());
    }

    /// Share that was not held; nothing where none had a deadline.
    pub fn missed_share(&self) -> Option<f64> {
        let missed = self.late + self.lost;
        let all = self.held + missed;
        (all > 0).then(|| missed as f64 / all as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn late_and_lost_requests_miss_their_deadline_and_others_have_none() {
        let request = |due| Request { number: 0, arrived: SimTime(0), due };
        let mut deadlines = Deadlines::default();
        assert_eq!(deadlines.missed_share(), None);
        deadlines.done(&request(None), SimTime(1000));
        deadlines.lost(&request(None));
        assert_eq!(deadlines.missed_share(), None);
        deadlines.done(&request(Some(SimTime(10))), SimTime(10));
        deadlines.done(&request(Some(SimTime(10))), SimTime(17));
        deadlines.lost(&request(Some(SimTime(10))));
        deadlines.done(&request(Some(SimTime(10))), SimTime(9));
        assert_eq!(deadlines, Deadlines { held: 2, late: 1, lost: 1, worst: SimTime(7) });
        assert_eq!(deadlines.missed_share(), Some(0.5));
    }
}
