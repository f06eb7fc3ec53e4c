//! Results that stay in a buffer for the next layer.

use crate::chips::at;
use joulecast::cost::Setting;
use joulecast::estimate::{Estimate, estimate};
use joulecast::hardware::{Keeps, Profile};
use joulecast::mapping::{Network, Objective, Plan, plan};
use joulecast::model::{Bindings, ElementType, Transform, apply, load};
use joulecast::sim::{Arrivals, Workload, run};
use joulecast::trace::MetricsSink;

fn network(model: &str, to: ElementType) -> Network {
    let graph = load(model, &Bindings::default()).unwrap();
    let precision = Transform::Precision { to, weights_only: false, layers: None };
    Network::executed(&apply(&graph, &[precision]).unwrap(), true).unwrap()
}

fn kept(network: &Network, keeps: Keeps, setting: Setting<'_>) -> (Plan, Estimate) {
    let mut network = network.clone();
    network.directions.keeps = Some(keeps);
    network.directions.objective = Objective::Time;
    let plan = plan(&network, setting);
    let found = estimate(&plan, setting);
    (plan, found)
}

/// Bytes that pass memories where tensors live.
fn home_bytes(found: &Estimate, setting: Setting<'_>) -> f64 {
    let memories = &setting.profile.spec().memories;
    let home = |channel: usize| memories.get(channel).is_some_and(|m| m.staged_through.is_some());
    let levels = found.levels();
    levels.iter().filter(|level| home(level.channel)).map(|level| level.bytes().0).sum()
}

/// The example with an eighth of the NPU's buffer.
fn with_a_small_buffer() -> Profile {
    let profile = Profile::load("edge_soc_example").unwrap();
    let records = profile.parameters();
    let own = records.iter().position(|r| r.name == "memories.npu_sram.capacity").unwrap();
    profile.perturbed(|i, value| if i == own { value / 8.0 } else { value })
}

#[test]
fn what_stays_moves_less_and_takes_no_longer() {
    let profile = with_a_small_buffer();
    let mut more_by_rows = 0;
    for model in ["resnet50", "mobilenet_v2"] {
        let network = network(model, ElementType::Int8);
        at(&profile, None, |setting| {
            let [none, results, rows] = [Keeps::Nothing, Keeps::Results, Keeps::Rows]
                .map(|keeps| kept(&network, keeps, setting));
            let stays = |plan: &Plan| plan.steps.iter().filter(|s| s.keeps_result).count();
            assert_eq!(stays(&none.0), 0);
            assert!(stays(&results.0) > 0, "{model}");
            let time = |own: &(Plan, Estimate)| own.1.latency.0;
            assert!(time(&results) <= time(&none) * (1.0 + 1e-9), "{model}");
            assert!(time(&rows) <= time(&results) * (1.0 + 1e-9), "{model}");
            let bytes = |own: &(Plan, Estimate)| home_bytes(&own.1, setting);
            assert!(bytes(&results) < bytes(&none), "{model}");
            more_by_rows += usize::from(stays(&rows.0) > stays(&results.0));
        });
    }
    assert!(more_by_rows > 0, "no network has a chain that only rows allow");
}

#[test]
fn a_result_that_stays_is_neither_written_home_nor_read_there() {
    let profile = Profile::load("edge_soc_example").unwrap();
    let network = network("resnet50", ElementType::Int8);
    at(&profile, None, |setting| {
        let (plan, _) = kept(&network, Keeps::Results, setting);
        let memories = &profile.spec().memories;
        let home =
            |channel: usize| memories.get(channel).is_some_and(|m| m.staged_through.is_some());
        let mut pairs = 0;
        for pair in plan.steps.windows(2).filter(|pair| pair[0].keeps_result) {
            let written = |step: &joulecast::mapping::Step| -> f64 {
                let own = step.traffic.iter().filter(|t| home(t.channel));
                own.map(|t| t.write.0).sum()
            };
            assert_eq!(written(&pair[0]), 0.0, "{}", pair[0].name);
            let work = &network.layers[pair[1].layer].work;
            let read = pair[1].traffic.iter().filter(|t| home(t.channel));
            let read: f64 = read.map(|t| t.read.0).sum();
            // What is left are filters and biases, and a second operand.
            let others = (work.weight_bytes + work.input_bytes) as f64;
            let handed = network.layers[pair[0].layer].work.output_bytes as f64;
            assert!(read <= others - handed + 1.0, "{}: {read} {others} {handed}", pair[1].name);
            assert_eq!(pair[0].engine, pair[1].engine);
            pairs += 1;
        }
        assert!(pairs > 0);
    });
}

#[test]
fn chains_run_as_they_are_estimated() {
    let profile = Profile::load("edge_soc_example").unwrap();
    let network = network("mobilenet_v2", ElementType::Int8);
    at(&profile, None, |setting| {
        let (plan, estimated) = kept(&network, Keeps::Rows, setting);
        let rest = Some("on".to_owned());
        let workload = Workload { inferences: 1, arrivals: Arrivals::BackToBack, rest };
        let outcome = run(&plan, &workload, setting, &mut MetricsSink::default()).unwrap();
        let gap = outcome.metrics.energy.0 / estimated.energy.0 - 1.0;
        assert!(gap.abs() < 1e-6, "{gap}");
    });
}
