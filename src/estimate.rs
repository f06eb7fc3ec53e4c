//! The analytical engine: a plan at an operating point, summed up.

mod phase;
mod total;

pub use phase::{PhaseTime, phase_time, transfer_time};
pub use total::{Bound, ComponentEnergy, Estimate, LayerEstimate, estimate};
