//! Placement: which engine runs which layer.
//!
//! A layer on an engine takes a time and an energy of its own; a result that is read from another memory
//! than the one it was written to is handed over once for each such memory. The choice makes
//!
//! `Σ_l (a t_l + b e_l) + Σ_handovers (a t + b e)`
//!
//! small, with `a = 1, b = 0` for time, and `a = P, b = 1` for energy, where `P` is the power that is drawn
//! whatever runs. The energy-delay product `E T` is not a sum: from the placement of least time on, the
//! weights `a = P T + E`, `b = T` of its differential are taken anew as long as the product falls.
//!
//! Layers are gone through in the order in which they run, and for each engine of the last layer the
//! best placement of all before it is kept (dynamic programming): exact for a chain of layers. Where
//! results are read further on, and by several, single layers and runs of layers of one engine are moved
//! as long as the sum falls. Left out of the choice: losses of regulators, which do not add up.

mod links;

use self::links::Links;
use std::ops::Range;
use std::rc::Rc;

/// Time and energy, in SI.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Price {
    pub(super) time: f64,
    pub(super) energy: f64,
}

impl Price {
    pub(super) fn plus(self, other: Self) -> Self {
        Self { time: self.time + other.time, energy: self.energy + other.energy }
    }
}

/// How much time and energy count.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Weights {
    pub(super) time: f64,
    pub(super) energy: f64,
}

impl Weights {
    pub(super) fn of(self, price: Price) -> f64 {
        // What does not count is not known to be finite.
        let part = |weight: f64, value: f64| if weight == 0.0 { 0.0 } else { weight * value };
        part(self.time, price.time) + part(self.energy, price.energy)
    }
}

/// A memory for each engine, where it has one. Many layers share them.
pub(super) type ByEngine = Rc<[Option<usize>]>;

/// A result that a later layer reads.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Edge {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) bytes: f64,
    /// The memory that the reader takes it from, by the engine that it runs on.
    pub(super) read_from: ByEngine,
}

/// A result on its way from one memory to another, before a layer that reads it there.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Handover {
    pub(super) reader: usize,
    pub(super) bytes: f64,
    pub(super) from: usize,
    pub(super) to: usize,
}

/// What is to be placed. Layers and engines go by number.
pub(super) struct Problem<'a> {
    /// Price of each layer on each engine that runs it.
    pub(super) own: Vec<Vec<Option<Price>>>,
    /// The memory that the result of each layer is written to, by engine.
    pub(super) written_to: Vec<ByEngine>,
    /// Results that are read, in the order of their makers.
    pub(super) edges: Vec<Edge>,
    /// Price of so many bytes from one memory to another.
    pub(super) hop: &'a dyn Fn(f64, usize, usize) -> Price,
}

/// The engine of each layer; nothing where none runs it.
pub(super) type Placement = Vec<Option<usize>>;

impl Problem<'_> {
    /// A placement and what it hands over, as `choose` picks it.
    pub(super) fn placed(
        &self,
        choose: impl FnOnce(&Search<'_>) -> Placement,
    ) -> (Placement, Vec<Handover>) {
        let search = Search { problem: self, links: Links::of(self) };
        let placement = choose(&search);
        let handovers = search.links.handovers(&placement);
        (placement, handovers)
    }
}

/// A search for placements.
pub(super) struct Search<'a> {
    problem: &'a Problem<'a>,
    links: Links<'a>,
}

impl Search<'_> {
    /// The placement that the weights make best.
    pub(super) fn best(&self, weights: Weights) -> Placement {
        let mut placement = self.in_order(weights);
        self.improve(&mut placement, weights);
        placement
    }

    /// The placement of the least product of energy and time, where `power` is drawn whatever runs.
    pub(super) fn best_product(&self, power: f64) -> Placement {
        let mut best = self.best(Weights { time: 1.0, energy: 0.0 });
        let product = |price: Price| (price.energy + power * price.time) * price.time;
        let mut least = self.price(&best);
        for _ in 0..16 {
            let energy = least.energy + power * least.time;
            let weights = Weights { time: power * least.time + energy, energy: least.time };
            let next = self.best(weights);
            if next == best {
                break;
            }
            let price = self.price(&next);
            if product(price) >= product(least) {
                break;
            }
            (best, least) = (next, price);
        }
        best
    }

    /// Price of a placement.
    fn price(&self, placement: &Placement) -> Price {
        let own = placement.iter().zip(&self.problem.own);
        let own = own.filter_map(|(engine, prices)| *prices.get((*engine)?)?);
        let makers = 0..self.problem.own.len();
        let handed = makers.map(|maker| self.price_handed(maker, placement));
        own.chain(handed).fold(Price::default(), Price::plus)
    }

    /// Price of the handovers of a result.
    fn price_handed(&self, maker: usize, placement: &[Option<usize>]) -> Price {
        let mut sum = Price::default();
        self.links.each_passed(maker, placement, |edge, pair| {
            sum = sum.plus(self.links.price(edge, pair));
        });
        sum
    }

    /// The best placement that looks back along each path only.
    fn in_order(&self, weights: Weights) -> Placement {
        let layers = &self.problem.own;
        // For each engine of the last placed layer: the sum so far and the placement that makes it, of
        // which only what a later layer reads is kept up: the rest is found by going back.
        let mut paths: Vec<(f64, Placement)> = vec![(0.0, Vec::new())];
        let mut spare: Vec<(f64, Placement)> = Vec::new();
        // Path before and engine, of all paths of all layers.
        let mut steps: Vec<(usize, Option<usize>)> = Vec::with_capacity(4 * layers.len());
        let mut ends: Vec<usize> = Vec::with_capacity(layers.len());
        let mut next: Vec<(f64, usize, Option<usize>)> = Vec::new();
        let mut least: Vec<Option<(f64, usize)>> = Vec::new();
        let mut weighed = vec![None; self.links.prices()];
        for (layer, prices) in layers.iter().enumerate() {
            next.clear();
            for (engine, price) in prices.iter().enumerate() {
                next.extend(price.map(|price| (weights.of(price), 0, Some(engine))));
            }
            least.clear();
            least.resize(next.len(), None);
            for (path, (sum, placed)) in paths.iter().enumerate() {
                let coming = self.coming(layer, placed);
                for ((own, _, engine), least) in next.iter().zip(&mut least) {
                    let handed = engine.filter(|_| !coming.is_empty());
                    let handed = handed.map_or(0.0, |engine| {
                        self.arriving(&coming, engine, placed, weights, &mut weighed)
                    });
                    let sum = sum + own + handed;
                    if least.is_none_or(|(least, _)| sum < least) {
                        *least = Some((sum, path));
                    }
                }
            }
            for ((sum, path, _), least) in next.iter_mut().zip(&least) {
                (*sum, *path) = least.unwrap_or((*sum, 0));
            }
            if next.is_empty() {
                next.extend(paths.iter().enumerate().map(|(path, (sum, _))| (*sum, path, None)));
            }
            let window = self.links.window(layer + 1);
            spare.resize_with(next.len(), Default::default);
            for ((sum, placed), (own, path, engine)) in spare.iter_mut().zip(&next) {
                *sum = *own;
                placed.resize(layer, None);
                let known = paths.get(*path).and_then(|(_, known)| known.get(window..));
                if let (Some(to), Some(from)) = (placed.get_mut(window..), known) {
                    to.copy_from_slice(from);
                }
                placed.push(*engine);
            }
            std::mem::swap(&mut paths, &mut spare);
            ends.push(steps.len());
            steps.extend(next.iter().map(|(_, path, engine)| (*path, *engine)));
        }
        let sums = paths.iter().map(|(sum, _)| *sum).enumerate();
        let least = sums.reduce(|best, next| if next.1 < best.1 { next } else { best });
        let mut path = least.map_or(0, |(path, _)| path);
        let back = ends.iter().rev().map(|start| {
            let (before, engine) = steps.get(start + path).copied().unwrap_or_default();
            path = before;
            engine
        });
        let mut placement: Placement = back.collect();
        placement.reverse();
        placement
    }

    /// What a layer reads behind layers that are placed, as far as it may change memories.
    fn coming(&self, layer: usize, placed: &[Option<usize>]) -> Vec<Coming<'_>> {
        let read = self.links.read(layer).iter().filter_map(|&edge| {
            let from = self.links.maker(edge);
            let pairs = self.links.pairs_from(edge, placed.get(from).copied().flatten()?)?;
            Some(Coming { edge, pairs, readers: self.links.made(from) })
        });
        read.collect()
    }

    /// What it adds by that on an engine.
    fn arriving(
        &self,
        coming: &[Coming<'_>],
        engine: usize,
        placed: &[Option<usize>],
        weights: Weights,
        weighed: &mut [Option<f64>],
    ) -> f64 {
        let mut sum = 0.0;
        for Coming { edge, pairs, readers } in coming {
            let Some(pair) = pairs.get(engine).copied().flatten() else { continue };
            let end = self.links.end(pair);
            let there = |other: &usize| {
                self.links.passed(*other, placed).is_some_and(|own| self.links.end(own) == end)
            };
            if readers.len() > 1 && readers.iter().any(there) {
                continue;
            }
            let price = || weights.of(self.links.price(*edge, pair));
            sum += match weighed.get_mut(self.links.place(*edge, pair)) {
                Some(known) => *known.get_or_insert_with(price),
                None => price(),
            };
        }
        sum
    }

    /// Moves layers, and runs of layers on one engine, as long as the sum falls.
    fn improve(&self, placement: &mut Placement, weights: Weights) {
        let engines = self.problem.own.iter().map(Vec::len).max().unwrap_or(0);
        // Of a chain the best placement was found.
        if engines < 2 || self.links.is_chain() {
            return;
        }
        let mut trial = Trial::default();
        for _ in 0..16 {
            let mut moved = false;
            let mut first = 0;
            while first < placement.len() {
                let on = |layer: usize| placement.get(layer).copied().flatten();
                // A run moves whole from its start; from within it no further than `REACH`.
                let inside = first.checked_sub(1).is_some_and(|before| on(before) == on(first));
                let run = run_from(placement, first, if inside { REACH } else { usize::MAX });
                for range in [first..first + 1, first..first + run] {
                    trial.begin(range);
                    for engine in 0..engines {
                        moved |= self.try_on(engine, placement, weights, &mut trial);
                    }
                    if run == 1 {
                        break;
                    }
                }
                first += 1;
            }
            if !moved {
                return;
            }
        }
    }

    /// Puts layers on an engine if that makes the sum fall.
    fn try_on(
        &self,
        engine: usize,
        placement: &mut Placement,
        weights: Weights,
        trial: &mut Trial,
    ) -> bool {
        let layers = trial.layers.clone();
        let runs = |layer: usize| self.problem.own.get(layer).and_then(|p| *p.get(engine)?);
        let same = |layer: &usize| placement.get(*layer).copied().flatten() == Some(engine);
        let mut range = layers.clone();
        if range.all(|layer| same(&layer)) || layers.clone().any(|layer| runs(layer).is_none()) {
            return false;
        }
        self.find_makers(trial);
        let around = |placement: &Placement| self.around(placement, weights, trial);
        let before = trial.before.unwrap_or_else(|| around(placement));
        let Some(old) = placement.get(layers.clone()) else { return false };
        let mut kept = std::mem::take(&mut trial.old);
        kept.clear();
        kept.extend_from_slice(old);
        for slot in placement.iter_mut().skip(layers.start).take(layers.len()) {
            *slot = Some(engine);
        }
        let after = self.around(placement, weights, trial);
        // A real gain, so that rounding cannot go round in circles.
        let gains = after < before - before.abs() * 1e-12;
        if !gains {
            for (slot, old) in placement.iter_mut().skip(layers.start).zip(&kept) {
                *slot = *old;
            }
        }
        trial.old = kept;
        trial.before = Some(if gains { after } else { before });
        gains
    }

    /// Layers whose results the placement of some layers can hand over otherwise: these, and those that they
    /// read, by rising place.
    fn find_makers(&self, trial: &mut Trial) {
        if !trial.makers.is_empty() {
            return;
        }
        trial.makers.extend(trial.layers.clone());
        for layer in trial.layers.clone() {
            let read = self.links.read(layer).iter();
            trial.makers.extend(read.map(|edge| self.links.maker(*edge)));
        }
        trial.makers.sort_unstable();
        trial.makers.dedup();
    }

    /// The part of the sum that the placement of the layers on trial can change.
    fn around(&self, placement: &Placement, weights: Weights, trial: &Trial) -> f64 {
        let own = trial.layers.clone().filter_map(|layer| {
            let engine = placement.get(layer).copied().flatten()?;
            Some(weights.of((*self.problem.own.get(layer)?.get(engine)?)?))
        });
        let own: f64 = own.sum();
        let handed = trial.makers.iter();
        let handed = handed.map(|maker| weights.of(self.price_handed(*maker, placement)));
        own + handed.sum::<f64>()
    }
}

/// A result that comes to a layer from an engine.
struct Coming<'a> {
    edge: usize,
    /// The pair of memories that it passes between, by the reader's engine.
    pairs: &'a [Option<u32>],
    /// Edges that take the same result.
    readers: &'a [usize],
}

/// Layers that move together from within a run of one engine. All tails of a long run would be the square of
/// its length; what is gained further on is tried from there.
const REACH: usize = 16;

/// Layers that are tried on one engine after the other.
#[derive(Default)]
struct Trial {
    layers: Range<usize>,
    /// Known once an engine is tried.
    makers: Vec<usize>,
    /// The part of the sum that they can change as they stand.
    before: Option<f64>,
    old: Placement,
}

impl Trial {
    fn begin(&mut self, layers: Range<usize>) {
        self.layers = layers;
        self.makers.clear();
        self.before = None;
    }
}

/// Length of the run of layers on the engine of the first of them, as far as `most` of them.
fn run_from(placement: &Placement, first: usize, most: usize) -> usize {
    let engine = placement.get(first).copied().flatten();
    let run = placement.iter().skip(first).take(most);
    run.take_while(|other| **other == engine).count().max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    /// A problem of random prices in which engine `e` works from memory `e`.
    fn problem<'a>(
        layers: usize,
        engines: usize,
        skips: bool,
        generator: &mut ChaCha8Rng,
        hop: &'a dyn Fn(f64, usize, usize) -> Price,
    ) -> Problem<'a> {
        let mut price = |engine: usize| {
            let runs = engine + 1 == engines || generator.random_range(0.0..1.0) < 0.8;
            runs.then(|| Price {
                time: generator.random_range(1.0..10.0),
                energy: generator.random_range(1.0..10.0),
            })
        };
        let own = (0..layers).map(|_| (0..engines).map(&mut price).collect()).collect();
        let homes: ByEngine = (0..engines).map(Some).collect();
        let mut edges = Vec::new();
        for to in 1..layers {
            let mut add = |from: usize, bytes: f64| {
                edges.push(Edge { from, to, bytes, read_from: homes.clone() });
            };
            add(to - 1, generator.random_range(0.0..6.0));
            if skips && to > 2 {
                add(generator.random_range(0..to - 1), generator.random_range(0.0..6.0));
            }
        }
        Problem { own, written_to: vec![homes; layers], edges, hop }
    }

    fn search<'a>(problem: &'a Problem<'a>) -> Search<'a> {
        Search { problem, links: Links::of(problem) }
    }

    fn price(problem: &Problem<'_>, placement: &Placement) -> Price {
        search(problem).price(placement)
    }

    fn hop(bytes: f64, _: usize, _: usize) -> Price {
        Price { time: bytes, energy: 2.0 * bytes }
    }

    /// All placements there are.
    fn all(problem: &Problem<'_>) -> Vec<Placement> {
        let mut found = vec![Vec::new()];
        for prices in &problem.own {
            let runs = || prices.iter().enumerate().filter(|(_, p)| p.is_some());
            found = found
                .iter()
                .flat_map(|placed: &Placement| {
                    runs().map(|(e, _)| [placed.as_slice(), &[Some(e)]].concat())
                })
                .collect();
        }
        found
    }

    #[test]
    fn of_a_chain_the_best_placement_is_found_and_of_a_net_with_skips_nearly() {
        let mut generator = ChaCha8Rng::seed_from_u64(7);
        let (mut exact, mut tried) = (0, 0);
        for round in 0..200 {
            let skips = round % 2 == 1;
            let problem = problem(7, 3, skips, &mut generator, &hop);
            let weights = Weights { time: 1.0, energy: if round % 4 < 2 { 0.0 } else { 0.3 } };
            let of = |placement: &Placement| weights.of(price(&problem, placement));
            let least = all(&problem).iter().map(of).fold(f64::INFINITY, f64::min);
            let found = of(&search(&problem).best(weights));
            if skips {
                tried += 1;
                exact += usize::from(found <= least * (1.0 + 1e-9));
                assert!(found <= least * 1.1, "{found} {least}");
            } else {
                assert!((found / least - 1.0).abs() < 1e-9, "{found} {least}");
            }
        }
        assert!(exact * 10 >= tried * 9, "{exact} of {tried}");
    }

    #[test]
    fn a_chain_is_one_whose_layers_read_the_one_before_once() {
        let mut generator = ChaCha8Rng::seed_from_u64(3);
        let chain = problem(5, 2, false, &mut generator, &hop);
        assert!(Links::of(&chain).is_chain());
        let mut twice = problem(5, 2, false, &mut generator, &hop);
        twice.edges.push(twice.edges[1].clone());
        assert!(!Links::of(&twice).is_chain(), "two readings of one result");
        let mut further = problem(5, 2, false, &mut generator, &hop);
        further.edges[2].from = 0;
        assert!(!Links::of(&further).is_chain());
    }

    #[test]
    fn runs_longer_than_what_moves_at_once_are_placed_no_worse_than_by_going_through_them() {
        let mut generator = ChaCha8Rng::seed_from_u64(5);
        for _ in 0..4 {
            // Handing over is dear, so that runs grow long.
            let dear = |bytes: f64, _: usize, _: usize| hop(9.0 * bytes, 0, 0);
            let problem = problem(4 * REACH, 3, true, &mut generator, &dear);
            let weights = Weights { time: 1.0, energy: 0.3 };
            let of = |placement: &Placement| weights.of(price(&problem, placement));
            let search = search(&problem);
            let (gone_through, best) = (search.in_order(weights), search.best(weights));
            assert!(of(&best) <= of(&gone_through));
            // No single layer is better off on another engine.
            for layer in 0..best.len() {
                for engine in (0..3).filter(|e| problem.own[layer][*e].is_some()) {
                    let mut other = best.clone();
                    other[layer] = Some(engine);
                    assert!(of(&other) >= of(&best) * (1.0 - 1e-9), "layer {layer}");
                }
            }
        }
    }

    #[test]
    fn the_least_product_is_no_larger_than_those_of_least_time_and_of_least_energy() {
        let mut generator = ChaCha8Rng::seed_from_u64(8);
        for _ in 0..100 {
            let problem = problem(7, 3, false, &mut generator, &hop);
            let power = 0.5;
            let product = |placement: &Placement| {
                let price = price(&problem, placement);
                (price.energy + power * price.time) * price.time
            };
            let own = product(&search(&problem).best_product(power));
            let time = product(&search(&problem).best(Weights { time: 1.0, energy: 0.0 }));
            assert!(own <= time * (1.0 + 1e-12));
            let least = all(&problem).iter().map(product).fold(f64::INFINITY, f64::min);
            assert!(own <= least * 1.05, "{own} {least}");
        }
    }

    #[test]
    fn a_result_is_handed_over_once_for_each_memory() {
        let own = vec![
            vec![Some(Price { time: 1.0, energy: 0.0 }), None],
            vec![None, Some(Price::default())],
            vec![None, Some(Price::default())],
            vec![Some(Price::default()), None],
        ];
        let homes: ByEngine = Rc::from([Some(0), Some(1)]);
        let edge = |to| Edge { from: 0, to, bytes: 3.0, read_from: homes.clone() };
        let edges = vec![edge(1), edge(2), edge(3)];
        let problem = Problem { own, written_to: vec![homes.clone(); 4], edges, hop: &hop };
        let placement = search(&problem).best(Weights { time: 1.0, energy: 0.0 });
        assert_eq!(placement, [Some(0), Some(1), Some(1), Some(0)]);
        assert_eq!(price(&problem, &placement), Price { time: 1.0 + 3.0, energy: 6.0 });
    }

    #[test]
    fn a_slow_way_keeps_layers_together_and_a_fast_one_does_not() {
        let price = |time: f64| Some(Price { time, energy: 0.0 });
        let own = vec![
            vec![price(1.0), price(5.0)],
            vec![price(5.0), price(1.0)],
            vec![price(1.0), price(5.0)],
        ];
        let homes: ByEngine = Rc::from([Some(0), Some(1)]);
        for (bytes, expected) in [(1.0, [0, 1, 0]), (3.0, [0, 0, 0])] {
            let edge = |to: usize| Edge { from: to - 1, to, bytes, read_from: homes.clone() };
            let edges = vec![edge(1), edge(2)];
            let (own, written_to) = (own.clone(), vec![homes.clone(); 3]);
            let problem = Problem { own, written_to, edges, hop: &hop };
            let found = search(&problem).best(Weights { time: 1.0, energy: 0.0 });
            assert_eq!(found, expected.map(Some), "{bytes}");
        }
    }
}
