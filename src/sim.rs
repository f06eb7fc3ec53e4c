//! Discrete-event simulation of a plan: power changes and spans into a sink.
//!
//! Between two events every input is constant, so nothing marches with a fixed step. Time is
//! integer picoseconds; events at one instant have one order (class, then sequence). One thread a
//! run.

mod accounts;
mod error;
pub mod governor;
mod grounds;
mod heat;
pub mod kernel;
pub mod load;
mod outcome;
mod program;
mod quantiles;
mod reload;
mod run;
pub mod scenario;
mod simulate;
mod simulated;
mod snapshot;
mod supplied;
mod system;
mod workload;

pub use accounts::RailUse;
pub use error::SimError;
pub use grounds::Grounds;
pub use heat::{HeatUse, NodeHeat, Runaway, SensorHeat, Tripped, TrippedBy};
pub use outcome::{Durations, Outcome};
pub use program::MOST_SLOTS;
pub use quantiles::Quantiles;
pub use reload::{Reload, ReloadMove, Resident};
pub use run::run;
pub use simulate::{Limits, PolicyChange, Prepared, Ran, Start};
pub use simulated::{DomainUse, Simulated, StreamUse};
pub use snapshot::{Snapshot, SnapshotError};
pub use supplied::{BrownOut, Cause, Holding, RegulatorUse, SourceUse, Supplied, SupplyStart};
pub use system::{OppUse, Residency, Served, Transitions};
pub use workload::{Arrivals, Workload};
