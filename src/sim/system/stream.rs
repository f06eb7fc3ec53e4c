//! Requests of one kind: how they come, wait, are served, and what became of them.

use super::job::Job;
use crate::sim::Durations;
use crate::sim::kernel::Generation;
use crate::sim::load::{Admission, Deadlines, MicroBatch, Request, Source, StreamRank};
use crate::sim::program::Program;
use crate::trace::PassName;
use crate::units::SimTime;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};

/// Where requests of a stream come from.
#[derive(Debug)]
pub enum Feed {
    /// They come by themselves.
    Source(Source),
    /// They are passed on by another stream.
    Passed,
}

/// What passes on what a stream has done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Onward {
    /// The cascade, by number.
    pub cascade: usize,
    /// The stage of it that the stream is.
    pub stage: usize,
}

/// A stream of requests.
#[derive(Debug)]
pub struct StreamSetup {
    /// Its name.
    pub name: String,
    /// What a pass is.
    pub pass: PassName,
    /// By speed, the programs of one request, of two together, and so on.
    pub programs: Vec<Vec<Program>>,
    /// Passes of a request, one after the other.
    pub passes: u64,
    /// Where requests come from.
    pub feed: Feed,
    /// Time from asking to the end.
    pub deadline: Option<SimTime>,
    /// Higher goes first.
    pub priority: u32,
    /// How many are served together.
    pub batch: MicroBatch,
    /// Who is let in.
    pub admission: Admission,
    /// The stage of a cascade that it is.
    pub onward: Option<Onward>,
}

/// What became of the requests of a stream.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Served {
    /// Requests that came.
    pub asked: u64,
    /// Requests that were served.
    pub done: u64,
    /// Requests that were not let in.
    pub refused: u64,
    /// Requests that gave way to later ones.
    pub dropped: u64,
    /// Requests that waited for others.
    pub waited: u64,
    /// Inferences that were done.
    pub inferences: u64,
    /// Inferences of requests that were done in time, or that had no deadline.
    pub in_time: u64,
    /// Passes that were done.
    pub passes: u64,
    /// The same by program: of one request, of two together, and so on.
    pub passes_of: Vec<u64>,
    /// The most requests that waited at a time.
    pub longest_queue: u64,
    /// Deadlines.
    pub deadlines: Deadlines,
    /// From the start of a pass to its end.
    pub latency: Durations,
    /// From asking to the end.
    pub response: Durations,
    /// Time in service.
    pub busy: SimTime,
}

impl Served {
    /// Books time in service.
    pub(super) fn spend(&mut self, start: SimTime, end: SimTime) {
        self.busy = SimTime(self.busy.0.saturating_add(end.since(start).0));
    }
}

/// A stream in a run.
#[derive(Debug)]
pub(super) struct Stream {
    pub(super) setup: StreamSetup,
    /// Its next request that comes by itself.
    pub(super) next: Option<SimTime>,
    pub(super) waiting: VecDeque<Request>,
    pub(super) job: Job,
    /// Of timers of batches.
    pub(super) timer: Generation,
    pub(super) served: Served,
    /// Looks of a cascade that go further, by number of the request: how many stages pass them.
    pub(super) looks: BTreeMap<u64, usize>,
    pub(super) uses_engines: bool,
}

impl Stream {
    pub(super) fn new(setup: StreamSetup) -> Self {
        let uses_engines = setup.programs.iter().flatten().any(Program::uses_engines);
        let programs = setup.programs.first().map_or(0, Vec::len);
        Self {
            setup,
            next: None,
            waiting: VecDeque::new(),
            job: Job::new(),
            timer: Generation::default(),
            served: Served { passes_of: vec![0; programs], ..Served::default() },
            looks: BTreeMap::new(),
            uses_engines,
        }
    }

    /// The program of what is in service.
    pub(super) fn program(&self) -> &Program {
        &self.setup.programs[self.job.speed][self.job.program]
    }

    /// What decides between it and others.
    pub(super) fn rank(&self) -> StreamRank {
        let first = self.job.requests.first();
        StreamRank {
            priority: self.setup.priority,
            due: first.and_then(|request| request.due),
            arrived: first.map_or(SimTime::ZERO, |request| request.arrived),
        }
    }

    /// When a request that comes now could be done at the earliest, with what is before it in its own
    /// stream and nothing else.
    pub(super) fn earliest_end(&self, now: SimTime) -> SimTime {
        let pass =
            self.setup.programs[self.job.speed].first().map_or(SimTime::ZERO, Program::alone);
        let each = pass.0.saturating_mul(self.setup.passes);
        let before = (self.waiting.len() as u64).saturating_add(1);
        let mut left = each.saturating_mul(before);
        if !self.job.requests.is_empty() {
            let program = self.program();
            let done = program.begin(self.job.task).0;
            let rest = program.alone().0.saturating_sub(done);
            let passes = program.alone().0.saturating_mul(self.job.passes_left);
            left = left.saturating_add(rest).saturating_add(passes);
        }
        SimTime(now.0.saturating_add(left))
    }
}
