//! Codecs: one file format a file, from bytes to a [`Trace`](crate::trace::Trace) and back.
//!
//! A writer streams: what it keeps beyond the trace is bounded by the number of components, rails
//! and spans, never by the number of power changes.
//!
//! What an instrument wrote is read by a [`Format`] into a
//! [`SampleSink`](crate::trace::SampleSink): [`open`] looks at the first bytes, picks the format,
//! and [`Opened::read`] streams it. A new format is one file here and one line in the list of
//! [`FORMATS`].

pub mod csv;
mod error;
mod format;
mod input;
mod instants;
pub mod perfetto;

mod any_csv;
mod energy_runner;
mod joulescope_csv;
mod monsoon;
mod ppk2_csv;
mod saleae_csv;
mod sigrok_csv;
mod table;

pub use error::{CsvFault, FormatError, Place, ReadFault};
pub use format::{
    FORMATS, Format, Opened, Options, Shape, TableOptions, open, open_as, recognised,
};
pub use input::{Bytes, Head, Input};
