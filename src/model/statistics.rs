//! What the numbers of a stored tensor are like, as far as hardware can use it.

use serde::{Deserialize, Serialize};

/// Statistics of a weight tensor.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WeightStatistics {
    /// Share of elements that are zero, 0 to 1.
    pub zeros: f64,
    /// Entropy in bits for each weight: no code that takes the weights one by one stores them in
    /// less. Of types wider than 16 bits it is taken byte by byte and summed up.
    pub entropy_bits: f64,
    /// Share of groups of four along the depth of the sum with at most one weight that is not zero.
    pub one_of_four: f64,
    /// Likewise with at most two.
    pub two_of_four: f64,
    /// Share of groups of eight with at most four.
    pub four_of_eight: f64,
    /// Filters (outputs) whose weights are all zero.
    pub zero_filters: u64,
}
