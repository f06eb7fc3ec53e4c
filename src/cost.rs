//! One operator on one engine at one operating point: cycles, utilisation, operand passes, joules.
//!
//! Utilisation follows from shapes and array, never from a constant. Whatever an engine cannot run
//! is a [`Refusal`] that placement can act on, never a cost of zero.

mod lanes;
mod operator;
mod standing;
mod supply;
mod systolic;

pub use operator::{Cost, Refusal, Setting, cost};
pub use standing::{DomainPower, resting_power, working_power};
pub use supply::{SupplyState, supply};
pub use systolic::{Passes, SystolicCycles, systolic_cycles};
