//! Small ONNX files, each against counts that were worked out apart from the importer. How they were
//! made stands in `fixtures/onnx/make.py`.

use joulecast::model::{
    Bindings, Layer, ModelError, ModelGraph, OpKind, Shape, load, read_ron, total_macs, write_ron,
};
use std::collections::BTreeMap;
use std::path::PathBuf;

type Row = BTreeMap<String, String>;

fn folder() -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "tests", "fixtures", "onnx"].iter().collect()
}

fn table(name: &str) -> Vec<Row> {
    let mut reader = csv::Reader::from_path(folder().join(name)).unwrap();
    reader.deserialize().map(|row| row.unwrap()).collect()
}

fn bindings(text: &str) -> Bindings {
    let pair = |pair: &str| {
        let (symbol, value) = pair.split_once('=').unwrap();
        (symbol.to_owned(), value.parse().unwrap())
    };
    Bindings(text.split_whitespace().map(pair).collect())
}

fn read(file: &str, bind: &str) -> Result<ModelGraph, ModelError> {
    let path = folder().join(format!("{file}.onnx"));
    load(path.to_str().unwrap(), &bindings(bind))
}

fn assert_row(layer: &Layer, row: &Row) {
    let number = |column: &str| row[column].parse::<u64>().unwrap();
    let counted = row["counted"] == "yes";
    if !row["node"].is_empty() {
        assert_eq!(layer.name, row["node"], "{row:?}");
    }
    assert_eq!(layer.native, row["op"], "{row:?}");
    assert_eq!(layer.work.macs, number("macs"), "{row:?}");
    assert_eq!(layer.work.kind != OpKind::Opaque, counted, "{row:?} {:?}", layer.work.kind);
    match layer.output_shape.as_ref().map(Shape::to_string) {
        Some(shape) => assert_eq!(shape, row["shape"], "{row:?}"),
        None => assert!(!counted, "{row:?} has no shape"),
    }
    if counted {
        assert_eq!(layer.work.parameters, number("parameters"), "{row:?}");
    }
}

/// Notes on folding and bindings come with every file that has any.
fn is_expected(note: &str) -> bool {
    note.ends_with("folded") || note.starts_with("dimension `")
}

#[test]
fn every_file_has_the_shapes_work_and_parameters_that_were_worked_out_for_it() {
    let mut rows: BTreeMap<String, Vec<Row>> = BTreeMap::new();
    for row in table("expected.csv") {
        rows.entry(row["file"].clone()).or_default().push(row);
    }
    let files = table("files.csv");
    assert!(files.len() > 90, "{} files", files.len());
    for file in &files {
        let name = &file["file"];
        let graph = read(name, &file["bind"]).unwrap_or_else(|e| panic!("{name}: {e}"));
        let layers = graph.layers().unwrap();
        let expected = &rows[name];
        let found: Vec<_> = layers.iter().map(|layer| &layer.name).collect();
        assert_eq!(layers.len(), expected.len(), "{name}: {found:?}");
        for (layer, row) in layers.iter().zip(expected) {
            assert_row(layer, row);
        }
    }
}

#[test]
fn every_file_earns_the_notes_stated_for_it_and_no_others() {
    for file in table("files.csv") {
        let name = &file["file"];
        if name.starts_with("external_") {
            continue;
        }
        let graph = read(name, &file["bind"]).unwrap();
        let wanted: Vec<_> = file["notes"].split(" | ").filter(|n| !n.is_empty()).collect();
        let earned: Vec<_> = graph.notes.iter().filter(|note| !is_expected(note)).collect();
        assert_eq!(earned.len(), wanted.len(), "{name}: {earned:?}");
        for (note, start) in earned.iter().zip(wanted) {
            assert!(note.starts_with(start), "{name}: `{note}` is not `{start}`");
        }
    }
}

#[test]
fn every_file_survives_its_ron_form() {
    for file in table("files.csv") {
        let graph = read(&file["file"], &file["bind"]).unwrap();
        let again = read_ron("again.ron", &write_ron(&graph).unwrap())
            .unwrap_or_else(|e| panic!("{}: {e}", file["file"]));
        assert_eq!(again.layers().unwrap(), graph.layers().unwrap(), "{}", file["file"]);
    }
}

#[test]
fn one_network_counts_the_same_in_every_version_of_the_operators() {
    let work = |opset: u32| {
        let graph = read(&format!("network_{opset:02}"), "").unwrap();
        let layers = graph.layers().unwrap();
        let operations: u64 = layers.iter().map(|layer| layer.work.element_ops).sum();
        let written: u64 = layers.iter().map(|layer| layer.work.output_bytes).sum();
        (layers.len(), total_macs(&layers), operations, written)
    };
    for opset in [9, 11, 13, 15, 17, 19, 21, 22] {
        assert_eq!(work(opset), work(7), "version {opset}");
    }
    assert!(work(7).1 > 0);
}

#[test]
fn a_symbol_that_matters_has_to_be_bound_and_another_need_not_be() {
    for (file, symbol) in [("symbolic_batch", "N"), ("unnamed_batch", "x_dim0")] {
        let error = read(file, "").unwrap_err();
        let ModelError::UnboundSymbol { symbols, .. } = &error else { panic!("{error}") };
        assert_eq!(symbols[0].0, symbol);
        assert!(error.to_string().contains(&format!("--bind {symbol}=1")), "{error}");
    }
    let error = read("transformer_fused", "batch=1").unwrap_err();
    assert!(error.to_string().contains("dimension `sequence` of `x` has no value"), "{error}");
    assert!(read("symbol_that_does_not_matter", "").is_ok());
}

#[test]
fn work_grows_with_what_is_bound() {
    let macs = |bind| total_macs(&read("transformer_fused", bind).unwrap().layers().unwrap());
    let (one, two) = (macs("batch=1 sequence=8"), macs("batch=2 sequence=8"));
    assert_eq!(two, 2 * one);
    // Twice the length is more than twice the work: scores grow with its square.
    assert_eq!(macs("batch=1 sequence=16") - 2 * one, 2 * 2 * (16 * 16 - 2 * 8 * 8) * 2);
}
