//! A batch costs no more than its samples one after the other.

use crate::chips::at;
use joulecast::cost::Setting;
use joulecast::estimate::{Estimate, estimate};
use joulecast::hardware::Profile;
use joulecast::mapping::{Directions, Network, Objective, Plan, plan};
use joulecast::model::{Bindings, Transform, apply, load};
use joulecast::sim::scenario::{Fidelity, Scenario};
use joulecast::sim::{Limits, Prepared, Simulated};
use joulecast::trace::Deaf;
use joulecast::units::Seconds;

fn network(model: &str, samples: u64, fuses: bool) -> Network {
    let graph = load(model, &Bindings::default()).unwrap();
    let graph = apply(&graph, &[Transform::Batch(samples)]).unwrap();
    Network::executed(&graph, fuses).unwrap()
}

fn planned(network: &Network, setting: Setting<'_>) -> (Plan, Estimate) {
    let plan = plan(network, setting);
    let figures = estimate(&plan, setting);
    (plan, figures)
}

const NETWORKS: [&str; 5] =
    ["kws_ds_cnn", "ic_resnet8", "ad_autoencoder", "vww_mobilenetv1_025", "mobilenet_v2"];

const HARDWARE: [&str; 8] = [
    "edge_soc_example",
    "stm32u575",
    "gap9",
    "coral_edgetpu",
    "ethos_u85_256",
    "rk3588",
    "tpu_v1",
    "h100",
];

#[test]
fn no_batch_costs_more_a_sample_than_one_by_itself() {
    let mut pairs = 0;
    for hardware in HARDWARE {
        let profile = Profile::load(hardware).unwrap();
        for model in NETWORKS {
            at(&profile, None, |setting| {
                let fuses = profile.fuses(setting.stacks);
                let (_, single) = planned(&network(model, 1, fuses), setting);
                // An engine of integers runs no floats.
                if single.latency <= Seconds::ZERO {
                    return;
                }
                pairs += 1;
                for samples in [2, 4, 8] {
                    let (_, batch) = planned(&network(model, samples, fuses), setting);
                    let each = 1.0 / samples as f64;
                    let energy = batch.energy.0 * each / single.energy.0;
                    let time = batch.latency.0 * each / single.latency.0;
                    let (low, high) = (energy.min(time), energy.max(time));
                    let said = format!("{model} on {hardware}, batch {samples}: {energy} {time}");
                    assert!(0.0 < low && high <= 1.001, "{said}");
                }
            });
        }
    }
    assert!(pairs >= 20, "{pairs} pairs run");
}

/// On the GPU of the example the activations of one sample of MobileNetV2 have room in 2 MiB of SRAM but for
/// one tensor; those of eight spill to DRAM by 85 MiB.
#[test]
fn a_batch_that_would_spill_goes_through_sample_by_sample() {
    let profile = Profile::load("edge_soc_example").unwrap();
    at(&profile, None, |setting| {
        let on_gpu = |mut network: Network| {
            let pins = [("*".to_owned(), "gpu".to_owned())];
            network.directions =
                Directions::new(Objective::Edp, &pins, &network, &profile).unwrap();
            network
        };
        let (one, single) = planned(&on_gpu(network("mobilenet_v2", 1, false)), setting);
        let eight = on_gpu(network("mobilenet_v2", 8, false));
        let (parts, batch) = planned(&eight, setting);
        let (_, at_once) = planned(&Network { parts: Vec::new(), ..eight }, setting);
        assert_eq!((one.passes, parts.passes), (1, 8));
        let ratio = |a: f64, b: f64| a / b;
        assert!(ratio(at_once.energy.0, 8.0 * single.energy.0) > 1.2, "it spills");
        assert!((ratio(batch.energy.0, 8.0 * single.energy.0) - 1.0).abs() < 1e-12);
        assert!((ratio(batch.latency.0, 8.0 * single.latency.0) - 1.0).abs() < 1e-12);
        let macs = |plan: &Plan| plan.steps.iter().map(|step| step.macs).sum::<u64>();
        assert_eq!(macs(&parts), 8 * macs(&one));
        assert!(parts.notes.iter().any(|note| note.contains("in 8 parts of 1 sample,")));
    });
}

fn answered(clients: u64, batch: &str) -> Simulated {
    let text = format!(
        r#"(schema: "joulecast.scenario/1", name: "batches", description: "Batches of pictures.",
          hardware: "edge_soc_example", inferences: 8,
          workloads: [(name: "pictures", model: "mobilenet_v2", place: [("*", "gpu")], {batch}
            arrivals: ClosedLoop(clients: {clients}, think: Fixed("0 s")))])"#
    );
    let scenario = Scenario::parse("batches.ron", &text).unwrap_or_else(|e| panic!("{e}"));
    let prepared = Prepared::new(&scenario, Fidelity::Phase).unwrap();
    prepared.run(1, Limits::default(), &mut Deaf).unwrap()
}

/// Eight requests that are served together are as many passes through all layers in the simulator too: they
/// take what eight by themselves do.
#[test]
fn a_simulated_batch_that_would_spill_costs_as_much_as_its_samples() {
    let apart = answered(1, "");
    let together = answered(8, "batch: (size: 8, timeout: \"1 s\"),");
    assert_eq!((apart.inferences(), together.inferences()), (8, 8));
    let (one, eight) = (&apart.streams[0].served, &together.streams[0].served);
    assert_eq!((one.passes, eight.passes), (8, 1));
    let time = eight.latency.mean() / (one.latency.mean() * 8.0);
    assert!((time - 1.0).abs() < 1e-9, "{time}");
    let energy = together.ledger.source / apart.ledger.source;
    assert!((energy - 1.0).abs() < 1e-6, "{energy}");
}

/// The tail of a network has small activations and large weights: what a batch saves there is not lost by
/// what it would cost elsewhere.
#[test]
fn weights_that_are_fetched_once_make_a_batch_cheaper() {
    let profile = Profile::load("edge_soc_example").unwrap();
    at(&profile, None, |setting| {
        let (_, single) = planned(&network("ad_autoencoder", 1, false), setting);
        let (_, batch) = planned(&network("ad_autoencoder", 8, false), setting);
        assert!(batch.energy.0 < 0.9 * 8.0 * single.energy.0);
    });
}
