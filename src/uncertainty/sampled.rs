//! The sampled interval: whole estimates on profiles drawn from the spreads.
//!
//! Slower than the linearised interval, and right where figures bend (a layer that changes its
//! binding roof, spreads of a factor of two). Draws come from ChaCha8, seeded by the user's seed,
//! with one stream a draw, so that neither threads nor more draws change a draw. The numbers of a
//! profile's `posterior` are drawn together.

use super::linearised::{Figure, Interval90, common_sigma, evaluate, own_sigma};
use super::together::Together;
use crate::cost::Setting;
use crate::hardware::Movable;
use crate::mapping::{Network, Plan, plan};
use crate::units::Spread;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use std::collections::BTreeMap;

/// What the draws of one figure say.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sampled {
    /// Half of the draws lie below.
    pub median: f64,
    /// 5 % and 95 % of the draws lie below.
    pub interval: Interval90,
}

/// Median and 90 % interval of all figures from `draws` estimates; `None` with fewer than 20.
pub fn sampled(
    network: &Network,
    setting: Setting<'_>,
    draws: u32,
    seed: u64,
) -> Option<BTreeMap<Figure, Sampled>> {
    sampled_of(|setting| plan(network, setting), setting, draws, seed)
}

/// The same of whatever plan `planned` makes of a setting.
pub fn sampled_of(
    planned: impl Fn(Setting<'_>) -> Plan,
    setting: Setting<'_>,
    draws: u32,
    seed: u64,
) -> Option<BTreeMap<Figure, Sampled>> {
    if draws < 20 {
        return None;
    }
    let records = setting.profile.parameters();
    let common: Vec<_> =
        records.iter().map(|r| common_sigma(r, &setting.profile.spec().sources)).collect();
    let together = Together::of(setting.profile);
    let mut values: [Vec<f64>; Figure::COUNT] = Default::default();
    let mut movable = Movable::of(setting.profile);
    for draw in 0..draws {
        let mut generator = ChaCha8Rng::seed_from_u64(seed);
        generator.set_stream(u64::from(draw));
        let mut normal = || -> f64 { StandardNormal.sample(&mut generator) };
        let mut shared: BTreeMap<&str, f64> = BTreeMap::new();
        for (key, _) in common.iter().flatten() {
            shared.entry(key).or_insert_with(&mut normal);
        }
        let fitted: BTreeMap<usize, f64> = together.drawn(&mut normal).into_iter().collect();
        let moved = movable.perturbed(|i, value| {
            let own = normal();
            let record = &records[i];
            match record.parameter.spread {
                Some(Spread::Normal(sigma)) => value + sigma * own,
                _ => {
                    let source = common[i].as_ref();
                    let factor = source.map_or(0.0, |(key, sigma)| sigma * shared[key.as_str()]);
                    let own = fitted.get(&i).copied().unwrap_or(own_sigma(record) * own);
                    value * (own + factor).exp()
                }
            }
        });
        for (list, value) in values.iter_mut().zip(evaluate(&planned, moved, setting)) {
            list.push(value);
        }
    }
    Some(Figure::ALL.into_iter().zip(values.map(quantiles)).collect())
}

fn quantiles(mut values: Vec<f64>) -> Sampled {
    values.sort_by(f64::total_cmp);
    let at = |share: f64| {
        let place = share * (values.len() - 1) as f64;
        let (below, part) = (place.floor() as usize, place.fract());
        let next = (below + 1).min(values.len() - 1);
        values[below] * (1.0 - part) + values[next] * part
    };
    Sampled { median: at(0.5), interval: Interval90 { low: at(0.05), high: at(0.95) } }
}
