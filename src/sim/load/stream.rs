//! Random streams: one for each thing that is random, whatever else there is.

use crate::sim::kernel::Stream;

/// The stream of `purpose` (`workloads.kws.arrivals`) under a seed. What is added to a scenario changes no
/// draw of what is there already, for names are unique in it.
pub fn stream(seed: u64, purpose: &str) -> Stream {
    Stream::of(seed, 0, purpose, 0)
}
