//! Layers that have a datapath each and work at once.

use crate::chips::at;
use joulecast::hardware::Profile;
use joulecast::mapping::{Network, PhaseKind, Plan, plan};
use joulecast::model::{Bindings, load};

fn planned(model: &str, hardware: &str) -> Plan {
    let network = Network::of(&load(model, &Bindings::default()).unwrap()).unwrap();
    at(&Profile::load(hardware).unwrap(), None, |setting| plan(&network, setting))
}

/// Cycles that each step adds.
fn added(plan: &Plan) -> Vec<f64> {
    let steady = |kind| move |phase: &&joulecast::mapping::Phase| phase.kind == kind;
    let steps = plan.steps.iter().filter(|step| step.engine == 0);
    steps
        .map(|step| {
            let own = step.phases.iter().filter(steady(PhaseKind::Steady));
            own.map(|phase| phase.compute.0).sum()
        })
        .collect()
}

/// By hand from the folding: pointwise layers take 125 positions x 16 x 16 cycles, depthwise ones are held up by
/// the scaling of 8000 results.
#[test]
fn a_network_takes_its_slowest_layer_and_the_waits_for_first_windows() {
    let found = planned("kws_ds_cnn", "zedboard_kws");
    let own: Vec<f64> = found.steps.iter().take(3).map(|step| step.cost.compute.0).collect();
    assert_eq!(own, [16_000.0, 8_000.0, 32_000.0]);
    // The first window of a depthwise layer is a row and two columns, of a pointwise one a point.
    let depthwise = (5.0 + 2.0) / 125.0;
    let first = depthwise * 16_000.0;
    // Each of three later pairs waits for that much of the pointwise layer before it, and for a point of its own.
    let total: f64 = added(&found).iter().sum();
    let least = first + 32_000.0 + 3.0 * depthwise * 32_000.0;
    assert!(total > least && total < 1.06 * least, "{total} {least}");
    assert!(found.notes.iter().any(|note| note.contains("12 layers work at once")));
}

#[test]
fn no_layer_is_busier_than_its_datapath() {
    for (model, hardware) in [
        ("kws_ds_cnn", "zedboard_kws"),
        ("ic_resnet8", "zedboard_ic"),
        ("vww_mobilenetv1_025", "zedboard_vww"),
        ("finn_cnv_w1a1", "pynq_z2"),
        ("finn_kws_w3a3", "pynq_z2"),
        ("hls4ml_ad08", "arty_a7_100t"),
    ] {
        let found = planned(model, hardware);
        assert!(found.uncosted.is_empty() && found.fits, "{model}: {:?}", found.uncosted);
        let slowest = found.steps.iter().map(|step| step.cost.compute.0).fold(0.0, f64::max);
        let all: f64 = found.steps.iter().map(|step| step.cost.compute.0).sum();
        let total: f64 = added(&found).iter().sum();
        assert!(slowest <= total && total <= all, "{model}: {slowest} {total} {all}");
        for step in &found.steps {
            assert!(step.cost.occupancy() <= 1.0 + 1e-9, "{model} {}", step.name);
        }
    }
}

/// Products alone wait for all of what they read: 144 cycles a layer, eight for the one of eight results.
#[test]
fn layers_that_need_all_of_their_input_run_one_after_the_other() {
    assert_eq!(added(&planned("hls4ml_ad08", "pynq_z2")), [144.0, 144.0, 8.0, 144.0, 144.0, 144.0]);
}

#[test]
fn a_network_that_the_hardware_was_not_made_for_is_refused() {
    let found = planned("ic_resnet8", "pynq_z2");
    assert!(found.uncosted.iter().any(|layer| layer.name == "conv_2d_0"), "{:?}", found.uncosted);
}
