//! Heat in a run: when the network of the package steps, what leaks otherwise then, and what ends the run.

use super::package::{Leaks, Package};
use super::unit::Doing;
use super::{Event, System};
use crate::cost::{leaked, load_leaked};
use crate::sim::SimError;
use crate::sim::heat::HeatUse;
use crate::sim::kernel::{Class, Queue, Ticket};
use crate::trace::{CounterId, Sink, Tee};
use crate::units::SimTime;
use serde::{Deserialize, Serialize};

/// Rounds in which leakage, what regulators burn for it and temperatures settle.
const ROUNDS: usize = 50;
/// They have settled where none of them moves farther \[K\].
const SETTLED: f64 = 1e-6;

/// Something that heat asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum HeatEvent {
    /// The network steps.
    Step {
        /// The plan it comes from.
        ticket: Ticket,
    },
    /// A sensor is read.
    Read {
        /// The sensor.
        sensor: usize,
    },
}

impl<S: Sink> System<'_, '_, S> {
    /// What a domain leaks from now on, for the package.
    pub(super) fn tell_leakage(&mut self, now: SimTime, domain: usize) {
        let Some(leaker) = self.heat.as_ref().and_then(|heat| heat.of_domain(domain)) else {
            return;
        };
        let (doing, fixed) = (self.domains.units[domain].doing, &self.domains.fixed[domain]);
        let resting = fixed.rest.filter(|_| doing == Doing::Resting).map(|(state, _)| state);
        let power = leaked(domain, resting, self.setting_now());
        if let Some(heat) = &mut self.heat {
            heat.leak(now, leaker, 0, power);
        }
    }

    /// The same of a block.
    pub(super) fn tell_load_leakage(&mut self, now: SimTime, load: usize) {
        let Some(leaker) = self.heat.as_ref().and_then(|heat| heat.of_load(load)) else { return };
        let state = self.blocks[load].state();
        let power = load_leaked(load, state, self.setting_now());
        if let Some(heat) = &mut self.heat {
            heat.leak(now, leaker, state, power);
        }
    }

    /// Temperatures at the start. Nothing is asked for yet.
    pub(super) fn begin_heat(&mut self, queue: &mut Queue<Event>) -> Result<(), SimError> {
        if self.heat.is_none() {
            return Ok(());
        }
        let now = SimTime::ZERO;
        self.commit_heat(now);
        for _ in 0..ROUNDS {
            let Some(heat) = self.heat.as_mut().filter(|heat| heat.is_to_settle()) else { break };
            let moved = heat.settle()?;
            let over = heat.has_ended();
            self.leak_anew(now);
            if over || moved.0 <= SETTLED {
                break;
            }
        }
        let Some(heat) = &mut self.heat else { return Ok(()) };
        heat.begin();
        for (sensor, period) in heat.periods() {
            self.schedule_heat(period, HeatEvent::Read { sensor }, queue)?;
        }
        self.tell_heat(now, true);
        self.go_on_heating(now, crate::units::Seconds::ZERO, queue)
    }

    /// What the powers of this instant mean for the package, and the package for them.
    pub(super) fn settle_heat(&mut self, queue: &mut Queue<Event>) -> Result<(), SimError> {
        let Some(heat) = &mut self.heat else { return Ok(()) };
        let changed = self.accounts.heat_changed();
        if !heat.due && !changed {
            return Ok(());
        }
        let now = queue.now();
        heat.sum(now);
        self.accounts.follow_heat(&mut heat.moving.power);
        let due = std::mem::take(&mut heat.due);
        if !due && !heat.is_time(now) {
            return match heat.hasten(now) {
                Some(at) => self.plan_step(at, queue),
                None => Ok(()),
            };
        }
        let step = heat.step(now)?;
        heat.read(now);
        heat.retell(step);
        self.tell_heat(now, false);
        self.leak_anew(now);
        self.go_on_heating(now, step, queue)
    }

    /// Plans the next step, unless a limit has ended the run.
    fn go_on_heating(
        &mut self,
        now: SimTime,
        step: crate::units::Seconds,
        queue: &mut Queue<Event>,
    ) -> Result<(), SimError> {
        let Some(heat) = &mut self.heat else { return Ok(()) };
        if heat.has_ended() {
            self.finished = true;
            return Ok(());
        }
        match heat.plan(now, step)? {
            Some(at) => self.plan_step(at, queue),
            None => Ok(()),
        }
    }

    /// What leaks at another temperature does so in the accounts, too.
    fn leak_anew(&mut self, now: SimTime) {
        let Some(heat) = &mut self.heat else { return };
        if heat.fresh.is_empty() {
            return;
        }
        let mut fresh = std::mem::take(&mut heat.fresh);
        for leaker in fresh.drain(..) {
            let Some(heat) = &self.heat else { break };
            if let Some(all) = self.rails.heated() {
                heat.heat_up(leaker, all);
            }
            match heat.leaks(leaker) {
                Leaks::Domain(domain) => self.set_domain_power(now, domain),
                Leaks::Load(load) => self.set_block(now, load),
            }
        }
        if let Some(heat) = &mut self.heat {
            heat.fresh = fresh;
        }
        self.commit_heat(now);
    }

    /// Solves the rails, and follows what heats the package.
    fn commit_heat(&mut self, now: SimTime) {
        self.settle_ports(now);
        self.accounts.commit(now, self.sink);
        if let Some(heat) = &mut self.heat {
            heat.sum(now);
            self.accounts.follow_heat(&mut heat.moving.power);
        }
    }

    fn plan_step(&mut self, at: SimTime, queue: &mut Queue<Event>) -> Result<(), SimError> {
        let Some(heat) = &mut self.heat else { return Ok(()) };
        let ticket = heat.renew();
        self.schedule_heat(at, HeatEvent::Step { ticket }, queue)
    }

    /// Schedules what heat asks for. A run that ends with what it does is not kept going by its heat.
    fn schedule_heat(
        &self,
        at: SimTime,
        event: HeatEvent,
        queue: &mut Queue<Event>,
    ) -> Result<(), SimError> {
        use crate::sim::kernel::System as _;
        // A governor, too, only looks while there is something else.
        let other = |own: &Event| {
            !matches!(own, Event::Heat(_) | Event::Govern { .. }) && !self.is_overtaken(own)
        };
        if self.horizon.is_none() && !queue.holds(other) {
            return Ok(());
        }
        let class = match event {
            HeatEvent::Step { .. } => Class::Crossing,
            HeatEvent::Read { .. } => Class::Control,
        };
        Ok(queue.schedule(at, class, Event::Heat(event))?)
    }

    /// Heat asks for something at `now`; it is done once all else of the instant is known.
    pub(super) fn heat_event(
        &mut self,
        event: HeatEvent,
        queue: &mut Queue<Event>,
    ) -> Result<(), SimError> {
        let Some(heat) = &mut self.heat else { return Ok(()) };
        heat.due = true;
        let HeatEvent::Read { sensor } = event else { return Ok(()) };
        heat.asked.push(sensor);
        match heat.period(sensor).map(|period| queue.now().after(period)) {
            Some(Ok(next)) => self.schedule_heat(next, event, queue),
            _ => Ok(()),
        }
    }

    fn tell_heat(&mut self, now: SimTime, all: bool) {
        let Some(heat) = &mut self.heat else { return };
        for (counter, value) in heat.news(all) {
            self.sink.counter(now, CounterId(counter), value.0);
        }
    }

    /// True of a run that a limit of the package ended.
    pub(in crate::sim) fn overheated(&self) -> bool {
        self.heat.as_ref().is_some_and(Package::has_ended)
    }

    /// What is known of heat at the end; before sinks are told of that.
    pub(super) fn close_heat(&mut self, end: SimTime) -> Result<Option<HeatUse>, SimError> {
        let Some(heat) = &mut self.heat else { return Ok(None) };
        heat.step(end)?;
        self.tell_heat(end, true);
        Ok(self.heat.take().map(|heat| heat.close(end)))
    }
}

impl<A: Sink, B: Sink> System<'_, '_, Tee<'_, A, B>> {
    /// Tells the second of two sinks of the temperatures of now; those before are unknown to it.
    pub(super) fn tell_second_of_heat(&mut self, now: SimTime) {
        let Some(heat) = &self.heat else { return };
        for (counter, told) in heat.told().iter().enumerate() {
            let counter = CounterId(counter);
            if now > SimTime::ZERO {
                self.sink.1.counter(SimTime::ZERO, counter, f64::NAN);
            }
            if let Some(told) = told {
                self.sink.1.counter(now, counter, told.0);
            }
        }
    }
}
