//! From a network and a profile to a [`Plan`]: which engine runs what, where tensors live, what
//! moves between memories, and the phases of each step.
//!
//! Knows no time of day and no power states.

mod ahead;
mod begin;
mod caches;
mod candidate;
mod chained;
mod chains;
mod choices;
mod compressed;
mod directions;
mod duration;
mod flows;
mod handover;
pub mod import;
mod known;
mod memory;
mod network;
mod notes;
mod overlap;
mod pace;
mod parts;
mod pipelined;
mod place;
mod plan;
mod planned;
mod streams;
mod traffic;

pub use directions::{Directions, MappingError, Objective};
pub use duration::{PhaseTime, phase_time, slowest, transfer_time};
pub use memory::{Homes, MemoryInUse, MemoryPlan, MemoryUse, Placed, memory_plan};
pub use network::Network;
pub use parts::BatchPart;
pub use plan::{Fallback, Phase, PhaseKind, Plan, Stated, Step, Transfer, Uncosted};
pub use planned::plan;
