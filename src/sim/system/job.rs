//! A pass of a program on its way through its tasks.

use crate::sim::accounts::Mark;
use crate::sim::kernel::Generation;
use crate::sim::load::Request;
use crate::units::SimTime;
use serde::{Deserialize, Serialize};

/// How far a pass is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Stage {
    /// Nobody is served.
    Idle,
    /// It waits for what its task holds.
    Queued,
    /// It holds that, and waits for so many domains; of none for a clock that relocks.
    Waking(u32),
    /// Its task goes on.
    Running,
}

/// An end that is not to come.
pub(super) const NEVER: SimTime = SimTime(u64::MAX);
/// The end of a part that stands still while a clock relocks.
pub(super) const PAUSED: SimTime = SimTime(u64::MAX - 1);

/// What a stream has in service.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Job {
    pub(super) stage: Stage,
    /// Since when it serves them.
    pub(super) service_start: SimTime,
    /// The requests that are served.
    pub(super) requests: Vec<Request>,
    /// The program, by its place among those of the stream.
    pub(super) program: usize,
    /// Passes after this one.
    pub(super) passes_left: u64,
    pub(super) task: usize,
    pub(super) segment: usize,
    pub(super) slot: u64,
    pub(super) pass_start: SimTime,
    pub(super) task_start: SimTime,
    pub(super) segment_start: SimTime,
    /// Since when the slot goes on at its present speed.
    pub(super) slot_start: SimTime,
    /// Share of the engine's part of the slot that was left then.
    pub(super) work_left: f64,
    /// The same of each transfer; all of all where nothing is named.
    pub(super) moves_left: Vec<f64>,
    /// The speed that its program is of.
    pub(super) speed: usize,
    /// When the engine's part of the slot ends; [`NEVER`] when it has.
    pub(super) work_end: SimTime,
    /// When each transfer of the slot ends, likewise.
    pub(super) ends: Vec<SimTime>,
    pub(super) mark: Mark,
    pub(super) generation: Generation,
    /// The end that an event is scheduled for.
    pub(super) scheduled: SimTime,
}

impl Job {
    pub(super) fn new() -> Self {
        Self {
            stage: Stage::Idle,
            service_start: SimTime::ZERO,
            requests: Vec::new(),
            program: 0,
            passes_left: 0,
            task: 0,
            segment: 0,
            slot: 0,
            pass_start: SimTime::ZERO,
            task_start: SimTime::ZERO,
            segment_start: SimTime::ZERO,
            slot_start: SimTime::ZERO,
            work_left: 1.0,
            moves_left: Vec::new(),
            speed: 0,
            work_end: NEVER,
            ends: Vec::new(),
            mark: Mark::default(),
            generation: Generation::default(),
            scheduled: NEVER,
        }
    }

    /// Share of a transfer of the slot that was left when it began to go on as it does.
    pub(super) fn move_left(&self, part: usize) -> f64 {
        self.moves_left.get(part).copied().unwrap_or(1.0)
    }

    /// The next end of a part; [`NEVER`] when all are done.
    pub(super) fn next_end(&self) -> SimTime {
        self.ends.iter().copied().fold(self.work_end, SimTime::min)
    }
}
