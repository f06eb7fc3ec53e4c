//! Measured references: cases of measurements with their sources, and predictions held against
//! them.

mod case;
mod shipped;
mod summary;
mod validation;

pub use case::{Case, CaseError, Observation, Split};
pub use shipped::{ShippedCase, shipped_cases};
pub use summary::{Errors, Summary, summaries};
pub use validation::{Comparison, ValidationError, validate};
