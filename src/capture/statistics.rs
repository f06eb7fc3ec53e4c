//! Energy, mean, peak and gaps of a trace as it streams by, and energy up to any instant that is
//! asked for: windows are differences of those.

use crate::trace::{
    Block, ComponentId, Edge, Header, Mark, RailId, Sink, Span, SpanKind, Teller, Times,
};
use crate::units::{Amperes, CompensatedSum, Joules, Seconds, SimTime, Volts, Watts};
use std::collections::BTreeMap;

/// A stretch over which power is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gap {
    /// Its start.
    pub start: SimTime,
    /// Its end.
    pub end: SimTime,
}

/// What had been drawn, and for how long that is known, up to an instant.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct Drawn {
    energy: f64,
    unknown: SimTime,
}

/// Gaps and edges kept one by one; of more only the number is known.
const KEPT: usize = 1 << 20;

/// A [`Sink`] for one or many components that keeps sums, edges and marks.
#[derive(Debug, Default)]
pub struct Statistics {
    header: Header,
    power: Vec<f64>,
    by_component: Vec<CompensatedSum>,
    energy: CompensatedSum,
    now: SimTime,
    unknown: SimTime,
    peak: Option<f64>,
    gaps: Vec<Gap>,
    last_gap: Option<Gap>,
    gap_count: u64,
    edges: Vec<Edge>,
    edge_count: u64,
    marks: Vec<Mark>,
    spans: Vec<Span>,
    /// Instants ahead at which the sums are wanted.
    wanted: BTreeMap<SimTime, ()>,
    drawn: BTreeMap<SimTime, Drawn>,
    slot: Slot,
    floor: Option<f64>,
}

/// Length of the stretches whose lowest mean is the floor of a trace.
const SLOT: u64 = 100_000_000_000;

/// The stretch of [`SLOT`] that is going on.
#[derive(Debug, Default)]
struct Slot {
    number: u64,
    energy: f64,
    known: u64,
}

/// What a trace sums up to.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// Components and lines.
    pub header: Header,
    /// Length.
    pub duration: Seconds,
    /// Integral of total power over the time it is known.
    pub energy: Joules,
    /// Energy over the time it is known.
    pub mean: Watts,
    /// Largest total power; none where no power is known.
    pub peak: Option<Watts>,
    /// The lowest mean over 100 ms, counted from the start: the nearest that the trace holds to an
    /// idle device. None of a shorter trace.
    pub floor: Option<Watts>,
    /// Energy of each component.
    pub by_component: Vec<Joules>,
    /// Time over which power is unknown.
    pub unknown: Seconds,
    /// How many stretches of unknown power there are.
    pub gap_count: u64,
    /// The first million of them.
    pub gaps: Vec<Gap>,
    last_gap: Option<Gap>,
    /// Changes of digital lines; none of them where there are more than a million.
    pub edges: Vec<Edge>,
    /// How many there are.
    pub edge_count: u64,
    /// Lines of logs.
    pub marks: Vec<Mark>,
    /// Spans.
    pub spans: Vec<Span>,
    drawn: BTreeMap<SimTime, Drawn>,
}

impl Statistics {
    /// Asks for the sums at an instant ahead.
    pub fn want(&mut self, at: SimTime) {
        self.wanted.insert(at, ());
    }

    /// Integrates up to `at` with the values that held until then.
    fn advance(&mut self, at: SimTime) {
        while let Some((&cut, ())) = self.wanted.first_key_value()
            && cut <= at
        {
            self.hold_until(cut);
            self.cut(cut);
        }
        self.hold_until(at);
    }

    fn cut(&mut self, at: SimTime) {
        self.wanted.remove(&at);
        self.drawn.insert(at, Drawn { energy: self.energy.value(), unknown: self.unknown });
    }

    fn hold_until(&mut self, at: SimTime) {
        if at <= self.now {
            return;
        }
        if self.power.is_empty() {
            // Nothing measures power: there is none to miss either.
            self.unknown = SimTime(self.unknown.0 + at.since(self.now).0);
            self.now = at;
            return;
        }
        let seconds = at.since(self.now).seconds().0;
        let total: f64 = self.power.iter().sum();
        for (sum, power) in self.by_component.iter_mut().zip(&self.power) {
            if !power.is_nan() {
                sum.add(power * seconds);
            }
        }
        if total.is_nan() {
            self.miss(self.now, at);
        } else {
            self.energy.add(total * seconds);
            self.saw(total);
            self.fill_slots(self.now, at, total);
        }
        self.now = at;
    }

    /// A constant power fills slots; the mean of each full one may be the floor.
    fn fill_slots(&mut self, mut from: SimTime, to: SimTime, power: f64) {
        while from < to {
            let number = from.0 / SLOT;
            let end = SimTime((number + 1).saturating_mul(SLOT)).min(to);
            // Whole slots at one power need not be walked through.
            if from.0.is_multiple_of(SLOT) && to.since(from).0 >= SLOT {
                self.close_slot(number);
                self.sink_to(power);
                from = SimTime(to.0 / SLOT * SLOT);
                continue;
            }
            let length = end.since(from);
            self.fill_slot(number, power * length.seconds().0, length.0);
            from = end;
        }
    }

    fn fill_slot(&mut self, number: u64, energy: f64, known: u64) {
        self.close_slot(number);
        self.slot.energy += energy;
        self.slot.known += known;
    }

    /// Ends the slot before `number`; only one that is known throughout counts.
    fn close_slot(&mut self, number: u64) {
        if self.slot.number == number {
            return;
        }
        // Samples need not divide a slot.
        if self.slot.known >= SLOT / 100 * 99 {
            self.sink_to(self.slot.energy / SimTime(self.slot.known).seconds().0);
        }
        self.slot = Slot { number, ..Slot::default() };
    }

    fn sink_to(&mut self, power: f64) {
        self.floor = Some(self.floor.map_or(power, |floor| floor.min(power)));
    }

    fn saw(&mut self, power: f64) {
        self.peak = Some(self.peak.map_or(power, |peak| peak.max(power)));
    }

    fn miss(&mut self, start: SimTime, end: SimTime) {
        self.unknown = SimTime(self.unknown.0 + end.since(start).0);
        if let Some(last) = self.last_gap.as_mut().filter(|last| last.end == start) {
            last.end = end;
            if let Some(kept) = self.gaps.last_mut().filter(|kept| kept.start == last.start) {
                kept.end = end;
            }
            return;
        }
        self.gap_count += 1;
        self.last_gap = Some(Gap { start, end });
        if self.gaps.len() < KEPT {
            self.gaps.push(Gap { start, end });
        }
    }

    /// Adds samples of an even clock that hold no cut; the component is the only one.
    fn add_even(&mut self, block: &Block<'_>, component: usize) {
        let Times::Even { clock, .. } = block.times else { return };
        let (sum, peak) = sum_and_peak(block.values);
        if sum.is_nan() {
            for (start, end, value) in block.segments() {
                if let Some(slot) = self.power.get_mut(component) {
                    *slot = value;
                }
                self.now = start;
                self.hold_until(end);
            }
            return;
        }
        let energy = sum / clock.rate().0;
        self.fill_slots_even(block);
        self.energy.add(energy);
        if let Some(of) = self.by_component.get_mut(component) {
            of.add(energy);
        }
        self.saw(peak);
        self.now = block.end();
        if let (Some(slot), Some(last)) = (self.power.get_mut(component), block.values.last()) {
            *slot = *last;
        }
    }

    /// Slots from samples of an even clock, a sample counting for the slot in which it starts.
    fn fill_slots_even(&mut self, block: &Block<'_>) {
        let Times::Even { clock, first } = block.times else { return };
        let mut at = 0;
        while at < block.values.len() {
            let number = block.at(at).0 / SLOT;
            let next = clock.first_from(SimTime((number + 1).saturating_mul(SLOT)));
            let end = usize::try_from(next.saturating_sub(first)).unwrap_or(usize::MAX);
            let end = end.clamp(at + 1, block.values.len());
            let values = block.values.get(at..end).unwrap_or_default();
            let (sum, _) = sum_and_peak(values);
            let known = block.at(end).since(block.at(at)).0;
            self.fill_slot(number, sum / clock.rate().0, known);
            at = end;
        }
    }

    /// The sums of what came by.
    pub fn finish(mut self) -> Summary {
        self.close_slot(u64::MAX);
        let left: Vec<_> = self.wanted.keys().copied().collect();
        left.into_iter().for_each(|at| self.cut(at));
        let known = self.now.since(self.unknown).seconds();
        let energy = Joules(self.energy.value());
        Summary {
            duration: self.now.seconds(),
            mean: if known.0 > 0.0 { energy / known } else { Watts::ZERO },
            energy,
            peak: self.peak.map(Watts),
            floor: self.floor.map(Watts),
            by_component: self.by_component.iter().map(|sum| Joules(sum.value())).collect(),
            unknown: self.unknown.seconds(),
            header: self.header,
            gap_count: self.gap_count,
            gaps: self.gaps,
            last_gap: self.last_gap,
            edges: if self.edge_count > KEPT as u64 { Vec::new() } else { self.edges },
            edge_count: self.edge_count,
            marks: self.marks,
            spans: self.spans,
            drawn: self.drawn,
        }
    }
}

/// The sum of values and the largest, in eight lanes so that the compiler can use wide registers;
/// the order of the sum is the same on every machine.
fn sum_and_peak(values: &[f64]) -> (f64, f64) {
    let mut sums = [0.0; 8];
    let mut peaks = [f64::NEG_INFINITY; 8];
    let mut chunks = values.chunks_exact(8);
    for chunk in &mut chunks {
        for ((sum, peak), value) in sums.iter_mut().zip(&mut peaks).zip(chunk) {
            *sum += value;
            *peak = if *value > *peak { *value } else { *peak };
        }
    }
    for ((sum, peak), value) in sums.iter_mut().zip(&mut peaks).zip(chunks.remainder()) {
        *sum += value;
        *peak = peak.max(*value);
    }
    (sums.iter().sum(), peaks.iter().fold(f64::NEG_INFINITY, |a, b| a.max(*b)))
}

/// Values summed in one go; short enough that a plain sum keeps twelve digits.
const PIECE: usize = 4096;

impl Sink for Statistics {
    fn begin(&mut self, header: &Header) {
        *self = Self {
            wanted: std::mem::take(&mut self.wanted),
            header: header.clone(),
            // Power is unknown until it is told.
            power: vec![f64::NAN; header.components.len()],
            by_component: vec![CompensatedSum::default(); header.components.len()],
            ..Self::default()
        };
    }

    fn power(&mut self, at: SimTime, component: ComponentId, power: Watts) {
        self.advance(at);
        if let Some(slot) = self.power.get_mut(component.0) {
            *slot = power.0;
        }
    }

    fn powers(&mut self, component: ComponentId, block: &Block<'_>) {
        let single = self.power.len() == 1 && component.0 == 0;
        let Times::Even { clock, first } = block.times else {
            for (at, _, value) in block.segments() {
                self.power(at, component, Watts(value));
            }
            return;
        };
        if !single {
            for (at, _, value) in block.segments() {
                self.power(at, component, Watts(value));
            }
            return;
        }
        self.advance(block.start());
        for (number, piece) in block.values.chunks(PIECE).enumerate() {
            let piece = Block::even(clock, first + (number * PIECE) as u64, piece);
            let next = self.wanted.first_key_value().map(|(at, ())| *at);
            if next.is_none_or(|at| at >= piece.end()) {
                self.add_even(&piece, component.0);
            } else {
                for (at, end, value) in piece.segments() {
                    self.power(at, component, Watts(value));
                    // What follows may not come until much later.
                    self.advance(end);
                }
            }
        }
    }

    fn rail(&mut self, _: SimTime, _: RailId, _: Volts, _: Amperes) {}

    fn span(&mut self, span: Span) {
        let kept = matches!(span.kind, SpanKind::Window | SpanKind::Inference | SpanKind::Layer);
        if kept && self.spans.len() < KEPT {
            // A simulated inference is told when it has ended: its sums are of the past.
            if span.kind != SpanKind::Layer && span.start >= self.now {
                self.want(span.start);
                self.want(span.end);
            }
            self.spans.push(span);
        }
    }

    fn edge(&mut self, edge: Edge) {
        self.edge_count += 1;
        if self.edges.len() < KEPT {
            self.want(edge.at);
            self.edges.push(edge);
        }
    }

    fn mark(&mut self, mark: Mark) {
        if self.marks.len() < KEPT {
            if mark.teller == Teller::Meter {
                self.want(mark.at);
            }
            self.marks.push(mark);
        }
    }

    fn end(&mut self, at: SimTime) {
        self.advance(at);
    }
}

impl Summary {
    /// The end of the last stretch over which power is known.
    pub fn known_until(&self) -> SimTime {
        let end = SimTime::from_seconds(self.duration).unwrap_or(SimTime(u64::MAX));
        self.last_gap.filter(|gap| gap.end == end).map_or(end, |gap| gap.start)
    }

    /// Energy and known time between two instants that were asked for; none where one was not.
    pub fn between(&self, start: SimTime, end: SimTime) -> Option<(Joules, Seconds)> {
        let (from, to) = (self.drawn.get(&start)?, self.drawn.get(&end)?);
        let unknown = to.unknown.since(from.unknown);
        let known = end.since(start).since(unknown);
        Some((Joules(to.energy - from.energy), known.seconds()))
    }
}

/// The middle of a list: the mean of the two middle ones where their number is even.
pub fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_unstable_by(f64::total_cmp);
    let high = *values.get(values.len() / 2)?;
    let low = *values.get((values.len() - 1) / 2)?;
    Some((low + high) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{Component, ComponentKind, Level, LineId, SampleClock};
    use crate::units::Hertz;
    use proptest::prelude::*;

    const MS: u64 = 1_000_000_000;

    fn begun() -> Statistics {
        let mut statistics = Statistics::default();
        let component = Component {
            name: "dut".into(),
            kind: ComponentKind::Measured,
            domain: String::new(),
            rail: "dut".into(),
        };
        statistics.begin(&Header { components: vec![component], ..Header::default() });
        statistics
    }

    fn clock() -> SampleClock {
        SampleClock::new(SimTime::ZERO, Hertz(1000.0)).unwrap()
    }

    fn edge(at: u64) -> Edge {
        Edge { line: LineId(0), at: SimTime(at), to: Level::Low }
    }

    #[test]
    fn an_edge_within_a_sample_takes_its_share_of_it() {
        let mut statistics = begun();
        statistics.edge(edge(MS / 2));
        statistics.edge(edge(2 * MS));
        statistics.powers(ComponentId(0), &Block::even(clock(), 0, &[2.0, 4.0, 8.0]));
        statistics.end(SimTime(3 * MS));
        let summary = statistics.finish();
        assert!((summary.energy.0 - 14e-3).abs() < 1e-15);
        let (energy, known) = summary.between(SimTime(MS / 2), SimTime(2 * MS)).unwrap();
        assert!((energy.0 - 5e-3).abs() < 1e-15);
        assert!((known.0 - 1.5e-3).abs() < 1e-15);
    }

    #[test]
    fn a_gap_is_counted_and_not_averaged() {
        let mut statistics = begun();
        let values = [1.0, f64::NAN, f64::NAN, 3.0, f64::NAN];
        statistics.powers(ComponentId(0), &Block::even(clock(), 0, &values));
        statistics.end(SimTime(6 * MS));
        let summary = statistics.finish();
        assert_eq!((summary.gap_count, summary.unknown), (2, Seconds(4e-3)));
        assert_eq!(summary.gaps[0], Gap { start: SimTime(MS), end: SimTime(3 * MS) });
        assert!((summary.mean.0 - 2.0).abs() < 1e-12);
        assert_eq!(summary.peak, Some(Watts(3.0)));
    }

    #[test]
    fn the_floor_is_the_lowest_tenth_of_a_second_that_is_known() {
        let slow = SampleClock::new(SimTime::ZERO, Hertz(20.0)).unwrap();
        let values = [5.0, 3.0, 1.0, f64::NAN, 2.5, 2.5, 9.0, 9.0];
        let mut even = begun();
        even.powers(ComponentId(0), &Block::even(slow, 0, &values));
        even.end(SimTime(400 * MS));
        assert_eq!(even.finish().floor, Some(Watts(2.5)));
        let mut held = begun();
        held.power(SimTime(0), ComponentId(0), Watts(4.0));
        held.power(SimTime(150 * MS), ComponentId(0), Watts(2.0));
        held.end(SimTime(450 * MS));
        assert_eq!(held.finish().floor, Some(Watts(2.0)));
    }

    #[test]
    fn the_middle_of_an_even_number_is_between_the_two() {
        assert_eq!(median(vec![3.0, 1.0, 2.0, 10.0]), Some(2.5));
        assert_eq!(median(Vec::new()), None);
    }

    proptest! {
        #[test]
        fn blocks_of_any_length_give_the_same_as_samples_one_by_one(
            values in proptest::collection::vec(-1.0..5.0f64, 1..300),
            missing in proptest::collection::vec(0usize..300, 0..4),
            cuts in proptest::collection::vec(0u64..300_000, 0..6),
            length in 1usize..100,
        ) {
            let mut values = values;
            for at in missing {
                if let Some(value) = values.get_mut(at) { *value = f64::NAN; }
            }
            let end = SimTime(values.len() as u64 * MS);
            let mut cuts: Vec<_> = cuts.into_iter().map(|us| SimTime(us * 1_000_000)).collect();
            cuts.sort_unstable();
            let (mut whole, mut single) = (begun(), begun());
            for statistics in [&mut whole, &mut single] {
                cuts.iter().for_each(|at| statistics.edge(edge(at.0)));
            }
            for (number, piece) in values.chunks(length).enumerate() {
                let block = Block::even(clock(), (number * length) as u64, piece);
                whole.powers(ComponentId(0), &block);
            }
            for (at, value) in values.iter().enumerate() {
                single.power(SimTime(at as u64 * MS), ComponentId(0), Watts(*value));
            }
            whole.end(end);
            single.end(end);
            let (whole, single) = (whole.finish(), single.finish());
            prop_assert!((whole.energy.0 - single.energy.0).abs() < 1e-12);
            prop_assert_eq!(whole.unknown, single.unknown);
            prop_assert_eq!(whole.gap_count, single.gap_count);
            prop_assert_eq!(whole.peak, single.peak);
            for at in cuts {
                let of = |summary: &Summary| summary.between(SimTime(0).max(at), at).is_some();
                prop_assert!(of(&whole) && of(&single));
                let (a, b) = (whole.drawn[&at], single.drawn[&at]);
                prop_assert!((a.energy - b.energy).abs() < 1e-12);
                prop_assert_eq!(a.unknown, b.unknown);
            }
        }
    }
}
