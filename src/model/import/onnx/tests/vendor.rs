use super::*;
use crate::model::{ElementType, Layer};

const INT32: i32 = 6;

fn vendor(op_type: &str, inputs: &[&str], outputs: &[&str]) -> Node {
    Node { domain: "com.microsoft".into(), ..node(op_type, inputs, outputs) }
}

/// The only layer, and the type and shape of `y`.
fn only(node: Node, x: ValueInfo, initializers: Vec<Tensor>) -> (Layer, ElementType, String) {
    let graph = Graph {
        nodes: vec![node],
        initializers,
        inputs: vec![x],
        outputs: vec![unknown("y")],
        ..Graph::default()
    };
    let graph = load(graph, &[]).unwrap();
    assert!(graph.notes.is_empty(), "{:?}", graph.notes);
    let made = graph.tensor(graph.tensor_named("y").unwrap());
    (graph.layers().unwrap().remove(0), made.element, shape(&graph, "y"))
}

fn scale(name: &str) -> Tensor {
    stored(name, FLOAT, &[])
}

fn zero(name: &str) -> Tensor {
    stored(name, UINT8, &[])
}

#[test]
fn quantised_products_have_their_weights_where_their_makers_put_them() {
    let x = || info("x", UINT8, &["3", "5"]);
    let weights = || stored("w", INT8, &[5, 4]);
    let small = || vec![scale("xs"), zero("xz"), weights(), scale("ws"), stored("wz", INT8, &[])];

    let gemm = vendor("QGemm", &["x", "xs", "xz", "w", "ws", "wz", "b"], &["y"]);
    let mut tensors = small();
    tensors.push(stored("b", INT32, &[4]));
    let (layer, element, made) = only(gemm.clone(), x(), tensors.clone());
    assert_eq!((layer.work.kind, layer.work.macs), (OpKind::FullyConnected, 3 * 5 * 4));
    assert_eq!((element, made.as_str()), (ElementType::Float32, "3x4"));
    let mut scaled = gemm;
    scaled.inputs.extend(["ys".to_owned(), "yz".to_owned()]);
    tensors.extend([scale("ys"), zero("yz")]);
    assert_eq!(only(scaled, x(), tensors).1, ElementType::UInt8, "with a scale of its own");

    let product = vendor("MatMulIntegerToFloat", &["x", "w", "xs", "ws", "xz", "wz"], &["y"]);
    let (layer, element, made) = only(product, x(), small());
    assert_eq!((layer.work.macs, element, made.as_str()), (60, ElementType::Float32, "3x4"));

    let product = vendor("DynamicQuantizeMatMul", &["x", "w", "ws", "wz"], &["y"]);
    let tensors = vec![weights(), scale("ws"), stored("wz", INT8, &[])];
    let (layer, element, made) = only(product, info("x", FLOAT, &["3", "5"]), tensors);
    assert_eq!((layer.work.macs, element, made.as_str()), (60, ElementType::Float32, "3x4"));
}

#[test]
fn quantised_activations_keep_the_shape_and_count_as_the_plain_ones() {
    let tensors = || vec![scale("xs"), zero("xz"), scale("ys"), zero("yz")];
    let ports = ["x", "xs", "xz", "ys", "yz"];
    for (op_type, kind, operations) in [
        ("QLinearSigmoid", OpKind::Elementwise, 4 * 15),
        ("QLinearLeakyRelu", OpKind::Elementwise, 15),
        ("QLinearSoftmax", OpKind::Softmax, 7 * 15),
    ] {
        let x = info("x", UINT8, &["3", "5"]);
        let (layer, element, made) = only(vendor(op_type, &ports, &["y"]), x, tensors());
        assert_eq!((layer.work.kind, layer.work.element_ops), (kind, operations), "{op_type}");
        assert_eq!((element, made.as_str()), (ElementType::UInt8, "3x5"), "{op_type}");
    }
}

#[test]
fn a_quantised_concatenation_leaves_the_rest_of_the_network_known() {
    let join = vendor("QLinearConcat", &["s", "z", "x", "s", "z", "x", "s", "z"], &["j"]);
    let join = with_int(join, "axis", 1);
    let graph = Graph {
        nodes: vec![join, node("Relu", &["j"], &["y"])],
        initializers: vec![scale("s"), zero("z")],
        inputs: vec![info("x", UINT8, &["3", "5"])],
        outputs: vec![unknown("y")],
        ..Graph::default()
    };
    let graph = load(graph, &[]).unwrap();
    assert_eq!(shape(&graph, "y"), "3x10");
    let kinds: Vec<_> = graph.layers().unwrap().iter().map(|layer| layer.work.kind).collect();
    assert_eq!(kinds, [OpKind::Opaque, OpKind::Elementwise], "its scaling is not counted");
}

#[test]
fn scales_zero_points_and_limits_are_no_parameters() {
    let quantised = || vec![scale("s"), zero("z")];
    let x = || info("x", UINT8, &["1", "4", "5", "5"]);
    let with_bias = |mut tensors: Vec<Tensor>| {
        tensors.push(stored("b", UINT8, &[4, 1, 1]));
        tensors
    };
    for op_type in ["QLinearAdd", "QLinearMul"] {
        let node = vendor(op_type, &["x", "s", "z", "b", "s", "z", "s", "z"], &["y"]);
        let (layer, ..) = only(node, x(), with_bias(quantised()));
        assert_eq!(layer.work.parameters, 4, "{op_type}: the stored operand alone");
        assert_eq!(layer.work.operands.len(), 8, "{op_type}: all are read");
    }
    for op_type in [
        "QLinearGlobalAveragePool",
        "QLinearAveragePool",
        "QLinearSigmoid",
        "QLinearLeakyRelu",
        "QLinearSoftmax",
    ] {
        let node = vendor(op_type, &["x", "s", "z", "s", "z"], &["y"]);
        let node = with_ints(node, "kernel_shape", &[2, 2]);
        let (layer, ..) = only(node, x(), quantised());
        assert_eq!(layer.work.parameters, 0, "{op_type}");
    }
    let limits = || vec![scale("lo"), scale("hi")];
    let x = || info("x", FLOAT, &["3", "5"]);
    let (layer, ..) = only(node("Clip", &["x", "lo", "hi"], &["y"]), x(), limits());
    assert_eq!((layer.work.parameters, layer.work.weight_bytes), (0, 8));
    let slope = vec![stored("k", FLOAT, &[5])];
    let (layer, ..) = only(node("PRelu", &["x", "k"], &["y"]), x(), slope);
    assert_eq!(layer.work.parameters, 5, "a slope is learnt");
}

#[test]
fn the_nearest_element_is_repeated_without_arithmetic() {
    for (mode, operations) in [(None, 0), (Some("nearest"), 0), (Some("linear"), 4 * 60)] {
        let mut node = node("Resize", &["x", "", "", "sizes"], &["y"]);
        node.attributes.extend(mode.map(|text| Attribute {
            name: "mode".into(),
            text: text.into(),
            ..Attribute::default()
        }));
        let x = info("x", FLOAT, &["3", "5"]);
        let (layer, _, made) = only(node, x, vec![ints("sizes", &[6, 10])]);
        assert_eq!((layer.work.element_ops, made.as_str()), (operations, "6x10"), "{mode:?}");
    }
}
