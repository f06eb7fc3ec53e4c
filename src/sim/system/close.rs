//! The end of a run, wherever it comes.

use super::System;
use super::job::{NEVER, PAUSED, Stage};
use super::port::Owner;
use super::speed::OppUse;
use super::stream::Served;
use super::unit::{Residency, Transitions};
use crate::sim::SimError;
use crate::sim::accounts::Closed;
use crate::sim::heat::HeatUse;
use crate::sim::load::Tally;
use crate::sim::supplied::Supplied;
use crate::trace::Sink;
use crate::units::{Joules, SimTime};

/// What is left of a run.
pub(in crate::sim) struct Left {
    pub(in crate::sim) served: Vec<Served>,
    /// Requests of each stream that wait or are in service.
    pub(in crate::sim) unfinished: Vec<u64>,
    pub(in crate::sim) tallies: Vec<Tally>,
    pub(in crate::sim) residencies: Vec<(Residency, Transitions)>,
    /// Time of each block in each of its states.
    pub(in crate::sim) blocks: Vec<Vec<SimTime>>,
    /// Time that each engine was held.
    pub(in crate::sim) engines: Vec<SimTime>,
    /// Time that each channel was asked for more than it gives.
    pub(in crate::sim) contended: Vec<SimTime>,
    /// Time at each operating point, of a run that goes between several.
    pub(in crate::sim) speeds: Option<OppUse>,
    pub(in crate::sim) closed: Closed,
    pub(in crate::sim) heat: Option<HeatUse>,
}

impl<S: Sink> System<'_, '_, S> {
    /// Closes all accounts at `end`; what is under way is cut there. `integral` asks the sink, which has
    /// been told of the end, for the energy of the loads.
    pub(in crate::sim) fn close(
        mut self,
        end: SimTime,
        integral: impl FnOnce(&mut S) -> Joules,
    ) -> Result<Left, SimError> {
        self.accounts.book(end);
        for stream in 0..self.streams.len() {
            let own = &mut self.streams[stream];
            if own.job.stage != Stage::Idle {
                own.served.spend(own.job.service_start, end);
            }
            self.cut_job(end, stream);
        }
        for domain in 0..self.domains.units.len() {
            self.cut_domain(end, domain);
        }
        for unit in self.engines.iter_mut().filter(|unit| unit.holder.is_some()) {
            let lasted = end.since(unit.since);
            unit.busy = SimTime(unit.busy.0.saturating_add(lasted.0));
        }
        for load in 0..self.blocks.len() {
            let since = self.blocks[load].spend(end);
            let state = self.blocks[load].state();
            self.tell_block(load, state, (since, end));
        }
        self.tell_mood(end);
        let heat = self.close_heat(end)?;
        let speeds = self.close_speeds(end);
        self.sink.end(end);
        let integral = integral(self.sink);
        let unfinished = self
            .streams
            .iter()
            .map(|own| (own.waiting.len() + own.job.requests.len()) as u64)
            .collect();
        let ended = self.browned_out();
        let closed = self.accounts.close(end, integral);
        Ok(Left {
            served: self.streams.into_iter().map(|own| own.served).collect(),
            unfinished,
            tallies: self.cascades.into_iter().map(|own| own.tally).collect(),
            residencies: self.domains.units.iter().map(|own| (own.residency, own.spent)).collect(),
            blocks: self.blocks.into_iter().map(|block| block.residency).collect(),
            engines: self.engines.iter().map(|unit| unit.busy).collect(),
            speeds,
            contended: self.ports.iter().map(|port| port.contended_until(end)).collect(),
            closed: Closed { supplied: Supplied { ended, ..closed.supplied }, ..closed },
            heat,
        })
    }

    /// Books what a job has done of the slot that it is in.
    fn cut_job(&mut self, end: SimTime, stream: usize) {
        if self.streams[stream].job.stage != Stage::Running {
            return;
        }
        let mut spent = Joules::ZERO;
        let job = &self.streams[stream].job;
        if job.work_end < PAUSED {
            let whole = job.work_end.since(job.slot_start).seconds();
            spent += self.work_energy(stream) * (end.since(job.slot_start).seconds() / whole);
        }
        for part in 0..job.ends.len() {
            if self.streams[stream].job.ends[part] != NEVER {
                let own = self.streams[stream].program();
                let (task, segment) =
                    (self.streams[stream].job.task, self.streams[stream].job.segment);
                let channel = own.tasks[task].segments[segment].moves[part].channel;
                let left = self.ports[channel].energy_left(end, Owner { job: stream, part });
                spent += self.move_energy(stream, part) - left;
            }
        }
        self.charge(stream, spent);
        let own = &self.streams[stream];
        let task = &own.program().tasks[own.job.task];
        let (layer, mark) = (task.layer, own.job.mark);
        self.accounts.charge_shared(stream, layer, mark);
    }

    fn cut_domain(&mut self, end: SimTime, domain: usize) {
        let doing = self.domains.units[domain].doing;
        let since = self.domains.units[domain].change(end, doing);
        self.cut_passing(end, domain);
        self.tell_state(domain, doing, (since, end));
    }
}
