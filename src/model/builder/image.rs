//! Layers on images.

use super::{Builder, Step};
use crate::model::arithmetic::image_axes;
use crate::model::{
    Convolution, ElementType, Layout, ModelError, Movement, Op, Padding, Pool, PoolFunction,
    TensorId,
};

/// A filter with equal padding before and behind.
#[derive(Debug, Clone, Copy)]
pub(in crate::model) struct Filter {
    /// Output channels.
    pub channels: u64,
    /// Rows and columns of the window.
    pub kernel: (u64, u64),
    /// Step of the window.
    pub stride: u64,
    /// Groups of channels that filters keep to: 1 is dense, all input channels are depthwise.
    pub groups: Groups,
    /// With a bias.
    pub bias: bool,
    /// An activation done on the way out.
    pub activation: Option<&'static str>,
    /// Share of zeros in the data, where it is known.
    pub input_zeros: Option<f64>,
    /// What its weights are stored in, where that is not what is computed in.
    pub stored: Option<ElementType>,
}

/// How filters share the input channels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::model) enum Groups {
    /// Each filter sees all channels of its group, of which there are so many.
    Of(u64),
    /// Each filter sees one channel.
    Depthwise,
}

impl Filter {
    pub fn new(channels: u64, kernel: u64, stride: u64) -> Self {
        let (kernel, groups) = ((kernel, kernel), Groups::Of(1));
        let (activation, input_zeros, stored) = (None, None, None);
        Self { channels, kernel, stride, groups, bias: false, activation, input_zeros, stored }
    }

    pub fn depthwise(channels: u64, kernel: u64, stride: u64) -> Self {
        Self { groups: Groups::Depthwise, ..Self::new(channels, kernel, stride) }
    }

    pub fn biased(mut self) -> Self {
        self.bias = true;
        self
    }

    pub fn activated(mut self, activation: &'static str) -> Self {
        self.activation = Some(activation);
        self
    }

    pub fn stored_in(mut self, element: ElementType) -> Self {
        self.stored = Some(element);
        self
    }

    pub fn on_zeros(mut self, share: f64) -> Self {
        self.input_zeros = Some(share);
        self
    }

    pub fn grouped(mut self, groups: u64) -> Self {
        self.groups = Groups::Of(groups);
        self
    }

    /// Half a window on each side, as much as keeps the extent at stride 1.
    fn padding(&self) -> Padding {
        let (rows, columns) = self.kernel;
        padded(vec![rows / 2, columns / 2])
    }
}

fn centred(kernel: u64) -> Padding {
    padded(vec![kernel / 2; 2])
}

/// So many zeros before and behind each axis.
pub(in crate::model) fn padded(half: Vec<u64>) -> Padding {
    if half.iter().all(|extent| *extent == 0) {
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
        let Filter { channels, kernel: (rows, columns), stride, .. } = filter;
        let (groups, each) = match filter.groups {
            Groups::Depthwise => (inputs, 1),
            Groups::Of(groups) => (groups, inputs / groups.max(1)),
        };
        let extents = match (self.graph.layout, filter.groups) {
            (Layout::ChannelsLast, Groups::Depthwise) => [1, rows, columns, channels],
            (Layout::ChannelsLast, Groups::Of(_)) => [channels, rows, columns, each],
            (Layout::ChannelsFirst, _) => [channels, each, rows, columns],
        };
        let stored = filter.stored.unwrap_or(self.element);
        let weights = self.constant_of(&format!("{name}.weight"), &extents, stored)?;
        let bias = filter.bias.then(|| self.bias(name, channels));
        let convolution = Convolution {
            strides: vec![stride; 2],
            dilations: vec![1; 2],
            padding,
            groups,
            transposed: false,
        };
        let step = Step::new(name, "Conv2d", Op::Convolution(convolution));
        let step = Step { input_zeros: filter.input_zeros, ..step.with(filter.activation) };
        self.step(step, &[Some(data), Some(weights), bias.transpose()?])
    }

    /// A transposed convolution with a square window of 3 points that doubles rows and columns.
    pub fn doubling_convolution(
        &mut self,
        name: &str,
        data: TensorId,
        channels: u64,
    ) -> Result<TensorId, ModelError> {
        let weights =
            self.constant(&format!("{name}.weight"), &[channels, 3, 3, self.channels(data)])?;
        let convolution = Convolution {
            strides: vec![2; 2],
            dilations: vec![1; 2],
            padding: Padding::Same,
            groups: 1,
            transposed: true,
        };
        let step = Step::new(name, "ConvTranspose2d", Op::Convolution(convolution));
        self.step(step, &[Some(data), Some(weights)])
    }

    /// Biases of so many channels: as wide as a sum where numbers are integers.
    pub fn bias(&mut self, name: &str, channels: u64) -> Result<TensorId, ModelError> {
        let element = match self.element {
            ElementType::Int8 | ElementType::UInt8 | ElementType::Int16 => ElementType::Int32,
            own => own,
        };
        self.constant_of(&format!("{name}.bias"), &[channels], element)
    }

    /// A window reduced, of so many rows and columns, without padding.
    pub fn pooled(
        &mut self,
        name: &str,
        data: TensorId,
        function: PoolFunction,
        (kernel, strides): ([u64; 2], [u64; 2]),
    ) -> Result<TensorId, ModelError> {
        let (kernel, strides) = (kernel.to_vec(), strides.to_vec());
        let pool = Pool { kernel, strides, ..Pool::whole_plane(function) };
        let native = match function {
            PoolFunction::Maximum => "MaxPool2d",
            _ => "AvgPool2d",
        };
        self.step(Step::new(name, native, Op::Pool(pool)), &[Some(data)])
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
