//! The loop: one event after another until nothing is left, or until something says stop.

use super::{KernelError, Queue};
use crate::units::SimTime;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};

/// What is simulated.
pub trait System {
    /// What can happen to it. Its `Debug` names the component, for messages.
    type Event: fmt::Debug;
    /// Why it cannot go on.
    type Error: From<KernelError>;

    /// Whether an event comes from a plan that was made anew since.
    fn is_overtaken(&self, event: &Self::Event) -> bool;

    /// What an event does, at `queue.now()`.
    fn handle(
        &mut self,
        event: Self::Event,
        queue: &mut Queue<Self::Event>,
    ) -> Result<(), Self::Error>;

    /// All events of this instant were handled: what they changed is complete. More may be scheduled
    /// at this very instant; this is called again after them.
    fn settle(&mut self, queue: &mut Queue<Self::Event>) -> Result<(), Self::Error> {
        let _ = queue;
        Ok(())
    }
}

/// What ends a run before nothing is left to happen.
#[derive(Debug, Clone, Copy, Default)]
pub struct Stops<'a> {
    /// Events after this instant are not taken.
    pub until: Option<SimTime>,
    /// So many events are taken, over all parts of a run.
    pub max_events: Option<u64>,
    /// Looked at before each event; who sets it is up to the caller.
    pub interrupt: Option<&'a AtomicBool>,
}

/// How a run ended. Its state is whole in every case, and driving it again goes on from there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// Nothing was left to happen.
    Done,
    /// The next event is later than was asked for.
    Until(SimTime),
    /// As many events as were allowed.
    MaxEvents(u64),
    /// The caller interrupted it.
    Interrupted,
}

impl Ending {
    /// True when the run was cut off rather than brought to the end that was asked for.
    pub fn is_incomplete(self) -> bool {
        matches!(self, Self::MaxEvents(_) | Self::Interrupted)
    }
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Done => f.write_str("nothing was left to happen"),
            Self::Until(at) => write!(f, "it ran until {at}"),
            Self::MaxEvents(events) => write!(f, "incomplete: stopped after {events} events"),
            Self::Interrupted => f.write_str("incomplete: interrupted"),
        }
    }
}

impl Stops<'_> {
    /// Whether to stop before the next event, which is at `next`.
    fn reached(&self, next: SimTime, taken: u64) -> Option<Ending> {
        if let Some(until) = self.until.filter(|until| next > *until) {
            return Some(Ending::Until(until));
        }
        if self.max_events.is_some_and(|most| taken >= most) {
            return Some(Ending::MaxEvents(taken));
        }
        let interrupted = self.interrupt.is_some_and(|flag| flag.load(Ordering::Relaxed));
        interrupted.then_some(Ending::Interrupted)
    }
}

/// Runs `system` until nothing is left to happen or `stops` says so.
pub fn drive<S: System>(
    system: &mut S,
    queue: &mut Queue<S::Event>,
    stops: Stops<'_>,
) -> Result<Ending, S::Error> {
    let mut unsettled = false;
    loop {
        queue.drop_overtaken(|event| system.is_overtaken(event));
        if unsettled && queue.instant_is_over() {
            unsettled = false;
            system.settle(queue)?;
            continue;
        }
        let Some(next) = queue.next_at() else { return Ok(Ending::Done) };
        if let Some(ending) = stops.reached(next, queue.taken()) {
            return Ok(ending);
        }
        let Some(event) = queue.take()? else { return Ok(Ending::Done) };
        system.handle(event, queue)?;
        queue.sweep(|event| system.is_overtaken(event));
        unsettled = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::kernel::{Class, Generation, Ticket};

    /// Counts down; a watchdog that every count puts off.
    #[derive(Default)]
    struct Countdown {
        left: u32,
        watchdog: Generation,
        barks: Vec<SimTime>,
        settled: Vec<SimTime>,
        once_more: bool,
    }

    #[derive(Debug)]
    enum Event {
        Count,
        Nothing,
        Bark(Ticket),
    }

    impl System for Countdown {
        type Event = Event;
        type Error = KernelError;

        fn is_overtaken(&self, event: &Event) -> bool {
            matches!(event, Event::Bark(ticket) if self.watchdog.overtook(*ticket))
        }

        fn handle(&mut self, event: Event, queue: &mut Queue<Event>) -> Result<(), KernelError> {
            match event {
                Event::Nothing => {}
                Event::Bark(_) => self.barks.push(queue.now()),
                Event::Count => {
                    let bark = Event::Bark(self.watchdog.renew());
                    queue.schedule_after(SimTime(15), Class::Control, bark)?;
                    self.left = self.left.saturating_sub(1);
                    if self.left > 0 {
                        queue.schedule_after(SimTime(10), Class::Completion, Event::Count)?;
                    }
                }
            }
            Ok(())
        }

        fn settle(&mut self, queue: &mut Queue<Event>) -> Result<(), KernelError> {
            self.settled.push(queue.now());
            if std::mem::take(&mut self.once_more) {
                queue.schedule(queue.now(), Class::Flush, Event::Nothing)?;
            }
            Ok(())
        }
    }

    fn started(left: u32) -> (Countdown, Queue<Event>) {
        let mut queue = Queue::default();
        queue.schedule(SimTime(0), Class::Completion, Event::Count).unwrap();
        (Countdown { left, ..Countdown::default() }, queue)
    }

    #[test]
    fn an_overtaken_event_neither_acts_nor_moves_time() {
        let (mut system, mut queue) = started(3);
        assert_eq!(drive(&mut system, &mut queue, Stops::default()), Ok(Ending::Done));
        assert_eq!(system.barks, [SimTime(35)]);
        assert_eq!(system.settled, [0, 10, 20, 35].map(SimTime));
        assert_eq!(queue.taken(), 4);
    }

    #[test]
    fn an_instant_whose_last_events_are_overtaken_is_settled() {
        let (mut system, mut queue) = started(1);
        let old = system.watchdog.renew();
        queue.schedule(SimTime(0), Class::Control, Event::Bark(old)).unwrap();
        drive(&mut system, &mut queue, Stops::default()).unwrap();
        assert_eq!(system.settled, [0, 15].map(SimTime));
    }

    #[test]
    fn what_settling_schedules_at_the_same_instant_is_settled_again() {
        let (mut system, mut queue) = started(1);
        system.once_more = true;
        drive(&mut system, &mut queue, Stops::default()).unwrap();
        assert_eq!(system.settled, [0, 0, 15].map(SimTime));
    }

    #[test]
    fn a_run_stops_at_its_limits_and_goes_on_from_there() {
        let (mut system, mut queue) = started(1000);
        let most = |events| Stops { max_events: Some(events), ..Stops::default() };
        let ending = drive(&mut system, &mut queue, most(10)).unwrap();
        assert_eq!((ending, queue.taken()), (Ending::MaxEvents(10), 10));
        assert!(ending.is_incomplete());
        let until = Stops { until: Some(SimTime(509)), ..Stops::default() };
        let ending = drive(&mut system, &mut queue, until).unwrap();
        assert_eq!((ending, queue.now()), (Ending::Until(SimTime(509)), SimTime(500)));
        assert!(!ending.is_incomplete());
        let interrupt = AtomicBool::new(true);
        let interrupted = Stops { interrupt: Some(&interrupt), ..Stops::default() };
        let ending = drive(&mut system, &mut queue, interrupted).unwrap();
        assert_eq!((ending, queue.now()), (Ending::Interrupted, SimTime(500)));
        assert!(ending.is_incomplete());
        interrupt.store(false, Ordering::Relaxed);
        assert_eq!(drive(&mut system, &mut queue, interrupted), Ok(Ending::Done));
        assert_eq!(queue.now(), SimTime(9990 + 15));
        // Stops that come when nothing is left cut nothing off.
        interrupt.store(true, Ordering::Relaxed);
        assert_eq!(drive(&mut system, &mut queue, interrupted), Ok(Ending::Done));
    }
}
