//! Counting what weights are like while they are walked through.

use super::{Axis, Walk};
use crate::model::{ElementType, WeightStatistics};

/// Counts of one reading.
pub(super) struct Census {
    elements: u64,
    zeros: u64,
    /// One histogram, or one for each byte of a wide type.
    histograms: Vec<Vec<u64>>,
    depth: Walk,
    /// Non-zero weights of the groups under way, by the place within a stride.
    open: Vec<[u8; 2]>,
    groups: [u64; 2],
    /// Groups with at most 1 of 4, 2 of 4, 4 of 8.
    sparse: [u64; 3],
}

impl Census {
    pub(super) fn new(element: ElementType, depth: Axis) -> Option<Self> {
        let bits = element.bits();
        let histograms = if bits <= 16 {
            vec![vec![0; 1 << bits]]
        } else {
            vec![vec![0; 256]; (bits / 8) as usize]
        };
        let open = vec![[0; 2]; usize::try_from(depth.stride).ok()?];
        let (elements, zeros, depth) = (0, 0, Walk::along(depth));
        Some(Self { elements, zeros, histograms, depth, open, groups: [0; 2], sparse: [0; 3] })
    }

    pub(super) fn add(&mut self, symbol: u64, zero: bool) {
        self.elements += 1;
        self.zeros += u64::from(zero);
        match &mut self.histograms[..] {
            [one] => {
                if let Some(count) = one.get_mut(symbol as usize) {
                    *count += 1;
                }
            }
            bytes => {
                for (histogram, byte) in bytes.iter_mut().zip(symbol.to_le_bytes()) {
                    if let Some(count) = histogram.get_mut(usize::from(byte)) {
                        *count += 1;
                    }
                }
            }
        }
        self.group(zero);
    }

    fn group(&mut self, zero: bool) {
        let (place, within) = self.depth.step();
        let Some(open) = self.open.get_mut(within as usize) else { return };
        // What is left behind the last whole group belongs to none.
        let last = place + 1 == self.depth.axis.extent;
        for (which, size) in [4, 8].into_iter().enumerate() {
            open[which] += u8::from(!zero);
            let whole = (place + 1).is_multiple_of(size);
            let kept = if last || whole { std::mem::take(&mut open[which]) } else { 0 };
            if whole {
                self.groups[which] += 1;
                if size == 8 {
                    self.sparse[2] += u64::from(kept <= 4);
                } else {
                    self.sparse[0] += u64::from(kept <= 1);
                    self.sparse[1] += u64::from(kept <= 2);
                }
            }
        }
    }

    pub(super) fn statistics(&self, zero_filters: u64) -> WeightStatistics {
        let entropy: f64 = self.histograms.iter().map(|h| entropy(h, self.elements)).sum();
        let share = |part: u64, all: u64| rounded(part as f64 / all.max(1) as f64);
        // All of them is all of them: what is short of one group is not rounded up.
        let most = |part: u64, all: u64| if part < all { 1.0 - 1e-6 } else { 1.0 };
        let of_groups =
            |part: u64, all: u64| (all > 0).then(|| share(part, all).min(most(part, all)));
        WeightStatistics {
            zeros: share(self.zeros, self.elements),
            entropy_bits: rounded(entropy),
            one_of_four: of_groups(self.sparse[0], self.groups[0]),
            two_of_four: of_groups(self.sparse[1], self.groups[0]),
            four_of_eight: of_groups(self.sparse[2], self.groups[1]),
            zero_filters,
        }
    }
}

/// Shannon's entropy of a histogram, in bits.
fn entropy(histogram: &[u64], elements: u64) -> f64 {
    let all = elements.max(1) as f64;
    let terms = histogram.iter().filter(|n| **n > 0).map(|n| *n as f64 / all);
    terms.map(|p| -p * p.log2()).sum::<f64>().max(0.0)
}

/// Six decimals, which is what a file keeps.
fn rounded(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}
