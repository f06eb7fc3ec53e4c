//! What a kernel knows when a governor is asked.

use crate::units::{Cycles, Ratio, Seconds, SimTime};

/// What is known at a moment. Of a domain of several units, shares are those of its busiest.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Observed {
    /// The moment.
    pub now: SimTime,
    /// The window since the governor was last asked \[s\].
    pub window: Seconds,
    /// Share of the window in which the unit ran, in \[0, 1\].
    pub busy: Ratio,
    /// Share of the window in which it ran times its capacity then: what it got done, as a share of what the
    /// ablest unit of the system could have.
    pub done: Ratio,
    /// Utilisation as tracked exactly by those who know when the unit ran. Without it the work done counts
    /// as spread evenly over the window.
    pub tracked: Option<Ratio>,
    /// The point that the domain stands at, or is on its way to.
    pub current: usize,
    /// The highest point that heat and rails allow.
    pub highest: usize,
    /// The job in hand.
    pub job: Option<JobLeft>,
}

/// What is left of a job.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct JobLeft {
    /// Cycles still to be run.
    pub work: Cycles,
    /// Time until its deadline \[s\]; none is a job without one.
    pub time: Option<Seconds>,
}

impl Observed {
    /// A window at a point of capacity `capacity`, all of it spent there.
    pub fn window(
        (now, window): (SimTime, Seconds),
        busy: Ratio,
        (current, capacity): (usize, Ratio),
    ) -> Self {
        let done = Ratio(busy.0 * capacity.0);
        let highest = usize::MAX;
        Self { now, window, busy, done, tracked: None, current, highest, job: None }
    }

    /// A moment at which a job is in hand, or none.
    pub fn job(now: SimTime, job: Option<JobLeft>, current: usize) -> Self {
        let window = (now, Seconds::ZERO);
        Self { job, ..Self::window(window, Ratio::ZERO, (current, Ratio::ZERO)) }
    }
}
