//! Keeps the powers of a run, tells the sink, and books every joule along several axes, each with
//! its own accumulator.

use crate::cost::{
    DomainPower, KnownPower, Setting, SupplyState, SupplyTree, evidence_at_sources, grid_kind,
    is_fed,
};
use crate::evidence::{Coverage, Kind};
use crate::hardware::{Role, components};
use crate::trace::{
    Cause, Component, ComponentId, ComponentKind, Header, Ledger, Rail, RailId, Sink,
};
use crate::units::{Amperes, CompensatedSum, Coulombs, Joules, SimTime, Watts};
use std::collections::BTreeMap;

pub(super) struct Meter<'a> {
    setting: Setting<'a>,
    header: Header,
    roles: Vec<Role>,
    /// Tap of the supply tree that each component draws at; none for a loss.
    taps: Vec<Option<usize>>,
    power: Vec<Watts>,
    since: Vec<SimTime>,
    energy: Vec<CompensatedSum>,
    told: Vec<Option<Watts>>,
    told_rails: Vec<Option<Amperes>>,
    /// Power at each tap.
    tap_load: Vec<Watts>,
    rail_energy: Vec<CompensatedSum>,
    rail_charge: Vec<CompensatedSum>,
    tree: SupplyTree,
    supply: SupplyState,
    loss_energy: Vec<CompensatedSum>,
    grid_energy: Vec<CompensatedSum>,
    source_energy: CompensatedSum,
    committed: SimTime,
    cause: Cause,
    /// What the length of an interval of the cause rests on.
    lasting: Kind,
    /// What stands still, by rail.
    standing: Vec<(usize, KnownPower)>,
    rest_evidence: Vec<Coverage>,
    rest_losses: Vec<Joules>,
    by_cause: BTreeMap<Cause, CompensatedSum>,
    loss_by_cause: BTreeMap<Cause, CompensatedSum>,
}

impl<'a> Meter<'a> {
    pub(super) fn new(setting: Setting<'a>) -> Self {
        let spec = setting.profile.spec();
        let links = setting.profile.links();
        let mut header = Header::default();
        for (index, rail) in spec.rails.iter().enumerate() {
            header.rails.push(Rail { name: rail.name.clone(), is_source: !is_fed(index, setting) });
        }
        let (mut roles, mut taps) = (Vec::new(), Vec::new());
        let tree = SupplyTree::new(setting);
        for (role, name) in components(setting.profile) {
            let (kind, domain, rail) = match role {
                Role::Engine(i) => (ComponentKind::Engine, Some(links.engine_domain[i]), None),
                Role::Channel(i) => (channel_kind(i, setting), Some(links.channel_domain[i]), None),
                Role::Clock(i) => (ComponentKind::Clock, Some(i), None),
                Role::Leakage(i) => (ComponentKind::Leakage, Some(i), None),
                Role::Rest(i) => (ComponentKind::Rest, Some(i), None),
                Role::Load(i) => (ComponentKind::Load, None, Some(links.load_rail[i])),
                Role::Regulator(i) if !setting.point.regulators.contains(&i) => continue,
                Role::Regulator(i) => {
                    (ComponentKind::RegulatorLoss, None, Some(links.regulator_rails[i].0))
                }
                Role::Grid(i) => (ComponentKind::GridLoss, Some(i), None),
            };
            let rail = rail.or(domain.map(|d| links.domain_rail[d])).unwrap_or(0);
            header.components.push(Component {
                name,
                kind,
                domain: domain.map_or(String::new(), |d| spec.domains[d].name.clone()),
                rail: spec.rails[rail].name.clone(),
            });
            let tap = domain.map_or(rail, |d| links.domain_tap[d]);
            taps.push((!role.is_loss()).then_some(tap));
            roles.push(role);
        }
        let count = roles.len();
        Self {
            setting,
            header,
            roles,
            taps,
            power: vec![Watts::ZERO; count],
            since: vec![SimTime::ZERO; count],
            energy: vec![CompensatedSum::default(); count],
            told: vec![None; count],
            told_rails: vec![None; spec.rails.len()],
            tap_load: vec![Watts::ZERO; tree.taps()],
            tree,
            rail_energy: vec![CompensatedSum::default(); spec.rails.len()],
            rail_charge: vec![CompensatedSum::default(); spec.rails.len()],
            supply: SupplyState::default(),
            loss_energy: vec![CompensatedSum::default(); spec.regulators.len()],
            grid_energy: vec![CompensatedSum::default(); spec.domains.len()],
            source_energy: CompensatedSum::default(),
            committed: SimTime::ZERO,
            cause: Cause::Idle,
            lasting: Kind::STRONGEST,
            standing: Vec::new(),
            rest_evidence: vec![Coverage::default(); spec.rails.len()],
            rest_losses: vec![Joules::ZERO; spec.regulators.len()],
            by_cause: BTreeMap::new(),
            loss_by_cause: BTreeMap::new(),
        }
    }

    pub(super) fn header(&self) -> &Header {
        &self.header
    }

    /// From `now` on, the component of `role` draws `power`.
    pub(super) fn set(&mut self, now: SimTime, role: Role, power: Watts) {
        let Some(index) = self.roles.iter().position(|r| *r == role) else { return };
        let elapsed = now.since(self.since[index]).seconds();
        self.energy[index].add((self.power[index] * elapsed).0);
        self.power[index] = power;
        self.since[index] = now;
    }

    /// From `now` on, energy that stands (clock, leakage, background) and losses go to `cause`, whose
    /// length rests on `lasting`.
    pub(super) fn set_cause(&mut self, cause: Cause, lasting: Kind) {
        (self.cause, self.lasting) = (cause, lasting);
    }

    /// Standing power of a domain from `now` on; it replaces what the domain stood at.
    pub(super) fn set_domain(&mut self, now: SimTime, domain: usize, power: DomainPower) {
        let rail = self.setting.profile.links().domain_rail[domain];
        for (role, known) in [
            (Role::Clock(domain), power.clock),
            (Role::Leakage(domain), power.leakage),
            (Role::Rest(domain), power.rest),
        ] {
            self.set(now, role, known.power);
            self.standing.push((rail, known));
        }
    }

    /// Background of a memory, or a state load, from `now` on, to be booked with what stands still.
    pub(super) fn stand(&mut self, rail: usize, known: KnownPower) {
        self.standing.push((rail, known));
    }

    /// Forgets what stood still; to be followed by all that stands from now on.
    pub(super) fn clear_standing(&mut self) {
        self.standing.clear();
    }

    /// Books energy of a job that is done.
    pub(super) fn charge(&mut self, cause: Cause, energy: Joules) {
        self.by_cause.entry(cause).or_default().add(energy.0);
    }

    /// Books what a domain's waking took beyond its working power.
    pub(super) fn charge_waking(&mut self, domain: usize, energy: Joules, kind: Kind) {
        self.charge(Cause::Transition, energy);
        let rail = self.setting.profile.links().domain_rail[domain];
        self.rest_evidence[rail].add(kind, energy.0);
    }

    /// Books the interval up to `now` as it was before the changes made at `now`. To be called
    /// before the first change of an instant.
    pub(super) fn book(&mut self, now: SimTime) {
        let elapsed = now.since(self.committed).seconds();
        if elapsed.0 > 0.0 {
            for (rail, energy) in self.rail_energy.iter_mut().enumerate() {
                let power = self.supply.rail_power.get(rail).copied().unwrap_or(Watts::ZERO);
                let voltage = self.setting.point.voltages[rail].0;
                let current = power / voltage;
                energy.add((voltage * current * elapsed).0);
            }
            for (charge, current) in self.rail_charge.iter_mut().zip(&self.supply.rail_current) {
                charge.add((*current * elapsed).0);
            }
            let resting = !matches!(self.cause, Cause::Layer(_));
            let mut loss = Joules::ZERO;
            for (index, power) in self.supply.regulator_loss.iter().enumerate() {
                let energy = *power * elapsed;
                self.loss_energy[index].add(energy.0);
                loss += energy;
                if resting {
                    self.rest_losses[index] += energy;
                }
            }
            let grids = self.supply.grid_loss.iter().enumerate();
            for (domain, power) in grids.filter(|(_, power)| power.0 != 0.0) {
                let energy = *power * elapsed;
                self.grid_energy[domain].add(energy.0);
                loss += energy;
                if resting {
                    let rail = self.setting.profile.links().domain_rail[domain];
                    let kind = grid_kind(domain, self.setting).weaker(self.lasting);
                    self.rest_evidence[rail].add(kind, energy.0);
                }
            }
            self.source_energy.add((self.supply.source_power * elapsed).0);
            let mut standing = Joules::ZERO;
            for (rail, known) in &self.standing {
                let energy = known.power * elapsed;
                standing += energy;
                if resting {
                    self.rest_evidence[*rail].add(known.kind.weaker(self.lasting), energy.0);
                }
            }
            self.by_cause.entry(self.cause).or_default().add(standing.0);
            self.loss_by_cause.entry(self.cause).or_default().add(loss.0);
        }
        self.committed = now;
    }

    /// Solves the rails for the powers set at `now` and tells the sink what changed.
    pub(super) fn commit(&mut self, now: SimTime, sink: &mut impl Sink) {
        self.tap_load.fill(Watts::ZERO);
        for (tap, power) in self.taps.iter().zip(&self.power) {
            if let Some(tap) = tap {
                self.tap_load[*tap] += *power;
            }
        }
        self.tree.solve(&self.tap_load, &mut self.supply);
        for index in 0..self.roles.len() {
            if let Role::Regulator(regulator) = self.roles[index] {
                self.set(now, Role::Regulator(regulator), self.supply.regulator_loss[regulator]);
            }
            if let Role::Grid(domain) = self.roles[index] {
                self.set(now, Role::Grid(domain), self.supply.grid_loss[domain]);
            }
            if self.told[index] != Some(self.power[index]) {
                sink.power(now, ComponentId(index), self.power[index]);
                self.told[index] = Some(self.power[index]);
            }
        }
        for (rail, current) in self.supply.rail_current.iter().enumerate() {
            if self.told_rails[rail] != Some(*current) {
                sink.rail(now, RailId(rail), self.supply.rail_voltage[rail], *current);
                self.told_rails[rail] = Some(*current);
            }
        }
    }

    /// Closes all accounts at `end`. The integral of the loads is the sink's to add.
    pub(super) fn close(mut self, end: SimTime, load_integral: Joules) -> (Ledger, Coverage) {
        self.book(end);
        for index in 0..self.roles.len() {
            let (role, power) = (self.roles[index], self.power[index]);
            self.set(end, role, power);
        }
        let joules = |sum: &CompensatedSum| Joules(sum.value());
        let by_cause = |map: &BTreeMap<Cause, CompensatedSum>| {
            map.iter().map(|(cause, sum)| (*cause, joules(sum))).collect()
        };
        let mut ledger = Ledger {
            by_cause: by_cause(&self.by_cause),
            loss_by_cause: by_cause(&self.loss_by_cause),
            source: joules(&self.source_energy),
            integral: load_integral,
            rail_charge: self.rail_charge.iter().map(|sum| Coulombs(sum.value())).collect(),
            ..Ledger::default()
        };
        for (component, energy) in self.header.components.iter().zip(&self.energy) {
            if component.is_load() {
                ledger.by_component.insert(component.name.clone(), joules(energy));
            }
        }
        for (rail, energy) in self.header.rails.iter().zip(&self.rail_energy) {
            ledger.by_rail.insert(rail.name.clone(), joules(energy));
        }
        for &regulator in &self.setting.point.regulators {
            let name = self.setting.profile.spec().regulators[regulator].name.clone();
            ledger.losses.insert(name, joules(&self.loss_energy[regulator]));
        }
        for role in &self.roles {
            if let Role::Grid(domain) = role {
                let name = self.setting.profile.spec().domains[*domain].name.clone();
                ledger.losses.insert(format!("{name}_grid"), joules(&self.grid_energy[*domain]));
            }
        }
        let (rails, losses) = (&mut self.rest_evidence, &self.rest_losses);
        (ledger, evidence_at_sources(rails, losses, self.setting))
    }
}

/// Memories come first among channels, then caches, then links.
fn channel_kind(channel: usize, setting: Setting<'_>) -> ComponentKind {
    let spec = setting.profile.spec();
    if channel < spec.memories.len() {
        ComponentKind::Memory
    } else if channel < spec.memories.len() + spec.caches.len() {
        ComponentKind::Cache
    } else {
        ComponentKind::Link
    }
}
