//! The numbers of stored filters, read once from front to back: statistics, and which filters do
//! anything at all. The numbers themselves are not kept.

mod census;

use super::{ElementType, Shape, WeightStatistics};
use census::Census;
use prost::bytes::Bytes;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// Bytes read at a time from a file of weights.
const CHUNK: usize = 1 << 20;

/// Where the bytes of a stored tensor are, packed and in little-endian order.
#[derive(Debug, Clone)]
pub(super) enum Place {
    /// In memory.
    Here(Bytes),
    /// In a file beside the model.
    File { path: PathBuf, offset: u64 },
}

/// Numbers of a stored tensor.
#[derive(Debug, Clone)]
pub(super) struct Weights {
    pub place: Place,
    pub element: ElementType,
    /// Extents in the order they are stored in.
    pub shape: Shape,
    /// The symbols that stand for zero: one for all, or one for each place along an axis.
    pub zero_points: Vec<i64>,
    /// The axis that zero points go along.
    pub zero_axis: usize,
}

/// One axis of a stored tensor: its extent, and how many elements lie from one place to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Axis {
    pub extent: u64,
    pub stride: u64,
}

impl Axis {
    fn place(self, index: u64) -> u64 {
        index.checked_div(self.stride).and_then(|n| n.checked_rem(self.extent)).unwrap_or(0)
    }
}

/// A walk along an axis while elements are visited in the order of storage, without a division.
struct Walk {
    axis: Axis,
    place: u64,
    within: u64,
}

impl Walk {
    fn along(axis: Axis) -> Self {
        Self { axis, place: 0, within: 0 }
    }

    /// Where the element at hand stands on the axis and within its stride; then goes on to the next.
    fn step(&mut self) -> (u64, u64) {
        let here = (self.place, self.within);
        self.within += 1;
        if self.within >= self.axis.stride {
            self.within = 0;
            self.place += 1;
            if self.place >= self.axis.extent {
                self.place = 0;
            }
        }
        here
    }
}

/// How the axes of a stored filter stand to the sum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FilterAxes {
    /// Filters of one group, or all filters when `groups` do not cut this axis.
    pub outputs: Axis,
    /// Channels of one filter; of a depthwise filter there is one.
    pub channels: Axis,
    /// What groups of sparse weights go along: channels, or taps where there is one channel.
    pub depth: Axis,
    /// For weights that hold the groups on the channel axis (transposed convolutions).
    pub groups: u64,
    /// True when groups cut the channel axis, false when they cut the outputs.
    pub groups_on_channels: bool,
}

impl FilterAxes {
    /// Output and input channel of the network that an element connects, by its places on the axes.
    fn connects(&self, output: u64, channel: u64) -> (u64, u64) {
        if self.groups <= 1 {
            return (output, channel);
        }
        if self.groups_on_channels {
            let group = channel / (self.channels.extent / self.groups).max(1);
            return (group * self.outputs.extent + output, channel);
        }
        let group = output / (self.outputs.extent / self.groups).max(1);
        (output, group * self.channels.extent + channel)
    }

    /// Output channels of the network.
    pub(super) fn output_channels(&self) -> u64 {
        let groups = if self.groups_on_channels { self.groups.max(1) } else { 1 };
        self.outputs.extent.saturating_mul(groups)
    }

    /// Input channels of the network.
    pub(super) fn input_channels(&self) -> u64 {
        let groups = if self.groups_on_channels { 1 } else { self.groups.max(1) };
        self.channels.extent.saturating_mul(groups)
    }

    /// Input channels that an output channel is summed over.
    pub(super) fn summed(&self, output: u64) -> std::ops::Range<u64> {
        let groups = self.groups.max(1);
        let each = self.input_channels() / groups;
        let group = output / (self.output_channels() / groups).max(1);
        group * each..(group + 1) * each
    }
}

/// What one reading finds.
pub(super) struct Findings {
    pub statistics: WeightStatistics,
    /// By output channel of the network, whether any weight is not zero.
    pub filters: Vec<bool>,
}

impl Weights {
    /// The file beside the model that they are in.
    pub(super) fn file(&self) -> Option<&Path> {
        match &self.place {
            Place::Here(_) => None,
            Place::File { path, .. } => Some(path),
        }
    }

    /// Statistics of a filter; nothing when the bytes cannot be had or are not as many as they
    /// should be.
    pub(super) fn findings(&self, axes: &FilterAxes) -> Option<Findings> {
        // Nothing is set up for more elements than there are.
        self.bytes_there()?;
        let outputs = usize::try_from(axes.output_channels()).ok()?;
        let mut filters = vec![false; outputs];
        let mut census = Census::new(self.element, axes.depth)?;
        let (mut outputs, mut channels) = (Walk::along(axes.outputs), Walk::along(axes.channels));
        self.each(|_, symbol, zero| {
            census.add(symbol, zero);
            let (output, channel) = (outputs.step().0, channels.step().0);
            if !zero
                && let Some(filter) = filters.get_mut(axes.connects(output, channel).0 as usize)
            {
                *filter = true;
            }
        })?;
        let zero_filters = filters.iter().filter(|any| !**any).count() as u64;
        Some(Findings { statistics: census.statistics(zero_filters), filters })
    }

    /// By output channel, whether any weight that is not zero meets a live input channel.
    pub(super) fn reached(&self, axes: &FilterAxes, live: &[bool]) -> Option<Vec<bool>> {
        let mut reached = vec![false; usize::try_from(axes.output_channels()).ok()?];
        let (mut outputs, mut channels) = (Walk::along(axes.outputs), Walk::along(axes.channels));
        self.each(|_, _, zero| {
            let (output, input) = axes.connects(outputs.step().0, channels.step().0);
            if !zero
                && live.get(input as usize).copied().unwrap_or(true)
                && let Some(entry) = reached.get_mut(output as usize)
            {
                *entry = true;
            }
        })?;
        Some(reached)
    }

    /// Bytes of all elements, when they are where they should be.
    fn bytes_there(&self) -> Option<u64> {
        let bytes = self.shape.elements()?.checked_mul(self.element.bits())?.div_ceil(8);
        let there = match &self.place {
            Place::Here(here) => here.len() as u64,
            Place::File { path, offset } => {
                std::fs::metadata(path).ok()?.len().checked_sub(*offset)?
            }
        };
        (bytes > 0 && bytes <= there).then_some(bytes)
    }

    /// Visits every element in the order of storage: its index, its bits, whether it is zero.
    fn each(&self, mut visit: impl FnMut(u64, u64, bool)) -> Option<()> {
        let bytes = self.bytes_there()?;
        let (count, bits) = (self.shape.elements()?, self.element.bits());
        let zero = Zero::of(self)?;
        match &self.place {
            Place::Here(here) => {
                let all = here.get(..usize::try_from(bytes).ok()?)?;
                symbols(all, bits, 0, count, &mut |i, s| visit(i, s, zero.is(i, s)));
                Some(())
            }
            Place::File { path, offset } => {
                let visit = &mut |i, s| visit(i, s, zero.is(i, s));
                from_file(path, *offset, bytes, bits, count, visit).ok()
            }
        }
    }
}

fn from_file(
    path: &PathBuf,
    offset: u64,
    bytes: u64,
    bits: u64,
    count: u64,
    visit: &mut impl FnMut(u64, u64),
) -> io::Result<()> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(offset))?;
    let mut buffer = vec![0; CHUNK.min(usize::try_from(bytes).unwrap_or(CHUNK))];
    let (mut left, mut first) = (bytes, 0u64);
    while left > 0 {
        let length = buffer.len().min(usize::try_from(left).unwrap_or(CHUNK));
        let chunk = buffer.get_mut(..length).unwrap_or_default();
        file.read_exact(chunk)?;
        let here = (length as u64 * 8 / bits).min(count - first);
        symbols(chunk, bits, first, here, visit);
        (left, first) = (left - length as u64, first + here);
    }
    Ok(())
}

/// Splits packed bytes into symbols of 2, 4, 8, 16, 32 or 64 bits; of several in a byte the lowest comes
/// first.
fn symbols(bytes: &[u8], bits: u64, first: u64, count: u64, visit: &mut impl FnMut(u64, u64)) {
    let mut index = first;
    let end = first + count;
    if bits == 2 || bits == 4 {
        let mask = (1u64 << bits) - 1;
        for byte in bytes {
            for place in 0..8 / bits {
                if index < end {
                    visit(index, u64::from(*byte) >> (place * bits) & mask);
                }
                index += 1;
            }
        }
        return;
    }
    for chunk in bytes.chunks_exact((bits / 8).max(1) as usize) {
        let mut word = [0; 8];
        for (to, from) in word.iter_mut().zip(chunk) {
            *to = *from;
        }
        visit(index, u64::from_le_bytes(word));
        index += 1;
    }
}

/// Which symbols are zero.
enum Zero {
    /// One symbol, whatever bits the mask leaves out.
    One { mask: u64, symbol: u64 },
    /// By the place along an axis.
    Along { axis: Axis, symbols: Vec<u64> },
}

impl Zero {
    fn of(weights: &Weights) -> Option<Self> {
        let bits = weights.element.bits();
        let all = u64::MAX >> (64 - bits.clamp(1, 64));
        if weights.element.is_float() {
            // Minus nought is nought.
            return Some(Self::One { mask: all >> 1, symbol: 0 });
        }
        let symbol = |point: &i64| *point as u64 & all;
        match &weights.zero_points[..] {
            [] => Some(Self::One { mask: all, symbol: 0 }),
            [first, rest @ ..] if rest.iter().all(|point| point == first) => {
                Some(Self::One { mask: all, symbol: symbol(first) })
            }
            points => {
                let axis = axis(&weights.shape, weights.zero_axis)?;
                (axis.extent == points.len() as u64)
                    .then(|| Self::Along { axis, symbols: points.iter().map(symbol).collect() })
            }
        }
    }

    fn is(&self, index: u64, symbol: u64) -> bool {
        match self {
            Self::One { mask, symbol: zero } => symbol & mask == *zero,
            Self::Along { axis, symbols } => {
                symbols.get(axis.place(index) as usize).is_some_and(|zero| symbol == *zero)
            }
        }
    }
}

/// An axis of a tensor stored row by row.
pub(super) fn axis(shape: &Shape, at: usize) -> Option<Axis> {
    let extent = *shape.0.get(at)?;
    let stride = shape.0.get(at + 1..)?.iter().try_fold(1u64, |n, e| n.checked_mul(*e))?;
    Some(Axis { extent, stride })
}

/// Neighbouring axes as one.
pub(super) fn joined(shape: &Shape, axes: std::ops::Range<usize>) -> Option<Axis> {
    let extents = shape.0.get(axes.clone())?;
    let extent = extents.iter().try_fold(1u64, |n, e| n.checked_mul(*e))?;
    let stride = shape.0.get(axes.end..)?.iter().try_fold(1u64, |n, e| n.checked_mul(*e))?;
    Some(Axis { extent, stride })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weights(bytes: &[u8], element: ElementType, shape: &[u64]) -> Weights {
        Weights {
            place: Place::Here(Bytes::copy_from_slice(bytes)),
            element,
            shape: Shape(shape.to_vec()),
            zero_points: Vec::new(),
            zero_axis: 0,
        }
    }

    /// Filters by rows, channels along the row.
    fn rows(shape: &[u64]) -> FilterAxes {
        let shape = Shape(shape.to_vec());
        let (outputs, channels) = (axis(&shape, 0).unwrap(), axis(&shape, 1).unwrap());
        FilterAxes { outputs, channels, depth: channels, groups: 1, groups_on_channels: false }
    }

    #[test]
    fn zeros_structure_and_entropy_are_counted() {
        // Two filters of eight: one all zero, one with every second weight set to one of four values.
        let bytes = [0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 2, 0, 3, 0, 4, 0];
        let found = weights(&bytes, ElementType::Int8, &[2, 8]).findings(&rows(&[2, 8])).unwrap();
        let s = found.statistics;
        assert_eq!(found.filters, [false, true]);
        assert_eq!((s.zeros, s.zero_filters), (0.75, 1));
        assert_eq!((s.one_of_four, s.two_of_four), (Some(0.5), Some(1.0)));
        assert_eq!(s.four_of_eight, Some(1.0));
        // 12 of one symbol, four of others once each: 0.75 log2(1/0.75) + 4/16 log2 16.
        assert!((s.entropy_bits - (0.311278 + 1.0)).abs() < 1e-6, "{s:?}");
    }

    #[test]
    fn only_whole_groups_count() {
        let found = |channels: u64| {
            let bytes = vec![1; 2 * channels as usize];
            let w = weights(&bytes, ElementType::Int8, &[2, channels]);
            let s = w.findings(&rows(&[2, channels])).unwrap().statistics;
            (s.two_of_four, s.four_of_eight)
        };
        assert_eq!(found(3), (None, None));
        assert_eq!(found(6), (Some(0.0), None), "the last two of six make no group");
        assert_eq!(found(9), (Some(0.0), Some(0.0)));
    }

    #[test]
    fn a_zero_point_moves_nought_and_minus_nought_is_nought() {
        let mut w = weights(&[7, 7, 9, 9], ElementType::UInt8, &[2, 2]);
        w.zero_points = vec![7, 9];
        assert_eq!(w.findings(&rows(&[2, 2])).unwrap().statistics.zeros, 1.0);
        w.zero_points = vec![7];
        assert_eq!(w.findings(&rows(&[2, 2])).unwrap().filters, [false, true]);
        let float = [0.0f32, -0.0, 1.0, 0.5].map(f32::to_le_bytes).concat();
        let found = weights(&float, ElementType::Float32, &[2, 2]).findings(&rows(&[2, 2]));
        assert_eq!(found.unwrap().filters, [false, true]);
        let nibbles = weights(&[0x0f, 0xf0], ElementType::Int4, &[2, 2]);
        let s = nibbles.findings(&rows(&[2, 2])).unwrap().statistics;
        assert_eq!((s.zeros, s.zero_filters), (0.5, 0));
        let quarters = weights(&[0x0d, 0xf0], ElementType::Int2, &[2, 4]);
        let s = quarters.findings(&rows(&[2, 4])).unwrap().statistics;
        assert_eq!((s.zeros, s.zero_filters), (0.5, 0));
    }

    #[test]
    fn what_only_dead_channels_feed_is_not_reached() {
        let w = weights(&[5, 0, 0, 6], ElementType::Int8, &[2, 2]);
        assert_eq!(w.reached(&rows(&[2, 2]), &[true, false]).unwrap(), [true, false]);
        let mut grouped = rows(&[2, 1]);
        grouped.groups = 2;
        let w = weights(&[5, 6], ElementType::Int8, &[2, 1]);
        assert_eq!(w.reached(&grouped, &[false, true]).unwrap(), [false, true]);
        assert_eq!((grouped.input_channels(), grouped.summed(1)), (2, 1..2));
    }

    #[test]
    fn weights_beside_the_model_are_read_in_pieces() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("weights.bin");
        let mut bytes = vec![9u8; 3];
        bytes.extend((0..3 * CHUNK).map(|i| u8::from(i % 4 == 0)));
        std::fs::write(&path, &bytes).unwrap();
        let shape = [3, CHUNK as u64];
        let mut w = weights(&[], ElementType::Int8, &shape);
        w.place = Place::File { path, offset: 3 };
        let s = w.findings(&rows(&shape)).unwrap().statistics;
        assert_eq!((s.zeros, s.one_of_four), (0.75, Some(1.0)));
        w.shape = Shape(vec![4, CHUNK as u64]);
        assert!(w.findings(&rows(&shape)).is_none(), "the file is too short");
    }
}
