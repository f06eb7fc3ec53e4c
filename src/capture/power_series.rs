//! Total power of a trace, kept whole for what has to look at it more than once.

use super::statistics::median;
use crate::trace::{Block, ComponentId, Edge, Header, Mark, RailId, Series, Sink, Span, Times};
use crate::units::{Amperes, CompensatedSum, Seconds, SimTime, Volts, Watts};

/// A [`Sink`] that keeps total power, edges, marks and spans.
#[derive(Debug, Default)]
pub struct PowerSeries {
    /// Components and lines.
    pub header: Header,
    /// Total power; not-a-number where any component is unknown.
    pub power: Series,
    /// Changes of digital lines.
    pub edges: Vec<Edge>,
    /// Lines of logs.
    pub marks: Vec<Mark>,
    /// Spans.
    pub spans: Vec<Span>,
    /// The end of the trace.
    pub end: SimTime,
    now: Vec<f64>,
    since: SimTime,
}

/// Samples whose lengths are looked at.
const SEEN: usize = 1 << 16;

impl PowerSeries {
    /// Mean power of stretches, which follow one another in time; none of one in which power is unknown anywhere.
    pub fn means(&self, stretches: &[(SimTime, SimTime)]) -> Vec<Option<Watts>> {
        let mut sums = vec![(CompensatedSum::default(), 0u64); stretches.len()];
        let mut first = 0;
        for (start, end, value) in self.power.segments() {
            while stretches.get(first).is_some_and(|stretch| stretch.1 <= start) {
                first += 1;
            }
            let reached = stretches.iter().zip(&mut sums).skip(first);
            for ((from, to), sum) in reached.take_while(|((from, _), _)| *from < end) {
                let held = end.min(*to).since(start.max(*from)).0;
                if !value.is_nan() {
                    sum.0.add(value * held as f64);
                    sum.1 += held;
                }
            }
        }
        let mean = |((from, to), (sum, known)): (&(SimTime, SimTime), (CompensatedSum, u64))| {
            let long = to.since(*from).0;
            (long > 0 && known == long).then(|| Watts(sum.value() / long as f64))
        };
        stretches.iter().zip(sums).map(mean).collect()
    }

    /// The usual length of a sample, of the first; none where there is none.
    pub fn sample(&self) -> Option<Seconds> {
        let lengths =
            self.power.segments().take(SEEN).map(|(start, end, _)| end.since(start).seconds().0);
        median(lengths.collect()).map(Seconds)
    }

    /// Keeps what held until `at`.
    fn hold_until(&mut self, at: SimTime) {
        if at > self.since {
            let total = self.now.iter().sum();
            self.power.push(&Block::each(&[self.since], at, &[total]));
            self.since = at;
        }
    }
}

impl Sink for PowerSeries {
    fn begin(&mut self, header: &Header) {
        let now = vec![f64::NAN; header.components.len()];
        *self = Self { header: header.clone(), now, ..Self::default() };
    }
    fn power(&mut self, at: SimTime, component: ComponentId, power: Watts) {
        self.hold_until(at);
        if let Some(slot) = self.now.get_mut(component.0) {
            *slot = power.0;
        }
    }
    fn powers(&mut self, component: ComponentId, block: &Block<'_>) {
        if self.now.len() != 1 || !matches!(block.times, Times::Even { .. }) {
            for (at, _, value) in block.segments() {
                self.power(at, component, Watts(value));
            }
            return;
        }
        self.hold_until(block.start());
        self.power.push(block);
        self.since = block.end();
    }
    fn rail(&mut self, _: SimTime, _: RailId, _: Volts, _: Amperes) {}
    fn edge(&mut self, edge: Edge) {
        self.edges.push(edge);
    }
    fn mark(&mut self, mark: Mark) {
        self.marks.push(mark);
    }
    fn span(&mut self, span: Span) {
        self.spans.push(span);
    }
    fn end(&mut self, at: SimTime) {
        self.hold_until(at);
        self.end = at;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::Rails;
    use crate::trace::{Channel, ChannelId, ChannelKind, Layout, SampleClock, SampleSink};
    use crate::units::Hertz;

    #[test]
    fn means_of_stretches_cut_samples_and_leave_out_what_is_unknown() {
        let clock = SampleClock::new(SimTime(0), Hertz(1e11)).unwrap();
        let mut series = PowerSeries::default();
        let mut rails = Rails::power(&mut series, None);
        let channels = vec![Channel::new("p", ChannelKind::Power, "a")];
        rails.begin(&Layout { channels, ..Layout::default() });
        rails.samples(ChannelId(0), &Block::even(clock, 0, &[1.0, 2.0, f64::NAN, 4.0]));
        rails.end(SimTime(40));
        let of = [(5, 15), (15, 20), (18, 22), (30, 40), (35, 50)];
        let stretches = of.map(|(from, to)| (SimTime(from), SimTime(to)));
        let means: Vec<_> = series.means(&stretches).into_iter().map(|m| m.map(|m| m.0)).collect();
        assert_eq!(means, [Some(1.5), Some(2.0), None, Some(4.0), None]);
        assert_eq!(series.sample(), Some(Seconds(1e-11)));
    }

    #[test]
    fn blocks_stay_blocks_and_several_lines_add_up() {
        let clock = SampleClock::new(SimTime(0), Hertz(1e12)).unwrap();
        let mut one = PowerSeries::default();
        let mut rails = Rails::power(&mut one, None);
        rails.begin(&Layout {
            channels: vec![Channel::new("p", ChannelKind::Power, "a")],
            ..Layout::default()
        });
        rails.samples(ChannelId(0), &Block::even(clock, 0, &[1.0, 2.0]));
        rails.samples(ChannelId(0), &Block::even(clock, 2, &[3.0]));
        rails.end(SimTime(3));
        assert_eq!(one.power.blocks().count(), 1);
        assert_eq!(one.power.values(), [1.0, 2.0, 3.0]);
        let mut two = PowerSeries::default();
        let mut rails = Rails::power(&mut two, None);
        let channel = |rail: &str| Channel::new("p", ChannelKind::Power, rail);
        rails.begin(&Layout { channels: vec![channel("a"), channel("b")], ..Layout::default() });
        rails.samples(ChannelId(0), &Block::even(clock, 0, &[1.0, 2.0]));
        rails.samples(ChannelId(1), &Block::even(clock, 0, &[10.0, 20.0]));
        rails.end(SimTime(2));
        assert_eq!(two.power.values(), [11.0, 22.0]);
    }
}
