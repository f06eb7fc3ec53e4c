//! Why what a fit found cannot be written into a profile.

use crate::hardware::HardwareError;

/// Why what a fit found cannot be written into a profile.
#[derive(Debug, thiserror::Error)]
pub enum FittedError {
    /// The profile could not be read or changed.
    #[error(transparent)]
    Hardware(#[from] HardwareError),
    /// A name that cannot be behind `@fit-`.
    #[error(
        "`{}` cannot be the name of a fit: letters, digits, `-`, `_` and `.` make one",
        name.escape_debug()
    )]
    Name {
        /// The name as given.
        name: String,
    },
    /// A number that the profile does not have.
    #[error("the profile has no number `{path}`{}", hint(.nearest))]
    Unknown {
        /// Its path.
        path: String,
        /// The nearest that it has.
        nearest: Option<String>,
    },
    /// A number given twice.
    #[error("number `{path}` was fitted twice")]
    Twice {
        /// Its path.
        path: String,
    },
    /// A number that is exact or may be below zero, or a factor that no number has.
    #[error("number `{path}` cannot be moved by a factor of {factor}")]
    NoFactor {
        /// Its path.
        path: String,
        /// The factor.
        factor: f64,
    },
    /// No covariance.
    #[error(
        "the covariance of {numbers} numbers is none: finite, symmetric, with nothing below zero"
    )]
    Covariance {
        /// How many numbers there are.
        numbers: usize,
    },
    /// The source is cited by a number that was not fitted.
    #[error(
        "`{path}` cites `@{key}`, and this fit leaves it alone\nhelp: give the fit another name"
    )]
    Taken {
        /// The key of the source.
        key: String,
        /// A number that cites it.
        path: String,
    },
    /// A number that is too large for what it is, say.
    #[error("the profile is not sound with the fitted numbers\n{0}")]
    Unsound(Box<HardwareError>),
}

fn hint(nearest: &Option<String>) -> String {
    nearest.as_ref().map_or(String::new(), |n| format!("; did you mean `{n}`?"))
}
