//! What of the supplies moves in a run: sources that run down, modes of regulators that take time to
//! change, rails that cannot be held. A run of which none of this is true does not look at it.

use super::modes::{Look, ModeState, Moded};
use super::rail_watch::{RailWatch, Seen};
use super::stores::{Stated, Store, StoreState};
use super::{Accounts, Held, RailUse};
use crate::cost::{Setting, SupplyState, SupplyTree};
use crate::sim::kernel::{Class, Ticket};
use crate::sim::supplied::{BrownOut, Cause, Draw, Holding, SourceUse, Supplied, SupplyStart};
use crate::units::{Coulombs, Joules, Seconds, SimTime, Volts};
use serde::{Deserialize, Serialize};

/// The lowest voltage of what has not been seen yet; finite, for it is written down with a run.
pub(super) const NEVER_LOWER: Volts = Volts(f64::MAX);
/// Rounds of looking at modes after one another at one instant.
const ROUNDS: usize = 16;

/// Something that a supply does by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum SupplyEvent {
    /// A source crosses a threshold.
    Crossing {
        /// The source, by its place among those that run down.
        store: usize,
        /// The plan it comes from.
        ticket: Ticket,
    },
    /// A regulator stands in a heavier mode.
    Woken {
        /// The regulator, by its place among those with modes.
        regulator: usize,
        /// The plan it comes from.
        ticket: Ticket,
    },
}

impl SupplyEvent {
    pub(in crate::sim) fn class(self) -> Class {
        match self {
            Self::Crossing { .. } => Class::Crossing,
            Self::Woken { .. } => Class::Completion,
        }
    }
}

/// All that moves.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Moving {
    stores: Vec<StoreState>,
    modes: Vec<ModeState>,
    rails: RailWatch,
    /// Power and current that each source gives.
    given: Vec<Held>,
    taken: Vec<Held>,
    inside: Vec<Held>,
    lowest: Vec<Volts>,
    /// Power that changes of modes take.
    waking: f64,
}

/// What is fixed, and what moves.
#[derive(Debug, Default)]
pub(super) struct Supplies {
    stores: Vec<Store>,
    modes: Vec<Moded>,
    /// Lowest voltage that each rail may have, of rails whose voltage moves.
    minima: Vec<Option<Volts>>,
    /// Something of all this can happen.
    watching: bool,
    pub(super) moving: Moving,
    plans: Vec<(SimTime, SupplyEvent)>,
}

impl Supplies {
    pub(super) fn new(
        setting: Setting<'_>,
        starts: &[(usize, SupplyStart)],
        tree: &SupplyTree,
    ) -> Self {
        let spec = setting.profile.spec();
        let minimum = |rail: usize| {
            let stated = spec.rails.get(rail)?.minimum.as_ref()?;
            Some(stated.get())
        };
        let at_first = tree.at_first();
        let sources = 0..tree.sources();
        let stores = sources.clone().filter_map(|source| {
            let (rail, supply) = tree.source(source)?;
            let supply = supply?;
            let (_, start) = starts.iter().find(|(own, _)| *own == supply)?;
            let stated = Stated {
                source,
                spec: spec.supplies.get(supply)?,
                start: *start,
                rail_minimum: minimum(rail),
                flat: at_first.sources.get(source)?.open_circuit,
            };
            Store::of(&stated, tree)
        });
        let stores: Vec<Store> = stores.collect();
        let used = setting.point.regulators.iter();
        let modes = used.filter_map(|r| Moded::of(*r, spec.regulators.get(*r)?, tree));
        let modes: Vec<Moded> = modes.collect();
        let burns = sources.clone().any(|source| tree.source_resistance(source).0 > 0.0);
        let moves = tree.may_collapse() || burns;
        let watching = !stores.is_empty() || !modes.is_empty() || moves;
        let nothing = vec![Held::default(); if watching { sources.len() } else { 0 }];
        let moving = Moving {
            stores: stores.iter().map(|store| store.at_first(tree)).collect(),
            modes: modes.iter().map(Moded::at_first).collect(),
            rails: RailWatch::new(setting.point.voltages.iter().map(|(voltage, _)| *voltage)),
            lowest: vec![NEVER_LOWER; nothing.len()],
            inside: nothing.clone(),
            taken: nothing.clone(),
            given: nothing,
            waking: 0.0,
        };
        let rails = 0..setting.point.voltages.len();
        let minima = rails.map(|rail| minimum(rail).filter(|_| tree.moves(rail))).collect();
        Self { stores, modes, minima, watching, moving, plans: Vec::new() }
    }

    /// Whether what was saved can be of these supplies.
    pub(super) fn fits(&self, saved: &Moving) -> bool {
        let shape = |own: &Moving| {
            let sources = [own.given.len(), own.taken.len(), own.inside.len(), own.lowest.len()];
            (own.stores.len(), own.modes.len(), sources, own.rails.len())
        };
        shape(&self.moving) == shape(saved)
    }

    /// The state of the tree that a run begins with.
    pub(super) fn begin(&self, tree: &SupplyTree) -> SupplyState {
        if self.stores.is_empty() {
            return SupplyState::default();
        }
        let mut supply = tree.at_first();
        for (store, state) in self.stores.iter().zip(&self.moving.stores) {
            if let Some(source) = supply.sources.get_mut(store.source) {
                source.open_circuit = state.open_circuit;
            }
        }
        supply
    }

    pub(super) fn is_watching(&self) -> bool {
        self.watching
    }

    /// Power that changes of modes take, which is nobody's who is at work.
    pub(super) fn waking(&self) -> f64 {
        self.moving.waking
    }

    /// The same of each regulator.
    pub(super) fn waking_by_regulator(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        self.modes
            .iter()
            .zip(&self.moving.modes)
            .map(|(own, state)| (own.regulator, state.wake.value))
    }

    fn is_empty(&self, source: usize) -> bool {
        let mut stores = self.stores.iter().zip(&self.moving.stores);
        stores.any(|(own, state)| own.source == source && state.empty.is_some())
    }

    /// What sources give that are not empty; nothing where all give what the tree says.
    pub(super) fn given(&self, supply: &SupplyState) -> Option<f64> {
        let none_empty = self.moving.stores.iter().all(|state| state.empty.is_none());
        if none_empty {
            return None;
        }
        let sources = supply.sources.iter().enumerate();
        let give = sources.filter(|(source, _)| !self.is_empty(*source));
        Some(give.map(|(_, source)| source.power.0).sum())
    }

    /// Plans the next crossing of a store as things are, instead of the one before.
    fn plan(&mut self, store: usize, now: SimTime, tree: &SupplyTree) {
        let (Some(own), Some(state)) = (self.stores.get(store), self.moving.stores.get_mut(store))
        else {
            return;
        };
        let ticket = state.generation.renew();
        if let Some(at) = own.next(state, tree).and_then(|time| later(now, time)) {
            self.plans.push((at, SupplyEvent::Crossing { store, ticket }));
        }
    }

    /// Sources as the tree has them from `now` on.
    fn follow_sources(&mut self, now: SimTime, supply: &SupplyState, tree: &SupplyTree) {
        for store in 0..self.stores.len() {
            let own = &self.stores[store];
            let Some(source) = supply.sources.get(own.source) else { continue };
            let collapsed = supply.rail_collapsed.get(own.rail).copied().unwrap_or(false);
            let draw = Draw { power: source.power, current: source.current, collapsed };
            let state = &mut self.moving.stores[store];
            if own.gives(state) != draw {
                own.give(state, now, draw, tree);
                self.plan(store, now, tree);
            }
        }
        for (place, source) in supply.sources.iter().enumerate() {
            let empty = self.is_empty(place);
            let given = if empty { 0.0 } else { source.power.0 };
            let taken = if empty { 0.0 } else { source.current.0 };
            let inside = if empty { 0.0 } else { source.inside.0 };
            for (held, value) in [
                (&mut self.moving.given, given),
                (&mut self.moving.taken, taken),
                (&mut self.moving.inside, inside),
            ] {
                if let Some(held) = held.get_mut(place).filter(|held| held.value != value) {
                    held.set(now, value);
                }
            }
            if let Some(lowest) = self.moving.lowest.get_mut(place).filter(|_| !empty) {
                *lowest = lowest.min(source.voltage);
            }
        }
    }

    /// Rails as the tree has them from `now` on.
    fn follow_rails(&mut self, now: SimTime, supply: &SupplyState, tree: &SupplyTree) {
        self.moving.rails.spend(now);
        for rail in 0..self.minima.len() {
            let voltage = supply.rail_voltage.get(rail).copied().unwrap_or(Volts::ZERO);
            let collapsed = tree.is_collapsed(rail, supply);
            let (mut short, mut fails) = (collapsed, collapsed.then_some(Cause::Collapse));
            let mut held_by_store = false;
            for (store, state) in self.stores.iter().zip(&self.moving.stores) {
                short |= state.empty.is_some() && store.behind.contains(&rail);
                if store.rail == rail {
                    held_by_store = true;
                    fails = fails.or_else(|| store.fails(state, tree));
                }
            }
            let low = self.minima[rail].is_some_and(|least| voltage.0 < least.0 * (1.0 - 1e-9));
            // The terminals of a store are known better than the middle of a step says.
            if low && !held_by_store {
                fails = fails.or(Some(Cause::BelowMinimum));
            }
            self.moving.rails.see(now, rail, Seen { voltage, short, fails });
        }
    }
}

/// The picosecond that `time` is over by, and not now; nothing past the end of time.
fn later(now: SimTime, time: Seconds) -> Option<SimTime> {
    let ticks = (time.0 * SimTime::TICKS_PER_SECOND).ceil().max(1.0);
    let after = SimTime::from_seconds(Seconds(ticks / SimTime::TICKS_PER_SECOND)).ok()?;
    now.after(after.max(SimTime(1))).ok()
}

impl Accounts<'_> {
    /// Follows what the solution of the tree at `now` means for sources, modes and rails.
    pub(super) fn follow_supplies(&mut self, now: SimTime) {
        for _ in 0..ROUNDS {
            if !self.look_at_modes(now) {
                break;
            }
            self.tree.solve_from(&mut self.to_solve, &self.loads, &mut self.supply);
        }
        self.supplies.follow_sources(now, &self.supply, &self.tree);
        self.supplies.follow_rails(now, &self.supply, &self.tree);
    }

    /// True where the tree is to be solved again.
    fn look_at_modes(&mut self, now: SimTime) -> bool {
        let supplies = &mut self.supplies;
        let mut moved = false;
        for (place, own) in supplies.modes.iter().enumerate() {
            let state = &mut supplies.moving.modes[place];
            let look = own.look(state, now, &self.tree, &mut self.supply);
            if look != Look::Same {
                moved = true;
                self.to_solve.mark(own.output);
            }
            if let Look::Until(at) = look {
                let ticket = state.generation.ticket();
                let event = SupplyEvent::Woken { regulator: place, ticket };
                supplies.plans.push((at, event));
            }
        }
        if moved {
            let waking = supplies.moving.modes.iter().map(|state| state.wake.value);
            supplies.moving.waking = waking.sum();
        }
        moved
    }

    /// What a supply does by itself, at `now`.
    pub(in crate::sim) fn supply_event(&mut self, now: SimTime, event: SupplyEvent) {
        let supplies = &mut self.supplies;
        match event {
            SupplyEvent::Crossing { store, .. } => {
                let (Some(own), Some(state)) =
                    (supplies.stores.get(store), supplies.moving.stores.get_mut(store))
                else {
                    return;
                };
                if own.cross(state, now, &self.tree)
                    && let Some(source) = self.supply.sources.get_mut(own.source)
                {
                    source.open_circuit = state.open_circuit;
                }
                // It is looked at again even where nothing else changed.
                self.to_solve.mark(own.rail);
                supplies.plan(store, now, &self.tree);
            }
            SupplyEvent::Woken { regulator, .. } => {
                let (Some(own), Some(state)) =
                    (supplies.modes.get(regulator), supplies.moving.modes.get_mut(regulator))
                else {
                    return;
                };
                own.woken(state, now, &mut self.supply);
                self.to_solve.mark(own.output);
                let waking = supplies.moving.modes.iter().map(|state| state.wake.value);
                supplies.moving.waking = waking.sum();
            }
        }
    }

    /// Whether an event of a supply comes from a plan that was made anew since.
    pub(in crate::sim) fn is_overtaken(&self, event: &SupplyEvent) -> bool {
        let moving = &self.supplies.moving;
        match event {
            SupplyEvent::Crossing { store, ticket } => {
                moving.stores.get(*store).is_none_or(|own| own.generation.overtook(*ticket))
            }
            SupplyEvent::Woken { regulator, ticket } => {
                moving.modes.get(*regulator).is_none_or(|own| own.generation.overtook(*ticket))
            }
        }
    }

    /// What supplies are to do later, each once.
    pub(in crate::sim) fn next_plan(&mut self) -> Option<(SimTime, SupplyEvent)> {
        self.supplies.plans.pop()
    }

    /// The first time that a rail could not be held.
    pub(in crate::sim) fn first_brown_out(&self) -> Option<BrownOut> {
        self.supplies.moving.rails.first
    }

    /// What sources, regulators and rails did until `end`; completes `rails`.
    pub(super) fn close_supplies(&mut self, end: SimTime, rails: &mut [RailUse]) -> Supplied {
        let supplies = &mut self.supplies;
        let (moving, spec) = (&mut supplies.moving, self.setting.profile.spec());
        moving.rails.spend(end);
        if supplies.watching {
            for (place, rail) in rails.iter_mut().enumerate() {
                if let Some((lowest, short)) = moving.rails.of(place) {
                    (rail.lowest, rail.collapsed) = (lowest, short);
                }
            }
        }
        let mut sources = Vec::with_capacity(self.tree.sources());
        for source in 0..self.tree.sources() {
            let Some((rail, supply)) = self.tree.source(source) else { continue };
            let used = rails.get(rail).copied().unwrap_or_default();
            let name = supply.and_then(|supply| spec.supplies.get(supply));
            let mut own = SourceUse {
                name: name.map(|supply| supply.name.clone()),
                rail,
                // Its voltage stays, where nothing is watched.
                given: Joules(used.charge.0 * used.lowest.0),
                inside: Joules::ZERO,
                charge: used.charge,
                holding: Holding::Endless,
                lowest: used.lowest,
                empty: None,
            };
            if supplies.watching {
                for held in [&mut moving.given, &mut moving.taken, &mut moving.inside] {
                    held.iter_mut().skip(source).take(1).for_each(|held| held.integrate(end));
                }
                let whole = |held: &[Held]| held.get(source).map_or(0.0, Held::whole);
                own.given = Joules(whole(&moving.given));
                own.charge = Coulombs(whole(&moving.taken));
                own.inside = Joules(whole(&moving.inside));
                let lowest = moving.lowest.get(source).filter(|lowest| **lowest < NEVER_LOWER);
                own.lowest = lowest.copied().unwrap_or(own.lowest);
            }
            sources.push(own);
        }
        for (store, state) in supplies.stores.iter().zip(&mut moving.stores) {
            let Some(own) = sources.get_mut(store.source) else { continue };
            (own.holding, own.inside) = store.close(state, end, &self.tree);
            (own.lowest, own.empty) = (state.lowest, state.empty);
            if let Some(rail) = rails.get_mut(store.rail) {
                rail.lowest = own.lowest;
            }
        }
        let regulators = supplies.modes.iter().zip(&mut moving.modes).filter_map(|(own, state)| {
            Some(own.close(state, end, spec.regulators.get(own.regulator)?))
        });
        Supplied {
            regulators: regulators.collect(),
            sources,
            brown_outs: moving.rails.brown_outs,
            first: moving.rails.first,
            ended: false,
        }
    }
}
