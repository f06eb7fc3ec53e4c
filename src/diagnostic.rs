//! Errors that point at the file: from a field path to a byte span, to a line and a caret.
//!
//! A syntax or type fault stops at the first. What is found after parsing is collected as
//! [`Fault`]s, each with its field path, and reported together in one [`Report`].

mod literals;
mod nearest;
mod patch;
mod report;
mod ron_text;
mod spans;
mod wording;

pub use literals::{resolve_sources, source_kinds};
pub use nearest::nearest;
pub use patch::{patched, quoted};
pub use report::{Fault, Report};
pub use ron_text::{duplicate_faults, parse_ron, ron_options};
pub use spans::SpanIndex;
