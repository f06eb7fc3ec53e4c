//! From the channels of an instrument to a trace: power by supply line.

use super::lanes::Lanes;
use super::statistics::Statistics;
use super::supply::{Electrical, Supply};
use crate::trace::{
    Block, ChannelId, ComponentId, CounterId, Edge, Header, Layout, Mark, RailId, SampleSink, Sink,
    Span,
};
use crate::units::{Amperes, SimTime, Volts, Watts};

/// A [`SampleSink`] that tells a [`Sink`] the power of each supply line.
///
/// Where one channel alone makes all the power there is and nothing else is asked for, its blocks
/// pass through whole.
#[derive(Debug)]
pub struct Rails<'s, S> {
    sink: &'s mut S,
    voltage: Option<Volts>,
    /// True to tell voltage, current and counters too.
    full: bool,
    supply: Supply,
    header: Header,
    way: Way,
}

/// How samples reach the sink.
#[derive(Debug)]
enum Way {
    /// Nothing has begun, or nothing has power.
    Nothing,
    /// Blocks of one channel, each value times a factor.
    Whole { channel: ChannelId, factor: f64, reached: SimTime, buffer: Vec<f64> },
    /// Instant by instant.
    Merged { lanes: Lanes, channels: Vec<ChannelId> },
}

impl<'s, S: Sink> Rails<'s, S> {
    /// Tells power only.
    pub fn power(sink: &'s mut S, voltage: Option<Volts>) -> Self {
        Self::new(sink, voltage, false)
    }

    /// Tells power, voltage, current and counters.
    pub fn full(sink: &'s mut S, voltage: Option<Volts>) -> Self {
        Self::new(sink, voltage, true)
    }

    fn new(sink: &'s mut S, voltage: Option<Volts>, full: bool) -> Self {
        let (supply, header) = (Supply::default(), Header::default());
        Self { sink, voltage, full, supply, header, way: Way::Nothing }
    }

    /// The supply lines of what was read.
    pub fn supply(&self) -> &Supply {
        &self.supply
    }

    fn choose_way(&self) -> Way {
        let powered: Vec<_> = self.supply.lines.iter().filter(|line| line.has_power()).collect();
        if let ([line], false) = (&powered[..], self.full) {
            let whole = match line.electrical {
                Electrical::Measured(channel) => Some((channel, 1.0)),
                Electrical::Stated { voltage, current } => Some((current, voltage.0)),
                _ => None,
            };
            if let Some((channel, factor)) = whole {
                let (reached, buffer) = (SimTime::ZERO, Vec::new());
                return Way::Whole { channel, factor, reached, buffer };
            }
        }
        let mut channels = Vec::new();
        for line in &self.supply.lines {
            match line.electrical {
                Electrical::Measured(power) => channels.push(power),
                Electrical::Product { voltage, current } => channels.extend([voltage, current]),
                Electrical::Stated { current, .. } => channels.push(current),
                Electrical::CurrentAlone(_) | Electrical::VoltageAlone(_) => {}
            }
            if self.full {
                channels.extend(line.voltage.into_iter().chain(line.current));
            }
        }
        if self.full {
            channels.extend(&self.supply.counters);
        }
        channels.sort_unstable();
        channels.dedup();
        match channels.is_empty() {
            true => Way::Nothing,
            false => Way::Merged { lanes: Lanes::new(channels.len()), channels },
        }
    }
}

impl Rails<'_, Statistics> {
    /// Asks for the sums at an instant ahead.
    pub fn want(&mut self, at: SimTime) {
        self.sink.want(at);
    }
}

impl<S: Sink> SampleSink for Rails<'_, S> {
    fn begin(&mut self, layout: &Layout) {
        self.supply = Supply::of(layout, self.voltage);
        self.header = self.supply.header(layout);
        self.sink.begin(&self.header);
        self.way = self.choose_way();
    }

    fn samples(&mut self, channel: ChannelId, block: &Block<'_>) {
        match &mut self.way {
            Way::Nothing => {}
            Way::Whole { channel: only, factor, reached, buffer } => {
                if channel == *only {
                    whole(self.sink, block, *factor, reached, buffer);
                }
            }
            Way::Merged { lanes, channels } => {
                let Ok(lane) = channels.binary_search(&channel) else { return };
                lanes.push(lane, block);
                let mut told = Told::new(&self.supply, channels, self.full, self.sink);
                lanes.drain(&mut |at, lanes| told.tell(at, lanes));
            }
        }
    }

    fn edge(&mut self, edge: Edge) {
        self.sink.edge(edge);
    }

    fn mark(&mut self, mark: Mark) {
        self.sink.mark(mark);
    }

    fn span(&mut self, span: Span) {
        self.sink.span(span);
    }

    fn end(&mut self, at: SimTime) {
        match &mut self.way {
            Way::Nothing => {}
            Way::Whole { reached, .. } => {
                if *reached < at {
                    self.sink.power(*reached, ComponentId(0), Watts(f64::NAN));
                }
            }
            Way::Merged { lanes, channels } => {
                let mut told = Told::new(&self.supply, channels, self.full, self.sink);
                lanes.finish(at, &mut |at, lanes| told.tell(at, lanes));
            }
        }
        self.sink.end(at);
    }
}

/// Passes on a block; what is missing before it is unknown.
fn whole(
    sink: &mut impl Sink,
    block: &Block<'_>,
    factor: f64,
    reached: &mut SimTime,
    buffer: &mut Vec<f64>,
) {
    if block.start() > *reached {
        sink.power(*reached, ComponentId(0), Watts(f64::NAN));
    }
    *reached = block.end();
    if factor == 1.0 {
        sink.powers(ComponentId(0), block);
    } else {
        buffer.clear();
        buffer.extend(block.values.iter().map(|value| value * factor));
        sink.powers(ComponentId(0), &Block { times: block.times, values: buffer });
    }
}

/// What is told at one instant.
struct Told<'a, S> {
    supply: &'a Supply,
    channels: &'a [ChannelId],
    full: bool,
    sink: &'a mut S,
    power: Vec<f64>,
}

impl<'a, S: Sink> Told<'a, S> {
    fn new(supply: &'a Supply, channels: &'a [ChannelId], full: bool, sink: &'a mut S) -> Self {
        Self { supply, channels, full, sink, power: Vec::with_capacity(supply.lines.len()) }
    }

    fn tell(&mut self, at: SimTime, lanes: &Lanes) {
        let value = |channel: ChannelId| {
            self.channels.binary_search(&channel).map_or(f64::NAN, |lane| lanes.value(lane))
        };
        self.power.clear();
        self.power.extend(self.supply.lines.iter().map(|line| match line.electrical {
            Electrical::Measured(power) => value(power),
            Electrical::Product { voltage, current } => value(voltage) * value(current),
            Electrical::Stated { voltage, current } => voltage.0 * value(current),
            Electrical::CurrentAlone(_) | Electrical::VoltageAlone(_) => f64::NAN,
        }));
        let mut component = 0;
        for (at_line, line) in self.supply.lines.iter().enumerate() {
            if line.has_power() {
                let power = |line: usize| self.power.get(line).copied().unwrap_or(f64::NAN);
                let parts: f64 = self.supply.parts(at_line).map(power).sum();
                let own = Watts(power(at_line) - parts);
                self.sink.power(at, ComponentId(component), own);
                component += 1;
            }
            if self.full {
                let voltage = match (line.voltage, line.electrical) {
                    (Some(voltage), _) => value(voltage),
                    (None, Electrical::Stated { voltage, .. }) => voltage.0,
                    _ => f64::NAN,
                };
                let current = line.current.map_or(f64::NAN, value);
                self.sink.rail(at, RailId(at_line), Volts(voltage), Amperes(current));
            }
        }
        if self.full {
            for (counter, channel) in self.supply.counters.iter().enumerate() {
                self.sink.counter(at, CounterId(counter), value(*channel));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{Channel, ChannelKind, MetricsSink, Recorder, SampleClock};
    use crate::units::Hertz;

    fn layout(kinds: &[ChannelKind]) -> Layout {
        let channel = |kind: &ChannelKind| Channel::new(kind.name(), *kind, "main");
        Layout { channels: kinds.iter().map(channel).collect(), ..Layout::default() }
    }

    fn clock(rate: f64) -> SampleClock {
        SampleClock::new(SimTime::ZERO, Hertz(rate)).unwrap()
    }

    #[test]
    fn a_current_at_a_stated_voltage_is_power_and_a_gap_counts_nothing() {
        let mut sink = MetricsSink::default();
        let mut rails = Rails::power(&mut sink, Some(Volts(2.0)));
        rails.begin(&layout(&[ChannelKind::Current]));
        rails.samples(ChannelId(0), &Block::even(clock(1.0), 0, &[0.5, f64::NAN, 1.0]));
        rails.samples(ChannelId(0), &Block::even(clock(1.0), 5, &[3.0]));
        rails.end(SimTime(7_000_000_000_000));
        let metrics = sink.finish();
        assert!((metrics.energy.0 - 9.0).abs() < 1e-12);
        assert!((metrics.unknown.0 - 4.0).abs() < 1e-12);
        assert!((metrics.mean.0 - 3.0).abs() < 1e-12);
        assert_eq!(metrics.peak, Watts(6.0));
    }

    #[test]
    fn voltage_and_current_at_two_rates_multiply_where_both_are_known() {
        let mut sink = Recorder::default();
        let mut rails = Rails::full(&mut sink, None);
        rails.begin(&layout(&[ChannelKind::Voltage, ChannelKind::Current]));
        rails.samples(ChannelId(0), &Block::even(clock(1.0), 0, &[2.0, 3.0]));
        rails.samples(ChannelId(1), &Block::even(clock(2.0), 0, &[1.0, 2.0, 3.0]));
        rails.end(SimTime(2_000_000_000_000));
        let trace = sink.into_trace();
        let power: Vec<_> = trace.power[0].points().iter().map(|p| p.1).collect();
        assert_eq!(power[..3], [2.0, 4.0, 9.0]);
        assert!(power[3].is_nan());
        assert_eq!(trace.voltage[0].at(SimTime(1_500_000_000_000)), 3.0);
    }
}
