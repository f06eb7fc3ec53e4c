//! Operators of ONNX Runtime that are several in one.

use super::*;
use crate::model::{ElementType, Layer, total_macs, total_parameters};

fn vendor(op_type: &str, inputs: &[&str], outputs: &[&str]) -> Node {
    Node { domain: "com.microsoft".into(), ..node(op_type, inputs, outputs) }
}

fn with_float(mut node: Node, name: &str, float: f32) -> Node {
    node.attributes.push(Attribute { name: name.into(), float, ..Attribute::default() });
    node
}

fn with_text(mut node: Node, name: &str, text: &'static str) -> Node {
    let text = text.into();
    node.attributes.push(Attribute { name: name.into(), text, ..Attribute::default() });
    node
}

fn network(nodes: Vec<Node>, inputs: &[(&str, &[&str])], initializers: Vec<Tensor>) -> Graph {
    Graph {
        nodes,
        initializers,
        inputs: inputs.iter().map(|(name, dims)| info(name, FLOAT, dims)).collect(),
        outputs: vec![unknown("y")],
        ..Graph::default()
    }
}

fn read(graph: Graph) -> (ModelGraph, Vec<Layer>) {
    let graph = load(graph, &[]).unwrap_or_else(|e| panic!("{e}"));
    let layers = graph.layers().unwrap();
    (graph, layers)
}

fn operations(layers: &[Layer]) -> Vec<(&str, u64)> {
    layers.iter().map(|layer| (layer.native.as_str(), layer.work.element_ops)).collect()
}

#[test]
fn what_skips_a_layer_is_added_before_its_normalisation() {
    let floats = |name: &str| stored(name, FLOAT, &[6]);
    let inputs = ["x", "s", "g", "b", "c"];
    let skip = vendor("SkipLayerNormalization", &inputs, &["h", "", "", "sum"]);
    let next = vendor("SkipSimplifiedLayerNormalization", &["h", "sum", "g"], &["y"]);
    let x: &[&str] = &["1", "5", "6"];
    let stored = vec![floats("g"), floats("b"), floats("c")];
    let (graph, layers) = read(network(vec![skip, next], &[("x", x), ("s", x)], stored));
    assert_eq!((shape(&graph, "sum"), shape(&graph, "y")), ("1x5x6".into(), "1x5x6".into()));
    let expected = [
        ("Add", 30),
        ("Add", 30),
        ("LayerNormalization", 5 * 30),
        ("Add", 30),
        ("SimplifiedLayerNormalization", 5 * 30),
    ];
    assert_eq!(operations(&layers), expected);
    assert!(graph.notes.is_empty(), "{:?}", graph.notes);
    assert_eq!(layers[2].name, "SkipLayerNormalization_0", "the operator keeps its name");
    assert_eq!(total_parameters(&layers), 4 * 6);
}

#[test]
fn what_is_added_to_a_convolution_and_factors_of_products_count() {
    let convolution = with_ints(
        with_text(vendor("FusedConv", &["x", "w", "b", "z"], &["y"]), "activation", "Relu"),
        "pads",
        &[1, 1, 1, 1],
    );
    let weights = vec![stored("w", FLOAT, &[8, 4, 3, 3]), stored("b", FLOAT, &[8])];
    let (x, z): (&[&str], &[&str]) = (&["1", "4", "5", "5"], &["1", "8", "5", "5"]);
    let (graph, layers) = read(network(vec![convolution], &[("x", x), ("z", z)], weights));
    let expected = [("com.microsoft::FusedConv", 0), ("Add", 200), ("Relu", 200)];
    assert_eq!(operations(&layers), expected);
    assert_eq!((shape(&graph, "y"), total_macs(&layers)), ("1x8x5x5".into(), 200 * 36));

    let product = with_float(vendor("FusedMatMul", &["x", "z"], &["y"]), "alpha", 0.125);
    let two: &[(&str, &[&str])] = &[("x", &["3", "5"]), ("z", &["5", "4"])];
    let (_, layers) = read(network(vec![product.clone()], two, vec![]));
    assert_eq!(operations(&layers), [("com.microsoft::FusedMatMul", 0), ("Mul", 12)]);
    let plain = with_float(vendor("FusedMatMul", &["x", "z"], &["y"]), "alpha", 1.0);
    assert_eq!(read(network(vec![plain], two, vec![])).1.len(), 1);
    // A stored bias is scaled once, before the first run.
    let gemm = with_float(node("Gemm", &["x", "z", "c"], &["y"]), "beta", 2.0);
    let (_, layers) = read(network(vec![gemm], two, vec![stored("c", FLOAT, &[4])]));
    assert_eq!((operations(&layers), total_parameters(&layers)), (vec![("Gemm", 0)], 4));
}

#[test]
fn the_first_layer_of_a_language_model_is_rows_added_up_and_normalised() {
    let inputs = ["words", "segments", "w", "p", "s", "g", "b", "mask"];
    let embedding = vendor("EmbedLayerNormalization", &inputs, &["y", "lengths"]);
    let tables = [("w", 100), ("p", 16), ("s", 2)].map(|(n, rows)| stored(n, FLOAT, &[rows, 8]));
    let mut tables = tables.to_vec();
    tables.extend([stored("g", FLOAT, &[8]), stored("b", FLOAT, &[8])]);
    let mut graph = network(vec![embedding], &[], tables);
    graph.inputs = ["words", "segments", "mask"].map(|n| info(n, 6, &["1", "7"])).to_vec();
    graph.outputs.push(unknown("lengths"));
    let (graph, layers) = read(graph);
    let kinds: Vec<_> = layers.iter().map(|layer| layer.native.as_str()).collect();
    let expected = ["Gather", "Gather", "Add", "Gather", "Add", "LayerNormalization", "ReduceSum"];
    assert_eq!(kinds, expected);
    assert_eq!((shape(&graph, "y"), shape(&graph, "lengths")), ("1x7x8".into(), "1".into()));
    assert_eq!(total_parameters(&layers), 118 * 8 + 16);
}

/// Bytes of packed weights without their numbers.
fn packed(dims: &[i64]) -> Tensor {
    stored("w", UINT8, dims)
}

fn blocked(bits: i64, depth: i64, block: i64) -> Node {
    let node = vendor("MatMulNBits", &["x", "w", "s", "z", "", "b"], &["y"]);
    let settings = [("K", depth), ("N", 6), ("bits", bits), ("block_size", block)];
    settings.into_iter().fold(node, |node, (name, int)| with_int(node, name, int))
}

#[test]
fn packed_weights_of_few_bits_are_the_matrix_they_stand_for() {
    let x: &[(&str, &[&str])] = &[("x", &["2", "3", "64"])];
    let side =
        || vec![stored("s", FLOAT, &[6, 2]), stored("z", UINT8, &[6, 1]), stored("b", FLOAT, &[6])];
    for (bits, blob, bytes) in [(4, 16, 32), (8, 32, 64)] {
        let mut stored = side();
        stored.push(packed(&[6, 2, blob]));
        let (graph, layers) = read(network(vec![blocked(bits, 64, 32)], x, stored));
        let work = &layers[0].work;
        assert_eq!((shape(&graph, "y"), work.kind), ("2x3x6".into(), OpKind::FullyConnected));
        assert_eq!((work.macs, work.parameters), (6 * 6 * 64, 6 * 64 + 6));
        assert_eq!(work.weight_bytes, 6 * bytes + 12 * 4 + 6 + 6 * 4);
        let weights = graph.tensor(graph.tensor_named("w").unwrap());
        let element = if bits == 4 { ElementType::Int4 } else { ElementType::Int8 };
        assert_eq!((shape(&graph, "w"), weights.element), ("6x64".into(), element));
        assert!(graph.notes.is_empty(), "{:?}", graph.notes);
    }
    // Padded to whole blocks, and of a width that is not read.
    let mut stored = side();
    stored.push(packed(&[6, 2, 16]));
    let narrower: &[(&str, &[&str])] = &[("x", &["1", "60"])];
    let (_, layers) = read(network(vec![blocked(4, 60, 32)], narrower, stored.clone()));
    assert_eq!(layers[0].work.macs, 6 * 60);
    let (graph, layers) = read(network(vec![blocked(2, 64, 32)], x, stored));
    assert_eq!(layers[0].work.kind, OpKind::Opaque);
    assert!(graph.notes[0].contains("MatMulNBits` (1 of them)"), "{:?}", graph.notes);
}

#[test]
fn the_zeros_of_packed_weights_are_those_of_their_middle() {
    let mut node = blocked(4, 32, 32);
    node.inputs.truncate(3);
    let mut weights = packed(&[6, 1, 16]);
    // The first row is all in the middle, the others are half of it.
    let rows = [[0x88u8; 16], [0x81; 16], [0x81; 16], [0x81; 16], [0x81; 16], [0x81; 16]];
    weights.raw_data = rows.concat().into();
    let x: &[(&str, &[&str])] = &[("x", &["1", "32"])];
    let (graph, _) = read(network(vec![node], x, vec![weights, stored("s", FLOAT, &[6, 1])]));
    let found = graph.tensor(graph.tensor_named("w").unwrap()).statistics.unwrap();
    assert_eq!(found.zero_filters, 1);
    assert!((found.zeros - 7.0 / 12.0).abs() < 1e-6, "{found:?}");
}

#[test]
fn rows_of_packed_weights_are_picked_and_dequantised() {
    let pick = vendor("GatherBlockQuantized", &["w", "i", "s"], &["y"]);
    let pick = with_int(with_int(pick, "block_size", 16), "bits", 4);
    let tables = vec![packed(&[50, 16]), stored("s", FLOAT, &[50, 2])];
    let mut graph = network(vec![pick], &[], tables);
    graph.inputs = vec![info("i", INT64, &["3"])];
    let (graph, layers) = read(graph);
    let kinds: Vec<_> = layers.iter().map(|layer| layer.work.kind).collect();
    assert_eq!(kinds, [OpKind::Movement, OpKind::Movement, OpKind::Convert]);
    assert_eq!((shape(&graph, "w"), shape(&graph, "y")), ("50x32".into(), "3x32".into()));
    assert_eq!(layers[0].work.weight_bytes, 3 * 16, "three rows of four bits");
    assert_eq!(graph.tensor(graph.tensor_named("y").unwrap()).element, ElementType::Float32);
}
