//! Tables of Vela, ZigZag and SCALE-Sim as plans: their cycles and bytes, our time, power and energy.

use crate::chips::at;
use crate::command_line::{joulecast, json};
use crate::errors::{file, refused};
use crate::shared;
use joulecast::cost::Setting;
use joulecast::estimate::{Bound, estimate};
use joulecast::hardware::Profile;
use joulecast::mapping::import::{
    Choices, Imported, ImportedTable, StatedEnergy, WordCost, WordCosts, plan_from,
};
use joulecast::mapping::{Network, Plan};
use joulecast::model::{
    Bindings, Convolution, ElementType, Layout, ModelGraph, Op, OpKind, Operator, Padding, Shape,
    Tensor, TensorRole, load,
};
use joulecast::units::{Hertz, Joules};
use std::collections::BTreeMap;
use std::path::Path;

const NPU: &str = "tests/fixtures/tables/npu.ron";
const TPU: &str = "tests/fixtures/tables/tpu_like.ron";
const MODEL: &str = "docs/example_model.ron";

fn profile(name: &str) -> Profile {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
    Profile::load(path.to_str().unwrap()).unwrap()
}

fn near(what: &str, found: f64, expected: f64, within: f64) {
    let off = (found - expected).abs();
    assert!(off <= within * expected.abs(), "{what}: {found}, expected {expected}");
}

type Row = BTreeMap<String, String>;

fn rows(path: &Path) -> Vec<Row> {
    let mut reader =
        csv::ReaderBuilder::new().trim(csv::Trim::All).flexible(true).from_path(path).unwrap();
    reader.deserialize().map(|row| row.unwrap()).collect()
}

fn number(row: &Row, column: &str) -> f64 {
    row[column].parse().unwrap_or_else(|e| panic!("{column} of {row:?}: {e}"))
}

/// Bytes read and written by the name of the memory.
fn bytes(plan: &Plan, setting: Setting<'_>) -> BTreeMap<String, (f64, f64)> {
    let mut sums: BTreeMap<String, (f64, f64)> = BTreeMap::new();
    for transfer in plan.steps.iter().flat_map(|step| &step.traffic) {
        let name = setting.profile.channel_name(transfer.channel).to_owned();
        let sum = sums.entry(name).or_default();
        *sum = (sum.0 + transfer.read.0, sum.1 + transfer.write.0);
    }
    sums
}

fn stated_cycles(plan: &Plan) -> Vec<f64> {
    let of_step = |step: &joulecast::mapping::Step| {
        step.phases.iter().map(|p| p.stated.unwrap().cycles.0).sum()
    };
    plan.steps.iter().map(of_step).collect()
}

const VELA_MODELS: [(&str, &str); 4] = [
    ("ad01_int8", "ad_autoencoder_int8"),
    ("kws_ref_model", "kws_dscnn_int8"),
    ("pretrainedResnet_quant", "ic_resnet8_int8"),
    ("vww_96_int8", "vww_mobilenet96_int8"),
];

const VELA_RUNS: [&str; 4] = [
    "ethos-u55-128-Ethos_U55_Deep_Embedded",
    "ethos-u55-128-Ethos_U55_High_End_Embedded",
    "ethos-u55-256-Ethos_U55_High_End_Embedded",
    "ethos-u85-256-Ethos_U85_SYS_DRAM_Mid",
];

#[test]
fn all_sixteen_runs_of_vela_keep_their_cycles_and_bytes() {
    let Some(shared) = shared::folder("all_sixteen_runs_of_vela_keep_their_cycles_and_bytes")
    else {
        return;
    };
    let profile = profile(NPU);
    let mut runs = 0;
    for (name, model) in VELA_MODELS {
        let model = shared.join(format!("models/tflite/{model}.tflite"));
        let graph = load(model.to_str().unwrap(), &Bindings::default()).unwrap();
        let network = Network::of(&graph).unwrap();
        for run in VELA_RUNS {
            let folder = shared.join(format!("oracles/vela/{name}-{run}"));
            let table = ImportedTable::read(std::slice::from_ref(&folder))
                .unwrap_or_else(|e| panic!("{e}"));
            at(&profile, None, |setting| vela_run(&folder, table, &network, setting));
            runs += 1;
        }
    }
    assert_eq!(runs, 16);
}

fn vela_run(folder: &Path, table: ImportedTable, network: &Network, setting: Setting<'_>) {
    let what = folder.to_str().unwrap();
    let own = rows(&folder.join("per-layer.csv"));
    let summary = rows(&folder.join("summary.csv")).remove(0);
    let imported = Imported::onto(table, network, &Choices::default(), setting);
    let imported = imported.unwrap_or_else(|e| panic!("{what}: {e}"));
    let plan = imported.plan(network, setting);
    // Every operator but views has its rows, and every row its operator.
    assert!(plan.uncosted.is_empty(), "{what}: {:?}", plan.uncosted);
    let work = network.layers.iter().filter(|layer| layer.work.kind != OpKind::View).count();
    assert_eq!(plan.steps.len(), work, "{what}");
    let taken: usize = imported.matches().iter().map(|matched| matched.rows.len()).sum();
    assert_eq!(taken, own.len(), "{what}");
    // Cycles of an operator are the longest of its resources.
    let ports = ["NPU", "SRAM AC", "DRAM AC", "OnFlash AC", "OffFlash AC"];
    for (step, matched) in plan.steps.iter().zip(imported.matches()) {
        let longest = matched
            .rows
            .iter()
            .map(|row| ports.iter().map(|port| number(&own[*row], port)).fold(0.0, f64::max));
        let longest: Vec<f64> = longest.filter(|cycles| *cycles > 0.0).collect();
        let stated: Vec<f64> =
            step.phases.iter().map(|phase| phase.stated.unwrap().cycles.0).collect();
        assert_eq!(stated, longest, "{what}: {}", step.name);
    }
    let total = number(&summary, "cycles_total");
    let cycles: f64 = stated_cycles(&plan).iter().sum();
    assert_eq!(cycles, total, "{what}");
    // And so the time, whatever this profile's bandwidths.
    let found = estimate(&plan, setting);
    near(what, found.latency.0 * setting.point.clocks[0].0.0, total, 1e-12);
    assert!(found.energy.0.is_finite() && found.energy > found.load_energy * 0.999, "{what}");
    let moved = bytes(&plan, setting);
    for (memory, columns) in [
        ("npu_sram", vec!["sram_total_bytes"]),
        ("dram", vec!["dram_total_bytes"]),
        ("flash", vec!["on_chip_flash_total_bytes", "off_chip_flash_total_bytes"]),
    ] {
        let expected: f64 = columns.iter().map(|column| number(&summary, column)).sum();
        let (read, write) = moved.get(memory).copied().unwrap_or_default();
        near(&format!("{what} {memory}"), read + write, expected, 1e-9);
    }
    if what.contains("ad01_int8-ethos-u55") {
        let flash = setting.profile.spec().memories.iter().position(|m| m.name == "flash");
        let bound = found.layers.iter().filter(|l| l.bound == Bound::Channel(flash.unwrap()));
        assert_eq!(bound.count(), 10, "the whole network waits for its weights");
    }
}

#[test]
fn encoded_weights_of_vela_stand_with_their_operators() {
    let Some(shared) = shared::folder("encoded_weights_of_vela_stand_with_their_operators") else {
        return;
    };
    for (name, _) in VELA_MODELS {
        let run = format!("oracles/vela/{name}-{}", VELA_RUNS[1]);
        let folder = shared.join(run);
        let table = ImportedTable::read(std::slice::from_ref(&folder)).unwrap();
        let schedule = rows(&folder.join("schedule.csv"));
        let found: Vec<(&str, f64)> = table
            .layers
            .iter()
            .filter_map(|l| Some((l.step.as_deref()?, l.weights.as_ref()?.bytes as f64)))
            .collect();
        let expected: Vec<(&str, f64)> = schedule
            .iter()
            .map(|row| (row["op"].as_str(), number(row, "encoded_weight_bytes")))
            .collect();
        assert_eq!(found, expected, "{name}");
        assert!(expected.iter().map(|(_, bytes)| bytes).sum::<f64>() > 0.0);
    }
}

/// Height, width, channels in and out, window, stride.
type Extents = ([u64; 4], [u64; 2], u64);

/// Convolutions, each on an image of its own.
fn convolutions(layers: &[Extents], padding: &Padding) -> Network {
    let mut graph = ModelGraph::new("convolutions", Layout::ChannelsLast);
    let mut outputs = Vec::new();
    for (i, ([height, width, from, to], [rows, columns], stride)) in layers.iter().enumerate() {
        let mut tensor = |name: &str, shape: Vec<u64>, role| {
            let name = format!("{name}{i}");
            let tensor = Tensor::new(name, Some(Shape(shape)), ElementType::Int8, role);
            graph.add_tensor(tensor).unwrap()
        };
        let extent = |own: u64, window: u64| match padding {
            Padding::Valid => (own - window) / stride + 1,
            _ => own.div_ceil(*stride),
        };
        let image = tensor("image", vec![1, *height, *width, *from], TensorRole::Input);
        let weights = tensor("weights", vec![*to, *rows, *columns, *from], TensorRole::Constant);
        let shape = vec![1, extent(*height, *rows), extent(*width, *columns), *to];
        let output = tensor("output", shape, TensorRole::Activation);
        let op = Op::Convolution(Convolution {
            strides: vec![*stride; 2],
            dilations: vec![1; 2],
            padding: padding.clone(),
            groups: 1,
            transposed: false,
        });
        let operator = Operator::new(format!("conv{i}"), "Conv", op);
        graph.add_operator(operator, &[Some(image), Some(weights)], &[output]).unwrap();
        outputs.push(output);
    }
    graph.set_outputs(outputs);
    Network::of(&graph).unwrap()
}

/// ResNet-18 in the order of its graph: `downsampled` puts the short cut of a stage before its second
/// convolution.
fn resnet18(shortcut_first: bool) -> Network {
    let square = |extent: u64, window: u64, from: u64, to: u64, stride: u64| {
        ([extent, extent, from, to], [window; 2], stride)
    };
    let mut layers = vec![square(224, 7, 3, 64, 2)];
    layers.extend([square(56, 3, 64, 64, 1); 4]);
    for (extent, from) in [(56, 64), (28, 128), (14, 256)] {
        let (half, to) = (extent / 2, from * 2);
        let (second, shortcut) = (square(half, 3, to, to, 1), square(extent, 1, from, to, 2));
        layers.push(square(extent, 3, from, to, 2));
        layers.extend(if shortcut_first { [shortcut, second] } else { [second, shortcut] });
        layers.extend([second; 2]);
    }
    layers.push(square(1, 1, 512, 1000, 1));
    convolutions(&layers, &Padding::Same)
}

fn tpu_costs() -> WordCosts {
    let pj = |read: f64, write: f64| WordCost {
        read: Joules(read * 1e-12),
        write: Joules(write * 1e-12),
    };
    let (sram, dram) = (pj(416.16, 378.4), pj(700.0, 750.0));
    let levels = [
        ("W0", pj(0.095, 0.095)),
        ("W1", dram),
        ("I0", sram),
        ("I1", dram),
        ("O0", pj(0.021, 0.021)),
        ("O1", sram),
        ("O2", dram),
    ];
    let levels = levels.into_iter().map(|(level, cost)| (level.to_owned(), cost)).collect();
    WordCosts { mac: Joules(0.04e-12), levels }
}

#[test]
fn zigzag_energies_follow_from_its_accesses_by_level_and_operand() {
    let Some(shared) =
        shared::folder("zigzag_energies_follow_from_its_accesses_by_level_and_operand")
    else {
        return;
    };
    let table = ImportedTable::read(&[shared.join("oracles/zigzag")]).unwrap();
    assert_eq!(table.layers.len(), 21);
    for (found, layer) in table.energy(&tpu_costs()).unwrap().iter().zip(&table.layers) {
        let StatedEnergy { total, operations, levels } = layer.stated.as_ref().unwrap();
        let what = &found.name;
        near(what, found.macs.0 * 1e12, *operations, 1e-9);
        near(what, found.total().0 * 1e12, *total, 1e-9);
        assert_eq!(levels.len(), 7, "{what}");
        for (level, stated) in levels {
            near(&format!("{what} {level}"), found.levels[level].0 * 1e12, *stated, 1e-9);
        }
    }
}

#[test]
fn zigzag_energies_come_out_of_a_profile_with_its_costs() {
    let Some(shared) = shared::folder("zigzag_energies_come_out_of_a_profile_with_its_costs")
    else {
        return;
    };
    let table = ImportedTable::read(&[shared.join("oracles/zigzag")]).unwrap();
    let (network, profile) = (resnet18(true), profile(TPU));
    let pairs = |list: &[(&str, &str)]| -> BTreeMap<String, String> {
        list.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect()
    };
    let choices = Choices {
        engine: None,
        levels: pairs(&[("W0", "rf_128b"), ("O0", "rf_2b")]),
        words: [("W0".to_owned(), 1.0), ("O0".to_owned(), 2.0)].into(),
    };
    let homes = [
        ("rf_128b", vec!["W0"]),
        ("rf_2b", vec!["O0"]),
        ("sram", vec!["I0", "O1"]),
        ("dram", vec!["W1", "I1", "O2"]),
    ];
    at(&profile, None, |setting| {
        let plan = plan_from(&table, &network, &choices, setting).unwrap();
        let found = estimate(&plan, setting);
        assert_eq!(plan.steps.len(), 21);
        for ((step, layer), row) in plan.steps.iter().zip(&found.layers).zip(&table.layers) {
            let stated = row.stated.as_ref().unwrap();
            near(&row.name, layer.energy.0 * 1e12, stated.total, 1e-9);
            near(&row.name, step.cost.energy.0 * 1e12, stated.operations, 1e-9);
            for (memory, levels) in &homes {
                let of_memory = |t: &&joulecast::mapping::Transfer| {
                    setting.profile.channel_name(t.channel) == *memory
                };
                let own = step.traffic.iter().find(of_memory).unwrap();
                let expected: f64 = levels.iter().map(|level| stated.levels[*level]).sum();
                near(&format!("{} {memory}", row.name), own.energy.0 * 1e12, expected, 1e-9);
            }
        }
        let cycles: f64 = table.cycles().0;
        near("cycles", found.latency.0 * 1e9, cycles, 1e-12);
    });
}

#[test]
fn scale_sim_keeps_its_cycles_and_words() {
    let Some(shared) = shared::folder("scale_sim_keeps_its_cycles_and_words") else { return };
    let folder = shared.join("oracles/scalesim");
    let pointwise = ([25, 5, 64, 64], [1, 1], 1);
    let mut layers = vec![([58, 12, 1, 64], [10, 4], 2)];
    layers.extend([pointwise; 4]);
    let network = convolutions(&layers, &Padding::Valid);
    let of = |report: &str| folder.join(format!("kws_dscnn_5conv_32x32ws_{report}.csv"));
    let files = [
        of("COMPUTE_REPORT"),
        of("DETAILED_ACCESS_REPORT"),
        folder.join("kws_dscnn_5conv.topology.csv"),
    ];
    let table = ImportedTable::read(&files).unwrap();
    let profile = profile(NPU);
    let (cycles, accesses) = (rows(&files[0]), rows(&files[1]));
    at(&profile, None, |setting| {
        let plan = plan_from(&table, &network, &Choices::default(), setting).unwrap();
        let expected: Vec<f64> = cycles.iter().map(|row| number(row, "Total Cycles")).collect();
        assert_eq!(stated_cycles(&plan), expected);
        assert_eq!(expected, [875.0; 5]);
        let sum = |columns: &[&str]| -> f64 {
            accesses.iter().flat_map(|row| columns.iter().map(|c| number(row, c))).sum()
        };
        let moved = bytes(&plan, setting);
        for (memory, level) in [("npu_sram", "SRAM"), ("dram", "DRAM")] {
            let read = sum(&[&format!("{level} IFMAP Reads"), &format!("{level} Filter Reads")]);
            let written = sum(&[&format!("{level} OFMAP Writes")]);
            assert_eq!(moved[memory], (read, written), "a byte a word");
        }
    });
    // Four bytes a word where the caller says so.
    let wide = Choices { words: [("sram".to_owned(), 4.0)].into(), ..Choices::default() };
    at(&profile, None, |setting| {
        let plan = plan_from(&table, &network, &wide, setting).unwrap();
        let (read, _) = bytes(&plan, setting)["npu_sram"];
        let (own, _) = table.accesses("sram");
        assert_eq!(read, own * 4.0);
    });
}

#[test]
fn scale_sim_without_a_report_of_accesses_has_whole_words_in_its_buffers() {
    let Some(shared) =
        shared::folder("scale_sim_without_a_report_of_accesses_has_whole_words_in_its_buffers")
    else {
        return;
    };
    let folder = shared.join("oracles/scalesim");
    let of = |report: &str| folder.join(format!("resnet18_32x32ws_{report}.csv"));
    let files = [of("COMPUTE_REPORT"), of("BANDWIDTH_REPORT")];
    let table = ImportedTable::read(&files).unwrap();
    for access in table.layers.iter().flat_map(|layer| &layer.accesses) {
        let words = access.read + access.write;
        near("words", words, words.round(), 1e-9);
    }
    let (network, profile) = (resnet18(false), profile(NPU));
    at(&profile, None, |setting| {
        let plan = plan_from(&table, &network, &Choices::default(), setting).unwrap();
        let expected: Vec<f64> =
            rows(&files[0]).iter().map(|row| number(row, "Total Cycles")).collect();
        assert_eq!(stated_cycles(&plan), expected);
        assert_eq!(expected.len(), 21);
        assert!(!bytes(&plan, setting).contains_key("dram"), "not known, and not invented");
        assert!(plan.notes.iter().any(|note| note.contains("those of the DRAM are not")));
    });
}

#[test]
fn a_clock_of_its_own_makes_other_times_of_the_same_cycles() {
    let table = ImportedTable::read(&["tests/fixtures/tables/vela".into()]).unwrap();
    assert_eq!(table.clock, Some(Hertz(1e8)));
    let network = Network::of(&load(MODEL, &Bindings::default()).unwrap()).unwrap();
    let text = std::fs::read_to_string(NPU).unwrap();
    let fast = text.replace(r#""npu": "100 MHz"#, r#""npu": "200 MHz"#);
    let of = |text: &str| {
        let profile = Profile::parse("npu.ron", text).unwrap();
        at(&profile, None, |setting| {
            let plan = plan_from(&table, &network, &Choices::default(), setting).unwrap();
            let warned = plan.notes.iter().any(|note| note.contains("Vela counted its cycles at"));
            (estimate(&plan, setting).latency.0, warned)
        })
    };
    for (text, latency, warns) in [(&text, 10.96e-6, false), (&fast, 5.48e-6, true)] {
        let (found, warned) = of(text);
        near("latency", found, latency, 1e-12);
        assert_eq!(warned, warns);
    }
}

#[test]
fn a_table_of_a_larger_array_is_said_to_be() {
    let table = ImportedTable::read(&["tests/fixtures/tables/vela".into()]).unwrap();
    let network = Network::of(&load(MODEL, &Bindings::default()).unwrap()).unwrap();
    let text = std::fs::read_to_string(NPU).unwrap();
    for (array, said) in [("rows: 16, columns: 8", false), ("rows: 4, columns: 4", true)] {
        let text = text.replace("rows: 16, columns: 8", array);
        let profile = Profile::parse("npu.ron", &text).unwrap();
        let plan = at(&profile, None, |setting| {
            plan_from(&table, &network, &Choices::default(), setting).unwrap()
        });
        // 13 824 MACs in 400 cycles.
        let note = "Vela does more MACs a cycle in conv than npu can";
        assert_eq!(plan.notes.iter().any(|n| n.starts_with(note)), said, "{:?}", plan.notes);
    }
}

#[test]
fn estimate_and_run_say_whose_cycles_they_are() {
    let table = "tests/fixtures/tables/vela";
    let document = json(&["estimate", MODEL, "--on", NPU, "--table", table, "--json"]);
    let caveat = document["caveats"][0].as_str().unwrap();
    assert!(caveat.starts_with("cycles and bytes are those of Vela (tests/fixtures/"), "{caveat}");
    let number = |path: &str| document.pointer(path).and_then(|v| v.as_f64()).unwrap();
    let latency = number("/totals/latency_s");
    near("latency", latency, 1096.0 / 100e6, 1e-12);
    assert_eq!(number("/totals/latency_s_interval90/0"), latency, "cycles stay");
    assert_eq!(number("/totals/latency_s_interval90/1"), latency);
    assert!(number("/totals/energy_j_interval90/0") < number("/totals/energy_j") * 0.95);
    assert!(number("/totals/energy_j_interval90/1") > number("/totals/energy_j") * 1.05);
    let layers = document["layers"].as_array().unwrap();
    let bounds: Vec<&str> = layers.iter().map(|l| l["bound_by"].as_str().unwrap()).collect();
    assert_eq!(bounds, ["compute", "compute", "npu_sram", "compute", "flash", "compute"]);
    let run = json(&["run", MODEL, "--on", NPU, "--table", table, "--json"]);
    assert!(run["caveats"][0].as_str().unwrap().starts_with("cycles and bytes are those of Vela"));
    let simulated = run.pointer("/totals/latency_s").or_else(|| run.pointer("/metrics/latency_s"));
    let simulated = simulated.and_then(|v| v.as_f64()).unwrap_or_else(|| panic!("{run}"));
    near("simulated", simulated, latency, 1e-9);
    let shown = joulecast(&["estimate", MODEL, "--on", NPU, "--table", table]);
    let shown = String::from_utf8(shown.stdout).unwrap();
    let head: Vec<&str> = shown.lines().take(2).collect();
    assert!(head[1].starts_with("! cycles and bytes are those of Vela"), "{head:?}");
    assert!(shown.contains("rows of Vela by layer: 2-3 conv, 4 depthwise"), "{shown}");
}

#[test]
fn a_bad_table_is_one_error() {
    let place = tempfile::tempdir().unwrap();
    let of = |table: &str| refused(&["estimate", MODEL, "--on", NPU, "--table", table]);
    assert!(of("nowhere/per-layer.csv").contains("cannot read nowhere/per-layer.csv"));
    assert!(of(&file(place.path(), "empty.csv", b"")).contains("this file is empty"));
    let other = file(place.path(), "other.csv", b"a,b\n1,2\n");
    assert!(of(&other).contains("this is no table that is read here"));
    let huge = file(place.path(), "huge.csv", b"");
    std::fs::OpenOptions::new().write(true).open(&huge).unwrap().set_len(17 << 20).unwrap();
    assert!(of(&huge).contains("more than 16 MiB"));
    let vela = "tests/fixtures/tables/vela";
    let said = refused(&["run", "kws_ds_cnn", "--on", NPU, "--table", vela]);
    assert!(said.contains("is not layer 1 of"), "{said}");
    assert!(said.contains("per-layer.csv:2"), "{said}");
    let said = refused(&["estimate", MODEL, "--on", NPU, "--table", vela, "--table-level", "sram"]);
    assert!(said.contains("expected LEVEL=MEMORY"), "{said}");
    let said = refused(&["estimate", MODEL, "--on", NPU, "--table-level", "sram=npu_sram"]);
    assert!(said.contains("--table"), "{said}");
    let said =
        refused(&["estimate", MODEL, "--on", NPU, "--table", vela, "--table-level", "dram=flash"]);
    assert!(said.contains("level `dram` is not there"), "{said}");
}
