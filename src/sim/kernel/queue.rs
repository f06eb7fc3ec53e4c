//! Events in one total order: time, class, sequence.

use super::KernelError;
use crate::units::SimTime;
use serde::{Deserialize, Serialize};
use std::collections::BinaryHeap;

/// Which of two events at one instant comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[repr(u8)]
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

impl Class {
    const ALL: [Self; 5] =
        [Self::Crossing, Self::Completion, Self::Control, Self::Arrival, Self::Flush];
}

/// Class and sequence in one number: the class in the upper eight bits, so that one comparison
/// orders both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Order(u64);

impl Order {
    const SEQUENCE_BITS: u32 = 56;
    /// Sequences are below this.
    pub(super) const SEQUENCES: u64 = 1 << Self::SEQUENCE_BITS;

    pub(super) fn new(class: Class, sequence: u64) -> Self {
        Self((class as u64) << Self::SEQUENCE_BITS | sequence)
    }

    pub(super) fn sequence(self) -> u64 {
        self.0 % Self::SEQUENCES
    }

    pub(super) fn class(self) -> Class {
        let class = (self.0 >> Self::SEQUENCE_BITS) as usize;
        // Made of a class and never read from outside.
        Class::ALL.get(class).copied().unwrap_or(Class::Flush)
    }
}

#[derive(Debug, Clone)]
pub(super) struct Entry<E> {
    pub(super) at: SimTime,
    pub(super) order: Order,
    pub(super) event: E,
}

impl<E> Entry<E> {
    fn key(&self) -> u128 {
        u128::from(self.at.0) << 64 | u128::from(self.order.0)
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
    /// The earliest is the greatest, for the heap of the standard library gives the greatest.
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        other.key().cmp(&self.key())
    }
}

/// A queue of events of type `E`.
///
/// An event that is overtaken is not taken out: see [`Generation`](super::Generation).
#[derive(Debug, Clone)]
pub struct Queue<E> {
    pub(super) heap: BinaryHeap<Entry<E>>,
    pub(super) sequence: u64,
    pub(super) now: SimTime,
    pub(super) taken: u64,
    pub(super) at_this_instant: u64,
    pub(super) instant_limit: u64,
    /// The last events of an instant that nears the limit.
    pub(super) last: Vec<String>,
    /// So many events pending are worth a look for overtaken ones.
    pub(super) crowded_at: usize,
}

/// More events at one instant than any sound model makes.
pub(super) const INSTANT_LIMIT: u64 = 1_000_000;
/// Events that an error about an instant without end names.
const NAMED: u64 = 4;
/// Fewer pending events than this are never worth a sweep.
pub(super) const SMALLEST_CROWD: usize = 256;

impl<E> Default for Queue<E> {
    fn default() -> Self {
        Self {
            heap: BinaryHeap::new(),
            sequence: 0,
            now: SimTime::ZERO,
            taken: 0,
            at_this_instant: 0,
            instant_limit: INSTANT_LIMIT,
            last: Vec::new(),
            crowded_at: SMALLEST_CROWD,
        }
    }
}

impl<E> Queue<E> {
    /// An empty queue that takes at most `limit` events at one instant instead of a million.
    pub fn with_instant_limit(limit: u64) -> Self {
        Self { instant_limit: limit, ..Self::default() }
    }

    /// The instant of the last event taken.
    pub fn now(&self) -> SimTime {
        self.now
    }

    /// Events taken so far.
    pub fn taken(&self) -> u64 {
        self.taken
    }

    /// Events pending, overtaken ones included.
    pub fn pending(&self) -> usize {
        self.heap.len()
    }

    /// True where an event of some kind is pending.
    pub fn holds(&self, of: impl Fn(&E) -> bool) -> bool {
        self.heap.iter().any(|entry| of(&entry.event))
    }

    /// True when nothing will happen any more.
    pub fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }

    /// The instant of the next event.
    pub fn next_at(&self) -> Option<SimTime> {
        self.heap.peek().map(|e| e.at)
    }

    /// True when the next event is later than now, or there is none: what changed at this instant
    /// is then complete.
    pub fn instant_is_over(&self) -> bool {
        self.next_at().is_none_or(|at| at > self.now)
    }

    /// Drops the next events as long as they are overtaken. Time does not move to them.
    pub fn drop_overtaken(&mut self, mut is_overtaken: impl FnMut(&E) -> bool) {
        while self.heap.peek().is_some_and(|e| is_overtaken(&e.event)) {
            self.heap.pop();
        }
    }

    /// Drops all overtaken events, wherever they wait, each time that twice as many are pending as
    /// after the last sweep: memory stays within twice what is alive, and an event is looked at a
    /// bounded number of times.
    pub fn sweep(&mut self, mut is_overtaken: impl FnMut(&E) -> bool) {
        if self.heap.len() < self.crowded_at {
            return;
        }
        self.heap.retain(|e| !is_overtaken(&e.event));
        self.crowded_at = SMALLEST_CROWD.max(self.heap.len().saturating_mul(2));
    }
}

impl<E: std::fmt::Debug> Queue<E> {
    /// Puts an event at `at`, not before now.
    pub fn schedule(&mut self, at: SimTime, class: Class, event: E) -> Result<(), KernelError> {
        if at < self.now {
            let event = format!("{event:?}");
            return Err(KernelError::Past { at, now: self.now, event });
        }
        if self.sequence >= Order::SEQUENCES {
            return Err(KernelError::Exhausted(Order::SEQUENCES));
        }
        self.heap.push(Entry { at, order: Order::new(class, self.sequence), event });
        self.sequence += 1;
        Ok(())
    }

    /// Puts an event `delay` after now; an error past the end of time.
    pub fn schedule_after(
        &mut self,
        delay: SimTime,
        class: Class,
        event: E,
    ) -> Result<(), KernelError> {
        self.schedule(self.now.after(delay)?, class, event)
    }

    /// Takes the next event and moves time to it.
    pub fn take(&mut self) -> Result<Option<E>, KernelError> {
        let Some(entry) = self.heap.pop() else { return Ok(None) };
        if entry.at > self.now {
            self.now = entry.at;
            self.at_this_instant = 0;
            self.last.clear();
        }
        self.taken = self.taken.saturating_add(1);
        self.at_this_instant = self.at_this_instant.saturating_add(1);
        if self.at_this_instant.saturating_add(NAMED) > self.instant_limit.saturating_add(1) {
            self.near_the_limit(&entry.event)?;
        }
        Ok(Some(entry.event))
    }

    #[cold]
    fn near_the_limit(&mut self, event: &E) -> Result<(), KernelError> {
        self.last.push(format!("{event:?}"));
        if self.at_this_instant <= self.instant_limit {
            return Ok(());
        }
        let last = std::mem::take(&mut self.last);
        Err(KernelError::Stuck { at: self.now, count: self.at_this_instant, last })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::kernel::{Generation, Ticket};
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
        assert_eq!(q.taken(), 4);
    }

    #[test]
    fn classes_are_ordered_as_they_are_packed() {
        for (a, b) in Class::ALL.iter().zip(&Class::ALL[1..]) {
            assert!(a < b);
            assert!(Order::new(*a, Order::SEQUENCES - 1) < Order::new(*b, 0));
        }
        for class in Class::ALL {
            let order = Order::new(class, 12_345);
            assert_eq!((order.class(), order.sequence()), (class, 12_345));
        }
    }

    #[test]
    fn time_that_stands_still_is_an_error_that_names_who_keeps_it() {
        let mut q = Queue::with_instant_limit(1000);
        q.schedule(SimTime(7), Class::Control, "ping").unwrap();
        let stuck = loop {
            match q.take() {
                Ok(Some("ping")) => q.schedule(SimTime(7), Class::Control, "pong").unwrap(),
                Ok(_) => q.schedule(SimTime(7), Class::Control, "ping").unwrap(),
                Err(e) => break e,
            }
        };
        let last = ["pong", "ping", "pong", "ping"].map(|e| format!("{e:?}")).to_vec();
        assert_eq!(stuck, KernelError::Stuck { at: SimTime(7), count: 1001, last });
        assert!(Queue::<u8>::default().instant_limit >= 1_000_000);
    }

    #[test]
    fn a_busy_instant_below_the_limit_is_no_error_and_is_forgotten() {
        let mut q = Queue::with_instant_limit(10);
        for at in [1, 2] {
            for event in 0..10 {
                q.schedule(SimTime(at), Class::Control, event).unwrap();
            }
        }
        for _ in 0..20 {
            assert!(q.take().unwrap().is_some());
        }
    }

    #[test]
    fn a_delay_past_the_end_of_time_is_an_error() {
        let mut q = Queue::default();
        q.schedule(SimTime(u64::MAX), Class::Control, ()).unwrap();
        q.take().unwrap();
        let past_end = q.schedule_after(SimTime(1), Class::Control, ());
        assert!(matches!(past_end, Err(KernelError::Time(_))));
    }

    #[test]
    fn sequences_end_with_an_error_and_not_a_wrap_into_the_class() {
        let mut q = Queue::<()> { sequence: Order::SEQUENCES - 1, ..Queue::default() };
        q.schedule(SimTime(1), Class::Crossing, ()).unwrap();
        let exhausted = q.schedule(SimTime(1), Class::Crossing, ());
        assert_eq!(exhausted, Err(KernelError::Exhausted(1 << 56)));
    }

    #[test]
    fn a_timer_put_off_again_and_again_takes_no_memory() {
        let mut q = Queue::default();
        let mut timer = Generation::default();
        for step in 0..100_000 {
            q.schedule(SimTime(step), Class::Control, None).unwrap();
            q.schedule(SimTime(step + 1_000_000_000), Class::Control, Some(timer.renew())).unwrap();
            q.drop_overtaken(|e: &Option<Ticket>| e.is_some_and(|t| timer.overtook(t)));
            q.take().unwrap();
            q.sweep(|e| e.is_some_and(|t| timer.overtook(t)));
            assert!(q.pending() <= SMALLEST_CROWD, "{}", q.pending());
        }
        // The one that counts is still there, and those overtaken do not move time.
        q.drop_overtaken(|e| e.is_some_and(|t| timer.overtook(t)));
        assert_eq!(q.now(), SimTime(99_999));
        assert_eq!(q.take().unwrap(), Some(Some(timer.ticket())));
        assert_eq!((q.now(), q.pending()), (SimTime(1_000_099_999), 0));
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

        #[test]
        fn a_sweep_changes_no_event_that_counts(times in proptest::collection::vec((0u64..50, any::<bool>()), 0..600)) {
            let taken = |swept: bool| {
                let mut q = Queue::default();
                for (number, (t, stale)) in times.iter().enumerate() {
                    q.schedule(SimTime(*t), Class::Completion, (number, *stale)).unwrap();
                    if swept {
                        q.sweep(|e| e.1);
                    }
                }
                std::iter::from_fn(|| {
                    q.drop_overtaken(|e| e.1);
                    q.take().unwrap().map(|e| (q.now(), e.0))
                })
                .collect::<Vec<_>>()
            };
            prop_assert_eq!(taken(true), taken(false));
        }
    }
}
