//! Rails that move in a run: each stands at the highest voltage that its domains ask at the moment.
//!
//! A rail falls as soon as the last of its domains rests and rises before the first one wakes. On the way
//! up it stands at the higher voltage from the start, so that what leaks meanwhile is not taken for less
//! than it is; the domain that woke it spends what its output capacitance stores beside that, behind the
//! regulator, whose own loss comes on top by its law. On the way down nothing is given back.

use super::System;
use super::domains::Domains;
use super::unit::Doing;
use crate::cost::{Setting, asleep};
use crate::evidence::Kind;
use crate::hardware::{DomainState, Heated, Point};
use crate::physics::inrush;
use crate::sim::SimError;
use crate::sim::accounts::Accounts;
use crate::trace::Sink;
use crate::units::{Farads, Joules, Seconds, SimTime, Volts, VoltsPerSecond};
use serde::{Deserialize, Serialize};

/// How a rail moves.
#[derive(Debug, Clone, Copy)]
struct Movable {
    slew: Option<(VoltsPerSecond, Kind)>,
    capacitance: Option<(Farads, Kind)>,
}

/// Where rails stand, and from when on.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct Standing {
    voltages: Vec<(Volts, Kind)>,
    ready: Vec<SimTime>,
}

/// Rails of a run.
pub(super) struct Rails {
    /// Of each rail that its domains may let fall, how it moves.
    movable: Vec<Option<Movable>>,
    /// The operating point with the voltages at which rails stand; nothing where none moves.
    point: Option<Point>,
    pub(super) standing: Standing,
}

/// What raising a rail takes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Raise {
    pub(super) time: SimTime,
    pub(super) kind: Kind,
    pub(super) energy: Option<(Joules, Kind)>,
}

impl Raise {
    const NONE: Self = Self { time: SimTime::ZERO, kind: Kind::STRONGEST, energy: None };
}

impl Rails {
    /// Rails that a regulator sets and that states of some domain let fall.
    pub(super) fn new(
        domains: &Domains<'_>,
        accounts: &Accounts<'_>,
        setting: Setting<'_>,
        heated: Option<Heated>,
    ) -> Self {
        let (spec, links) = (setting.profile.spec(), setting.profile.links());
        let mut movable = vec![None; setting.point.voltages.len()];
        for (domain, &rail) in links.domain_rail.iter().enumerate() {
            let rest = domains.fixed.get(domain).and_then(|own| own.rest);
            let asks = rest.is_some_and(|(state, _)| state.voltage.is_some());
            let feeding = setting.point.regulators.iter();
            let feeding = feeding.copied().find(|own| links.regulator_rails[*own].1 == rail);
            let stated = feeding.and_then(|regulator| spec.regulators.get(regulator));
            if let Some(stated) = stated.filter(|_| asks && accounts.can_set_rail(rail)) {
                movable[rail] = Some(Movable {
                    slew: stated.slew.as_ref().map(|own| (own.get(), own.kind())),
                    capacitance: stated.output_capacitance.as_ref().map(|c| (c.get(), c.kind())),
                });
            }
        }
        let moves = movable.iter().any(Option::is_some);
        Self {
            standing: Standing {
                voltages: setting.point.voltages.clone(),
                ready: vec![SimTime::ZERO; movable.len()],
            },
            movable,
            point: (moves || heated.is_some()).then(|| Point { heated, ..setting.point.clone() }),
        }
    }

    /// Where they stand.
    pub(super) fn save(&self) -> Standing {
        self.standing.clone()
    }

    /// Another operating point holds: rails stand where it has them.
    pub(super) fn repoint(&mut self, setting: Setting<'_>) {
        self.standing.voltages.clone_from(&setting.point.voltages);
        if let Some(point) = &mut self.point {
            let heated = point.heated.take();
            *point = Point { heated, ..setting.point.clone() };
        }
    }

    /// They stand as they do, at another operating point.
    pub(super) fn stand_at(&mut self, setting: Setting<'_>) {
        if let Some(point) = &mut self.point {
            let (heated, voltages) = (point.heated.take(), self.standing.voltages.clone());
            *point = Point { heated, voltages, ..setting.point.clone() };
        }
    }

    /// Whether what was saved can be of these rails.
    pub(super) fn fits(&self, saved: &Standing) -> bool {
        let rails = self.movable.len();
        saved.voltages.len() == rails && saved.ready.len() == rails
    }

    /// Temperatures of the moment; nothing where leakage follows none.
    pub(super) fn heated(&mut self) -> Option<&mut Heated> {
        self.point.as_mut()?.heated.as_mut()
    }

    /// Has them stand where they stood.
    pub(super) fn restore(&mut self, saved: Standing) {
        if let Some(point) = &mut self.point {
            point.voltages.clone_from(&saved.voltages);
        }
        self.standing = saved;
    }
}

impl<'a, S: Sink> System<'a, '_, S> {
    /// The setting with the voltages of the moment.
    pub(super) fn setting_now(&self) -> Setting<'_> {
        match &self.rails.point {
            Some(point) => Setting { point, ..self.setting },
            None => self.setting,
        }
    }

    /// The state that a domain is at rest in at the moment.
    fn resting_state(&self, domain: usize) -> Option<&'a DomainState> {
        let fixed = self.domains.fixed.get(domain)?;
        if fixed.asleep {
            return asleep(domain, self.setting);
        }
        let resting = self.domains.units.get(domain)?.doing == Doing::Resting;
        fixed.rest.filter(|_| resting).map(|(state, _)| state)
    }

    /// Lets the rail of a domain follow what is asked of it. Returns what it takes until it stands.
    pub(super) fn follow_rail(&mut self, now: SimTime, domain: usize) -> Result<Raise, SimError> {
        let rail = self.setting.profile.links().domain_rail[domain];
        let movable = self.rails.movable.get(rail).copied().flatten();
        let Some(movable) = movable else { return Ok(Raise::NONE) };
        let asked = self
            .setting
            .profile
            .rail_voltage_at_rest(self.setting.point, rail, |domain| self.resting_state(domain));
        let Some((to, kind)) = asked else { return Ok(Raise::NONE) };
        let (from, from_kind) = self.rails.standing.voltages[rail];
        if to > from {
            let rise = Volts(to.0 - from.0);
            let time = movable.slew.map_or(Seconds::ZERO, |(slew, _)| rise / slew);
            self.rails.standing.ready[rail] = now.after(SimTime::from_seconds(time)?)?;
        }
        if to != from {
            self.move_rail(now, rail, (to, kind));
        }
        let time = self.rails.standing.ready[rail].since(now);
        let kind = kind.weaker(from_kind);
        let energy = movable.capacitance.filter(|_| to > from && time > SimTime::ZERO);
        Ok(Raise {
            time,
            kind: movable.slew.map_or(kind, |(_, slew)| slew.weaker(kind)),
            energy: energy.map(|(capacitance, own)| {
                (inrush::raised(capacitance, from, to), own.weaker(kind))
            }),
        })
    }

    /// Sets a rail that moves to a voltage, with all that depends on it.
    pub(super) fn move_rail(&mut self, now: SimTime, rail: usize, voltage: (Volts, Kind)) {
        let Some(point) = &mut self.rails.point else { return };
        if !self.accounts.set_rail_voltage(rail, voltage.0) {
            return;
        }
        point.voltages[rail] = voltage;
        self.rails.standing.voltages[rail] = voltage;
        let links = self.setting.profile.links();
        for domain in (0..links.domain_rail.len()).filter(|own| links.domain_rail[*own] == rail) {
            self.set_domain_power(now, domain);
        }
        for load in (0..links.load_rail.len()).filter(|own| links.load_rail[*own] == rail) {
            self.set_block(now, load);
        }
    }
}
