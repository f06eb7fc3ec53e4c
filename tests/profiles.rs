//! What holds for every profile that ships.

use crate::chips::at;
use crate::command_line::json;
use crate::laws::network;
use joulecast::estimate::estimate;
use joulecast::hardware::{Array, Engine, Profile, shipped_profiles};
use joulecast::mapping::plan;
use joulecast::units::{Joules, Seconds};

const MLPERF_TINY: [&str; 5] =
    ["ad_autoencoder", "ic_resnet8", "kws_ds_cnn", "sww", "vww_mobilenetv1_025"];

#[test]
fn every_profile_is_listed_with_its_kind_and_the_share_on_evidence() {
    let listed = json(&["hardware", "list", "--json"]);
    let listed = listed["profiles"].as_array().unwrap();
    assert_eq!(listed.len(), shipped_profiles().len());
    for profile in listed {
        let name = profile["name"].as_str().unwrap();
        assert!(Profile::load(name).is_ok(), "{name}");
        assert!(profile["kind"].as_str().is_some_and(|k| !k.is_empty()), "{name}");
        let share = profile["sourced_share"].as_f64().unwrap();
        assert!((0.0..=1.0).contains(&share), "{name}: {share}");
    }
}

/// True of hardware with a datapath for each layer of one network: it runs no other.
pub fn is_for_one_network(profile: &Profile) -> bool {
    let stages =
        |engine: &Engine| matches!(&engine.array, Array::FixedFunction(f) if !f.stages.is_empty());
    profile.spec().engines.iter().any(stages)
}

/// At every operating point: time and energy above zero, shares of evidence that make a whole, and what
/// is in no sum named.
#[test]
fn every_profile_predicts_every_small_network_and_states_its_coverage() {
    for shipped in shipped_profiles() {
        let profile = Profile::load(shipped.name).unwrap();
        if is_for_one_network(&profile) {
            continue;
        }
        for point in &profile.spec().operating_points {
            for model in MLPERF_TINY {
                let what = format!("{model} on {} at {}", shipped.name, point.name);
                let network = network(model);
                at(&profile, Some(&point.name), |setting| {
                    let plan = plan(&network, setting);
                    let found = estimate(&plan, setting);
                    assert!(found.latency > Seconds(0.0) && found.latency.0.is_finite(), "{what}");
                    assert!(found.energy > Joules(0.0) && found.energy.0.is_finite(), "{what}");
                    assert_eq!(
                        found.layers.len() + plan.uncosted.len(),
                        network.layers.len(),
                        "{what}"
                    );
                    for coverage in [&found.energy_coverage, &found.time_coverage] {
                        let whole: f64 = coverage.shares().map(|(_, share)| share).sum();
                        assert!((whole - 1.0).abs() < 1e-9, "{what}: {whole}");
                        assert!((0.0..=1.0).contains(&coverage.share()), "{what}");
                    }
                    for layer in &found.layers {
                        assert!(
                            (0.0..=1.0 + 1e-9).contains(&layer.utilisation),
                            "{what}: {}",
                            layer.name
                        );
                        assert!(
                            layer.utilisation <= layer.occupancy * (1.0 + 1e-9),
                            "{what}: {}",
                            layer.name
                        );
                    }
                });
            }
        }
    }
}
