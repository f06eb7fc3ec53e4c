//! How the axes of a stored filter stand to the sum, and which pairs of channels it multiplies.

use crate::model::arithmetic::image_axes;
use crate::model::weights::{Axis, FilterAxes, axis, joined};
use crate::model::{Layout, Live, Op, Shape};

/// The axis of an output that has one entry for each filter.
pub(super) fn channel_axis(op: &Op, layout: Layout, output: &Shape) -> usize {
    let last = output.rank().saturating_sub(1);
    match op {
        Op::Convolution(_) if output.rank() >= 3 => image_axes(layout, output.rank()).0,
        _ => last,
    }
}

/// One number for each channel.
pub(super) fn by_channel(stored: &Shape) -> Option<FilterAxes> {
    let outputs = axis(stored, 0).filter(|_| stored.rank() == 1)?;
    let channels = Axis { extent: 1, stride: 1 };
    Some(FilterAxes { outputs, channels, depth: channels, groups: 1, groups_on_channels: false })
}

/// Filters stored one after the other, `[.., K]`, or side by side, `[K, N]`.
pub(super) fn rows(stored: &Shape, turned: bool) -> Option<FilterAxes> {
    let last = stored.rank().checked_sub(1).filter(|last| *last > 0 && (*last == 1 || !turned))?;
    let (filters, depth) = (joined(stored, 0..last)?, axis(stored, last)?);
    let (outputs, channels) = if turned { (depth, filters) } else { (filters, depth) };
    let (groups, groups_on_channels) = (1, false);
    Some(FilterAxes { outputs, channels, depth: channels, groups, groups_on_channels })
}

/// How the stored axes of a filter stand to the sum.
pub(super) fn filter_axes(
    op: &Op,
    layout: Layout,
    stored: &Shape,
    input: &Shape,
    turned: bool,
) -> Option<FilterAxes> {
    let rank = stored.rank();
    let one = Axis { extent: 1, stride: 1 };
    let c = match op {
        Op::Convolution(c) if rank >= 3 => c,
        Op::FullyConnected => return rows(stored, turned),
        _ => return None,
    };
    let (channel, spatial) = image_axes(layout, rank);
    let taps = joined(stored, spatial)?;
    let depthwise = c.groups > 1 && c.groups == input.extent(channel_axis(op, layout, input));
    // `[1, spatial.., channels]`, as depthwise filters may be stored; of one channel too.
    let single = input.extent(channel_axis(op, layout, input)) == 1 && c.groups <= 1;
    if layout == Layout::ChannelsLast && (depthwise || single) && stored.extent(0) == 1 {
        let outputs = axis(stored, channel)?;
        let (groups, groups_on_channels) = (c.groups, false);
        return Some(FilterAxes {
            outputs,
            channels: one,
            depth: taps,
            groups,
            groups_on_channels,
        });
    }
    let (first, other) = (axis(stored, 0)?, axis(stored, channel)?);
    let (outputs, channels) = match (c.transposed, layout) {
        // Channels first, a transposed filter starts with the input channels.
        (true, Layout::ChannelsFirst) => (other, first),
        _ => (first, other),
    };
    let groups_on_channels = c.transposed && layout == Layout::ChannelsFirst;
    let groups = if groups_on_channels { c.groups.max(1) } else { 1 };
    // Sparse groups lie within the channels of one filter.
    let own = Axis { extent: channels.extent / groups, ..channels };
    let depth = if own.extent > 1 { own } else { taps };
    Some(FilterAxes { outputs, channels, depth, groups: c.groups.max(1), groups_on_channels })
}

/// Pairs of input and output channel that are multiplied, live and in all.
pub(super) fn pairs(axes: &FilterAxes, into: Option<&[bool]>, live: &[bool]) -> Live {
    let (mut products, mut of) = (0u64, 0u64);
    // Groups share their count of live inputs.
    let mut counted: Option<(std::ops::Range<u64>, u64)> = None;
    for (output, alive) in (0u64..).zip(live) {
        let range = axes.summed(output);
        let all = range.end - range.start;
        of = of.saturating_add(all);
        if !alive {
            continue;
        }
        let inputs = match (&counted, into) {
            (_, None) => all,
            (Some((known, count)), _) if *known == range => *count,
            (_, Some(into)) => {
                let part = into.get(range.start as usize..range.end as usize).unwrap_or(&[]);
                let count = part.iter().filter(|live| **live).count() as u64;
                counted = Some((range, count));
                count
            }
        };
        products = products.saturating_add(inputs);
    }
    Live { channels: live.iter().filter(|live| **live).count() as u64, products, of }
}
