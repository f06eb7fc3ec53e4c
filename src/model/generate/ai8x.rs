//! The networks of Analog Devices' application note 7664, as analogdevicesinc/ai8x-training defines them.
//!
//! Extents are facts of that repository's `models/` and of ai8x-synthesis' `networks/`; the order of
//! layers is that of the chip, which pools before it convolves. Normalisation is folded. Weights are stored
//! in 8 bits, and most of those of two networks in 2 and 4, which the chip expands.

use super::described;
use crate::model::builder::{Builder, Filter, padded};
use crate::model::{
    ElementFunction, ElementType, Layout, ModelError, ModelGraph, PoolFunction, TensorId,
};

const RELU: &str = "RELU";
const SOURCE: &str = "analogdevicesinc/ai8x-training, models/";
const LICENCE: &str = "Apache-2.0 (ai8x-training)";

type Made = Result<TensorId, ModelError>;

/// A network in the making; layers are numbered.
struct Net {
    builder: Builder,
    layers: usize,
}

impl Net {
    /// Rows, columns and channels handed in.
    fn new(
        name: &str,
        [rows, columns, channels]: [u64; 3],
    ) -> Result<(Self, TensorId), ModelError> {
        let mut builder = Builder::new(name, Layout::ChannelsLast, ElementType::Int8);
        let input = builder.input("input", &[1, rows, columns, channels], ElementType::Int8)?;
        Ok((Self { builder, layers: 0 }, input))
    }

    fn called(&mut self, what: &str) -> String {
        self.layers += 1;
        format!("{what}{}", self.layers)
    }

    /// A convolution of `kernel` points each way that keeps rows and columns, rectified.
    fn conv(&mut self, x: TensorId, channels: u64, kernel: u64) -> Made {
        let name = self.called("conv");
        self.builder.convolution(&name, x, Filter::new(channels, kernel, 1).activated(RELU))
    }

    /// The same without an activation.
    fn linear_conv(&mut self, x: TensorId, channels: u64, kernel: u64) -> Made {
        let name = self.called("conv");
        self.builder.convolution(&name, x, Filter::new(channels, kernel, 1))
    }

    /// A convolution over the maxima of windows of two by two.
    fn pooled_conv(&mut self, x: TensorId, channels: u64, kernel: u64) -> Made {
        let x = self.halved(x, PoolFunction::Maximum)?;
        self.conv(x, channels, kernel)
    }

    fn halved(&mut self, x: TensorId, function: PoolFunction) -> Made {
        let name = self.called("pool");
        self.builder.pooled(&name, x, function, ([2, 2], [2, 2]))
    }

    fn depthwise(&mut self, x: TensorId) -> Made {
        let name = self.called("depthwise");
        let filter = Filter::depthwise(self.builder.channels(x), 3, 1).activated(RELU);
        self.builder.convolution(&name, x, filter)
    }

    fn add(&mut self, x: TensorId, y: TensorId) -> Made {
        let name = self.called("add");
        self.builder.elements(&name, ElementFunction::Add, &[x, y])
    }

    /// All elements of the last result times a matrix.
    fn classified(
        mut self,
        x: TensorId,
        classes: u64,
        source: &str,
    ) -> Result<ModelGraph, ModelError> {
        let flat = self.builder.shape(x).elements().unwrap_or(0);
        let x = self.builder.view("flatten", x, &[1, flat])?;
        let scores = self.builder.fully_connected("classifier", x, classes, false)?;
        self.finished(scores, source)
    }

    fn finished(self, result: TensorId, source: &str) -> Result<ModelGraph, ModelError> {
        Ok(described(self.builder.finish(vec![result])?, &format!("{SOURCE}{source}"), LICENCE))
    }
}

/// `ai85net.py`, AI85Net5 with 60 planes on 28 pixels.
pub(super) fn mnist(name: &str) -> Result<ModelGraph, ModelError> {
    let (mut net, x) = Net::new(name, [28, 28, 1])?;
    let x = net.conv(x, 60, 3)?;
    let x = net.halved(x, PoolFunction::Maximum)?;
    // Two zeros on each side of 14 rows.
    let wide = Filter::new(60, 3, 1).activated(RELU);
    let x = net.builder.convolution_padded("conv2", x, wide, padded(vec![2; 2]))?;
    net.layers += 1;
    let x = net.pooled_conv(x, 56, 3)?;
    let x = net.halved(x, PoolFunction::Average)?;
    let x = net.conv(x, 12, 3)?;
    net.classified(x, 10, "ai85net.py")
}

/// `ai85net-cd.py` on 128 pixels.
pub(super) fn cats_dogs(name: &str) -> Result<ModelGraph, ModelError> {
    let (mut net, x) = Net::new(name, [128, 128, 3])?;
    let mut x = net.conv(x, 16, 3)?;
    for channels in [32, 64, 32, 32] {
        x = net.pooled_conv(x, channels, 3)?;
    }
    let x = net.conv(x, 16, 3)?;
    net.classified(x, 2, "ai85net-cd.py")
}

/// `ai85net-nas-cifar.py`.
pub(super) fn cifar10(name: &str) -> Result<ModelGraph, ModelError> {
    let (mut net, x) = Net::new(name, [32, 32, 3])?;
    let x = net.conv(x, 64, 3)?;
    let x = net.conv(x, 32, 1)?;
    let x = net.conv(x, 64, 3)?;
    let x = net.pooled_conv(x, 32, 3)?;
    let x = net.conv(x, 64, 1)?;
    let x = net.pooled_conv(x, 128, 3)?;
    let x = net.conv(x, 128, 1)?;
    let x = net.pooled_conv(x, 64, 3)?;
    let x = net.conv(x, 128, 3)?;
    let x = net.pooled_conv(x, 128, 1)?;
    net.classified(x, 10, "ai85net-nas-cifar.py")
}

/// Channels of a layer, points of its window, whether it pools before, and whether the input of the layer
/// is added to its result.
type Simple = [(u64, u64, bool, bool); 13];

/// What the weights of each layer and of the last convolution are stored in.
type Stored = [ElementType; 14];

const IN_BYTES: Stored = [ElementType::Int8; 14];

/// `policies/qat_policy_cifar100.yaml`: 8 bits in the first layer, 4 in the second and in the last four, 2 in
/// all others.
const MIXED: Stored = {
    let mut stored = [ElementType::Int2; 14];
    stored[0] = ElementType::Int8;
    stored[1] = ElementType::Int4;
    stored[10] = ElementType::Int4;
    stored[11] = ElementType::Int4;
    stored[12] = ElementType::Int4;
    stored[13] = ElementType::Int4;
    stored
};

fn simple(
    name: &str,
    layers: Simple,
    stored: Stored,
    source: &str,
) -> Result<ModelGraph, ModelError> {
    let (mut net, mut x) = Net::new(name, [32, 32, 3])?;
    let [inside @ .., last] = stored;
    for ((channels, kernel, pools, adds), element) in layers.into_iter().zip(inside) {
        let before = x;
        if pools {
            x = net.halved(x, PoolFunction::Maximum)?;
        }
        let filter = Filter::new(channels, kernel, 1).activated(RELU).stored_in(element);
        let called = net.called("conv");
        x = net.builder.convolution(&called, x, filter)?;
        if adds {
            x = net.add(x, before)?;
        }
    }
    let called = net.called("conv");
    let filter = Filter::new(100, 1, 1).stored_in(last);
    let scores = net.builder.convolution(&called, x, filter)?;
    net.finished(scores, source)
}

const SIMPLE: Simple = [
    (16, 3, false, false),
    (20, 3, false, false),
    (20, 3, false, false),
    (20, 3, false, false),
    (20, 3, true, false),
    (20, 3, false, false),
    (44, 3, false, false),
    (48, 3, true, false),
    (48, 3, false, false),
    (96, 3, true, false),
    (512, 1, true, false),
    (128, 1, false, false),
    (128, 3, true, false),
];

/// `ai85net-simplenet.py`; its policy stores most weights in 2 and 4 bits.
pub(super) fn cifar100_simple(name: &str) -> Result<ModelGraph, ModelError> {
    simple(name, SIMPLE, MIXED, "ai85net-simplenet.py")
}

/// `ai85net-res-simplenet.py`.
pub(super) fn cifar100_residual(name: &str) -> Result<ModelGraph, ModelError> {
    let mut layers = SIMPLE;
    for at in [2, 5, 8] {
        layers[at].3 = true;
    }
    simple(name, layers, IN_BYTES, "ai85net-res-simplenet.py")
}

/// `ai85net-simplenet-wide2x.py`; its policy stores most weights in 2 and 4 bits.
pub(super) fn cifar100_simplewide2x(name: &str) -> Result<ModelGraph, ModelError> {
    let channels = [24, 32, 32, 32, 32, 32, 64, 64, 64, 128, 512, 192, 192];
    let mut layers = SIMPLE;
    for (layer, channels) in layers.iter_mut().zip(channels) {
        layer.0 = channels;
    }
    simple(name, layers, MIXED, "ai85net-simplenet-wide2x.py")
}

/// `ai85net-faceid.py` on 160 by 120 pixels.
pub(super) fn faceid(name: &str) -> Result<ModelGraph, ModelError> {
    let (mut net, x) = Net::new(name, [160, 120, 3])?;
    let mut x = net.conv(x, 16, 3)?;
    for channels in [32, 32, 64, 64] {
        x = net.pooled_conv(x, channels, 3)?;
    }
    x = net.conv(x, 64, 3)?;
    x = net.conv(x, 64, 3)?;
    x = net.halved(x, PoolFunction::Maximum)?;
    x = net.linear_conv(x, 512, 1)?;
    let plane = net.builder.shape(x);
    let window = [plane.extent(1), plane.extent(2)];
    let x = net.builder.pooled("average", x, PoolFunction::Average, (window, window))?;
    net.finished(x, "ai85net-faceid.py")
}

/// Channels of a layer, points of its window in time, and what is taken over two steps before it.
type Spoken = (u64, u64, Option<PoolFunction>);

/// Convolutions over time alone, without padding: 128 steps of 128 features.
fn spoken(name: &str, layers: &[Spoken], source: &str) -> Result<ModelGraph, ModelError> {
    let (mut net, mut x) = Net::new(name, [128, 1, 128])?;
    for (channels, taps, pool) in layers {
        if let Some(function) = pool {
            let pool = net.called("pool");
            x = net.builder.pooled(&pool, x, *function, ([2, 1], [2, 1]))?;
        }
        let name = net.called("conv");
        let filter = Filter { kernel: (*taps, 1), ..Filter::new(*channels, 1, 1).activated(RELU) };
        x = net.builder.convolution_padded(&name, x, filter, padded(vec![0; 2]))?;
    }
    net.classified(x, 21, source)
}

const MAXIMUM: Option<PoolFunction> = Some(PoolFunction::Maximum);
const AVERAGE: Option<PoolFunction> = Some(PoolFunction::Average);

/// `ai85net-kws20-v2.py` without padding, as `ai87-kws20-v2-hwc.yaml` runs it.
pub(super) fn kws20_v2(name: &str) -> Result<ModelGraph, ModelError> {
    let layers = [
        (100, 1, None),
        (48, 3, None),
        (96, 3, MAXIMUM),
        (128, 3, None),
        (160, 3, MAXIMUM),
        (192, 3, None),
        (192, 3, AVERAGE),
        (32, 3, None),
    ];
    spoken(name, &layers, "ai85net-kws20-v2.py, without padding")
}

/// `ai87net-kws20-v3.py`.
pub(super) fn kws20_v3(name: &str) -> Result<ModelGraph, ModelError> {
    let layers = [
        (100, 1, None),
        (96, 3, None),
        (64, 3, MAXIMUM),
        (48, 3, None),
        (64, 3, MAXIMUM),
        (96, 3, None),
        (100, 3, AVERAGE),
        (64, 3, MAXIMUM),
    ];
    spoken(name, &layers, "ai87net-kws20-v3.py")
}

/// An inverted residual block: channels, expansion, and whether one full convolution takes the place of
/// expansion and depthwise convolution.
#[derive(Clone, Copy)]
struct Inverted {
    channels: u64,
    expansion: u64,
    full: bool,
}

impl Net {
    fn inverted(&mut self, x: TensorId, block: Inverted, halves: bool) -> Made {
        let before = self.builder.channels(x);
        let inside = before.saturating_mul(block.expansion);
        let mut made = x;
        if block.expansion > 1 {
            made = self.conv(made, inside, if block.full { 3 } else { 1 })?;
        }
        if halves {
            made = self.halved(made, PoolFunction::Maximum)?;
        }
        if !block.full {
            made = self.depthwise(made)?;
        }
        made = self.linear_conv(made, block.channels, 1)?;
        if !halves && before == block.channels {
            made = self.add(made, x)?;
        }
        Ok(made)
    }

    fn inverted_all(&mut self, mut x: TensorId, blocks: &[(u64, u64, bool)]) -> Made {
        for &(channels, expansion, full) in blocks {
            x = self.inverted(x, Inverted { channels, expansion, full }, false)?;
        }
        Ok(x)
    }

    /// The mean of each channel.
    fn mean(&mut self, x: TensorId) -> Made {
        let plane = self.builder.shape(x);
        let window = [plane.extent(1), plane.extent(2)];
        self.builder.pooled("average", x, PoolFunction::Average, (window, window))
    }
}

const FULL: bool = true;
const SEPARABLE: bool = false;

/// `ai87net-effnetv2.py`.
pub(super) fn cifar100_effnet2(name: &str) -> Result<ModelGraph, ModelError> {
    let (mut net, x) = Net::new(name, [32, 32, 3])?;
    let x = net.pooled_conv(x, 32, 3)?;
    let blocks = [
        (16, 1, FULL),
        (32, 4, FULL),
        (32, 4, FULL),
        (48, 4, FULL),
        (48, 4, FULL),
        (96, 4, SEPARABLE),
        (96, 4, SEPARABLE),
        (128, 4, SEPARABLE),
        (128, 4, SEPARABLE),
    ];
    let x = net.inverted_all(x, &blocks)?;
    let x = net.conv(x, 1024, 1)?;
    let x = net.mean(x)?;
    net.classified(x, 100, "ai87net-effnetv2.py")
}

/// `ai87net-imagenet-effnetv2.py` on 112 pixels.
pub(super) fn imagenet_effnet2(name: &str) -> Result<ModelGraph, ModelError> {
    let (mut net, x) = Net::new(name, [112, 112, 3])?;
    let x = net.pooled_conv(x, 32, 3)?;
    let blocks =
        [(16, 1, FULL), (32, 4, FULL), (32, 4, FULL), (48, 4, FULL), (48, 4, FULL), (48, 4, FULL)];
    let x = net.inverted_all(x, &blocks)?;
    let x = net.halved(x, PoolFunction::Maximum)?;
    let x = net.inverted_all(x, &[(96, 2, SEPARABLE), (96, 2, SEPARABLE), (128, 2, SEPARABLE)])?;
    let x = net.pooled_conv(x, 128, 1)?;
    let x = net.inverted_all(x, &[(128, 4, SEPARABLE)])?;
    let x = net.conv(x, 1024, 1)?;
    let x = net.mean(x)?;
    net.classified(x, 1000, "ai87net-imagenet-effnetv2.py")
}

/// `ai87net-mobilenet-v2.py`, 0.75 for CIFAR-100: repeats, channels, stride and expansion of its stages.
pub(super) fn cifar100_mobilenet_v2_075(name: &str) -> Result<ModelGraph, ModelError> {
    let stages = [
        (1, 12, 1, 1),
        (2, 20, 2, 6),
        (3, 24, 2, 6),
        (4, 48, 2, 6),
        (3, 72, 1, 6),
        (3, 120, 1, 6),
        (1, 240, 1, 6),
    ];
    let (mut net, x) = Net::new(name, [32, 32, 3])?;
    let mut x = net.conv(x, 24, 3)?;
    for (repeats, channels, stride, expansion) in stages {
        for repeat in 0..repeats {
            let block = Inverted { channels, expansion, full: SEPARABLE };
            x = net.inverted(x, block, stride == 2 && repeat == 0)?;
        }
    }
    let x = net.conv(x, 960, 1)?;
    let x = net.mean(x)?;
    let scores = net.linear_conv(x, 100, 1)?;
    net.finished(scores, "ai87net-mobilenet-v2.py")
}

/// `ai85net-unet.py`, large, on 192 pixels folded by four: 48 by 48 of 48 channels, which is what the
/// note's multiply-accumulates and loads amount to.
fn unet(name: &str, classes: u64) -> Result<ModelGraph, ModelError> {
    let (mut net, x) = Net::new(name, [48, 48, 48])?;
    let mut x = x;
    for channels in [64, 64, 32] {
        x = net.conv(x, channels, 1)?;
    }
    let first = net.conv(x, 8, 3)?;
    let second = net.pooled_conv(first, 28, 3)?;
    let third = net.pooled_conv(second, 56, 3)?;
    let middle = net.pooled_conv(third, 112, 3)?;
    // The chip moves what it joins here by a convolution of one point.
    let third = net.linear_conv(third, 56, 1)?;
    let mut x = middle;
    for (beside, up, channels) in [(third, 56, 56), (second, 28, 28), (first, 8, 48)] {
        let wide = net.called("up");
        let made = net.builder.doubling_convolution(&wide, x, up)?;
        let both = net.called("join");
        let joined = net.builder.joined(&both, &[made, beside], 3)?;
        x = net.conv(joined, channels, 3)?;
    }
    x = net.conv(x, 64, 3)?;
    x = net.conv(x, 64, 1)?;
    x = net.conv(x, 64, 1)?;
    x = net.linear_conv(x, 64, 1)?;
    let x = net.linear_conv(x, classes.saturating_mul(16), 1)?;
    net.finished(x, "ai85net-unet.py, large")
}

/// Two classes.
pub(super) fn aisegment_unet(name: &str) -> Result<ModelGraph, ModelError> {
    unet(name, 2)
}

/// Four classes.
pub(super) fn camvid_unet(name: &str) -> Result<ModelGraph, ModelError> {
    unet(name, 4)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{TensorRole, stored_parameters, total_macs};

    /// Application note 7664, table 4: bytes of the weights of the networks with 2 and 4 bits.
    #[test]
    fn narrow_weights_take_the_bytes_of_the_note() {
        let cases = [(cifar100_simple as fn(&str) -> _, 165_228), (cifar100_simplewide2x, 312_200)];
        for (make, bytes) in cases {
            let graph: ModelGraph = make("n").unwrap();
            let stored = graph.tensors().map(|id| graph.tensor(id));
            let stored = stored.filter(|tensor| tensor.role == TensorRole::Constant);
            assert_eq!(stored.filter_map(|tensor| tensor.bytes()).sum::<u64>(), bytes);
        }
    }

    /// Application note 7664, table 4: bytes of weights and million MACs. Networks with weights below 8
    /// bits are counted at 8 here. Of a transposed convolution the note counts the positions of the
    /// result, of which three of four see a zero.
    #[test]
    fn counts_are_those_of_the_note() {
        type Make = fn(&str) -> Result<ModelGraph, ModelError>;
        let cases: [(Make, u64, f64); 13] = [
            (mnist, 71_148, 10.752),
            (cats_dogs, 57_776, 50.432),
            (cifar10, 301_760, 36.181),
            (cifar100_simple, 381_792, 18.461),
            (cifar100_residual, 381_792, 18.461),
            (cifar100_simplewide2x, 725_128, 42.958),
            (faceid, 176_048, 55.235),
            (kws20_v2, 365_888, 11.693),
            (kws20_v3, 148_928, 7.995),
            (cifar100_effnet2, 753_952, 166.900),
            (imagenet_effnet2, 1_686_080, 1014.353),
            (cifar100_mobilenet_v2_075, 1_341_960, 25.696),
            (|name| unet(name, 2), 279_264, 182.034 - 15.676),
        ];
        for (make, bytes, millions) in cases {
            let graph = make("n").unwrap();
            let macs = total_macs(&graph.layers().unwrap()) as f64 / 1e6;
            assert_eq!(stored_parameters(&graph), bytes, "{:?}", graph.source);
            assert!((macs - millions).abs() < 6e-4, "{macs} {millions} {:?}", graph.source);
        }
    }
}
