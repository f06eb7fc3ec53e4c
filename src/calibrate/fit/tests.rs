//! Fits of problems with known answers.

use super::*;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

/// Residuals `(ln Σ_t w_it exp(x_t) - y_i) / σ`: a sum of terms that is known by its logarithm.
#[derive(Clone)]
struct Sums {
    work: Vec<Vec<f64>>,
    measured: Vec<f64>,
    sigma: f64,
}

impl Sums {
    fn sums(&self, x: &[f64]) -> Vec<f64> {
        let sum = |work: &Vec<f64>| work.iter().zip(x).map(|(w, x)| w * x.exp()).sum();
        self.work.iter().map(sum).collect()
    }

    /// Measured with the given unknowns, and noise.
    fn measured(work: Vec<Vec<f64>>, truth: &[f64], sigma: f64, seed: u64) -> Self {
        let mut sums = Self { work, measured: Vec::new(), sigma };
        let mut generator = ChaCha8Rng::seed_from_u64(seed);
        let mut noise = || -> f64 { StandardNormal.sample(&mut generator) };
        sums.measured = sums.sums(truth).iter().map(|s| s.ln() + sigma * noise()).collect();
        sums
    }
}

impl Model for Sums {
    type Seen = Vec<f64>;

    fn residuals(&mut self, x: &[f64]) -> Option<(Vec<f64>, Vec<f64>)> {
        let sums = self.sums(x);
        let residuals = sums.iter().zip(&self.measured);
        Some((residuals.map(|(sum, y)| (sum.ln() - y) / self.sigma).collect(), sums))
    }

    fn rows(&mut self, x: &[f64], sums: &Vec<f64>) -> Option<Rows> {
        let rows = sums.iter().zip(&self.work).map(|(sum, work)| {
            let entry = |(t, w): (usize, &f64)| (t, w * x[t].exp() / sum / self.sigma);
            Row::of(work.iter().enumerate().map(entry))
        });
        Some(Rows(rows.collect()))
    }
}

fn work() -> Vec<Vec<f64>> {
    vec![
        vec![9.0, 1.0, 0.5],
        vec![2.0, 6.0, 1.0],
        vec![1.0, 1.0, 8.0],
        vec![4.0, 4.0, 4.0],
        vec![8.0, 0.1, 3.0],
        vec![0.2, 7.0, 0.3],
    ]
}

fn fitted(sums: &Sums, unknowns: &[Unknown], start: &[f64]) -> Fit {
    fit(&mut sums.clone(), unknowns, start, Loss::Squares, Limits::default()).unwrap()
}

fn free(count: usize) -> Vec<Unknown> {
    (0..count).map(|at| Unknown::free(format!("x{at}"))).collect()
}

fn known(count: usize, deviation: f64) -> Vec<Unknown> {
    (0..count).map(|at| Unknown::with_prior(format!("x{at}"), 0.0, deviation)).collect()
}

#[test]
fn without_noise_the_truth_comes_back_from_afar() {
    let truth = [1.0, -2.0, 0.5];
    let sums = Sums::measured(work(), &truth, 1e-9, 1);
    let found = fitted(&sums, &free(3), &[8.0, 8.0, -6.0]);
    for (x, truth) in found.x.iter().zip(truth) {
        assert!((x - truth).abs() < 1e-7, "{:?}", found.x);
    }
    assert_ne!(found.stop, Stop::Iterations);
}

/// Whole steps go to and fro on the logarithm of a sum: here the first one overshoots by e^8.
#[test]
fn a_step_that_makes_it_worse_is_not_taken() {
    let sums = Sums { work: vec![vec![1.0]], measured: vec![0.0], sigma: 1.0 };
    /// `r = e^x - 1`, whose whole step from -3 leads to 16.
    struct Growth;
    impl Model for Growth {
        type Seen = ();
        fn residuals(&mut self, x: &[f64]) -> Option<(Vec<f64>, ())> {
            Some((vec![x[0].exp() - 1.0], ()))
        }
        fn rows(&mut self, x: &[f64], (): &()) -> Option<Rows> {
            Some(Rows(vec![Row::of([(0, x[0].exp())])]))
        }
    }
    let start = -3.0f64;
    let whole = start - (start.exp() - 1.0) / start.exp();
    assert!(whole > 15.0, "the case is a hard one: {whole}");
    let found = fit(&mut Growth, &free(1), &[start], Loss::Squares, Limits::default()).unwrap();
    assert!(found.x[0].abs() < 1e-6, "{found:?}");
    assert!(found.cost <= (start.exp() - 1.0).powi(2));
    assert!(fitted(&sums, &free(1), &[3.0]).x[0].abs() < 1e-9);
}

#[test]
fn a_prior_counts_as_one_more_measurement() {
    // One measurement of 1 with deviation 0.5, a prior of 0 with deviation 1.
    let sums = Sums { work: vec![vec![1.0]], measured: vec![1.0], sigma: 0.5 };
    let unknowns = known(1, 1.0);
    let found = fitted(&sums, &unknowns, &[0.0]);
    assert!((found.x[0] - 0.8).abs() < 1e-9, "{:?}", found.x);
    let posterior = found.posterior(&unknowns).unwrap();
    assert!((posterior.deviation(0) - 0.2f64.sqrt()).abs() < 1e-12);
}

/// More unknowns than residuals go another way: both must find the same.
#[test]
fn both_ways_through_the_matrix_agree() {
    let work: Vec<Vec<f64>> = work().into_iter().take(2).collect();
    let sums = Sums::measured(work.clone(), &[0.4, -0.3, 0.1], 0.05, 3);
    let wide = known(3, 0.7);
    let found = fitted(&sums, &wide, &[0.0; 3]);
    // The same with the prior of the first as a residual more.
    struct Stated(Sums);
    impl Model for Stated {
        type Seen = Vec<f64>;
        fn residuals(&mut self, x: &[f64]) -> Option<(Vec<f64>, Vec<f64>)> {
            let (mut residuals, sums) = self.0.residuals(x)?;
            residuals.extend([x[0] / 0.7, 0.0]);
            Some((residuals, sums))
        }
        fn rows(&mut self, x: &[f64], sums: &Vec<f64>) -> Option<Rows> {
            let mut rows = self.0.rows(x, sums)?;
            rows.0.extend([Row::of([(0, 1.0 / 0.7)]), Row::default()]);
            Some(rows)
        }
    }
    let mut tall = wide.clone();
    tall[0].prior = None;
    let mut stated = Stated(Sums { work, measured: sums.measured.clone(), sigma: sums.sigma });
    let other = fit(&mut stated, &tall, &[0.0; 3], Loss::Squares, Limits::default()).unwrap();
    for (one, two) in found.x.iter().zip(&other.x) {
        assert!((one - two).abs() < 1e-6, "{:?} {:?}", found.x, other.x);
    }
    let (one, two) = (found.posterior(&wide).unwrap(), other.posterior(&tall).unwrap());
    assert!(one.condition().is_none() && two.condition().is_some(), "two ways");
    for (i, j) in [(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)] {
        let row = |at| Row::of([(at, 1.0)]);
        let (a, b) = (one.covariance(&row(i), &row(j)), two.covariance(&row(i), &row(j)));
        assert!((a - b).abs() < 1e-8, "{i} {j}: {a} {b}");
    }
}

#[test]
fn a_stray_measurement_pulls_with_a_constant_force() {
    let mut sums = Sums { work: vec![vec![1.0]; 9], measured: vec![0.0; 9], sigma: 0.1 };
    sums.measured[8] = 5.0;
    let squares = fitted(&sums, &free(1), &[0.0]);
    assert!((squares.x[0] - 5.0 / 9.0).abs() < 1e-9);
    let huber = |outlier: f64| {
        let mut sums = Sums { measured: sums.measured.clone(), work: sums.work.clone(), ..sums };
        sums.measured[8] = outlier;
        fit(&mut sums.clone(), &free(1), &[0.0], Loss::Huber(2.0), Limits::default()).unwrap().x[0]
    };
    // Eight squares against one force: 8 x / σ² = 2 / σ.
    assert!((huber(5.0) - 0.025).abs() < 1e-8, "{}", huber(5.0));
    assert!((huber(50.0) - 0.025).abs() < 1e-8);
}

#[test]
fn an_unknown_at_its_bound_is_held_there_and_the_others_are_not() {
    let sums = Sums::measured(work(), &[1.0, -2.0, 0.5], 1e-6, 1);
    let mut unknowns = free(3);
    unknowns[0].bounds = Some((-5.0, 0.9));
    let found = fitted(&sums, &unknowns, &[0.0; 3]);
    assert_eq!(found.x[0], 0.9);
    assert_eq!(found.held, [true, false, false]);
    assert!((found.x[2] - 0.5).abs() < 0.2, "{:?}", found.x);
    assert_eq!(found.posterior(&unknowns).unwrap().deviation(0), 0.0);
}

#[test]
fn what_no_residual_touches_is_told() {
    let blind = Sums::measured(vec![vec![1.0, 0.0]; 3], &[0.0, 0.0], 0.1, 1);
    let unknowns = free(2);
    assert!(fitted(&blind, &unknowns, &[0.0; 2]).posterior(&unknowns).is_none());
    let fails = |sums: &Sums, count: usize, start: f64| {
        let start = vec![start; count];
        fit(&mut sums.clone(), &free(count), &start, Loss::Squares, Limits::default()).unwrap_err()
    };
    let few = Sums::measured(work().into_iter().take(2).collect(), &[0.0; 3], 0.1, 1);
    assert_eq!(fails(&few, 3, 0.0), FitError::Undetermined { observations: 2, unknowns: 3 });
    let none = Sums::measured(Vec::new(), &[], 0.1, 1);
    assert_eq!(fails(&none, 0, 0.0), FitError::NoObservations);
    let narrow = fit(&mut few.clone(), &known(3, 0.0), &[0.0; 3], Loss::Squares, Limits::default());
    assert_eq!(narrow.unwrap_err(), FitError::Cost);
    assert_eq!(fails(&few, 3, f64::NAN), FitError::Start { residual: 0 });
}

/// Columns that say nearly the same: their difference is the weak direction.
#[test]
fn the_weakest_direction_is_named() {
    let work = (1..=6).map(|i| vec![1.0, 1.0 + 1e-3 * f64::from(i), 0.02 * f64::from(i)]).collect();
    let sums = Sums::measured(work, &[0.0; 3], 0.01, 5);
    let unknowns = known(3, 1.0);
    let found = fitted(&sums, &unknowns, &[0.0; 3]);
    let posterior = found.posterior(&unknowns).unwrap();
    assert!(posterior.correlation(0, 1) < -0.95, "{}", posterior.correlation(0, 1));
    assert!(posterior.condition().unwrap() > 30.0);
    let parts = &posterior.weakest().unwrap().parts;
    assert!(parts[0] * parts[1] < 0.0 && parts[2].abs() < 0.3, "{parts:?}");
    let length: f64 = parts.iter().map(|p| p * p).sum();
    assert!((length - 1.0).abs() < 1e-12);
}

/// Pulls `(x - truth) / σ` of 500 data sets: intervals are as wide as errors are large, whether the truth is
/// one value or drawn from the prior, and in both forms of the matrix.
#[test]
fn pulls_over_five_hundred_data_sets_have_a_deviation_of_one() {
    let spread = |unknowns: &[Unknown], rows: usize| {
        let mut pulls = Vec::new();
        for seed in 0..500 {
            let mut generator = ChaCha8Rng::seed_from_u64(10_000 + seed);
            let truth: Vec<f64> = unknowns
                .iter()
                .map(|unknown| {
                    unknown.prior.map_or(0.3, |prior| {
                        let z: f64 = StandardNormal.sample(&mut generator);
                        prior.mean + prior.deviation * z
                    })
                })
                .collect();
            let work = work().into_iter().take(rows).collect();
            let sums = Sums::measured(work, &truth, 0.05, seed);
            let found = fitted(&sums, unknowns, &vec![0.0; unknowns.len()]);
            let posterior = found.posterior(unknowns).unwrap();
            let pull = |at: usize| (found.x[at] - truth[at]) / posterior.deviation(at);
            pulls.extend((0..unknowns.len()).map(pull));
        }
        let square: f64 = pulls.iter().map(|pull| pull * pull).sum();
        (square / pulls.len() as f64).sqrt()
    };
    for (name, unknowns, rows) in
        [("free", free(3), 6), ("tall", known(3, 0.2), 6), ("wide", known(3, 0.2), 2)]
    {
        let spread = spread(&unknowns, rows);
        assert!((0.9..1.1).contains(&spread), "{name}: {spread}");
    }
}
