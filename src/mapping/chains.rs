//! Chains of layers that hand their results on within a buffer.
//!
//! A result that only the next layer on the same engine reads need not go to its home and back. Either all
//! of it stays in the buffer: then it takes its bytes of the buffer while its maker and its reader run, and
//! their tiles share what is left. Or the layers of a chain run depth first: row by row through all of them,
//! with the filters of all in the buffer, and of every operand only the rows that a window is over and those
//! that come next:
//!
//! `Σ_l filters_l + Σ_o min(1, (kernel_o + stride_o) / rows_o) bytes_o <= capacity`
//!
//! over the layers `l` of the chain and all that enters it, passes within it, or leaves it (`o`; two rows where
//! no window reads it). All that enters or leaves comes once then. Rows are kept and not made again, so that
//! no layer computes more than alone.
//!
//! Where chains begin and end is chosen so that what the mapping makes small is least,
//! `best(j) = min_i best(i) + cost(i..j)`, over chains of at most [`LONGEST`] layers.

use super::flows::{Kept, operand_bytes};
use super::memory::MemoryPlan;
use super::network::Network;
use crate::cost::{Setting, executed_on};
use crate::hardware::{Keeps, Precision};
use crate::model::{Layer, Operand, OperandRole};
use crate::units::Quantity;
use std::ops::Range;

/// Most layers of a chain.
pub(super) const LONGEST: usize = 8;

/// A result that its maker can hand to the next layer within a buffer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Tie {
    /// The operand of the next layer that it is.
    operand: usize,
    /// The buffer that it passes.
    pub(super) buffer: usize,
    /// Its bytes.
    bytes: f64,
}

/// How a layer hands its result to the next one; nothing where it cannot: it has other readers, or passes
/// no buffer.
pub(super) fn tie(
    network: &Network,
    maker: usize,
    engine: usize,
    homes: &MemoryPlan,
    setting: Setting<'_>,
) -> Option<Tie> {
    let reader = maker + 1;
    let made = network.buffers().made(maker)?;
    let tensor = network.buffers().tensors().get(made)?;
    let alone = tensor.lifetime == Some((maker, reader)) && !tensor.is_state;
    // The last layer of a network may read a result of it.
    let last = reader + 1 == network.layers.len();
    let operands = &network.layers.get(reader)?.work.operands;
    let mut own = operands.iter().enumerate().filter(|(_, o)| o.buffer == Some(made));
    let (operand, _) = own.next()?;
    if !alone || last || own.next().is_some() {
        return None;
    }
    let buffer = setting.profile.buffer_between(engine, homes.home(made)?)?;
    Some(Tie { operand, buffer, bytes: homes.bytes_of(made) as f64 })
}

/// A run of layers on one engine, each of which can hand its result to the next.
pub(super) struct Run<'a> {
    pub(super) network: &'a Network,
    pub(super) engine: usize,
    pub(super) homes: &'a MemoryPlan,
    /// The first layer.
    pub(super) first: usize,
    pub(super) ties: &'a [Tie],
    pub(super) setting: Setting<'a>,
}

impl Run<'_> {
    /// What stays while each of some of its layers runs, by the ways that it may; only such ways as fit.
    pub(super) fn ways(&self, layers: Range<usize>, keeps: Keeps) -> Vec<Vec<Kept>> {
        let whole = Some(self.results(layers.clone()));
        let rows = (keeps == Keeps::Rows).then(|| self.rows(layers)).flatten();
        whole.into_iter().chain(rows).collect()
    }

    /// The tie that a layer of the run reads, and the one that it makes.
    fn ties_of(&self, layer: usize, layers: &Range<usize>) -> (Option<Tie>, Option<Tie>) {
        let tie = |place: usize| self.ties.get(place).copied();
        let read = (layer > layers.start).then(|| tie(layer - 1)).flatten();
        let made = (layer + 1 < layers.end).then(|| tie(layer)).flatten();
        (read, made)
    }

    /// Whole results stay.
    fn results(&self, layers: Range<usize>) -> Vec<Kept> {
        let kept = layers.clone().filter_map(|layer| {
            let (read, made) = self.ties_of(layer, &layers);
            let buffer = read.or(made)?.buffer;
            let taken = [read, made].iter().flatten().map(|tie| tie.bytes).sum();
            let input = read.map(|tie| tie.operand);
            Some(Kept { buffer, input, output: made.is_some(), taken, rows: None })
        });
        kept.collect()
    }

    /// Rows stay; nothing where even they do not fit.
    fn rows(&self, layers: Range<usize>) -> Option<Vec<Kept>> {
        let buffer = self.ties.get(layers.start)?.buffer;
        let capacity = self.setting.profile.spec().memories[buffer].room().get().si();
        let mut needed = 0.0;
        let mut fewest = f64::INFINITY;
        for layer in layers.clone() {
            let own = self.network.layers.get(self.first + layer)?;
            needed += self.read_at_once(layer, own, buffer);
            let rows = rows_of(own, self.before(layer));
            fewest = fewest.min(rows as f64);
            if layer + 1 == layers.end {
                needed += own.work.output_bytes as f64 * (2.0 / rows as f64).min(1.0);
            }
        }
        if needed > capacity {
            return None;
        }
        let kept = layers.clone().map(|layer| {
            let (read, made) = self.ties_of(layer, &layers);
            let input = read.map(|tie| tie.operand);
            let rows = Some(fewest.max(1.0));
            Kept { buffer, input, output: made.is_some(), taken: needed, rows }
        });
        Some(kept.collect())
    }

    fn before(&self, layer: usize) -> Option<&Layer> {
        self.network.layers.get((self.first + layer).checked_sub(1)?)
    }

    /// Bytes that the buffer holds of what a layer reads while rows pass.
    fn read_at_once(&self, layer: usize, own: &Layer, buffer: usize) -> f64 {
        let (profile, setting) = (self.setting.profile, self.setting);
        let unit = &profile.spec().engines[self.engine];
        let work = executed_on(&own.work, self.engine, setting);
        let Some(precision) = crate::cost::runs_in(unit, work.element) else { return 0.0 };
        let passes = |operand: &Operand| {
            let home = self.homes.home_of_operand(operand);
            home.and_then(|home| profile.buffer_between(self.engine, home)) == Some(buffer)
        };
        let before = self.before(layer);
        let held = work.operands.iter().filter(|operand| passes(operand)).map(|operand| {
            let bytes = bytes_of(operand, &work, precision, unit);
            bytes * if operand.constant { 1.0 } else { share_of_rows(own, operand, before) }
        });
        held.sum()
    }
}

fn bytes_of(
    operand: &Operand,
    work: &crate::model::Work,
    precision: Precision,
    unit: &crate::hardware::Engine,
) -> f64 {
    operand_bytes(operand, work, precision, unit).0.0
}

/// Rows of the image that a layer makes; one where it has none.
fn rows_of(layer: &Layer, before: Option<&Layer>) -> u64 {
    let own = layer.work.window.map(|window| window.output_height);
    let handed = || Some(before?.work.window?.output_height);
    // Element by element: as many rows as come in.
    own.or_else(handed).unwrap_or(1).max(1)
}

/// Share of an operand's rows that are there at once.
fn share_of_rows(layer: &Layer, operand: &Operand, before: Option<&Layer>) -> f64 {
    let window = layer.work.window.filter(|_| operand.role == OperandRole::Data);
    let (rows, over) = match window {
        Some(w) => (w.input_height, w.kernel_height.saturating_add(w.stride_height)),
        None => (rows_of(layer, before), 2),
    };
    (over as f64 / rows.max(1) as f64).min(1.0)
}

/// Cuts a run into chains so that the sum of their costs is least. A chain of one layer always has a cost;
/// of equal costs the shorter chains are taken.
pub(super) fn chains(
    layers: usize,
    mut cost: impl FnMut(Range<usize>) -> Option<f64>,
) -> Vec<Range<usize>> {
    let mut best: Vec<(f64, usize)> = vec![(0.0, 0)];
    for end in 1..=layers {
        let mut least = (f64::INFINITY, end - 1);
        for start in (end.saturating_sub(LONGEST)..end).rev() {
            let Some(so_far) = best.get(start).map(|(sum, _)| *sum) else { continue };
            let Some(own) = cost(start..end) else { continue };
            if so_far + own < least.0 {
                least = (so_far + own, start);
            }
        }
        best.push(least);
    }
    let mut found = Vec::new();
    let mut end = layers;
    while end > 0 {
        let start = best.get(end).map_or(end - 1, |(_, start)| *start);
        found.push(start..end);
        end = start;
    }
    found.reverse();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chains_of_least_cost_are_found() {
        // Alone each layer costs three; layers two to four cost four together, no other chain fits.
        let cost = |range: Range<usize>| match (range.start, range.len()) {
            (_, 1) => Some(3.0),
            (2, 3) => Some(4.0),
            _ => None,
        };
        assert_eq!(chains(6, cost), [0..1, 1..2, 2..5, 5..6]);
        let never = |range: Range<usize>| Some(range.len() as f64);
        assert_eq!(chains(3, never), [0..1, 1..2, 2..3]);
        let always = |range: Range<usize>| Some(if range.len() == 1 { 2.0 } else { 1.0 });
        assert_eq!(chains(10, always).len(), 2);
        assert_eq!(chains(0, always), [] as [Range<usize>; 0]);
    }
}
