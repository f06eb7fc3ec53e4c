use super::*;

fn form(graph: &ModelGraph, tensor: &str) -> (E, bool) {
    let tensor = graph.tensor(graph.tensor_named(tensor).unwrap());
    (tensor.element, tensor.sparsity.is_some())
}

const EXPERTS: Op = Op::MatMul { transpose_a: false, transpose_b: true };

/// Two of sixteen experts are read; the others are stored beside them.
fn mixture() -> ModelGraph {
    let mut graph =
        Chain::new(&[2, 1, 8], E::Float32).then("up", EXPERTS, &[&[2, 8, 8]], &[2, 1, 8]).graph;
    graph.add("idle", &[14, 8, 8], E::Float32, TensorRole::Constant).unwrap();
    graph.add("idle_map", &[3], E::Int64, TensorRole::Constant).unwrap();
    graph
}

#[test]
fn what_no_operator_reads_stays_stored_and_changes_with_what_is_like_it() {
    let graph = mixture();
    let half = Sparsity::Structured { keep: 2, of: 4 };
    let weights = |to| Transform::Precision { to, weights_only: true, layers: None };
    for (transform, idle) in [
        (Transform::Batch(2), (E::Float32, false)),
        (Transform::Fuse, (E::Float32, false)),
        (to(E::Int8, None), (E::Int8, false)),
        (weights(E::Int4), (E::Int4, false)),
        (Transform::Sparsity { stored: half, layers: None }, (E::Float32, true)),
    ] {
        let Ok(made) = apply(&graph, std::slice::from_ref(&transform)) else {
            assert!(matches!(transform, Transform::Batch(_)), "experts are not samples");
            continue;
        };
        assert_eq!(form(&made, "idle"), idle, "{transform}");
        assert_eq!(form(&made, "idle_map"), (E::Int64, false), "no number");
        assert_eq!(crate::model::stored_parameters(&made), 16 * 64 + 3, "{transform}");
    }
}

#[test]
fn what_no_operator_reads_stays_where_others_like_it_differ() {
    let mut chain = Chain::new(&[2, 1, 8], E::Float32)
        .then("up", EXPERTS, &[&[2, 8, 8]], &[2, 1, 8])
        .then("down", EXPERTS, &[&[2, 8, 8]], &[2, 1, 8]);
    chain.graph.add("idle", &[14, 8, 8], E::Float32, TensorRole::Constant).unwrap();
    let made = one(&chain.graph, to(E::Int8, Some("up")));
    assert_eq!(form(&made, "idle"), (E::Float32, false));
    assert_eq!(made.transforms[0].kept[0].operator, "idle");
}

#[test]
fn scales_stay_floats_and_go_with_the_filters_that_need_them() {
    let product = Op::FullyConnected;
    let mut graph = ModelGraph::new("scaled", Layout::ChannelsLast);
    let mut add =
        |name: &str, shape: &[u64], element, role| graph.add(name, shape, element, role).unwrap();
    let x = add("x", &[1, 8], E::Float16, TensorRole::Input);
    let filter = add("filter", &[4, 8], E::Int4, TensorRole::Constant);
    let scales = add("scales", &[4, 2], E::Float16, TensorRole::Constant);
    add("idle_scales", &[4, 2], E::Float16, TensorRole::Constant);
    let y = add("y", &[1, 4], E::Float16, TensorRole::Activation);
    let inputs = [Some(x), Some(filter), None, Some(scales)];
    graph.add_operator(Operator::new("product", "", product), &inputs, &[y]).unwrap();
    graph.set_outputs(vec![y]);
    let weights = |to| Transform::Precision { to, weights_only: true, layers: None };
    for transform in [to(E::Int8, None), weights(E::Int8)] {
        let made = one(&graph, transform);
        assert_eq!((form(&made, "filter").0, form(&made, "scales").0), (E::Int8, E::Float16));
        assert!(made.tensor_named("idle_scales").is_some());
    }
    for transform in [to(E::Float32, None), to(E::Int16, None), weights(E::Float16)] {
        let made = one(&graph, transform);
        assert_eq!(made.inputs(made.operators().next().unwrap()).len(), 2);
        assert!(
            made.tensor_named("scales").is_none() && made.tensor_named("idle_scales").is_none()
        );
        assert!(made.transforms[0].changed.iter().any(|c| c.contains("needs no scales")));
    }
}

#[test]
fn a_table_that_is_the_head_too_is_stored_once() {
    let mut graph = ModelGraph::new("tied", Layout::ChannelsLast);
    let mut add =
        |name: &str, shape: &[u64], element, role| graph.add(name, shape, element, role).unwrap();
    let tokens = add("tokens", &[1, 1], E::Int32, TensorRole::Input);
    let table = add("table", &[50, 8], E::Float16, TensorRole::Constant);
    let x = add("x", &[1, 1, 8], E::Float16, TensorRole::Activation);
    let y = add("y", &[1, 1, 50], E::Float16, TensorRole::Activation);
    let embed = Operator::new("embed", "", Op::Movement(Movement::Gather));
    graph.add_operator(embed, &[Some(table), Some(tokens)], &[x]).unwrap();
    let head = Operator::new("head", "", Op::FullyConnected);
    graph.add_operator(head, &[Some(x), Some(table)], &[y]).unwrap();
    graph.set_outputs(vec![y]);
    let weights = |layers: Option<&str>| Transform::Precision {
        to: E::Int8,
        weights_only: true,
        layers: layers.map(str::to_owned),
    };
    let made = one(&graph, weights(None));
    assert_eq!(crate::model::stored_parameters(&made), 400);
    assert_eq!(form(&made, "table").0, E::Float16);
    let kept = &made.transforms[0].kept[0];
    assert_eq!((kept.operator.as_str(), kept.reason.contains("`embed`")), ("head", true));
    let asked = one(&graph, weights(Some("head")));
    let said = asked.transforms[0].changed.join("; ");
    assert!(said.contains("1 stored tensor is there in both formats"), "{said}");
}

fn structured(keep: u32, of: u32) -> Transform {
    Transform::Sparsity { stored: Sparsity::Structured { keep, of }, layers: None }
}

#[test]
fn a_structure_that_other_extents_do_not_divide_is_given_up() {
    let graph = Chain::new(&[1, 16, 4, 4], E::Int8)
        .then("a", conv(1), &[&[16, 16, 1, 1]], &[1, 16, 4, 4])
        .then("b", conv(1), &[&[16, 16, 1, 1]], &[1, 16, 4, 4])
        .graph;
    let (sparse, narrow) = (structured(2, 16), Transform::Width(0.5));
    let first = apply(&graph, &[sparse.clone(), narrow.clone()]).unwrap();
    let last = apply(&graph, &[narrow, sparse]).unwrap();
    assert_eq!(first.layers().unwrap(), last.layers().unwrap());
    assert_eq!(first.transforms[1].kept, last.transforms[1].kept);
    assert_eq!(first.transforms[1].kept[0].operator, "b");
}

#[test]
fn a_structure_that_keeps_all_changes_nothing_but_one_that_did_not() {
    let graph = Chain::new(PLANE, E::Int8).then("a", conv(1), &[FILTERS], PLANE).graph;
    let whole = one(&graph, structured(4, 4));
    assert!(whole.transforms[0].changed.is_empty());
    let again = apply(&graph, &[structured(2, 4), structured(4, 4)]).unwrap();
    assert_eq!(again.layers().unwrap(), graph.layers().unwrap());
    assert_eq!(again.transforms[1].changed[0], "1 filter stored whole again");
}

#[test]
fn a_separated_convolution_is_as_sparse_where_that_fits() {
    let graph = Chain::new(PLANE, E::Int8).then("a", conv(1), &[FILTERS], PLANE).graph;
    let apart = Transform::Separable("a".into());
    for sparse in [
        structured(2, 4),
        Transform::Sparsity { stored: Sparsity::Unstructured { zeros: 0.75 }, layers: None },
    ] {
        let first = apply(&graph, &[sparse.clone(), apart.clone()]).unwrap();
        let last = apply(&graph, &[apart.clone(), sparse]).unwrap();
        assert_eq!(first.layers().unwrap(), last.layers().unwrap());
        assert_eq!(first.transforms[1].kept, last.transforms[1].kept);
    }
}

#[test]
fn a_transposed_convolution_sums_over_its_channels() {
    let mut convolution = conv(1);
    if let Op::Convolution(c) = &mut convolution {
        (c.transposed, c.strides) = (true, vec![2, 2]);
    }
    // 6 channels in, 4 out: the sum is over 6, not over 4 x 2 x 2.
    let graph = Chain::new(&[1, 6, 4, 4], E::Int8)
        .then("up", convolution, &[&[6, 4, 2, 2]], &[1, 4, 8, 8])
        .graph;
    assert_eq!(one(&graph, structured(1, 3)).transforms[0].kept, []);
    let kept = &one(&graph, structured(2, 4)).transforms[0].kept;
    assert!(kept[0].reason.contains("a depth of 6"), "{}", kept[0].reason);
}

#[test]
fn notes_state_figures_of_the_network_before() {
    let mut graph = Chain::new(PLANE, E::Int8).then("a", conv(1), &[FILTERS], PLANE).graph;
    graph.notes = vec!["a cache of 64 B is read once".into()];
    let made = apply(&graph, &[Transform::Batch(2), Transform::Batch(4)]).unwrap();
    assert_eq!(made.notes, ["before transforms: a cache of 64 B is read once"]);
    let same = apply(&graph, &[Transform::Batch(1), Transform::Width(1.0)]).unwrap();
    assert_eq!(same.notes, graph.notes);
}
