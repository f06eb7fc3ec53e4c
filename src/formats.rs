//! Codecs: one file format a file, from bytes to a [`Trace`](crate::trace::Trace) and back.
//!
//! A writer streams: what it keeps beyond the trace is bounded by the number of components, rails
//! and spans, never by the number of power changes.
//!
//! What an instrument wrote is read by a [`Format`] into a
//! [`SampleSink`](crate::trace::SampleSink): [`open`] looks at the first bytes, picks the format,
//! and [`Opened::read`] streams it. A new format is one file here and one line in the list of
//! [`FORMATS`].

mod archive;
pub mod chrome_json;
pub mod csv;
mod error;
mod fields;
mod format;
mod input;
mod instants;
mod named_unit;
pub mod perfetto;

mod energy_runner;
mod jls;
pub mod ppk2;
mod saleae_binary;
mod sigrok_sr;

pub use error::{CsvFault, FormatError, Place, ReadFault};
pub use format::{
    FORMATS, Format, Opened, Options, Shape, TableOptions, open, open_as, recognised,
};
pub use input::{Bytes, Head, Input};
