//! What can be wrong with a scenario.

use crate::diagnostic::Report;
use crate::sim::SimError;
use crate::sim::load::LoadError;

/// Why a scenario could not be read, or not be used.
#[derive(Debug, thiserror::Error)]
pub enum ScenarioError {
    /// The file could not be read.
    #[error("cannot read scenario {path}: {source}")]
    Read {
        /// The path as given.
        path: String,
        /// The system's word.
        source: std::io::Error,
    },
    /// Neither a file nor a shipped scenario.
    #[error("no scenario is called `{name}`{}\nhelp: those that ship are {known}; a path to a .ron file works too", .nearest.as_ref().map_or(String::new(), |n| format!("; did you mean `{n}`?")))]
    Unknown {
        /// The name as given.
        name: String,
        /// The shipped name nearest to it.
        nearest: Option<String>,
        /// All that ship.
        known: String,
    },
    /// Faults in the text, all of them.
    #[error(transparent)]
    Faults(#[from] Box<Report>),
    /// A workload that takes no time on this hardware.
    #[error("{stream}: {error}")]
    Nothing {
        /// The workload, or the stage of a cascade.
        stream: String,
        /// Why.
        error: SimError,
    },
    /// A load that cannot be.
    #[error(transparent)]
    Load(#[from] LoadError),
}
