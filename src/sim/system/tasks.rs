//! Tasks: who holds an engine, and slot after slot of what goes on.

use super::job::{NEVER, PAUSED, Stage};
use super::port::Owner;
use super::speed::Speeds;
use super::{Event, System};
use crate::hardware::Role;
use crate::sim::SimError;
use crate::sim::kernel::{Class, Queue};
use crate::sim::program::{Holds, Segment};
use crate::trace::{Sink, SpanKind};
use crate::units::{Joules, SimTime, Watts};

impl<S: Sink> System<'_, '_, S> {
    /// Gives free engines to the most urgent tasks that wait for them.
    pub(super) fn dispatch_tasks(&mut self, queue: &mut Queue<Event>) -> Result<(), SimError> {
        for stream in 0..self.streams.len() {
            if self.streams[stream].job.stage != Stage::Queued {
                continue;
            }
            match self.held(stream) {
                Holds::Engine(engine) => {
                    if self.engines[engine].holder.is_none() && self.is_first(stream, engine) {
                        let now = queue.now();
                        let unit = &mut self.engines[engine];
                        (unit.holder, unit.since) = (Some(stream), now);
                        self.take_domains(stream, queue)?;
                    }
                }
                Holds::Block(..) | Holds::Nothing => self.take_domains(stream, queue)?,
            }
        }
        Ok(())
    }

    /// What the task of a stream holds, or waits for.
    pub(super) fn held(&self, stream: usize) -> Holds {
        let stream = &self.streams[stream];
        stream.program().tasks.get(stream.job.task).map_or(Holds::Nothing, |task| task.holds)
    }

    /// True where no task that waits for the engine is more urgent.
    fn is_first(&self, stream: usize, engine: usize) -> bool {
        let waits = |other: usize| {
            self.streams[other].job.stage == Stage::Queued
                && self.held(other) == Holds::Engine(engine)
        };
        let rank = |stream: usize| self.streams[stream].rank();
        // Of equals the first.
        let earlier = |other: usize| !rank(stream).is_before(rank(other));
        let later = |other: usize| rank(other).is_before(rank(stream));
        let before = (0..stream).any(|other| waits(other) && earlier(other));
        let after = (stream + 1..self.streams.len()).any(|other| waits(other) && later(other));
        !before && !after
    }

    /// Wakes the domains that a task needs, and begins it where they are on.
    fn take_domains(&mut self, stream: usize, queue: &mut Queue<Event>) -> Result<(), SimError> {
        let task = self.streams[stream].job.task;
        let count = self.streams[stream].program().tasks[task].domains.len();
        let mut missing = 0;
        for place in 0..count {
            let tasks = &self.streams[stream].program().tasks;
            let domain = tasks[task].domains[place];
            let held =
                task.checked_sub(1).is_some_and(|before| tasks[before].held.contains(&domain));
            if !held {
                self.need(domain, queue)?;
            }
            missing += u32::from(!self.domains.is_on(domain));
        }
        if self.streams[stream].uses_engines {
            // Those that were counted as needed by the task are not counted twice.
            let tasks = &self.streams[stream].program().tasks[task].domains;
            missing += self.domains.followers_off(tasks);
        }
        if missing > 0 {
            self.streams[stream].job.stage = Stage::Waking(missing);
            return Ok(());
        }
        self.begin_task(stream, queue)
    }

    /// A domain is on that jobs may have waited for.
    pub(super) fn proceed(
        &mut self,
        domain: usize,
        queue: &mut Queue<Event>,
    ) -> Result<(), SimError> {
        for stream in 0..self.streams.len() {
            let own = &mut self.streams[stream];
            let Stage::Waking(missing) = own.job.stage else { continue };
            let needs = own.program().tasks[own.job.task].domains.contains(&domain);
            let follows = own.uses_engines && self.domains.follows(domain);
            if !needs && !follows {
                continue;
            }
            if missing > 1 {
                own.job.stage = Stage::Waking(missing - 1);
            } else {
                self.begin_task(stream, queue)?;
            }
        }
        self.proceed_reloads(domain, queue)
    }

    pub(super) fn begin_task(
        &mut self,
        stream: usize,
        queue: &mut Queue<Event>,
    ) -> Result<(), SimError> {
        if matches!(self.held(stream), Holds::Engine(_)) && self.is_halted() {
            self.streams[stream].job.stage = Stage::Waking(0);
            return Ok(());
        }
        let now = queue.now();
        let mark = self.accounts.mark();
        self.at_work += 1;
        let speed = self.speeds.as_ref().map_or(0, Speeds::at);
        let job = &mut self.streams[stream].job;
        job.speed = speed;
        (job.stage, job.segment, job.slot) = (Stage::Running, 0, 0);
        (job.task_start, job.segment_start, job.mark) = (now, now, mark);
        if job.task == 0 {
            job.pass_start = now;
        }
        if let Holds::Block(load, state) = self.held(stream) {
            self.enter_block(now, load, state);
        }
        self.begin_slot(stream, queue)
    }

    pub(super) fn segment(&self, stream: usize) -> &Segment {
        let own = &self.streams[stream];
        &own.program().tasks[own.job.task].segments[own.job.segment]
    }

    fn begin_slot(&mut self, stream: usize, queue: &mut Queue<Event>) -> Result<(), SimError> {
        let now = queue.now();
        let slot = self.streams[stream].job.slot;
        let segment = self.segment(stream);
        let (moving, count) = (segment.moving, segment.moves.len());
        let part = segment.share(moving, slot);
        let of_moves = segment.part(moving, slot);
        let work = segment.work.map(|work| (segment.share(work.time, slot), work));
        let job = &mut self.streams[stream].job;
        (job.slot_start, job.work_end, job.work_left) = (now, NEVER, 1.0);
        job.moves_left.clear();
        job.ends.clear();
        job.ends.resize(count, NEVER);
        if let Some((time, work)) = work {
            job.work_end = now.after(time)?;
            if let Holds::Engine(engine) = self.held(stream) {
                self.accounts.set(now, Role::Engine(engine), work.power());
            }
        }
        for place in 0..count {
            let own = self.segment(stream).moves[place];
            let asked = (part, own.demand, own.energy * of_moves);
            let owner = Owner { job: stream, part: place };
            let moved = &mut self.moved;
            self.ports[own.channel].start(now, owner, asked, |own, end| moved.push((own, end)))?;
            self.port_changed(own.channel);
        }
        self.follow_ends(queue)?;
        self.plan_end(stream, queue)
    }

    /// Takes over ends that ports moved.
    pub(super) fn follow_ends(&mut self, queue: &mut Queue<Event>) -> Result<(), SimError> {
        let mut moved = std::mem::take(&mut self.moved);
        for (owner, end) in &moved {
            let Some(stream) = self.streams.get_mut(owner.job) else {
                self.move_reload_end(*owner, *end);
                continue;
            };
            if let Some(own) = stream.job.ends.get_mut(owner.part) {
                *own = *end;
            }
        }
        for (owner, _) in moved.drain(..) {
            if owner.job < self.streams.len() {
                self.plan_end(owner.job, queue)?;
            } else {
                self.plan_reload(owner, queue)?;
            }
        }
        self.moved = moved;
        Ok(())
    }

    /// Schedules the next end of a job's parts, unless it is.
    pub(super) fn plan_end(
        &mut self,
        stream: usize,
        queue: &mut Queue<Event>,
    ) -> Result<(), SimError> {
        let job = &mut self.streams[stream].job;
        let end = job.next_end();
        if end != job.scheduled && end < PAUSED {
            job.scheduled = end;
            let ticket = job.generation.renew();
            queue.schedule(end, Class::Completion, Event::Work { stream, ticket })?;
        }
        Ok(())
    }

    /// Parts of a job end.
    pub(super) fn work(&mut self, stream: usize, queue: &mut Queue<Event>) -> Result<(), SimError> {
        let now = queue.now();
        self.streams[stream].job.scheduled = NEVER;
        let mut spent = Joules::ZERO;
        if self.streams[stream].job.work_end <= now {
            self.streams[stream].job.work_end = NEVER;
            spent += self.work_energy(stream);
            if let Holds::Engine(engine) = self.held(stream) {
                self.accounts.set(now, Role::Engine(engine), Watts::ZERO);
            }
        }
        for part in 0..self.streams[stream].job.ends.len() {
            if self.streams[stream].job.ends[part] > now {
                continue;
            }
            self.streams[stream].job.ends[part] = NEVER;
            spent += self.move_energy(stream, part);
            let channel = self.segment(stream).moves[part].channel;
            let moved = &mut self.moved;
            let owner = Owner { job: stream, part };
            self.ports[channel].finish(now, owner, |own, end| moved.push((own, end)))?;
            self.port_changed(channel);
        }
        self.charge(stream, spent);
        self.follow_ends(queue)?;
        if self.streams[stream].job.next_end() == NEVER {
            return self.slot_done(stream, queue);
        }
        self.plan_end(stream, queue)
    }

    /// What the engine's part of the present slot costs by the plan, from where it goes on as it does.
    pub(super) fn work_energy(&self, stream: usize) -> Joules {
        let segment = self.segment(stream);
        let Some(work) = segment.work else { return Joules::ZERO };
        let job = &self.streams[stream].job;
        work.energy * segment.part(work.time, job.slot) * job.work_left
    }

    /// What a transfer of the present slot costs by the plan, likewise.
    pub(super) fn move_energy(&self, stream: usize, part: usize) -> Joules {
        let segment = self.segment(stream);
        let job = &self.streams[stream].job;
        segment.moves[part].energy * segment.part(segment.moving, job.slot) * job.move_left(part)
    }

    pub(super) fn charge(&mut self, stream: usize, energy: Joules) {
        let own = &self.streams[stream];
        let layer = own.program().tasks[own.job.task].layer;
        self.accounts.charge(stream, layer, energy);
    }

    fn slot_done(&mut self, stream: usize, queue: &mut Queue<Event>) -> Result<(), SimError> {
        let now = queue.now();
        let slots = self.segment(stream).slots;
        let job = &mut self.streams[stream].job;
        if job.slot + 1 < slots {
            job.slot += 1;
            return self.begin_slot(stream, queue);
        }
        let start = job.segment_start;
        if self.hears.phases {
            let name = self.segment(stream).kind.name();
            self.tell_work(stream, (SpanKind::Phase, name), (start, now));
        }
        let own = &mut self.streams[stream];
        let segments = own.program().tasks[own.job.task].segments.len();
        if own.job.segment + 1 < segments {
            (own.job.segment, own.job.slot) = (own.job.segment + 1, 0);
            own.job.segment_start = now;
            return self.begin_slot(stream, queue);
        }
        self.task_done(stream, queue)
    }

    /// Tells of work on the lane of what it holds.
    fn tell_work(
        &mut self,
        stream: usize,
        (kind, name): (SpanKind, &str),
        times: (SimTime, SimTime),
    ) {
        let spec = self.setting.profile.spec();
        let own = &self.streams[stream];
        let track = match self.held(stream) {
            Holds::Engine(engine) => spec.engines[engine].name.as_str(),
            Holds::Block(load, _) => spec.loads[load].name.as_str(),
            Holds::Nothing => own.setup.name.as_str(),
        };
        let (track, inference) = (track.to_owned(), own.served.inferences);
        self.tell((kind, name, &track), Some(inference), times);
    }

    fn task_done(&mut self, stream: usize, queue: &mut Queue<Event>) -> Result<(), SimError> {
        let now = queue.now();
        self.at_work -= 1;
        let own = &self.streams[stream];
        let (task, mark, start) = (own.job.task, own.job.mark, own.job.task_start);
        self.accounts.charge_shared(stream, own.program().tasks[task].layer, mark);
        if self.hears.layers {
            let name = own.program().tasks[task].name.clone();
            self.tell_work(stream, (SpanKind::Layer, &name), (start, now));
        }
        match self.held(stream) {
            Holds::Engine(engine) => {
                let unit = &mut self.engines[engine];
                let lasted = now.since(unit.since);
                unit.busy = SimTime(unit.busy.0.saturating_add(lasted.0));
                unit.holder = None;
            }
            Holds::Block(load, state) => self.leave_block(now, load, state),
            Holds::Nothing => {}
        }
        for place in 0..self.streams[stream].program().tasks[task].domains.len() {
            let own = &self.streams[stream].program().tasks[task];
            let domain = own.domains[place];
            if !own.held.contains(&domain) {
                self.domains.release(domain);
            }
        }
        self.dispatch = true;
        let own = &mut self.streams[stream];
        own.job.stage = Stage::Queued;
        own.job.task += 1;
        if own.job.task < own.program().tasks.len() {
            return Ok(());
        }
        self.pass_done(stream, queue)
    }
}
