//! Layers on images.

use super::{Builder, Step};
use crate::model::arithmetic::image_axes;
use crate::model::{
    Convolution, Layout, ModelError, Movement, Op, Padding, Pool, PoolFunction, TensorId,
};

/// A square filter with equal padding on all sides.
#[derive(Debug, Clone, Copy)]
pub(in crate::model) struct Filter {
    /// Output channels.
    pub channels: u64,
    /// Extent of the window.
    pub kernel: u64,
    /// Step of the window.
    pub stride: u64,
    /// One filter a channel, or all channels together.
    pub depthwise: bool,
    /// With a bias.
    pub bias: bool,
}

impl Filter {
    pub fn new(channels: u64, kernel: u64, stride: u64) -> Self {
        Self { channels, kernel, stride, depthwise: false, bias: false }
    }

    pub fn depthwise(channels: u64, kernel: u64, stride: u64) -> Self {
        Self { depthwise: true, ..Self::new(channels, kernel, stride) }
    }

    pub fn biased(mut self) -> Self {
        self.bias = true;
        self
    }

    /// Half a window on each side, as much as keeps the extent at stride 1.
    fn padding(&self) -> Padding {
        centred(self.kernel)
    }
}

fn centred(kernel: u64) -> Padding {
    let half = vec![kernel / 2; 2];
    if kernel < 2 {
        Padding::Valid
    } else {
        Padding::Explicit { before: half.clone(), after: half }
    }
}

impl Builder {
    /// A convolution padded by half of its window.
    pub fn convolution(
        &mut self,
        name: &str,
        data: TensorId,
        filter: Filter,
    ) -> Result<TensorId, ModelError> {
        self.convolution_padded(name, data, filter, filter.padding())
    }

    pub fn convolution_padded(
        &mut self,
        name: &str,
        data: TensorId,
        filter: Filter,
        padding: Padding,
    ) -> Result<TensorId, ModelError> {
        let inputs = self.channels(data);
        let each = if filter.depthwise { 1 } else { inputs };
        let Filter { channels, kernel, stride, .. } = filter;
        let extents = match self.graph.layout {
            Layout::ChannelsLast if filter.depthwise => [1, kernel, kernel, channels],
            Layout::ChannelsLast => [channels, kernel, kernel, each],
            Layout::ChannelsFirst => [channels, each, kernel, kernel],
        };
        let weights = self.constant(&format!("{name}.weight"), &extents)?;
        let bias = filter.bias.then(|| self.constant(&format!("{name}.bias"), &[channels]));
        let convolution = Convolution {
            strides: vec![stride; 2],
            dilations: vec![1; 2],
            padding,
            groups: if filter.depthwise { inputs } else { 1 },
            transposed: false,
        };
        let step = Step::new(name, "Conv2d", Op::Convolution(convolution));
        self.step(step, &[Some(data), Some(weights), bias.transpose()?])
    }

    /// Channels of an image.
    pub fn channels(&self, image: TensorId) -> u64 {
        let shape = self.shape(image);
        let (axis, _) = image_axes(self.graph.layout, shape.rank().max(3));
        shape.extent(axis)
    }

    /// Scale and shift by channel, in which the statistics of training are folded.
    pub fn batch_normalisation(
        &mut self,
        name: &str,
        data: TensorId,
        activation: Option<&str>,
    ) -> Result<TensorId, ModelError> {
        let channels = self.channels(data);
        let scale = self.constant(&format!("{name}.weight"), &[channels])?;
        let shift = self.constant(&format!("{name}.bias"), &[channels])?;
        let step = Step::new(name, "BatchNorm2d", Op::BatchNormalisation).with(activation);
        self.step(step, &[Some(data), Some(scale), Some(shift)])
    }

    /// A maximum over a square window, padded by half of it.
    pub fn maximum_pool(
        &mut self,
        name: &str,
        data: TensorId,
        kernel: u64,
        stride: u64,
    ) -> Result<TensorId, ModelError> {
        let pool = Pool {
            kernel: vec![kernel; 2],
            strides: vec![stride; 2],
            padding: centred(kernel),
            ..Pool::whole_plane(PoolFunction::Maximum)
        };
        self.step(Step::new(name, "MaxPool2d", Op::Pool(pool)), &[Some(data)])
    }

    /// The mean of each channel, flattened to `[batch, channels]`.
    pub fn mean_of_plane(&mut self, name: &str, data: TensorId) -> Result<TensorId, ModelError> {
        let pool = Op::Pool(Pool::whole_plane(PoolFunction::Average));
        let mean = self.step(Step::new(name, "AdaptiveAvgPool2d", pool), &[Some(data)])?;
        let shape = [self.shape(data).extent(0), self.channels(data)];
        self.view(&format!("{name}.flatten"), mean, &shape)
    }

    /// Each pixel repeated, to twice the height and width.
    pub fn doubled(&mut self, name: &str, data: TensorId) -> Result<TensorId, ModelError> {
        let mut shape = self.shape(data);
        let (_, spatial) = image_axes(self.graph.layout, shape.rank().max(3));
        for extent in shape.0.get_mut(spatial).unwrap_or(&mut []) {
            *extent = extent.saturating_mul(2);
        }
        let step = Step::new(name, "Upsample", Op::Movement(Movement::Broadcast));
        self.step_to(step, &[Some(data)], &shape.0)
    }
}
