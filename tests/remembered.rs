//! What was worked out before is never the answer to another question, and the same to the last bit.

use joulecast::cost::Setting;
use joulecast::estimate::{Estimate, estimate};
use joulecast::hardware::{Keeps, Point, Profile};
use joulecast::mapping::{Network, Objective, Plan, plan};
use joulecast::model::{Bindings, load};

fn network(model: &str) -> Network {
    Network::of(&load(model, &Bindings::default()).unwrap()).unwrap()
}

type Answer = (Plan, Estimate);

fn answer(network: &Network, profile: &Profile, point: &Point) -> Answer {
    let stacks = profile.stacks(None).unwrap();
    let setting = Setting { profile, point, stacks: &stacks };
    let plan = plan(network, setting);
    let estimate = estimate(&plan, setting);
    (plan, estimate)
}

/// On a thread that knows nothing yet.
fn anew(network: &Network, profile: &Profile, point: &Point) -> Answer {
    let cold = || answer(network, profile, point);
    std::thread::scope(|scope| scope.spawn(cold).join().unwrap())
}

const CHIPS: [&str; 5] = ["edge_soc_example", "ethos_u55_256", "gap9", "stm32l4r5", "rk3588"];

#[test]
fn an_estimate_made_again_is_the_first_one_to_the_last_bit() {
    for model in ["kws_ds_cnn", "ic_resnet8", "mobilenet_v2"] {
        let mut network = network(model);
        for chip in CHIPS {
            let profile = Profile::load(chip).unwrap();
            let point = profile.point(None).unwrap();
            for objective in [Objective::Edp, Objective::Time, Objective::First] {
                for keeps in [None, Some(Keeps::Nothing), Some(Keeps::Rows)] {
                    network.directions.objective = objective;
                    network.directions.keeps = keeps;
                    let first = anew(&network, &profile, &point);
                    for _ in 0..2 {
                        let again = answer(&network, &profile, &point);
                        assert!(again == first, "{model} on {chip}: {objective} {keeps:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn no_answer_of_another_operating_point_profile_or_network_comes_out() {
    let networks = ["kws_ds_cnn", "ad_autoencoder"].map(network);
    let mut seen = Vec::new();
    for chip in ["edge_soc_example", "ethos_u55_256", "gap9"] {
        let profile = Profile::load(chip).unwrap();
        let faster = profile.perturbed(|_, value| value * 1.25);
        let beside = profile.double_buffered(0);
        for point in profile.spec().operating_points.iter().map(|point| &point.name) {
            for own in [&profile, &faster, &beside] {
                let point = own.point(Some(point)).unwrap();
                for network in &networks {
                    let found = answer(network, own, &point);
                    assert!(found == anew(network, own, &point), "{chip} at {}", point.name);
                    seen.push(found.1.energy.0.to_bits());
                }
            }
        }
    }
    let all = seen.len();
    seen.sort_unstable();
    seen.dedup();
    assert!(seen.len() * 2 > all, "few of {all} answers differ: {}", seen.len());
}

/// Each number of a profile, moved by itself: whatever it is something to is worked out anew.
#[test]
fn no_number_that_moves_leaves_an_answer_of_the_number_before() {
    let network = network("kws_ds_cnn");
    for chip in ["edge_soc_example", "ethos_u55_256", "gap9", "stm32l4r5"] {
        let profile = Profile::load(chip).unwrap();
        let point = profile.point(None).unwrap();
        let before = answer(&network, &profile, &point);
        let mut changed = 0;
        for number in 0..profile.parameters().len() {
            let moved =
                |place: usize, value: f64| if place == number { value * 1.5 } else { value };
            let moved = profile.perturbed(moved);
            let point = moved.repoint(&point).unwrap();
            let found = answer(&network, &moved, &point);
            assert!(found == anew(&network, &moved, &point), "{chip}: number {number}");
            changed += usize::from(found.1 != before.1);
        }
        assert!(changed > 10, "{chip}: {changed}");
        assert!(answer(&network, &profile, &point) == before, "{chip} as it was");
    }
}
