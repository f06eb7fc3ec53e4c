//! How long a model takes to read and profile: inside the library, and as a whole process.

use divan::{Bencher, black_box};
use joulecast::model::{
    Bindings, ElementFunction, ElementType, Layout, ModelGraph, Op, Operator, TensorRole,
    import::from_bytes, read_ron, write_ron,
};
use std::path::{Path, PathBuf};
use std::process::Command;

#[path = "../tests/wire.rs"]
#[allow(dead_code)] // The tests use the rest of it.
mod wire;

fn main() {
    divan::main();
}

/// A chain of convolutions, rectifiers and shortcuts, as the bytes of an ONNX file.
fn chain(nodes: usize) -> Vec<u8> {
    let mut made = Vec::with_capacity(nodes);
    let mut before = "x".to_owned();
    for at in 0..nodes / 3 {
        let (c, r) = (format!("c{at}"), format!("r{at}"));
        let sum = if at + 1 == nodes / 3 { "y".to_owned() } else { format!("s{at}") };
        made.push(wire::node("Conv", &[&before, "w"], &[&c]));
        made.push(wire::node("Relu", &[&c], &[&r]));
        made.push(wire::node("Add", &[&r, &before], &[&sum]));
        before = sum;
    }
    let stored = [wire::stored("w", &[16, 16, 1, 1])];
    wire::model(&wire::graph(&made, &stored, &[wire::info("x", &[1, 16, 8, 8])]), &[])
}

#[divan::bench(args = [999, 9_999, 99_999])]
fn read_and_profile_onnx(bencher: Bencher<'_, '_>, nodes: usize) {
    let bytes = chain(nodes);
    let none = Bindings::default();
    bencher.bench(|| from_bytes("chain.onnx", black_box(&bytes), &none).unwrap().profile());
}

#[divan::bench(args = [999, 99_999])]
fn read_and_profile_ron(bencher: Bencher<'_, '_>, nodes: usize) {
    let graph = from_bytes("chain.onnx", &chain(nodes), &Bindings::default()).unwrap();
    let text = write_ron(&graph).unwrap();
    bencher.bench(|| read_ron("chain.ron", black_box(&text)).unwrap().profile());
}

/// Live memory, and the order that lowers its peak, of a chain with shortcuts.
#[divan::bench(args = [1_000, 100_000])]
fn order_of_a_long_network(bencher: Bencher<'_, '_>, layers: usize) {
    let mut graph = ModelGraph::new("long", Layout::ChannelsLast);
    let add = |graph: &mut ModelGraph, name: String, role| {
        graph.add(&name, &[1, 64], ElementType::Int8, role).unwrap()
    };
    let mut made = vec![add(&mut graph, "x".into(), TensorRole::Input)];
    for at in 0..layers {
        let output = add(&mut graph, format!("t{at}"), TensorRole::Activation);
        let shortcut = at.checked_sub(3).filter(|_| at % 5 == 0).map(|from| made[from]);
        let operator =
            Operator::new(format!("add{at}"), "ADD", Op::Elementwise(ElementFunction::Add));
        graph.add_operator(operator, &[Some(made[at]), shortcut], &[output]).unwrap();
        made.push(output);
    }
    graph.set_outputs(made.split_off(layers));
    bencher.bench(|| black_box(&graph).activation_memory());
}

/// Model files at hand: those of the tests, and larger ones beside the repository if they are there.
fn files() -> Vec<String> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = ["../shared/models/tflite", "../shared/models/onnx", "models/vision"];
    let inside = |folder: &str| std::fs::read_dir(here.join(folder)).into_iter().flatten();
    let paths = folders.iter().flat_map(|f| inside(f)).filter_map(|entry| Some(entry.ok()?.path()));
    let is_model = |path: &PathBuf| {
        path.extension().is_some_and(|e| e == "tflite" || e == "onnx" || e == "ron")
    };
    let mut files: Vec<_> =
        paths.filter(is_model).map(|path| path.to_string_lossy().into_owned()).collect();
    files.sort();
    files
}

fn inspect(path: &str) {
    let binary = env!("CARGO_BIN_EXE_joulecast");
    let output = Command::new(binary).args(["inspect", path]).output().unwrap();
    assert!(output.status.success());
}

#[divan::bench(args = files(), sample_count = 10)]
fn whole_process(path: &str) {
    inspect(path);
}

#[divan::bench(sample_count = 3, sample_size = 1)]
fn whole_process_of_a_long_network(bencher: Bencher<'_, '_>) {
    let path = std::env::temp_dir().join(format!("joulecast-bench-{}.onnx", std::process::id()));
    std::fs::write(&path, chain(99_999)).unwrap();
    bencher.bench_local(|| inspect(&path.to_string_lossy()));
    std::fs::remove_file(path).unwrap();
}
