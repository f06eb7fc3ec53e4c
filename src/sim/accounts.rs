//! Keeps the powers of a run, tells the sink, and books every joule along several axes, each with
//! its own accumulator.
//!
//! What stands whatever is computed (clock trees, leakage, backgrounds, blocks) and what regulators
//! burn belongs to whoever is at work: with `n` jobs at work each takes the `n`-th part. So that
//! this costs the same for any number of jobs, `S(t) = ∫ P_standing / n dt` is kept, and a job
//! takes the difference between the end of its layer and its start.

mod heat_watch;
mod modes;
mod places;
mod rail_watch;
mod saved;
mod stores;
mod supplies;

pub use supplies::SupplyEvent;

use super::supplied::{Supplied, SupplyStart};
use crate::cost::{
    Changed, DomainPower, KnownPower, Setting, SupplyState, SupplyTree, evidence_at_sources,
    grid_kind,
};
use crate::evidence::{Coverage, Kind};
use crate::hardware::Role;
use crate::trace::{Cause, ComponentId, Counter, Header, Ledger, RailId, Sink};
use crate::units::{Amperes, CompensatedSum, Coulombs, Joules, SimTime, Volts, Watts};
use heat_watch::HeatWatch;
use places::{Places, header};
pub(super) use saved::SavedAccounts;
use serde::{Deserialize, Serialize};
use supplies::Supplies;

/// A value that holds until it changes, with its integral over ticks: they are whole numbers, and one
/// division at the end makes seconds of all of them.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
struct Held {
    value: f64,
    since: SimTime,
    integral: CompensatedSum,
    most: f64,
}

impl Held {
    fn set(&mut self, now: SimTime, value: f64) {
        self.integrate(now);
        self.value = value;
    }

    fn integrate(&mut self, now: SimTime) {
        let elapsed = now.since(self.since).0;
        if elapsed > 0 {
            self.integral.add(self.value * elapsed as f64);
            self.most = self.most.max(self.value);
        }
        self.since = now;
    }

    /// The integral over seconds.
    fn whole(&self) -> f64 {
        self.integral.value() / SimTime::TICKS_PER_SECOND
    }
}

/// What is booked under a cause.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
struct Booked {
    load: CompensatedSum,
    loss: CompensatedSum,
}

/// Where a job stands in what is shared.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct Mark {
    standing: f64,
    loss: f64,
}

/// What nobody at work is to pay for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Otherwise {
    Idle,
    Transition,
}

/// What is known of a rail at the end.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct RailUse {
    /// Energy of its loads.
    pub load_energy: Joules,
    /// Charge that its loads and the regulators behind it took.
    pub charge: Coulombs,
    /// The highest current that lasted any time.
    pub peak_current: Amperes,
    /// The highest power of its loads likewise.
    pub peak_power: Watts,
    /// Its lowest voltage.
    pub lowest: Volts,
    /// Time that it could not give what was asked.
    pub collapsed: SimTime,
}

/// The numbers that move.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Numbers {
    components: Vec<Held>,
    rail_load: Vec<Held>,
    rail_current: Vec<Held>,
    losses: Vec<Held>,
    grids: Vec<Held>,
    source: Held,
    unmet: Held,
    /// Power that stands, and all that regulators burn.
    standing: f64,
    loss: f64,
    booked: SimTime,
    at_work: u32,
    otherwise: Otherwise,
    shared_standing: CompensatedSum,
    shared_loss: CompensatedSum,
    idle: Booked,
    transition: Booked,
    layers: Vec<Vec<Booked>>,
    rest_evidence: Vec<Coverage>,
    rest_losses: Vec<f64>,
}

pub(super) struct Accounts<'a> {
    setting: Setting<'a>,
    header: Header,
    places: Places,
    /// Tap of the supply tree that each component draws at; none for a loss.
    taps: Vec<Option<usize>>,
    /// Components at each tap.
    at_tap: Vec<Vec<usize>>,
    numbers: Numbers,
    /// What stands, by rail and what it rests on: domains (three parts each), memories, blocks.
    standing: Vec<(usize, KnownPower)>,
    /// The same summed by rail and kind.
    standing_by_kind: Vec<(usize, Kind, f64)>,
    standing_changed: bool,
    /// What the length of idle times and transitions rests on.
    lasting: Kind,
    tree: SupplyTree,
    may_collapse: bool,
    /// Domains with a grid of their own.
    grids: Vec<usize>,
    supply: SupplyState,
    supplies: Supplies,
    /// Power at each tap.
    loads: Vec<Watts>,
    taps_changed: Vec<usize>,
    is_tap_changed: Vec<bool>,
    to_solve: Changed,
    changed: Vec<usize>,
    is_changed: Vec<bool>,
    told: Vec<f64>,
    told_rails: Vec<(Volts, Amperes)>,
    heat: Option<HeatWatch>,
}

impl<'a> Accounts<'a> {
    /// Accounts of a run whose workloads have so many layers each, and whose batteries and storages start
    /// so.
    pub(super) fn new(
        setting: Setting<'a>,
        layers: &[usize],
        starts: &[(usize, SupplyStart)],
    ) -> Self {
        let spec = setting.profile.spec();
        let (header, places, taps) = header(setting);
        let (count, rail_count) = (taps.len(), spec.rails.len());
        let tree = SupplyTree::new(setting);
        let mut at_tap = vec![Vec::new(); tree.taps()];
        for (component, tap) in taps.iter().enumerate() {
            if let Some(tap) = tap {
                at_tap[*tap].push(component);
            }
        }
        let supplies = Supplies::new(setting, starts, &tree);
        let stands = 3 * spec.domains.len() + spec.memories.len() + spec.loads.len();
        let nothing = KnownPower { power: Watts::ZERO, kind: Kind::STRONGEST };
        Self {
            setting,
            header,
            places,
            taps,
            numbers: Numbers {
                components: vec![Held::default(); count],
                rail_load: vec![Held::default(); rail_count],
                rail_current: vec![Held::default(); rail_count],
                losses: vec![Held::default(); spec.regulators.len()],
                grids: vec![Held::default(); spec.domains.len()],
                source: Held::default(),
                unmet: Held::default(),
                standing: 0.0,
                loss: 0.0,
                booked: SimTime::ZERO,
                at_work: 0,
                otherwise: Otherwise::Idle,
                shared_standing: CompensatedSum::default(),
                shared_loss: CompensatedSum::default(),
                idle: Booked::default(),
                transition: Booked::default(),
                layers: layers.iter().map(|count| vec![Booked::default(); *count]).collect(),
                rest_evidence: vec![Coverage::default(); rail_count],
                rest_losses: vec![0.0; spec.regulators.len()],
            },
            standing: vec![(0, nothing); stands],
            standing_by_kind: Vec::new(),
            standing_changed: false,
            lasting: Kind::STRONGEST,
            supply: supplies.begin(&tree),
            supplies,
            loads: vec![Watts::ZERO; tree.taps()],
            taps_changed: (0..tree.taps()).collect(),
            is_tap_changed: vec![true; tree.taps()],
            to_solve: Changed::default(),
            at_tap,
            may_collapse: tree.may_collapse(),
            grids: (0..spec.domains.len()).filter(|d| spec.domains[*d].ir_drop.is_some()).collect(),
            tree,
            changed: Vec::new(),
            is_changed: vec![false; count],
            told: vec![f64::NAN; count],
            told_rails: vec![(Volts(f64::NAN), Amperes(f64::NAN)); rail_count],
            heat: None,
        }
    }

    pub(super) fn header(&self) -> &Header {
        &self.header
    }

    /// Quantities beside power that sinks will be told.
    pub(super) fn count(&mut self, counters: Vec<Counter>) {
        self.header.counters = counters;
    }

    /// From `now` on, the component of `role` draws `power`.
    pub(super) fn set(&mut self, now: SimTime, role: Role, power: Watts) {
        let Some(place) = self.places.of(role) else { return };
        self.numbers.components[place].set(now, power.0);
        if !self.is_changed[place] {
            self.is_changed[place] = true;
            self.changed.push(place);
        }
        if let Some(tap) = self.taps[place]
            && !std::mem::replace(&mut self.is_tap_changed[tap], true)
        {
            self.taps_changed.push(tap);
        }
    }

    /// Standing power of a domain from `now` on.
    pub(super) fn set_domain(&mut self, now: SimTime, domain: usize, power: DomainPower) {
        let rail = self.setting.profile.links().domain_rail[domain];
        let parts = [
            (Role::Clock(domain), power.clock),
            (Role::Leakage(domain), power.leakage),
            (Role::Rest(domain), power.rest),
        ];
        for (part, (role, known)) in parts.into_iter().enumerate() {
            self.set(now, role, known.power);
            self.stand(3 * domain + part, rail, known);
        }
    }

    /// True for a rail whose voltage a run can set.
    pub(super) fn can_set_rail(&self, rail: usize) -> bool {
        self.tree.can_set(rail)
    }

    /// Sets the voltage of a rail from now on; what its loads draw there is set apart.
    pub(super) fn set_rail_voltage(&mut self, rail: usize, voltage: Volts) -> bool {
        self.tree.set_rail_voltage(rail, voltage, &mut self.supply, &mut self.to_solve)
    }

    /// Another operating point holds from now on; what it makes loads draw is set apart.
    pub(super) fn repoint(&mut self, setting: Setting<'a>, tree: SupplyTree) {
        tree.adopt(&mut self.supply);
        self.stand_at(setting, tree);
        for tap in 0..self.is_tap_changed.len() {
            if !std::mem::replace(&mut self.is_tap_changed[tap], true) {
                self.taps_changed.push(tap);
            }
        }
    }

    /// They are of another operating point, at which everything stands already.
    pub(super) fn stand_at(&mut self, setting: Setting<'a>, tree: SupplyTree) {
        (self.setting, self.tree) = (setting, tree);
    }

    /// Background of a memory from `now` on; its component is set apart, with what it accesses.
    pub(super) fn set_background(&mut self, memory: usize, rail: usize, known: KnownPower) {
        self.stand(3 * self.setting.profile.spec().domains.len() + memory, rail, known);
    }

    /// Power of a block from `now` on.
    pub(super) fn set_load(&mut self, now: SimTime, load: usize, known: KnownPower) {
        let spec = self.setting.profile.spec();
        let rail = self.setting.profile.links().load_rail[load];
        self.set(now, Role::Load(load), known.power);
        self.stand(3 * spec.domains.len() + spec.memories.len() + load, rail, known);
    }

    fn stand(&mut self, place: usize, rail: usize, known: KnownPower) {
        self.standing[place] = (rail, known);
        self.standing_changed = true;
    }

    /// Jobs at work from now on, and what pays where none is.
    pub(super) fn set_at_work(&mut self, jobs: u32, otherwise: Otherwise, lasting: Kind) {
        self.numbers.at_work = jobs;
        self.numbers.otherwise = otherwise;
        self.lasting = lasting;
    }

    /// Books the interval up to `now` as it was before the changes made at `now`. To be called
    /// before the first change of an instant.
    pub(super) fn book(&mut self, now: SimTime) {
        let numbers = &mut self.numbers;
        let elapsed = now.since(numbers.booked).seconds().0;
        if elapsed <= 0.0 {
            return;
        }
        numbers.booked = now;
        let mut loss = numbers.loss;
        let waking = self.supplies.waking();
        if waking != 0.0 {
            // Changes of modes are transitions, whoever is at work.
            loss -= waking;
            numbers.transition.loss.add(waking * elapsed);
        }
        if numbers.at_work > 0 {
            let each = elapsed / f64::from(numbers.at_work);
            numbers.shared_standing.add(numbers.standing * each);
            numbers.shared_loss.add(loss * each);
            if waking != 0.0 {
                for (regulator, power) in self.supplies.waking_by_regulator() {
                    numbers.rest_losses[regulator] += power * elapsed;
                }
            }
            return;
        }
        let sum = match numbers.otherwise {
            Otherwise::Idle => &mut numbers.idle,
            Otherwise::Transition => &mut numbers.transition,
        };
        sum.load.add(numbers.standing * elapsed);
        sum.loss.add(loss * elapsed);
        for (rail, kind, power) in &self.standing_by_kind {
            numbers.rest_evidence[*rail].add(kind.weaker(self.lasting), power * elapsed);
        }
        for (sum, loss) in numbers.rest_losses.iter_mut().zip(&self.supply.regulator_loss) {
            *sum += loss.0 * elapsed;
        }
        let links = self.setting.profile.links();
        let grids = self.supply.grid_loss.iter().enumerate();
        for (domain, power) in grids.filter(|(_, power)| power.0 != 0.0) {
            let kind = grid_kind(domain, self.setting).weaker(self.lasting);
            let rail = links.domain_rail[domain];
            numbers.rest_evidence[rail].add(kind, power.0 * elapsed);
        }
    }

    /// Where a job that begins a layer stands.
    pub(super) fn mark(&self) -> Mark {
        Mark {
            standing: self.numbers.shared_standing.value(),
            loss: self.numbers.shared_loss.value(),
        }
    }

    /// Books what a layer's own work took.
    pub(super) fn charge(&mut self, workload: usize, layer: usize, energy: Joules) {
        if let Some(sum) = self.booked_of(workload, layer) {
            sum.load.add(energy.0);
        }
    }

    /// Books a layer's part of what stood since `mark`.
    pub(super) fn charge_shared(&mut self, workload: usize, layer: usize, mark: Mark) {
        let now = self.mark();
        if let Some(sum) = self.booked_of(workload, layer) {
            sum.load.add(now.standing - mark.standing);
            sum.loss.add(now.loss - mark.loss);
        }
    }

    fn booked_of(&mut self, workload: usize, layer: usize) -> Option<&mut Booked> {
        self.numbers.layers.get_mut(workload)?.get_mut(layer)
    }

    /// Books what a domain's waking took beyond its working power.
    pub(super) fn charge_waking(&mut self, domain: usize, energy: Joules, kind: Kind) {
        self.numbers.transition.load.add(energy.0);
        let rail = self.setting.profile.links().domain_rail[domain];
        self.numbers.rest_evidence[rail].add(kind, energy.0);
    }

    /// Solves the rails for the powers set at `now` and tells the sink what changed.
    pub(super) fn commit(&mut self, now: SimTime, sink: &mut impl Sink) {
        if self.standing_changed {
            self.standing_changed = false;
            self.sum_standing();
        }
        if self.taps_changed.is_empty() && self.to_solve.is_empty() {
            return;
        }
        for tap in self.taps_changed.drain(..) {
            self.is_tap_changed[tap] = false;
            let at_it = self.at_tap[tap].iter();
            self.loads[tap] = Watts(at_it.map(|c| self.numbers.components[*c].value).sum());
            self.to_solve.mark(tap);
        }
        self.tree.solve_from(&mut self.to_solve, &self.loads, &mut self.supply);
        if self.supplies.is_watching() {
            self.follow_supplies(now);
        }
        self.follow_supply(now);
        let mut changed = std::mem::take(&mut self.changed);
        changed.sort_unstable();
        for place in changed.drain(..) {
            self.is_changed[place] = false;
            let power = self.numbers.components[place].value;
            if self.told[place] != power {
                sink.power(now, ComponentId(place), Watts(power));
                self.told[place] = power;
                if let Some(watch) = &mut self.heat {
                    watch.note(place);
                }
            }
        }
        self.changed = changed;
        for (rail, current) in self.supply.rail_current.iter().enumerate() {
            let voltage = self.supply.rail_voltage[rail];
            if self.told_rails[rail] != (voltage, *current) {
                sink.rail(now, RailId(rail), voltage, *current);
                self.told_rails[rail] = (voltage, *current);
            }
        }
    }

    fn sum_standing(&mut self) {
        self.standing_by_kind.clear();
        for (rail, known) in self.standing.iter().filter(|(_, known)| known.power.0 != 0.0) {
            let sums = &mut self.standing_by_kind;
            match sums.iter_mut().find(|(own, kind, _)| own == rail && *kind == known.kind) {
                Some((_, _, sum)) => *sum += known.power.0,
                None => sums.push((*rail, known.kind, known.power.0)),
            }
        }
        self.numbers.standing = self.standing_by_kind.iter().map(|(_, _, power)| power).sum();
    }

    /// What the supplies do now.
    fn follow_supply(&mut self, now: SimTime) {
        let mut loss = 0.0;
        for &regulator in &self.setting.point.regulators {
            let burnt = self.supply.regulator_loss[regulator];
            loss += burnt.0;
            if self.numbers.losses[regulator].value != burnt.0 {
                self.numbers.losses[regulator].set(now, burnt.0);
                self.set(now, Role::Regulator(regulator), burnt);
            }
        }
        for place in 0..self.grids.len() {
            let domain = self.grids[place];
            let burnt = self.supply.grid_loss[domain];
            loss += burnt.0;
            if self.numbers.grids[domain].value != burnt.0 {
                self.numbers.grids[domain].set(now, burnt.0);
                self.set(now, Role::Grid(domain), burnt);
            }
        }
        self.numbers.loss = loss;
        for (held, power) in self.numbers.rail_load.iter_mut().zip(&self.supply.rail_power) {
            if held.value != power.0 {
                held.set(now, power.0);
            }
        }
        for (held, current) in self.numbers.rail_current.iter_mut().zip(&self.supply.rail_current) {
            if held.value != current.0 {
                held.set(now, current.0);
            }
        }
        let left = self.supplies.given(&self.supply);
        let given = left.unwrap_or(self.supply.source_power.0);
        if self.numbers.source.value != given {
            self.numbers.source.set(now, given);
        }
        let collapsed = self.may_collapse && self.supply.is_collapsed();
        let unmet = if collapsed || left.is_some() {
            let asked: f64 = self.loads.iter().map(|load| load.0).sum();
            asked + loss - given
        } else {
            0.0
        };
        if self.numbers.unmet.value != unmet {
            self.numbers.unmet.set(now, unmet);
        }
    }

    /// Closes all accounts at `end`. The integral of the loads is the sink's to add.
    pub(super) fn close(mut self, end: SimTime, load_integral: Joules) -> Closed {
        self.book(end);
        let numbers = &mut self.numbers;
        let all = [
            &mut numbers.components,
            &mut numbers.rail_load,
            &mut numbers.rail_current,
            &mut numbers.losses,
            &mut numbers.grids,
        ];
        all.into_iter().flatten().for_each(|held| held.integrate(end));
        numbers.source.integrate(end);
        numbers.unmet.integrate(end);
        let voltages = &self.setting.point.voltages;
        let mut rails = Vec::with_capacity(voltages.len());
        let held = numbers.rail_load.iter().zip(&numbers.rail_current).zip(voltages);
        for ((load, current), (voltage, _)) in held {
            rails.push(RailUse {
                load_energy: Joules(load.whole()),
                charge: Coulombs(current.whole()),
                peak_current: Amperes(current.most),
                peak_power: Watts(load.most),
                lowest: *voltage,
                collapsed: SimTime::ZERO,
            });
        }
        let supplied = self.close_supplies(end, &mut rails);
        let ledger = self.ledger(load_integral, &rails);
        let rest_losses: Vec<_> = self.numbers.rest_losses.iter().copied().map(Joules).collect();
        let rest_evidence = &mut self.numbers.rest_evidence;
        let rest_evidence = evidence_at_sources(rest_evidence, &rest_losses, self.setting);
        Closed { ledger, rails, rest_evidence, supplied }
    }

    fn ledger(&self, integral: Joules, rails: &[RailUse]) -> Ledger {
        let numbers = &self.numbers;
        let mut ledger = Ledger {
            source: Joules(numbers.source.whole()),
            unmet: Joules(numbers.unmet.whole()),
            integral,
            rail_charge: rails.iter().map(|rail| rail.charge).collect(),
            ..Ledger::default()
        };
        let mut book = |cause, booked: &Booked| {
            let (load, loss) = (booked.load.value(), booked.loss.value());
            if load != 0.0 || loss != 0.0 {
                ledger.by_cause.insert(cause, Joules(load));
                ledger.loss_by_cause.insert(cause, Joules(loss));
            }
        };
        for (workload, layers) in numbers.layers.iter().enumerate() {
            for (layer, booked) in layers.iter().enumerate() {
                book(Cause::Layer { workload, layer }, booked);
            }
        }
        book(Cause::Idle, &numbers.idle);
        book(Cause::Transition, &numbers.transition);
        for (component, held) in self.header.components.iter().zip(&numbers.components) {
            if component.is_load() {
                let energy = Joules(held.whole());
                ledger.by_component.insert(component.name.clone(), energy);
            }
        }
        for (rail, used) in self.header.rails.iter().zip(rails) {
            ledger.by_rail.insert(rail.name.clone(), used.load_energy);
        }
        for &regulator in &self.setting.point.regulators {
            let name = self.setting.profile.spec().regulators[regulator].name.clone();
            ledger.losses.insert(name, Joules(numbers.losses[regulator].whole()));
        }
        let domains = self.setting.profile.spec().domains.iter().zip(&numbers.grids);
        for (domain, held) in domains.filter(|(domain, _)| domain.ir_drop.is_some()) {
            let energy = Joules(held.whole());
            ledger.losses.insert(format!("{}_grid", domain.name), energy);
        }
        ledger
    }
}

/// What is left of accounts that are closed.
pub(super) struct Closed {
    pub(super) ledger: Ledger,
    pub(super) rails: Vec<RailUse>,
    /// What the energy of idle times and transitions rests on.
    pub(super) rest_evidence: Coverage,
    pub(super) supplied: Supplied,
}
