//! The modes of a network with the slopes of its leakage in them.

use super::super::dense::{combine, dot, transposed};
use super::LeakingNetwork;
use nalgebra::{DMatrix, SymmetricEigen};

/// Modes of `lambda - U diag(g) U^T = V diag(mu) V^T`, with `z = V^T z_base`.
#[derive(Debug, Clone, Default)]
pub(super) struct Basis {
    /// `mu`; below zero for a mode that grows.
    pub rates: Vec<f64>,
    /// `V^T U`, its rows those of the places.
    by_place: Vec<f64>,
    /// Those of the places that leak, its rows those of the slots.
    pub by_slot: Vec<f64>,
    /// The same, its rows those of the modes.
    pub by_mode: Vec<f64>,
    /// `V`, its rows those of the base; empty where it is one.
    vectors: Vec<f64>,
    /// The mode that decays the slowest, and the sign that it is warm with.
    pub slowest: Option<(usize, f64)>,
    /// The fastest rate.
    pub fastest: f64,
}

impl Basis {
    /// The basis with slopes of the sources \[W/K\].
    pub fn of(network: &LeakingNetwork, slopes: &[f64]) -> Self {
        let modes = &network.modes;
        let (count, places) = (modes.rates().len(), modes.places());
        let turned = turned(network, slopes);
        let (rates, vectors) = turned.unwrap_or_else(|| (modes.rates().to_vec(), Vec::new()));
        let by_mode = if vectors.is_empty() {
            modes.by_mode().to_vec()
        } else {
            let columns = transposed(&vectors, count);
            let mut all = vec![0.0; count * places];
            for (column, row) in columns.chunks_exact(count).zip(all.chunks_exact_mut(places)) {
                combine(modes.by_mode(), column, row);
            }
            all
        };
        let by_place = transposed(&by_mode, places);
        let leaking = network.leaking.iter();
        let by_slot: Vec<f64> = leaking
            .flat_map(|place| by_place.iter().skip(place * count).take(count).copied())
            .collect();
        let slowest = (0..count).min_by(|a, b| rates[*a].total_cmp(&rates[*b]));
        let slowest = slowest.map(|mode| {
            let seen = by_slot.iter().skip(mode).step_by(count).sum::<f64>();
            (mode, 1f64.copysign(seen))
        });
        let by_mode = transposed(&by_slot, count);
        let fastest = rates.iter().copied().fold(0.0, f64::max);
        Self { rates, by_place, by_slot, by_mode, vectors, slowest, fastest }
    }

    /// Rise of a place; zero for one that there is not.
    pub fn rise(&self, place: usize, modes: &[f64]) -> f64 {
        dot(self.shape(place), modes)
    }

    /// How much each mode is seen at a place.
    pub fn shape(&self, place: usize) -> &[f64] {
        let count = self.rates.len();
        self.by_place.get(place * count..(place + 1) * count).unwrap_or(&[])
    }

    /// Heat of the places into the modes.
    pub fn drive(&self, power: impl Iterator<Item = f64>, out: &mut [f64]) {
        out.fill(0.0);
        let rows = self.by_place.chunks_exact(out.len().max(1));
        for (row, power) in rows.zip(power).filter(|(_, power)| *power != 0.0) {
            out.iter_mut().zip(row).for_each(|(sum, shape)| *sum += power * shape);
        }
    }

    /// The state of another basis in this one.
    pub fn take(&self, from: &Self, modes: &mut [f64]) {
        let mut base = vec![0.0; modes.len()];
        if from.vectors.is_empty() {
            base.copy_from_slice(modes);
        } else {
            let rows = from.vectors.chunks_exact(modes.len().max(1));
            base.iter_mut().zip(rows).for_each(|(entry, row)| *entry = dot(row, modes));
        }
        if self.vectors.is_empty() {
            modes.copy_from_slice(&base);
        } else {
            combine(&self.vectors, &base, modes);
        }
    }
}

/// `mu` and `V`; nothing where no slope turns the modes.
fn turned(network: &LeakingNetwork, slopes: &[f64]) -> Option<(Vec<f64>, Vec<f64>)> {
    if slopes.iter().all(|slope| *slope == 0.0) {
        return None;
    }
    let rates = network.modes.rates();
    let count = rates.len();
    let mut matrix = DMatrix::from_fn(count, count, |i, j| if i == j { rates[i] } else { 0.0 });
    for (source, slope) in network.sources.iter().zip(slopes) {
        let place = network.leaking.get(source.slot).copied().unwrap_or(usize::MAX);
        let shape = network.modes.shape(place);
        for (i, one) in shape.iter().enumerate() {
            for (j, other) in shape.iter().enumerate() {
                matrix[(i, j)] -= slope * one * other;
            }
        }
    }
    if !matrix.iter().all(|entry| entry.is_finite()) {
        return None;
    }
    let limit = count.saturating_mul(100);
    let found = SymmetricEigen::try_new(matrix, f64::EPSILON, limit)?;
    let rates = found.eigenvalues.iter().copied().collect();
    let vectors = (0..count).flat_map(|i| (0..count).map(move |j| (i, j)));
    Some((rates, vectors.map(|(i, j)| found.eigenvectors[(i, j)]).collect()))
}
