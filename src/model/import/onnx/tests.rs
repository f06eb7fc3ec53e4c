//! Small files made here, field by field.

use super::proto::*;
use crate::model::import::from_bytes;
use crate::model::{Bindings, ModelError, ModelGraph, Op, OpKind, TensorRole};
use prost::Message as _;

const FLOAT: i32 = 1;
const UINT8: i32 = 2;
const INT8: i32 = 3;
const INT64: i32 = 7;

fn info(name: &str, element: i32, dims: &[&str]) -> ValueInfo {
    let dim = |text: &&str| match text.parse() {
        Ok(value) => Dimension { value: Some(value), symbol: String::new() },
        Err(_) => Dimension { value: None, symbol: (*text).to_owned() },
    };
    let shape = Some(Dimensions { dims: dims.iter().map(dim).collect() });
    let kind = Some(Kind { tensor: Some(TensorKind { element, shape }) });
    ValueInfo { name: name.into(), kind }
}

fn unknown(name: &str) -> ValueInfo {
    ValueInfo { name: name.into(), kind: None }
}

fn stored(name: &str, data_type: i32, dims: &[i64]) -> Tensor {
    Tensor { name: name.into(), data_type, dims: dims.to_vec(), ..Tensor::default() }
}

fn ints(name: &str, values: &[i64]) -> Tensor {
    Tensor { int64_data: values.to_vec(), ..stored(name, INT64, &[values.len() as i64]) }
}

fn scalar(name: &str, value: i64) -> Tensor {
    let raw_data = value.to_le_bytes().to_vec().into();
    Tensor { raw_data, ..stored(name, INT64, &[]) }
}

fn node(op_type: &str, inputs: &[&str], outputs: &[&str]) -> Node {
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    Node {
        op_type: op_type.into(),
        inputs: names(inputs),
        outputs: names(outputs),
        ..Node::default()
    }
}

fn with_ints(mut node: Node, name: &str, ints: &[i64]) -> Node {
    node.attributes.push(Attribute {
        name: name.into(),
        ints: ints.to_vec(),
        ..Attribute::default()
    });
    node
}

fn with_int(mut node: Node, name: &str, int: i64) -> Node {
    node.attributes.push(Attribute { name: name.into(), int, ..Attribute::default() });
    node
}

fn encoded(graph: Graph) -> Vec<u8> {
    let opset_import = vec![OperatorSet { domain: String::new(), version: 17 }];
    Model { ir_version: 8, opset_import, graph: Some(graph), ..Model::default() }.encode_to_vec()
}

fn load(graph: Graph, bindings: &[(&str, u64)]) -> Result<ModelGraph, ModelError> {
    let bindings = bindings.iter().map(|(symbol, value)| ((*symbol).to_owned(), *value)).collect();
    from_bytes("small.onnx", &encoded(graph), &Bindings(bindings))
}

fn shape(graph: &ModelGraph, tensor: &str) -> String {
    let id = graph.tensor_named(tensor).unwrap_or_else(|| panic!("no {tensor}"));
    graph.tensor(id).shape.as_ref().map_or("?".into(), ToString::to_string)
}

fn one_convolution(batch: &str) -> Graph {
    Graph {
        nodes: vec![with_ints(node("Conv", &["x", "w"], &["y"]), "pads", &[1, 1, 1, 1])],
        initializers: vec![stored("w", FLOAT, &[16, 3, 3, 3])],
        inputs: vec![info("x", FLOAT, &[batch, "3", "8", "8"])],
        outputs: vec![unknown("y")],
        ..Graph::default()
    }
}

#[test]
fn a_symbolic_batch_must_be_bound() {
    for (batch, symbol) in [("N", "N"), ("", "x_dim0"), ("-1", "x_dim0")] {
        let error = load(one_convolution(batch), &[]).unwrap_err();
        let ModelError::UnboundSymbol { symbols, .. } = &error else {
            panic!("{error}");
        };
        assert_eq!(*symbols, [(symbol.to_owned(), "x".to_owned())]);
        assert!(error.to_string().contains(&format!("--bind {symbol}=1")), "{error}");
        let graph = load(one_convolution(batch), &[(symbol, 4)]).unwrap();
        let layers = graph.layers().unwrap();
        assert_eq!(shape(&graph, "y"), "4x16x8x8");
        assert_eq!(layers[0].work.macs, 4 * 16 * 64 * 27);
        assert_eq!(layers[0].name, "Conv_0", "a node without a name is called by its place");
        assert_eq!(graph.notes, [format!("dimension `{symbol}` is taken as 4")]);
    }
}

#[test]
fn a_value_for_a_dimension_that_is_not_open_is_refused() {
    let said = |batch: &str, symbol: &str, value: u64| {
        load(one_convolution(batch), &[(symbol, value)]).unwrap_err().to_string()
    };
    let shown = said("batch_size", "batchsize", 2);
    assert!(shown.contains("no dimension is called `batchsize`"), "{shown}");
    assert!(shown.contains("did you mean `batch_size`?"), "{shown}");
    assert!(shown.contains("it has `batch_size`"), "{shown}");
    let shown = said("", "N", 2);
    assert!(shown.contains("it has `x_dim0`"), "{shown}");
    let shown = said("1", "M", 2);
    assert!(shown.contains("no dimension is called `M`"), "{shown}");
    assert!(shown.contains("this file has no symbolic dimensions"), "{shown}");
    let shown = said("N", "N", 0);
    assert!(shown.contains("`N` is bound to 0"), "{shown}");
}

#[test]
fn a_quantised_convolution_has_its_weights_behind_its_data() {
    let inputs = ["x", "xs", "xz", "w", "ws", "wz", "ys", "yz", "b"];
    let single = |name, element| stored(name, element, &[]);
    let graph = Graph {
        nodes: vec![node("QLinearConv", &inputs, &["y"])],
        initializers: vec![
            stored("w", INT8, &[8, 4, 3, 3]),
            stored("b", 6, &[8]),
            single("xs", FLOAT),
            single("xz", UINT8),
            stored("ws", FLOAT, &[8]),
            stored("wz", INT8, &[8]),
            single("ys", FLOAT),
            single("yz", UINT8),
        ],
        inputs: vec![info("x", UINT8, &["1", "4", "10", "10"])],
        outputs: vec![unknown("y")],
        ..Graph::default()
    };
    let graph = load(graph, &[]).unwrap();
    let layer = &graph.layers().unwrap()[0];
    assert_eq!((layer.work.kind, layer.work.macs), (OpKind::Conv, 8 * 64 * 36));
    assert_eq!(layer.work.weight_bytes, 8 * 36 + 8 * 4 + 4 + 1 + 8 * 4 + 8 + 4 + 1);
    assert_eq!(layer.work.output_bytes, 8 * 64, "of the type of its zero point");
    let ports = graph.inputs(graph.operators().next().unwrap());
    let names: Vec<_> = ports.iter().flatten().map(|id| graph.tensor(*id).name.as_str()).collect();
    assert_eq!(names, ["x", "w", "b", "xs", "xz", "ws", "wz", "ys", "yz"]);
}

#[test]
fn arithmetic_on_shapes_is_folded_away() {
    let graph = Graph {
        nodes: vec![
            node("Shape", &["x"], &["extents"]),
            node("Gather", &["extents", "zero"], &["batch"]),
            with_ints(node("Unsqueeze", &["batch"], &["batch_1"]), "axes", &[0]),
            with_int(node("Concat", &["batch_1", "rest"], &["target"]), "axis", 0),
            node("Reshape", &["x", "target"], &["y"]),
        ],
        initializers: vec![scalar("zero", 0), ints("rest", &[4, -1])],
        inputs: vec![info("x", FLOAT, &["N", "8", "6"])],
        outputs: vec![unknown("y")],
        ..Graph::default()
    };
    let graph = load(graph, &[("N", 3)]).unwrap();
    assert_eq!(shape(&graph, "y"), "3x4x12");
    let layers = graph.layers().unwrap();
    assert_eq!(layers.len(), 1);
    assert_eq!((layers[0].work.kind, layers[0].name.as_str()), (OpKind::View, "Reshape_4"));
    assert!(graph.notes.contains(&"4 constant nodes folded".to_owned()), "{:?}", graph.notes);
    let target = graph.tensor_named("target").unwrap();
    assert_eq!(graph.tensor(target).role, TensorRole::Constant);
}

#[test]
fn a_vendor_operator_is_opaque_and_the_rest_is_read() {
    let mut vendor = node("Sparkle", &["h"], &["s"]);
    vendor.domain = "acme".into();
    let mut last = node("Conv", &["s", "w"], &["z"]);
    last.name = "tail".into();
    let mut graph = one_convolution("1");
    graph.initializers.push(stored("w2", FLOAT, &[8, 16, 1, 1]));
    graph.nodes =
        vec![node("Conv", &["x", "w"], &["h"]), vendor, last, node("Relu", &["h"], &["y"])];
    graph.outputs.push(unknown("z"));
    let read = load(graph.clone(), &[]).unwrap();
    let layers = read.layers().unwrap();
    let kinds: Vec<_> = layers.iter().map(|layer| layer.work.kind).collect();
    assert_eq!(kinds, [OpKind::StemConv, OpKind::Opaque, OpKind::Opaque, OpKind::Elementwise]);
    assert_eq!(layers[1].native, "acme::Sparkle");
    assert_eq!(
        read.notes,
        [
            "operator type `acme::Sparkle` (1 of them): its work is not known and not counted",
            "work not counted, since shapes are not known: `tail`",
        ]
    );
    // What the file says of the output is believed where nothing better is known.
    graph.value_info = vec![info("s", FLOAT, &["1", "16", "6", "6"])];
    graph.nodes[2].inputs[1] = "w2".into();
    let read = load(graph, &[]).unwrap();
    assert_eq!(read.layers().unwrap()[2].work.macs, 8 * 36 * 16);
}

#[test]
fn dequantised_weights_stay_stored_as_they_are() {
    let graph = Graph {
        nodes: vec![
            node("DequantizeLinear", &["w", "s", "z"], &["wf"]),
            with_ints(node("Transpose", &["wf"], &["wt"]), "perm", &[1, 0]),
            node("MatMul", &["x", "wt"], &["y"]),
        ],
        initializers: vec![
            stored("w", INT8, &[32, 64]),
            stored("s", FLOAT, &[]),
            stored("z", INT8, &[]),
        ],
        inputs: vec![info("x", FLOAT, &["5", "64"])],
        outputs: vec![info("y", FLOAT, &["5", "32"])],
        ..Graph::default()
    };
    let graph = load(graph, &[]).unwrap();
    let layers = graph.layers().unwrap();
    assert_eq!(layers.len(), 1);
    let work = &layers[0].work;
    assert_eq!((work.kind, work.macs), (OpKind::FullyConnected, 5 * 64 * 32));
    assert_eq!((work.weight_bytes, work.output_bytes), (64 * 32, 5 * 32 * 4));
}

#[test]
fn a_stored_tensor_among_the_inputs_is_a_constant() {
    let mut graph = one_convolution("1");
    graph.inputs.push(info("w", FLOAT, &["16", "3", "3", "3"]));
    // Weights in another file have their size all the same.
    graph.initializers[0].data_location = 1;
    let graph = load(graph, &[]).unwrap();
    let weights = graph.tensor_named("w").unwrap();
    assert_eq!(graph.tensor(weights).role, TensorRole::Constant);
    assert_eq!(graph.layers().unwrap()[0].work.weight_bytes, 16 * 27 * 4);
}

#[test]
fn bodies_of_control_flow_are_said_to_be_unread() {
    let mut graph = one_convolution("1");
    graph.nodes.push(node("If", &["c"], &["z"]));
    graph.inputs.push(info("c", 9, &[]));
    let graph = load(graph, &[]).unwrap();
    let operator = graph.operators().last().unwrap();
    assert_eq!(graph.operator(operator).op, Op::Opaque);
    assert!(graph.notes[0].contains("its bodies are not read"), "{:?}", graph.notes);
}

#[test]
fn faults_name_the_node_and_what_does_not_fit() {
    let fault = |change: &dyn Fn(&mut Graph)| {
        let mut graph = one_convolution("1");
        change(&mut graph);
        load(graph, &[]).unwrap_err().to_string()
    };
    let shown = fault(&|g| g.initializers[0].dims = vec![16, 5, 3, 3]);
    assert!(shown.contains("node `Conv_0` (Conv): weights 16x5x3x3 in 1 groups"), "{shown}");
    let shown = fault(&|g| g.nodes[0].inputs[0] = "nowhere".into());
    assert!(shown.contains("it reads `nowhere`"), "{shown}");
    let shown = fault(&|g| g.outputs[0].name = "nowhere".into());
    assert!(shown.contains("nothing makes its output `nowhere`"), "{shown}");
    let shown = fault(&|g| g.initializers[0].dims = vec![i64::MAX, i64::MAX]);
    assert!(shown.contains("too large"), "{shown}");
    let shown = fault(&|g| g.initializers[0].dims = vec![-1, 3, 3, 3]);
    assert!(shown.contains("an extent of -1"), "{shown}");
    let shown = fault(&|g| g.nodes.push(g.nodes[0].clone()));
    assert!(shown.contains("two tensors are called `y`"), "{shown}");
}

#[test]
fn other_files_are_no_onnx_models() {
    let none = Bindings::default();
    for bytes in [&b"\x01\x02\x03"[..], b"hello, this is a text\n", &[0xff; 64], &[0x08, 0x07]] {
        let error = from_bytes("any.onnx", bytes, &none).unwrap_err();
        assert!(matches!(error, ModelError::Onnx { .. }), "{error}");
    }
    let whole = encoded(one_convolution("1"));
    for length in 1..whole.len() {
        let cut = from_bytes("cut.onnx", &whole[..length], &none);
        assert!(matches!(cut, Err(ModelError::Onnx { .. }) | Ok(_)), "{cut:?}");
    }
}

#[test]
fn nodes_of_one_name_are_told_apart() {
    let mut graph = one_convolution("1");
    graph.nodes.push(node("Relu", &["y"], &["z"]));
    graph.nodes[0].name = "block".into();
    graph.nodes[1].name = "block".into();
    let graph = load(graph, &[]).unwrap();
    let names: Vec<_> = graph.operators().map(|o| graph.operator(o).name.clone()).collect();
    assert_eq!(names, ["block", "block#1"]);
}

#[test]
fn a_type_without_a_width_is_said_to_have_none() {
    const STRING: i32 = 8;
    let mut graph = one_convolution("1");
    graph.nodes.push(node("Identity", &["words"], &["same"]));
    graph.inputs.push(info("words", STRING, &["4"]));
    let graph = load(graph, &[]).unwrap();
    let note =
        "`same` and 1 more tensors are of a type without a known width; their bytes count as 0";
    assert_eq!(graph.notes, [note]);
}

mod branches;
mod composite;
mod control_flow;
mod fused;
mod names;
mod vendor;
mod weights;
mod zero_points;
