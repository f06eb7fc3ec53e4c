//! Errors that point at the file: from a field path to a byte span, to a line and a caret.
//!
//! A syntax or type fault stops at the first. What is found after parsing is collected as
//! [`Fault`]s, each with its field path, and reported together in one [`Report`].
//!
//! A text may be laid over another one, layer on layer ([`Layers`]). The parser sees one [`Merged`] text;
//! what is wrong with it is shown where it stands in the file that says it.

mod cursor;
mod layers;
mod lines;
mod literals;
mod merge;
mod nearest;
mod origin;
mod patch;
mod report;
mod rewrite;
mod ron_text;
mod slips;
mod spans;
mod tree;
mod variants;
mod wording;

pub use layers::{LayerRules, Layers};
pub use lines::Lines;
pub use literals::{resolve_sources, source_kinds};
pub use nearest::nearest;
pub use origin::Merged;
pub use patch::{patched, quoted};
pub use report::{Fault, Report};
pub use rewrite::{Change, RewriteError, rewritten};
pub use ron_text::{duplicate_faults, parse_ron, ron_options};
pub use spans::SpanIndex;
