//! MobileNets of any width and resolution, 8-bit or float, as TensorFlow's slim library defines their channels.

use super::described;
use super::family::Chosen;
use crate::model::builder::{Builder, Filter};
use crate::model::{ElementFunction, ElementType, Layout, ModelError, ModelGraph, TensorId};

/// Stride and channels of the separable layers of version 1.
const V1: [(u64, u64); 13] = [
    (1, 64),
    (2, 128),
    (1, 128),
    (2, 256),
    (1, 256),
    (2, 512),
    (1, 512),
    (1, 512),
    (1, 512),
    (1, 512),
    (1, 512),
    (2, 1024),
    (1, 1024),
];

/// Expansion, channels, repeats and first stride of each stage of version 2.
const V2: [(u64, u64, u64, u64); 7] = [
    (1, 16, 1, 1),
    (6, 24, 2, 2),
    (6, 32, 3, 2),
    (6, 64, 4, 2),
    (6, 96, 3, 1),
    (6, 160, 3, 2),
    (6, 320, 1, 1),
];

/// Channels inside, channels and stride of the blocks of version 3, large.
const V3: [(u64, u64, u64); 15] = [
    (16, 16, 1),
    (64, 24, 2),
    (72, 24, 1),
    (72, 40, 2),
    (120, 40, 1),
    (120, 40, 1),
    (240, 80, 2),
    (200, 80, 1),
    (184, 80, 1),
    (184, 80, 1),
    (480, 112, 1),
    (672, 112, 1),
    (672, 160, 2),
    (960, 160, 1),
    (960, 160, 1),
];

const LICENCE: &str = "Apache-2.0 (tensorflow/models, slim)";
const RELU: &str = "RELU";
const RELU6: &str = "RELU6";

fn started(
    name: &str,
    chosen: &Chosen,
    element: ElementType,
) -> Result<(Builder, TensorId), ModelError> {
    let mut builder = Builder::new(name, Layout::ChannelsLast, element);
    let pixels = chosen.count("resolution");
    let image = builder.input("image", &[1, pixels, pixels, 3], element)?;
    Ok((builder, image))
}

fn classified(
    mut builder: Builder,
    x: TensorId,
    chosen: &Chosen,
    source: &str,
) -> Result<ModelGraph, ModelError> {
    let mean = builder.mean_of_plane("pool", x)?;
    let scores = builder.fully_connected("classifier", mean, chosen.count("classes"), true)?;
    Ok(described(builder.finish(vec![scores])?, source, LICENCE))
}

/// Version 1: layers `conv`, `depthwise1`, `pointwise1`, …, `pool`, `classifier`.
pub(super) fn v1(name: &str, chosen: &Chosen) -> Result<ModelGraph, ModelError> {
    v1_of(name, chosen, ElementType::Int8)
}

/// The same in 32-bit floats.
pub(super) fn v1_float(name: &str, chosen: &Chosen) -> Result<ModelGraph, ModelError> {
    v1_of(name, chosen, ElementType::Float32)
}

fn v1_of(name: &str, chosen: &Chosen, element: ElementType) -> Result<ModelGraph, ModelError> {
    let scaled = |channels: u64| ((channels as f64 * chosen.number("width")) as u64).max(8);
    let (mut builder, image) = started(name, chosen, element)?;
    let stem = Filter::new(scaled(32), 3, 2).biased().activated(RELU6);
    let mut x = builder.convolution("conv", image, stem)?;
    for (at, (stride, channels)) in (1..).zip(V1) {
        let filter = Filter::depthwise(builder.channels(x), 3, stride).biased().activated(RELU6);
        x = builder.convolution(&format!("depthwise{at}"), x, filter)?;
        let filter = Filter::new(scaled(channels), 1, 1).biased().activated(RELU6);
        x = builder.convolution(&format!("pointwise{at}"), x, filter)?;
    }
    let source = "Howard et al., MobileNets, arXiv:1704.04861, table 1";
    classified(builder, x, chosen, source)
}

/// A number of channels near `channels`, divisible by 8, and not less than nine tenths of it.
fn divisible(channels: f64) -> u64 {
    let near = ((channels + 4.0) as u64 / 8 * 8).max(8);
    if (near as f64) < 0.9 * channels { near + 8 } else { near }
}

/// Version 2: as many features before the classifier as at width 1, or more.
pub(super) fn v2(name: &str, chosen: &Chosen) -> Result<ModelGraph, ModelError> {
    v2_of(name, chosen, ElementType::Int8)
}

/// The same in 32-bit floats.
pub(super) fn v2_float(name: &str, chosen: &Chosen) -> Result<ModelGraph, ModelError> {
    v2_of(name, chosen, ElementType::Float32)
}

fn v2_of(name: &str, chosen: &Chosen, element: ElementType) -> Result<ModelGraph, ModelError> {
    let width = chosen.number("width");
    let (mut builder, image) = started(name, chosen, element)?;
    let stem = Filter::new(divisible(32.0 * width), 3, 2).biased().activated(RELU6);
    let mut x = builder.convolution("conv", image, stem)?;
    let mut block = 0;
    for (expansion, channels, repeats, stride) in V2 {
        for repeat in 0..repeats {
            let inside = builder.channels(x) * expansion;
            let stride = if repeat == 0 { stride } else { 1 };
            let made = Block { inside, channels: divisible(channels as f64 * width), stride };
            x = made.after(&mut builder, &format!("block{block}"), x, RELU6)?;
            block += 1;
        }
    }
    let last = divisible(1280.0 * width.max(1.0));
    let filter = Filter::new(last, 1, 1).biased().activated(RELU6);
    x = builder.convolution("last", x, filter)?;
    let source = "Sandler et al., MobileNetV2, arXiv:1801.04381, table 2";
    classified(builder, x, chosen, source)
}

/// Version 3, large, without squeezing, hard swish and windows of five points.
pub(super) fn v3_large_minimalistic(name: &str, chosen: &Chosen) -> Result<ModelGraph, ModelError> {
    let (mut builder, image) = started(name, chosen, ElementType::Int8)?;
    let mut x =
        builder.convolution("conv", image, Filter::new(16, 3, 2).biased().activated(RELU))?;
    for (at, (inside, channels, stride)) in V3.into_iter().enumerate() {
        let block = Block { inside, channels, stride };
        x = block.after(&mut builder, &format!("block{at}"), x, RELU)?;
    }
    x = builder.convolution("last", x, Filter::new(960, 1, 1).biased().activated(RELU))?;
    let mean = builder.mean_of_plane("pool", x)?;
    let wide = builder.fully_connected("features", mean, 1280, true)?;
    let scores = builder.fully_connected("classifier", wide, chosen.count("classes"), true)?;
    let source = "Howard et al., Searching for MobileNetV3, arXiv:1905.02244, table 1; minimalistic as in \
                  tensorflow/models, slim, mobilenet_v3.py";
    Ok(described(builder.finish(vec![scores])?, source, LICENCE))
}

/// An inverted residual block.
struct Block {
    inside: u64,
    channels: u64,
    stride: u64,
}

impl Block {
    fn after(
        &self,
        builder: &mut Builder,
        name: &str,
        x: TensorId,
        activation: &'static str,
    ) -> Result<TensorId, ModelError> {
        let at = |part: &str| format!("{name}.{part}");
        let before = builder.channels(x);
        let mut made = x;
        if self.inside != before {
            let expand = Filter::new(self.inside, 1, 1).biased().activated(activation);
            made = builder.convolution(&at("expand"), made, expand)?;
        }
        let depthwise =
            Filter::depthwise(self.inside, 3, self.stride).biased().activated(activation);
        made = builder.convolution(&at("depthwise"), made, depthwise)?;
        made =
            builder.convolution(&at("project"), made, Filter::new(self.channels, 1, 1).biased())?;
        if self.stride == 1 && before == self.channels {
            made = builder.elements(&at("add"), ElementFunction::Add, &[x, made])?;
        }
        Ok(made)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channels_round_as_published_networks_do() {
        // Half of 24 is 12, and 8 would be less than nine tenths of it.
        assert_eq!([12.0, 16.8, 33.6, 44.8, 22.4].map(divisible), [16, 16, 32, 48, 24]);
    }
}
