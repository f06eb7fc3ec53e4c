//! From a network and a profile to a [`Plan`]: which engine runs what, where tensors live, what
//! moves between memories, and the phases of each step.
//!
//! Knows no time of day and no power states.

mod caches;
mod compressed;
mod flows;
mod memory;
mod network;
mod overlap;
mod pace;
mod place;
mod plan;
mod traffic;

pub use memory::{MemoryPlan, memory_plan};
pub use network::Network;
pub use place::plan;
pub use plan::{Phase, PhaseKind, Plan, Step, Transfer, Uncosted};
