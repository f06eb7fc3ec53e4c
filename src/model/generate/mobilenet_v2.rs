//! MobileNetV2 at width 1.0 and 224 pixels: table 2 of Sandler et al., arXiv:1801.04381.

use super::{described, normalised};
use crate::model::builder::{Builder, Filter};
use crate::model::{ElementFunction, ElementType, Layout, ModelError, ModelGraph, TensorId};

/// Expansion, channels, repeats and first stride of each stage.
const STAGES: [(u64, u64, u64, u64); 7] = [
    (1, 16, 1, 1),
    (6, 24, 2, 2),
    (6, 32, 3, 2),
    (6, 64, 4, 2),
    (6, 96, 3, 1),
    (6, 160, 3, 2),
    (6, 320, 1, 1),
];

const ACTIVATION: Option<&str> = Some("RELU6");

pub(super) fn graph(name: &str) -> Result<ModelGraph, ModelError> {
    let element = ElementType::Float32;
    let mut builder = Builder::new(name, Layout::ChannelsLast, element);
    let image = builder.input("image", &[1, 224, 224, 3], element)?;
    let mut x = normalised(&mut builder, "stem", image, Filter::new(32, 3, 2), ACTIVATION)?;
    let mut block = 0;
    for (expansion, channels, repeats, stride) in STAGES {
        for repeat in 0..repeats {
            let stride = if repeat == 0 { stride } else { 1 };
            let name = format!("block{block}");
            x = inverted_residual(&mut builder, &name, x, expansion, channels, stride)?;
            block += 1;
        }
    }
    x = normalised(&mut builder, "last", x, Filter::new(1280, 1, 1), ACTIVATION)?;
    let mean = builder.mean_of_plane("pool", x)?;
    let scores = builder.fully_connected("classifier", mean, 1000, true)?;
    let graph = builder.finish(vec![scores])?;
    Ok(described(
        graph,
        "Sandler et al., MobileNetV2: Inverted Residuals and Linear Bottlenecks, CVPR 2018, \
         arXiv:1801.04381, table 2, width 1.0, 224 pixels; padding as in torchvision's mobilenet_v2",
        "BSD-3-Clause (torchvision)",
    ))
}

fn inverted_residual(
    builder: &mut Builder,
    name: &str,
    x: TensorId,
    expansion: u64,
    channels: u64,
    stride: u64,
) -> Result<TensorId, ModelError> {
    let at = |part: &str| format!("{name}.{part}");
    let before = builder.channels(x);
    let inside = before * expansion;
    let mut made = x;
    if expansion > 1 {
        made = normalised(builder, &at("expand"), made, Filter::new(inside, 1, 1), ACTIVATION)?;
    }
    let depthwise = Filter::depthwise(inside, 3, stride);
    made = normalised(builder, &at("depthwise"), made, depthwise, ACTIVATION)?;
    made = normalised(builder, &at("project"), made, Filter::new(channels, 1, 1), None)?;
    if stride == 1 && before == channels {
        made = builder.elements(&at("add"), ElementFunction::Add, &[x, made])?;
    }
    Ok(made)
}
