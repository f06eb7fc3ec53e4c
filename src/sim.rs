//! Discrete-event simulation of a plan: power changes and spans into a sink.
//!
//! Between two events every input is constant, so nothing marches with a fixed step. Time is
//! integer picoseconds; events at one instant have one order (class, then sequence). One thread a
//! run.

mod accounts;
mod error;
pub mod governor;
pub mod kernel;
pub mod load;
mod outcome;
mod program;
mod quantiles;
mod run;
pub mod scenario;
mod simulate;
mod simulated;
mod snapshot;
mod system;
mod workload;

pub use accounts::RailUse;
pub use error::SimError;
pub use outcome::{Durations, Outcome};
pub use program::MOST_SLOTS;
pub use quantiles::Quantiles;
pub use run::run;
pub use simulate::{Limits, Planned, PolicyChange, Prepared, Ran, Start};
pub use simulated::{DomainUse, Simulated, StreamUse};
pub use snapshot::{Snapshot, SnapshotError};
pub use system::{Residency, Served};
pub use workload::{Arrivals, Workload};
