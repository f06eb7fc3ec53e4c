//! Names that a file uses are left to it.

use super::*;
use crate::model::{total_macs, total_parameters};

#[test]
fn a_part_may_have_the_name_of_a_tensor() {
    let mut lstm = with_int(node("LSTM", &["x", "w", "r"], &["", "h"]), "hidden_size", 4);
    lstm.name = "lstm".into();
    let graph = Graph {
        nodes: vec![
            lstm,
            node("Relu", &["h"], &["lstm.input"]),
            node("Relu", &["lstm.input"], &["y"]),
        ],
        initializers: vec![stored("w", FLOAT, &[1, 16, 8]), stored("r", FLOAT, &[1, 16, 4])],
        inputs: vec![info("x", FLOAT, &["10", "2", "8"])],
        outputs: vec![unknown("y")],
        ..Graph::default()
    };
    let graph = load(graph, &[]).unwrap();
    assert_eq!(total_macs(&graph.layers().unwrap()), 10 * 2 * 16 * 12);
    assert_eq!(shape(&graph, "lstm.input"), "1x2x4");
}

#[test]
fn what_stands_between_nodes_may_have_the_name_of_a_tensor() {
    let graph = Graph {
        nodes: vec![node("Sum", &["x", "x", "y/1"], &["y"])],
        initializers: vec![stored("y/1", FLOAT, &[3])],
        inputs: vec![info("x", FLOAT, &["2", "3"])],
        outputs: vec![unknown("y")],
        ..Graph::default()
    };
    let layers = load(graph, &[]).unwrap().layers().unwrap();
    assert_eq!((layers.len(), total_parameters(&layers)), (2, 3));
}

fn function(name: &str, nodes: Vec<Node>) -> Function {
    Function {
        name: name.into(),
        domain: "local".into(),
        inputs: vec!["a".into()],
        outputs: vec!["b".into()],
        nodes,
        ..Function::default()
    }
}

fn call(name: &str, place: &str, inputs: &[&str], outputs: &[&str]) -> Node {
    Node { domain: "local".into(), name: place.into(), ..node(name, inputs, outputs) }
}

fn read(graph: Graph, functions: Vec<Function>) -> ModelGraph {
    let set = |domain: &str| OperatorSet { domain: domain.into(), version: 17 };
    let opset_import = vec![set(""), set("local")];
    let model = Model { ir_version: 8, opset_import, graph: Some(graph), functions };
    from_bytes("small.onnx", &model.encode_to_vec(), &Bindings::default())
        .unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn what_a_call_makes_inside_may_have_the_name_of_a_tensor() {
    let twice = vec![node("Relu", &["a"], &["t"]), node("Relu", &["t"], &["b"])];
    let graph = Graph {
        nodes: vec![call("Twice", "call", &["x"], &["call/t"]), node("Relu", &["call/t"], &["y"])],
        inputs: vec![info("x", FLOAT, &["2", "3"])],
        outputs: vec![unknown("y")],
        ..Graph::default()
    };
    assert_eq!(read(graph, vec![function("Twice", twice)]).layers().unwrap().len(), 3);
}

fn branch(name: &str, nodes: Vec<Node>) -> Attribute {
    let outputs = nodes.last().map(|n| unknown(&n.outputs[0])).into_iter().collect();
    let graph = Graph { nodes, outputs, ..Graph::default() };
    Attribute { name: name.into(), graph: Some(Box::new(graph)), ..Attribute::default() }
}

/// An `If` whose condition is stored.
fn choice(output: &str, taken: Vec<Node>) -> Node {
    let mut choice = node("If", &["yes"], &[output]);
    let other = vec![node("Identity", &["x"], &["z"])];
    choice.attributes = vec![branch("then_branch", taken), branch("else_branch", other)];
    choice
}

fn yes() -> Tensor {
    Tensor { raw_data: vec![1].into(), ..stored("yes", 9, &[]) }
}

#[test]
fn branches_hold_calls_and_operators_of_many_and_stand_in_functions() {
    let inside = vec![call("Twice", "call", &["x"], &["c"]), node("Sum", &["c", "x", "x"], &["z"])];
    let mut graph = Graph {
        nodes: vec![choice("y", inside)],
        initializers: vec![yes()],
        inputs: vec![info("x", FLOAT, &["2", "3"])],
        outputs: vec![unknown("y")],
        ..Graph::default()
    };
    let twice =
        || function("Twice", vec![node("Relu", &["a"], &["t"]), node("Relu", &["t"], &["b"])]);
    let kinds = |graph: &ModelGraph| -> Vec<String> {
        graph.layers().unwrap().into_iter().map(|layer| layer.native).collect()
    };
    let found = kinds(&read(graph.clone(), vec![twice()]));
    assert_eq!(found, ["Relu", "Relu", "Sum", "Sum", "Identity"]);
    // The branch of a function reads what the function has under its own name.
    let mut choice = choice("b", vec![node("Exp", &["a"], &["z"])]);
    choice.attributes.truncate(1);
    let constant = node("Identity", &["a"], &["t"]);
    let condition = Node { op_type: "Constant".into(), ..node("", &[], &["yes"]) };
    let value = Attribute { name: "value".into(), tensor: Some(yes()), ..Attribute::default() };
    let condition = Node { attributes: vec![value], ..condition };
    graph.nodes = vec![call("Choose", "", &["x"], &["y"])];
    graph.initializers.clear();
    let choose = function("Choose", vec![constant, condition, choice]);
    assert_eq!(kinds(&read(graph, vec![choose])), ["Identity", "Exp", "Identity"]);
}
