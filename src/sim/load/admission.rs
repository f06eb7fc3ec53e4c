//! Who is let into a queue.

use super::Request;
use crate::units::SimTime;
use std::collections::VecDeque;
use std::fmt;

/// What gives way where a queue is full.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WhenFull {
    /// The request that comes.
    #[default]
    DropNewest,
    /// The one that has waited longest.
    DropOldest,
}

/// The rule of a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Admission {
    /// How many may wait; any number when left out.
    pub limit: Option<u64>,
    /// What gives way where that many do.
    pub when_full: WhenFull,
    /// True to refuse a request that cannot be done in time.
    pub refuse_late: bool,
}

/// Why a request was not let in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    /// The queue is full.
    Full,
    /// Its deadline cannot be held.
    Late,
}

/// A request that gave way to a newer one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dropped(pub Request);

/// What became of a request that came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It waits.
    Waits,
    /// It waits in the place of another.
    Displaces(Dropped),
    /// It was not let in.
    Refused(Refused),
}

impl fmt::Display for Admission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.limit, self.when_full) {
            (None, _) => f.write_str("any number waits")?,
            (Some(limit), WhenFull::DropNewest) => write!(f, "{limit} wait, others are refused")?,
            (Some(limit), WhenFull::DropOldest) => write!(f, "{limit} wait, the oldest gives way")?,
        }
        if self.refuse_late { f.write_str(", none that would be late") } else { Ok(()) }
    }
}

impl Admission {
    /// Lets `request` into `waiting`, which the rule holds within its limit. `earliest_end` is when it
    /// could be done at the soonest, after all that goes before it.
    pub fn offer(
        &self,
        waiting: &mut VecDeque<Request>,
        request: Request,
        earliest_end: SimTime,
    ) -> Verdict {
        if self.refuse_late && request.is_late(earliest_end) {
            return Verdict::Refused(Refused::Late);
        }
        let full = self.limit.is_some_and(|limit| waiting.len() as u64 >= limit);
        let displaced = match self.when_full {
            WhenFull::DropOldest if full => waiting.pop_front(),
            _ => None,
        };
        if full && displaced.is_none() {
            return Verdict::Refused(Refused::Full);
        }
        waiting.push_back(request);
        displaced.map_or(Verdict::Waits, |request| Verdict::Displaces(Dropped(request)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn request(number: u64) -> Request {
        Request { number, arrived: SimTime(number), due: None }
    }

    fn numbers(waiting: &VecDeque<Request>) -> Vec<u64> {
        waiting.iter().map(|r| r.number).collect()
    }

    #[test]
    fn a_full_queue_drops_the_newest_or_the_oldest() {
        let offer = |when_full| {
            let rule = Admission { limit: Some(2), when_full, refuse_late: false };
            let mut waiting = VecDeque::new();
            let verdicts: Vec<_> =
                (0..3).map(|n| rule.offer(&mut waiting, request(n), SimTime(9))).collect();
            (numbers(&waiting), verdicts[2])
        };
        assert_eq!(offer(WhenFull::DropNewest), (vec![0, 1], Verdict::Refused(Refused::Full)));
        assert_eq!(
            offer(WhenFull::DropOldest),
            (vec![1, 2], Verdict::Displaces(Dropped(request(0))))
        );
    }

    #[test]
    fn a_queue_of_nothing_lets_nobody_in_and_one_without_limit_all() {
        let mut waiting = VecDeque::new();
        for when_full in [WhenFull::DropNewest, WhenFull::DropOldest] {
            let rule = Admission { limit: Some(0), when_full, ..Admission::default() };
            let verdict = rule.offer(&mut waiting, request(0), SimTime(9));
            assert_eq!(verdict, Verdict::Refused(Refused::Full));
        }
        for n in 0..1000 {
            let verdict = Admission::default().offer(&mut waiting, request(n), SimTime(9));
            assert_eq!(verdict, Verdict::Waits);
        }
        assert_eq!(waiting.len(), 1000);
    }

    #[test]
    fn what_cannot_be_in_time_is_refused_and_takes_nobodys_place() {
        let rule = Admission { limit: Some(1), when_full: WhenFull::DropOldest, refuse_late: true };
        let mut waiting = VecDeque::from([request(0)]);
        let due = Request { due: Some(SimTime(10)), ..request(1) };
        assert_eq!(rule.offer(&mut waiting, due, SimTime(11)), Verdict::Refused(Refused::Late));
        assert_eq!(numbers(&waiting), [0]);
        assert!(matches!(rule.offer(&mut waiting, due, SimTime(10)), Verdict::Displaces(_)));
        let lax = Admission { refuse_late: false, limit: None, ..rule };
        assert_eq!(lax.offer(&mut waiting, due, SimTime(11)), Verdict::Waits);
    }

    proptest! {
        #[test]
        fn every_request_waits_or_is_told_of_once(limit in 0u64..5, oldest: bool, takes in proptest::collection::vec(any::<bool>(), 0..60)) {
            let when_full = if oldest { WhenFull::DropOldest } else { WhenFull::DropNewest };
            let rule = Admission { limit: Some(limit), when_full, refuse_late: false };
            let (mut waiting, mut told) = (VecDeque::new(), Vec::new());
            for (n, take) in takes.iter().enumerate() {
                match rule.offer(&mut waiting, request(n as u64), SimTime(0)) {
                    Verdict::Waits => {}
                    Verdict::Displaces(Dropped(other)) => told.push(other.number),
                    Verdict::Refused(_) => told.push(n as u64),
                }
                prop_assert!(waiting.len() as u64 <= limit);
                if *take {
                    told.extend(waiting.pop_front().map(|r: Request| r.number));
                }
            }
            told.extend(numbers(&waiting));
            told.sort_unstable();
            prop_assert_eq!(told, (0..takes.len() as u64).collect::<Vec<_>>());
        }
    }
}
