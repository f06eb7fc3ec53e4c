//! For how long a sum of components stays at which level.

use super::{ComponentId, Header, RailId, Sink, Span};
use crate::units::{Amperes, SimTime, Volts, Watts};

/// Time by level, in equal steps from `low` to `high`.
#[derive(Debug, Clone, PartialEq)]
pub struct Levels {
    /// The lowest level.
    pub low: Watts,
    /// The highest; what lies beyond either counts at it.
    pub high: Watts,
    /// Time at each step within the stretches that were asked for.
    pub within: Vec<SimTime>,
    /// Time at each step outside of them.
    pub outside: Vec<SimTime>,
}

impl Levels {
    /// No time yet in `steps` steps.
    pub fn new(low: Watts, high: Watts, steps: usize) -> Self {
        let none = vec![SimTime::ZERO; steps.max(1)];
        Self { low, high, within: none.clone(), outside: none }
    }

    fn add(&mut self, value: f64, time: SimTime, is_within: bool) {
        let into = if is_within { &mut self.within } else { &mut self.outside };
        let span = self.high.0 - self.low.0;
        let share = if span > 0.0 { (value - self.low.0) / span } else { 0.0 };
        // Below zero becomes zero.
        let step = ((share * into.len() as f64) as usize).min(into.len().saturating_sub(1));
        if let Some(slot) = into.get_mut(step) {
            *slot = SimTime(slot.0.saturating_add(time.0));
        }
    }

    /// The middle of step `k`.
    pub fn level(&self, k: usize) -> Watts {
        let step = (self.high.0 - self.low.0) / self.within.len().max(1) as f64;
        Watts(self.low.0 + (k as f64 + 0.5) * step)
    }

    /// All time in it.
    pub fn known(&self) -> SimTime {
        let all = self.within.iter().chain(&self.outside);
        SimTime(all.fold(0, |sum: u64, time| sum.saturating_add(time.0)))
    }
}

/// A [`Sink`] that fills [`Levels`] with the sum of some components, between two instants. Where one of
/// them is unknown no time counts.
#[derive(Debug)]
pub struct LevelSink {
    members: Vec<ComponentId>,
    range: (SimTime, SimTime),
    /// Stretches in the order of time, and the one at hand.
    stretches: Vec<(SimTime, SimTime)>,
    at: usize,
    power: Vec<f64>,
    since: SimTime,
    sum: f64,
    levels: Levels,
}

impl LevelSink {
    /// `stretches` come in the order of time and do not overlap.
    pub fn new(
        levels: Levels,
        members: Vec<ComponentId>,
        range: (SimTime, SimTime),
        stretches: Vec<(SimTime, SimTime)>,
    ) -> Self {
        let (power, since, sum) = (Vec::new(), SimTime::ZERO, f64::NAN);
        Self { members, range, stretches, at: 0, power, since, sum, levels }
    }

    /// The levels of what came by.
    pub fn finish(self) -> Levels {
        self.levels
    }

    fn until(&mut self, at: SimTime) {
        let (mut start, end) = (self.since.max(self.range.0), at.min(self.range.1));
        self.since = self.since.max(at);
        if self.sum.is_nan() {
            return;
        }
        while start < end {
            while self.stretches.get(self.at).is_some_and(|stretch| stretch.1 <= start) {
                self.at += 1;
            }
            let (is_within, stop) = match self.stretches.get(self.at) {
                Some((from, to)) if *from <= start => (true, *to),
                Some((from, _)) => (false, *from),
                None => (false, end),
            };
            let stop = stop.min(end);
            self.levels.add(self.sum, stop.since(start), is_within);
            start = stop;
        }
    }
}

impl Sink for LevelSink {
    fn begin(&mut self, header: &Header) {
        self.power = vec![f64::NAN; header.components.len()];
    }

    fn power(&mut self, at: SimTime, component: ComponentId, power: Watts) {
        if !self.members.contains(&component) {
            return;
        }
        self.until(at);
        if let Some(slot) = self.power.get_mut(component.0) {
            *slot = power.0;
        }
        let of = |member: &ComponentId| self.power.get(member.0).copied().unwrap_or(f64::NAN);
        self.sum = self.members.iter().map(of).sum();
    }

    fn rail(&mut self, _: SimTime, _: RailId, _: Volts, _: Amperes) {}

    fn span(&mut self, _: Span) {}

    fn end(&mut self, at: SimTime) {
        self.until(at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{Component, ComponentKind};

    #[test]
    fn time_counts_at_its_level_inside_and_outside_of_stretches() {
        let component = Component {
            name: "c".into(),
            kind: ComponentKind::Measured,
            domain: String::new(),
            rail: "r".into(),
        };
        let stretches = vec![(SimTime(15), SimTime(25)), (SimTime(28), SimTime(90))];
        let levels = Levels::new(Watts(0.0), Watts(4.0), 4);
        let range = (SimTime(5), SimTime(50));
        let mut sink = LevelSink::new(levels, vec![ComponentId(0)], range, stretches);
        sink.begin(&Header { components: vec![component], ..Header::default() });
        for (at, power) in [(0, 0.5), (20, 4.0), (30, f64::NAN), (40, -1.0)] {
            sink.power(SimTime(at), ComponentId(0), Watts(power));
        }
        sink.end(SimTime(60));
        let levels = sink.finish();
        let picoseconds = |of: &[SimTime]| of.iter().map(|time| time.0).collect::<Vec<_>>();
        assert_eq!(picoseconds(&levels.within), [5 + 10, 0, 0, 5 + 2]);
        assert_eq!(picoseconds(&levels.outside), [10, 0, 0, 3]);
        assert_eq!((levels.known(), levels.level(3)), (SimTime(35), Watts(3.5)));
    }
}
