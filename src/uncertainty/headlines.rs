//! The headline numbers of a network on a profile: what each rests on, and what moves it most.

use super::linearised::{Contribution, Figure, Interval90, linearised};
use crate::cost::Setting;
use crate::estimate::estimate;
use crate::evidence::Coverage;
use crate::mapping::{Network, plan};

/// A headline number.
#[derive(Debug, Clone, PartialEq)]
pub struct Headline {
    /// Its value in SI.
    pub value: f64,
    /// Its interval.
    pub interval: Interval90,
    /// What it rests on.
    pub evidence: Coverage,
    /// What makes it uncertain, largest first.
    pub movers: Vec<Contribution>,
}

/// The headline numbers of a network.
#[derive(Debug, Clone, PartialEq)]
pub struct Headlines {
    /// The network.
    pub network: String,
    /// Share of its operations that could be costed.
    pub costed_share: f64,
    /// True when it fits the memories.
    pub fits: bool,
    /// Energy of an inference \[J\].
    pub energy: Headline,
    /// Time of an inference \[s\].
    pub time: Headline,
}

/// The headline numbers of a network at a setting; `None` where nothing of it runs there.
pub fn headlines(network: &Network, setting: Setting<'_>) -> Option<Headlines> {
    let plan = plan(network, setting);
    let estimate = estimate(&plan, setting);
    let known = |value: f64| value.is_finite() && value > 0.0;
    if !known(estimate.latency.0) || !known(estimate.energy.0) {
        return None;
    }
    let sure = linearised(network, setting);
    let headline = |figure: Figure, evidence: &Coverage, movers: &[Contribution]| {
        let value = figure.of(&estimate);
        let interval = sure.interval(figure, value);
        Headline { value, interval, evidence: evidence.clone(), movers: movers.to_vec() }
    };
    let energy = headline(Figure::Energy, &estimate.energy_coverage, &sure.energy_contributions);
    let time = headline(Figure::Latency, &estimate.time_coverage, &sure.latency_contributions);
    let (network, costed_share) = (network.name.clone(), plan.costed_share);
    Some(Headlines { network, costed_share, fits: plan.fits, energy, time })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hardware::Profile;
    use crate::model::{Bindings, load};

    #[test]
    fn shares_add_up_and_the_largest_mover_comes_first() {
        let network = Network::of(&load("kws_ds_cnn", &Bindings::default()).unwrap()).unwrap();
        let profile = Profile::load("eyeriss").unwrap();
        let point = profile.point(None).unwrap();
        let stacks = profile.stacks(None).unwrap();
        let setting = Setting { profile: &profile, point: &point, stacks: &stacks };
        let found = headlines(&network, setting).unwrap();
        for of in [&found.energy, &found.time] {
            let shares: f64 = of.evidence.shares().map(|(_, share)| share).sum();
            assert!((shares - 1.0).abs() < 1e-12);
            let variance: f64 = of.movers.iter().map(|m| m.share).sum();
            assert!((variance - 1.0).abs() < 1e-12);
            assert!(of.movers.is_sorted_by(|a, b| a.share >= b.share));
            assert!(of.interval.low < of.value && of.value < of.interval.high);
        }
        assert!(found.time.movers.iter().all(|m| !m.name.contains("clock_tree")), "costs no time");
        assert!(found.energy.movers.iter().any(|m| m.name.contains("clock_tree")));
    }
}
