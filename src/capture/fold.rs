//! The profile of one inference from windows of many back to back.
//!
//! Samples of all windows are laid over each other at the period of the inference. As the period is
//! no multiple of the sample time, they fall on ever other phases: an equivalent-time picture, as fine
//! as the samples are long. The period is found, not given: of the periods near a coarse guess the one
//! with the least dispersion about the mean profile (phase dispersion minimisation, Stellingwerf,
//! Astrophys. J. 224, 1978). An edge is told to a sample at best, so that each window is then moved by
//! up to two samples to where it lies best on the profile of all.

use super::windows::Window;
use crate::trace::Series;
use crate::units::{Joules, Seconds, Watts};

/// Mean power by phase of one inference.
#[derive(Debug, Clone, PartialEq)]
pub struct Folded {
    /// Length of one inference.
    pub period: Seconds,
    /// Half of the change of period that raises the dispersion as one standard error would.
    pub period_error: Seconds,
    /// Mean power of each phase bin; all are equally long.
    pub power: Vec<Watts>,
    /// Standard error of each bin, from the spread of its samples.
    pub error: Vec<Watts>,
    /// Samples behind each bin.
    pub samples: Vec<u64>,
    /// Whole inferences that were laid over each other.
    pub inferences: u64,
    /// The share of the variance about the mean that the profile does not explain.
    pub unexplained: f64,
}

/// Why there is no profile.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum FoldFault {
    /// No window to fold.
    #[error("the capture has no window with known power to fold")]
    NoWindow,
    /// Too few samples in an inference to see anything.
    #[error(
        "an inference of {period} holds {samples:.1} samples: a profile needs {least} at least; only means can be told"
    )]
    TooFew {
        /// The period.
        period: Seconds,
        /// Samples in it.
        samples: f64,
        /// The least that are folded.
        least: f64,
    },
    /// No period stands out.
    #[error(
        "no period stands out in the windows\nhelp: `--inferences N` says how many inferences a window holds"
    )]
    NoPeriod,
}

/// Samples in an inference below which its layers cannot be told apart.
const LEAST: f64 = 8.0;
/// Samples that the search for a coarse period looks at.
const COARSE: usize = 1 << 14;
/// Bins of an inference at which the search for its period begins; finer ones narrow it down.
const SEARCHED: f64 = 1024.0;
/// From one fineness to the next.
const FINER: usize = 8;
/// Rounds of moving windows onto the profile of all.
const ROUNDS: usize = 3;
/// Steps of a sample by which a window is moved, to either side, and how many.
const SHIFTS: (f64, i32) = (8.0, 16);

/// Power within windows: middle of each sample from the start of its window, and its value.
struct Samples {
    /// By window.
    of: Vec<Vec<(f64, f64)>>,
    /// The usual length of a sample.
    length: f64,
    longest: f64,
}

impl Samples {
    fn of(power: &Series, windows: &[Window]) -> Self {
        let mut of = vec![Vec::new(); windows.len()];
        let mut lengths = Vec::new();
        let mut from = 0;
        for (start, end, value) in power.segments() {
            while windows.get(from).is_some_and(|window| window.stop <= start) {
                from += 1;
            }
            let Some(window) = windows.get(from) else { break };
            // A sample that an edge cuts belongs to neither side.
            if start < window.start || end > window.stop || value.is_nan() {
                continue;
            }
            let middle =
                (start.since(window.start).0 as f64 + end.since(window.start).0 as f64) / 2.0;
            if let Some(samples) = of.get_mut(from) {
                samples.push((middle * 1e-12, value));
            }
            lengths.push(end.since(start).0);
        }
        lengths.sort_unstable();
        let length = lengths.get(lengths.len() / 2).map_or(0.0, |ps| *ps as f64 * 1e-12);
        let long = |window: &Window| window.stop.since(window.start).seconds().0;
        Self { of, length, longest: windows.iter().map(long).fold(0.0, f64::max) }
    }

    fn count(&self) -> usize {
        self.of.iter().map(Vec::len).sum()
    }

    /// Means of `of` samples each; what is left over, or stands about a gap, is left out.
    fn thinned(&self, of: usize) -> Self {
        let long = self.length * (of as f64 - 0.5);
        let mean = |samples: &[(f64, f64)]| {
            let apart = samples.last()?.0 - samples.first()?.0;
            let sum = samples.iter().fold((0.0, 0.0), |sum, s| (sum.0 + s.0, sum.1 + s.1));
            (apart <= long).then_some((sum.0 / of as f64, sum.1 / of as f64))
        };
        let thin = |window: &Vec<(f64, f64)>| window.chunks_exact(of).filter_map(mean).collect();
        let of_windows = self.of.iter().map(thin).collect();
        Self { of: of_windows, length: self.length * of as f64, longest: self.longest }
    }

    /// Moves each window to where it lies best on the profile of the others, and all of them back by
    /// the mean of the moves: where the profile starts is not changed.
    fn align(&mut self, period: f64, bins: usize, centre: f64) {
        if self.of.len() < 2 {
            return;
        }
        let all = Profile::of(self, period, bins, centre);
        let moves: Vec<f64> = self
            .of
            .iter()
            .map(|window| {
                let own = Profile::of_samples(window, period, bins, centre);
                let others = all.without(&own);
                let misfit = |step: i32| {
                    let shift = f64::from(step) * self.length / SHIFTS.0;
                    (others.misfit(window, shift, period, centre), step.abs(), step)
                };
                let best = (-SHIFTS.1..=SHIFTS.1)
                    .map(misfit)
                    .min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
                best.map_or(0.0, |best| f64::from(best.2) * self.length / SHIFTS.0)
            })
            .collect();
        let mean = moves.iter().sum::<f64>() / moves.len() as f64;
        for (window, shift) in self.of.iter_mut().zip(moves) {
            window.iter_mut().for_each(|sample| sample.0 += shift - mean);
        }
    }

    fn mean(&self) -> f64 {
        let sum: f64 = self.of.iter().flatten().map(|sample| sample.1).sum();
        sum / self.count().max(1) as f64
    }
}

/// The profile at a period.
struct Profile {
    sum: Vec<f64>,
    square: Vec<f64>,
    samples: Vec<u64>,
}

impl Profile {
    fn of(samples: &Samples, period: f64, bins: usize, centre: f64) -> Self {
        Self::of_samples(samples.of.iter().flatten(), period, bins, centre)
    }

    fn of_samples<'s>(
        samples: impl IntoIterator<Item = &'s (f64, f64)>,
        period: f64,
        bins: usize,
        centre: f64,
    ) -> Self {
        let mut profile =
            Self { sum: vec![0.0; bins], square: vec![0.0; bins], samples: vec![0; bins] };
        for (at, value) in samples {
            let bin = bin_of(*at, period, bins);
            let apart = value - centre;
            if let (Some(sum), Some(square), Some(count)) = (
                profile.sum.get_mut(bin),
                profile.square.get_mut(bin),
                profile.samples.get_mut(bin),
            ) {
                *sum += apart;
                *square += apart * apart;
                *count += 1;
            }
        }
        profile
    }

    fn without(&self, other: &Self) -> Self {
        let less = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a - b).collect();
        Self {
            sum: less(&self.sum, &other.sum),
            square: less(&self.square, &other.square),
            samples: self.samples.iter().zip(&other.samples).map(|(a, b)| a - b).collect(),
        }
    }

    /// The mean square distance of moved samples from this profile, where it knows a value.
    fn misfit(&self, samples: &[(f64, f64)], shift: f64, period: f64, centre: f64) -> f64 {
        let bins = self.sum.len();
        let (mut sum, mut count) = (0.0, 0u64);
        for (at, value) in samples {
            let bin = bin_of(at + shift, period, bins);
            let (Some(level), Some(n)) = (self.sum.get(bin), self.samples.get(bin)) else {
                continue;
            };
            if *n > 0 {
                sum += (value - centre - level / *n as f64).powi(2);
                count += 1;
            }
        }
        if count == 0 { f64::INFINITY } else { sum / count as f64 }
    }

    /// Squares of the samples about the means of their bins.
    fn dispersion(&self) -> f64 {
        let bins = self.sum.iter().zip(&self.square).zip(&self.samples);
        bins.filter(|bin| *bin.1 > 0).map(|((s, q), n)| (q - s * s / *n as f64).max(0.0)).sum()
    }
}

/// The phase bin of an instant.
fn bin_of(at: f64, period: f64, bins: usize) -> usize {
    let phase = at / period;
    (((phase - phase.floor()) * bins as f64) as usize).min(bins.saturating_sub(1))
}

/// Folds windows of `inferences` each; without their number the period is sought in the power alone.
pub fn fold(
    power: &Series,
    windows: &[Window],
    inferences: Option<u64>,
) -> Result<Folded, FoldFault> {
    let samples = Samples::of(power, windows);
    if samples.count() == 0 || samples.length <= 0.0 {
        return Err(FoldFault::NoWindow);
    }
    let centre = samples.mean();
    let (guess, range) = guess(&samples, windows, inferences, centre).ok_or(FoldFault::NoPeriod)?;
    let per_inference = guess / samples.length;
    if per_inference < LEAST {
        let (period, samples) = (Seconds(guess), per_inference);
        return Err(FoldFault::TooFew { period, samples, least: LEAST });
    }
    let bins = per_inference.round() as usize;
    let period = finest(&samples, guess, range, centre);
    let mut samples = samples;
    for _ in 0..ROUNDS {
        samples.align(period, bins, centre);
    }
    let period = {
        let dispersion = |period: f64| Profile::of(&samples, period, bins, centre).dispersion();
        let step = period / bins as f64 / (samples.longest / period).max(1.0);
        least(period - step, period + step, dispersion)
    };
    Ok(folded(&samples, period, centre))
}

fn shortest_window(windows: &[Window]) -> f64 {
    let long = |window: &Window| window.stop.since(window.start).seconds().0;
    windows.iter().map(long).fold(f64::INFINITY, f64::min)
}

/// About how long an inference is, and between which limits.
fn guess(
    samples: &Samples,
    windows: &[Window],
    inferences: Option<u64>,
    centre: f64,
) -> Option<(f64, (f64, f64))> {
    if let Some(count) = inferences.map(|count| count.max(1) as f64) {
        // A window holds its inferences and what surrounds them: the period is a little shorter than
        // the quotient.
        let guess = shortest_window(windows) / count;
        return Some((guess, (guess * (1.0 - 1.0 / (count + 1.0)).max(0.9), guess)));
    }
    let most = samples.of.iter().map(Vec::len).max()?;
    let mut each = 1;
    loop {
        let thin = samples.thinned(each);
        if let Some(guess) = coarse_period(&thin, centre) {
            return Some((guess, (guess - thin.length, guess + thin.length)));
        }
        if COARSE.saturating_mul(each) >= most {
            return None;
        }
        each *= FINER;
    }
}

/// The period of least dispersion: a grid fine enough not to step over the dip, for means of many
/// samples first and then about the best for means of fewer, at last thirds.
fn finest(samples: &Samples, guess: f64, (low, high): (f64, f64), centre: f64) -> f64 {
    // Over a window of n inferences a period wrong by one bin in n smears the profile by one bin.
    let turns = (samples.longest / guess).max(1.0);
    let mut each = (guess / samples.length / SEARCHED).ceil().max(1.0) as usize;
    let (mut low, mut high) = (low, high);
    loop {
        let thin = samples.thinned(each);
        let bins = (guess / thin.length).round().max(1.0) as usize;
        let step = guess / bins as f64 / turns / 2.0;
        let dispersion = |period: f64| Profile::of(&thin, period, bins, centre).dispersion();
        let high_end = high + step;
        let count = (((high_end - low) / step).ceil() as usize).clamp(2, 4000);
        let width = (high_end - low) / count as f64;
        let at = |k: usize| low + width * k as f64;
        let best = (0..=count)
            .map(|k| (dispersion(at(k)), k))
            .min_by(|a, b| a.0.total_cmp(&b.0))
            .map_or(0, |best| best.1);
        if each == 1 {
            return least(at(best.saturating_sub(1)), at((best + 1).min(count)), dispersion);
        }
        (low, high) = (at(best) - 2.0 * width, at(best) + 2.0 * width);
        each = (each / FINER).max(1);
    }
}

/// The least of a function with one dip, by thirds.
fn least(mut low: f64, mut high: f64, of: impl Fn(f64) -> f64) -> f64 {
    for _ in 0..24 {
        let (a, b) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
        if of(a) <= of(b) { high = b } else { low = a }
    }
    (low + high) / 2.0
}

/// A period from the power alone: the shortest lag at which it resembles itself almost as well as at
/// its best lag.
fn coarse_period(samples: &Samples, centre: f64) -> Option<f64> {
    let longest = samples.of.iter().max_by_key(|window| window.len())?;
    let values: Vec<f64> = longest.iter().take(COARSE).map(|sample| sample.1 - centre).collect();
    let most = values.len() / 2;
    let total: f64 = values.iter().map(|v| v * v).sum();
    if total <= 0.0 {
        return None;
    }
    let likeness: Vec<f64> = (0..most)
        .map(|lag| {
            let late = values.get(lag..).unwrap_or_default();
            let early = values.get(..values.len() - lag).unwrap_or_default();
            let product: f64 = late.iter().zip(early).map(|(a, b)| a * b).sum();
            let (a, b): (f64, f64) =
                (late.iter().map(|v| v * v).sum(), early.iter().map(|v| v * v).sum());
            product / (a * b).sqrt().max(f64::MIN_POSITIVE)
        })
        .collect();
    // Down from the peak at zero first.
    let valley = likeness.iter().position(|l| *l < 0.3)?;
    let best = likeness.iter().skip(valley).copied().fold(f64::NEG_INFINITY, f64::max);
    if best < 0.5 {
        return None;
    }
    let is_peak = |lag: usize| {
        let at = |lag: usize| likeness.get(lag).copied().unwrap_or(f64::NEG_INFINITY);
        at(lag) >= at(lag - 1) && at(lag) >= at(lag + 1)
    };
    let lag = (valley.max(1)..most).find(|lag| is_peak(*lag) && likeness[*lag] > 0.9 * best)?;
    Some(lag as f64 * samples.length)
}

fn folded(samples: &Samples, period: f64, centre: f64) -> Folded {
    let bins = ((period / samples.length).round() as usize).max(1);
    let profile = Profile::of(samples, period, bins, centre);
    let count = |bin: usize| profile.samples.get(bin).copied().unwrap_or(0);
    let power: Vec<Watts> = profile
        .sum
        .iter()
        .enumerate()
        .map(|(bin, sum)| Watts(centre + sum / count(bin) as f64))
        .collect();
    let error = profile.sum.iter().zip(&profile.square).enumerate().map(|(bin, (s, q))| {
        let n = count(bin) as f64;
        Watts(((q - s * s / n).max(0.0) / (n - 1.0).max(1.0) / n).sqrt())
    });
    let error: Vec<Watts> = error.collect();
    let total: f64 = samples.of.iter().flatten().map(|s| (s.1 - centre).powi(2)).sum();
    let left = profile.dispersion();
    // Near its least the dispersion grows with the square of a change of period; one standard error
    // raises it by its value over the number of samples.
    let step = period / bins as f64 / (samples.longest / period).max(1.0);
    let raised = Profile::of(samples, period + step, bins, centre).dispersion()
        + Profile::of(samples, period - step, bins, centre).dispersion()
        - 2.0 * left;
    let noise = left / samples.count().max(1) as f64;
    let period_error = if raised > 0.0 { step * (2.0 * noise / raised).sqrt() } else { step };
    // An edge is told to a sample, and a window is moved by two at most.
    let near = 3.0 * samples.length;
    let whole = |window: &Vec<(f64, f64)>| {
        window.last().map_or(0, |last| ((last.0 + near) / period) as u64)
    };
    Folded {
        period: Seconds(period),
        period_error: Seconds(period_error),
        power,
        error,
        samples: profile.samples,
        inferences: samples.of.iter().map(whole).sum(),
        unexplained: if total > 0.0 { left / total } else { 1.0 },
    }
}

impl Folded {
    /// Length of a bin.
    pub fn bin(&self) -> Seconds {
        self.period / self.power.len().max(1) as f64
    }

    /// Energy of one inference.
    pub fn energy(&self) -> Joules {
        let known = self.power.iter().filter(|power| !power.0.is_nan());
        Joules(known.map(|power| (*power * self.bin()).0).sum())
    }

    /// Noise of a bin: the median of the standard errors.
    pub fn noise(&self) -> Watts {
        let errors = self.error.iter().map(|e| e.0).filter(|e| e.is_finite()).collect();
        Watts(super::statistics::median(errors).unwrap_or(0.0))
    }

    /// The same profile in fewer bins of one length, energy for energy; itself where it has no more.
    pub fn in_bins(&self, most: usize) -> Self {
        let bins = self.power.len();
        if bins <= most || most == 0 {
            return self.clone();
        }
        let wide = bins as f64 / most as f64;
        let mut coarse = Self {
            power: Vec::with_capacity(most),
            error: Vec::with_capacity(most),
            samples: Vec::with_capacity(most),
            ..*self
        };
        for number in 0..most {
            let (from, to) = (number as f64 * wide, (number + 1) as f64 * wide);
            let (mut sum, mut square, mut known, mut samples) = (0.0, 0.0, 0.0, 0);
            let held = from as usize..(to.ceil() as usize).min(bins);
            for bin in held {
                let share = to.min(bin as f64 + 1.0) - from.max(bin as f64);
                let of = |all: &[Watts]| all.get(bin).map_or(f64::NAN, |watts| watts.0);
                if share > 0.0 && !of(&self.power).is_nan() {
                    sum += share * of(&self.power);
                    square += (share * of(&self.error)).powi(2);
                    known += share;
                    samples += self.samples.get(bin).copied().unwrap_or(0);
                }
            }
            coarse.power.push(Watts(sum / known));
            coarse.error.push(Watts(square.sqrt() / known));
            coarse.samples.push(samples);
        }
        coarse
    }

    /// When bin `at` starts within the inference.
    pub fn start_of(&self, at: usize) -> Seconds {
        self.bin() * at as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{Block, SampleClock};
    use crate::units::{Hertz, SimTime};

    const LAYERS: [(f64, f64); 4] =
        [(0.0123, 0.040), (0.0301, 0.042), (0.0174, 0.0357), (0.0222, 0.041)];

    /// Mean power of a millisecond, as an integrating meter sees it.
    fn sampled(period: f64, count: usize, inferences: u64) -> (Series, Vec<Window>) {
        sampled_at(1000.0, period, count, inferences)
    }

    fn sampled_at(rate: f64, period: f64, count: usize, inferences: u64) -> (Series, Vec<Window>) {
        let energy = |t: f64| {
            let whole = (t / period).floor().min(inferences as f64);
            let (mut rest, mut sum) = (t - whole * period, 0.0);
            let each: f64 = LAYERS.iter().map(|(d, p)| d * p).sum();
            for (duration, power) in LAYERS {
                sum += rest.clamp(0.0, duration) * power;
                rest -= duration;
            }
            whole * each + if whole < inferences as f64 { sum } else { 0.0 }
        };
        let values: Vec<f64> = (0..count)
            .map(|k| (energy((k + 1) as f64 / rate) - energy(k as f64 / rate)) * rate)
            .collect();
        let clock = SampleClock::new(SimTime::ZERO, Hertz(rate)).unwrap();
        let mut series = Series::default();
        series.push(&Block::even(clock, 0, &values));
        let stop = clock.at(count as u64);
        (series, vec![Window { start: SimTime::ZERO, stop, name: String::new() }])
    }

    #[test]
    fn the_period_and_the_steps_come_out_with_and_without_a_count() {
        let period: f64 = LAYERS.iter().map(|layer| layer.0).sum();
        let count = (period * 50.0 * 1000.0).ceil() as usize;
        let (series, windows) = sampled(period, count, 50);
        for inferences in [Some(50), None] {
            let folded = fold(&series, &windows, inferences).unwrap();
            assert!((folded.period.0 - period).abs() < 2e-5, "{} {period}", folded.period.0);
            assert_eq!(folded.power.len(), 82);
            assert!((folded.power[5].0 - 0.040).abs() < 1e-4);
            assert!((folded.power[50].0 - 0.0357).abs() < 1e-4);
            let energy: f64 = LAYERS.iter().map(|(d, p)| d * p).sum();
            assert!((folded.energy().0 / energy - 1.0).abs() < 2e-3);
            // A bin over a step holds samples of either side.
            assert!(folded.unexplained < 0.1, "{}", folded.unexplained);
        }
    }

    #[test]
    fn a_fast_meter_needs_no_more_search_than_a_slow_one() {
        let period: f64 = LAYERS.iter().map(|layer| layer.0).sum();
        let rate = 200e3;
        let (series, windows) = sampled_at(rate, period, (period * 5.0 * rate).ceil() as usize, 5);
        let folded = fold(&series, &windows, None).unwrap();
        assert!((folded.period.0 - period).abs() < 2e-6, "{}", folded.period.0);
        assert_eq!((folded.power.len(), folded.inferences), (16_400, 5));
        let coarse = folded.in_bins(1000);
        assert_eq!(coarse.power.len(), 1000);
        assert!((coarse.energy().0 / folded.energy().0 - 1.0).abs() < 1e-12);
        assert!((coarse.power[600].0 - 0.0357).abs() < 1e-5);
        assert_eq!(folded.in_bins(16_400), folded);
    }

    #[test]
    fn what_cannot_be_folded_says_why() {
        let (series, windows) = sampled(0.082, 500, 100);
        assert_eq!(fold(&series, &[], Some(1)), Err(FoldFault::NoWindow));
        let few = fold(&series, &windows, Some(400)).unwrap_err();
        assert!(few.to_string().contains("only means can be told"), "{few}");
        let flat = {
            let clock = SampleClock::new(SimTime::ZERO, Hertz(1000.0)).unwrap();
            let mut series = Series::default();
            series.push(&Block::even(clock, 0, &[1.0; 500]));
            series
        };
        assert_eq!(fold(&flat, &windows, None), Err(FoldFault::NoPeriod));
    }
}
