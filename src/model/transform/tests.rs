mod extents;
mod folds;
mod formats;
mod storage;

use super::*;
use crate::model::{
    Convolution, ElementFunction, Layout, Movement, Op, Operator, Padding, TensorId, TensorRole,
    read_ron, write_ron,
};
use ElementType as E;

/// A chain of operators on one tensor, each with its constants.
struct Chain {
    graph: ModelGraph,
    last: TensorId,
}

impl Chain {
    fn new(shape: &[u64], element: E) -> Self {
        let mut graph = ModelGraph::new("chain", Layout::ChannelsFirst);
        let last = graph.add("x", shape, element, TensorRole::Input).unwrap();
        graph.set_outputs(vec![last]);
        Self { graph, last }
    }

    fn then(mut self, name: &str, op: Op, constants: &[&[u64]], made: &[u64]) -> Self {
        let element = self.graph.tensor(self.last).element;
        let mut inputs = vec![Some(self.last)];
        for (i, shape) in constants.iter().enumerate() {
            let constant = format!("{name}_{i}");
            let at = self.graph.add(&constant, shape, element, TensorRole::Constant).unwrap();
            inputs.push(Some(at));
        }
        let output = format!("{name}_y");
        self.last = self.graph.add(&output, made, element, TensorRole::Activation).unwrap();
        self.graph.add_operator(Operator::new(name, "", op), &inputs, &[self.last]).unwrap();
        self.graph.set_outputs(vec![self.last]);
        self
    }

    fn add(mut self, name: &str, other: &str) -> Self {
        let other = self.graph.tensor_named(other).unwrap();
        let shape = self.graph.tensor(self.last).shape.clone().unwrap();
        let element = self.graph.tensor(self.last).element;
        let made = self.graph.add(&format!("{name}_y"), &shape.0, element, TensorRole::Activation);
        let (op, made) = (Op::Elementwise(ElementFunction::Add), made.unwrap());
        let inputs = [Some(other), Some(self.last)];
        self.graph.add_operator(Operator::new(name, "Add", op), &inputs, &[made]).unwrap();
        self.last = made;
        self.graph.set_outputs(vec![made]);
        self
    }
}

fn conv(groups: u64) -> Op {
    Op::Convolution(Convolution {
        strides: vec![1, 1],
        dilations: vec![1, 1],
        padding: Padding::Same,
        groups,
        transposed: false,
    })
}

const CLIP: Op = Op::Elementwise(ElementFunction::Clip);
const PLANE: &[u64] = &[1, 8, 4, 4];
const FILTERS: &[u64] = &[8, 8, 3, 3];
const EACH: &[u64] = &[8];

fn one(graph: &ModelGraph, transform: Transform) -> ModelGraph {
    let made = apply(graph, &[transform]).unwrap();
    let again = read_ron("again.ron", &write_ron(&made).unwrap()).unwrap();
    assert_eq!(again.layers().unwrap(), made.layers().unwrap());
    assert_eq!(again.transforms, made.transforms);
    made
}

fn names(graph: &ModelGraph) -> Vec<String> {
    graph.operators().map(|id| graph.operator(id).name.clone()).collect()
}

fn to(to: E, layers: Option<&str>) -> Transform {
    Transform::Precision { to, weights_only: false, layers: layers.map(str::to_owned) }
}

#[test]
fn what_stays_in_float_is_listed_and_conversions_stand_at_its_borders() {
    let graph = Chain::new(PLANE, E::Float32)
        .then("conv", conv(1), &[FILTERS, EACH], PLANE)
        .then("norm", Op::Normalisation, &[EACH], PLANE)
        .then("exp", Op::Elementwise(ElementFunction::Transcendental), &[], PLANE)
        .then("relu", CLIP, &[], PLANE)
        .graph;
    let made = one(&graph, to(E::Int8, None));
    assert_eq!(names(&made), ["conv", "conv_y/to_Float32", "norm", "exp", "exp_y/to_Int8", "relu"]);
    let kept: Vec<_> = made.transforms[0].kept.iter().map(|k| k.operator.as_str()).collect();
    assert_eq!(kept, ["norm", "exp"]);
    let element = |name: &str| made.tensor(made.tensor_named(name).unwrap()).element;
    assert_eq!([element("x"), element("conv_0"), element("relu_y")], [E::Int8; 3]);
    assert_eq!(element("conv_1"), E::Int32, "a bias is added to an accumulator");
    assert_eq!([element("norm_0"), element("norm_y")], [E::Float32; 2]);
    let narrow = one(&graph, to(E::Float8, None));
    let element = |name: &str| narrow.tensor(narrow.tensor_named(name).unwrap()).element;
    assert_eq!(
        [element("x"), element("conv_0"), element("conv_1")],
        [E::Float8, E::Float8, E::Float32]
    );
    assert_eq!(element("norm_y"), E::Float32, "statistics need more than 8 bits");
    let asked = apply(&graph, &[to(E::Int8, Some("norm"))]).unwrap();
    assert!(asked.transforms[0].kept.is_empty(), "by its name it is converted");
    let float = one(&graph, to(E::Float16, None));
    assert!(float.transforms[0].kept.is_empty());
    assert_eq!(names(&float), names(&graph));
}

#[test]
fn a_layer_is_converted_with_what_it_reads_and_the_network_hands_out_what_it_did() {
    let graph = Chain::new(PLANE, E::Int8)
        .then("a", conv(1), &[FILTERS], PLANE)
        .then("b", conv(1), &[FILTERS], PLANE)
        .graph;
    let made = one(&graph, to(E::Int16, Some("b")));
    assert_eq!(names(&made), ["a", "a_y/to_Int16", "b", "b_y/to_Int8"]);
    let output = made.tensor(made.outputs()[0]);
    assert_eq!((output.name.as_str(), output.element), ("b_y", E::Int8));
    let back = one(&made, to(E::Int8, None));
    assert_eq!(names(&back).len(), 3, "what converts nothing is gone, but for the result");
    let weights = Transform::Precision { to: E::Int4, weights_only: true, layers: None };
    let made = one(&graph, weights);
    let layers = made.layers().unwrap();
    assert!(layers.iter().all(|layer| layer.work.element == E::Int8));
    assert_eq!(layers[0].work.weight_bytes, 8 * 8 * 9 / 2);
}

#[test]
fn conversions_around_a_quantised_operator_stand_for_its_format() {
    let mut chain = Chain::new(PLANE, E::Float32).then("q", Op::Convert, &[], PLANE);
    chain.graph.tensor_mut(chain.last).element = E::Int8;
    let mut chain = chain.then("dq", Op::Convert, &[], PLANE);
    chain.graph.tensor_mut(chain.last).element = E::Float32;
    let graph = chain.then("conv", conv(1), &[FILTERS], PLANE).graph;
    let made = one(&graph, to(E::Int8, None));
    assert_eq!(names(&made), ["conv"]);
}

#[test]
fn behind_a_convolution_all_is_done_on_the_way_out() {
    let graph = Chain::new(PLANE, E::Float32)
        .then("conv", conv(1), &[FILTERS], PLANE)
        .then("bn", Op::BatchNormalisation, &[EACH, EACH, EACH, EACH], PLANE)
        .add("add", "x")
        .then("relu", CLIP, &[], PLANE)
        .graph;
    let made = one(&graph, Transform::Fuse);
    assert_eq!(names(&made), ["conv"]);
    let (before, after) = (graph.layers().unwrap(), made.layers().unwrap());
    let work = &after[0].work;
    assert_eq!(work.macs, before[0].work.macs);
    assert_eq!(work.parameters, 8 * 8 * 9 + 8);
    assert_eq!(work.element_ops, 2 * 128, "the addition and the activation");
    assert_eq!(work.input_bytes, 2 * 128 * 4, "the residual is read");
    assert_eq!(made.tensor(made.outputs()[0]).name, "relu_y");
}

#[test]
fn what_others_read_is_not_fused_away() {
    let graph = Chain::new(PLANE, E::Float32)
        .then("conv", conv(1), &[FILTERS], PLANE)
        .then("relu", CLIP, &[], PLANE)
        .add("add", "conv_y")
        .graph;
    assert_eq!(names(&one(&graph, Transform::Fuse)), names(&graph));
    let graph = Chain::new(PLANE, E::Float32)
        .then("conv", conv(1), &[FILTERS], PLANE)
        .then("shift", Op::Elementwise(ElementFunction::Add), &[&[8, 1, 1]], PLANE)
        .then("prelu", CLIP, &[&[8, 1, 1]], PLANE)
        .graph;
    let made = one(&graph, Transform::Fuse);
    assert_eq!(names(&made), ["conv", "prelu"], "slopes of each channel are parameters");
    let pad = Op::Movement(Movement::Pad);
    let graph = Chain::new(&[1, 8, 2, 2], E::Float32)
        .then("pad", pad, &[], PLANE)
        .then("conv", conv(1), &[FILTERS], PLANE)
        .graph;
    let made = one(&graph, Transform::Fuse);
    assert_eq!(made.transforms[0].kept[0].operator, "pad");
}

#[test]
fn filters_that_a_structure_does_not_divide_stay_dense() {
    let graph = Chain::new(PLANE, E::Int8)
        .then("stem", conv(1), &[&[8, 8, 3, 3]], PLANE)
        .then("depthwise", conv(8), &[&[8, 1, 3, 3]], PLANE)
        .graph;
    let of =
        |keep, of| Transform::Sparsity { stored: Sparsity::Structured { keep, of }, layers: None };
    let made = one(&graph, of(2, 4));
    let layers = made.layers().unwrap();
    assert_eq!(layers[0].work.weight_bytes, 8 * 8 * 9 * 5 / 8, "half, and two bits of index each");
    assert_eq!(layers[0].work.skippable_macs * 2, layers[0].work.macs);
    assert_eq!(layers[1].work.skippable_macs, 0);
    let kept: Vec<_> = made.transforms[0].kept.iter().map(|k| k.operator.as_str()).collect();
    assert_eq!(kept, ["depthwise"]);
    let made = one(&graph, of(1, 5));
    assert_eq!(made.transforms[0].kept.len(), 2, "72 is not divided by 5");
}

#[test]
fn separated_convolutions_count_by_the_formula() {
    for (layout, plane, filters) in [
        (Layout::ChannelsFirst, [1, 8, 4, 4], [16, 8, 3, 3]),
        (Layout::ChannelsLast, [1, 4, 4, 8], [16, 3, 3, 8]),
    ] {
        let mut chain = Chain::new(&plane, E::Int8);
        chain.graph.layout = layout;
        let made = if layout == Layout::ChannelsLast { [1, 4, 4, 16] } else { [1, 16, 4, 4] };
        let graph = chain.then("conv", conv(1), &[&filters, &[16]], &made).graph;
        let made = one(&graph, Transform::Separable("conv".into()));
        let layers = made.layers().unwrap();
        assert_eq!(layers[0].work.macs, 16 * 8 * 9);
        assert_eq!(layers[1].work.macs, 16 * 8 * 16);
        assert_eq!((layers[0].name.as_str(), layers[1].name.as_str()), ("conv/depthwise", "conv"));
        assert_eq!(layers[1].work.parameters, 8 * 16 + 16, "the bias stays");
    }
}

#[test]
fn a_stored_token_is_repeated_for_each_sample() {
    let mut chain = Chain::new(&[1, 4, 8], E::Int8);
    let token = chain.graph.add("token", &[1, 1, 8], E::Int8, TensorRole::Constant).unwrap();
    let joined = chain.graph.add("y", &[1, 5, 8], E::Int8, TensorRole::Activation).unwrap();
    let operator = Operator::new("join", "", Op::Movement(Movement::Concatenate));
    chain.graph.add_operator(operator, &[Some(token), Some(chain.last)], &[joined]).unwrap();
    chain.graph.set_outputs(vec![joined]);
    let made = one(&chain.graph, Transform::Batch(6));
    assert_eq!(names(&made), ["token/repeated", "join"]);
    let shape = |graph: &ModelGraph| graph.tensor(graph.outputs()[0]).shape.clone().unwrap().0;
    assert_eq!(shape(&made), [6, 5, 8]);
    let back = one(&made, Transform::Batch(2));
    assert_eq!((names(&back), shape(&back)), (names(&made), vec![2, 5, 8]));
}

#[test]
fn slices_that_take_a_tensor_in_equal_parts_keep_doing_so() {
    let whole: &[u64] = &[1, 16, 4, 4];
    let mut chain =
        Chain::new(PLANE, E::Int8).then("conv", conv(1), &[&[32, 8, 1, 1]], &[1, 32, 4, 4]);
    let part = |chain: &mut Chain, name: &str| {
        let made = chain.graph.add(name, whole, E::Int8, TensorRole::Activation).unwrap();
        let operator = Operator::new(name, "", Op::Movement(Movement::Slice));
        chain.graph.add_operator(operator, &[Some(chain.last)], &[made]).unwrap();
        made
    };
    let (first, second) = (part(&mut chain, "first"), part(&mut chain, "second"));
    chain.last = first;
    let mut chain = chain.add("sum", "second").then("last", conv(1), &[&[8, 16, 1, 1]], PLANE);
    let half = one(&chain.graph, Transform::Width(0.5));
    assert_eq!(half.layers().unwrap()[1].output_shape.as_ref().unwrap().0, [1, 8, 4, 4]);
    chain.graph.tensor_mut(second).shape.as_mut().unwrap().0[1] = 8;
    assert!(apply(&chain.graph, &[Transform::Width(0.5)]).is_err(), "of 16 and 8 nothing is known");
}

#[test]
fn what_cannot_follow_is_named() {
    let graph = Chain::new(&[1, 8, 4, 4], E::Int8)
        .then("conv", conv(1), &[FILTERS], PLANE)
        .then("flat", Op::Movement(Movement::View), &[], &[1, 128])
        .then("classes", Op::FullyConnected, &[&[10, 128]], &[1, 10])
        .graph;
    for (transform, said) in [
        (Transform::Resolution(vec![2]), "operator `classes` cannot follow: its stored weights"),
        (to(E::Int8, Some("convs")), "no layer is called `convs`; did you mean `conv`?"),
        (to(E::Int64, None), "nothing is computed in Int64"),
        (Transform::Batch(0), "at least 1 sample"),
        (Transform::Batch(u64::MAX), "too large"),
        (Transform::Width(f64::NAN), "a factor above 0"),
        (Transform::Width(1001.0), "at most 1000"),
        (Transform::Resolution(vec![1, 2, 3]), "3 extents for 2 spatial axes"),
        (Transform::Separable("classes".into()), "it is no convolution"),
        (Transform::Separable("fl*".into()), "no standard convolution"),
    ] {
        let error = apply(&graph, std::slice::from_ref(&transform)).unwrap_err().to_string();
        assert!(error.contains(said) && error.contains(&transform.to_string()), "{error}");
    }
    let lstm = Op::Recurrence(crate::model::Recurrence {
        cell: crate::model::Cell::Lstm,
        hidden: 4,
        steps: 5,
        directions: 1,
    });
    let steps = Chain::new(&[5, 1, 16], E::Int8).then("lstm", lstm, &[&[16, 4]], &[5, 1, 4]).graph;
    let error = apply(&steps, &[Transform::Batch(2)]).unwrap_err().to_string();
    assert!(error.contains("its 5 steps, not samples"), "{error}");
    let opaque = Chain::new(&[1, 8], E::Int8).then("what", Op::Opaque, &[], &[1, 8]).graph;
    let error = apply(&opaque, &[Transform::Batch(2)]).unwrap_err().to_string();
    assert!(error.contains("operator `what` cannot follow"), "{error}");
}
