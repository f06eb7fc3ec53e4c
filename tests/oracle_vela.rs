//! Cycles of Ethos-U55 and U85 against the estimates of Arm's compiler, which are no silicon.

use crate::command_line::{joulecast, json, number};
use crate::shared;
use joulecast::calibrate::{Against, BusyCycles, Held, HeldRun, against_vela};
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

fn total(held: &Held) -> f64 {
    let (predicted, estimated) = held.total();
    predicted.0 / estimated.0
}

fn npu(held: &Held) -> f64 {
    let (predicted, estimated) = held.npu();
    predicted.0 / estimated.0
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
    let of_one_class = |family: &str| {
        let own = against.runs.iter().filter(|run| run.name.contains(family));
        own.map(|run| given(run).classes()).fold((0, 0), |(s, a), (own, of)| (s + own, a + of))
    };
    for run in &against.runs {
        let (off, datapath) = (total(given(run)), npu(given(run)));
        assert!((off - 1.0).abs() <= 0.055, "{}: {off:.3}", run.name);
        assert!((datapath - 1.0).abs() <= 0.08, "{}: NPU {datapath:.3}", run.name);
    }
    let within = against.runs.iter().filter(|run| (total(given(run)) - 1.0).abs() <= 0.02).count();
    assert!(within >= 13, "{within} of 16 within 2 %");
    for (family, least) in [("u55", 196), ("u85", 61)] {
        let (same, all) = of_one_class(family);
        assert!(same >= least, "{same} of {all} layers of {family} are bound by the same");
    }
    let (same, all) = of_one_class("");
    assert!(same * 100 >= all * 95, "{same} of {all} layers are bound by the same");
}

/// The image and the first layer of each network on Ethos-U85: DRAM is as long at work as Vela says.
#[test]
fn an_image_that_lives_in_dram_takes_the_cycles_of_its_short_bursts() {
    let name = "an_image_that_lives_in_dram_takes_the_cycles_of_its_short_bursts";
    let Some(shared) = shared::folder(name) else { return };
    let on_u85 = |run: &&HeldRun| run.system.hardware == "ethos_u85_256";
    for run in against(&shared).runs.iter().filter(on_u85) {
        let first = &given(run).layers[0];
        let (ours, theirs) = (first.predicted.parts["dram"].0, first.estimated.parts["dram"].0);
        assert!((ours / theirs - 1.0).abs() < 0.002, "{}: {ours} {theirs}", run.name);
    }
}

/// Vela counts half of the multiply-accumulates of what it stores two of four.
#[test]
fn weights_that_have_two_zeros_in_each_four_are_those_that_vela_stores_so() {
    let name = "weights_that_have_two_zeros_in_each_four_are_those_that_vela_stores_so";
    let Some(shared) = shared::folder(name) else { return };
    let folder = shared.join("oracles/vela/vww_96_int8-ethos-u85-256-Ethos_U85_SYS_DRAM_Mid");
    let rows = std::fs::read_to_string(folder.join("per-layer.csv")).unwrap();
    let counted: Vec<u64> = rows
        .lines()
        .skip(1)
        .filter(|row| row.contains("Conv2D,NPU"))
        .map(|row| row.split(',').nth(12).unwrap().parse().unwrap())
        .collect();
    let model = shared.join("models/tflite");
    let run = against(&shared)
        .runs
        .iter()
        .find(|run| run.name.starts_with("vww") && run.name.contains("u85"));
    assert!(run.unwrap().model.starts_with(&model));
    let graph = joulecast::model::load(&run.unwrap().model.to_string_lossy(), &Default::default());
    let network = joulecast::mapping::Network::of(&graph.unwrap()).unwrap();
    let convolutions =
        network.layers.iter().filter(|layer| layer.work.window.is_some() && layer.work.macs > 0);
    let mut halved = 0;
    for (layer, counted) in convolutions.zip(counted) {
        let filters = layer.work.operands[1].statistics.unwrap();
        let by_depth =
            layer.work.kind != OpKind::DepthwiseConv && layer.work.kind != OpKind::StemConv;
        let sparse = by_depth && filters.two_of_four == Some(1.0);
        assert_eq!(counted, layer.work.macs / if sparse { 2 } else { 1 }, "{}", layer.name);
        halved += usize::from(sparse);
    }
    assert_eq!(halved, 4);
}

/// Where no weights are waited for and no operator is made of several, the cycles are Vela's own.
#[test]
fn layers_of_ethos_u55_take_the_same_cycles_to_the_last_but_few() {
    let name = "layers_of_ethos_u55_take_the_same_cycles_to_the_last_but_few";
    let Some(shared) = shared::folder(name) else { return };
    let (mut exact, mut all) = (0, 0);
    let high_end = |run: &&HeldRun| run.system.system == "Ethos_U55_High_End_Embedded";
    for run in against(&shared).runs.iter().filter(high_end) {
        for layer in given(run).layers.iter().filter(|layer| layer.kind != OpKind::Softmax) {
            all += 1;
            let (ours, theirs) = (layer.predicted.npu().0, layer.estimated.npu().0);
            exact += usize::from((ours - theirs).abs() <= 2.0);
            let off = (ours / theirs - 1.0).abs();
            assert!(off < 0.16, "{} {}: {ours} {theirs}", run.name, layer.name);
        }
    }
    assert!(exact * 100 >= all * 88, "{exact} of {all}");
}

/// No code of single weights is shorter; the datapath waits for their bytes at the start alone.
#[test]
fn entropy_of_weights_lies_below_what_vela_encodes_them_to() {
    let name = "entropy_of_weights_lies_below_what_vela_encodes_them_to";
    let Some(shared) = shared::folder(name) else { return };
    for run in &against(&shared).runs {
        let entropy = run.entropy.as_ref().unwrap_or_else(|| panic!("{}: no values", run.name));
        let encoded = entropy.weights_estimated.unwrap();
        assert_eq!(given(run).weights, encoded, "{}", run.name);
        assert!(entropy.weights < encoded, "{}: {:?}", run.name, entropy.weights);
        let ((shorter, _), (longer, _)) = (entropy.npu(), given(run).npu());
        assert!(shorter <= longer, "{}", run.name);
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
