//! Discrete-event simulation of a plan: power changes and spans into a sink.
//!
//! Between two events every input is constant, so nothing marches with a fixed step. Time is
//! integer picoseconds; events at one instant have one order (class, then sequence). One thread a
//! run.

mod channel;
mod error;
pub mod kernel;
pub mod load;
mod meter;
mod outcome;
mod quantiles;
mod run;
pub mod scenario;
mod workload;

pub use error::SimError;
pub use outcome::{Durations, Outcome};
pub use quantiles::Quantiles;
pub use run::run;
pub use workload::{Arrivals, Workload};
