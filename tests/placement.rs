//! Placement over engines: its aim, pins, handovers and fallbacks.

use crate::chips::{at, full_with};
use crate::command_line::{joulecast, json};
use joulecast::cost::Setting;
use joulecast::estimate::{Estimate, Subject, advise, estimate};
use joulecast::hardware::Profile;
use joulecast::mapping::{Directions, Network, Objective, PhaseKind, Plan, plan};
use joulecast::model::{Bindings, load};
use joulecast::sim::{Arrivals, Workload, run};
use joulecast::trace::MetricsSink;

const MODELS: [&str; 5] =
    ["kws_ds_cnn", "vww_mobilenetv1_025", "ic_resnet8", "ad_autoencoder", "mobilenet_v2"];

fn network(model: &str) -> Network {
    Network::of(&load(model, &Bindings::default()).unwrap()).unwrap()
}

fn aimed(network: &Network, objective: Objective, setting: Setting<'_>) -> (Plan, Estimate) {
    let mut network = network.clone();
    network.directions.objective = objective;
    let plan = plan(&network, setting);
    let found = estimate(&plan, setting);
    (plan, found)
}

#[test]
fn each_aim_is_reached_best_by_the_placement_that_has_it() {
    let mut moved = 0;
    for hardware in ["edge_soc_example", "max78002"] {
        let profile = Profile::load(hardware).unwrap();
        for model in MODELS {
            let network = network(model);
            at(&profile, None, |setting| {
                let of = |objective| aimed(&network, objective, setting);
                let [time, energy, edp, first] =
                    [Objective::Time, Objective::Energy, Objective::Edp, Objective::First].map(of);
                let all = [&time, &energy, &edp, &first];
                let least = |figure: fn(&Estimate) -> f64| {
                    all.iter().map(|(_, e)| figure(e)).fold(f64::INFINITY, f64::min)
                };
                assert!(time.1.latency.0 <= least(|e| e.latency.0) * (1.0 + 1e-9), "{model}");
                // The choice leaves losses of regulators out, and looks at loads.
                let load = least(|e| e.load_energy.0);
                assert!(energy.1.load_energy.0 <= load * (1.0 + 1e-9), "{model} {load}");
                let product = |e: &Estimate| e.load_energy.0 * e.latency.0;
                assert!(product(&edp.1) <= least(product) * (1.0 + 1e-9), "{model}");
                let engines = |plan: &Plan| -> Vec<usize> {
                    plan.steps.iter().map(|step| step.engine).collect()
                };
                moved += usize::from(engines(&time.0) != engines(&first.0));
            });
        }
    }
    assert!(moved > 0, "the aim changes nothing");
}

#[test]
fn a_result_that_is_read_elsewhere_is_handed_over_before_its_reader() {
    // The accelerators work from the DRAM, the core from its SRAM.
    let profile = full_with(&[]);
    let network = network("kws_ds_cnn");
    at(&profile, None, |setting| {
        let (plan, estimated) = aimed(&network, Objective::First, setting);
        let handed: Vec<_> = plan
            .steps
            .iter()
            .filter(|step| step.phases.iter().any(|p| p.kind == PhaseKind::Handover))
            .collect();
        assert!(!handed.is_empty());
        let home = |engine: usize| profile.spec().engines[engine].name == "cpu";
        for step in &plan.steps {
            let makers = &network.producers(step.layer);
            let crossing = makers.iter().flatten().any(|maker| {
                let made = plan.steps.iter().find(|other| other.layer == *maker).unwrap();
                home(made.engine) != home(step.engine)
            });
            let phase = step.phases.iter().find(|p| p.kind == PhaseKind::Handover);
            assert_eq!(phase.is_some(), crossing, "{}", step.name);
            let Some(phase) = phase else { continue };
            let read: f64 = phase.transfers.iter().map(|t| t.read.0).sum();
            let written: f64 = phase.transfers.iter().map(|t| t.write.0).sum();
            let bytes = network.layers[step.layer].work.input_bytes as f64;
            assert_eq!((read, written), (bytes, bytes), "{}", step.name);
        }
        // The same joules and seconds by simulation.
        let workload =
            Workload { inferences: 1, arrivals: Arrivals::BackToBack, rest: Some("on".to_owned()) };
        let outcome = run(&plan, &workload, setting, &mut MetricsSink::default()).unwrap();
        let gap = outcome.metrics.energy.0 / estimated.energy.0 - 1.0;
        assert!(gap.abs() < 1e-6, "{gap}");
    });
}

#[test]
fn the_time_optimum_pays_for_handovers_and_takes_fewer_of_them() {
    let handovers = |plan: &Plan| {
        let phases = plan.steps.iter().flat_map(|step| &step.phases);
        phases.filter(|phase| phase.kind == PhaseKind::Handover).count()
    };
    // Links of a hundredth of the speed.
    let slow = full_with(&[(
        r#"bandwidth: PerSecond("400 MB/s @made_up"), latency"#,
        r#"bandwidth: PerSecond("400 kB/s @made_up"), latency"#,
    )]);
    let network = network("kws_ds_cnn");
    at(&slow, None, |setting| {
        let (first, _) = aimed(&network, Objective::First, setting);
        let (time, _) = aimed(&network, Objective::Time, setting);
        assert!(handovers(&time) < handovers(&first), "{} {}", handovers(&time), handovers(&first));
    });
}

#[test]
fn a_pinned_layer_runs_where_it_is_tied_to() {
    let d = json(&[
        "estimate",
        "kws_ds_cnn",
        "--on",
        "edge_soc_example",
        "--place",
        "conv*=cpu",
        "--place",
        "conv_2d_4=dsp",
        "--json",
    ]);
    let mut found = [0, 0];
    for layer in d["layers"].as_array().unwrap() {
        let name = layer["name"].as_str().unwrap();
        let expected = match name {
            "conv_2d_4" => "dsp",
            _ if name.starts_with("conv") => "cpu",
            _ => continue,
        };
        assert_eq!(layer["engine"], expected, "{name}");
        found[usize::from(expected == "dsp")] += 1;
    }
    assert_eq!(found, [4, 1]);
}

#[test]
fn what_an_engine_refuses_is_listed_with_where_it_falls_back_to() {
    let d = json(&["estimate", "kws_ds_cnn", "--on", "edge_soc_example", "--json"]);
    let fallbacks = d["fallbacks"].as_array().unwrap();
    let softmax = fallbacks.iter().find(|f| f["layer"] == "softmax_12").unwrap();
    assert_eq!(softmax["engine"], "dsp");
    assert_eq!(softmax["refused"][0]["reason"], "npu does not run Softmax");
    let layers = d["layers"].as_array().unwrap();
    for fallback in fallbacks {
        let layer = layers.iter().find(|l| l["name"] == fallback["layer"]).unwrap();
        assert_eq!(layer["engine"], fallback["engine"]);
    }
}

#[test]
fn a_pin_that_cannot_be_says_why_and_what_is_near() {
    for (pin, parts) in [
        ("softmax_12=npu", &["npu does not run Softmax", "it runs on dsp, cpu"][..]),
        ("softmax_21=cpu", &["no layer `softmax_21`", "did you mean `softmax_12`?"]),
        ("softmax_12=cpux", &["no engine `cpux`", "did you mean `cpu`?"]),
        ("softmax_12", &["expected LAYER=ENGINE"]),
        ("nothing*=cpu", &["no layer `nothing*`"]),
    ] {
        let output =
            joulecast(&["estimate", "kws_ds_cnn", "--on", "edge_soc_example", "--place", pin]);
        let shown = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{pin}: {shown}");
        assert!(output.stdout.is_empty());
        for part in parts {
            assert!(shown.contains(part), "{pin}: {shown}");
        }
    }
    let output = joulecast(&["estimate", "kws_ds_cnn", "--on", "gap9", "--objective", "speed"]);
    assert_eq!(output.status.code(), Some(2));
    let shown = String::from_utf8_lossy(&output.stderr);
    assert!(shown.contains("time, energy, edp, first"), "{shown}");
}

#[test]
fn advice_saves_what_it_says() {
    for (model, hardware) in [("kws_ds_cnn", "edge_soc_example"), ("ic_resnet8", "stm32l4r5")] {
        let d = json(&["estimate", model, "--on", hardware, "--advice", "40", "--json"]);
        let (energy, latency) = (&d["totals"]["energy_j"], &d["totals"]["latency_s"]);
        let (energy, latency) = (energy.as_f64().unwrap(), latency.as_f64().unwrap());
        let advice = d["advice"].as_array().unwrap();
        let saved: Vec<f64> = advice.iter().map(|a| a["saved_j"].as_f64().unwrap()).collect();
        assert!(!advice.is_empty() && saved.is_sorted_by(|a, b| a >= b), "{saved:?}");
        let mut checked = 0;
        for own in advice {
            let Some(flag) = own["flag"].as_str().filter(|f| !f.contains("--batch")) else {
                continue;
            };
            let (name, value) = flag.split_once(' ').map_or((flag, None), |(n, v)| (n, Some(v)));
            let mut arguments = vec!["estimate", model, "--on", hardware, "--json", name];
            arguments.extend(value);
            let changed = json(&arguments);
            let of = |what: &str| changed["totals"][what].as_f64().unwrap();
            let (joules, seconds) = (own["saved_j"].as_f64(), own["saved_s"].as_f64());
            let near = |a: f64, b: f64, whole: f64| (a - b).abs() <= whole * 1e-12;
            assert!(near(energy - of("energy_j"), joules.unwrap(), energy), "{flag}");
            assert!(near(latency - of("latency_s"), seconds.unwrap(), latency), "{flag}");
            checked += 1;
        }
        assert!(checked > 2, "{advice:?}");
    }
}

#[test]
fn samples_taken_at_once_are_advised_for_one_sample() {
    let graph = load("ad_autoencoder", &Bindings::default()).unwrap();
    let network = Network::of(&graph).unwrap();
    let profile = Profile::load("edge_soc_example").unwrap();
    at(&profile, None, |setting| {
        let before = estimate(&plan(&network, setting), setting);
        let subject = Subject { graph: &graph, network: &network, setting, estimate: &before };
        let found = advise(&subject);
        let batch = found.iter().find(|a| a.change.words(&network, setting).starts_with("take 16"));
        // A network of products with vectors waits for its weights, which a batch shares.
        let batch = batch.unwrap();
        assert!(batch.energy.0 < before.energy.0 * 0.8, "{batch:?} {}", before.energy);
        assert!(batch.time.0 < before.latency.0 * 0.8);
    });
}

#[test]
fn directions_of_no_layer_are_those_of_none() {
    let network = network("kws_ds_cnn");
    let profile = full_with(&[]);
    let directions = Directions::new(Objective::Energy, &[], &network, &profile).unwrap();
    assert_eq!(directions, Directions { objective: Objective::Energy, ..Directions::default() });
}
