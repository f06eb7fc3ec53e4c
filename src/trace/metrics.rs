//! Exact metrics of piecewise-constant data, computed as it streams by.

use super::window::WindowPeak;
use super::{ComponentId, Header, RailId, Sink, Span, SpanKind};
use crate::units::{Amperes, CompensatedSum, Joules, Seconds, SimTime, Volts, Watts};
use serde::{Deserialize, Serialize};

/// Widths of the windows over which peaks are taken: 1, 10, 100 us and 1 ms.
pub const WINDOWS: [SimTime; 4] =
    [SimTime(1_000_000), SimTime(10_000_000), SimTime(100_000_000), SimTime(1_000_000_000)];

/// What is known of a trace without keeping it.
#[derive(Debug, Clone, PartialEq)]
pub struct Metrics {
    /// Components and rails, in the order of the vectors below.
    pub header: Header,
    /// Length.
    pub duration: Seconds,
    /// Integral of total power: loads and losses.
    pub energy: Joules,
    /// Integral of what domains draw.
    pub load_energy: Joules,
    /// Integral of what regulators burn.
    pub loss_energy: Joules,
    /// Mean of total power.
    pub mean: Watts,
    /// Largest total power.
    pub peak: Watts,
    /// Largest mean over each of [`WINDOWS`].
    pub window_peaks: [Watts; 4],
    /// Energy of each component.
    pub by_component: Vec<Joules>,
    /// Integral of voltage times current of each rail.
    pub by_rail: Vec<Joules>,
    /// Completed inferences of networks.
    pub inferences: u64,
    /// Time within these.
    pub busy: Seconds,
    /// Time over which total power is unknown; means are over the rest.
    pub unknown: Seconds,
}

/// A [`Sink`] that keeps only metrics. What it knows of a run so far can be written down.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct MetricsSink {
    header: Header,
    now: SimTime,
    power: Vec<f64>,
    rail_power: Vec<f64>,
    total: f64,
    peak: f64,
    /// Energy of each component and rail, until it changed last.
    by_component: Vec<(CompensatedSum, SimTime)>,
    by_rail: Vec<(CompensatedSum, SimTime)>,
    energy: CompensatedSum,
    windows: [WindowPeak; 4],
    inferences: u64,
    busy: SimTime,
    unknown: SimTime,
}

/// Nothing of what is not known.
fn known(power: f64) -> f64 {
    if power.is_nan() { 0.0 } else { power }
}

/// Adds what a power gave since it was added last \[W ps\]: ticks are whole numbers, and one division at
/// the end makes joules of all of them.
fn integrate((sum, since): &mut (CompensatedSum, SimTime), at: SimTime, power: f64) {
    sum.add(known(power) * at.since(*since).0 as f64);
    *since = at;
}

/// Joules of a sum of watts times ticks.
fn joules(sum: &CompensatedSum) -> Joules {
    Joules(sum.value() / SimTime::TICKS_PER_SECOND)
}

/// The sum in four strands, of which none waits for another.
fn total(powers: &[f64]) -> f64 {
    let mut strands = [0.0; 4];
    let (fours, rest) = powers.as_chunks::<4>();
    for four in fours {
        strands.iter_mut().zip(four).for_each(|(sum, power)| *sum += power);
    }
    let [a, b, c, d] = strands;
    (a + b) + (c + d) + rest.iter().sum::<f64>()
}

impl Default for MetricsSink {
    fn default() -> Self {
        Self {
            header: Header::default(),
            now: SimTime::ZERO,
            power: Vec::new(),
            rail_power: Vec::new(),
            total: 0.0,
            peak: f64::MIN,
            by_component: Vec::new(),
            by_rail: Vec::new(),
            energy: CompensatedSum::default(),
            windows: WINDOWS.map(WindowPeak::new),
            inferences: 0,
            busy: SimTime::ZERO,
            unknown: SimTime::ZERO,
        }
    }
}

impl MetricsSink {
    /// Integrates up to `at` with the values that held until then.
    fn advance(&mut self, at: SimTime) {
        if at <= self.now {
            return;
        }
        let stretch = at.since(self.now);
        self.total = total(&self.power);
        if self.total.is_nan() {
            self.unknown = SimTime(self.unknown.0 + stretch.0);
        }
        self.energy.add(known(self.total) * stretch.0 as f64);
        self.peak = self.peak.max(self.total);
        for window in &mut self.windows {
            window.push(at, known(self.total));
        }
        self.now = at;
    }

    /// The metrics of what came by.
    pub fn finish(mut self) -> Metrics {
        let (now, duration) = (self.now, self.now.seconds());
        for (sum, power) in self.by_component.iter_mut().zip(&self.power) {
            integrate(sum, now, *power);
        }
        for (sum, power) in self.by_rail.iter_mut().zip(&self.rail_power) {
            integrate(sum, now, *power);
        }
        let of = |load: bool| {
            let parts = self.header.components.iter().zip(&self.by_component);
            Joules(parts.filter(|(c, _)| c.is_load() == load).map(|(_, e)| joules(&e.0).0).sum())
        };
        let (load_energy, loss_energy) = (of(true), of(false));
        let over = duration - self.unknown.seconds();
        let mean = if over.0 > 0.0 { joules(&self.energy) / over } else { Watts::ZERO };
        Metrics {
            duration,
            energy: joules(&self.energy),
            load_energy,
            loss_energy,
            mean,
            peak: Watts(if self.peak > f64::MIN { self.peak } else { 0.0 }),
            window_peaks: self.windows.each_ref().map(WindowPeak::largest),
            by_component: self.by_component.iter().map(|e| joules(&e.0)).collect(),
            by_rail: self.by_rail.iter().map(|e| joules(&e.0)).collect(),
            inferences: self.inferences,
            busy: self.busy.seconds(),
            unknown: self.unknown.seconds(),
            header: self.header,
        }
    }
}

impl Sink for MetricsSink {
    fn begin(&mut self, header: &Header) {
        let (components, rails) = (header.components.len(), header.rails.len());
        *self = Self {
            header: header.clone(),
            power: vec![0.0; components],
            by_component: vec![Default::default(); components],
            rail_power: vec![0.0; rails],
            by_rail: vec![Default::default(); rails],
            ..Self::default()
        };
    }
    fn power(&mut self, at: SimTime, component: ComponentId, power: Watts) {
        self.advance(at);
        let sums = self.by_component.get_mut(component.0);
        if let Some((slot, sum)) = self.power.get_mut(component.0).zip(sums) {
            integrate(sum, at, *slot);
            *slot = power.0;
        }
    }
    fn rail(&mut self, at: SimTime, rail: RailId, voltage: Volts, current: Amperes) {
        self.advance(at);
        let sums = self.by_rail.get_mut(rail.0);
        if let Some((slot, sum)) = self.rail_power.get_mut(rail.0).zip(sums) {
            integrate(sum, at, *slot);
            *slot = (voltage * current).0;
        }
    }
    fn span(&mut self, span: Span) {
        if span.is_inference() {
            self.inferences += 1;
            self.busy = SimTime(self.busy.0 + span.end.since(span.start).0);
        }
    }
    fn hears(&self, kind: SpanKind) -> bool {
        kind == SpanKind::Inference
    }
    fn end(&mut self, at: SimTime) {
        self.advance(at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{Component, ComponentKind, Rail, Recorder, Tee};

    fn header() -> Header {
        let part = |name: &str, kind| Component {
            name: name.into(),
            kind,
            domain: "d".into(),
            rail: "r".into(),
        };
        Header {
            components: vec![
                part("engine", ComponentKind::Engine),
                part("loss", ComponentKind::RegulatorLoss),
            ],
            rails: vec![Rail { name: "r".into(), is_source: true }],
            ..Header::default()
        }
    }

    #[test]
    fn sums_peaks_and_windows_are_exact_and_a_replay_gives_the_same() {
        let (mut metrics, mut recorder) = (MetricsSink::default(), Recorder::default());
        let mut both = Tee(&mut metrics, &mut recorder);
        both.begin(&header());
        both.power(SimTime(0), ComponentId(0), Watts(1.0));
        both.power(SimTime(0), ComponentId(1), Watts(0.5));
        both.rail(SimTime(0), RailId(0), Volts(3.0), Amperes(0.5));
        both.power(SimTime(2_000_000), ComponentId(0), Watts(3.0));
        both.rail(SimTime(2_000_000), RailId(0), Volts(3.0), Amperes(3.5 / 3.0));
        both.power(SimTime(2_500_000), ComponentId(0), Watts(0.0));
        both.rail(SimTime(2_500_000), RailId(0), Volts(3.0), Amperes(0.5 / 3.0));
        both.end(SimTime(4_000_000));
        let m = metrics.finish();
        assert!((m.energy.0 - 5.5e-6).abs() < 1e-18);
        assert!((m.load_energy.0 - 3.5e-6).abs() < 1e-18);
        assert!((m.by_rail[0] - m.energy).0.abs() < 1e-18);
        assert_eq!(m.peak, Watts(3.5));
        assert!((m.window_peaks[0].0 - 2.5).abs() < 1e-12, "half of 3.5 and half of 1.5");
        let mut again = MetricsSink::default();
        recorder.into_trace().replay(&mut again);
        assert_eq!(m, again.finish());
    }
}
