//! A standard convolution made of two: depthwise with its window, then pointwise.
//!
//! Bias, residual and activation stay with the pointwise one, which keeps the name.

use super::Refusal;
use super::draft::{At, Draft, Step};
use super::record::{Done, Fallback};
use super::select::{Meant, select};
use super::sparsity;
use crate::model::arithmetic::image_axes;
use crate::model::{Convolution, Layout, Op, Operator, Padding, Shape, Tensor, TensorRole};

pub(super) fn separate(draft: &mut Draft, layers: &str) -> Result<Done, Refusal> {
    let meant = select(draft, Some(layers))?;
    let mut done = Done::default();
    let mut count = 0;
    let steps = std::mem::take(&mut draft.steps);
    let mut made = Vec::with_capacity(steps.len());
    for (step, meant) in steps.into_iter().zip(meant) {
        if meant == Meant::Not {
            made.push(step);
            continue;
        }
        match separated(draft, &step) {
            Ok(two) => {
                count += 1;
                made.extend(two);
            }
            Err(reason) if meant == Meant::ByName => {
                return Err(Refusal::operator(step.name(), reason));
            }
            Err(reason) => {
                if reason == GROUPED {
                    done.kept.push(Fallback::new(step.name(), reason));
                }
                made.push(step);
            }
        }
    }
    draft.steps = made;
    if count == 0 {
        return Err(Refusal::Value("there is no standard convolution among them".to_owned()));
    }
    let (one, many) =
        ("convolution made depthwise and pointwise", "convolutions made depthwise and pointwise");
    done.count(count, one, many);
    sparsity::keep_what_fits(draft, &mut done);
    Ok(done)
}

/// Why a convolution that is neither depthwise nor pointwise is left whole.
const GROUPED: &str = "it is grouped or transposed";

/// A convolution that is taken apart.
struct Whole<'a> {
    convolution: &'a Convolution,
    filters: At,
    output: At,
    kernel: Vec<u64>,
    channels: u64,
    axis: usize,
}

/// What a step is made of, or why it is left whole.
fn whole<'a>(draft: &Draft, step: &'a Step) -> Result<Whole<'a>, &'static str> {
    let Op::Convolution(convolution) = &step.operator.op else {
        return Err("it is no convolution");
    };
    let unknown = "its shapes are not known";
    let data = step.input(0).and_then(|at| draft.shape(at)).ok_or(unknown)?;
    let filters = step.input(1).ok_or(unknown)?;
    let shape = draft.shape(filters).ok_or(unknown)?;
    let output = step.output().ok_or(unknown)?;
    if data.rank() < 3 || shape.rank() != data.rank() || !draft.is_constant(filters) {
        return Err("its filters are not stored");
    }
    let (axis, spatial) = image_axes(draft.layout, data.rank());
    if convolution.groups > 1 && convolution.groups == data.extent(axis) {
        return Err("it is depthwise already");
    }
    if convolution.groups > 1 || convolution.transposed {
        return Err(GROUPED);
    }
    let kernel = shape.0.get(spatial).unwrap_or(&[]).to_vec();
    if kernel.iter().all(|taps| *taps == 1) {
        return Err("it is pointwise already");
    }
    Ok(Whole { convolution, filters, output, kernel, channels: data.extent(axis), axis })
}

fn separated(draft: &mut Draft, step: &Step) -> Result<[Step; 2], &'static str> {
    let whole = whole(draft, step)?;
    let name = step.name().to_owned();
    let ones = vec![1; whole.kernel.len()];
    let filters = draft.tensor(whole.filters).clone();
    let made = draft.shape(whole.output).cloned().ok_or("its shapes are not known")?;
    let columns = made.extent(whole.axis);
    let (channels, layout) = (whole.channels, draft.layout);
    let stored = |name: String, shape: Vec<u64>| {
        let shape = Some(Shape(shape));
        let sparsity = filters.sparsity;
        Tensor { sparsity, ..Tensor::new(name, shape, filters.element, TensorRole::Constant) }
    };
    let shape = weights(layout, (channels, 1), &whole.kernel, true);
    let taps = draft.add(stored(format!("{}/depthwise", filters.name), shape));
    let shape = weights(layout, (columns, channels), &ones, false);
    let mixes = draft.add(stored(format!("{}/pointwise", filters.name), shape));
    let mut plane = made;
    if let Some(extent) = plane.0.get_mut(whole.axis) {
        *extent = channels;
    }
    let element = draft.tensor(whole.output).element;
    let between = format!("{name}/depthwise");
    let between = draft.add(Tensor::new(between, Some(plane), element, TensorRole::Activation));
    let depthwise = Convolution { groups: channels, ..whole.convolution.clone() };
    let pointwise = Convolution {
        strides: ones.clone(),
        dilations: ones,
        padding: Padding::Valid,
        groups: 1,
        transposed: false,
    };
    let first = Operator::new(
        draft.operator_name(format!("{name}/depthwise")),
        "DepthwiseConv",
        Op::Convolution(depthwise),
    );
    let inputs = vec![step.input(0), Some(taps)];
    let first = Step { operator: first, inputs, outputs: vec![between] };
    let mut second = step.clone();
    second.operator.op = Op::Convolution(pointwise);
    second.set_input(0, between);
    second.set_input(1, mixes);
    Ok([first, second])
}

/// Extents of filters in a layout, from outer and inner channels.
fn weights(
    layout: Layout,
    (outer, inner): (u64, u64),
    kernel: &[u64],
    depthwise: bool,
) -> Vec<u64> {
    match layout {
        Layout::ChannelsFirst => [&[outer, inner], kernel].concat(),
        // As TFLite stores it.
        Layout::ChannelsLast if depthwise => [&[1], kernel, &[outer]].concat(),
        Layout::ChannelsLast => [&[outer], kernel, &[inner]].concat(),
    }
}
