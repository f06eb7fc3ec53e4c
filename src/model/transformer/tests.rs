use super::architecture::*;
use super::assemble;
use crate::model::builder::Stored;
use crate::model::{
    ElementType, ModelGraph, Op, Pass, TensorRole, Transform, apply, read_parameters, read_ron,
    stored_parameters, total_macs, total_parameters, write_ron,
};
use std::collections::BTreeSet;

fn experts(count: u64, picked: u64) -> Experts {
    let dense = BTreeSet::new();
    Experts { count, picked, width: 32, shared: None, shared_gate: false, dense }
}

fn mixture(experts: Experts, pass: Pass) -> ModelGraph {
    network(Some(experts), pass)
}

fn network(experts: Option<Experts>, pass: Pass) -> ModelGraph {
    let element = ElementType::Float16;
    let transformer = Transformer {
        name: "mixture".into(),
        element,
        hidden: 16,
        layers: 2,
        heads: Heads { query: 2, key: 1, extent: 8, window: None },
        feed_forward: 64,
        experts,
        conventions: Conventions {
            causal: true,
            shift: false,
            order: Order::Before,
            rotated: 8,
            head_norm: false,
            gated: true,
            activation: "silu".into(),
            bias: Bias::all(false),
            scaled: false,
        },
        stem: Stem::Tokens { vocabulary: 50, positions: None, segments: None },
        head: Head::Language { tied: true },
    };
    assemble(&transformer, pass, Stored { element, group: None }).unwrap()
}

#[test]
fn touched_experts_follow_the_expectation() {
    let e = experts(8, 2);
    assert_eq!(e.touched(1), 2, "one token touches what it picks");
    // 8 (1 - 0.75^2) = 3.5, rounded.
    assert_eq!(e.touched(2), 4);
    assert_eq!(e.touched(1000), 8);
    assert_eq!(experts(128, 8).touched(4), 29, "128 (1 - 0.9375^4) = 29.1");
    assert_eq!(experts(2, 2).touched(3), 2);
    assert_eq!(experts(1 << 31, 1).touched(1 << 31), 1_357_468_564, "1 - 1/e of them");
}

#[test]
fn picks_are_spread_over_whole_tokens() {
    for tokens in [1, 2, 5, 17, 1000] {
        for e in [experts(8, 2), experts(128, 8), experts(2, 2)] {
            let groups = e.spread(tokens);
            let picks: u64 = groups.iter().map(|(experts, each)| experts * each).sum();
            let touched: u64 = groups.iter().map(|(experts, _)| experts).sum();
            assert_eq!((picks, touched), (tokens * e.picked, e.touched(tokens)), "{groups:?}");
        }
    }
    assert_eq!(experts(8, 2).spread(1), [(2, 1)]);
    // 8 (1 - 0.75^5) = 6.1: ten picks on six experts.
    assert_eq!(experts(8, 2).spread(5), [(2, 1), (4, 2)]);
}

#[test]
fn idle_experts_are_stored_and_not_read() {
    let expert = 3 * 32 * 16;
    let one = mixture(experts(8, 2), Pass::Decode(4));
    assert_eq!(stored_parameters(&one) - read_parameters(&one), 2 * 6 * expert);
    let layers = one.layers().unwrap();
    assert_eq!(total_parameters(&layers) - read_parameters(&one), 50 * 16, "the tied head again");
    let read: u64 =
        layers.iter().filter(|l| l.name.contains("experts")).map(|l| l.work.parameters).sum();
    assert_eq!(read, 2 * 2 * expert);
    let again = read_ron("again.ron", &write_ron(&one).unwrap()).unwrap();
    assert_eq!(stored_parameters(&again), stored_parameters(&one), "written, though not read");
    let many = mixture(experts(8, 2), Pass::Prefill(100));
    assert_eq!(stored_parameters(&many), stored_parameters(&one));
    assert_eq!(read_parameters(&many), stored_parameters(&many));
}

#[test]
fn a_mixture_multiplies_each_pick_once() {
    let tokens = 5;
    let sparse = total_macs(&mixture(experts(8, 2), Pass::Prefill(tokens)).layers().unwrap());
    let single = total_macs(&mixture(experts(8, 1), Pass::Prefill(tokens)).layers().unwrap());
    assert_eq!(sparse - single, 2 * tokens * 3 * 32 * 16);
    let shared = Experts { shared: Some(40), shared_gate: true, ..experts(8, 1) };
    let shared = total_macs(&mixture(shared, Pass::Prefill(tokens)).layers().unwrap());
    assert_eq!(shared - single, 2 * tokens * (3 * 40 * 16 + 16));
    let dense = Experts { dense: BTreeSet::from([0]), ..experts(8, 1) };
    let dense = total_macs(&mixture(dense, Pass::Prefill(tokens)).layers().unwrap());
    assert_eq!(dense + tokens * (3 * 32 + 8) * 16, single + tokens * 3 * 64 * 16);
}

#[test]
fn a_cache_outlives_the_pass_and_is_of_its_rows() {
    let cache = |keys: u64| 2 * 2 * keys * 8 * 2;
    let decode = mixture(experts(8, 2), Pass::Decode(40)).activation_memory();
    assert_eq!((decode.state_bytes, decode.state_tensors), (cache(40), 4));
    assert!(decode.file.after_bytes.iter().all(|alive| *alive >= cache(40)));
    assert_eq!(decode.file.after_bytes.last(), Some(&(cache(40) + 50 * 2)), "and the scores");
    let prefill = mixture(experts(8, 2), Pass::Prefill(40)).activation_memory();
    assert_eq!(prefill.state_bytes, cache(40));
    assert_eq!(prefill.file.after_bytes.last(), decode.file.after_bytes.last());
}

#[test]
fn samples_have_a_cache_each_and_a_cache_keeps_its_format_where_layers_change() {
    let decode = network(None, Pass::Decode(40));
    let four = apply(&decode, &[Transform::Batch(4)]).unwrap();
    let bytes = |graph: &ModelGraph| graph.activation_memory().state_bytes;
    assert_eq!(bytes(&four), 4 * bytes(&decode));
    let precision = |layers: Option<&str>| {
        let layers = layers.map(str::to_owned);
        let to = Transform::Precision { to: ElementType::Int8, weights_only: false, layers };
        apply(&decode, &[to]).unwrap()
    };
    let whole = precision(None);
    assert_eq!(2 * bytes(&whole), bytes(&decode));
    let some = precision(Some("layers.*.keys.write"));
    assert_eq!(bytes(&some), bytes(&decode));
    let states = some.tensors().filter(|id| some.tensor(*id).role == TensorRole::State);
    let readers = states.flat_map(|id| some.consumers(id).collect::<Vec<_>>());
    assert!(readers.into_iter().all(|id| some.operator(id).op != Op::Convert));
}
