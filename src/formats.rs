//! Codecs: one file format a file, from bytes to a [`Trace`](crate::trace::Trace) and back.
//!
//! A writer is told [frames](FrameWriter), from a trace in memory or from a [`FrameSink`] on a
//! stream, and writes as it goes: what it keeps beyond the trace is bounded by the number of
//! components, rails, spans, edges and marks, never by the number of power changes.
//!
//! What an instrument wrote is read by a [`Format`] into a
//! [`SampleSink`](crate::trace::SampleSink): [`open`] looks at the first bytes, picks the format,
//! and [`Opened::read`] streams it. A new format is one file here and one line in the list of
//! [`FORMATS`].

mod archive;
pub mod chrome_json;
mod columns;
pub mod csv;
mod error;
mod fields;
mod format;
mod frames;
mod held_counter;
mod input;
mod named_unit;
pub mod parquet;
pub mod perfetto;

mod ambiq_layers;
mod any_csv;
mod energy_runner;
mod feed;
mod host_log;
mod jls;
mod joulescope_csv;
mod layer_table;
mod line_reading;
mod lines;
mod loadgen;
#[cfg(test)]
mod log_tests;
mod monsoon;
mod nvidia_smi;
mod power_gadget;
pub mod ppk2;
pub mod ppk2_csv;
mod ptdaemon;
mod saleae_binary;
mod saleae_csv;
mod sigrok_csv;
mod sigrok_sr;
mod st_edge_ai;
mod stamps;
mod sysfs_log;
mod table;
mod tegrastats;
mod tensorrt;
mod tflm_profile;

pub use error::{CsvFault, FormatError, Place, ReadFault};
pub use format::{
    FORMATS, Format, Opened, Options, Shape, TableOptions, open, open_as, recognised,
};
pub use frames::{FrameSink, FrameWriter, write_frames};
pub use input::{Bytes, Head, Input};
pub(crate) use stamps::decimal;
