//! What `inspect` says of a network: layer by layer, kind by kind, as table, CSV, JSON and picture.

use crate::command_line::joulecast;
use crate::shared::folder as shared;
use joulecast::model::{Bindings, ElementType, Layout, ModelGraph, Op, Operator, TensorRole, load};
use joulecast::model::{Live, WeightStatistics, write_ron};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

const MODEL: &str = "ic_resnet8";

fn said(arguments: &[&str]) -> String {
    let output = joulecast(arguments);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {errors}");
    String::from_utf8(output.stdout).unwrap()
}

fn json(arguments: &[&str]) -> Value {
    serde_json::from_str(&said(arguments)).unwrap()
}

fn rows(path: &Path) -> Vec<BTreeMap<String, String>> {
    let mut reader = csv::Reader::from_path(path).unwrap();
    reader.deserialize().map(Result::unwrap).collect()
}

fn sum(rows: &[Value], name: &str) -> u64 {
    rows.iter().map(|row| row[name].as_u64().unwrap_or_else(|| panic!("{name} in {row}"))).sum()
}

const COUNTS: [&str; 7] = [
    "macs",
    "live_macs",
    "element_ops",
    "parameters",
    "weight_bytes",
    "input_bytes",
    "output_bytes",
];

/// Sums of what is stored are of what is read, and say so.
fn summed(name: &str) -> String {
    let is_stored = ["parameters", "weight_bytes"].contains(&name);
    if is_stored { format!("{name}_read") } else { name.to_owned() }
}

#[test]
fn layers_and_kinds_add_up_to_the_totals() {
    let layers = json(&["inspect", MODEL, "--json"]);
    let kinds = json(&["inspect", MODEL, "--by", "kind", "--json"]);
    assert_eq!(layers["schema"], "joulecast.inspect/3");
    assert_eq!(kinds["schema"], "joulecast.inspect_by_kind/2");
    assert_eq!(layers["totals"], kinds["totals"]);
    let (totals, kinds) = (&layers["totals"], kinds["kinds"].as_array().unwrap());
    let layers = layers["layers"].as_array().unwrap();
    for name in COUNTS {
        let summed = summed(name);
        assert_eq!(sum(layers, name), totals[&summed].as_u64().unwrap(), "{name}");
        assert_eq!(sum(kinds, &summed), totals[&summed].as_u64().unwrap(), "{name}");
    }
    assert_eq!(sum(kinds, "layers"), layers.len() as u64);
    let share: f64 = kinds.iter().map(|kind| kind["share_of_macs"].as_f64().unwrap()).sum();
    assert!((share - 1.0).abs() < 1e-12, "{share}");
    for layer in layers {
        let functions = layer["element_ops_by_function"].as_object().unwrap();
        let operations: u64 = functions.values().map(|count| count.as_u64().unwrap()).sum();
        assert_eq!(layer["element_ops"], operations);
    }
}

#[test]
fn memory_says_the_order_the_peak_and_what_makes_it() {
    let d = json(&["inspect", MODEL, "--json"]);
    let (layers, memory) = (d["layers"].as_array().unwrap(), &d["memory"]);
    let during: Vec<_> = layers.iter().map(|l| l["live_during_bytes"].as_u64().unwrap()).collect();
    let peak = memory["peak_bytes"].as_u64().unwrap();
    assert_eq!(during.iter().max(), Some(&peak));
    let at = during.iter().position(|bytes| *bytes == peak).unwrap();
    assert_eq!(memory["peak_at"], layers[at]["name"]);
    assert_eq!(sum(memory["peak_tensors"].as_array().unwrap(), "bytes"), peak);
    assert_eq!((&memory["method"], &memory["is_lowest"]), (&"file_order".into(), &true.into()));
    assert_eq!(memory["file_order_peak_bytes"], peak);
    for layer in layers {
        assert!(layer["live_after_bytes"].as_u64() <= layer["live_during_bytes"].as_u64());
        let is_view = layer["kind"] == "View";
        let fits = layer["activation_bytes"].as_u64() <= layer["live_during_bytes"].as_u64();
        assert!(fits != is_view, "only a view is in its input's bytes: {layer}");
    }
    assert_eq!(layers.last().unwrap()["live_after_bytes"], 10, "the ten classes are left");
}

/// 12 layers, 4 heads of 64 keys and values, 1024 rows of Float16; a table of 32 000 x 768 is read
/// once by the head and is the embedding too.
#[test]
fn a_decoder_says_what_it_stores_reads_and_keeps() {
    let arguments = ["inspect", "docs/example_decoder.json", "--decode", "1024"];
    let d = json(&[&arguments[..], &["--json"]].concat());
    let totals = &d["totals"];
    assert_eq!(totals["parameters"], 100_092_672);
    assert_eq!(totals["active_parameters"], 100_092_672);
    assert_eq!(totals["parameters_read"], 100_092_672 + 32_000 * 768);
    assert_eq!(totals["state_bytes"], 12 * 2 * 4 * 64 * 1024 * 2);
    let layers = d["layers"].as_array().unwrap();
    for layer in layers {
        assert!(layer["live_after_bytes"].as_u64() >= totals["state_bytes"].as_u64(), "{layer}");
    }
    let at_peak = d["memory"]["peak_tensors"].as_array().unwrap();
    assert_eq!((&at_peak[0]["name"], &at_peak[0]["is_state"]), (&"lm_head".into(), &false.into()));
    let text = said(&arguments);
    assert!(text.contains("states kept between runs: 24 tensors, 12.00 MiB"), "{text}");
    assert!(text.contains("read, shared ones each time  124 668 672"), "{text}");
    assert!(!text.contains("layers.11.keys  "), "{text}");
    assert!(text.contains(" layers.10.feed_forward_residual "), "there is room for it: {text}");
    let mixture = ["inspect", "docs/example_mixture.json", "--decode", "1024"];
    let d = json(&[&mixture[..], &["--json"]].concat());
    assert_eq!(d["totals"]["active_parameters"], 71_930_112);
    let kinds = said(&[&mixture[..], &["--by", "kind"]].concat());
    for line in ["read in this run", "71 930 112", "peak of live activations"] {
        assert!(kinds.contains(line), "{line}: {kinds}");
    }
    let packed = [&mixture[..], &["--weights", "Int4", "--weight-group", "128", "--json"]].concat();
    assert_eq!(json(&packed)["totals"]["parameters"], d["totals"]["parameters"], "scales are none");
}

#[test]
fn rows_say_the_function_the_type_of_stored_weights_and_whole_names() {
    let arguments = ["inspect", "docs/example_decoder.json", "--decode", "8", "--weights", "Int8"];
    let text = said(&arguments);
    let row = |name: &str| text.lines().find(|line| line.contains(name)).unwrap().to_owned();
    assert!(row(" layers.0.q_proj ").contains("Float16, Int8 w"), "{text}");
    assert!(row("lm_head").contains(" Float16 ") && !row("lm_head").contains(" w "), "{text}");
    assert!(row(" layers.0.q.rotary ").contains("Rotate"), "{text}");
    assert!(row(" layers.0.keys.write ").contains("Scatter"), "{text}");
    assert!(row("10.feed_forward_residual ").contains(" Add "), "{text}");
    let place = tempfile::tempdir().unwrap();
    let (csv, svg) = (place.path().join("layers.csv"), place.path().join("live.svg"));
    said(&[&arguments[..], &["--csv", csv.to_str().unwrap()]].concat());
    assert!(rows(&csv).iter().any(|row| row["function"] == "Rotate"));
    let plot = ["--by", "kind", "--plot", svg.to_str().unwrap()];
    said(&[&arguments[..], &plot].concat());
    let picture = std::fs::read_to_string(&svg).unwrap();
    assert!(picture.contains("kept between runs") && picture.contains("24 states"));
}

#[test]
fn names_are_cut_only_where_the_table_would_be_too_wide() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("long.ron");
    let mut graph = analysed();
    let id = graph.operators().next().unwrap();
    graph.operator_mut(id).name = "block/".repeat(40) + "product";
    std::fs::write(&path, write_ron(&graph).unwrap()).unwrap();
    let text = said(&["inspect", path.to_str().unwrap()]);
    let ruled = text.lines().find(|line| line.starts_with('─')).unwrap();
    assert_eq!(ruled.chars().count(), 150, "{text}");
    assert!(text.contains("block/block/product"), "{text}");
}

#[test]
fn csv_says_of_each_row_what_json_says() {
    let place = tempfile::tempdir().unwrap();
    let (by_layer, by_kind) = (place.path().join("layers.csv"), place.path().join("kinds.csv"));
    let d = json(&["inspect", MODEL, "--json", "--csv", by_layer.to_str().unwrap()]);
    let layers = rows(&by_layer);
    assert_eq!(layers.len(), d["layers"].as_array().unwrap().len());
    for (row, layer) in layers.iter().zip(d["layers"].as_array().unwrap()) {
        for name in
            COUNTS.iter().chain(&["live_during_bytes", "live_after_bytes", "activation_bytes"])
        {
            assert_eq!(row[*name], layer[*name].to_string(), "{name}");
        }
        assert_eq!(row["name"], layer["name"].as_str().unwrap());
        let gemm = layer["gemm"]["k"].as_u64().map_or_else(String::new, |k| k.to_string());
        assert_eq!(row["gemm_k"], gemm);
        let functions = row.iter().filter(|(name, _)| name.starts_with("element_ops_"));
        let operations: u64 = functions.map(|(_, count)| count.parse::<u64>().unwrap()).sum();
        assert_eq!(row["element_ops"], operations.to_string());
    }
    let text = said(&["inspect", MODEL, "--by", "kind", "--csv", by_kind.to_str().unwrap()]);
    assert!(text.contains("kinds are in"), "{text}");
    let read: u64 =
        rows(&by_kind).iter().map(|row| row["parameters_read"].parse::<u64>().unwrap()).sum();
    assert_eq!(d["totals"]["parameters_read"], Value::from(read));
    let macs: u64 = rows(&by_kind).iter().map(|row| row["macs"].parse::<u64>().unwrap()).sum();
    assert_eq!(d["totals"]["macs"], macs);
}

#[test]
fn the_picture_names_the_layers_and_marks_the_peak() {
    let place = tempfile::tempdir().unwrap();
    let svg = place.path().join("live.svg");
    said(&["inspect", MODEL, "--plot", svg.to_str().unwrap()]);
    let text = std::fs::read_to_string(&svg).unwrap();
    for part in ["conv_2d_0", "live activations (KiB)", "peak 48.00 KiB in", "alive at the peak"] {
        assert!(text.contains(part), "{part}");
    }
    let png = place.path().join("new/live.png");
    said(&["inspect", MODEL, "--plot", png.to_str().unwrap()]);
    assert_eq!(&std::fs::read(&png).unwrap()[..8], b"\x89PNG\r\n\x1a\n");
    assert_eq!(std::fs::read_dir(png.parent().unwrap()).unwrap().count(), 1, "nothing beside it");
}

#[test]
fn what_makes_no_sense_is_refused_before_anything_is_written() {
    let place = tempfile::tempdir().unwrap();
    let path = |name: &str| place.path().join(name).to_str().unwrap().to_owned();
    for (arguments, message) in [
        (vec!["--plot", &path("x.pdf")], "a picture is a .png or .svg file"),
        (vec!["--csv", &path("x.txt")], "a table is a .csv file"),
        (vec!["--by", "colour"], "invalid value"),
    ] {
        let output = joulecast(&[&["inspect", MODEL], &arguments[..]].concat());
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(message), "{said}");
    }
    assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 0);
}

/// Weights that were seen, one channel of four dead, and a batch normalisation.
fn analysed() -> ModelGraph {
    let mut graph = ModelGraph::new("analysed", Layout::ChannelsLast);
    let mut add =
        |name, shape: &[u64], role| graph.add(name, shape, ElementType::Int8, role).unwrap();
    let x = add("x", &[1, 8], TensorRole::Input);
    let w = add("w", &[4, 8], TensorRole::Constant);
    let y = add("y", &[1, 4], TensorRole::Activation);
    let stored = ["scale", "shift", "mean", "variance"].map(|n| add(n, &[4], TensorRole::Constant));
    let z = add("z", &[1, 4], TensorRole::Activation);
    graph.tensor_mut(w).statistics = Some(WeightStatistics {
        zeros: 0.25,
        entropy_bits: 3.5,
        one_of_four: Some(0.0),
        two_of_four: Some(0.0),
        four_of_eight: None,
        zero_filters: 1,
    });
    let mut product = Operator::new("product", "FULLY_CONNECTED", Op::FullyConnected);
    product.live = Some(Live { channels: 3, products: 24, of: 32 });
    graph.add_operator(product, &[Some(x), Some(w)], &[y]).unwrap();
    let inputs: Vec<_> = std::iter::once(y).chain(stored).map(Some).collect();
    let norm = Operator::new("norm", "BatchNormalization", Op::BatchNormalisation);
    graph.add_operator(norm, &inputs, &[z]).unwrap();
    graph.set_outputs(vec![z]);
    graph
}

#[test]
fn dead_channels_weights_and_stored_statistics_show_where_there_are_any() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("analysed.ron");
    std::fs::write(&path, write_ron(&analysed()).unwrap()).unwrap();
    let path = path.to_str().unwrap();
    let d = json(&["inspect", path, "--json"]);
    assert_eq!((&d["totals"]["macs"], &d["totals"]["live_macs"]), (&32.into(), &24.into()));
    assert_eq!(d["totals"]["parameters"], 48);
    assert_eq!(d["totals"]["parameters_without_normalisation_statistics"], 40);
    assert_eq!(d["layers"][0]["weight_statistics"]["zero_filters"], 1);
    assert_eq!(d["layers"][1]["weight_statistics"], Value::Null);
    assert_eq!(d["totals"]["weights"]["entropy_bits"], 3.5);
    insta::assert_snapshot!("inspect_analysed", said(&["inspect", path]));
    insta::assert_snapshot!("inspect_by_kind", said(&["inspect", path, "--by", "kind"]));
    let plain = said(&["inspect", "vit_tiny"]);
    assert!(!plain.contains("zeros") && !plain.contains("statistics"), "{plain}");
}

#[test]
fn peaks_of_the_tiny_networks_are_the_published_ones() {
    let Some(shared) = shared("peaks_of_the_tiny_networks_are_the_published_ones") else { return };
    let published = rows(&shared.join("measured/model_totals.csv"));
    for (model, row) in [
        ("ad_autoencoder", "mlperf_tiny_ad01_fc_autoencoder"),
        ("kws_ds_cnn", "mlperf_tiny_kws_ds_cnn"),
        ("ic_resnet8", "mlperf_tiny_ic_resnet8"),
        ("vww_mobilenetv1_025", "mlperf_tiny_vww_mobilenet_v1_0.25_96"),
        ("sww", "mlperf_tiny_sww_streaming_1d_dscnn"),
    ] {
        let found = published.iter().find(|r| r["model"] == row).unwrap();
        assert_eq!(found["activation_unit"], "B int8, sum of live tensors");
        let memory = load(model, &Bindings::default()).unwrap().activation_memory();
        assert_eq!(memory.file.peak_bytes.to_string(), found["activation_peak"], "{model}");
        assert_eq!(memory.chosen.peak_bytes, memory.file.peak_bytes, "{model}");
        assert!(memory.is_lowest, "{model}");
    }
}

#[test]
fn no_order_of_a_real_network_is_worse_than_that_of_its_file() {
    let Some(shared) = shared("no_order_of_a_real_network_is_worse_than_that_of_its_file") else {
        return;
    };
    let mut lowered = Vec::new();
    for entry in std::fs::read_dir(shared.join("models/onnx")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|e| e == "onnx") {
            let graph = load(path.to_str().unwrap(), &Bindings::default()).unwrap();
            let memory = graph.activation_memory();
            assert!(memory.is_lowest, "{path:?}");
            let (chosen, file) = (memory.chosen.peak_bytes, memory.file.peak_bytes);
            assert!(
                chosen <= file && (chosen < file) == (memory.chosen.order != memory.file.order)
            );
            lowered.extend((chosen < file).then(|| (graph.name.clone(), chosen, file)));
        }
    }
    assert_eq!(lowered, [("light_shufflenet".to_owned(), 2_885_120, 3_110_912)]);
}
