use super::*;
use crate::model::{Cell, Recurrence};

fn refused(graph: &ModelGraph, transform: Transform, said: &str) {
    let error = apply(graph, &[transform]).unwrap_err().to_string();
    assert!(error.contains(said), "{error}");
}

fn shape(graph: &ModelGraph, tensor: &str) -> Vec<u64> {
    graph.tensor(graph.tensor_named(tensor).unwrap()).shape.clone().unwrap().0
}

/// Attention with the samples behind the positions, as one head after the other.
#[test]
fn samples_that_are_not_in_front_are_not_taken_for_positions() {
    let turn = || Op::Movement(Movement::Transpose);
    let mut chain = Chain::new(&[1, 128, 64], E::Float32)
        .then("turn", turn(), &[], &[128, 1, 64])
        .then("heads", Op::Movement(Movement::View), &[], &[128, 4, 16])
        .then("rows", turn(), &[], &[4, 128, 16]);
    let rows = chain.last;
    let scores = chain.graph.add("scores", &[4, 128, 128], E::Float32, TensorRole::Activation);
    let (op, scores) = (Op::MatMul { transpose_a: false, transpose_b: true }, scores.unwrap());
    let operator = Operator::new("product", "", op);
    chain.graph.add_operator(operator, &[Some(rows), Some(rows)], &[scores]).unwrap();
    chain.graph.set_outputs(vec![scores]);
    refused(&chain.graph, Transform::Batch(8), "operator `heads` cannot follow");
}

#[test]
fn work_that_is_not_of_so_many_samples_is_refused() {
    let mut chain = Chain::new(&[1, 16, 16], E::Float32).then(
        "flat",
        Op::Movement(Movement::View),
        &[],
        &[16, 16],
    );
    let rows = chain.last;
    let made = chain.graph.add("y", &[16, 16], E::Float32, TensorRole::Activation).unwrap();
    let operator = Operator::new("all", "", Op::MatMul { transpose_a: false, transpose_b: true });
    chain.graph.add_operator(operator, &[Some(rows), Some(rows)], &[made]).unwrap();
    chain.graph.set_outputs(vec![made]);
    let said =
        "`all` cannot follow: 4096 multiply-accumulates of 1 samples would become 262144 of 8";
    refused(&chain.graph, Transform::Batch(8), said);
}

/// A product of what is handed in with a table that is handed in, which is read first.
fn with_table(outputs: &[&str]) -> ModelGraph {
    let mut graph = ModelGraph::new("table", Layout::ChannelsLast);
    let mut add =
        |name: &str, shape: &[u64], role| graph.add(name, shape, E::Float32, role).unwrap();
    let table = add("table", &[32, 16], TensorRole::Input);
    let scaled = add("scaled", &[32, 16], TensorRole::Activation);
    let x = add("x", &[1, 16], TensorRole::Input);
    let y = add("y", &[1, 32], TensorRole::Activation);
    let operator = |name: &str, op| Operator::new(name, "", op);
    graph.add_operator(operator("scale", CLIP), &[Some(table)], &[scaled]).unwrap();
    let product = operator("product", Op::MatMul { transpose_a: false, transpose_b: true });
    graph.add_operator(product, &[Some(x), Some(scaled)], &[y]).unwrap();
    let outputs = outputs.iter().map(|name| graph.tensor_named(name).unwrap()).collect();
    graph.set_outputs(outputs);
    graph
}

#[test]
fn samples_are_what_the_results_begin_with() {
    let made = one(&with_table(&["y"]), Transform::Batch(64));
    assert_eq!((shape(&made, "table"), shape(&made, "x")), (vec![32, 16], vec![64, 16]));
    assert_eq!(made.transforms[0].kept[0].operator, "table");
    let said = "inputs `table` of 32x16 and `x` of 1x16 begin with different extents";
    refused(&with_table(&["scaled", "y"]), Transform::Batch(64), said);
}

#[test]
fn scales_over_several_axes_follow_the_width_and_refuse_another_resolution() {
    let mut chain = Chain::new(&[1, 8, 8, 3], E::Float32);
    chain.graph.layout = Layout::ChannelsLast;
    let graph = chain
        .then("conv", conv(1), &[&[32, 3, 3, 3]], &[1, 8, 8, 32])
        .then("norm", Op::Normalisation, &[&[8, 8, 32], &[8, 8, 32]], &[1, 8, 8, 32])
        .then("last", conv(1), &[&[8, 3, 3, 32]], &[1, 8, 8, 8])
        .graph;
    let made = one(&graph, Transform::Width(0.5));
    assert_eq!(shape(&made, "norm_0"), [8, 8, 16]);
    refused(&graph, Transform::Resolution(vec![16]), "`norm` cannot follow: 8x8x32 stored numbers");
}

#[test]
fn a_single_channel_stays_single() {
    let gate = Op::Elementwise(ElementFunction::Multiply);
    let mut chain =
        Chain::new(PLANE, E::Int8).then("a", conv(1), &[&[16, 8, 1, 1]], &[1, 16, 4, 4]);
    let data = chain.last;
    chain = chain.then("map", conv(1), &[&[1, 16, 1, 1]], &[1, 1, 4, 4]);
    let made = chain.graph.add("gated", &[1, 16, 4, 4], E::Int8, TensorRole::Activation).unwrap();
    let inputs = [Some(data), Some(chain.last)];
    chain.graph.add_operator(Operator::new("gate", "", gate), &inputs, &[made]).unwrap();
    chain.last = made;
    let graph = chain.then("last", conv(1), &[&[8, 16, 1, 1]], PLANE).graph;
    for (factor, channels) in [(0.5, 8), (2.0, 32)] {
        let made = one(&graph, Transform::Width(factor));
        assert_eq!(shape(&made, "map_y"), [1, 1, 4, 4]);
        assert_eq!(shape(&made, "gated"), [1, channels, 4, 4]);
    }
}

#[test]
fn a_state_and_its_gates_keep_step() {
    let cell =
        |hidden| Op::Recurrence(Recurrence { cell: Cell::Gru, hidden, steps: 5, directions: 1 });
    let mut chain = Chain::new(&[5, 1, 10], E::Float32);
    chain.graph.layout = Layout::ChannelsLast;
    let chain = chain.then("gates", Op::FullyConnected, &[&[66, 10], &[66]], &[5, 1, 66]).then(
        "gru",
        cell(22),
        &[&[66, 22], &[66]],
        &[5, 1, 22],
    );
    let whole = &chain.graph;
    assert_eq!(
        shape(&one(whole, Transform::Width(0.5)), "gates_y"),
        [5, 1, 66],
        "it is the result"
    );
    let graph = chain.then("classes", Op::FullyConnected, &[&[4, 22]], &[5, 1, 4]).graph;
    let made = one(&graph, Transform::Width(0.5));
    assert_eq!(shape(&made, "gates_y"), [5, 1, 48], "three gates of 16");
    assert_eq!((shape(&made, "gru_0"), shape(&made, "gru_1")), (vec![48, 16], vec![48]));
    assert_eq!(shape(&made, "classes_0"), [4, 16]);
    let macs: Vec<_> = made.layers().unwrap().iter().map(|l| l.work.macs).collect();
    assert_eq!(macs, [5 * 10 * 48, 5 * 48 * 16, 5 * 16 * 4]);
}

#[test]
fn a_plane_of_one_place_that_grows_is_no_row() {
    let mut window = conv(1);
    if let Op::Convolution(c) = &mut window {
        c.padding = Padding::Valid;
    }
    let mut chain = Chain::new(&[2, 8, 8, 3], E::Int8);
    chain.graph.layout = Layout::ChannelsLast;
    let graph = chain
        .then("all", window, &[&[16, 8, 8, 3]], &[2, 1, 1, 16])
        .then("flat", Op::Movement(Movement::View), &[], &[2, 16])
        .graph;
    refused(&graph, Transform::Resolution(vec![16]), "operator `flat` cannot follow");
    assert_eq!(shape(&one(&graph, Transform::Batch(6)), "flat_y"), [6, 16]);
}

#[test]
fn scales_of_blocks_and_columns_follow_a_width() {
    // 64 columns over a depth of 256 in blocks of 32, with packed zero points; then the last layer.
    let blocks: [&[u64]; 5] = [&[64, 256], &[64], &[64, 8], &[64 * 4], &[1]];
    let graph = Chain::new(&[1, 256], E::Float32)
        .then("packed", Op::FullyConnected, &blocks, &[1, 64])
        .then("last", Op::FullyConnected, &[&[16, 64], &[16], &[16, 2]], &[1, 16])
        .graph;
    let made = one(&graph, Transform::Width(0.5));
    let shape = |name: &str| {
        let id = made.tensor_named(name).unwrap();
        made.tensor(id).shape.clone().unwrap().0
    };
    assert_eq!(shape("packed_0"), [32, 256]);
    assert_eq!((shape("packed_2"), shape("packed_3")), (vec![32, 8], vec![32 * 4]));
    assert_eq!((shape("last_0"), shape("last_2")), (vec![16, 32], vec![16, 1]), "half the depth");
    assert_eq!(shape("packed_4"), [1], "one for all stays one");
}
