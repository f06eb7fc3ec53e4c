//! Weights on their way back into a domain: transfers on the ports, beside those of layers.
//!
//! The domains that they come from are needed meanwhile, and woken where they rest. Energy stands in the
//! memories and links that are passed and is booked as transition.

use super::job::NEVER;
use super::port::Owner;
use super::unit::{Part, Passing};
use super::{Event, System};
use crate::evidence::Kind;
use crate::sim::SimError;
use crate::sim::kernel::{Class, Queue};
use crate::trace::Sink;
use crate::units::{Joules, SimTime};

impl<S: Sink> System<'_, '_, S> {
    /// Wakes what the weights of a domain come from, and begins to load them where it is on. Returns false:
    /// loading takes time.
    pub(super) fn ask_sources(
        &mut self,
        domain: usize,
        queue: &mut Queue<Event>,
    ) -> Result<bool, SimError> {
        let now = queue.now();
        let count = self.sources_of(domain);
        let kind = Kind::STRONGEST;
        let waits = Passing { part: Part::Sources, since: now, time: NEVER, kind, energy: None };
        self.domains.units[domain].passing = Some(waits);
        self.set_domain_power(now, domain);
        for place in 0..count {
            if let Some(source) = self.source_of(domain, place) {
                self.need(source, queue)?;
            }
        }
        self.begin_reload(domain, queue)?;
        Ok(false)
    }

    fn sources_of(&self, domain: usize) -> usize {
        self.domains.fixed[domain].reload.as_ref().map_or(0, |(own, _)| own.needs.len())
    }

    fn source_of(&self, domain: usize, place: usize) -> Option<usize> {
        self.domains.fixed[domain].reload.as_ref()?.0.needs.get(place).copied()
    }

    /// A domain is on that others may wait for to load their weights.
    pub(super) fn proceed_reloads(
        &mut self,
        source: usize,
        queue: &mut Queue<Event>,
    ) -> Result<(), SimError> {
        for place in 0..self.domains.loading.len() {
            let domain = self.domains.loading[place];
            let part = self.domains.units[domain].passing.map(|passing| passing.part);
            let reload = self.domains.fixed[domain].reload.as_ref();
            let needs = reload.is_some_and(|(own, _)| own.needs.contains(&source));
            if part == Some(Part::Sources) && needs {
                self.begin_reload(domain, queue)?;
            }
        }
        Ok(())
    }

    /// Begins to load where all that it needs is on.
    fn begin_reload(&mut self, domain: usize, queue: &mut Queue<Event>) -> Result<(), SimError> {
        let Some((reload, time)) = &self.domains.fixed[domain].reload else { return Ok(()) };
        if !reload.needs.iter().all(|source| self.domains.is_on(*source)) {
            return Ok(());
        }
        let (now, time, count) = (queue.now(), *time, reload.moves.len());
        let (kind, energy) = (reload.time_kind, None);
        let unit = &mut self.domains.units[domain];
        unit.passing = Some(Passing { part: Part::Reload, since: now, time, kind, energy });
        unit.spent.reloads += 1;
        unit.ends.clear();
        unit.ends.resize(count, NEVER);
        for place in 0..count {
            let Some((reload, _)) = &self.domains.fixed[domain].reload else { break };
            let own = reload.moves[place];
            let asked = (time, own.demand, own.energy);
            let owner = Owner { job: self.streams.len() + domain, part: place };
            let moved = &mut self.moved;
            self.ports[own.channel].start(now, owner, asked, |own, end| moved.push((own, end)))?;
            self.port_changed(own.channel);
        }
        self.follow_ends(queue)
    }

    /// Takes over the end of a transfer.
    pub(super) fn move_reload_end(&mut self, owner: Owner, end: SimTime) {
        let Some(domain) = owner.job.checked_sub(self.streams.len()) else { return };
        if let Some(own) = self.domains.units.get_mut(domain)
            && let Some(own) = own.ends.get_mut(owner.part)
        {
            *own = end;
        }
    }

    /// Schedules the next end of a transfer.
    pub(super) fn plan_reload(
        &mut self,
        owner: Owner,
        queue: &mut Queue<Event>,
    ) -> Result<(), SimError> {
        let Some(domain) = owner.job.checked_sub(self.streams.len()) else { return Ok(()) };
        let Some(unit) = self.domains.units.get_mut(domain) else { return Ok(()) };
        let end = unit.ends.iter().copied().fold(NEVER, SimTime::min);
        if end != NEVER {
            let ticket = unit.generation.renew();
            queue.schedule(end, Class::Completion, Event::Reload { domain, ticket })?;
        }
        Ok(())
    }

    /// Transfers of a reload end.
    pub(super) fn reload(
        &mut self,
        domain: usize,
        queue: &mut Queue<Event>,
    ) -> Result<(), SimError> {
        let now = queue.now();
        for part in 0..self.domains.units[domain].ends.len() {
            if self.domains.units[domain].ends[part] > now {
                continue;
            }
            self.domains.units[domain].ends[part] = NEVER;
            let Some((reload, _)) = &self.domains.fixed[domain].reload else { continue };
            let own = reload.moves[part];
            self.charge_reload(domain, own.channel, (own.energy, own.kind));
            let moved = &mut self.moved;
            let owner = Owner { job: self.streams.len() + domain, part };
            self.ports[own.channel].finish(now, owner, |own, end| moved.push((own, end)))?;
            self.port_changed(own.channel);
        }
        self.follow_ends(queue)?;
        if self.domains.units[domain].ends.iter().any(|end| *end != NEVER) {
            let owner = Owner { job: self.streams.len() + domain, part: 0 };
            return self.plan_reload(owner, queue);
        }
        let unit = &mut self.domains.units[domain];
        (unit.passing, unit.ends) = (None, Vec::new());
        if let Some((reload, _)) = &self.domains.fixed[domain].reload {
            unit.spent.reloaded += reload.bytes;
        }
        for place in 0..self.sources_of(domain) {
            if let Some(source) = self.source_of(domain, place) {
                self.domains.release(source);
            }
        }
        self.reloaded(domain, queue)
    }

    fn charge_reload(&mut self, domain: usize, channel: usize, (energy, kind): (Joules, Kind)) {
        let home = self.setting.profile.links().channel_domain[channel];
        self.accounts.charge_waking(home, energy, kind);
        self.domains.units[domain].spent.add(Part::Reload, energy);
    }

    /// Books what a reload has moved at the end of a run.
    pub(super) fn cut_reload(&mut self, end: SimTime, domain: usize) {
        for part in 0..self.domains.units[domain].ends.len() {
            if self.domains.units[domain].ends[part] == NEVER {
                continue;
            }
            let Some((reload, _)) = &self.domains.fixed[domain].reload else { continue };
            let own = reload.moves[part];
            let owner = Owner { job: self.streams.len() + domain, part };
            let left = self.ports[own.channel].energy_left(end, owner);
            self.charge_reload(domain, own.channel, (own.energy - left, own.kind));
        }
    }
}
