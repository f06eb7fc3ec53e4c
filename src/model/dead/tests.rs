use super::*;
use crate::model::weights::Place;
use crate::model::{
    Convolution, ElementFunction, ElementType, Layout, Operator, Padding, Reduction,
};
use prost::bytes::Bytes;

/// A graph under way, with the weights of its filters.
struct Sketch {
    graph: ModelGraph,
    filters: Filters,
    count: usize,
}

impl Sketch {
    fn new(layout: Layout) -> Self {
        Self { graph: ModelGraph::new("g", layout), filters: Filters::default(), count: 0 }
    }

    fn input(&mut self, shape: &[u64]) -> TensorId {
        self.graph.add("x", shape, ElementType::Int8, TensorRole::Input).unwrap()
    }

    fn apply(&mut self, op: Op, inputs: &[TensorId], shape: &[u64]) -> TensorId {
        self.apply_as("", op, inputs, shape)
    }

    fn apply_as(&mut self, native: &str, op: Op, inputs: &[TensorId], shape: &[u64]) -> TensorId {
        self.count += 1;
        let name = format!("t{}", self.count);
        let made = self.graph.add(&name, shape, ElementType::Int8, TensorRole::Activation).unwrap();
        let inputs: Vec<_> = inputs.iter().copied().map(Some).collect();
        let operator = Operator::new(format!("op{}", self.count), native, op);
        self.graph.add_operator(operator, &inputs, &[made]).unwrap();
        made
    }

    fn weights(&mut self, shape: &[u64], numbers: &[i8]) -> TensorId {
        self.count += 1;
        let name = format!("w{}", self.count);
        let id = self.graph.add(&name, shape, ElementType::Int8, TensorRole::Constant).unwrap();
        let bytes: Vec<u8> = numbers.iter().map(|n| n.to_le_bytes()[0]).collect();
        let weights = Weights {
            place: Place::Here(Bytes::from(bytes)),
            element: ElementType::Int8,
            shape: Shape(shape.to_vec()),
            zero_points: Vec::new(),
            zero_axis: 0,
        };
        self.filters.weights.insert(id, weights);
        id
    }

    /// A 1x1 convolution, one row of numbers a filter.
    fn pointwise(&mut self, x: TensorId, filters: &[&[i8]]) -> TensorId {
        let channels = filters[0].len() as u64;
        let last = self.graph.layout == Layout::ChannelsLast;
        let n = filters.len() as u64;
        let shape = if last { [n, 1, 1, channels] } else { [n, channels, 1, 1] };
        let w = self.weights(&shape, &filters.concat());
        let out = if last { [1, 2, 2, n] } else { [1, n, 2, 2] };
        self.apply(convolution(1), &[x, w], &out)
    }

    /// Live and all products of each operator that has dead ones.
    fn live(mut self) -> Vec<(String, u64, u64, u64)> {
        self.graph.follow_weights(&self.filters, 0);
        let graph = &self.graph;
        let found = graph.operators().filter_map(|id| {
            let operator = graph.operator(id);
            operator.live.map(|l| (operator.name.clone(), l.channels, l.products, l.of))
        });
        found.collect()
    }
}

fn convolution(groups: u64) -> Op {
    Op::Convolution(Convolution {
        strides: vec![1, 1],
        dilations: vec![1, 1],
        padding: Padding::Same,
        groups,
        transposed: false,
    })
}

fn named(name: &str, channels: u64, products: u64, of: u64) -> (String, u64, u64, u64) {
    (name.to_owned(), channels, products, of)
}

#[test]
fn an_all_zero_filter_is_dead_and_so_is_what_only_it_feeds() {
    for layout in [Layout::ChannelsLast, Layout::ChannelsFirst] {
        let mut s = Sketch::new(layout);
        let last = layout == Layout::ChannelsLast;
        let x = s.input(&[1, 2, 2, 2]);
        let a = s.pointwise(x, &[&[1, 1], &[0, 0], &[1, 0]]);
        let shape: &[u64] = if last { &[1, 2, 2, 3] } else { &[1, 3, 2, 2] };
        let r = s.apply(Op::Elementwise(ElementFunction::Clip), &[a], shape);
        let depthwise = if last { [1, 1, 1, 3] } else { [3, 1, 1, 1] };
        let w = s.weights(&depthwise, &[5, 5, 5]);
        let d = s.apply(convolution(3), &[r, w], shape);
        // The second filter meets only the dead channel, the third a live one too.
        s.pointwise(d, &[&[1, 0, 0], &[0, 7, 0], &[0, 7, 1]]);
        assert_eq!(
            s.live(),
            [named("op2", 2, 4, 6), named("op5", 2, 2, 3), named("op7", 2, 4, 9)],
            "{layout:?}"
        );
    }
}

#[test]
fn a_sum_is_dead_only_where_both_sides_are() {
    let mut s = Sketch::new(Layout::ChannelsLast);
    let x = s.input(&[1, 2, 2, 2]);
    let a = s.pointwise(x, &[&[0, 0], &[0, 0]]);
    let b = s.pointwise(x, &[&[0, 0], &[1, 0]]);
    let sum = s.apply(Op::Elementwise(ElementFunction::Add), &[a, b], &[1, 2, 2, 2]);
    let with_input = s.apply(Op::Elementwise(ElementFunction::Add), &[a, x], &[1, 2, 2, 2]);
    let joined = s.apply(Op::Movement(Movement::Concatenate), &[sum, with_input], &[1, 2, 2, 4]);
    s.pointwise(joined, &[&[1, 1, 1, 1]]);
    let found = s.live();
    assert_eq!(found[0], named("op2", 0, 0, 4));
    assert_eq!(found[2], named("op9", 1, 3, 4), "one of the sum's two and both others");
}

#[test]
fn flattening_spreads_channels_as_the_layout_has_them() {
    for (layout, live) in [
        (Layout::ChannelsLast, [1, 0, 1, 0, 1, 0, 1, 0]),
        (Layout::ChannelsFirst, [1, 1, 1, 1, 0, 0, 0, 0]),
    ] {
        let mut s = Sketch::new(layout);
        let x = s.input(&[1, 2, 2, 2]);
        let a = s.pointwise(x, &[&[1, 1], &[0, 0]]);
        let flat = s.apply(Op::Movement(Movement::View), &[a], &[1, 8]);
        // One filter that reads only the live places, one that reads only the dead ones.
        let dead: Vec<i8> = live.iter().map(|l| 1 - l).collect();
        let w = s.weights(&[2, 8], &[&live[..], &dead].concat());
        s.apply(Op::FullyConnected, &[flat, w], &[1, 2]);
        assert_eq!(s.live()[1], named("op5", 1, 4, 16), "{layout:?}");
    }
}

#[test]
fn what_cannot_be_followed_counts_as_live() {
    let mut s = Sketch::new(Layout::ChannelsLast);
    let x = s.input(&[1, 2, 2, 2]);
    let a = s.pointwise(x, &[&[1, 1], &[0, 0]]);
    let soft = s.apply(Op::Softmax, &[a], &[1, 2, 2, 2]);
    s.pointwise(soft, &[&[0, 1]]);
    assert_eq!(s.live().len(), 1, "only the filter itself");
}

#[test]
fn groups_are_counted_within_themselves() {
    let mut s = Sketch::new(Layout::ChannelsFirst);
    let x = s.input(&[1, 4, 2, 2]);
    let a = s.pointwise(x, &[&[0, 0, 0, 0], &[1, 0, 0, 0], &[1, 0, 0, 0], &[1, 0, 0, 0]]);
    // Two groups of two filters, each over two channels.
    let w = s.weights(&[4, 2, 1, 1], &[1, 1, 1, 0, 1, 1, 0, 1]);
    s.apply(convolution(2), &[a, w], &[1, 4, 2, 2]);
    assert_eq!(s.live()[1], named("op4", 3, 5, 8), "the second filter meets the dead channel only");
}

/// Live products behind an operator on `[1, 2, 2, 4]` of which one channel is live.
fn behind(native: &str, op: Op, beside: Option<TensorRole>) -> Option<u64> {
    let mut s = Sketch::new(Layout::ChannelsLast);
    let x = s.input(&[1, 2, 2, 4]);
    let dead = [0i8, 0, 0, 0];
    let a = s.pointwise(x, &[&[1, 0, 0, 0], &dead, &dead, &dead]);
    let mut inputs = vec![a];
    if let Some(role) = beside {
        inputs.push(s.graph.add("beside", &[1], ElementType::Int8, role).unwrap());
    }
    let b = s.apply_as(native, op, &inputs, &[1, 2, 2, 4]);
    s.pointwise(b, &[&[1, 1, 1, 1]]);
    s.live().get(1).map(|(_, _, products, _)| *products)
}

#[test]
fn operators_that_mix_channels_pass_no_mask_on() {
    use ElementFunction as F;
    let transposed = Op::Movement(Movement::Transpose);
    for (native, op) in [
        ("REVERSE_V2", transposed.clone()),
        ("DepthToSpace", transposed.clone()),
        ("CumSum", Op::Reduce(Reduction::Sum)),
        ("TopK", Op::Reduce(Reduction::Extremum)),
        ("RotaryEmbedding", Op::Elementwise(F::Rotate)),
        ("DynamicQuantizeLinear", Op::Convert),
        ("GridSample", Op::Movement(Movement::Resize)),
        ("RandomNormalLike", Op::Elementwise(F::Transcendental)),
        ("Bernoulli", Op::Elementwise(F::Transcendental)),
    ] {
        assert_eq!(behind(native, op, None), None, "{native}");
    }
    for (native, op) in [
        ("Transpose", transposed),
        ("ReduceMean", Op::Reduce(Reduction::Mean)),
        ("QuantizeLinear", Op::Convert),
        ("Resize", Op::Movement(Movement::Resize)),
    ] {
        assert_eq!(behind(native, op, None), Some(1), "{native}");
    }
}

#[test]
fn what_is_computed_beside_a_dead_channel_makes_it_live() {
    let normalised = || Op::BatchNormalisation;
    assert_eq!(behind("BatchNormalization", normalised(), Some(TensorRole::Constant)), Some(1));
    assert_eq!(behind("BatchNormalization", normalised(), Some(TensorRole::Input)), None);
    let mut s = Sketch::new(Layout::ChannelsLast);
    let x = s.input(&[1, 2, 2, 2]);
    let addend = s.graph.add("addend", &[2], ElementType::Int8, TensorRole::Input).unwrap();
    let w = s.weights(&[2, 2], &[1, 1, 0, 0]);
    s.apply(Op::FullyConnected, &[x, w, addend], &[1, 2, 2, 2]);
    assert_eq!(s.live(), [], "the second output is the addend");
}

#[test]
fn the_same_bytes_are_not_read_without_end() {
    let mut s = Sketch::new(Layout::ChannelsLast);
    let x = s.input(&[1, 2048]);
    let (mut before, numbers) = (x, vec![0; 2048 * 1024]);
    for _ in 0..12 {
        let w = s.weights(&[1024, 2048], &numbers);
        before = s.apply(Op::FullyConnected, &[x, w], &[1, 1024]);
    }
    s.graph.set_outputs(vec![before]);
    s.graph.follow_weights(&s.filters, 1000);
    assert!(s.graph.notes[0].starts_with("4 filters were not looked into"), "{:?}", s.graph.notes);
}

#[test]
fn masks_take_a_bounded_room() {
    let mut s = Sketch::new(Layout::ChannelsFirst);
    let x = s.input(&[1, 2, 2, 2]);
    let wide = 1 << 22;
    let a = s.pointwise(x, &[&[1, 0], &[0, 0]]);
    let mut flat = s.apply(Op::Movement(Movement::View), &[a], &[1, wide]);
    for _ in 0..100 {
        flat = s.apply(Op::Elementwise(ElementFunction::Clip), &[flat], &[1, wide]);
    }
    // One mask for all that hand it on; sums make their own, up to the bound.
    for _ in 0..30 {
        let other = s.apply(Op::Elementwise(ElementFunction::Clip), &[flat], &[1, wide]);
        flat = s.apply(Op::Elementwise(ElementFunction::Add), &[flat, other], &[1, wide]);
    }
    assert_eq!(s.live().len(), 1);
}

#[test]
fn a_window_mixes_all_but_channels() {
    let pool = || {
        Op::Pool(crate::model::Pool {
            kernel: vec![3, 3],
            strides: vec![1, 1],
            padding: Padding::Same,
            ..crate::model::Pool::whole_plane(crate::model::PoolFunction::Average)
        })
    };
    assert_eq!(behind("AveragePool", pool(), None), Some(1), "channels last");
    // Channels first, a product makes dead columns along the last spatial axis.
    for (native, op) in [
        ("AveragePool", pool()),
        ("Resize", Op::Movement(Movement::Resize)),
        ("Resize", Op::Movement(Movement::Broadcast)),
        ("BatchNormalization", Op::BatchNormalisation),
        ("Pad", Op::Movement(Movement::Pad)),
    ] {
        let mut s = Sketch::new(Layout::ChannelsFirst);
        let x = s.input(&[1, 2, 2, 2]);
        let w = s.weights(&[4, 2], &[1, 1, 0, 0, 0, 0, 0, 0]);
        let made = s.apply(Op::FullyConnected, &[x, w], &[1, 2, 2, 4]);
        let mixed = s.apply_as(native, op, &[made], &[1, 2, 2, 4]);
        let w = s.weights(&[1, 4], &[1, 1, 1, 1]);
        s.apply(Op::FullyConnected, &[mixed, w], &[1, 2, 2, 1]);
        assert_eq!(s.live().len(), 1, "{native}: only the first product");
    }
}
