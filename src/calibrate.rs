//! Measured references: cases of measurements with their sources, and predictions held against
//! them; and against the estimates of a compiler, which are no measurements.

mod against;
mod bench;
mod calibration;
mod captured;
mod case;
mod experiment;
pub mod fit;
mod fit_report;
mod fitted;
mod gathered;
mod held_record;
mod holdout;
pub mod joint;
mod meter;
mod protocols;
mod record;
mod shipped;
mod shipped_calibrations;
mod summary;
mod validation;

pub use against::{
    Against, AgainstError, BusyCycles, Held, HeldLayer, HeldRun, LeftOut, SYSTEMS, ShippedSystem,
    against_vela,
};
pub use calibration::{
    Axis, Calibration, CalibrationError, Discrepancy, Noise, Off, Shared, StatedLoss,
};
pub use captured::{
    Accuracy, CaptureObservation, Captured, Edges, HostLog, LayerMarks, LayerSource, MeterAccuracy,
};
pub use case::{
    Case, CaseError, IdleObservation, LayerObservation, Measured, Observation, Quantity,
    RuntimeVersion, Split,
};
pub use fit_report::{Confused, Contradiction, FitReport, FittedNumber, FittedSight, Weakest};
pub use fitted::{Fitted, FittedError, FittedFactor, fitted_text};
pub use gathered::Gathered;
pub use held_record::{
    HELD_OUT_FILE, Worsened, held_out_csv, parsed as parsed_hold_outs, recorded_hold_outs, worsened,
};
pub use holdout::{HeldOut, Protocol, hold_out};
pub use protocols::{Missed, ProtocolErrors, Scored, as_they_stand, errors_by_protocol, held_out};
pub use record::recorded;
pub use shipped::{ShippedCase, shipped_cases};
pub use shipped_calibrations::{ShippedCalibration, shipped_calibrations};
pub use summary::{Errors, Grain, Summary, errors_of, summaries};
pub use validation::{Comparison, ValidationError, validate, validate_all};
