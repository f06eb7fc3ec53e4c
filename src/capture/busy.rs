//! Windows from power alone: where it is high, between its change points.
//!
//! For captures without a digital line. Power is taken in buckets, cut at its change points, and the
//! pieces are parted in two classes where the variance between the classes is largest (Otsu, IEEE
//! Trans. Syst. Man Cybern. 9, 1979); windows are the stretches of the upper class. An edge is told to
//! one bucket.

use super::change_points::change_points;
use super::statistics::median;
use super::windows::Window;
use crate::trace::{Bounds, Buckets, Series};
use crate::units::{SimTime, Watts};

/// Buckets of a capture: its edges are told to this part of it.
const BUCKETS: usize = 4096;
/// The shortest piece, in buckets.
const SHORTEST: usize = 3;

/// The windows, the level that parts them from the rest, and how fine their edges are; none where power
/// has one level only.
pub(super) fn busy(power: &Series, end: SimTime) -> Option<(Vec<Window>, Watts, SimTime)> {
    let samples = power.values().len();
    let bounds = Bounds::new(SimTime::ZERO, end, BUCKETS.min(samples.max(1)))?;
    let mut buckets = Buckets::new(bounds);
    power.blocks().for_each(|block| buckets.take(&block));
    let means = held(buckets.finish().iter().map(|bucket| bucket.mean));
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
    (!windows.is_empty()).then_some((windows, Watts(level), fine))
}

/// Unknown buckets hold the value before them.
fn held(means: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut last = 0.0;
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
    use crate::trace::{Block, SampleClock};
    use crate::units::Hertz;

    fn series(levels: &[(usize, f64)]) -> (Series, SimTime) {
        let mut wobble = 0.37f64;
        let values: Vec<f64> = levels
            .iter()
            .flat_map(|(count, level)| std::iter::repeat_n(*level, *count))
            .map(|level| {
                wobble = (wobble * 997.0).fract();
                level * (1.0 + 0.02 * (wobble - 0.5))
            })
            .collect();
        let clock = SampleClock::new(SimTime::ZERO, Hertz(1000.0)).unwrap();
        let mut series = Series::default();
        series.push(&Block::even(clock, 0, &values));
        (series, SimTime(values.len() as u64 * 1_000_000_000))
    }

    #[test]
    fn stretches_of_high_power_are_windows_whatever_steps_they_have() {
        let (power, end) =
            series(&[(100, 1.0), (200, 4.0), (50, 5.0), (150, 1.2), (250, 4.5), (100, 1.0)]);
        let (windows, level, fine) = busy(&power, end).unwrap();
        let ms = |at: SimTime| at.0 / 1_000_000_000;
        let found: Vec<_> = windows.iter().map(|w| (ms(w.start), ms(w.stop))).collect();
        assert_eq!(found, [(100, 350), (500, 750)]);
        assert!(level.0 > 1.2 && level.0 < 4.0);
        assert_eq!(fine, SimTime(1_000_000_000));
    }

    #[test]
    fn one_level_has_no_windows() {
        let (power, end) = series(&[(500, 2.0)]);
        assert_eq!(busy(&power, end), None);
        assert_eq!(busy(&Series::default(), SimTime::ZERO), None);
    }
}
