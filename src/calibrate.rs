//! Measured references: cases of measurements with their sources, and predictions held against
//! them; and against the estimates of a compiler, which are no measurements.

mod against;
mod bench;
mod calibration;
mod case;
pub mod fit;
mod fitted;
mod holdout;
pub mod joint;
mod meter;
mod record;
mod shipped;
mod summary;
mod validation;

pub use against::{
    Against, AgainstError, BusyCycles, Held, HeldLayer, HeldRun, LeftOut, SYSTEMS, ShippedSystem,
    against_vela,
};
pub use calibration::{
    Axis, Calibration, CalibrationError, Discrepancy, Noise, Off, Shared, StatedLoss,
};
pub use case::{Case, CaseError, LayerObservation, Measured, Observation, Quantity, Split};
pub use fitted::{Fitted, FittedError, FittedFactor, fitted_text};
pub use holdout::{HeldOut, Protocol, hold_out};
pub use record::recorded;
pub use shipped::{ShippedCase, shipped_cases};
pub use summary::{Errors, Grain, Summary, errors_of, summaries};
pub use validation::{Comparison, ValidationError, validate};
