//! ResNet-50 version 1.5 at 224 pixels: table 1 of He et al., arXiv:1512.03385, with the stride of a
//! stage in its 3x3 convolution (version 1 has it in the 1x1 before, and fewer multiply-accumulates).

use super::{described, normalised};
use crate::model::builder::{Builder, Filter, Step};
use crate::model::{ElementFunction, ElementType, Layout, ModelError, ModelGraph, Op, TensorId};

/// Channels inside of a block, blocks, and stride of the first.
const STAGES: [(u64, u64, u64); 4] = [(64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)];

const ACTIVATION: Option<&str> = Some("RELU");

pub(super) fn graph(name: &str) -> Result<ModelGraph, ModelError> {
    let element = ElementType::Float32;
    let mut builder = Builder::new(name, Layout::ChannelsLast, element);
    let image = builder.input("image", &[1, 224, 224, 3], element)?;
    let mut x = normalised(&mut builder, "stem", image, Filter::new(64, 7, 2), ACTIVATION)?;
    x = builder.maximum_pool("stem.pool", x, 3, 2)?;
    for (stage, (channels, blocks, stride)) in STAGES.into_iter().enumerate() {
        for block in 0..blocks {
            let stride = if block == 0 { stride } else { 1 };
            let name = format!("stage{}.block{block}", stage + 1);
            x = bottleneck(&mut builder, &name, x, channels, stride)?;
        }
    }
    let mean = builder.mean_of_plane("pool", x)?;
    let scores = builder.fully_connected("classifier", mean, 1000, true)?;
    let graph = builder.finish(vec![scores])?;
    Ok(described(
        graph,
        "He et al., Deep Residual Learning for Image Recognition, CVPR 2016, arXiv:1512.03385, \
         table 1, 50 layers; stride in the 3x3 convolution (version 1.5) as in torchvision's resnet50",
        "BSD-3-Clause (torchvision)",
    ))
}

fn bottleneck(
    builder: &mut Builder,
    name: &str,
    x: TensorId,
    channels: u64,
    stride: u64,
) -> Result<TensorId, ModelError> {
    let at = |part: &str| format!("{name}.{part}");
    let outer = 4 * channels;
    let reduced = normalised(builder, &at("reduce"), x, Filter::new(channels, 1, 1), ACTIVATION)?;
    let window = Filter::new(channels, 3, stride);
    let middle = normalised(builder, &at("window"), reduced, window, ACTIVATION)?;
    let made = normalised(builder, &at("expand"), middle, Filter::new(outer, 1, 1), None)?;
    let changed = stride > 1 || builder.channels(x) != outer;
    let shortcut = if changed {
        normalised(builder, &at("shortcut"), x, Filter::new(outer, 1, stride), None)?
    } else {
        x
    };
    let add = at("add");
    let sum = Op::Elementwise(ElementFunction::Add);
    builder.step(Step::new(&add, "Add", sum).with(ACTIVATION), &[Some(shortcut), Some(made)])
}
