//! How far fitted numbers, and with them predictions, go together before any measurement.
//!
//! Numbers have hundreds of unknowns in common, but predictions depend on tens of numbers: with `S` the slopes of
//! predictions with numbers, `C` the numbers' covariance and `D` that of the discrepancies, predictions have
//! `S C Sᵀ + D`.

use super::local::Local;
use super::scales::Scales;
use super::{Configuration, Joint};
use crate::calibrate::fit::Row;
use nalgebra::DMatrix;

/// Covariance of the logarithms of the fitted numbers of all configurations.
#[derive(Debug)]
pub(super) struct PriorOfNumbers {
    /// The first number of each configuration.
    first: Vec<usize>,
    covariance: DMatrix<f64>,
}

impl PriorOfNumbers {
    pub fn of(joint: &Joint) -> Self {
        let (mut first, mut count) = (Vec::new(), 0);
        let mut with_unknown: Vec<Vec<(usize, f64)>> = vec![Vec::new(); joint.unknowns.len()];
        for tuned in joint.configurations.iter().map(|own| &own.tuned) {
            first.push(count);
            for (number, own) in tuned.iter().enumerate() {
                for (unknown, weight) in &own.unknowns {
                    if let Some(numbers) = with_unknown.get_mut(*unknown) {
                        numbers.push((count + number, *weight));
                    }
                }
            }
            count += tuned.len();
        }
        let mut covariance = DMatrix::zeros(count, count);
        for (numbers, unknown) in with_unknown.iter().zip(&joint.unknowns) {
            let variance = unknown.prior.map_or(0.0, |prior| prior.deviation.powi(2));
            for (column, weight) in numbers {
                for (row, other) in numbers {
                    covariance[(*row, *column)] += weight * other * variance;
                }
            }
        }
        Self { first, covariance }
    }
}

/// Predictions of a configuration: slopes of each, and its discrepancies with their weights, in deviations of the
/// measurement.
pub(super) struct Part {
    configuration: usize,
    /// Predictions by numbers.
    slopes: DMatrix<f64>,
    off: Vec<Row>,
}

impl Part {
    /// That of runs with what they show, of the figures in use.
    pub fn of(
        joint: &Joint,
        (at, runs): &(usize, Vec<usize>),
        locals: &[&Local],
        used: &[bool],
        scales: Scales,
    ) -> Option<Self> {
        let configuration: &Configuration = joint.configurations.get(*at)?;
        let unknowns = scales.applied_to(joint);
        let deviation = |unknown: usize| {
            joint.unknowns.get(unknown)?.prior.map(|prior| prior.deviation * unknowns(unknown))
        };
        let (mut lines, mut off) = (Vec::new(), Vec::new());
        for (run, local) in runs.iter().zip(locals) {
            let run = joint.runs.get(*run)?;
            for figure in joint.figures_used(run, used) {
                let sight = joint.sights.get(run.first + figure)?;
                let sigma = scales.sigma_of(sight);
                lines.push((*local, figure, sigma));
                let own = sight.off.iter();
                off.push(Row::of(own.filter_map(|(unknown, weight)| {
                    Some((*unknown, weight * deviation(*unknown)? / sigma))
                })));
            }
        }
        let slopes = DMatrix::from_fn(lines.len(), configuration.tuned.len(), |line, number| {
            let (local, figure, sigma) = lines[line];
            let own = local.slopes.get(number).and_then(|slopes| slopes.get(figure));
            own.map_or(0.0, |slope| slope / sigma)
        });
        Some(Self { configuration: *at, slopes, off })
    }
}

/// The covariance of predictions, in deviations of their measurements, in the order of their parts.
pub(super) fn covariance(prior: &PriorOfNumbers, parts: &[Part]) -> Option<DMatrix<f64>> {
    let count: usize = parts.iter().map(|part| part.slopes.nrows()).sum();
    let mut covariance = DMatrix::zeros(count, count);
    let mut row = 0;
    for (at, part) in parts.iter().enumerate() {
        let (first, lines) = (*prior.first.get(part.configuration)?, part.slopes.nrows());
        let numbers = part.slopes.ncols();
        let along = &part.slopes * prior.covariance.view((first, 0), (numbers, first + numbers));
        let mut column = 0;
        for other in parts.iter().take(at + 1) {
            let (start, width) = (*prior.first.get(other.configuration)?, other.slopes.ncols());
            let product = along.columns(start, width) * other.slopes.transpose();
            for (i, one) in part.off.iter().enumerate() {
                for (j, two) in other.off.iter().enumerate() {
                    let own = product[(i, j)] + one.dot(two);
                    covariance[(row + i, column + j)] = own;
                    covariance[(column + j, row + i)] = own;
                }
            }
            column += other.slopes.nrows();
        }
        row += lines;
    }
    Some(covariance)
}
