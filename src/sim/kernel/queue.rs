//! Events in one total order: time, class, sequence.

use crate::units::{SimTime, TimeError};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Which of two events at one instant comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// A continuous quantity crosses a threshold.
    Crossing,
    /// Work is done.
    Completion,
    /// A controller looks.
    Control,
    /// New work comes.
    Arrival,
    /// Something is written down.
    Flush,
}

/// Why a run cannot go on.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum KernelError {
    /// Time ran out of its range.
    #[error(transparent)]
    Time(#[from] TimeError),
    /// An event before now.
    #[error("an event at {at} was scheduled at {now}, in its past: {event}")]
    Past {
        /// When it should have been.
        at: SimTime,
        /// When it was scheduled.
        now: SimTime,
        /// The event.
        event: String,
    },
    /// Time stands still.
    #[error("{count} events at {at} without time going on; the last was {event}")]
    Stuck {
        /// The instant.
        at: SimTime,
        /// Events at it.
        count: u64,
        /// The last event.
        event: String,
    },
}

#[derive(Debug)]
struct Entry<E> {
    at: SimTime,
    class: Class,
    sequence: u64,
    event: E,
}

impl<E> Entry<E> {
    fn key(&self) -> (SimTime, Class, u64) {
        (self.at, self.class, self.sequence)
    }
}

impl<E> PartialEq for Entry<E> {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}
impl<E> Eq for Entry<E> {}
impl<E> PartialOrd for Entry<E> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl<E> Ord for Entry<E> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

/// A queue of events of type `E`.
///
/// An event that is overtaken is not taken out: its component keeps a generation counter, puts it
/// into the event, and ignores events of an older generation.
#[derive(Debug)]
pub struct Queue<E> {
    heap: BinaryHeap<Reverse<Entry<E>>>,
    sequence: u64,
    now: SimTime,
    at_this_instant: u64,
}

/// More events at one instant than any sound model makes.
const INSTANT_LIMIT: u64 = 1_000_000;

impl<E> Default for Queue<E> {
    fn default() -> Self {
        Self { heap: BinaryHeap::new(), sequence: 0, now: SimTime::ZERO, at_this_instant: 0 }
    }
}

impl<E: std::fmt::Debug> Queue<E> {
    /// The instant of the last event taken.
    pub fn now(&self) -> SimTime {
        self.now
    }

    /// Puts an event at `at`, not before now.
    pub fn schedule(&mut self, at: SimTime, class: Class, event: E) -> Result<(), KernelError> {
        if at < self.now {
            let event = format!("{event:?}");
            return Err(KernelError::Past { at, now: self.now, event });
        }
        self.heap.push(Reverse(Entry { at, class, sequence: self.sequence, event }));
        self.sequence += 1;
        Ok(())
    }

    /// Takes the next event and moves time to it.
    pub fn take(&mut self) -> Result<Option<E>, KernelError> {
        let Some(Reverse(entry)) = self.heap.pop() else { return Ok(None) };
        if entry.at > self.now {
            self.now = entry.at;
            self.at_this_instant = 0;
        }
        self.at_this_instant += 1;
        if self.at_this_instant > INSTANT_LIMIT {
            return Err(KernelError::Stuck {
                at: self.now,
                count: self.at_this_instant,
                event: format!("{:?}", entry.event),
            });
        }
        Ok(Some(entry.event))
    }

    /// True when nothing will happen any more.
    pub fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }

    /// True when the next event is later than now, or there is none: what changed at this instant
    /// is then complete.
    pub fn instant_is_over(&self) -> bool {
        self.heap.peek().is_none_or(|Reverse(e)| e.at > self.now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ties_go_by_class_then_by_order_of_scheduling() {
        let mut q = Queue::default();
        q.schedule(SimTime(5), Class::Arrival, "arrival").unwrap();
        q.schedule(SimTime(5), Class::Completion, "first done").unwrap();
        q.schedule(SimTime(5), Class::Completion, "second done").unwrap();
        q.schedule(SimTime(1), Class::Flush, "early").unwrap();
        let order: Vec<_> = std::iter::from_fn(|| q.take().unwrap()).collect();
        assert_eq!(order, ["early", "first done", "second done", "arrival"]);
        assert!(matches!(
            q.schedule(SimTime(4), Class::Arrival, "late"),
            Err(KernelError::Past { .. })
        ));
    }

    #[test]
    fn time_that_stands_still_is_an_error_that_names_the_event() {
        let mut q = Queue::default();
        q.schedule(SimTime(0), Class::Control, "ping").unwrap();
        let stuck = loop {
            match q.take() {
                Ok(_) => q.schedule(SimTime(0), Class::Control, "ping").unwrap(),
                Err(e) => break e,
            }
        };
        assert!(stuck.to_string().contains("ping"), "{stuck}");
    }

    proptest! {
        #[test]
        fn events_come_sorted_whatever_the_order_of_scheduling(times in proptest::collection::vec(0u64..50, 0..60)) {
            let mut q = Queue::default();
            for t in &times {
                q.schedule(SimTime(*t), Class::Completion, *t).unwrap();
            }
            let out: Vec<_> = std::iter::from_fn(|| q.take().unwrap()).collect();
            let mut sorted = times.clone();
            sorted.sort_unstable();
            prop_assert_eq!(out, sorted);
        }
    }
}
