//! A trace as Parquet, for polars, DuckDB and pandas: one file of power and beside it one of spans,
//! one of marks and one of edges.
//!
//! `X.parquet` has one row per instant at which anything changes, and one for the end; each value
//! holds from its row to the next.
//!
//! | column | type | |
//! |---|---|---|
//! | `time_ps` | int64 | exact picoseconds |
//! | `NAME_w` | double | power of a component |
//! | `total_w` | double | their sum |
//! | `NAME_v`, `NAME_a` | double | voltage and current of a rail |
//! | `NAME_degc`, `NAME_hz`, `NAME` | double | counters by their unit |
//!
//! A value is null where it is unknown: in a gap of a capture, or where the capture has no such
//! quantity. What a simulation has not told yet is zero. Times end at 2^63 ps, which are 106 days.
//!
//! `X.spans.parquet` has `kind`, `name`, `track`, `inference` (null outside any), `start_ps` and
//! `end_ps`. `X.marks.parquet` has `teller` (`meter` or `host`), `track`, `name`, `at_ps` on the
//! clock of the teller and `meter_ps` on that of the trace: below zero before it, null where no
//! edges tie the two clocks together. `X.edges.parquet` has `line`, `name`, `at_ps` and `level`
//! (`low`, `high` or `unknown`). All three are always written, with no rows where there is nothing.
//!
//! The key-value metadata of each file: `joulecast.schema` (`joulecast.trace/1`),
//! `joulecast.version`, `joulecast.format` (what was read), `joulecast.header` (components, rails,
//! counters and lines as JSON), `joulecast.remarks` (a JSON list) and, where they are known,
//! `joulecast.inferences_per_window` and `joulecast.origin` (what time zero is, as JSON).
//!
//! Rows are written in groups of a million, fewer where there are many columns, so that the memory
//! taken does not grow with the length of the trace. Pages are packed with LZ4; values have their
//! bytes split by place, times are differences.

mod metadata;
mod power;
mod records;

pub use power::PowerWriter;
pub use records::{write_edges, write_marks, write_spans};

use super::FormatError;
use crate::trace::{Header, Layout};
use crate::units::SimTime;
use ::parquet::errors::ParquetError;
use std::io;
use std::path::{Path, PathBuf};

/// Version of the columns and the metadata.
pub const SCHEMA: &str = "joulecast.trace/1";

/// Rows of a group.
const ROWS: usize = 1 << 20;

/// What the metadata of a file says.
#[derive(Debug, Clone, Copy)]
pub struct About<'a> {
    /// Components, rails, counters and lines.
    pub header: &'a Header,
    /// What was read.
    pub layout: &'a Layout,
    /// Inferences in each window, where they are known.
    pub inferences_per_window: Option<u64>,
}

/// The files beside `power`: of spans, of marks, of edges.
pub fn files_beside(power: &Path) -> [PathBuf; 3] {
    ["spans.parquet", "marks.parquet", "edges.parquet"].map(|end| power.with_extension(end))
}

fn failed(error: ParquetError) -> FormatError {
    let source = match error {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(source) => *source,
            Err(other) => io::Error::other(other.to_string()),
        },
        other => io::Error::other(other.to_string()),
    };
    FormatError::Write { file: "Parquet file".to_owned(), source }
}

/// A time as what a column holds.
fn picoseconds(at: SimTime) -> Result<i64, FormatError> {
    i64::try_from(at.0).map_err(|_| FormatError::TooLate { at })
}
