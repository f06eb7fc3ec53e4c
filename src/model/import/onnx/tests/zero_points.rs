//! What stands for zero in quantised weights, wherever an operator has it.

use super::*;
use crate::model::{WeightStatistics, total_live_macs};

const UINT4: i32 = 21;
const INT4: i32 = 22;

fn bytes(name: &str, data_type: i32, dims: &[i64], values: &[i8]) -> Tensor {
    let raw_data = values.iter().map(|v| v.to_le_bytes()[0]).collect::<Vec<u8>>().into();
    Tensor { raw_data, ..stored(name, data_type, dims) }
}

fn network(nodes: Vec<Node>, input: i32, mut initializers: Vec<Tensor>) -> ModelGraph {
    for name in ["xs", "ws"] {
        initializers.push(stored(name, FLOAT, &[]));
    }
    initializers.push(stored("xz", UINT8, &[]));
    let outputs = nodes.iter().map(|node| unknown(&node.outputs[0]));
    let graph = Graph {
        outputs: outputs.skip(nodes.len() - 1).collect(),
        inputs: vec![info("x", input, &["1", "2"])],
        initializers,
        nodes,
        ..Graph::default()
    };
    load(graph, &[]).unwrap_or_else(|e| panic!("{e}"))
}

fn statistics(graph: &ModelGraph, layer: usize) -> Option<WeightStatistics> {
    let id = graph.operators().nth(layer).unwrap();
    graph.tensor(graph.inputs(id).get(1).copied().flatten()?).statistics
}

fn zero_filters(graph: &ModelGraph) -> Option<u64> {
    let layer = graph.operators().len() - 1;
    statistics(graph, layer).map(|found| found.zero_filters)
}

/// `[K, N]`: three outputs of which the second is its zero point throughout.
const COLUMNS: [i8; 6] = [1, 5, 3, 2, 5, 4];

#[test]
fn vendor_products_have_their_zero_points_at_ports_of_their_own() {
    let vendor = |op_type: &str, inputs: &[&str]| Node {
        domain: "com.microsoft".into(),
        ..node(op_type, inputs, &["y"])
    };
    for (product, input) in [
        (vendor("MatMulIntegerToFloat", &["x", "w", "xs", "ws", "xz", "wz"]), UINT8),
        (vendor("DynamicQuantizeMatMul", &["x", "w", "ws", "wz"]), FLOAT),
        (vendor("QGemm", &["x", "xs", "xz", "w", "ws", "wz"]), UINT8),
    ] {
        let name = product.op_type.clone();
        // One for all, then one for each output.
        for points in [&[5][..], &[0, 5, 0]] {
            let dims: &[i64] = if points.len() == 1 { &[] } else { &[3] };
            let stored = vec![bytes("w", INT8, &[2, 3], &COLUMNS), bytes("wz", INT8, dims, points)];
            let graph = network(vec![product.clone()], input, stored);
            assert_eq!(zero_filters(&graph), Some(1), "{name} {points:?}");
            assert_eq!(total_live_macs(&graph.layers().unwrap()), 4, "{name} {points:?}");
        }
    }
    let gemm = with_int(vendor("QGemm", &["x", "xs", "xz", "w", "ws", "wz"]), "transB", 1);
    let rows = bytes("w", INT8, &[3, 2], &[1, 2, 5, 5, 3, 4]);
    let graph = network(vec![gemm], UINT8, vec![rows, bytes("wz", INT8, &[3], &[0, 5, 0])]);
    assert_eq!(zero_filters(&graph), Some(1), "stored by rows");
}

#[test]
fn weights_that_are_read_with_different_zero_points_have_no_statistics() {
    let product = |zero: &str, made: &str| node("MatMulInteger", &["x", "w", "", zero], &[made]);
    let join = node("Add", &["a", "b"], &["y"]);
    let tensors = |other: i8| {
        let weights = bytes("w", INT8, &[2, 3], &COLUMNS);
        vec![weights, bytes("p", INT8, &[], &[5]), bytes("q", INT8, &[], &[other])]
    };
    let of = |other: i8| {
        let nodes = vec![product("p", "a"), product("q", "b"), join.clone()];
        network(nodes, UINT8, tensors(other))
    };
    let graph = of(1);
    assert_eq!(statistics(&graph, 0), None);
    assert_eq!(total_live_macs(&graph.layers().unwrap()), 12);
    assert!(graph.notes[0].contains("different zero points: `w`"), "{:?}", graph.notes);
    // A zero point that only the running network knows may differ as well.
    let open = node("DynamicQuantizeLinear", &["f"], &["", "", "open"]);
    let nodes = vec![product("p", "a"), open, product("open", "b"), join.clone()];
    let known = network(vec![product("p", "y")], UINT8, tensors(5));
    assert_eq!(zero_filters(&known), Some(1));
    let mut graph = Graph {
        nodes,
        initializers: tensors(5),
        inputs: vec![info("x", UINT8, &["1", "2"]), info("f", FLOAT, &["3"])],
        outputs: vec![unknown("y")],
        ..Graph::default()
    };
    graph.initializers.truncate(2);
    assert_eq!(statistics(&load(graph, &[]).unwrap(), 0), None);
    let graph = of(5);
    assert_eq!(statistics(&graph, 0).unwrap().zero_filters, 1, "alike");
    assert_eq!(total_live_macs(&graph.layers().unwrap()), 8);
}

#[test]
fn an_axis_of_zero_points_is_that_of_the_value_that_is_dequantised() {
    // Turned first: the outputs are along axis 1 of what is dequantised, and axis 0 of what is stored.
    let nodes = vec![
        node("Transpose", &["w"], &["t"]),
        with_int(node("DequantizeLinear", &["t", "ws", "wz"], &["d"]), "axis", 1),
        node("MatMul", &["x", "d"], &["y"]),
    ];
    let rows = bytes("w", INT8, &[3, 2], &[1, 2, 5, 5, 3, 4]);
    let graph = network(nodes, FLOAT, vec![rows, bytes("wz", INT8, &[3], &[0, 5, 0])]);
    assert_eq!(zero_filters(&graph), Some(1));
    // Zero points that are all the same survive other extents.
    let nodes = vec![
        with_int(node("DequantizeLinear", &["w", "ws", "wz"], &["d"]), "axis", 0),
        node("Reshape", &["d", "to"], &["r"]),
        node("MatMul", &["x", "r"], &["y"]),
    ];
    let columns = bytes("w", INT8, &[2, 3, 1], &COLUMNS);
    let tensors = vec![columns, bytes("wz", INT8, &[2], &[5, 5]), ints("to", &[2, 3])];
    assert_eq!(zero_filters(&network(nodes, FLOAT, tensors)), Some(1));
}

#[test]
fn weights_and_zero_points_of_four_bits_are_read_in_either_form() {
    // Rows 1 2, 5 5, 3 4; the lower half of a byte comes first.
    let packed = [0x21i8, 0x55, 0x43];
    for (data_type, in_raw) in [(UINT4, true), (INT4, true), (INT4, false)] {
        let of = |name: &str, dims: &[i64], values: &[i8]| match in_raw {
            true => bytes(name, data_type, dims, values),
            false => Tensor {
                int32_data: values.iter().map(|v| i32::from(*v)).collect(),
                ..stored(name, data_type, dims)
            },
        };
        for (dims, points) in [(&[][..], &[0x05i8][..]), (&[3], &[0x50, 0x00])] {
            let nodes = vec![
                with_int(node("DequantizeLinear", &["w", "ws", "wz"], &["d"]), "axis", 0),
                with_int(node("Gemm", &["x", "d"], &["y"]), "transB", 1),
            ];
            let tensors = vec![of("w", &[3, 2], &packed), of("wz", dims, points)];
            let graph = network(nodes, FLOAT, tensors);
            assert_eq!(zero_filters(&graph), Some(1), "{data_type} {in_raw} {points:?}");
        }
    }
}
