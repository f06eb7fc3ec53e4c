//! The arithmetic of an operator, counted from the shapes of its operands.

use super::einsum::Equation;
use super::misfit::{Misfit, Part};
use super::{
    Cell, Convolution, ElementFunction as F, ElementOps, Gemm, Layout, ModelGraph, Movement, Op,
    OpKind, OperatorId, Pool, PoolFunction, Recurrence, Reduction, Shape, Tensor, TensorRole,
    Window,
};
use std::ops::Range;

/// What an operator reads and makes.
pub(super) struct Operands<'a> {
    pub layout: Layout,
    /// By port; `None` for an optional one left out.
    pub inputs: Vec<Option<&'a Tensor>>,
    pub outputs: Vec<&'a Tensor>,
}

impl<'a> Operands<'a> {
    pub fn of(graph: &'a ModelGraph, id: OperatorId) -> Self {
        let inputs = graph.inputs(id).into_iter().map(|t| t.map(|t| graph.tensor(t)));
        let outputs = graph.op_outputs(id).into_iter().map(|t| graph.tensor(t));
        Self { layout: graph.layout, inputs: inputs.collect(), outputs: outputs.collect() }
    }

    pub fn input(&self, port: usize) -> Option<&'a Tensor> {
        self.inputs.get(port).copied().flatten()
    }

    /// The first output, which stands for the result.
    pub fn output(&self) -> Option<&'a Tensor> {
        self.outputs.first().copied()
    }

    fn input_shape(&self, port: usize, what: &str) -> Result<&'a Shape, Misfit> {
        shape(self.input(port), Part::Input(port), what)
    }

    fn output_shape(&self) -> Result<&'a Shape, Misfit> {
        shape(self.output(), Part::Output(0), "the output")
    }
}

fn shape<'a>(tensor: Option<&'a Tensor>, part: Part, what: &str) -> Result<&'a Shape, Misfit> {
    let Some(tensor) = tensor else { return Err(Misfit::new(part, format!("{what} is missing"))) };
    let unknown = || format!("the shape of {what} `{}` is unknown", tensor.name);
    tensor.shape.as_ref().ok_or_else(|| Misfit::new(part, unknown()))
}

fn elements(shape: &Shape, part: Part) -> Result<u64, Misfit> {
    let too_large = || Misfit::new(part, format!("a tensor of {shape} is too large"));
    shape.elements().ok_or_else(too_large)
}

fn too_much() -> Misfit {
    Misfit::new(Part::Whole, "its work does not fit 64 bits")
}

fn product(a: u64, b: u64) -> Result<u64, Misfit> {
    a.checked_mul(b).ok_or_else(too_much)
}

fn product_of(extents: &[u64]) -> Result<u64, Misfit> {
    extents.iter().try_fold(1, |n, &extent| product(n, extent))
}

/// Where channels and positions stand in an image tensor of at least three dimensions.
pub(super) fn image_axes(layout: Layout, rank: usize) -> (usize, Range<usize>) {
    match layout {
        Layout::ChannelsLast => (rank - 1, 1..rank - 1),
        Layout::ChannelsFirst => (1, 2..rank),
    }
}

/// The arithmetic part of [`super::Work`].
pub(super) struct Arithmetic {
    pub kind: OpKind,
    pub macs: u64,
    pub operations: ElementOps,
    pub gemm: Option<Gemm>,
    pub window: Option<Window>,
    /// Times that the filters are applied one after the other.
    pub repeats: u64,
}

impl Arithmetic {
    fn elementwise(kind: OpKind, operations: ElementOps) -> Self {
        Self { kind, macs: 0, operations, gemm: None, window: None, repeats: 1 }
    }

    /// So many operations of each function for each element of the output.
    fn of_outputs(o: &Operands<'_>, kind: OpKind, each: &[(F, u64)]) -> Result<Self, Misfit> {
        let outputs = o.output().and_then(Tensor::elements).unwrap_or(0);
        Ok(Self::elementwise(kind, operations(outputs, each)?))
    }
}

fn operations(elements: u64, each: &[(F, u64)]) -> Result<ElementOps, Misfit> {
    let mut sum = ElementOps::none();
    for (function, count) in each {
        sum.add(*function, product(elements, *count)?);
    }
    Ok(sum)
}

pub(super) fn arithmetic(o: &Operands<'_>, op: &Op) -> Result<Arithmetic, Misfit> {
    let of_outputs = |kind, each: &[(F, u64)]| Arithmetic::of_outputs(o, kind, each);
    let moved = |kind| Ok(Arithmetic::elementwise(kind, ElementOps::none()));
    match op {
        Op::Convolution(convolution) => conv_arithmetic(o, convolution),
        Op::FullyConnected => fully_connected(o),
        Op::MatMul { transpose_a, .. } => matrix_product(o, *transpose_a),
        Op::Einsum(equation) => contraction(o, equation),
        Op::Recurrence(recurrence) => recurrent(o, recurrence),
        Op::Pool(pool) => pooling(o, pool),
        Op::Elementwise(function) => {
            of_outputs(OpKind::Elementwise, &[(*function, function.operations_per_element())])
        }
        // The maximum is subtracted first.
        Op::Softmax => of_outputs(
            OpKind::Softmax,
            &[(F::Subtract, 1), (F::Transcendental, 4), (F::Add, 1), (F::Divide, 1)],
        ),
        Op::BatchNormalisation => {
            of_outputs(OpKind::Normalisation, &[(F::Multiply, 1), (F::Add, 1)])
        }
        Op::Normalisation => {
            of_outputs(OpKind::Normalisation, &[(F::Add, 2), (F::Subtract, 1), (F::Multiply, 2)])
        }
        // Squares are added up over the window; then scale, power, divide.
        Op::LocalResponseNormalisation { size } => {
            let squares = size.checked_add(1).ok_or_else(too_much)?;
            of_outputs(
                OpKind::Normalisation,
                &[(F::Multiply, squares), (F::Add, *size), (F::Transcendental, 4), (F::Divide, 1)],
            )
        }
        Op::Reduce(reduction) => {
            let read = o.input(0).and_then(Tensor::elements).unwrap_or(0);
            let made = o.output().and_then(Tensor::elements).unwrap_or(0);
            let operations = reduced(*reduction, read, made)?;
            Ok(Arithmetic::elementwise(OpKind::Reduce, operations))
        }
        Op::Movement(Movement::View) => moved(OpKind::View),
        Op::Movement(Movement::Resize) => {
            of_outputs(OpKind::Movement, &[(F::Multiply, 2), (F::Add, 2)])
        }
        Op::Movement(_) => moved(OpKind::Movement),
        Op::Convert => of_outputs(OpKind::Convert, &[(F::Unary, 1)]),
        Op::Opaque => moved(OpKind::Opaque),
    }
}

/// Operations by function, for each element.
type Each = &'static [(F, u64)];

/// Operations on each element that is read, and on each that is left.
fn reduced(reduction: Reduction, read: u64, made: u64) -> Result<ElementOps, Misfit> {
    let (on_read, on_made): (Each, Each) = match reduction {
        Reduction::Sum => (&[(F::Add, 1)], &[]),
        Reduction::Mean => (&[(F::Add, 1)], &[(F::Divide, 1)]),
        Reduction::Extremum => (&[(F::Extremum, 1)], &[]),
        Reduction::Product => (&[(F::Multiply, 1)], &[]),
        Reduction::Norm => (&[(F::Multiply, 1), (F::Add, 1)], &[(F::Transcendental, 4)]),
        Reduction::LogSum => (&[(F::Transcendental, 4), (F::Add, 1)], &[(F::Transcendental, 4)]),
    };
    let mut sum = operations(read, on_read)?;
    sum.add_all(&operations(made, on_made)?);
    Ok(sum)
}

/// The operation that an activation on the way out is, by the name that a file gives it.
pub(super) fn activation(name: &str) -> F {
    let name = name.to_ascii_lowercase();
    match name.as_str() {
        "sign_bit" => F::Unary,
        _ if name.contains("relu") || name.contains("clip") || name == "hardtanh" => F::Clip,
        _ => F::SmoothActivation,
    }
}

fn mac_arithmetic(kind: OpKind, gemm: Gemm) -> Result<Arithmetic, Misfit> {
    let macs = product_of(&[gemm.groups, gemm.m, gemm.n, gemm.k])?;
    let operations = ElementOps::none();
    Ok(Arithmetic { kind, macs, operations, gemm: Some(gemm), window: None, repeats: 1 })
}

fn contraction(o: &Operands<'_>, equation: &str) -> Result<Arithmetic, Misfit> {
    let mut shapes = Vec::with_capacity(o.inputs.len());
    for port in 0..o.inputs.len() {
        shapes.push(o.input_shape(port, "an operand")?);
    }
    let misfit = |reason| Misfit::new(Part::Setting("Einsum".into()), reason);
    let equation = Equation::new(equation, &shapes).map_err(misfit)?;
    let summed = ElementOps::none().and(F::Add, equation.additions().ok_or_else(too_much)?);
    match (shapes.len(), equation.gemm()) {
        (1, _) => {
            let kind = if summed.total() > 0 { OpKind::Reduce } else { OpKind::Movement };
            Ok(Arithmetic::elementwise(kind, summed))
        }
        (2, Some(gemm)) => {
            let stored = o.input(1).is_some_and(|t| t.role == TensorRole::Constant);
            let kind =
                if stored && gemm.groups == 1 { OpKind::FullyConnected } else { OpKind::MatMul };
            Ok(Arithmetic { operations: summed, ..mac_arithmetic(kind, gemm)? })
        }
        (2, None) => Err(too_much()),
        (n, _) => Err(misfit(format!("a product of {n} operands at once is not counted"))),
    }
}

/// Each step is a product of the state, one row a sample, with the recurrent weights.
fn recurrent(o: &Operands<'_>, r: &Recurrence) -> Result<Arithmetic, Misfit> {
    let gates_in = o.input_shape(0, "the gate inputs")?;
    let weights = o.input_shape(1, "the recurrent weights")?;
    let gates = r.cell.gates();
    let columns = product(gates, r.hidden)?;
    let a_sample = product_of(&[r.steps, r.directions, columns])?;
    let given = elements(gates_in, Part::Input(0))?;
    if a_sample == 0 || !given.is_multiple_of(a_sample) {
        let reason = format!(
            "gate inputs of {gates_in} are not {} steps of {columns} in {} directions",
            r.steps, r.directions
        );
        return Err(Misfit::input(0, reason));
    }
    // As many rows as the state that comes back has elements, which may be a projection of it.
    let stored = elements(weights, Part::Input(1))?;
    let filters = product(r.directions, columns)?;
    if stored == 0 || !stored.is_multiple_of(filters) {
        let reason = format!("recurrent weights of {weights} do not fit a state of {}", r.hidden);
        return Err(Misfit::input(1, reason));
    }
    let samples = given / a_sample;
    let groups = product(r.steps, r.directions)?;
    let gemm = Gemm { groups, m: samples, n: columns, k: stored / filters };
    let states = product_of(&[groups, samples, r.hidden])?;
    let each: &[(F, u64)] = match r.cell {
        Cell::Simple => &[(F::Add, 1), (F::SmoothActivation, 4)],
        Cell::Gru => &[(F::Add, 4), (F::Subtract, 1), (F::Multiply, 3), (F::SmoothActivation, 12)],
        Cell::Lstm => &[(F::Add, 5), (F::Multiply, 3), (F::SmoothActivation, 20)],
    };
    Ok(Arithmetic {
        operations: operations(states, each)?,
        repeats: r.steps,
        ..mac_arithmetic(OpKind::FullyConnected, gemm)?
    })
}

fn fully_connected(o: &Operands<'_>) -> Result<Arithmetic, Misfit> {
    let (weights, output) = (o.input_shape(1, "the weight")?, o.output_shape()?);
    let n = output.last();
    let stored = elements(weights, Part::Input(1))?;
    if n == 0 || stored % n != 0 {
        let reason = format!("weights {weights} do not give an output of {output}");
        return Err(Misfit::input(1, reason));
    }
    let (k, m) = (stored / n, elements(output, Part::Output(0))? / n);
    mac_arithmetic(OpKind::FullyConnected, Gemm { groups: 1, m, n, k })
}

fn matrix_product(o: &Operands<'_>, transpose_a: bool) -> Result<Arithmetic, Misfit> {
    let (a, output) = (o.input_shape(0, "the first operand")?, o.output_shape()?);
    let axis = a.rank().saturating_sub(if transpose_a { 2 } else { 1 });
    let (k, n) = (a.extent(axis), output.last());
    let total = elements(output, Part::Output(0))?;
    // A vector operand has no row axis: then the product is a single row.
    let m = if output.rank() >= 2 { output.extent(output.rank() - 2) } else { 1 };
    let groups = total.checked_div(m.saturating_mul(n)).unwrap_or(0);
    let stored = o.input(1).is_some_and(|t| t.role == TensorRole::Constant);
    let kind = if stored && groups == 1 { OpKind::FullyConnected } else { OpKind::MatMul };
    mac_arithmetic(kind, Gemm { groups, m, n, k })
}

fn pooling(o: &Operands<'_>, pool: &Pool) -> Result<Arithmetic, Misfit> {
    let (input, output) = (o.input_shape(0, "the input")?, o.output_shape()?);
    let window = if pool.kernel.is_empty() {
        let (read, made) = (elements(input, Part::Input(0))?, elements(output, Part::Output(0))?);
        read.checked_div(made).unwrap_or(0)
    } else {
        product_of(&pool.kernel)?
    };
    let function = match pool.function {
        PoolFunction::Average => F::Add,
        PoolFunction::Maximum => F::Extremum,
        PoolFunction::Norm => F::Multiply,
    };
    Arithmetic::of_outputs(o, OpKind::Pool, &[(function, window)])
}

/// MACs of a convolution: output elements times weights of one output channel; of a transposed
/// one: input elements times weights of one input channel.
fn conv_arithmetic(o: &Operands<'_>, c: &Convolution) -> Result<Arithmetic, Misfit> {
    let input = o.input_shape(0, "the input")?;
    let weights = o.input_shape(1, "the weight")?;
    let output = o.output_shape()?;
    let rank = output.rank();
    if rank < 3 || weights.rank() != rank || input.rank() != rank {
        return Err(Misfit::input(
            1,
            format!(
                "input {input}, weights {weights} and output {output} do not make a convolution"
            ),
        ));
    }
    let (channel_axis, spatial) = image_axes(o.layout, rank);
    let (inner, outer) = if c.transposed { (output, input) } else { (input, output) };
    let channels = outer.extent(channel_axis);
    let stored = elements(weights, Part::Input(1))?;
    let groups = c.groups.max(1);
    if channels == 0 || stored % channels != 0 || !channels.is_multiple_of(groups) {
        let reason = format!("weights {weights} in {groups} groups do not fit {channels} channels");
        return Err(Misfit::input(1, reason));
    }
    let k = stored / channels;
    let first_axis = spatial.start;
    let (kernel, plane) = (&weights.0[spatial.clone()], &outer.0[spatial]);
    let taps = product_of(kernel)?;
    if taps == 0 || k % taps != 0 {
        return Err(Misfit::input(1, format!("weights {weights} do not make a window")));
    }
    let outer_part = if c.transposed { Part::Input(0) } else { Part::Output(0) };
    let positions = elements(outer, outer_part)? / channels;
    let window = Window {
        kernel_height: kernel.first().copied().unwrap_or(1),
        kernel_width: product_of(kernel.get(1..).unwrap_or(&[]))?,
        output_height: plane.first().copied().unwrap_or(1),
        output_width: product_of(plane.get(1..).unwrap_or(&[]))?,
        stride_height: c.strides.first().copied().unwrap_or(1).max(1),
        stride_width: product_of(c.strides.get(1..).unwrap_or(&[]))?.max(1),
        input_channels: k / taps,
        output_channels: channels,
        groups,
        batch: outer.extent(0),
        input_height: input.extent(first_axis),
        dilation_height: c.dilations.first().copied().unwrap_or(1).max(1),
    };
    let kind = conv_kind(c, groups, inner.extent(channel_axis), taps);
    if c.transposed {
        // Each input position gives a window of outputs, which are added up where windows overlap:
        // a product without rows that slide.
        return mac_arithmetic(kind, Gemm { groups, m: positions, n: k, k: channels / groups });
    }
    let gemm = Gemm { groups, m: positions, n: channels / groups, k };
    Ok(Arithmetic { window: Some(window), ..mac_arithmetic(kind, gemm)? })
}

fn conv_kind(c: &Convolution, groups: u64, input_channels: u64, taps: u64) -> OpKind {
    if c.transposed {
        OpKind::TransposedConv
    } else if groups > 1 && groups == input_channels {
        OpKind::DepthwiseConv
    } else if taps == 1 {
        OpKind::PointwiseConv
    } else if input_channels < 4 {
        OpKind::StemConv
    } else {
        OpKind::Conv
    }
}
