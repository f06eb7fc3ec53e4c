//! Requests: they come, wait, are served together, and are passed on.

use super::job::Stage;
use super::stream::{Feed, Onward};
use super::{Event, System};
use crate::sim::SimError;
use crate::sim::kernel::{Class, Queue};
use crate::sim::load::{BatchStart, Request, Verdict};
use crate::trace::{PassName, Sink, SpanKind};
use crate::units::{SimTime, TimeError};

impl<S: Sink> System<'_, '_, S> {
    /// Looks up the next request of a stream that comes by itself.
    pub(super) fn look_up(
        &mut self,
        stream: usize,
        queue: &mut Queue<Event>,
    ) -> Result<(), SimError> {
        let own = &mut self.streams[stream];
        let Feed::Source(source) = &mut own.setup.feed else { return Ok(()) };
        own.next = none_past_the_end(source.coming())?;
        if let Some(at) = own.next {
            let event = Event::Arrive { stream, by_itself: true };
            queue.schedule(at, Class::Arrival, event)?;
        }
        Ok(())
    }

    /// A request comes; of a cascade, with the number of its look and of the stages that pass it.
    pub(super) fn ask(
        &mut self,
        stream: usize,
        look: Option<(u64, usize)>,
        queue: &mut Queue<Event>,
    ) -> Result<(), SimError> {
        let now = queue.now();
        let own = &mut self.streams[stream];
        let number = look.map_or(own.served.asked, |(number, _)| number);
        own.served.asked += 1;
        let due = own.setup.deadline.and_then(|deadline| now.after(deadline).ok());
        let request = Request { number, arrived: now, due };
        let earliest = if own.setup.admission.refuse_late { own.earliest_end(now) } else { now };
        let lost = match own.setup.admission.offer(&mut own.waiting, request, earliest) {
            Verdict::Waits => None,
            Verdict::Displaces(dropped) => {
                own.served.dropped += 1;
                Some(dropped.0)
            }
            Verdict::Refused(_) => {
                own.served.refused += 1;
                Some(request)
            }
        };
        // What is passed by no further stage needs no note.
        let stage = own.setup.onward.map_or(0, |onward| onward.stage);
        if let Some((number, passed)) = look.filter(|(_, passed)| *passed > stage) {
            own.looks.insert(number, passed);
        }
        own.served.longest_queue = own.served.longest_queue.max(own.waiting.len() as u64);
        self.serve = true;
        if let Some(lost) = lost {
            own.served.deadlines.lost(&lost);
            own.looks.remove(&lost.number);
            self.over(stream, queue)?;
        }
        Ok(())
    }

    /// A request is over: whoever asked may ask again.
    fn over(&mut self, stream: usize, queue: &mut Queue<Event>) -> Result<(), SimError> {
        let Feed::Source(source) = &mut self.streams[stream].setup.feed else { return Ok(()) };
        let next = none_past_the_end(source.over(queue.now()))?;
        if let Some(at) = next {
            let event = Event::Arrive { stream, by_itself: false };
            queue.schedule(at, Class::Arrival, event)?;
        }
        Ok(())
    }

    /// Streams that serve nobody take the next batch.
    pub(super) fn serve_streams(&mut self, queue: &mut Queue<Event>) -> Result<(), SimError> {
        let now = queue.now();
        for stream in 0..self.streams.len() {
            let own = &mut self.streams[stream];
            if own.job.stage != Stage::Idle {
                continue;
            }
            match own.setup.batch.start(&own.waiting, now) {
                BatchStart::Never => {}
                BatchStart::At(at) => {
                    let ticket = own.timer.renew();
                    queue.schedule(at, Class::Control, Event::Batch { stream, ticket })?;
                }
                BatchStart::Now(count) => {
                    own.timer.renew();
                    self.serve_batch(stream, count, queue)?;
                }
            }
        }
        Ok(())
    }

    fn serve_batch(
        &mut self,
        stream: usize,
        count: u64,
        queue: &mut Queue<Event>,
    ) -> Result<(), SimError> {
        let now = queue.now();
        let own = &mut self.streams[stream];
        let count = usize::try_from(count).unwrap_or(usize::MAX).min(own.waiting.len());
        own.job.requests.extend(own.waiting.drain(..count));
        let waited = own.job.requests.iter().filter(|request| request.arrived < now).count();
        own.served.waited += waited as u64;
        // Where there is no program for so many together, each has its own passes.
        let together = own.setup.programs[own.job.speed].len() >= count;
        let passes = if together { 1 } else { count as u64 };
        own.job.program = if together { count.saturating_sub(1) } else { 0 };
        own.job.passes_left = own.setup.passes.saturating_mul(passes).saturating_sub(1);
        (own.job.task, own.job.stage) = (0, Stage::Queued);
        own.job.service_start = now;
        self.dispatch = true;
        if self.streams[stream].uses_engines {
            for place in 0..self.domains.followers.len() {
                let domain = self.domains.followers[place];
                self.need(domain, queue)?;
            }
        }
        Ok(())
    }

    /// The last task of a pass is done.
    pub(super) fn pass_done(
        &mut self,
        stream: usize,
        queue: &mut Queue<Event>,
    ) -> Result<(), SimError> {
        let now = queue.now();
        let own = &mut self.streams[stream];
        let (samples, start) = (own.program().samples, own.job.pass_start);
        let number = own.served.inferences;
        own.served.inferences = number.saturating_add(samples);
        own.served.passes += 1;
        if let Some(passes) = own.served.passes_of.get_mut(own.job.program) {
            *passes += 1;
        }
        own.served.latency.add(now.since(start));
        if self.hears.inferences {
            let track = own.setup.name.clone();
            let name = own.setup.pass.name();
            self.tell((SpanKind::Inference, name, &track), Some(number), (start, now));
        }
        if self.streams[stream].setup.pass == PassName::Inference {
            self.inferences = self.inferences.saturating_add(samples);
        }
        self.finished = self.wanted.is_some_and(|wanted| self.inferences >= wanted);
        let own = &mut self.streams[stream];
        own.job.task = 0;
        if own.job.passes_left > 0 {
            own.job.passes_left -= 1;
            return Ok(());
        }
        self.service_done(stream, queue)
    }

    fn service_done(&mut self, stream: usize, queue: &mut Queue<Event>) -> Result<(), SimError> {
        let now = queue.now();
        let own = &mut self.streams[stream];
        own.job.stage = Stage::Idle;
        own.served.spend(own.job.service_start, now);
        self.serve = true;
        if own.uses_engines {
            for place in 0..self.domains.followers.len() {
                let domain = self.domains.followers[place];
                self.domains.release(domain);
            }
        }
        let mut requests = std::mem::take(&mut self.streams[stream].job.requests);
        for request in requests.drain(..) {
            let own = &mut self.streams[stream];
            let (served, passes) = (&mut own.served, own.setup.passes);
            served.done += 1;
            served.response.add(now.since(request.arrived));
            served.deadlines.done(&request, now);
            if !request.is_late(now) {
                served.in_time = served.in_time.saturating_add(passes);
            }
            self.pass_on(stream, request, queue)?;
            self.over(stream, queue)?;
        }
        self.streams[stream].job.requests = requests;
        Ok(())
    }

    /// A stage of a cascade passes a look on, or not.
    fn pass_on(
        &mut self,
        stream: usize,
        request: Request,
        queue: &mut Queue<Event>,
    ) -> Result<(), SimError> {
        let Some(Onward { cascade, stage }) = self.streams[stream].setup.onward else {
            return Ok(());
        };
        let Some(passed) = self.streams[stream].looks.remove(&request.number) else {
            return Ok(());
        };
        match self.cascades[cascade].stages.get(stage + 1).copied() {
            Some(next) if passed > stage => self.ask(next, Some((request.number, passed)), queue),
            _ => Ok(()),
        }
    }

    /// Looks up the next look of a cascade.
    pub(super) fn look_ahead(
        &mut self,
        cascade: usize,
        queue: &mut Queue<Event>,
    ) -> Result<(), SimError> {
        let own = &mut self.cascades[cascade];
        own.next = none_past_the_end(own.looks.next().transpose())?;
        if let Some(look) = own.next {
            queue.schedule(look.at, Class::Arrival, Event::Look { cascade })?;
        }
        Ok(())
    }

    /// A cascade looks.
    pub(super) fn look(
        &mut self,
        cascade: usize,
        queue: &mut Queue<Event>,
    ) -> Result<(), SimError> {
        let own = &mut self.cascades[cascade];
        let Some(look) = own.next.take() else { return Ok(()) };
        own.tally.add(&look);
        if let Some(first) = own.stages.first().copied() {
            self.ask(first, Some((look.number, look.passed)), queue)?;
        }
        self.look_ahead(cascade, queue)
    }

    /// When the next request comes that is known of, from now on.
    pub(super) fn next_request(&self, stream: usize) -> Option<SimTime> {
        let own = &self.streams[stream];
        match own.setup.onward {
            Some(Onward { cascade, stage }) => {
                let look = self.cascades[cascade].next?;
                (look.passed >= stage).then_some(look.at)
            }
            None => own.next,
        }
    }
}

/// What would come past the end of time does not come.
fn none_past_the_end<T>(
    next: Result<Option<T>, crate::sim::load::LoadError>,
) -> Result<Option<T>, SimError> {
    match next {
        Err(crate::sim::load::LoadError::Time(TimeError::PastEnd)) => Ok(None),
        other => Ok(other?),
    }
}
