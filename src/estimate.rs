//! The analytical engine: a plan at an operating point, summed up.

mod advice;
mod beside;
mod groups;
mod heat;
mod peaks;
mod rail_power;
mod repeats;
pub mod roofline;
mod total;

pub use crate::mapping::{PhaseTime, phase_time, transfer_time};
pub use advice::{Advice, Change, Subject, advise};
pub use beside::energy_beside;
pub use groups::{By, Group, Key, groups, top};
pub use heat::{Junction, junction};
pub use peaks::{Headroom, Limit, RailPeak, rail_peaks};
pub use total::{Bound, ComponentEnergy, Estimate, LayerEstimate, LevelTraffic, estimate, totals};
