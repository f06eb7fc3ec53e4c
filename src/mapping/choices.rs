//! What a mapping chooses from: each layer on every engine that takes it.

use super::candidate::Candidate;
use super::flows::plain_bytes;
use super::handover::price;
use super::known::Memo;
use super::memory::{MemoryPlan, memory_plan};
use super::network::Network;
use super::place::{ByEngine, Edge, Handover, Placement, Price, Problem, Weights};
use super::{Directions, Objective};
use crate::cost::{Cost, Mixing, Refusal, Setting, no_stage, runs_in, standing_power};
use crate::model::Layer;
use crate::units::Watts;
use std::cell::RefCell;
use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::rc::Rc;
use std::sync::Arc;

/// What there is to choose from.
pub(super) struct Choices {
    pub(super) directions: Directions,
    pub(super) homes: Vec<Arc<MemoryPlan>>,
    /// Candidates of each layer, by engine.
    pub(super) candidates: Vec<Vec<Rc<Candidate>>>,
    /// Engines that refuse each layer.
    pub(super) refusals: Vec<Vec<(usize, Refusal)>>,
    /// Results that are read; none where one engine runs all.
    edges: Vec<Edge>,
    /// What is known of layers on engines.
    pub(super) memo: Memo,
}

impl Choices {
    pub(super) fn of(network: &Network, directions: &Directions, setting: Setting<'_>) -> Self {
        let engines = 0..setting.profile.spec().engines.len();
        let homes: Vec<_> = engines.map(|e| memory_plan(network, e, setting.profile)).collect();
        let layers = network.layers.len();
        let mut choices = Self {
            directions: directions.clone(),
            homes,
            candidates: Vec::with_capacity(layers),
            refusals: Vec::with_capacity(layers),
            edges: Vec::new(),
            memo: Memo::of(layers, setting),
        };
        for (index, layer) in network.layers.iter().enumerate() {
            choices.add(index, layer, network, setting);
        }
        // Engines of one memory plan find everything where the others leave it.
        if choices.homes.windows(2).any(|pair| !Arc::ptr_eq(&pair[0], &pair[1])) {
            choices.connect(network, setting);
        }
        choices
    }

    /// The candidates of a layer: on the engine that it is tied to, on the first that takes it, or on all.
    fn add(&mut self, index: usize, layer: &Layer, network: &Network, setting: Setting<'_>) {
        let tied = self.directions.pins.get(&index).copied();
        let (mut candidates, mut refusals): (Vec<Rc<Candidate>>, Vec<_>) = Default::default();
        for engine in 0..self.homes.len() {
            if tied.is_some_and(|tied| tied != engine) {
                continue;
            }
            if let Some(refusal) = no_stage(&setting.profile.spec().engines[engine], layer) {
                refusals.push((engine, refusal));
            } else if let Some(again) = self.again(index, engine, network) {
                candidates.push(again);
            } else {
                match self.memo.cost(index, layer, engine, setting).as_ref() {
                    Err(refusal) => refusals.push((engine, refusal.clone())),
                    Ok(cost) if self.is_beaten(cost, layer, engine, &candidates, setting) => {}
                    Ok(cost) => {
                        let homes = &self.homes[engine];
                        let own = (index, layer);
                        let own = self.memo.candidate(own, engine, cost, homes, None, setting);
                        candidates.push(own);
                    }
                }
            }
            if self.directions.objective == Objective::First && !candidates.is_empty() {
                break;
            }
        }
        self.candidates.push(candidates);
        self.refusals.push(refusals);
    }

    /// The candidate of a layer before with the same work, where its tensors have the same homes.
    fn again(&self, index: usize, engine: usize, network: &Network) -> Option<Rc<Candidate>> {
        let first = network.alike.get(index).copied().filter(|first| *first < index)?;
        let (own, other) = (network.layers.get(index)?, network.layers.get(first)?);
        let homes = self.homes.get(engine)?;
        let (read, known) = (own.work.operands.iter(), other.work.operands.iter());
        let same = read.zip(known).all(|(a, b)| {
            a.buffer == b.buffer || homes.home_of_operand(a) == homes.home_of_operand(b)
        });
        let made = homes.home_of_result(&own.work) == homes.home_of_result(&other.work);
        let candidates = self.candidates.get(first).filter(|_| same && made)?;
        candidates.iter().find(|candidate| candidate.engine == engine).cloned()
    }

    /// True where another engine takes no more time and energy in all than this one for its work alone, and
    /// finds and leaves the tensors of the layer in the same memories: whatever stands before and behind,
    /// it is no worse.
    fn is_beaten(
        &self,
        cost: &Cost,
        layer: &Layer,
        engine: usize,
        others: &[Rc<Candidate>],
        setting: Setting<'_>,
    ) -> bool {
        let clock = setting.point.clocks[setting.profile.links().engine_domain[engine]].0;
        let time = (cost.compute.max(cost.dispatch) / clock).0;
        let energy = (cost.energy + cost.dispatch_energy).0;
        let work = &layer.work;
        let same = |one: usize, other: usize| {
            let (Some(one), Some(other)) = (self.homes.get(one), self.homes.get(other)) else {
                return false;
            };
            let mut operands = work.operands.iter();
            Arc::ptr_eq(one, other)
                || (one.home_of_result(work) == other.home_of_result(work)
                    && operands.all(|o| one.home_of_operand(o) == other.home_of_operand(o)))
        };
        others.iter().any(|other| {
            let price = other.price(setting);
            price.time <= time && price.energy <= energy && same(other.engine, engine)
        })
    }

    /// Finds what each layer reads of another.
    fn connect(&mut self, network: &Network, setting: Setting<'_>) {
        let units = &setting.profile.spec().engines;
        let mut shared = Shared::default();
        for (to, layer) in network.layers.iter().enumerate() {
            let precision = units.iter().find_map(|unit| runs_in(unit, layer.work.element));
            let Some(precision) = precision else { continue };
            for (operand, maker) in layer.work.operands.iter().zip(network.producers(to)) {
                let Some(from) = maker.filter(|from| *from < to) else { continue };
                let bytes = plain_bytes(operand, &layer.work, precision).0;
                let homes = self.homes.iter();
                let read_from = shared.row(homes.map(|home| home.home_of_operand(operand)));
                self.edges.push(Edge { from, to, bytes, read_from });
            }
        }
    }

    /// The engine of each layer, and what is handed over.
    pub(super) fn placement(
        &self,
        network: &Network,
        setting: Setting<'_>,
    ) -> (Placement, Vec<Handover>) {
        let first = || self.candidates.iter().map(|c| c.first().map(|c| c.engine)).collect();
        let no_choice = self.candidates.iter().all(|c| c.len() < 2);
        if no_choice && self.edges.is_empty() {
            return (first(), Vec::new());
        }
        let known: RefCell<HashMap<_, Price, BuildHasherDefault<Mixing>>> = RefCell::default();
        let hop = |bytes: f64, from: usize, to: usize| {
            let mut known = known.borrow_mut();
            let key = (bytes.to_bits(), from, to);
            *known.entry(key).or_insert_with(|| price(bytes, from, to, setting))
        };
        let problem = self.problem(network, &hop, setting);
        problem.placed(|search| match self.directions.objective {
            _ if no_choice => first(),
            Objective::First => first(),
            Objective::Time | Objective::Energy => search.best(self.weights(setting)),
            Objective::Edp => search.best_product(self.standing(setting)),
        })
    }

    /// The same once layers are placed: of a product, its differential at that placement.
    pub(super) fn weights_at(&self, placement: &Placement, setting: Setting<'_>) -> Weights {
        if self.directions.objective != Objective::Edp {
            return self.weights(setting);
        }
        let placed = self.candidates.iter().zip(placement);
        let own = placed.filter_map(|(all, engine)| all.iter().find(|c| Some(c.engine) == *engine));
        let Price { time, energy } =
            own.fold(Price::default(), |sum, own| sum.plus(own.price(setting)));
        let standing = self.standing(setting);
        Weights { time: 2.0 * standing * time + energy, energy: time }
    }

    /// How much time and energy count by the aim of the mapping.
    pub(super) fn weights(&self, setting: Setting<'_>) -> Weights {
        match self.directions.objective {
            Objective::Time | Objective::First => Weights { time: 1.0, energy: 0.0 },
            Objective::Energy | Objective::Edp => {
                Weights { time: self.standing(setting), energy: 1.0 }
            }
        }
    }

    /// Power that is drawn whatever runs \[W\].
    fn standing(&self, setting: Setting<'_>) -> f64 {
        standing_power(setting).into_iter().sum::<Watts>().0
    }

    fn problem<'a>(
        &self,
        network: &Network,
        hop: &'a dyn Fn(f64, usize, usize) -> Price,
        setting: Setting<'_>,
    ) -> Problem<'a> {
        let engines = self.homes.len();
        let own = self.candidates.iter().map(|candidates| {
            let mut prices = vec![None; engines];
            for candidate in candidates {
                prices[candidate.engine] = Some(candidate.price(setting));
            }
            prices
        });
        let own: Vec<Vec<Option<Price>>> = own.collect();
        let mut shared = Shared::default();
        let made = network.layers.iter().map(|layer| {
            shared.row(self.homes.iter().map(|home| home.home_of_result(&layer.work)))
        });
        let written_to: Vec<ByEngine> = made.collect();
        // What is read where it is written, whichever engines are chosen, is no part of the choice.
        let on = |layer: usize| {
            let prices = own.get(layer).into_iter().flatten().enumerate();
            prices.filter(|(_, price)| price.is_some()).map(|(engine, _)| engine)
        };
        let may_move = |edge: &&Edge| {
            let written = written_to.get(edge.from);
            on(edge.from).any(|maker| {
                let from = written.and_then(|homes| homes.get(maker).copied().flatten());
                on(edge.to).any(|reader| {
                    let to = edge.read_from.get(reader).copied().flatten();
                    from.is_some() && to.is_some() && from != to
                })
            })
        };
        let edges = self.edges.iter().filter(may_move).cloned().collect();
        Problem { own, written_to, edges, hop }
    }

    pub(super) fn take(&mut self, layer: usize, engine: usize) -> Option<Candidate> {
        let candidates = self.candidates.get_mut(layer)?;
        let place = candidates.iter().position(|c| c.engine == engine)?;
        let taken = candidates.swap_remove(place);
        Some(Rc::try_unwrap(taken).unwrap_or_else(|shared| (*shared).clone()))
    }
}

/// Rows of homes, of which many are alike: each of the last few once.
#[derive(Default)]
struct Shared {
    rows: Vec<ByEngine>,
    own: Vec<Option<usize>>,
}

impl Shared {
    fn row(&mut self, homes: impl Iterator<Item = Option<usize>>) -> ByEngine {
        self.own.clear();
        self.own.extend(homes);
        let alike = |row: &&ByEngine| row.as_ref() == self.own.as_slice();
        if let Some(known) = self.rows.iter().rev().take(8).find(alike) {
            return Rc::clone(known);
        }
        let row = ByEngine::from(self.own.as_slice());
        self.rows.push(Rc::clone(&row));
        row
    }
}
