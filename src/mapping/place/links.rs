//! Results on their way: edges by the layer that makes and by the one that reads, and what each hands over.
//!
//! Whether a result changes memories depends on two engines. Most edges have the same homes, so this is looked
//! up by pairs of engines in few tables; the price of an edge between two memories is worked out once, when it
//! is first asked for.

use super::{ByEngine, Edge, Handover, Placement, Price, Problem};
use std::cell::Cell;
use std::rc::Rc;

/// Edges of a problem.
pub(super) struct Links<'a> {
    problem: &'a Problem<'a>,
    engines: usize,
    made: Lists,
    read: Lists,
    /// The first layer whose result this or a later one reads.
    oldest: Vec<usize>,
    /// Pairs of memories that results pass between.
    pairs: Vec<(usize, usize)>,
    /// The pair of memories, by maker's and reader's engine.
    ways: Vec<Vec<Option<u32>>>,
    /// The way of each edge.
    way_of: Vec<usize>,
    /// The price of each edge between each pair.
    prices: Vec<Cell<Option<Price>>>,
}

/// Lists of numbers one after the other.
struct Lists {
    starts: Vec<usize>,
    items: Vec<usize>,
}

impl Lists {
    /// The places of items, by the list that each belongs to.
    fn of(count: usize, items: impl Iterator<Item = usize> + Clone) -> Self {
        let mut starts = vec![0; count + 1];
        for list in items.clone() {
            starts.iter_mut().skip(list + 1).take(1).for_each(|after| *after += 1);
        }
        let mut sum = 0;
        for start in &mut starts {
            sum += *start;
            *start = sum;
        }
        let mut next = starts.clone();
        let mut sorted = vec![0; sum];
        for (place, list) in items.enumerate() {
            let Some(next) = next.get_mut(list) else { continue };
            if let Some(slot) = sorted.get_mut(*next) {
                *slot = place;
            }
            *next += 1;
        }
        Self { starts, items: sorted }
    }

    fn list(&self, list: usize) -> &[usize] {
        let ends = self.starts.get(list).zip(self.starts.get(list + 1));
        ends.and_then(|(start, end)| self.items.get(*start..*end)).unwrap_or_default()
    }
}

/// Ways that an edge is compared with before it gets one of its own.
const WAYS: usize = 8;

impl<'a> Links<'a> {
    pub(super) fn of(problem: &'a Problem<'a>) -> Self {
        let layers = problem.own.len();
        let edges = problem.edges.iter();
        let mut oldest: Vec<usize> = (0..layers).collect();
        for edge in edges.clone() {
            oldest.iter_mut().skip(edge.to).take(1).for_each(|own| *own = edge.from.min(*own));
        }
        let mut later = layers;
        for own in oldest.iter_mut().rev() {
            later = later.min(*own);
            *own = later;
        }
        let engines = problem.own.iter().map(Vec::len).max().unwrap_or(0);
        let mut links = Self {
            problem,
            engines,
            made: Lists::of(layers, edges.clone().map(|edge| edge.from)),
            read: Lists::of(layers, edges.map(|edge| edge.to)),
            oldest,
            pairs: Vec::new(),
            ways: Vec::new(),
            way_of: Vec::with_capacity(problem.edges.len()),
            prices: Vec::new(),
        };
        links.find_ways();
        links.prices.resize_with(problem.edges.len() * links.pairs.len(), Cell::default);
        links
    }

    /// True where each layer reads at most the result of the layer before it, once.
    pub(super) fn is_chain(&self) -> bool {
        self.problem.edges.iter().all(|edge| edge.to == edge.from + 1)
            && (0..self.problem.own.len()).all(|layer| self.made.list(layer).len() <= 1)
    }

    fn find_ways(&mut self) {
        let mut firsts: Vec<&Edge> = Vec::new();
        let homes = |edge: &Edge| self.problem.written_to.get(edge.from);
        let same = |one: &ByEngine, other: &ByEngine| Rc::ptr_eq(one, other) || one == other;
        for edge in &self.problem.edges {
            let alike = |first: &&Edge| {
                let written = homes(first).zip(homes(edge));
                written.is_some_and(|(one, other)| same(one, other))
                    && same(&first.read_from, &edge.read_from)
            };
            let near = firsts.len().saturating_sub(WAYS);
            let known = firsts.iter().skip(near).position(alike).map(|place| near + place);
            let way = known.unwrap_or_else(|| {
                firsts.push(edge);
                let written = homes(edge).map_or(&[][..], |homes| homes);
                let pair = |place: usize| {
                    let (maker, reader) = (place / self.engines, place % self.engines);
                    let from = written.get(maker).copied().flatten()?;
                    let to = edge.read_from.get(reader).copied().flatten()?;
                    if from == to {
                        return None;
                    }
                    let known = self.pairs.iter().position(|pair| *pair == (from, to));
                    let place = known.unwrap_or_else(|| {
                        self.pairs.push((from, to));
                        self.pairs.len() - 1
                    });
                    u32::try_from(place).ok()
                };
                self.ways.push((0..self.engines * self.engines).map(pair).collect());
                self.ways.len() - 1
            });
            self.way_of.push(way);
        }
    }

    /// Edges that take the result of a layer.
    pub(super) fn made(&self, layer: usize) -> &[usize] {
        self.made.list(layer)
    }

    /// Edges that bring a layer what it reads.
    pub(super) fn read(&self, layer: usize) -> &[usize] {
        self.read.list(layer)
    }

    /// The layer that makes what an edge takes.
    pub(super) fn maker(&self, edge: usize) -> usize {
        self.problem.edges.get(edge).map_or(usize::MAX, |edge| edge.from)
    }

    /// The first layer that placing layer number `layer` or a later one looks back to.
    pub(super) fn window(&self, layer: usize) -> usize {
        self.oldest.get(layer).map_or(layer, |oldest| *oldest).min(layer)
    }

    /// The pair of memories that an edge passes between when these engines make and read it.
    pub(super) fn pair(&self, edge: usize, maker: usize, reader: usize) -> Option<u32> {
        let way = self.ways.get(*self.way_of.get(edge)?)?;
        *way.get(maker * self.engines + reader)?
    }

    /// The same by the reader's engine; nothing where the edge changes no memory whichever that is.
    pub(super) fn pairs_from(&self, edge: usize, maker: usize) -> Option<&[Option<u32>]> {
        let way = self.ways.get(*self.way_of.get(edge)?)?;
        let pairs = way.get(maker * self.engines..(maker + 1) * self.engines)?;
        pairs.iter().any(Option::is_some).then_some(pairs)
    }

    /// Prices that there can be.
    pub(super) fn prices(&self) -> usize {
        self.prices.len()
    }

    /// The place of the price of an edge between two memories.
    pub(super) fn place(&self, edge: usize, pair: u32) -> usize {
        edge * self.pairs.len() + pair as usize
    }

    /// The same in a placement.
    pub(super) fn passed(&self, edge: usize, placed: &[Option<usize>]) -> Option<u32> {
        let Edge { from, to, .. } = self.problem.edges.get(edge)?;
        let maker = placed.get(*from).copied().flatten()?;
        let reader = placed.get(*to).copied().flatten()?;
        self.pair(edge, maker, reader)
    }

    /// The memory that a pair ends in.
    pub(super) fn end(&self, pair: u32) -> Option<usize> {
        self.pairs.get(pair as usize).map(|(_, to)| *to)
    }

    /// The price of an edge between two memories.
    pub(super) fn price(&self, edge: usize, pair: u32) -> Price {
        let Some(known) = self.prices.get(self.place(edge, pair)) else { return Price::default() };
        if let Some(price) = known.get() {
            return price;
        }
        let own = self.handover(edge, pair);
        let price = own.map(|own| (self.problem.hop)(own.bytes, own.from, own.to));
        let price = price.unwrap_or_default();
        known.set(Some(price));
        price
    }

    pub(super) fn handover(&self, edge: usize, pair: u32) -> Option<Handover> {
        let Edge { to: reader, bytes, .. } = *self.problem.edges.get(edge)?;
        let (from, to) = *self.pairs.get(pair as usize)?;
        Some(Handover { reader, bytes, from, to })
    }

    /// What of a result is handed over, once for each memory: edges with their pairs.
    pub(super) fn each_passed(
        &self,
        maker: usize,
        placement: &[Option<usize>],
        mut each: impl FnMut(usize, u32),
    ) {
        let (mut first, mut others): (Option<usize>, Vec<usize>) = (None, Vec::new());
        for edge in self.made(maker) {
            let Some(pair) = self.passed(*edge, placement) else { continue };
            let Some(end) = self.end(pair) else { continue };
            if first == Some(end) || others.contains(&end) {
                continue;
            }
            match first {
                None => first = Some(end),
                Some(_) => others.push(end),
            }
            each(*edge, pair);
        }
    }

    /// Every handover of a placement, once for each memory: with the first layer that reads there.
    pub(super) fn handovers(&self, placement: &Placement) -> Vec<Handover> {
        let mut found = Vec::new();
        for maker in 0..self.problem.own.len() {
            self.each_passed(maker, placement, |edge, pair| {
                found.extend(self.handover(edge, pair));
            });
        }
        found
    }
}
