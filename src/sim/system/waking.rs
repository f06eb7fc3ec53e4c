//! Going to rest and coming back, part by part.
//!
//! A domain that goes to rest is at working power for its entry time and cannot be called back: a request
//! that comes meanwhile waits for the end of it and then for the waking. Coming back is, in this order:
//! the rail rises, what was switched off is charged, the domain wakes, and lost weights are loaded. Parts
//! that take no time are passed over.

use super::unit::{Doing, Leg, Part, Passing};
use super::{Event, System};
use crate::sim::SimError;
use crate::sim::kernel::{Class, Queue};
use crate::trace::Sink;
use crate::units::{Joules, SimTime};

impl<S: Sink> System<'_, '_, S> {
    /// A domain goes to rest.
    pub(super) fn rest(&mut self, domain: usize, queue: &mut Queue<Event>) -> Result<(), SimError> {
        let entry = self.domains.fixed[domain].entry;
        if entry.time == SimTime::ZERO {
            return self.at_rest(queue.now(), domain);
        }
        self.pass(domain, Part::Entry, entry, queue)?;
        self.change_domain(queue.now(), domain, Doing::Entering);
        Ok(())
    }

    fn at_rest(&mut self, now: SimTime, domain: usize) -> Result<(), SimError> {
        self.change_domain(now, domain, Doing::Resting);
        self.follow_rail(now, domain).map(|_| ())
    }

    /// A domain comes back. Those who need it are told by [`System::proceed`] unless it is on at once.
    pub(super) fn wake(&mut self, domain: usize, queue: &mut Queue<Event>) -> Result<(), SimError> {
        let now = queue.now();
        self.change_domain(now, domain, Doing::Waking);
        let raise = self.follow_rail(now, domain)?;
        let leg = Leg { time: raise.time, kind: raise.kind, energy: raise.energy };
        if leg.time > SimTime::ZERO {
            self.pass(domain, Part::Rail, leg, queue)?;
            self.set_domain_power(now, domain);
            return Ok(());
        }
        self.after(domain, Part::Rail, queue).map(|_| ())
    }

    /// Begins a part that takes time.
    fn pass(
        &mut self,
        domain: usize,
        part: Part,
        leg: Leg,
        queue: &mut Queue<Event>,
    ) -> Result<(), SimError> {
        let (since, Leg { time, kind, energy }) = (queue.now(), leg);
        let unit = &mut self.domains.units[domain];
        unit.passing = Some(Passing { part, since, time, kind, energy });
        let ticket = unit.generation.renew();
        queue.schedule(since.after(time)?, Class::Completion, Event::Awake { domain, ticket })?;
        Ok(())
    }

    /// A part of entry or of waking is over.
    pub(super) fn awake(
        &mut self,
        domain: usize,
        queue: &mut Queue<Event>,
    ) -> Result<(), SimError> {
        let Some(passing) = self.domains.units[domain].passing.take() else { return Ok(()) };
        self.charge_passing(domain, passing, 1.0);
        if passing.part == Part::Entry {
            return self.entered(domain, queue);
        }
        if self.after(domain, passing.part, queue)? { self.proceed(domain, queue) } else { Ok(()) }
    }

    /// It is at rest, or already called back.
    fn entered(&mut self, domain: usize, queue: &mut Queue<Event>) -> Result<(), SimError> {
        let now = queue.now();
        self.domains.units[domain].spent.entries += 1;
        if self.domains.units[domain].users == 0 {
            return self.at_rest(now, domain);
        }
        self.change_domain(now, domain, Doing::Resting);
        self.wake(domain, queue)?;
        if self.domains.is_on(domain) { self.proceed(domain, queue) } else { Ok(()) }
    }

    /// Goes on with what comes after a part of waking; true where that is all.
    fn after(
        &mut self,
        domain: usize,
        part: Part,
        queue: &mut Queue<Event>,
    ) -> Result<bool, SimError> {
        let now = queue.now();
        let fixed = &self.domains.fixed[domain];
        for (next, leg) in [(Part::Ramp, fixed.ramp), (Part::Wake, fixed.wake)] {
            if next > part && leg.time > SimTime::ZERO {
                self.pass(domain, next, leg, queue)?;
                self.set_domain_power(now, domain);
                return Ok(false);
            }
        }
        if part < Part::Sources && fixed.reload.is_some() {
            return self.ask_sources(domain, queue);
        }
        self.domains.units[domain].residency.wakes += 1;
        self.change_domain(now, domain, Doing::On);
        Ok(true)
    }

    /// A reload is over.
    pub(super) fn reloaded(
        &mut self,
        domain: usize,
        queue: &mut Queue<Event>,
    ) -> Result<(), SimError> {
        if self.after(domain, Part::Reload, queue)? { self.proceed(domain, queue) } else { Ok(()) }
    }

    /// Books a share of what a part takes.
    pub(super) fn charge_passing(&mut self, domain: usize, passing: Passing, share: f64) {
        let unit = &mut self.domains.units[domain];
        if passing.part == Part::Ramp {
            unit.spent.inrush_current = self.domains.fixed[domain].inrush;
        }
        if let Some((energy, kind)) = passing.energy {
            let spent = if share < 1.0 { energy * share } else { energy };
            unit.spent.add(passing.part, spent);
            self.accounts.charge_waking(domain, spent, kind);
        }
    }

    /// Books what of a part has gone by at the end of a run.
    pub(super) fn cut_passing(&mut self, end: SimTime, domain: usize) {
        let Some(passing) = self.domains.units[domain].passing else { return };
        match passing.part {
            Part::Sources => {}
            Part::Reload => self.cut_reload(end, domain),
            _ => {
                let share = end.since(passing.since).seconds() / passing.time.seconds();
                self.charge_passing(domain, passing, share);
            }
        }
    }

    /// Power that a part takes beyond the working power.
    pub(super) fn passing_power(&self, domain: usize) -> Option<crate::units::Watts> {
        let passing = self.domains.units[domain].passing?;
        let (energy, _): (Joules, _) = passing.energy?;
        Some(energy / passing.time.seconds())
    }
}
