//! Why a load cannot be.

use crate::units::{SimTime, TimeError};

/// Why arrivals, a cascade or a schedule cannot be, or cannot go on.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum LoadError {
    /// A time past the end, or none at all.
    #[error(transparent)]
    Time(#[from] TimeError),
    /// A number that makes no sense.
    #[error("{what} {problem}")]
    Parameter {
        /// Which number.
        what: &'static str,
        /// What is wrong with it.
        problem: String,
    },
    /// A file of times that cannot be read.
    #[error("cannot read {file}: {reason}")]
    Read {
        /// The file.
        file: String,
        /// The system's word.
        reason: String,
    },
    /// A line that is no time.
    #[error("{file}:{line}: {problem}")]
    Line {
        /// The file.
        file: String,
        /// The line, from 1.
        line: u64,
        /// What is wrong with it.
        problem: String,
    },
    /// A time before the one above it.
    #[error(
        "{file}:{line}: {} s comes before {} s of line {before_line}: times must rise",
        .at.decimal_seconds(),
        .before.decimal_seconds()
    )]
    OutOfOrder {
        /// The file.
        file: String,
        /// The line, from 1.
        line: u64,
        /// Its time.
        at: SimTime,
        /// The last line before it that has a time.
        before_line: u64,
        /// The time there.
        before: SimTime,
    },
}

impl LoadError {
    /// A number that makes no sense.
    pub(super) fn parameter(what: &'static str, problem: impl Into<String>) -> Self {
        Self::Parameter { what, problem: problem.into() }
    }
}
