//! Why parameters make no law.

/// Why a law cannot be built from the given parameters.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum LawError {
    /// A table or ladder without entries.
    #[error("at least one {0} is needed")]
    Empty(&'static str),
    /// More entries than a law of this kind ever has.
    #[error("there are {count} of {what}, of which {limit} are the most")]
    TooMany {
        /// What they are.
        what: &'static str,
        /// How many are given.
        count: usize,
        /// How many may be.
        limit: usize,
    },
    /// A parameter outside of its range.
    #[error("{what} of entry {entry} is {value}, which must be {range}")]
    OutOfRange {
        /// What it is.
        what: &'static str,
        /// The entry, from 1.
        entry: usize,
        /// The value in SI.
        value: f64,
        /// What it has to be, in words.
        range: &'static str,
    },
    /// An abscissa that does not rise.
    #[error("{what} of entry {entry} is not above that of the entry before it")]
    NotRising {
        /// What it is.
        what: &'static str,
        /// The entry, from 1.
        entry: usize,
    },
    /// More is asked than there is.
    #[error("{what} is {value}, and {limit} is the most")]
    Beyond {
        /// What it is, with its unit.
        what: &'static str,
        /// What is asked, in SI.
        value: f64,
        /// The most there is, in SI.
        limit: f64,
    },
    /// Rails that are coupled and cannot reach their voltages without standing further apart on the way.
    #[error("coupled rails cannot move from one point to the other within their largest spread")]
    Blocked,
    /// Values so far apart that the time constants do not come out in double precision.
    #[error("the time constants of the ladder do not come out in double precision")]
    Unresolved,
    /// A node of a thermal network that heat could not leave.
    #[error("heat has no way from node {node} to the air")]
    Floating {
        /// The node, from 1.
        node: usize,
    },
    /// A response that would give more heat than it took.
    #[error("the thermal responses with time constant {entry} are those of no passive network")]
    NotPassive {
        /// The time constant, from 1.
        entry: usize,
    },
}

/// Checks that a value is finite and not below zero.
pub(super) fn not_negative(what: &'static str, entry: usize, value: f64) -> Result<(), LawError> {
    if value.is_finite() && value >= 0.0 {
        return Ok(());
    }
    Err(LawError::OutOfRange { what, entry, value, range: "finite and not below zero" })
}

/// Checks that a value is finite and above zero.
pub(super) fn positive(what: &'static str, entry: usize, value: f64) -> Result<(), LawError> {
    if value.is_finite() && value > 0.0 {
        return Ok(());
    }
    Err(LawError::OutOfRange { what, entry, value, range: "above zero" })
}
