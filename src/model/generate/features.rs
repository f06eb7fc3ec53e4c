//! The convolutions of AlexNet and VGG-16, 16-bit: what Eyeriss was measured on.
//!
//! Layers are called as in the paper's tables, and their inputs have the zeros measured there. Pooling lies between them; the classifiers are left out.

use super::described;
use crate::model::builder::{Builder, Filter, padded};
use crate::model::{ElementType, Layout, ModelError, ModelGraph, Padding, PoolFunction, TensorId};

const RELU: &str = "RELU";

/// Per cent of zeros in the input of each convolution, as IEEE JSSC 52(1), 2017 prints them in tables V and VI.
const ALEXNET_ZEROS: [f64; 5] = [0.01, 38.7, 72.5, 79.3, 77.6];
const VGG16_ZEROS: [f64; 13] =
    [1.6, 47.7, 24.8, 38.7, 39.7, 58.1, 58.7, 64.3, 74.7, 85.4, 79.4, 87.4, 88.5];

fn started(name: &str, pixels: u64) -> Result<(Builder, TensorId), ModelError> {
    let element = ElementType::Int16;
    let mut builder = Builder::new(name, Layout::ChannelsLast, element);
    let image = builder.input("image", &[1, pixels, pixels, 3], element)?;
    Ok((builder, image))
}

/// AlexNet with its two groups, on 227 pixels.
pub(super) fn alexnet(name: &str) -> Result<ModelGraph, ModelError> {
    let (mut builder, image) = started(name, 227)?;
    let pool = ([3, 3], [2, 2]);
    let mut zeros = ALEXNET_ZEROS.into_iter();
    let mut filter = |channels, kernel, stride, groups| {
        let zeros = zeros.next().unwrap_or(0.0);
        let filter = Filter::new(channels, kernel, stride).grouped(groups);
        filter.biased().activated(RELU).on_zeros(zeros / 100.0)
    };
    let mut x = builder.convolution_padded("CONV1", image, filter(96, 11, 4, 1), Padding::Valid)?;
    x = builder.pooled("POOL1", x, PoolFunction::Maximum, pool)?;
    x = builder.convolution_padded("CONV2", x, filter(256, 5, 1, 2), padded(vec![2; 2]))?;
    x = builder.pooled("POOL2", x, PoolFunction::Maximum, pool)?;
    x = builder.convolution("CONV3", x, filter(384, 3, 1, 1))?;
    x = builder.convolution("CONV4", x, filter(384, 3, 1, 2))?;
    x = builder.convolution("CONV5", x, filter(256, 3, 1, 2))?;
    Ok(described(
        builder.finish(vec![x])?,
        "Krizhevsky et al., NIPS 2012, with the groups of channels of its two GPUs and an input of 227 \
         pixels, as BVLC's Caffe reference has it",
        "BSD-2-Clause (BVLC/caffe)",
    ))
}

/// VGG-16 on 224 pixels.
pub(super) fn vgg16(name: &str) -> Result<ModelGraph, ModelError> {
    const STAGES: [(u64, u64); 5] = [(64, 2), (128, 2), (256, 3), (512, 3), (512, 3)];
    let (mut builder, mut x) = started(name, 224)?;
    let mut zeros = VGG16_ZEROS.into_iter();
    for (stage, (channels, layers)) in (1..).zip(STAGES) {
        if stage > 1 {
            let pool = format!("POOL{}", stage - 1);
            x = builder.pooled(&pool, x, PoolFunction::Maximum, ([2, 2], [2, 2]))?;
        }
        for layer in 1..=layers {
            let zeros = zeros.next().unwrap_or(0.0);
            let filter =
                Filter::new(channels, 3, 1).biased().activated(RELU).on_zeros(zeros / 100.0);
            x = builder.convolution(&format!("CONV{stage}-{layer}"), x, filter)?;
        }
    }
    Ok(described(
        builder.finish(vec![x])?,
        "Simonyan and Zisserman, arXiv:1409.1556, table 1, configuration D",
        "CC-BY-4.0 (the authors' model)",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{OpKind, total_macs};

    /// IEEE JSSC 52(1), 2017, tables V and VI: 2.66 GMAC for four images, 46.04 for three.
    #[test]
    fn counts_are_those_of_the_paper() {
        let giga = |graph: ModelGraph, batch: u64| {
            let layers = graph.layers().unwrap();
            assert!(layers.iter().all(|l| l.work.kind == OpKind::Pool || l.work.macs > 0));
            (total_macs(&layers) * batch) as f64 / 1e9
        };
        assert!((giga(alexnet("a").unwrap(), 4) - 2.66).abs() < 0.005);
        assert!((giga(vgg16("v").unwrap(), 3) - 46.04).abs() < 0.005);
    }
}
