//! Codecs: one file format a file, from bytes to a [`Trace`](crate::trace::Trace) and back.
//!
//! A writer streams: what it keeps beyond the trace is bounded by the number of components, rails
//! and spans, never by the number of power changes.

pub mod csv;
mod error;
mod instants;
pub mod perfetto;

pub use error::{CsvFault, FormatError};
