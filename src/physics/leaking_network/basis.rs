//! The modes of a network with the slopes of its leakage in them.

use super::super::dense::{add_rows, combine, dot, transposed};
use super::{LeakingNetwork, SensorLag};
use nalgebra::{DMatrix, SymmetricEigen};

/// Modes of `lambda - U diag(g) U^T = V diag(mu) V^T`, with `z = V^T z_base`.
///
/// A sensor that follows a place by `s' = r (u z - s)` has `w = s - c z`, `c_k = r u_k / (r - mu_k)`, which no
/// mode drives any more: `w' = -r w - c f` where `z' = -mu z + f`.
#[derive(Debug, Clone, Default)]
pub(super) struct Basis {
    /// `mu`; below zero for a mode that grows.
    pub rates: Vec<f64>,
    /// `V^T U`, its rows those of the places.
    by_place: Vec<f64>,
    /// Those of the places that leak, its rows those of the slots.
    pub by_slot: Vec<f64>,
    /// `V`, its rows those of the base; empty where it is one.
    vectors: Vec<f64>,
    /// The mode that decays the slowest, and the sign that it is warm with.
    pub slowest: Option<(usize, f64)>,
    /// The same, its rows those of the modes.
    pub by_mode: Vec<f64>,
    /// Sensors with a lag.
    pub followers: Vec<Follower>,
    /// The rate that lies farthest from zero.
    pub fastest: f64,
}

/// A sensor with a lag.
#[derive(Debug, Clone, Default)]
pub(super) struct Follower {
    /// Its place in the list of sensors.
    pub sensor: usize,
    /// The place of the network that it looks at.
    pub place: usize,
    /// `r` \[1/s\].
    pub rate: f64,
    /// `c`.
    pub shares: Vec<f64>,
}

/// A rate of a sensor no nearer to one of a mode than this share of it: where they met, `c` would have no
/// bounds. No lag is known as closely.
const APART: f64 = 1e-5;

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
        let fastest = rates.iter().map(|rate| rate.abs()).fold(0.0, f64::max);
        let followers = Vec::new();
        let mut own =
            Self { rates, by_place, by_slot, by_mode, vectors, slowest, followers, fastest };
        let sensors = network.sensors.iter().enumerate().filter(|(_, own)| own.time.0 > 0.0);
        own.followers = sensors.map(|(i, lag)| own.follower(i, lag)).collect();
        own
    }

    fn follower(&self, sensor: usize, lag: &SensorLag) -> Follower {
        let mut rate = 1.0 / lag.time.0;
        // Each turn leaves one mode behind.
        for _ in 0..=self.rates.len() {
            let meets = |mode: &&f64| (*mode - rate).abs() < APART * rate;
            match self.rates.iter().find(meets) {
                Some(mode) => rate = mode * (1.0 + 2.0 * APART),
                None => break,
            }
        }
        let shape = self.shape(lag.place).iter().zip(&self.rates);
        let shares = shape.map(|(shape, mode)| rate * shape / (rate - mode)).collect();
        Follower { sensor, place: lag.place, rate, shares }
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
        add_rows(&self.by_place, power, out);
    }

    /// The state of this basis in that without slopes.
    pub fn without_slopes(&self, modes: &[f64], base: &mut [f64]) {
        if self.vectors.is_empty() {
            base.copy_from_slice(modes);
        } else {
            let rows = self.vectors.chunks_exact(modes.len().max(1));
            base.iter_mut().zip(rows).for_each(|(entry, row)| *entry = dot(row, modes));
        }
    }

    /// The state of another basis in this one.
    pub fn take(&self, from: &Self, modes: &mut [f64]) {
        let mut base = vec![0.0; modes.len()];
        from.without_slopes(modes, &mut base);
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
