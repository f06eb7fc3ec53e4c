//! Sources that run down: batteries by their charge, storage capacitors by their energy.
//!
//! Between two events power and current at the terminals stay. What the source has left follows exactly
//! (a battery loses `I t`, a capacitor by the laws of [`crate::physics::capacitor`] and
//! [`crate::physics::capacitor_discharge`]); its open-circuit voltage is told to the rail tree in steps.
//! A step ends where the voltage has fallen by [`STEP`], where the curve bends, where the terminals reach
//! their minimum or collapse under the present load, and where nothing is left. For its length the tree
//! sees the voltage of its middle: what loads of constant power, or a regulator of constant current, then
//! take in it is what they take from a voltage that falls all the time. With a series resistance the
//! error is of the second order, below `STEP^2`.
//!
//! A capacitor that leaks and has a series resistance is taken to lose its leakage through both; that
//! puts no more than `2 r / R` of what it gives into the resistance.

use super::supplies::NEVER_LOWER;
use crate::cost::SupplyTree;
use crate::physics::capacitor::{Capacitor, Flow};
use crate::physics::capacitor_discharge::LoadedCapacitor;
use crate::sim::kernel::Generation;
use crate::sim::supplied::{Cause, Draw, Holding, SupplyStart};
use crate::units::{
    Amperes, CompensatedSum, Coulombs, Joules, Ohms, Seconds, SimTime, Volts, Watts,
};
use serde::{Deserialize, Serialize};

/// Share that the open-circuit voltage falls by in a step at most.
const STEP: f64 = 1e-3;
/// Two levels of charge or voltage that are as near as this are one.
const SAME: f64 = 1e-9;

/// What a store is made of.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Battery {
        capacity: Coulombs,
    },
    Capacitor {
        law: Capacitor,
        /// Its own voltage at which nothing is left for a load.
        empty: Volts,
    },
}

/// A source that runs down.
#[derive(Debug, Clone)]
pub(super) struct Store {
    /// Its place among the sources of the tree.
    pub(super) source: usize,
    pub(super) rail: usize,
    /// That rail and all behind it.
    pub(super) behind: Vec<usize>,
    kind: Kind,
    resistance: Ohms,
    /// The rail stands below the open-circuit voltage by what the resistance takes.
    follows: bool,
    /// Voltage of one that has no curve.
    flat: Volts,
    /// Lowest voltage of its terminals that what it feeds works from.
    minimum: Volts,
    /// Charge or energy at the start, in SI.
    start: f64,
}

/// What of it moves.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StoreState {
    /// Charge or energy that left it.
    gone: CompensatedSum,
    inside: CompensatedSum,
    leaked: CompensatedSum,
    since: SimTime,
    draw: Draw,
    /// Charge or own voltage at which the present step ends.
    floor: f64,
    /// As the tree has it.
    pub(super) open_circuit: Volts,
    pub(super) generation: Generation,
    pub(super) lowest: Volts,
    pub(super) empty: Option<SimTime>,
}

/// All that a store is made from.
pub(super) struct Stated<'a> {
    pub(super) source: usize,
    pub(super) spec: &'a crate::hardware::Supply,
    pub(super) start: SupplyStart,
    /// Lowest voltage of its rail.
    pub(super) rail_minimum: Option<Volts>,
    /// Voltage of the tree's source at first.
    pub(super) flat: Volts,
}

impl Store {
    /// Nothing of a supply that holds no known amount.
    pub(super) fn of(stated: &Stated<'_>, tree: &SupplyTree) -> Option<Self> {
        let (rail, _) = tree.source(stated.source)?;
        let rail_minimum = stated.rail_minimum.unwrap_or(Volts::ZERO);
        let (kind, minimum, start) = match (&stated.spec.storage, stated.start) {
            (Some(storage), SupplyStart::Voltage(voltage)) => {
                let law = Capacitor {
                    capacitance: storage.capacitance.get(),
                    leakage: storage.leakage.as_ref().map(|leakage| leakage.get()),
                };
                let empty = storage.minimum.get();
                let start = law.energy(voltage).0;
                (Kind::Capacitor { law, empty }, empty.max(rail_minimum), start)
            }
            (None, SupplyStart::Charge(share)) => {
                let capacity = stated.spec.capacity.as_ref()?.get();
                (Kind::Battery { capacity }, rail_minimum, (capacity * share.0).0)
            }
            _ => return None,
        };
        Some(Self {
            source: stated.source,
            rail,
            behind: tree.behind(rail),
            kind,
            resistance: tree.source_resistance(stated.source),
            follows: tree.moves(rail),
            flat: stated.flat,
            minimum,
            start,
        })
    }

    /// At the start, with nothing drawn.
    pub(super) fn at_first(&self, tree: &SupplyTree) -> StoreState {
        let mut state = StoreState {
            gone: CompensatedSum::default(),
            inside: CompensatedSum::default(),
            leaked: CompensatedSum::default(),
            since: SimTime::ZERO,
            draw: Draw::default(),
            floor: 0.0,
            open_circuit: self.flat,
            generation: Generation::default(),
            lowest: NEVER_LOWER,
            empty: None,
        };
        self.begin_step(&mut state, tree);
        self.see_terminals(&mut state, tree);
        state
    }

    /// Charge or energy that is left.
    fn left(&self, state: &StoreState) -> f64 {
        (self.start - state.gone.value()).max(0.0)
    }

    /// Its voltage without load with so much left.
    fn voltage(&self, left: f64, tree: &SupplyTree) -> Volts {
        match self.kind {
            Kind::Battery { capacity } => {
                tree.open_circuit_at(self.source, left / capacity.0).unwrap_or(self.flat)
            }
            Kind::Capacitor { law, .. } => Volts((2.0 * left / law.capacitance.0).sqrt()),
        }
    }

    /// What leaks, over the length of a step.
    fn leak(&self, state: &StoreState) -> Watts {
        match self.kind {
            Kind::Capacitor { law: Capacitor { leakage: Some(leakage), .. }, .. } => {
                state.open_circuit * (state.open_circuit / leakage)
            }
            _ => Watts::ZERO,
        }
    }

    /// What the resistance has to pass: the load and, in a capacitor, its leakage.
    fn through(&self, state: &StoreState) -> Watts {
        state.draw.power + self.leak(state)
    }

    fn loaded(&self) -> LoadedCapacitor {
        let capacitance = match self.kind {
            Kind::Capacitor { law, .. } => law.capacitance,
            Kind::Battery { .. } => crate::units::Farads(f64::INFINITY),
        };
        LoadedCapacitor { capacitance, resistance: self.resistance }
    }

    /// Brings it to `now` under what it gave until then.
    fn advance(&self, state: &mut StoreState, now: SimTime, tree: &SupplyTree) {
        let time = now.since(state.since).seconds();
        state.since = now;
        if time.0 <= 0.0 {
            return;
        }
        let Draw { power, current, .. } = match state.empty {
            None => state.draw,
            Some(_) => Draw::default(),
        };
        let in_resistance = self.resistance * current * current * time;
        match self.kind {
            Kind::Battery { .. } => {
                state.gone.add((current * time).0);
                state.inside.add(in_resistance.0);
            }
            Kind::Capacitor { law, .. } => {
                let (inside, leaked) = if power.0 <= 0.0 || self.resistance.0 <= 0.0 {
                    let all = law.lost(Joules(self.left(state)), Watts::ZERO - power, time);
                    (Joules::ZERO, all - power * time)
                } else {
                    let own = self.voltage(self.left(state), tree);
                    let through = self.through(state);
                    let drained = self.loaded().drained(own, through, time);
                    let burnt = drained.filter(|_| !state.draw.collapsed);
                    let burnt = burnt.map_or(in_resistance, |(_, burnt)| burnt);
                    (burnt, self.leak(state) * time)
                };
                state.gone.add((power * time).0);
                state.gone.add(inside.0);
                state.gone.add(leaked.0);
                state.inside.add(inside.0);
                state.leaked.add(leaked.0);
            }
        }
    }

    /// The highest of its own voltages below the present one at which its terminals reach their minimum
    /// or collapse under the present load, or it is empty.
    fn limit(&self, state: &StoreState, own: Volts) -> Option<Volts> {
        if !self.follows {
            return None;
        }
        let through = self.through(state);
        let collapse = Volts(2.0 * (through.0 * self.resistance.0).max(0.0).sqrt());
        let at_minimum = match self.minimum * 2.0 > collapse && self.minimum.0 > 0.0 {
            true => self.loaded().own(self.minimum, through),
            false => collapse,
        };
        let empty = match self.kind {
            Kind::Capacitor { empty, .. } => empty,
            Kind::Battery { .. } => Volts::ZERO,
        };
        let all = [at_minimum, collapse, empty].into_iter();
        let below = all.filter(|level| level.0 > 0.0 && level.0 < own.0 * (1.0 - SAME));
        below.reduce(Volts::max)
    }

    /// Where the present step ends as things are: charge, or own voltage.
    fn end(&self, state: &StoreState, tree: &SupplyTree) -> f64 {
        let left = self.left(state);
        let own = self.voltage(left, tree);
        let Some(limit) = self.limit(state, own) else { return state.floor };
        match self.kind {
            Kind::Capacitor { .. } => state.floor.max(limit.0),
            Kind::Battery { .. } => {
                let low = self.voltage(state.floor, tree);
                // The voltage is linear in the charge within a step.
                if limit <= low || own <= low {
                    return state.floor;
                }
                let share = (limit - low) / (own - low);
                state.floor + share * (left - state.floor)
            }
        }
    }

    /// A step from here on: its end, and the voltage that the tree is to see.
    fn begin_step(&self, state: &mut StoreState, tree: &SupplyTree) {
        let left = self.left(state);
        let own = self.voltage(left, tree);
        match self.kind {
            Kind::Battery { capacity } => {
                let below = |charge: &f64| *charge < left * (1.0 - SAME);
                let bends = tree.curve_points(self.source).map(|share| share * capacity.0);
                let bend = bends.rev().find(below).unwrap_or(0.0);
                let fall = own - self.voltage(bend, tree);
                let most = own * STEP;
                state.floor = match fall > most {
                    true => left - (left - bend) * (most / fall),
                    false => bend,
                };
                state.floor = self.end(state, tree);
                let middle = self.voltage(0.5 * (left + state.floor), tree);
                state.open_circuit = middle;
            }
            Kind::Capacitor { .. } => {
                state.floor = own.0 * (1.0 - STEP);
                state.floor = self.end(state, tree);
                state.open_circuit = (own + Volts(state.floor)) * 0.5;
            }
        }
    }

    /// What is crossed now: true where the tree has to be told of another step.
    pub(super) fn cross(&self, state: &mut StoreState, now: SimTime, tree: &SupplyTree) -> bool {
        self.advance(state, now, tree);
        self.see_terminals(state, tree);
        let left = self.left(state);
        let level = match self.kind {
            Kind::Battery { .. } => left,
            Kind::Capacitor { .. } => self.voltage(left, tree).0,
        };
        let gone = match self.kind {
            Kind::Battery { capacity } => left <= capacity.0 * SAME,
            Kind::Capacitor { empty, .. } => level <= empty.0 * (1.0 + SAME),
        };
        if gone {
            state.empty = state.empty.or(Some(now));
            return true;
        }
        let over = level <= state.floor * (1.0 + SAME);
        if over {
            self.begin_step(state, tree);
        }
        over
    }

    /// From `now` on it gives something else.
    pub(super) fn give(&self, state: &mut StoreState, now: SimTime, draw: Draw, tree: &SupplyTree) {
        self.advance(state, now, tree);
        state.draw = draw;
        self.see_terminals(state, tree);
    }

    fn see_terminals(&self, state: &mut StoreState, tree: &SupplyTree) {
        if state.empty.is_some() {
            return;
        }
        // Where they collapse, most passes at half of what it has.
        let most = || self.voltage(self.left(state), tree) * 0.5;
        let terminals = self.terminals(state, tree).unwrap_or_else(most);
        state.lowest = state.lowest.min(terminals);
    }

    pub(super) fn gives(&self, state: &StoreState) -> Draw {
        state.draw
    }

    /// Voltage of its terminals; nothing where they collapse.
    fn terminals(&self, state: &StoreState, tree: &SupplyTree) -> Option<Volts> {
        if !self.follows {
            return Some(self.flat);
        }
        let own = self.voltage(self.left(state), tree);
        self.loaded().terminal(own, self.through(state))
    }

    /// Why what it feeds does not work, where it does not.
    pub(super) fn fails(&self, state: &StoreState, tree: &SupplyTree) -> Option<Cause> {
        if state.empty.is_some() || self.is_empty(state) {
            return Some(Cause::Empty);
        }
        match self.terminals(state, tree) {
            None => Some(Cause::Collapse),
            _ if state.draw.collapsed => Some(Cause::Collapse),
            Some(at) if at.0 <= self.minimum.0 * (1.0 + SAME) => Some(Cause::BelowMinimum),
            Some(_) => None,
        }
    }

    fn is_empty(&self, state: &StoreState) -> bool {
        self.left(state) <= 0.0
    }

    /// Time until the next crossing as things are; nothing where there is none.
    pub(super) fn next(&self, state: &StoreState, tree: &SupplyTree) -> Option<Seconds> {
        if state.empty.is_some() {
            return None;
        }
        let Draw { power, current, collapsed } = state.draw;
        let (end, left) = (self.end(state, tree), self.left(state));
        match self.kind {
            Kind::Battery { .. } => {
                (current.0 > 0.0).then(|| Coulombs((left - end).max(0.0)) / current)
            }
            Kind::Capacitor { law, .. } => {
                let (own, end) = (self.voltage(left, tree), Volts(end));
                if own <= end {
                    return Some(Seconds::ZERO);
                }
                if collapsed {
                    let flow = Flow { power: Watts::ZERO, current };
                    return Capacitor { leakage: None, ..law }.next_crossing(own, end, flow);
                }
                if power.0 <= 0.0 || self.resistance.0 <= 0.0 {
                    let flow = Flow { power: Watts::ZERO - power, current: Amperes::ZERO };
                    return law.next_crossing(own, end, flow);
                }
                let (law, through) = (self.loaded(), self.through(state));
                let terminals = law.terminal(end, through).unwrap_or(Volts::ZERO);
                law.next_crossing(own, terminals, through)
            }
        }
    }

    /// What it holds, and what it burnt inside, at `now`.
    pub(super) fn close(
        &self,
        state: &mut StoreState,
        now: SimTime,
        tree: &SupplyTree,
    ) -> (Holding, Joules) {
        self.advance(state, now, tree);
        let left = self.left(state);
        let holding = match self.kind {
            Kind::Battery { capacity } => {
                Holding::Battery { capacity, start: Coulombs(self.start), left: Coulombs(left) }
            }
            Kind::Capacitor { .. } => Holding::Storage {
                start: Joules(self.start),
                left: Joules(left),
                leaked: Joules(state.leaked.value()),
            },
        };
        (holding, Joules(state.inside.value()))
    }
}
