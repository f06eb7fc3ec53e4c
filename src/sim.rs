//! Discrete-event simulation of a plan: power changes and spans into a sink.
//!
//! Between two events every input is constant, so nothing marches with a fixed step. Time is
//! integer picoseconds; events at one instant have one order (class, then sequence). One thread a
//! run.

mod channel;
pub mod kernel;
mod meter;
mod run;
mod workload;

pub use run::{Outcome, SimError, run};
pub use workload::{Arrivals, Workload};
