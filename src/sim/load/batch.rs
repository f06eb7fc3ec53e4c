//! Requests that are served together.

use super::{LoadError, Request};
use crate::units::SimTime;
use std::collections::VecDeque;

/// Serving starts once so many wait, or once the one that has waited longest has done so for the timeout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MicroBatch {
    size: u64,
    timeout: SimTime,
}

/// When a batch starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BatchStart {
    /// Now, with so many of those that have waited longest.
    Now(u64),
    /// At this time, unless more come before.
    At(SimTime),
    /// Nobody waits.
    Never,
}

impl MicroBatch {
    /// One at a time.
    pub const SINGLE: Self = Self { size: 1, timeout: SimTime::ZERO };

    /// By size and timeout.
    ///
    /// # Errors
    /// A batch of nothing.
    pub fn new(size: u64, timeout: SimTime) -> Result<Self, LoadError> {
        if size == 0 {
            return Err(LoadError::parameter("a batch", "holds at least one request"));
        }
        Ok(Self { size, timeout })
    }

    /// How many at most.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// How long one waits for others at most.
    pub fn timeout(&self) -> SimTime {
        self.timeout
    }

    /// When a batch of those that wait starts, asked at `now` with somebody free to serve it.
    pub fn start(&self, waiting: &VecDeque<Request>, now: SimTime) -> BatchStart {
        let Some(oldest) = waiting.front() else { return BatchStart::Never };
        let count = (waiting.len() as u64).min(self.size);
        // A timeout that passes the end of time does not come.
        let at = oldest.arrived.after(self.timeout).unwrap_or(SimTime(u64::MAX));
        if count == self.size || at <= now { BatchStart::Now(count) } else { BatchStart::At(at) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waiting(arrived: &[u64]) -> VecDeque<Request> {
        let arrived = arrived.iter().enumerate();
        arrived
            .map(|(n, at)| Request { number: n as u64, arrived: SimTime(*at), due: None })
            .collect()
    }

    #[test]
    fn a_batch_starts_full_or_when_the_oldest_has_waited_enough() {
        let batch = MicroBatch::new(3, SimTime(100)).unwrap();
        assert_eq!(batch.start(&waiting(&[]), SimTime(5)), BatchStart::Never);
        assert_eq!(batch.start(&waiting(&[10, 20]), SimTime(20)), BatchStart::At(SimTime(110)));
        assert_eq!(batch.start(&waiting(&[10, 20]), SimTime(110)), BatchStart::Now(2));
        assert_eq!(batch.start(&waiting(&[10, 20, 30]), SimTime(30)), BatchStart::Now(3));
        assert_eq!(batch.start(&waiting(&[10, 20, 30, 40]), SimTime(40)), BatchStart::Now(3));
        // Whoever was busy meanwhile finds the timeout long past.
        assert_eq!(batch.start(&waiting(&[10]), SimTime(5000)), BatchStart::Now(1));
    }

    #[test]
    fn one_at_a_time_waits_for_nobody() {
        assert_eq!(MicroBatch::SINGLE.start(&waiting(&[10, 10]), SimTime(10)), BatchStart::Now(1));
    }

    #[test]
    fn a_timeout_past_the_end_of_time_waits_for_a_full_batch() {
        let batch = MicroBatch::new(2, SimTime(u64::MAX)).unwrap();
        let never = BatchStart::At(SimTime(u64::MAX));
        assert_eq!(batch.start(&waiting(&[10]), SimTime(10)), never);
        assert!(MicroBatch::new(0, SimTime(1)).is_err());
    }
}
