//! Where weights and activations live between layers, tensor by tensor.
//!
//! For each engine, memories in its order, the nearest first. Activations go first: into each memory
//! that may hold them as many as have room there over the time they live, in the engine's number
//! format; what has no room spills into the next. Left out is what costs the least traffic for the room
//! it leaves. Weights take what activations leave of each memory that may hold weights, those that are
//! used most for their size first. What has no room in any memory is counted as living in the largest.
//!
//! A plan depends on the network, on capacities and on number formats, and on nothing else of an
//! operating point: [`Homes`] keeps what was worked out.

mod homes;
mod lacks;
mod placement;
mod planned;
mod sizes;

pub use homes::Homes;
pub use planned::{MemoryInUse, MemoryPlan, MemoryUse, Placed};

use super::network::Network;
use crate::hardware::Profile;
use std::sync::Arc;

/// Where the tensors of a network live when an engine runs it. Worked out once for each structure: the
/// same again for another operating point, or for another engine with the same memories.
pub fn memory_plan(network: &Network, engine: usize, profile: &Profile) -> Arc<MemoryPlan> {
    network.homes.plan(engine, profile)
}
