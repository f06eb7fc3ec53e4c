//! Sums of components, and counters, in buckets.

use super::{Bounds, Bucket, Buckets};
use crate::trace::{Block, ComponentId, CounterId, Header, RailId, Sink, Span};
use crate::units::{Amperes, SimTime, Volts, Watts};

/// A step function that holds until it is told otherwise.
#[derive(Debug)]
struct Held {
    buckets: Buckets,
    since: SimTime,
    value: f64,
}

impl Held {
    fn new(bounds: Bounds) -> Self {
        Self { buckets: Buckets::new(bounds), since: SimTime::ZERO, value: f64::NAN }
    }

    fn change(&mut self, at: SimTime, value: f64) {
        self.until(at);
        self.value = value;
    }

    fn until(&mut self, at: SimTime) {
        if at > self.since {
            self.buckets.hold(self.since, at, self.value);
            self.since = at;
        }
    }
}

/// A [`Sink`] that cuts sums of components into buckets, such as the total or what one supply line
/// carries, and every counter. A sum is unknown where any of its components is; all are until they
/// are first told.
#[derive(Debug)]
pub struct BucketSink {
    bounds: Bounds,
    members: Vec<Vec<ComponentId>>,
    sums: Vec<Held>,
    /// The sums that each component is in.
    sums_of: Vec<Vec<usize>>,
    power: Vec<f64>,
    counters: Vec<Held>,
}

/// What a [`BucketSink`] comes to.
#[derive(Debug, Clone, PartialEq)]
pub struct Bucketed {
    /// The bounds.
    pub bounds: Bounds,
    /// Each sum that was asked for \[W\].
    pub sums: Vec<Vec<Bucket>>,
    /// Each counter of the header, in the unit of its kind.
    pub counters: Vec<Vec<Bucket>>,
}

impl BucketSink {
    /// Asks for sums of components, each by its members.
    pub fn new(bounds: Bounds, members: Vec<Vec<ComponentId>>) -> Self {
        let (sums, sums_of) = (Vec::new(), Vec::new());
        Self { bounds, members, sums, sums_of, power: Vec::new(), counters: Vec::new() }
    }

    /// The buckets of what came by.
    pub fn finish(self) -> Bucketed {
        let all = |of: Vec<Held>| of.into_iter().map(|held| held.buckets.finish()).collect();
        Bucketed { bounds: self.bounds, sums: all(self.sums), counters: all(self.counters) }
    }

    fn sum(&self, of: usize) -> f64 {
        let power = |member: &ComponentId| self.power.get(member.0).copied().unwrap_or(f64::NAN);
        self.members.get(of).map_or(f64::NAN, |members| members.iter().map(power).sum())
    }
}

impl Sink for BucketSink {
    fn begin(&mut self, header: &Header) {
        let held = |_| Held::new(self.bounds);
        self.sums = (0..self.members.len()).map(held).collect();
        self.counters = (0..header.counters.len()).map(held).collect();
        self.power = vec![f64::NAN; header.components.len()];
        let sums_of = |component: usize| {
            let holds = |at: &usize| {
                self.members.get(*at).is_some_and(|of| of.contains(&ComponentId(component)))
            };
            (0..self.members.len()).filter(holds).collect()
        };
        self.sums_of = (0..header.components.len()).map(sums_of).collect();
    }

    fn power(&mut self, at: SimTime, component: ComponentId, power: Watts) {
        let Some(slot) = self.power.get_mut(component.0) else { return };
        *slot = power.0;
        let count = self.sums_of.get(component.0).map_or(0, Vec::len);
        for number in 0..count {
            let Some(&of) = self.sums_of.get(component.0).and_then(|of| of.get(number)) else {
                continue;
            };
            let sum = self.sum(of);
            if let Some(held) = self.sums.get_mut(of) {
                held.change(at, sum);
            }
        }
    }

    fn powers(&mut self, component: ComponentId, block: &Block<'_>) {
        let own = self.sums_of.get(component.0).map_or(&[][..], Vec::as_slice);
        let alone = |of: &usize| self.members.get(*of).is_some_and(|members| members.len() == 1);
        let Some(last) = block.values.last() else { return };
        if !own.iter().all(alone) {
            for (at, _, value) in block.segments() {
                self.power(at, component, Watts(value));
            }
            return;
        }
        for of in own {
            if let Some(held) = self.sums.get_mut(*of) {
                held.until(block.start());
                held.buckets.take(block);
                (held.since, held.value) = (block.end(), *last);
            }
        }
        if let Some(slot) = self.power.get_mut(component.0) {
            *slot = *last;
        }
    }

    fn rail(&mut self, _: SimTime, _: RailId, _: Volts, _: Amperes) {}

    fn span(&mut self, _: Span) {}

    fn counter(&mut self, at: SimTime, counter: CounterId, value: f64) {
        if let Some(held) = self.counters.get_mut(counter.0) {
            held.change(at, value);
        }
    }

    fn end(&mut self, at: SimTime) {
        self.sums.iter_mut().chain(&mut self.counters).for_each(|held| held.until(at));
    }
}
