//! What the numbers of a stored tensor are like, as far as hardware can use it.

use serde::{Deserialize, Serialize};

/// Statistics of a weight tensor.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WeightStatistics {
    /// Share of elements that are zero, 0 to 1.
    pub zeros: f64,
    /// Bits for each weight that a code of single weights needs at least: the entropy of how often
    /// each value comes. Of types wider than 16 bits each byte is taken by itself and the bits are
    /// summed up, which is what coding byte by byte reaches: of few wide weights that is more than
    /// they carry.
    pub entropy_bits: f64,
    /// Share of groups of four along the depth of the sum (channels, or taps where there is one
    /// channel) with at most one weight that is not zero; nothing where no group is whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub one_of_four: Option<f64>,
    /// Likewise with at most two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub two_of_four: Option<f64>,
    /// Share of groups of eight with at most four.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub four_of_eight: Option<f64>,
    /// Filters (outputs) whose weights are all zero.
    pub zero_filters: u64,
}

impl WeightStatistics {
    /// Whether the numbers make sense: shares from 0 to 1, bits from 0 to 64.
    pub fn is_sound(&self) -> bool {
        let share = |value: f64| (0.0..=1.0).contains(&value);
        let groups = [self.one_of_four, self.two_of_four, self.four_of_eight];
        share(self.zeros)
            && (0.0..=64.0).contains(&self.entropy_bits)
            && groups.into_iter().flatten().all(share)
    }
}
