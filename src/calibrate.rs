//! Measured references: cases of measurements with their sources, and predictions held against
//! them.

mod case;
mod meter;
mod record;
mod shipped;
mod summary;
mod validation;

pub use case::{Case, CaseError, LayerObservation, Measured, Observation, Quantity, Split};
pub use record::recorded;
pub use shipped::{ShippedCase, shipped_cases};
pub use summary::{Errors, Grain, Summary, errors_of, summaries};
pub use validation::{Comparison, ValidationError, validate};
