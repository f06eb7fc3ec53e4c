use super::*;
use crate::model::{ElementFunction, ElementType, Layout, Movement, Op, Operator, TensorRole};
use proptest::prelude::*;
use std::collections::BTreeSet;

/// A network of operators that read and make one-byte elements, in the order of the file.
#[derive(Debug, Default)]
struct Sketch {
    inputs: Vec<(String, u64)>,
    operators: Vec<(String, u64, Vec<String>, bool)>,
    outputs: Vec<String>,
}

impl Sketch {
    fn input(mut self, name: &str, bytes: u64) -> Self {
        self.inputs.push((name.into(), bytes));
        self
    }

    /// An operator named as what it makes.
    fn makes(mut self, name: &str, bytes: u64, reads: &[&str]) -> Self {
        let reads = reads.iter().map(|r| (*r).to_owned()).collect();
        self.operators.push((name.into(), bytes, reads, false));
        self
    }

    fn views(mut self, name: &str, bytes: u64, of: &str) -> Self {
        self.operators.push((name.into(), bytes, vec![of.into()], true));
        self
    }

    fn outputs(mut self, names: &[&str]) -> Self {
        self.outputs = names.iter().map(|n| (*n).to_owned()).collect();
        self
    }

    fn graph(&self) -> ModelGraph {
        let mut graph = ModelGraph::new("sketch", Layout::ChannelsLast);
        let element = ElementType::Int8;
        for (name, bytes) in &self.inputs {
            graph.add(name, &[*bytes], element, TensorRole::Input).unwrap();
        }
        for (name, bytes, _, _) in &self.operators {
            graph.add(name, &[*bytes], element, TensorRole::Activation).unwrap();
        }
        for (name, _, reads, is_view) in &self.operators {
            let op = match is_view {
                true => Op::Movement(Movement::View),
                false => Op::Elementwise(ElementFunction::Add),
            };
            let inputs: Vec<_> = reads.iter().map(|r| graph.tensor_named(r)).collect();
            let output = graph.tensor_named(name).unwrap();
            graph.add_operator(Operator::new(name, "", op), &inputs, &[output]).unwrap();
        }
        let outputs = self.outputs.iter().map(|n| graph.tensor_named(n).unwrap()).collect();
        graph.set_outputs(outputs);
        graph
    }
}

/// Two branches: the file opens the wide one of each before it closes the other.
fn interleaved() -> Sketch {
    Sketch::default()
        .input("x", 4)
        .makes("a", 100, &["x"])
        .makes("b", 100, &["x"])
        .makes("a_small", 1, &["a"])
        .makes("b_small", 1, &["b"])
        .makes("sum", 1, &["a_small", "b_small"])
        .outputs(&["sum"])
}

#[test]
fn a_branch_is_closed_before_the_next_is_opened() {
    let memory = interleaved().graph().activation_memory();
    assert_eq!(memory.file.peak_bytes, 4 + 100 + 100);
    assert_eq!(memory.chosen.order, [0, 2, 1, 3, 4]);
    assert_eq!(memory.chosen.peak_bytes, 4 + 100 + 1);
    assert!(memory.is_lowest);
    assert_eq!(memory.chosen.during_bytes, [104, 105, 105, 102, 3]);
    assert_eq!(memory.chosen.after_bytes, [104, 5, 101, 2, 1]);
}

#[test]
fn the_peak_names_what_is_alive_at_it() {
    let memory = interleaved().graph().activation_memory();
    let named: Vec<_> =
        memory.file.peak_tensors.iter().map(|t| (t.name.as_str(), t.bytes)).collect();
    assert_eq!(memory.file.peak_at, Some(1));
    assert_eq!(named, [("a", 100), ("b", 100), ("x", 4)]);
    let sum: u64 = memory.chosen.peak_tensors.iter().map(|t| t.bytes).sum();
    assert_eq!(sum, memory.chosen.peak_bytes);
}

#[test]
fn an_order_that_no_other_beats_is_kept() {
    let chain = Sketch::default()
        .input("x", 10)
        .makes("a", 20, &["x"])
        .makes("b", 5, &["a"])
        .makes("c", 10, &["a", "b"])
        .outputs(&["c"]);
    let memory = chain.graph().activation_memory();
    assert_eq!((memory.method, memory.is_lowest), (OrderMethod::FileOrder, true));
    assert_eq!(memory.chosen, memory.file);
    assert_eq!(memory.file.peak_bytes, 35);
    let twins = Sketch::default()
        .input("x", 1)
        .makes("a", 7, &["x"])
        .makes("b", 7, &["x"])
        .makes("c", 1, &["a", "b"])
        .outputs(&["c"]);
    assert_eq!(twins.graph().activation_memory().chosen.order, [0, 1, 2]);
}

#[test]
fn a_view_and_its_input_are_counted_once_until_both_are_read() {
    let graph = Sketch::default()
        .input("x", 8)
        .makes("a", 50, &["x"])
        .views("flat", 50, "a")
        .makes("b", 10, &["flat"])
        .makes("c", 10, &["a", "b"])
        .makes("d", 1, &["c"])
        .outputs(&["d"])
        .graph();
    assert_eq!(graph.live_activation_bytes(), [58, 50, 60, 70, 11]);
    // What is filed under views and makes fewer bytes has its own.
    let extents = Sketch::default().input("x", 8).views("extents", 2, "x").outputs(&["extents"]);
    assert_eq!(extents.graph().live_activation_bytes(), [10]);
}

#[test]
fn views_of_inputs_and_of_results_live_as_long_as_those() {
    let graph = Sketch::default()
        .input("x", 8)
        .input("unread", 1000)
        .views("rows", 8, "x")
        .makes("a", 4, &["rows"])
        .views("result", 4, "a")
        .makes("last", 1, &["a"])
        .outputs(&["result", "last"])
        .graph();
    assert_eq!(graph.live_activation_bytes(), [8, 12, 4, 5]);
    assert_eq!(graph.activation_memory().chosen.after_bytes, [8, 4, 4, 5]);
}

#[test]
fn nothing_is_moved_across_an_operator_without_a_result() {
    let mut graph = interleaved().graph();
    let memory = graph.activation_memory();
    assert_ne!(memory.chosen.order, memory.file.order);
    let b = graph.tensor_named("b");
    // Behind everything, it holds nothing back but the buffer it reads.
    let write = Operator::new("write", "ASSIGN_VARIABLE", Op::Opaque);
    graph.add_operator(write, &[b], &[]).unwrap();
    let memory = graph.activation_memory();
    assert_eq!(memory.chosen.order.last(), Some(&5));
    let mut barrier = ModelGraph::new("barrier", Layout::ChannelsLast);
    let mut add = |name, bytes, role| barrier.add(name, &[bytes], ElementType::Int8, role).unwrap();
    let x = add("x", 4, TensorRole::Input);
    let made = [("a", 100), ("b", 100), ("c", 1), ("d", 1), ("e", 1)];
    let [a, b, c, d, e] = made.map(|(name, n)| add(name, n, TensorRole::Activation));
    let op = || Op::Elementwise(ElementFunction::Add);
    for (name, reads, makes) in [
        ("a", vec![x], vec![a]),
        ("b", vec![x], vec![b]),
        ("write", vec![x], vec![]),
        ("c", vec![a], vec![c]),
        ("d", vec![b], vec![d]),
        ("e", vec![c, d], vec![e]),
    ] {
        let reads: Vec<_> = reads.into_iter().map(Some).collect();
        barrier.add_operator(Operator::new(name, "", op()), &reads, &makes).unwrap();
    }
    barrier.set_outputs(vec![e]);
    let memory = barrier.activation_memory();
    assert_eq!(memory.chosen.order, [0, 1, 2, 3, 4, 5]);
    assert!(memory.is_lowest);
}

#[test]
fn a_wide_graph_is_ordered_by_rule_and_never_worse() {
    // Many branches of three, in the file level by level: too many sets to search them all.
    let mut sketch = Sketch::default().input("x", 1);
    let names: Vec<_> = (0..60).map(|i| format!("b{i}")).collect();
    for (i, name) in names.iter().enumerate() {
        sketch = sketch.makes(&format!("{name}_wide"), 100 + (i as u64 * 37) % 50, &["x"]);
    }
    for name in &names {
        sketch = sketch.makes(&format!("{name}_narrow"), 3, &[&format!("{name}_wide")]);
    }
    let narrow: Vec<_> = names.iter().map(|n| format!("{n}_narrow")).collect();
    let narrow: Vec<_> = narrow.iter().map(String::as_str).collect();
    sketch = sketch.makes("all", 1, &narrow).outputs(&["all"]);
    let memory = sketch.graph().activation_memory();
    assert!(memory.file.peak_bytes > 6000);
    assert!(memory.chosen.peak_bytes < 1 + 149 + 60 * 3, "{}", memory.chosen.peak_bytes);
}

#[test]
fn a_graph_too_large_to_search_is_improved_around_its_peak() {
    let mut sketch = Sketch::default().input("t0", 64);
    let mut state = 1u64;
    let mut random = |below: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    for at in 1..=2_500u64 {
        let reads = [(); 2].map(|()| format!("t{}", at.saturating_sub(1 + random(40))));
        let reads: BTreeSet<_> = reads.iter().map(String::as_str).collect();
        let reads: Vec<_> = reads.into_iter().collect();
        sketch = sketch.makes(&format!("t{at}"), 1 + random(900), &reads);
    }
    let graph = sketch.outputs(&["t2500"]).graph();
    let memory = graph.activation_memory();
    assert_eq!((memory.method, memory.is_lowest), (OrderMethod::Heuristic, false));
    assert!(memory.chosen.peak_bytes < memory.file.peak_bytes);
    can_run(&graph, &memory.chosen.order);
}

/// Every operator once, behind all it needs.
fn can_run(graph: &ModelGraph, order: &[usize]) {
    let storage = Storage::of(graph);
    let mut place = vec![None; storage.touched.len()];
    for (at, operator) in order.iter().enumerate() {
        assert_eq!(place[*operator].replace(at), None, "{operator} runs twice");
    }
    for (operator, makers) in storage.predecessors.iter().enumerate() {
        assert!(place[operator].is_some());
        assert!(makers.iter().all(|maker| place[*maker] < place[operator]), "{operator}");
    }
}

/// The lowest peak of all orders.
fn lowest(graph: &ModelGraph) -> u64 {
    let storage = Storage::of(graph);
    let mut lowest = u64::MAX;
    every_order(&storage, &mut Vec::new(), &mut |order| {
        let peak = storage.sweep(order).peak();
        lowest = lowest.min(u64::try_from(peak).unwrap());
    });
    lowest
}

fn every_order(storage: &Storage, order: &mut Vec<usize>, seen: &mut impl FnMut(&[usize])) {
    let count = storage.touched.len();
    if order.len() == count {
        return seen(order);
    }
    for next in 0..count {
        let ready = storage.predecessors[next].iter().all(|maker| order.contains(maker));
        if ready && !order.contains(&next) {
            order.push(next);
            every_order(storage, order, seen);
            order.pop();
        }
    }
}

fn sketches() -> impl Strategy<Value = Sketch> {
    let operator = (1u64..40, prop::collection::vec(0usize..9, 1..4), 0u8..6);
    (prop::collection::vec(operator, 1..8), prop::collection::vec(0usize..8, 1..3)).prop_map(
        |(operators, outputs)| {
            let mut sketch = Sketch::default().input("t0", 5).input("t1", 9);
            let mut sizes = vec![5, 9];
            for (bytes, reads, kind) in &operators {
                let reads: BTreeSet<_> = reads.iter().map(|r| r % sizes.len()).collect();
                let names: Vec<_> = reads.iter().map(|r| format!("t{r}")).collect();
                let name = format!("t{}", sizes.len());
                let first = *reads.first().unwrap();
                if *kind == 0 {
                    sketch = sketch.views(&name, sizes[first], &names[0]);
                    sizes.push(sizes[first]);
                } else {
                    let names: Vec<_> = names.iter().map(String::as_str).collect();
                    sketch = sketch.makes(&name, *bytes, &names);
                    sizes.push(*bytes);
                }
            }
            let outputs: BTreeSet<_> =
                outputs.iter().map(|o| format!("t{}", 2 + o % operators.len())).collect();
            sketch.outputs = outputs.into_iter().collect();
            sketch
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn the_chosen_order_is_the_best_of_all(sketch in sketches()) {
        let graph = sketch.graph();
        let memory = graph.activation_memory();
        prop_assert!(memory.is_lowest);
        prop_assert_eq!(memory.chosen.peak_bytes, lowest(&graph));
        can_run(&graph, &memory.chosen.order);
        let changed = memory.chosen.order != memory.file.order;
        prop_assert_eq!(changed, memory.chosen.peak_bytes < memory.file.peak_bytes);
        prop_assert_eq!(changed, memory.method != OrderMethod::FileOrder);
    }

    #[test]
    fn rules_give_orders_that_can_run(sketch in sketches()) {
        let graph = sketch.graph();
        let storage = Storage::of(&graph);
        let sweep = storage.sweep(&storage.file_order());
        let count = storage.touched.len();
        let region = region::Region::of(&storage, 0..count, storage.handed_in());
        let (order, peak) = greedy::best_by_rule(&region);
        let mut all = order.clone();
        all.sort_unstable();
        prop_assert_eq!(all, storage.file_order());
        prop_assert_eq!(peak, storage.sweep(&order).peak());
        prop_assert!(region.lower_bound <= peak.min(sweep.peak()));
    }
}

/// Rows that are written into a cache, which another operator reads, and a state that none touches.
fn with_states() -> ModelGraph {
    let mut graph = ModelGraph::new("states", Layout::ChannelsLast);
    let mut add = |name, bytes, role| graph.add(name, &[bytes], ElementType::Int8, role).unwrap();
    let x = add("x", 4, TensorRole::Input);
    let cache = add("cache", 100, TensorRole::State);
    add("other", 30, TensorRole::State);
    let made = [("rows", 4), ("write", 4), ("read", 100), ("y", 1)];
    let [rows, write, read, y] = made.map(|(name, n)| add(name, n, TensorRole::Activation));
    let sum = || Op::Elementwise(ElementFunction::Add);
    for (name, op, reads, makes) in [
        ("rows", sum(), vec![x], rows),
        ("write", Op::Movement(Movement::Scatter), vec![rows, cache], write),
        ("read", sum(), vec![cache], read),
        ("y", sum(), vec![read], y),
    ] {
        let reads: Vec<_> = reads.into_iter().map(Some).collect();
        graph.add_operator(Operator::new(name, "", op), &reads, &[makes]).unwrap();
    }
    graph.set_outputs(vec![y, write]);
    graph
}

#[test]
fn a_state_is_alive_throughout_and_holds_what_is_written_into_it() {
    let graph = with_states();
    let memory = graph.activation_memory();
    assert_eq!(memory.file.during_bytes, [138, 134, 230, 231]);
    assert_eq!(memory.file.after_bytes, [134, 130, 230, 131]);
    assert_eq!((memory.state_bytes, memory.state_tensors), (130, 2));
    let alive: Vec<_> =
        memory.chosen.peak_tensors.iter().map(|t| (t.name.as_str(), t.is_state)).collect();
    assert_eq!(alive, [("read", false), ("y", false), ("cache", true), ("other", true)]);
    let write = &graph.layers().unwrap()[1].work;
    assert_eq!((write.input_bytes, write.output_bytes), (4, 4), "the cache is not read");
}

#[test]
fn a_state_that_is_renewed_is_one_buffer() {
    let mut graph = ModelGraph::new("renewed", Layout::ChannelsLast);
    let mut add = |name, bytes, role| graph.add(name, &[bytes], ElementType::Int8, role).unwrap();
    let (x, state) = (add("x", 4, TensorRole::Input), add("state", 50, TensorRole::State));
    let new = add("new", 50, TensorRole::Activation);
    let shift = Operator::new("shift", "SVDF", Op::Movement(Movement::Scatter));
    graph.add_operator(shift, &[Some(state), Some(x)], &[new]).unwrap();
    assert_eq!(graph.live_activation_bytes(), [54]);
}
