//! From a network and a profile to a [`Plan`]: which engine runs what, where tensors live, what
//! moves between memories, and the phases of each step.
//!
//! Knows no time of day and no power states.

mod memory;
mod place;
mod plan;
mod traffic;

pub use memory::{MemoryPlan, memory_plan};
pub use place::{Network, plan};
pub use plan::{Phase, PhaseKind, Plan, Step, Transfer, Uncosted};
