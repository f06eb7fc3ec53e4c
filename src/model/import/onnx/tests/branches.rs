use super::*;
use crate::model::total_macs;

/// An `If` on `condition` between a product with 3 columns and, under the same names, one with 5.
fn choice(condition: &str, inner: Option<Node>) -> Node {
    let branch = |columns: i64, further: Option<Node>| {
        let mut nodes = vec![node("MatMul", &["x", "w"], &["z"])];
        nodes.extend(further);
        let last = nodes.last().and_then(|n| n.outputs.first().cloned()).unwrap_or_default();
        Graph {
            nodes,
            initializers: vec![stored("w", FLOAT, &[4, columns])],
            outputs: vec![unknown(&last)],
            ..Graph::default()
        }
    };
    let attribute = |name: &str, graph: Graph| Attribute {
        name: name.into(),
        graph: Some(Box::new(graph)),
        ..Attribute::default()
    };
    let mut choice = node("If", &[condition], &["y"]);
    choice.attributes =
        vec![attribute("then_branch", branch(3, inner)), attribute("else_branch", branch(5, None))];
    choice
}

/// The rank of the input is compared with a number.
fn network(rank: i64, nodes: Vec<Node>) -> Graph {
    let mut before = vec![
        node("Shape", &["x"], &["shape"]),
        node("Size", &["shape"], &["rank"]),
        node("Equal", &["rank", "wanted"], &["condition"]),
    ];
    before.extend(nodes);
    Graph {
        nodes: before,
        initializers: vec![scalar("wanted", rank)],
        inputs: vec![info("x", FLOAT, &["2", "4"]), info("open", 9, &[])],
        outputs: vec![unknown("y")],
        ..Graph::default()
    }
}

#[test]
fn a_branch_whose_condition_is_known_stands_in_its_place() {
    for (rank, columns) in [(2, 3), (3, 5)] {
        let graph = load(network(rank, vec![choice("condition", None)]), &[]).unwrap();
        let layers = graph.layers().unwrap();
        assert_eq!(total_macs(&layers), 2 * 4 * columns);
        assert_eq!(shape(&graph, "y"), format!("2x{columns}"));
        assert!(graph.notes[0].contains("1 condition is known"), "{:?}", graph.notes);
    }
}

#[test]
fn branches_within_branches_and_beside_each_other_keep_their_names_apart() {
    let mut inner = choice("condition", None);
    inner.outputs = vec!["inner".into()];
    // Inside, the product reads what the outer branch made; its own names are the outer's again.
    let mut second = choice("condition", None);
    second.outputs = vec!["second".into()];
    let nodes = vec![choice("condition", Some(inner)), second];
    let graph = load(network(2, nodes), &[]).unwrap();
    assert_eq!(total_macs(&graph.layers().unwrap()), 3 * 2 * 4 * 3);
    assert!(graph.notes[0].contains("3 conditions are known"), "{:?}", graph.notes);
}

#[test]
fn a_condition_that_only_the_running_network_knows_is_said() {
    let graph = load(network(2, vec![choice("open", None)]), &[]).unwrap();
    assert_eq!(graph.layers().unwrap()[0].work.kind, OpKind::Opaque);
    let said = graph.notes.iter().any(|note| note.contains("control flow `If` (1 of them)"));
    assert!(said, "{:?}", graph.notes);
}

#[test]
fn what_a_branch_states_of_its_results_is_known() {
    let mut vendor = choice("condition", None);
    for attribute in &mut vendor.attributes {
        let body = attribute.graph.as_mut().unwrap();
        body.nodes = vec![Node { domain: "acme".into(), ..node("Foo", &["x"], &["z"]) }];
        body.outputs = vec![info("z", FLOAT, &["2", "8"])];
    }
    let mut graph = network(2, vec![vendor, node("MatMul", &["y", "v"], &["end"])]);
    graph.initializers.push(stored("v", FLOAT, &[8, 5]));
    graph.outputs = vec![unknown("end")];
    assert_eq!(total_macs(&load(graph, &[]).unwrap().layers().unwrap()), 2 * 8 * 5);
}

#[test]
fn a_long_name_is_not_repeated_in_full() {
    let mut choice = choice("condition", None);
    choice.name = "n".repeat(10_000);
    let graph = load(network(2, vec![choice]), &[]).unwrap();
    assert!(graph.tensors().all(|id| graph.tensor(id).name.len() < 200));
}
