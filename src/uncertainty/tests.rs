//! Intervals of a profile whose numbers a fit moves together.

use super::*;
use crate::cost::Setting;
use crate::hardware::Profile;
use crate::mapping::Network;
use crate::model::{Bindings, load};

const TREE: &str = "domains.core.clock_tree.Charge";
const BUSY: &str = "engines.cortex_m4.energy.per_busy_cycle.Charge";

/// Two numbers of one size, known to 10 %, and how they go together: rows of the factor.
fn profile(factor: Option<&str>) -> Profile {
    let block = factor.map_or(String::new(), |factor| {
        format!("posterior: (numbers: [\"{TREE}\", \"{BUSY}\"], factor: {factor})")
    });
    let text = format!(
        r#"(extends: "stm32l4r5", name: "fitted", sources: {{"fit": (kind: Fitted, citation: "a fit")}},
        domains: [(name: "core", clock_tree: Charge("100 uA/MHz ±10% @fit"))],
        engines: [(name: "cortex_m4", energy: (per_busy_cycle: Charge("100 uA/MHz ±10% @fit")))],
        {block})"#
    );
    Profile::parse("fitted.ron", &text).unwrap_or_else(|e| panic!("{e}"))
}

/// A posterior of two numbers known to 10 % with a correlation.
fn correlated(correlation: f64) -> Profile {
    let sigma = 1.1f64.ln();
    let rest = (1.0 - correlation * correlation).sqrt();
    profile(Some(&format!("[[{sigma}], [{}, {}]]", sigma * correlation, sigma * rest)))
}

fn at<T>(profile: &Profile, figure: impl FnOnce(&Network, Setting<'_>) -> T) -> T {
    let network = Network::of(&load("kws_ds_cnn", &Bindings::default()).unwrap()).unwrap();
    let (point, stacks) = (profile.point(None).unwrap(), profile.stacks(None).unwrap());
    figure(&network, Setting { profile, point: &point, stacks: &stacks })
}

/// Deviations of the energy.
fn energy(profile: &Profile) -> Sigma {
    at(profile, linearised).sigma[&Figure::Energy]
}

/// What two numbers add to the variance of the energy.
fn of_both(profile: &Profile) -> f64 {
    let found = at(profile, linearised).energy_contributions;
    let both = found.iter().filter(|c| c.name.contains(TREE) || c.name.contains(BUSY));
    both.map(|c| c.effect * c.effect).sum()
}

#[test]
fn numbers_that_go_against_each_other_make_their_sum_sure() {
    let (apart, against, with) = (correlated(0.0), correlated(-0.98), correlated(0.98));
    // Equal parts of a sum: variance in proportion to 1 + correlation.
    let share = |of: &Profile| of_both(of) / of_both(&apart);
    assert!((share(&against) - 0.02).abs() < 0.01, "{}", share(&against));
    assert!((share(&with) - 1.98).abs() < 0.02, "{}", share(&with));
    assert!(energy(&against).up < energy(&apart).up && energy(&against).down < energy(&apart).down);
    let names: Vec<_> =
        at(&with, linearised).energy_contributions.into_iter().map(|c| c.name).collect();
    assert!(names.contains(&format!("posterior {TREE}")) && names.contains(&BUSY.to_owned()));
    assert!(!names.contains(&TREE.to_owned()), "{names:?}");
}

#[test]
fn numbers_that_go_by_themselves_need_no_block() {
    let (without, with) = (energy(&profile(None)), energy(&correlated(0.0)));
    assert!((with.up / without.up - 1.0).abs() < 1e-9, "{with:?} {without:?}");
    assert!((with.down / without.down - 1.0).abs() < 1e-9, "{with:?} {without:?}");
}

#[test]
fn draws_agree_with_steps() {
    let width = |profile: &Profile| {
        let drawn = at(profile, |n, s| sampled(n, s, 800, 7)).unwrap()[&Figure::MeanPower];
        let sigma = at(profile, linearised).sigma[&Figure::MeanPower];
        let step = (sigma.up + sigma.down) * linearised::Z90;
        ((drawn.interval.high / drawn.interval.low).ln(), step)
    };
    for correlation in [0.0, 0.98] {
        let (drawn, step) = width(&correlated(correlation));
        assert!((drawn / step - 1.0).abs() < 0.1, "{correlation}: {drawn} {step}");
    }
    // What is left is mostly that of other numbers, which do not go by their logarithms.
    let (drawn, step) = width(&correlated(-0.98));
    assert!((drawn / step - 1.0).abs() < 0.25, "{drawn} {step}");
}

#[test]
fn draws_of_numbers_outside_a_block_stay_as_they_were() {
    let latency = |profile: &Profile| at(profile, |n, s| sampled(n, s, 20, 3)).unwrap();
    let (one, two) = (latency(&correlated(0.5)), latency(&correlated(-0.5)));
    assert_eq!(one[&Figure::Latency], two[&Figure::Latency]);
    assert_ne!(one[&Figure::Energy], two[&Figure::Energy]);
}
