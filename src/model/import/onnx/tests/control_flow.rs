//! What is known behind loops and conditions that are not.

use super::*;
use crate::model::total_macs;

fn body(inputs: &[ValueInfo], outputs: &[ValueInfo], nodes: Vec<Node>) -> Attribute {
    let (inputs, outputs) = (inputs.to_vec(), outputs.to_vec());
    let graph = Graph { nodes, inputs, outputs, ..Graph::default() };
    Attribute { name: "body".into(), graph: Some(Box::new(graph)), ..Attribute::default() }
}

/// A product with what the node makes.
fn behind(mut node: Node, attribute: Vec<Attribute>, x: &[&str]) -> ModelGraph {
    node.attributes.extend(attribute);
    let product = super::node("MatMul", &["z", "w"], &["y"]);
    let graph = Graph {
        nodes: vec![node, product],
        initializers: vec![stored("w", FLOAT, &[8, 5])],
        inputs: vec![info("x", FLOAT, x), info("n", INT64, &[]), info("c", 9, &[])],
        outputs: vec![info("y", FLOAT, &["4", "5"])],
        ..Graph::default()
    };
    load(graph, &[]).unwrap_or_else(|e| panic!("{e}"))
}

fn macs(graph: &ModelGraph) -> u64 {
    assert!(graph.notes[0].contains("its bodies are not read"), "{:?}", graph.notes);
    total_macs(&graph.layers().unwrap())
}

#[test]
fn what_a_body_states_is_known_behind_its_loop() {
    let inputs = [unknown("i"), unknown("k"), unknown("a")];
    let outputs = [info("k", 9, &[]), info("b", FLOAT, &["4", "8"])];
    let step = vec![node("Exp", &["a"], &["b"])];
    let body = body(&inputs, &outputs, step);
    let graph = behind(node("Loop", &["n", "c", "x"], &["z"]), vec![body], &["4", "8"]);
    assert_eq!((shape(&graph, "z"), macs(&graph)), ("4x8".into(), 4 * 8 * 5));
}

#[test]
fn steps_of_a_scan_stand_one_behind_the_other() {
    let outputs = [info("b", FLOAT, &["8"])];
    let body = body(&[unknown("a")], &outputs, vec![node("Exp", &["a"], &["b"])]);
    let scan = with_int(node("Scan", &["x"], &["z"]), "num_scan_inputs", 1);
    let graph = behind(scan, vec![body], &["4", "8"]);
    assert_eq!((shape(&graph, "z"), macs(&graph)), ("4x8".into(), 4 * 8 * 5));
}

#[test]
fn branches_have_to_agree() {
    let branch = |name: &str, rows: &str| {
        let nodes = vec![node("Exp", &["x"], &["b"])];
        Attribute { name: name.into(), ..body(&[], &[info("b", FLOAT, &[rows, "8"])], nodes) }
    };
    let choice = || node("If", &["c"], &["z"]);
    let both = |other| vec![branch("then_branch", "4"), branch("else_branch", other)];
    assert_eq!(macs(&behind(choice(), both("4"), &["4", "8"])), 4 * 8 * 5);
    let graph = behind(choice(), both("2"), &["4", "8"]);
    assert_eq!((shape(&graph, "z"), macs(&graph)), ("?".into(), 0));
}
