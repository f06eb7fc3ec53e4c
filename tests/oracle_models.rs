//! Importers against counts made by other tools from the same files.

use crate::shared::folder as shared;
use joulecast::model::{
    Bindings, ElementType, Layer, ModelGraph, Shape, TensorRole, import, load, read_ron,
    stored_parameters, write_ron,
};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

type Row = BTreeMap<String, String>;

fn rows(path: &Path) -> Vec<Row> {
    let mut reader = csv::Reader::from_path(path).unwrap_or_else(|e| panic!("{path:?}: {e}"));
    reader.deserialize().map(|row| row.unwrap_or_else(|e| panic!("{path:?}: {e}"))).collect()
}

fn number(row: &Row, column: &str) -> u64 {
    row[column].parse().unwrap_or_else(|e| panic!("{column} of {row:?}: {e}"))
}

fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut found: Vec<_> =
        entries.filter(|path| path.extension().is_some_and(|e| e == extension)).collect();
    found.sort();
    found
}

fn hash(path: &Path) -> String {
    let digest = Sha256::digest(std::fs::read(path).unwrap());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn read(path: &Path) -> (ModelGraph, Vec<Layer>) {
    let graph = load(path.to_str().unwrap(), &Bindings::default())
        .unwrap_or_else(|e| panic!("{path:?}: {e}"));
    let layers = graph.layers().unwrap();
    (graph, layers)
}

fn macs(layers: &[Layer]) -> u64 {
    layers.iter().map(|layer| layer.work.macs).sum()
}

/// The file of a folder with this hash.
fn with_hash<'a>(hashes: &'a BTreeMap<String, PathBuf>, row: &Row) -> &'a Path {
    hashes.get(&row["sha256"]).unwrap_or_else(|| panic!("no file for {row:?}"))
}

fn hashes(paths: Vec<PathBuf>) -> BTreeMap<String, PathBuf> {
    paths.into_iter().map(|path| (hash(&path), path)).collect()
}

#[test]
fn tflite_files_count_as_the_reference_counts_them() {
    let Some(shared) = shared("tflite_files_count_as_the_reference_counts_them") else { return };
    let files = hashes(files(&shared.join("models/tflite"), "tflite"));
    let totals = rows(&shared.join("oracles/tflite/totals.csv"));
    assert_eq!(totals.len(), 5);
    for total in &totals {
        let (graph, layers) = read(with_hash(&files, total));
        let name = &total["file"];
        assert_eq!(layers.len() as u64, number(total, "ops"), "{name}");
        assert_eq!(macs(&layers), number(total, "macs_conv_dw_fc"), "{name}");
        assert_eq!(stored_bytes(&graph), number(total, "const_bytes"), "{name}");
        assert!(graph.notes.iter().all(|note| note.contains("is open in dimension")), "{name}");
        let expected = rows(&shared.join(format!("oracles/tflite/{name}.ops.csv")));
        assert_eq!(expected.len(), layers.len());
        for (layer, row) in layers.iter().zip(&expected) {
            assert_layer(layer, row, name);
        }
    }
}

/// Bytes of all constants that an operator reads, each counted once.
fn stored_bytes(graph: &ModelGraph) -> u64 {
    let constants = graph.tensors().map(|id| graph.tensor(id));
    constants.filter(|t| t.role == TensorRole::Constant).filter_map(|t| t.bytes()).sum()
}

fn assert_layer(layer: &Layer, row: &Row, file: &str) {
    let work = &layer.work;
    assert_eq!(layer.native, row["op"], "{file}: {row:?}");
    assert_eq!(layer.output_shape.as_ref().unwrap().to_string(), row["out0_shape"]);
    assert_eq!(work.macs, number(row, "macs"), "{file}: {row:?}");
    assert_eq!(work.weight_bytes, number(row, "const_bytes"), "{file}: {row:?}");
    assert_eq!(work.input_bytes, number(row, "act_in_bytes"), "{file}: {row:?}");
    assert_eq!(work.output_bytes, number(row, "act_out_bytes"), "{file}: {row:?}");
}

/// Shipped networks with their rows in the table of totals. The first row of a name is the derived
/// one.
const PUBLISHED: [(&str, &str); 8] = [
    ("ad_autoencoder", "mlperf_tiny_ad01_fc_autoencoder"),
    ("kws_ds_cnn", "mlperf_tiny_kws_ds_cnn"),
    ("ic_resnet8", "mlperf_tiny_ic_resnet8"),
    ("vww_mobilenetv1_025", "mlperf_tiny_vww_mobilenet_v1_0.25_96"),
    ("sww", "mlperf_tiny_sww_streaming_1d_dscnn"),
    ("mobilenet_v2", "mobilenet_v2_1.0_224"),
    ("resnet50", "resnet50_v1.5_224"),
    ("vit_tiny", "vit_tiny_patch16_224"),
];

#[test]
fn shipped_networks_have_the_totals_of_the_table() {
    let Some(shared) = shared("shipped_networks_have_the_totals_of_the_table") else { return };
    let table = rows(&shared.join("measured/model_totals.csv"));
    let named = |name: &str| table.iter().find(|row| row["model"] == name).unwrap();
    for (model, name) in PUBLISHED {
        let (graph, row) = (load(model, &Bindings::default()).unwrap(), named(name));
        assert_eq!(macs(&graph.layers().unwrap()), number(row, "macs"), "{model}");
        assert_eq!(stored_parameters(&graph), number(row, "params"), "{model}");
    }
    // Published to two digits: 8.7 GFLOP at two to a MAC, 3.2 million parameters.
    let (graph, row) = (load("yolov8n", &Bindings::default()).unwrap(), named("yolov8n_640"));
    let near = |found: u64, column: &str, tolerance: f64| {
        let stated: f64 = row[column].parse().unwrap();
        assert!((found as f64 / stated - 1.0).abs() < tolerance, "{found} against {stated}");
    };
    near(macs(&graph.layers().unwrap()), "macs", 0.05 / 8.7);
    near(stored_parameters(&graph), "params", 0.05 / 3.2);
}

#[test]
fn live_macs_are_those_of_the_independent_count() {
    let Some(shared) = shared("live_macs_are_those_of_the_independent_count") else { return };
    let files = hashes(files(&shared.join("models/tflite"), "tflite"));
    let counted = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/live_macs");
    let mut totals = BTreeMap::new();
    for row in rows(&counted.join("live_macs.csv")) {
        let path = with_hash(&files, &row);
        let work = &read(path).1[number(&row, "operator") as usize].work;
        let found = (work.macs, work.live_macs);
        assert_eq!(found, (number(&row, "macs"), number(&row, "live_macs")), "{path:?}: {row:?}");
        let total = totals.entry(path.file_stem().unwrap().to_owned()).or_insert((0, 0));
        *total = (total.0 + found.0, total.1 + found.1);
    }
    assert_eq!(totals.len(), 5);
    for (name, (macs, live)) in &totals {
        let dead = name == "vww_mobilenet96_int8";
        assert_eq!(dead, live < macs, "{name:?}: {live} of {macs}");
    }
    assert_eq!(totals[std::ffi::OsStr::new("vww_mobilenet96_int8")], (7_489_664, 3_742_091));
}

#[test]
fn float_variants_have_the_work_of_their_quantised_ones() {
    let Some(shared) = shared("float_variants_have_the_work_of_their_quantised_ones") else {
        return;
    };
    for name in ["ic_resnet8", "kws_dscnn", "vww_mobilenet96"] {
        let one = |kind| read(&shared.join(format!("models/tflite/{name}_{kind}.tflite"))).1;
        let (float, int8) = (one("float"), one("int8"));
        assert_eq!(macs(&float), macs(&int8), "{name}");
        assert!(float.iter().all(|layer| layer.work.element == ElementType::Float32), "{name}");
        assert!(int8.iter().all(|layer| layer.work.element == ElementType::Int8), "{name}");
    }
}

#[test]
fn onnx_files_count_as_the_reference_counts_them() {
    let Some(shared) = shared("onnx_files_count_as_the_reference_counts_them") else { return };
    let files = hashes(files(&shared.join("models/onnx"), "onnx"));
    let totals = rows(&shared.join("oracles/onnx_macs.csv"));
    assert_eq!(totals.len(), 9);
    for total in &totals {
        let (graph, layers) = read(with_hash(&files, total));
        let name = &total["model"];
        assert_eq!(macs(&layers), number(total, "macs_conv_gemm_matmul"), "{name}");
        assert_eq!(parameters(&graph), number(total, "params_const_folded"), "{name}");
        assert_eq!(graph.notes.len(), 1, "{name}: {:?}", graph.notes);
        let expected = rows(&shared.join(format!("oracles/onnx_layers/{name}.csv")));
        assert_onnx_layers(&layers, &expected, name);
    }
}

/// Elements of all stored weights, each counted once; indices of reshapes are no parameters.
fn parameters(graph: &ModelGraph) -> u64 {
    let constants = graph.tensors().map(|id| graph.tensor(id));
    constants
        .filter(|t| t.role == TensorRole::Constant && t.element == ElementType::Float32)
        .filter_map(|t| t.elements())
        .sum()
}

fn assert_onnx_layers(layers: &[Layer], expected: &[Row], file: &str) {
    let counted: Vec<_> = layers.iter().filter(|layer| layer.work.macs > 0).collect();
    assert_eq!(counted.len(), expected.len(), "{file}");
    for (layer, row) in counted.iter().zip(expected) {
        assert_eq!(layer.name, row["name"], "{file}: {row:?}");
        assert_eq!(layer.native, row["op"], "{file}: {row:?}");
        let shape = layer.output_shape.as_ref().map(Shape::to_string);
        assert_eq!(shape.as_ref(), Some(&row["out_shape"]), "{file}: {row:?}");
        assert_eq!(layer.work.macs, number(row, "macs"), "{file}: {row:?}");
    }
}

#[test]
fn every_imported_graph_survives_its_ron_form() {
    let Some(shared) = shared("every_imported_graph_survives_its_ron_form") else { return };
    let mut all = files(&shared.join("models/tflite"), "tflite");
    all.extend(files(&shared.join("models/onnx"), "onnx"));
    for path in all {
        let (graph, layers) = read(&path);
        let again = read_ron("again.ron", &write_ron(&graph).unwrap()).unwrap();
        assert_eq!(again.layers().unwrap(), layers, "{path:?}");
    }
}

#[test]
fn a_file_cut_anywhere_is_an_error_or_a_graph() {
    let Some(shared) = shared("a_file_cut_anywhere_is_an_error_or_a_graph") else { return };
    let bindings = Bindings::default();
    for (file, step) in [("tflite/kws_dscnn_int8.tflite", 7), ("onnx/light_bvlc_alexnet.onnx", 1)] {
        let bytes = std::fs::read(shared.join("models").join(file)).unwrap();
        for length in (0..bytes.len()).step_by(step) {
            // A graph that comes out of it must at least be sound.
            if let Ok(graph) = import::from_bytes(file, &bytes[..length], &bindings) {
                graph.layers().unwrap();
            }
        }
        assert!(import::from_bytes(file, &bytes, &bindings).is_ok());
    }
}

#[test]
fn a_file_with_any_byte_changed_is_an_error_or_a_graph() {
    let Some(shared) = shared("a_file_with_any_byte_changed_is_an_error_or_a_graph") else {
        return;
    };
    let bindings = Bindings::default();
    for file in ["tflite/kws_dscnn_int8.tflite", "onnx/light_bvlc_alexnet.onnx"] {
        let mut bytes = std::fs::read(shared.join("models").join(file)).unwrap();
        for at in (0..bytes.len()).step_by(331) {
            let kept = bytes[at];
            for value in [0, kept ^ 0x80, kept.wrapping_add(1), 0xff] {
                bytes[at] = value;
                if let Ok(graph) = import::from_bytes(file, &bytes, &bindings) {
                    graph.layers().unwrap();
                }
            }
            bytes[at] = kept;
        }
    }
}
