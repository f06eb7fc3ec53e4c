//! Convolutions and pooling.

use super::Check;
use crate::model::arithmetic::image_axes;
use crate::model::{Convolution, Padding, Pool, Shape};

impl Check<'_> {
    pub(super) fn convolution(&mut self, c: &Convolution) {
        let (Some((input, output)), Some(weights)) = (self.through(), self.input(1)) else {
            return;
        };
        let rank = output.rank();
        // Other ranks make no convolution, which counting the work reports.
        if rank < 3 || input.rank() != rank || weights.rank() != rank {
            return;
        }
        let settings_fit = self.settings(c, rank - 2);
        self.batch(input, output);
        self.channels(c, input, weights, output);
        if settings_fit && !c.transposed {
            let (_, spatial) = image_axes(self.layout(), rank);
            let kernel = weights.0.get(spatial).unwrap_or(&[]);
            let window = Sliding {
                kernel,
                strides: &c.strides,
                dilations: &c.dilations,
                padding: &c.padding,
            };
            self.positions(window, input, output);
        }
    }

    fn settings(&mut self, c: &Convolution, spatial: usize) -> bool {
        let before = self.found.len();
        self.steps("Convolution.strides", "stride", &c.strides, spatial);
        self.steps("Convolution.dilations", "dilation", &c.dilations, spatial);
        if c.groups == 0 {
            self.at_setting("Convolution.groups".into(), "groups start at 1, a dense convolution");
        }
        self.padding("Convolution", &c.padding, spatial);
        self.found.len() == before
    }

    fn padding(&mut self, op: &str, padding: &Padding, spatial: usize) {
        let Padding::Explicit { before, after } = padding else { return };
        for (name, list) in [("before", before), ("after", after)] {
            if list.len() != spatial {
                let field = format!("{op}.padding.Explicit.{name}");
                let reason = format!("{} values of padding for {spatial} spatial axes", list.len());
                self.at_setting(field, reason);
            }
        }
    }

    /// One value of at least 1 for each spatial axis.
    fn steps(&mut self, field: &str, what: &str, list: &[u64], spatial: usize) {
        if list.len() != spatial {
            let reason = format!("{} {what}s for {spatial} spatial axes", list.len());
            self.at_setting(field.to_owned(), reason);
        }
        for (axis, _) in list.iter().enumerate().filter(|(_, step)| **step == 0) {
            self.at_setting(format!("{field}[{axis}]"), format!("a {what} of 0"));
        }
    }

    fn batch(&mut self, input: &Shape, output: &Shape) {
        let (before, after) = (input.extent(0), output.extent(0));
        if before != after {
            self.at_output(format!("{after} samples in {output}, but {before} in {input}"));
        }
    }

    /// Filters times groups make the channels on their far side.
    fn channels(&mut self, c: &Convolution, input: &Shape, weights: &Shape, output: &Shape) {
        let (axis, spatial) = image_axes(self.layout(), output.rank());
        let (inner, outer) = if c.transposed { (output, input) } else { (input, output) };
        let (channels, filters) = (inner.extent(axis), outer.extent(axis));
        let taps = weights.0[spatial].iter().try_fold(1u64, |n, d| n.checked_mul(*d));
        let each = weights.elements().zip(taps).and_then(|(all, taps)| {
            let filter = all.checked_div(filters).filter(|one| one * filters == all)?;
            filter.checked_div(taps).filter(|one| one * taps == filter)
        });
        // What does not divide is no convolution, which counting the work reports.
        let Some(each) = each else { return };
        let groups = c.groups.max(1);
        if each.checked_mul(groups) != Some(channels) {
            let what = if c.transposed { "output" } else { "input" };
            return self.at_input(
                1,
                format!(
                    "weights {weights} have {each} channels for each filter, in {groups} groups; \
                     the {what} {inner} has {channels} channels"
                ),
            );
        }
        // Depthwise filters may be stored `[1, spatial.., channels]`.
        let first = weights.extent(0);
        let depthwise = first == 1 && weights.last() == filters;
        if !c.transposed && first != filters && !depthwise {
            let reason =
                format!("weights {weights} do not start with the {filters} channels of {output}");
            return self.at_input(1, reason);
        }
        self.channel_bias(output.extent(axis));
    }

    fn channel_bias(&mut self, channels: u64) {
        let Some(bias) = self.input(2) else { return };
        if bias.elements() != Some(channels) {
            self.at_input(2, format!("a bias of {bias} does not fit {channels} output channels"));
        }
    }

    fn positions(&mut self, window: Sliding<'_>, input: &Shape, output: &Shape) {
        let (_, spatial) = image_axes(self.layout(), output.rank());
        for (at, axis) in spatial.enumerate() {
            let (Some(kernel), Some(stride)) = (window.kernel.get(at), window.strides.get(at))
            else {
                return;
            };
            let (extent, dilation) = (input.extent(axis), window.dilations.get(at).unwrap_or(&1));
            let how = format!(
                "a window of {kernel}, stride {stride}, dilation {dilation} and {} on an extent of \
                 {extent}",
                padding_name(window.padding, at)
            );
            let made = output.extent(axis);
            match positions(window.padding, at, extent, *kernel, (*stride, *dilation)) {
                None => self.at_output(format!("axis {axis} of {output}: {how} does not fit")),
                Some(expected) if expected != made => self.at_output(format!(
                    "axis {axis} of {output} is {made}, but {how} makes {expected}"
                )),
                Some(_) => {}
            }
        }
    }

    pub(super) fn pool(&mut self, pool: &Pool) {
        let Some((input, output)) = self.through() else { return };
        let rank = output.rank();
        if rank < 3 || input.rank() != rank {
            let reason = format!("no window slides over {input} to make {output}");
            return self.at_output(reason);
        }
        self.batch(input, output);
        let (channel, spatial) = image_axes(self.layout(), rank);
        let (before, after) = (input.extent(channel), output.extent(channel));
        if before != after {
            self.at_output(format!("{after} channels in {output}, but {before} in {input}"));
        }
        if pool.kernel.is_empty() {
            if output.0[spatial].iter().any(|extent| *extent != 1) {
                self.at_output(format!("a window over the whole plane leaves {output}"));
            }
            return;
        }
        let found = self.found.len();
        self.steps("Pool.kernel", "extent", &pool.kernel, rank - 2);
        self.steps("Pool.strides", "stride", &pool.strides, rank - 2);
        if !pool.dilations.is_empty() {
            self.steps("Pool.dilations", "dilation", &pool.dilations, rank - 2);
        }
        self.padding("Pool", &pool.padding, rank - 2);
        if self.found.len() > found {
            return;
        }
        let Pool { kernel, strides, dilations, padding, .. } = pool;
        self.positions(Sliding { kernel, strides, dilations, padding }, input, output);
    }
}

/// A window on its way over the spatial axes.
struct Sliding<'a> {
    kernel: &'a [u64],
    strides: &'a [u64],
    /// Empty for 1.
    dilations: &'a [u64],
    padding: &'a Padding,
}

fn padding_name(padding: &Padding, at: usize) -> String {
    match padding {
        Padding::Same => "padding Same".to_owned(),
        Padding::Valid => "no padding".to_owned(),
        Padding::Explicit { before, after } => {
            let (before, after) = (before.get(at), after.get(at));
            format!("padding {}+{}", before.unwrap_or(&0), after.unwrap_or(&0))
        }
    }
}

/// Places of a window along one axis; `None` where it does not fit at all.
pub(in crate::model) fn positions(
    padding: &Padding,
    at: usize,
    extent: u64,
    kernel: u64,
    (stride, dilation): (u64, u64),
) -> Option<u64> {
    let padded = match padding {
        Padding::Same => return Some(extent.div_ceil(stride)),
        Padding::Valid => extent,
        Padding::Explicit { before, after } => {
            extent.checked_add(*before.get(at)?)?.checked_add(*after.get(at)?)?
        }
    };
    let reach = kernel.checked_sub(1)?.checked_mul(dilation)?.checked_add(1)?;
    (padded.checked_sub(reach)? / stride).checked_add(1)
}
