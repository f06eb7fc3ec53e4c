//! Chains among the layers that are placed: where results stay in buffers.

use super::candidate::Candidate;
use super::chains::{Run, Tie, chains, tie};
use super::choices::Choices;
use super::network::Network;
use super::place::{Placement, Weights};
use crate::cost::Setting;
use crate::hardware::Keeps;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

impl Choices {
    /// Lets results stay in buffers, on engines that do so.
    pub(super) fn chain(&mut self, network: &Network, placement: &Placement, setting: Setting<'_>) {
        let weights = self.weights_at(placement, setting);
        let mut first = 0;
        while first < placement.len() {
            let engine = placement.get(first).copied().flatten();
            let keeps = engine.map_or(Keeps::Nothing, |engine| self.keeps(engine, setting));
            let Some(engine) = engine.filter(|_| keeps != Keeps::Nothing) else {
                first += 1;
                continue;
            };
            let homes = Arc::clone(&self.homes[engine]);
            let mut ties: Vec<Tie> = Vec::new();
            while placement.get(first + ties.len() + 1) == Some(&Some(engine)) {
                let next = tie(network, first + ties.len(), engine, &homes, setting);
                let alike = |tie: &Tie| ties.first().is_none_or(|own| own.buffer == tie.buffer);
                let Some(next) = next.filter(alike) else { break };
                ties.push(next);
            }
            let homes = homes.as_ref();
            let run = Run { network, engine, homes, first, ties: &ties, setting };
            self.chain_run(&run, keeps, weights);
            first += ties.len() + 1;
        }
    }

    fn keeps(&self, engine: usize, setting: Setting<'_>) -> Keeps {
        let own = || setting.profile.spec().engines.get(engine).map(|unit| unit.keeps);
        self.directions.keeps.or_else(own).unwrap_or_default()
    }

    /// Cuts a run of layers into the chains of least cost, and keeps what stays within them.
    fn chain_run(&mut self, run: &Run<'_>, keeps: Keeps, weights: Weights) {
        let sum = |own: &[Rc<Candidate>]| -> f64 {
            own.iter().map(|c| weights.of(c.price(run.setting))).sum()
        };
        let cost = |range: Range<usize>| -> Option<f64> {
            if range.len() > 1 {
                let ways = self.ways(run, range, keeps);
                return ways.iter().map(|own| sum(own)).reduce(f64::min);
            }
            let candidates = self.candidates.get(run.first + range.start)?;
            let own = candidates.iter().find(|c| c.engine == run.engine)?;
            Some(weights.of(own.price(run.setting)))
        };
        let found = chains(run.ties.len() + 1, cost);
        for range in found.into_iter().filter(|range| range.len() > 1) {
            let start = run.first + range.start;
            let ways = self.ways(run, range, keeps).into_iter();
            let least = ways.reduce(|best, next| if sum(&next) < sum(&best) { next } else { best });
            for (layer, candidate) in (start..).zip(least.unwrap_or_default()) {
                let of_layer = self.candidates.get_mut(layer);
                let own = of_layer.and_then(|all| all.iter_mut().find(|c| c.engine == run.engine));
                if let Some(own) = own {
                    *own = candidate;
                }
            }
        }
    }

    /// The layers of a chain, by the ways that their results can stay; only those that fit.
    fn ways(&self, run: &Run<'_>, layers: Range<usize>, keeps: Keeps) -> Vec<Vec<Rc<Candidate>>> {
        let ways = run.ways(layers.clone(), keeps).into_iter();
        let fitting = ways.filter_map(|kept| {
            let members = (run.first + layers.start..).zip(kept);
            let candidates = members.map(|(index, kept)| {
                let layer = run.network.layers.get(index)?;
                let (engine, setting) = (run.engine, run.setting);
                let cost = self.memo.cost(index, layer, engine, setting);
                let (own, cost) = ((index, layer), cost.as_ref().as_ref().ok()?);
                let own = self.memo.candidate(own, engine, cost, run.homes, Some(&kept), setting);
                (!own.overflows).then_some(own)
            });
            candidates.collect()
        });
        fitting.collect()
    }
}
