//! Chips and layers that tests of costs are made of.

use joulecast::cost::Setting;
use joulecast::hardware::Profile;
use joulecast::mapping::Network;
use joulecast::model::{
    Cell, Convolution, ElementFunction, ElementType, Layer, Layout, ModelGraph, Movement, Op,
    Operator, Padding, Pool, PoolFunction, Recurrence, Reduction, Sparsity, Tensor, TensorRole,
};

/// Text of the made-up profile that uses every feature.
pub fn full_text() -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/profiles/full.ron");
    std::fs::read_to_string(path).unwrap()
}

/// That profile, with parts of its text replaced.
pub fn full_with(changes: &[(&str, &str)]) -> Profile {
    parsed(&changed(&full_text(), changes))
}

pub fn changed(text: &str, changes: &[(&str, &str)]) -> String {
    let mut text = text.to_owned();
    for (from, to) in changes {
        assert!(text.contains(from), "{from}");
        text = text.replacen(from, to, 1);
    }
    text
}

pub fn parsed(text: &str) -> Profile {
    Profile::parse("test.ron", text).unwrap_or_else(|e| panic!("{e}"))
}

/// At an operating point with each engine's first software.
pub fn at<T>(profile: &Profile, point: Option<&str>, use_it: impl FnOnce(Setting<'_>) -> T) -> T {
    let point = profile.point(point).unwrap();
    let stacks = profile.stacks(None).unwrap();
    use_it(Setting { profile, point: &point, stacks: &stacks })
}

/// A profile of one memory and one engine with this datapath.
pub fn chip(array: &str, more: &str) -> Profile {
    parsed(&chip_text(array, "", more))
}

/// The same with fields of the engine, and lists of the profile.
pub fn chip_text(array: &str, engine: &str, more: &str) -> String {
    format!(
        r#"(schema: "joulecast.profile/1", name: "test", kind: Accelerator, description: "made up",
  sources: {{}}, temperature: "25 degC",
  operating_points: [(name: "only", clocks: {{"clock": "100 MHz"}}, voltages: {{"rail": "1 V"}})],
  rails: [(name: "rail")],
  domains: [(name: "domain", rail: "rail", clock: "clock", nominal_voltage: "1 V")],
  memories: [(name: "ram", domain: "domain", capacity: "1 GiB", holds: [Weights, Activations],
    bandwidth: PerCycle("64 B/cycle"), read_energy: "1 pJ/B", write_energy: "1 pJ/B")],
  engines: [(name: "unit", domain: "domain", array: {array},
    energy: (per_mac: {{Int8: "0.3 pJ", Int16: "0.9 pJ"}}, per_operation: {{Int8: "0.1 pJ", Int16: "0.2 pJ"}}),
    supports: [{kinds}], memories: ["ram"], transfers: Inline, {engine})],
  {more})"#,
        kinds = "Conv, StemConv, PointwiseConv, DepthwiseConv, TransposedConv, FullyConnected, MatMul, Pool, \
                 Elementwise, Softmax, Normalisation, Reduce, View, Movement, Convert"
    )
}

/// Software with a rate for every kind that a core runs.
pub const SOFTWARE: &str = r#"software: [(name: "kernels", runs_on: ["unit"],
  cycles_per_mac: {Conv: "0.5 cycle/MAC", StemConv: "1 cycle/MAC", PointwiseConv: "0.5 cycle/MAC",
    DepthwiseConv: "2 cycle/MAC", TransposedConv: "1 cycle/MAC", FullyConnected: "0.6 cycle/MAC", MatMul: "0.6 cycle/MAC"},
  cycles_per_output: {Movement: "1 cycle/element"},
  cycles_per_operation: {Pool: "1 cycle/op", Elementwise: "1 cycle/op", Softmax: "1 cycle/op",
    Normalisation: "1 cycle/op", Reduce: "1 cycle/op", Convert: "1 cycle/op"})],"#;

/// An operand of a layer: its shape, and whether it is stored.
pub type Part<'a> = (&'a [u64], bool);

/// A network of one operator.
pub fn network(op: Op, inputs: &[Part<'_>], output: &[u64], element: ElementType) -> Network {
    sparse_network(op, inputs, output, element, None)
}

/// The same, with zeros in what is stored.
pub fn sparse_network(
    op: Op,
    inputs: &[Part<'_>],
    output: &[u64],
    element: ElementType,
    zeros: Option<Sparsity>,
) -> Network {
    let mut graph = ModelGraph::new("one", Layout::ChannelsLast);
    let mut ports = Vec::new();
    for (i, (shape, stored)) in inputs.iter().enumerate() {
        let role = if *stored { TensorRole::Constant } else { TensorRole::Input };
        let shape = joulecast::model::Shape(shape.to_vec());
        let mut tensor = Tensor::new(format!("in{i}"), Some(shape), element, role);
        tensor.sparsity = zeros.filter(|_| *stored);
        ports.push(Some(graph.add_tensor(tensor).unwrap()));
    }
    let made = graph.add("out", output, element, TensorRole::Activation).unwrap();
    graph.add_operator(Operator::new("one", "Test", op), &ports, &[made]).unwrap();
    graph.set_outputs(vec![made]);
    Network::of(&graph).unwrap()
}

pub fn layer(op: Op, inputs: &[Part<'_>], output: &[u64]) -> Layer {
    network(op, inputs, output, ElementType::Int8).layers.remove(0)
}

/// A product `[m, k] x [k, n]` with stored filters.
pub fn product(m: u64, n: u64, k: u64, element: ElementType) -> Network {
    network(Op::FullyConnected, &[(&[m, k], false), (&[n, k], true)], &[m, n], element)
}

pub fn convolution(stride: u64, groups: u64, transposed: bool) -> Op {
    let strides = vec![stride; 2];
    let padding = Padding::Same;
    Op::Convolution(Convolution { strides, dilations: vec![1; 2], padding, groups, transposed })
}

/// Layers in which every kind of operator occurs, with what they are.
pub fn of_every_kind() -> Vec<(&'static str, Layer)> {
    let image: Part<'_> = (&[1, 9, 7, 20], false);
    let plane: &[u64] = &[1, 9, 7, 20];
    let conv = |weights: &[u64], groups, output: &[u64]| {
        layer(convolution(1, groups, false), &[image, (weights, true)], output)
    };
    let lstm = Recurrence { cell: Cell::Lstm, hidden: 12, steps: 5, directions: 1 };
    let scores = Op::MatMul { transpose_a: false, transpose_b: true };
    let window = Pool {
        function: PoolFunction::Maximum,
        kernel: vec![3, 3],
        strides: vec![1, 1],
        padding: Padding::Same,
        dilations: Vec::new(),
    };
    let of_image = |op| layer(op, &[image], plane);
    vec![
        ("convolution", conv(&[33, 3, 3, 20], 1, &[1, 9, 7, 33])),
        ("grouped convolution", conv(&[40, 3, 3, 5], 4, &[1, 9, 7, 40])),
        ("stem", {
            let inputs: [Part<'_>; 2] = [(&[1, 16, 16, 3], false), (&[8, 3, 3, 3], true)];
            layer(convolution(2, 1, false), &inputs, &[1, 8, 8, 8])
        }),
        ("pointwise", conv(&[17, 1, 1, 20], 1, &[1, 9, 7, 17])),
        ("depthwise", conv(&[1, 3, 3, 20], 20, plane)),
        ("depthwise with a multiplier", conv(&[1, 3, 3, 40], 20, &[1, 9, 7, 40])),
        ("transposed convolution", {
            let weights: &[u64] = &[6, 2, 2, 20];
            layer(convolution(2, 1, true), &[image, (weights, true)], &[1, 18, 14, 6])
        }),
        ("fully connected", {
            layer(Op::FullyConnected, &[(&[3, 65], false), (&[10, 65], true)], &[3, 10])
        }),
        ("recurrence", {
            let inputs: [Part<'_>; 2] = [(&[5, 1, 48], false), (&[48, 12], true)];
            layer(Op::Recurrence(lstm), &inputs, &[5, 1, 12])
        }),
        ("attention scores", {
            layer(scores, &[(&[3, 11, 16], false), (&[3, 11, 16], false)], &[3, 11, 11])
        }),
        ("pooling", of_image(Op::Pool(window))),
        ("addition", layer(Op::Elementwise(ElementFunction::Add), &[image, image], plane)),
        ("softmax", of_image(Op::Softmax)),
        ("normalisation", of_image(Op::Normalisation)),
        ("reduction", layer(Op::Reduce(Reduction::Mean), &[image], &[1, 20])),
        ("view", layer(Op::Movement(Movement::View), &[image], &[9, 140])),
        ("transposition", layer(Op::Movement(Movement::Transpose), &[image], &[1, 7, 9, 20])),
        ("resampling", layer(Op::Movement(Movement::Resize), &[image], &[1, 18, 14, 20])),
        ("conversion", of_image(Op::Convert)),
        ("unknown", of_image(Op::Opaque)),
    ]
}

/// Datapaths of every kind, with software where cores are slower than their lanes.
pub const DATAPATHS: [(&str, &str, &str); 10] = [
    ("lanes", r#"Lanes(macs: {Int8: "8 MAC/cycle"})"#, ""),
    (
        "lanes under software",
        r#"Lanes(macs: {Int8: "8 MAC/cycle"}, operations: {Int8: "2 op/cycle"})"#,
        SOFTWARE,
    ),
    (
        "lanes along the sum",
        r#"Lanes(macs: {Int8: "8 MAC/cycle"}, vector: (along: Depth, elements: {Int8: 16}, overhead: "3 cycle"))"#,
        "",
    ),
    (
        "lanes along channels",
        r#"Lanes(macs: {Int8: "8 MAC/cycle"}, vector: (along: OutputChannels, elements: {Int8: 16}))"#,
        SOFTWARE,
    ),
    (
        "weight stationary",
        r#"Systolic(rows: 8, columns: 12, dataflow: WeightStationary, precision: Int8, prefetches_weights: true, operations: "4 op/cycle")"#,
        "",
    ),
    (
        "output stationary",
        r#"Systolic(rows: 8, columns: 12, dataflow: OutputStationary, precision: Int8, operations: "4 op/cycle")"#,
        "",
    ),
    (
        "input stationary",
        r#"Systolic(rows: 8, columns: 12, dataflow: InputStationary, precision: Int8)"#,
        "",
    ),
    (
        "row stationary",
        r#"Systolic(rows: 8, columns: 12, dataflow: RowStationary, precision: Int8, scratchpads: (filter: 224, input: 12, partial_sum: 24))"#,
        "",
    ),
    (
        "tensor tiles",
        r#"TensorTiles(units: 3, m: 8, n: 8, k: 16, macs: {Int8: "64 MAC/cycle"}, operations: {Int8: "16 op/cycle"})"#,
        "",
    ),
    (
        "fixed function",
        r#"FixedFunction(precision: Int8, unrolled: {Conv: (output_channels: 8, input_channels: 8, cycles: "0.5 cycle"), DepthwiseConv: (output_channels: 16, window: 3), FullyConnected: (output_channels: 8, input_channels: 8), MatMul: (output_columns: 4)}, outputs: "1000 op/cycle", operations: "8 op/cycle")"#,
        "",
    ),
];
