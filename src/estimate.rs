//! The analytical engine: a plan at an operating point, summed up.

mod heat;
mod peaks;
mod phase;
mod rail_power;
pub mod roofline;
mod total;

pub use heat::{Junction, junction};
pub use peaks::{Headroom, Limit, RailPeak, rail_peaks};
pub use phase::{PhaseTime, phase_time, transfer_time};
pub use total::{Bound, ComponentEnergy, Estimate, LayerEstimate, estimate};
