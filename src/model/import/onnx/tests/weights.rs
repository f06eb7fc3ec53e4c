use super::*;
use crate::model::{ModelGraph, WeightStatistics, load as load_file, total_live_macs, total_macs};

fn floats(name: &str, dims: &[i64], values: &[f32]) -> Tensor {
    let raw_data = values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>().into();
    Tensor { raw_data, ..stored(name, FLOAT, dims) }
}

fn bytes(name: &str, data_type: i32, dims: &[i64], values: &[i8]) -> Tensor {
    let raw_data = values.iter().map(|v| v.to_le_bytes()[0]).collect::<Vec<u8>>().into();
    Tensor { raw_data, ..stored(name, data_type, dims) }
}

fn statistics(graph: &ModelGraph, layer: usize) -> Option<WeightStatistics> {
    let id = graph.operators().nth(layer).unwrap();
    let filter = graph.inputs(id).get(1).copied().flatten()?;
    graph.tensor(filter).statistics
}

fn product(node: Node, weights: Tensor) -> Graph {
    Graph {
        nodes: vec![node],
        initializers: vec![weights],
        inputs: vec![info("x", FLOAT, &["1", "2"])],
        outputs: vec![unknown("y")],
        ..Graph::default()
    }
}

#[test]
fn filters_are_found_whichever_way_they_are_stored() {
    // The second of three outputs has no weight.
    let [rows, columns] = [[1.0, 2.0, 0.0, 0.0, 0.0, 3.0], [1.0, 0.0, 0.0, 2.0, 0.0, 3.0]];
    let turned = with_int(node("Gemm", &["x", "w"], &["y"]), "transB", 1);
    let plain = node("Gemm", &["x", "w"], &["y"]);
    let by_name = node("MatMul", &["x", "w"], &["y"]);
    for (node, dims, values) in
        [(turned, [3, 2], rows), (plain, [2, 3], columns), (by_name, [2, 3], columns)]
    {
        let graph = load(product(node, floats("w", &dims, &values)), &[]).unwrap();
        let found = statistics(&graph, 0).unwrap();
        assert_eq!((found.zeros, found.zero_filters), (0.5, 1), "{dims:?}");
        let layers = graph.layers().unwrap();
        assert_eq!((total_macs(&layers), total_live_macs(&layers)), (6, 4));
    }
}

#[test]
fn data_that_stand_on_their_side_are_multiplied_and_not_followed() {
    let mut graph = product(
        with_int(node("Gemm", &["x", "w"], &["y"]), "transA", 1),
        floats("w", &[2, 3], &[1.0, 0.0, 0.0, 2.0, 0.0, 3.0]),
    );
    graph.inputs = vec![info("x", FLOAT, &["2", "5"])];
    let layers = load(graph, &[]).unwrap().layers().unwrap();
    assert_eq!((total_macs(&layers), total_live_macs(&layers)), (5 * 2 * 3, 5 * 2 * 3));
    assert_eq!(layers[0].work.kind, OpKind::FullyConnected);
}

#[test]
fn a_channel_that_is_scaled_by_nothing_is_dead() {
    let mut graph = one_convolution("1");
    let ones = |name: &str, values: &[f32]| floats(name, &[16], values);
    let mut scale = [1.0; 16];
    scale[3] = 0.0;
    graph.nodes.push(node("BatchNormalization", &["y", "s", "b", "m", "v"], &["n"]));
    graph.nodes.push(node("Conv", &["n", "u"], &["z"]));
    graph.initializers.extend([ones("s", &scale), stored("u", FLOAT, &[2, 16, 1, 1])]);
    graph.initializers.extend(["b", "m", "v"].map(|name| ones(name, &[1.0; 16])));
    graph.initializers[2] = floats("u", &[2, 16, 1, 1], &[1.0; 32]);
    graph.outputs = vec![unknown("z")];
    let layers = load(graph, &[]).unwrap().layers().unwrap();
    assert_eq!((layers[2].work.macs, layers[2].work.live_macs), (64 * 32, 64 * 30));
}

#[test]
fn weights_are_followed_through_a_transposition_and_a_dequantisation() {
    let mut graph = product(node("MatMul", &["x", "t"], &["y"]), stored("unused", FLOAT, &[1]));
    let dequantise = node("DequantizeLinear", &["w", "s", "z"], &["d"]);
    graph.nodes.insert(0, node("Transpose", &["d"], &["t"]));
    graph.nodes.insert(0, with_int(dequantise, "axis", 0));
    graph.initializers = vec![
        // Zero points differ by output: the second output is all zero.
        bytes("w", INT8, &[3, 2], &[1, 2, 5, 5, 0, 3]),
        floats("s", &[3], &[0.1, 0.1, 0.1]),
        bytes("z", INT8, &[3], &[0, 5, 0]),
    ];
    let loaded = load(graph, &[]).unwrap();
    let layers = loaded.layers().unwrap();
    assert_eq!(layers.len(), 1, "the rest is folded");
    let found = statistics(&loaded, 0).unwrap();
    assert_eq!((found.zero_filters, total_live_macs(&layers)), (1, 4));
}

#[test]
fn weights_that_a_file_only_describes_have_no_statistics() {
    let graph = load(one_convolution("1"), &[]).unwrap();
    assert_eq!(statistics(&graph, 0), None);
    let layers = graph.layers().unwrap();
    assert_eq!(total_live_macs(&layers), total_macs(&layers));
}

/// A product whose weights are said to stand in another file.
fn beside(location: &str) -> Graph {
    let entry = |key: &str, value: &str| Entry { key: key.into(), value: value.into() };
    let weights = Tensor {
        data_location: 1,
        external_data: vec![entry("location", location), entry("offset", "4")],
        ..stored("w", FLOAT, &[2, 3])
    };
    product(node("MatMul", &["x", "w"], &["y"]), weights)
}

#[test]
fn weights_beside_the_model_are_read_and_never_outside_its_folder() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("model");
    std::fs::create_dir(&folder).unwrap();
    let numbers = [9.0f32, 1.0, 0.0, 0.0, 2.0, 0.0, 3.0].map(f32::to_le_bytes).concat();
    std::fs::write(folder.join("w.bin"), &numbers).unwrap();
    std::fs::write(place.path().join("w.bin"), &numbers).unwrap();
    let read = |location: &str| {
        let path = folder.join("m.onnx");
        std::fs::write(&path, encoded(beside(location))).unwrap();
        let graph = load_file(path.to_str().unwrap(), &Bindings::default()).unwrap();
        assert_eq!(total_macs(&graph.layers().unwrap()), 6, "counted in any case");
        (statistics(&graph, 0), graph.notes)
    };
    let (found, notes) = read("w.bin");
    assert_eq!((found.unwrap().zero_filters, notes), (1, vec![]));
    let (found, notes) = read("missing.bin");
    assert!(
        found.is_none() && notes[0].contains("`missing.bin`, which is not beside"),
        "{notes:?}"
    );
    let outside = place.path().join("w.bin");
    for location in ["../w.bin", outside.to_str().unwrap(), "./x/../../w.bin", ""] {
        let (found, notes) = read(location);
        assert!(found.is_none() && notes[0].contains("are not read"), "{location}: {notes:?}");
    }
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(&outside, folder.join("link.bin")).unwrap();
        let (found, notes) = read("link.bin");
        assert!(found.is_none() && notes[0].contains("are not read"), "{notes:?}");
    }
}

#[test]
fn bytes_that_come_from_nowhere_have_nothing_beside_them() {
    // Under this name there is a file in the folder that tests run in.
    let graph = load(beside("Cargo.toml"), &[]).unwrap();
    assert_eq!(statistics(&graph, 0), None);
    assert!(graph.notes[0].contains("`Cargo.toml`, which is not beside"), "{:?}", graph.notes);
    assert_eq!(total_macs(&graph.layers().unwrap()), 6);
}
