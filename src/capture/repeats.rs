//! How well measurements of one thing agree: mean, spread, outliers, drift.

use super::measured::{Measured, MeasuredWindow};
use super::statistics::median;

/// Agreement of repeated measurements, in the order in which they were taken.
#[derive(Debug, Clone, PartialEq)]
pub struct Repeats {
    /// How many.
    pub count: usize,
    /// Their mean.
    pub mean: f64,
    /// Their standard deviation, with n - 1.
    pub standard_deviation: f64,
    /// Standard error of the mean.
    pub standard_error: f64,
    /// Those further from the median than outliers are, by index.
    pub outliers: Vec<usize>,
    /// Change from one to the next by least squares.
    pub drift: f64,
    /// The drift over its standard error; none of two or fewer.
    pub drift_t: Option<f64>,
}

/// Further from the median than this many robust standard deviations is an outlier (Iglewicz and
/// Hoaglin, 1993).
const FAR: f64 = 3.5;
/// Of fewer values none is called an outlier.
const ENOUGH: usize = 5;
/// The median absolute deviation of a normal distribution, in standard deviations.
const MAD: f64 = 0.6745;
/// And the mean one, which serves where more than half of the values are the same.
const MEAN_DEVIATION: f64 = 0.7979;

impl Repeats {
    /// Of measured values; none of fewer than two.
    pub fn of(values: &[f64]) -> Option<Self> {
        if values.len() < 2 {
            return None;
        }
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let standard_deviation = (squares / (n - 1.0)).sqrt();
        let (drift, drift_t) = drift(values, mean);
        Some(Self {
            count: values.len(),
            mean,
            standard_deviation,
            standard_error: standard_deviation / n.sqrt(),
            outliers: outliers(values),
            drift,
            drift_t,
        })
    }

    /// The standard deviation over the mean.
    pub fn relative(&self) -> f64 {
        self.standard_deviation / self.mean.abs()
    }

    /// True where the drift is larger than chance makes it in one of twenty captures.
    pub fn drifts(&self) -> bool {
        let of = self.drift_t.zip(student_95(self.count.saturating_sub(2)));
        of.is_some_and(|(t, limit)| t.abs() > limit)
    }
}

fn outliers(values: &[f64]) -> Vec<usize> {
    if values.len() < ENOUGH {
        return Vec::new();
    }
    let Some(middle) = median(values.to_vec()) else { return Vec::new() };
    let apart = |value: &f64| (value - middle).abs();
    let Some(usual) = median(values.iter().map(apart).collect()) else { return Vec::new() };
    let mean = values.iter().map(apart).sum::<f64>() / values.len() as f64;
    let deviation = if usual > 0.0 { usual / MAD } else { mean / MEAN_DEVIATION };
    let far = |(at, value): (usize, &f64)| (apart(value) > FAR * deviation).then_some(at);
    values.iter().enumerate().filter_map(far).collect()
}

/// Slope of a straight line over the index, and its t value.
fn drift(values: &[f64], mean: f64) -> (f64, Option<f64>) {
    let n = values.len() as f64;
    let centre = (n - 1.0) / 2.0;
    let spread: f64 = (0..values.len()).map(|k| (k as f64 - centre).powi(2)).sum();
    let product: f64 =
        values.iter().enumerate().map(|(k, value)| (k as f64 - centre) * (value - mean)).sum();
    let slope = product / spread;
    let left: f64 = values
        .iter()
        .enumerate()
        .map(|(k, value)| (value - mean - slope * (k as f64 - centre)).powi(2))
        .sum();
    let error = (left / (n - 2.0) / spread).sqrt();
    // Values on a straight line leave no error: any slope is beyond chance.
    let t = (values.len() > 2 && (error > 0.0 || slope != 0.0)).then(|| slope / error);
    (slope, t)
}

/// Two-sided 95 % point of Student's t (tables; beyond 30 degrees of freedom the normal's expansion).
fn student_95(freedom: usize) -> Option<f64> {
    const TABLE: [f64; 30] = [
        12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160,
        2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056,
        2.052, 2.048, 2.045, 2.042,
    ];
    match freedom {
        0 => None,
        1..=30 => TABLE.get(freedom - 1).copied(),
        more => Some(1.960 + 2.372 / more as f64),
    }
}

/// What is compared between captures of the same work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compared {
    /// Energy of an inference \[J\].
    EnergyPerInference,
    /// Energy of a window \[J\].
    WindowEnergy,
}

/// The values of each capture: energies of an inference where all know them, else of windows.
pub fn values_of(runs: &[&Measured]) -> (Compared, Vec<Vec<f64>>) {
    let each = runs.iter().all(|run| run.energy_per_inference.is_some());
    let value = |window: &MeasuredWindow| match each {
        true => window.per_inference.map(|energy| energy.0),
        false => (window.unknown.0 <= 0.0 && window.known.0 > 0.0).then_some(window.energy.0),
    };
    let of = |run: &&Measured| run.measured.iter().filter_map(value).collect();
    let compared = if each { Compared::EnergyPerInference } else { Compared::WindowEnergy };
    (compared, runs.iter().map(of).collect())
}

/// Agreement of several runs, each of several windows: what differs from run to run beyond what
/// differs within one.
#[derive(Debug, Clone, PartialEq)]
pub struct Runs {
    /// The mean of each run.
    pub means: Vec<f64>,
    /// The mean of the runs, each counting once.
    pub mean: f64,
    /// Its standard error, from the spread of the runs.
    pub standard_error: f64,
    /// Standard deviation within a run, pooled.
    pub within: f64,
    /// Standard deviation from run to run beyond that (one-way analysis of variance; zero where the
    /// runs differ no more than chance makes them).
    pub between: f64,
}

impl Runs {
    /// Of the values of each run; none of fewer than two runs with values.
    pub fn of(runs: &[Vec<f64>]) -> Option<Self> {
        let runs: Vec<&Vec<f64>> = runs.iter().filter(|run| !run.is_empty()).collect();
        if runs.len() < 2 {
            return None;
        }
        let mean_of = |run: &Vec<f64>| run.iter().sum::<f64>() / run.len() as f64;
        let means: Vec<f64> = runs.iter().map(|run| mean_of(run)).collect();
        let of_means = Repeats::of(&means)?;
        let squares: f64 = runs
            .iter()
            .zip(&means)
            .map(|(run, mean)| run.iter().map(|value| (value - mean).powi(2)).sum::<f64>())
            .sum();
        let total: usize = runs.iter().map(|run| run.len()).sum();
        let freedom = total.saturating_sub(runs.len());
        let within = if freedom > 0 { squares / freedom as f64 } else { 0.0 };
        // The variance of a run's mean is that between runs and its share of that within.
        let harmonic =
            runs.len() as f64 / runs.iter().map(|run| 1.0 / run.len() as f64).sum::<f64>();
        let between = of_means.standard_deviation.powi(2) - within / harmonic;
        Some(Self {
            mean: of_means.mean,
            standard_error: of_means.standard_error,
            within: within.sqrt(),
            between: between.max(0.0).sqrt(),
            means,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outlier_and_a_drift_are_told_from_noise() {
        let quiet = [10.0, 10.1, 9.9, 10.05, 9.95];
        let repeats = Repeats::of(&quiet).unwrap();
        assert!(repeats.outliers.is_empty() && !repeats.drifts());
        assert!((repeats.mean - 10.0).abs() < 1e-12);
        assert!((repeats.standard_deviation - 0.079057).abs() < 1e-6);
        let far = Repeats::of(&[10.0, 10.1, 9.9, 10.05, 12.0]).unwrap();
        assert_eq!(far.outliers, [4]);
        let drifting = Repeats::of(&[10.0, 10.11, 10.19, 10.3, 10.41]).unwrap();
        assert!(drifting.drifts());
        assert!((drifting.drift - 0.101).abs() < 1e-9);
        assert!(Repeats::of(&[1.0]).is_none());
        let straight = Repeats::of(&[1.0, 2.0, 3.0, 4.0]).unwrap();
        assert!(straight.drifts());
        let coarse = Repeats::of(&[1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 3.0]).unwrap();
        assert_eq!(coarse.outliers, [8]);
        assert!(Repeats::of(&[2.0; 9]).unwrap().outliers.is_empty());
    }

    #[test]
    fn what_differs_between_runs_is_told_from_what_differs_within() {
        let same = Runs::of(&[vec![1.0, 1.2, 0.8], vec![1.1, 0.9, 1.0]]).unwrap();
        assert_eq!(same.between, 0.0);
        let apart = Runs::of(&[vec![1.0, 1.01], vec![2.0, 2.01], vec![3.0, 3.01]]).unwrap();
        assert!((apart.between - 1.0).abs() < 1e-3, "{apart:?}");
        assert!((apart.within - 0.0070711).abs() < 1e-6);
        assert!((apart.standard_error - 1.0 / 3f64.sqrt()).abs() < 1e-9);
    }
}
