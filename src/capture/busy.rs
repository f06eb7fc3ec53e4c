//! Windows from power alone: where it is high, between its change points.
//!
//! For captures without a digital line. Power is taken in buckets, cut at its change points, and the
//! pieces are parted in two classes where the variance between the classes is largest (Otsu, IEEE
//! Trans. Syst. Man Cybern. 9, 1979); windows are the stretches of the upper class. An edge is told to
//! one bucket.

use super::change_points::change_points;
use super::statistics::median;
use super::windows::Window;
use crate::trace::{Block, Bounds, BucketSink, Bucketed, ComponentId, Header, RailId, Sink, Span};
use crate::units::{Amperes, SimTime, Volts, Watts};

/// Buckets of a capture: its edges are told to this part of it.
const BUCKETS: usize = 4096;
/// The shortest piece, in buckets.
const SHORTEST: usize = 3;

/// How long a trace is, and how many samples it has.
#[derive(Debug, Default)]
pub(super) struct Extent {
    components: usize,
    samples: usize,
    end: SimTime,
}

impl Extent {
    /// Of a trace that tells changes alone: how often it was sampled says nothing.
    pub(super) fn of_changes() -> Self {
        Self { samples: BUCKETS, ..Self::default() }
    }

    /// Buckets for all power of such a trace; none where it has no length.
    pub(super) fn buckets(&self) -> Option<BucketSink> {
        let bounds = Bounds::new(SimTime::ZERO, self.end, BUCKETS.min(self.samples.max(1)))?;
        Some(BucketSink::new(bounds, vec![(0..self.components).map(ComponentId).collect()]))
    }
}

impl Sink for Extent {
    fn begin(&mut self, header: &Header) {
        self.components = header.components.len();
    }
    fn power(&mut self, _: SimTime, component: ComponentId, _: Watts) {
        self.samples += usize::from(component.0 == 0);
    }
    fn powers(&mut self, component: ComponentId, block: &Block<'_>) {
        self.samples += if component.0 == 0 { block.values.len() } else { 0 };
    }
    fn rail(&mut self, _: SimTime, _: RailId, _: Volts, _: Amperes) {}
    fn span(&mut self, _: Span) {}
    fn end(&mut self, at: SimTime) {
        self.end = at;
    }
}

/// Windows that power alone tells.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Busy {
    pub(super) windows: Vec<Window>,
    /// The level that parts them from the rest.
    pub(super) level: Watts,
    /// How fine their edges are.
    pub(super) fine: SimTime,
}

/// The stretches of high power in the first sum of buckets; none where power has one level only.
pub(super) fn busy(power: &Bucketed) -> Option<Busy> {
    let bounds = power.bounds;
    let means = held(power.sums.first()?.iter().map(|bucket| bucket.mean));
    let apart = means.windows(2).map(|pair| (pair[1] - pair[0]).abs()).collect();
    // For normal noise the median of |difference of two| is 0.954 standard deviations of one.
    let noise = median(apart)? / 0.954;
    let range = means.iter().copied().fold(f64::NEG_INFINITY, f64::max)
        - means.iter().copied().fold(f64::INFINITY, f64::min);
    let noise = noise.max(range * 1e-3);
    let penalty = 6.0 * noise * noise * (means.len() as f64).ln();
    let ends = change_points(&means, penalty, SHORTEST).ends;
    let starts = std::iter::once(0).chain(ends.iter().copied());
    let pieces: Vec<(usize, usize, f64)> = starts
        .zip(&ends)
        .map(|(from, to)| {
            let values = means.get(from..*to).unwrap_or_default();
            (from, *to, values.iter().sum::<f64>() / values.len().max(1) as f64)
        })
        .collect();
    let level = parting(&pieces)?;
    let mut windows: Vec<Window> = Vec::new();
    for (from, to, _) in pieces.into_iter().filter(|piece| piece.2 > level) {
        let (start, stop) = (bounds.edge(from), bounds.edge(to));
        match windows.last_mut().filter(|window| window.stop == start) {
            Some(window) => window.stop = stop,
            None => windows.push(Window { start, stop, name: String::new() }),
        }
    }
    let fine = bounds.edge(1).since(bounds.edge(0));
    (!windows.is_empty()).then_some(Busy { windows, level: Watts(level), fine })
}

/// Unknown buckets hold the value before them, the first ones that of the first known.
fn held(means: impl Iterator<Item = f64> + Clone) -> Vec<f64> {
    let mut last = means.clone().find(|mean| !mean.is_nan()).unwrap_or(0.0);
    means
        .map(|mean| {
            if !mean.is_nan() {
                last = mean;
            }
            last
        })
        .collect()
}

/// The level between two classes of pieces, weighted by their lengths; none of one piece.
fn parting(pieces: &[(usize, usize, f64)]) -> Option<f64> {
    let mut sorted: Vec<(f64, f64)> =
        pieces.iter().map(|(from, to, mean)| (*mean, (to - from) as f64)).collect();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let total: f64 = sorted.iter().map(|piece| piece.1).sum();
    let all: f64 = sorted.iter().map(|piece| piece.0 * piece.1).sum();
    let (mut weight, mut sum) = (0.0, 0.0);
    let mut best: Option<(f64, f64)> = None;
    for pair in sorted.windows(2) {
        let [(mean, length), (next, _)] = pair else { continue };
        weight += length;
        sum += mean * length;
        let (low, high) = (sum / weight, (all - sum) / (total - weight));
        let between = weight * (total - weight) * (high - low).powi(2);
        if best.is_none_or(|best| between > best.0) {
            best = Some((between, (mean + next) / 2.0));
        }
    }
    best.map(|best| best.1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{Component, ComponentKind, SampleClock};
    use crate::units::Hertz;

    fn found(levels: &[(usize, f64)]) -> Option<Busy> {
        let mut wobble = 0.37f64;
        let values: Vec<f64> = levels
            .iter()
            .flat_map(|(count, level)| std::iter::repeat_n(*level, *count))
            .map(|level| {
                wobble = (wobble * 997.0).fract();
                level * (1.0 + 0.02 * (wobble - 0.5))
            })
            .collect();
        let component = Component {
            name: "c".into(),
            kind: ComponentKind::Measured,
            domain: String::new(),
            rail: "r".into(),
        };
        let header = Header { components: vec![component], ..Header::default() };
        let clock = SampleClock::new(SimTime::ZERO, Hertz(1000.0)).unwrap();
        let tell = |sink: &mut dyn Sink| {
            sink.begin(&header);
            sink.powers(ComponentId(0), &Block::even(clock, 0, &values));
            sink.end(SimTime(values.len() as u64 * 1_000_000_000));
        };
        let mut extent = Extent::default();
        tell(&mut extent);
        let mut buckets = extent.buckets()?;
        tell(&mut buckets);
        busy(&buckets.finish())
    }

    fn milliseconds(found: &Busy) -> Vec<(u64, u64)> {
        let ms = |at: SimTime| at.0 / 1_000_000_000;
        found.windows.iter().map(|w| (ms(w.start), ms(w.stop))).collect()
    }

    #[test]
    fn stretches_of_high_power_are_windows_whatever_steps_they_have() {
        let found = found(&[(100, 1.0), (200, 4.0), (50, 5.0), (150, 1.2), (250, 4.5), (100, 1.0)])
            .unwrap();
        assert_eq!(milliseconds(&found), [(100, 350), (500, 750)]);
        assert!(found.level.0 > 1.2 && found.level.0 < 4.0);
        assert_eq!(found.fine, SimTime(1_000_000_000));
    }

    #[test]
    fn what_is_unknown_at_the_start_is_no_level() {
        let found = found(&[(900, f64::NAN), (200, 3.0), (300, 4.0), (200, 3.0)]).unwrap();
        assert_eq!(milliseconds(&found), [(1100, 1400)]);
    }

    #[test]
    fn one_level_has_no_windows() {
        assert_eq!(found(&[(500, 2.0)]), None);
        assert_eq!(found(&[(500, f64::NAN)]), None);
        assert_eq!(found(&[]), None);
    }
}
