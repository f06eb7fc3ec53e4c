//! One operator on one engine at one operating point: cycles, utilisation, operand passes, joules.
//!
//! Utilisation follows from shapes and array, never from a constant. Whatever an engine cannot run
//! is a [`Refusal`] that placement can act on, never a cost of zero.

mod lanes;
mod operator;
mod standing;
mod supply;
mod systolic;
mod timing;
mod voltage;

pub use operator::{Cost, Setting, cost, runs_in};
pub use standing::{DomainPower, KnownPower, resting_power, working_power};
pub use supply::{SupplyState, evidence_at_sources, is_fed, supply};
pub use systolic::{SystolicCycles, systolic_cycles};
pub use timing::{Passes, Refusal};
pub use voltage::dynamic_scale;
