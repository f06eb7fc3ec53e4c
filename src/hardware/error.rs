//! What can be wrong with a profile or its use.

use super::TableError;
use super::out_of_reach::OutOfReach;
use crate::diagnostic::{Report, RewriteError};

/// Why a profile could not be read, or not be used as asked.
#[derive(Debug, thiserror::Error)]
pub enum HardwareError {
    /// The file could not be read.
    #[error("cannot read hardware profile {path}: {source}")]
    Read {
        /// The path as given.
        path: String,
        /// The system's word.
        source: std::io::Error,
    },
    /// Neither a file nor a shipped profile.
    #[error("no hardware profile is called `{name}`{}\nhelp: `joulecast hardware list` shows those that ship; a path to a .ron file works too", hint(.nearest))]
    Unknown {
        /// The name as given.
        name: String,
        /// The shipped name nearest to it.
        nearest: Option<String>,
    },
    /// Faults in the text, all of them.
    #[error(transparent)]
    Faults(#[from] Box<Report>),
    /// A table of block power.
    #[error(transparent)]
    Table(#[from] TableError),
    /// A text that cannot be changed so.
    #[error("the profile cannot be changed: {0}")]
    Rewrite(#[from] RewriteError),
    /// No name for a profile.
    #[error("`{}` cannot be the name of a profile: a name is printable text", name.escape_debug())]
    Name {
        /// The name as given.
        name: String,
    },
    /// A profile without a name to change.
    #[error("{file} has no field `name` to change")]
    Nameless {
        /// The file.
        file: String,
    },
    /// A corner at which the operating point asks for what there is not.
    #[error("at corner `{corner}` operating point `{point}` cannot be: {what}")]
    CornerOutOfReach {
        /// The corner.
        corner: String,
        /// The operating point.
        point: String,
        /// What it asks for.
        what: OutOfReach,
    },
    /// A name that the profile does not have.
    #[error("profile `{profile}` has no {what} `{name}`{}\nhelp: it has {known}", hint(.nearest))]
    NoSuch {
        /// The profile.
        profile: String,
        /// What was asked for (`operating point`).
        what: &'static str,
        /// The name as given.
        name: String,
        /// The nearest known one.
        nearest: Option<String>,
        /// All known ones.
        known: String,
    },
    /// A state that a block does not have.
    #[error("`{block}` has no state `{state}`{}\nhelp: it has {known}", hint(.nearest))]
    NoState {
        /// The block or domain.
        block: String,
        /// The state as given.
        state: String,
        /// The nearest known one.
        nearest: Option<String>,
        /// All known ones.
        known: String,
    },
}

fn hint(nearest: &Option<String>) -> String {
    nearest.as_ref().map_or(String::new(), |n| format!("; did you mean `{n}`?"))
}
