//! Why parameters make no governor.

use crate::units::Seconds;

/// Why a governor cannot be made from the given parameters.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum GovernorError {
    /// A parameter outside of its range.
    #[error("{what} is {value}, which must be {range}")]
    OutOfRange {
        /// What it is.
        what: &'static str,
        /// The value in SI.
        value: f64,
        /// What it has to be, in words.
        range: &'static str,
    },
}

impl GovernorError {
    /// Checks a time that has to pass.
    pub(super) fn unless_passes(what: &'static str, time: Seconds) -> Result<(), Self> {
        if time.0.is_finite() && time > Seconds::ZERO {
            return Ok(());
        }
        Err(Self::OutOfRange { what, value: time.0, range: "finite and above zero" })
    }
}
