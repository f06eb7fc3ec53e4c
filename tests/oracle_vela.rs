//! Cycles of Ethos-U55 and U85 against the estimates of Arm's compiler, which are no silicon.

use crate::command_line::{joulecast, json, number};
use crate::shared;
use joulecast::calibrate::{Against, BusyCycles, Held, HeldLayer, HeldRun, against_vela};
use joulecast::hardware::Profile;
use joulecast::model::OpKind;
use joulecast::report::against_markdown;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::OnceLock;

fn against(shared: &Path) -> &'static Against {
    static AGAINST: OnceLock<Against> = OnceLock::new();
    AGAINST.get_or_init(|| {
        let (runs, models) = (shared.join("oracles/vela"), shared.join("models/tflite"));
        against_vela(&runs, &models).unwrap_or_else(|e| panic!("{e}"))
    })
}

fn given(run: &HeldRun) -> &Held {
    run.given.as_ref().unwrap_or_else(|| panic!("{}: no schedule", run.name))
}

fn total(layers: &[HeldLayer]) -> f64 {
    let sum = |of: fn(&HeldLayer) -> &BusyCycles| layers.iter().map(|l| of(l).total.0).sum::<f64>();
    sum(|l| &l.predicted) / sum(|l| &l.estimated)
}

fn npu(held: &Held) -> f64 {
    let (predicted, estimated) = held.npu();
    predicted.0 / estimated.0
}

/// On Ethos-U85 the image of the first layer lies in DRAM, where short bursts take 82 of 212 thousand
/// cycles (vww), and the first convolution is reshaped (kws); both are missing here.
fn compared(run: &HeldRun) -> &[HeldLayer] {
    let layers = &given(run).layers;
    if run.system.hardware == "ethos_u85_256" { &layers[1..] } else { layers }
}

fn layers(name: &str, held: &Held) -> String {
    let mut text = format!("{name}\n");
    for layer in &held.layers {
        let part = |busy: &BusyCycles| {
            busy.parts.iter().map(|(n, v)| format!("{n} {:.0}", v.0)).collect::<Vec<_>>().join(" ")
        };
        let (ours, theirs) = (&layer.predicted, &layer.estimated);
        let _ = writeln!(
            text,
            "  {:.16} {:6.0} ({}) | {:6.0} ({}) {}",
            layer.name,
            ours.total.0,
            part(ours),
            theirs.total.0,
            part(theirs),
            if layer.is_of_one_class() { "" } else { "*" }
        );
    }
    text
}

#[test]
fn profiles_of_ethos_u_expand_weights() {
    for name in ["ethos_u55_128", "ethos_u55_256", "ethos_u85_256"] {
        let profile = Profile::load(name).unwrap();
        let npu = profile.spec().engines.iter().find(|engine| engine.name == "npu").unwrap();
        assert!(npu.decompresses.is_some(), "{name}");
    }
}

/// `cargo test --test tests oracle_vela -- --nocapture` prints the tables and each layer.
#[test]
fn blocks_of_results_take_the_cycles_that_arms_compiler_estimates() {
    let name = "blocks_of_results_take_the_cycles_that_arms_compiler_estimates";
    let Some(shared) = shared::folder(name) else { return };
    let against = against(&shared);
    println!("{}", against_markdown(against));
    against.runs.iter().for_each(|run| println!("{}", layers(&run.name, given(run))));
    assert_eq!(against.runs.len(), 16);
    assert_eq!(against.runs.iter().map(|r| given(r).classes().1).sum::<usize>(), 265);
    let (mut same, mut all) = (0, 0);
    for run in &against.runs {
        let held = given(run);
        let off = total(compared(run));
        assert!((off - 1.0).abs() <= 0.08, "{}: {off:.3}", run.name);
        if run.name.contains("u55") {
            assert!((npu(held) - 1.0).abs() <= 0.09, "{}: NPU {:.3}", run.name, npu(held));
            let (own, of) = held.classes();
            (same, all) = (same + own, all + of);
        }
    }
    let share = same as f64 / all as f64;
    assert!(share >= 0.94, "{same} of {all} layers of Ethos-U55 are bound by the same");
}

/// Where no weights are waited for and no operator is made of several, the cycles are Vela's own.
#[test]
fn layers_of_ethos_u55_take_the_same_cycles_to_the_last_but_few() {
    let name = "layers_of_ethos_u55_take_the_same_cycles_to_the_last_but_few";
    let Some(shared) = shared::folder(name) else { return };
    let (mut exact, mut all) = (0, 0);
    let high_end = |run: &&HeldRun| run.system.system == "Ethos_U55_High_End_Embedded";
    for run in against(&shared).runs.iter().filter(high_end) {
        // The first layer waits for its weights in Vela's count.
        let layers = given(run).layers.iter().skip(1);
        for layer in layers.filter(|layer| layer.kind != OpKind::Softmax) {
            all += 1;
            let (ours, theirs) = (layer.predicted.npu().0, layer.estimated.npu().0);
            exact += usize::from((ours - theirs).abs() <= 2.0);
            let off = (ours / theirs - 1.0).abs();
            assert!(off < 0.16, "{} {}: {ours} {theirs}", run.name, layer.name);
        }
    }
    assert!(exact * 100 >= all * 88, "{exact} of {all}");
}

/// No code of single weights is shorter, and the datapath does not wait for their bytes.
#[test]
fn entropy_of_weights_lies_below_what_vela_encodes_them_to() {
    let name = "entropy_of_weights_lies_below_what_vela_encodes_them_to";
    let Some(shared) = shared::folder(name) else { return };
    for run in &against(&shared).runs {
        let entropy = run.entropy.as_ref().unwrap_or_else(|| panic!("{}: no values", run.name));
        let encoded = entropy.weights_estimated.unwrap();
        assert_eq!(given(run).weights, encoded, "{}", run.name);
        assert!(entropy.weights < encoded, "{}: {:?}", run.name, entropy.weights);
        assert_eq!(entropy.npu(), given(run).npu(), "{}", run.name);
    }
}

#[test]
fn the_command_line_gives_the_same_figures() {
    let name = "the_command_line_gives_the_same_figures";
    let Some(shared) = shared::folder(name) else { return };
    let (runs, models) = (shared.join("oracles/vela"), shared.join("models/tflite"));
    let arguments = arguments(&runs, &models);
    let output = joulecast(&arguments);
    assert!(output.status.success());
    assert_eq!(String::from_utf8_lossy(&output.stdout), against_markdown(against(&shared)));
    let d = json(&[&arguments[..], &["--json"]].concat());
    assert_eq!(d["schema"], "joulecast.against/1");
    for (index, run) in against(&shared).runs.iter().enumerate() {
        assert_eq!(d["runs"][index]["run"], run.name.as_str());
        let cycles = |of: &str| number(&d, &format!("/runs/{index}/encoded_weights/cycles/{of}"));
        let (predicted, estimated) = given(run).total();
        for (own, of) in [("predicted", predicted.0), ("estimated", estimated.0)] {
            assert!((cycles(own) / of - 1.0).abs() < 1e-12, "{}: {own} {of}", run.name);
        }
    }
}

fn arguments<'a>(runs: &'a Path, models: &'a Path) -> Vec<&'a str> {
    let (runs, models) = (runs.to_str().unwrap(), models.to_str().unwrap());
    vec!["validate", "--against", "vela", "--runs", runs, "--models", models]
}

fn said(runs: &Path, models: &Path) -> String {
    let output = joulecast(&arguments(runs, models));
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert_eq!(said.matches("error:").count(), 1, "{said}");
    said
}

/// A run of Ethos-U55-128 with one convolution, which is no layer of any model here.
fn made_up_run(folder: &Path, accelerator: &str) {
    let run = folder.join("one-run");
    std::fs::create_dir_all(&run).unwrap();
    let layers = "Original Operator,NNG Operator,Target,Op Cycles,NPU,SRAM AC,DRAM AC,OnFlash AC,OffFlash AC,MAC Count,Name\n\
                  Conv2D,Conv2D,NPU,100,100,10,0,0,0,7,conv\n";
    std::fs::write(run.join("per-layer.csv"), layers).unwrap();
    let summary = format!(
        "network,accelerator_configuration,system_config,core_clock,cycles_total,sram_total_bytes,nn_macs\n\
         one,{accelerator},Ethos_U55_High_End_Embedded,500000000,100,80,7\n"
    );
    std::fs::write(run.join("summary.csv"), summary).unwrap();
}

#[test]
fn what_is_missing_is_said_once() {
    let folder = std::env::temp_dir().join(format!("joulecast-against-{}", std::process::id()));
    let (runs, models) = (folder.join("runs"), folder.join("models"));
    std::fs::create_dir_all(&runs).unwrap();
    std::fs::create_dir_all(&models).unwrap();
    assert!(said(&folder.join("nowhere"), &models).contains("cannot read"));
    let none = said(&runs, &models);
    assert!(none.contains("no run of Vela") && none.contains("Ethos_U85_256 in"), "{none}");
    made_up_run(&runs, "Ethos_U65_512");
    let other = said(&runs, &models);
    assert!(other.contains("one-run is of Ethos_U65_512"), "{other}");
    made_up_run(&runs, "Ethos_U55_128");
    let missing = said(&runs, &models);
    assert!(missing.contains("no model of run `one-run`") && missing.contains("one.tflite"));
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_table_of_another_network_is_an_error() {
    let Some(shared) = shared::folder("a_table_of_another_network_is_an_error") else { return };
    let folder = std::env::temp_dir().join(format!("joulecast-other-{}", std::process::id()));
    let (runs, models) = (folder.join("runs"), folder.join("models"));
    made_up_run(&runs, "Ethos_U55_128");
    std::fs::create_dir_all(&models).unwrap();
    let model = shared.join("models/tflite/kws_dscnn_int8.tflite");
    std::fs::copy(model, models.join("one.tflite")).unwrap();
    let other = said(&runs, &models);
    assert!(other.contains("per-layer.csv:2") && other.contains("MACs"), "{other}");
    std::fs::remove_dir_all(&folder).unwrap();
}
