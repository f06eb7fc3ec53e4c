use super::*;
use crate::model::{Live, WeightStatistics};

const STATISTICS: WeightStatistics = WeightStatistics {
    zeros: 0.5,
    entropy_bits: 3.0,
    one_of_four: Some(0.0),
    two_of_four: Some(1.0),
    four_of_eight: Some(1.0),
    zero_filters: 1,
};

fn tensor(graph: &ModelGraph, name: &str) -> crate::model::Tensor {
    graph.tensor(graph.tensor_named(name).unwrap()).clone()
}

#[test]
fn a_normalisation_of_other_axes_than_the_columns_stays() {
    let product = Op::MatMul { transpose_a: false, transpose_b: false };
    let rows: &[u64] = &[10];
    let graph = Chain::new(&[1, 10, 64], E::Float32)
        .then("product", product, &[&[64, 32]], &[1, 10, 32])
        .then("bn", Op::BatchNormalisation, &[rows, rows, rows, rows], &[1, 10, 32])
        .graph;
    let made = one(&graph, Transform::Fuse);
    assert_eq!(names(&made), ["product", "bn"]);
    let kept = &made.transforms[0].kept[0];
    assert_eq!(kept.operator, "bn");
    assert!(kept.reason.contains("columns of `product`"), "{}", kept.reason);
}

#[test]
fn filters_that_others_read_are_copied_for_the_fold() {
    let each: [&[u64]; 4] = [EACH, EACH, EACH, EACH];
    let mut chain = Chain::new(PLANE, E::Float32).then("a", conv(1), &[FILTERS], PLANE).then(
        "a_bn",
        Op::BatchNormalisation,
        &each,
        PLANE,
    );
    let shared = chain.graph.tensor_named("a_0").unwrap();
    let made = chain.graph.add("b_y", PLANE, E::Float32, TensorRole::Activation).unwrap();
    let inputs = [Some(chain.last), Some(shared)];
    chain.graph.add_operator(Operator::new("b", "", conv(1)), &inputs, &[made]).unwrap();
    chain.last = made;
    let graph = chain.then("b_bn", Op::BatchNormalisation, &each, PLANE).graph;
    let made = one(&graph, Transform::Fuse);
    assert_eq!(names(&made), ["a", "b"]);
    let said = made.transforms[0].changed.join("; ");
    assert!(said.contains("1 stored tensor copied"), "the last needs no copy: {said}");
    // Two filters instead of one, and a bias for each instead of four statistics.
    let stored = |graph: &ModelGraph| crate::model::stored_parameters(graph);
    assert_eq!((stored(&graph), stored(&made)), (576 + 2 * 32, 2 * (576 + 8)));
}

#[test]
fn a_fold_changes_the_numbers_of_filters_and_not_which_are_live() {
    let each: [&[u64]; 4] = [EACH, EACH, EACH, EACH];
    let mut graph = Chain::new(PLANE, E::Float32)
        .then("conv", conv(1), &[FILTERS], PLANE)
        .then("bn", Op::BatchNormalisation, &each, PLANE)
        .graph;
    let filter = graph.tensor_named("conv_0").unwrap();
    graph.tensor_mut(filter).statistics = Some(STATISTICS);
    graph.tensor_mut(filter).sparsity = Some(Sparsity::Structured { keep: 2, of: 4 });
    let operator = graph.operators().next().unwrap();
    let live = Some(Live { channels: 7, products: 56, of: 64 });
    graph.operator_mut(operator).live = live;
    let made = one(&graph, Transform::Fuse);
    let filter = tensor(&made, "conv_0");
    assert_eq!(filter.statistics, None);
    assert_eq!(filter.sparsity, Some(Sparsity::Structured { keep: 2, of: 4 }), "zeros stay zeros");
    assert_eq!(made.operator(made.operators().next().unwrap()).live, live);
}

#[test]
fn the_bias_of_a_fold_is_as_wide_as_sums_are() {
    for (element, bias) in [(E::UInt16, E::Int32), (E::Int8, E::Int32), (E::Float16, E::Float16)] {
        let graph = Chain::new(PLANE, element)
            .then("conv", conv(1), &[FILTERS], PLANE)
            .then("bn", Op::BatchNormalisation, &[EACH, EACH, EACH, EACH], PLANE)
            .graph;
        assert_eq!(tensor(&one(&graph, Transform::Fuse), "conv/bias").element, bias, "{element}");
    }
}

#[test]
fn live_channels_behind_other_filters_are_not_known() {
    let mut graph = Chain::new(PLANE, E::Int8)
        .then("front", conv(1), &[FILTERS], PLANE)
        .then("a", conv(1), &[FILTERS], PLANE)
        .then("relu", CLIP, &[], PLANE)
        .then("b", conv(1), &[FILTERS], PLANE)
        .graph;
    let live = Live { channels: 8, products: 32, of: 64 };
    for id in graph.operators().collect::<Vec<_>>() {
        graph.operator_mut(id).live = Some(live);
    }
    let known = |graph: &ModelGraph| -> Vec<String> {
        let known = graph.operators().filter(|id| graph.operator(*id).live.is_some());
        known.map(|id| graph.operator(id).name.clone()).collect()
    };
    let sparse = Sparsity::Unstructured { zeros: 0.5 };
    for transform in [
        Transform::Separable("a".into()),
        Transform::Sparsity { stored: sparse, layers: Some("a".into()) },
    ] {
        assert_eq!(known(&one(&graph, transform)), ["front"]);
    }
    assert_eq!(known(&one(&graph, Transform::Batch(2))).len(), 4);
    assert_eq!(known(&one(&graph, to(E::Int4, None))).len(), 4, "zeros stay zeros");
    let wide = one(&graph, Transform::Width(2.0));
    assert!(known(&wide).is_empty(), "{:?}", known(&wide));
}
