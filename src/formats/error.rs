//! What can go wrong with a file of this room.

use crate::units::SimTime;
use std::io;

/// Why a trace could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum FormatError {
    /// The bytes did not come.
    #[error("{file}: cannot be read: {source}")]
    Read {
        /// The file as the caller named it.
        file: String,
        /// What the system said.
        source: io::Error,
    },
    /// The bytes did not go.
    #[error("{file}: cannot be written: {source}")]
    Write {
        /// The file as the caller named it, or the kind of file.
        file: String,
        /// What the system said.
        source: io::Error,
    },
    /// The file is not what its kind asks for.
    #[error("{file}:{line}: {fault}")]
    Malformed {
        /// The file as the caller named it.
        file: String,
        /// The line, from 1.
        line: u64,
        /// What is wrong there.
        fault: CsvFault,
    },
    /// A number that no file can keep.
    #[error("{quantity} is {value} at {at}: only finite numbers can be written")]
    NotFinite {
        /// The column it belongs to.
        quantity: String,
        /// The value.
        value: f64,
        /// When it was set.
        at: SimTime,
    },
    /// A change behind the end of its trace.
    #[error("the trace ends at {end} but a value changes at {at}")]
    PastEnd {
        /// The end of the trace.
        end: SimTime,
        /// The first change after it.
        at: SimTime,
    },
}

/// What is wrong with one line of a CSV file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CsvFault {
    /// The first line is not that of a trace.
    #[error("expected `{expected}`, found `{found}`")]
    Signature {
        /// The line a trace starts with.
        expected: &'static str,
        /// The start of the line that is there.
        found: String,
    },
    /// The line of components and rails is not readable.
    #[error("the description of components and rails cannot be read: {reason}")]
    Header {
        /// What the JSON reader said.
        reason: String,
    },
    /// A line is longer than any real one.
    #[error("the line is longer than {limit} bytes")]
    LineTooLong {
        /// The bound.
        limit: u64,
    },
    /// Two components, or two rails, have one name.
    #[error("the name `{name}` is there twice")]
    NameTwice {
        /// The name.
        name: String,
    },
    /// A column is missing or has another name.
    #[error("column {number} is `{found}`, expected `{expected}`")]
    Column {
        /// The column, from 1.
        number: usize,
        /// The name it should have; empty when it should not be there.
        expected: String,
        /// The name it has; empty when it is not there.
        found: String,
    },
    /// A row with too many or too few cells.
    #[error("{found} cells, expected {expected}")]
    Cells {
        /// The number of columns.
        expected: usize,
        /// The number of cells.
        found: usize,
    },
    /// A cell that is not a time.
    #[error(
        "`{text}` in column `{column}` is not a time: seconds below 18446744 with at most 12 decimals"
    )]
    Time {
        /// The column.
        column: String,
        /// The cell.
        text: String,
    },
    /// A row that is not later than the one before.
    #[error("time does not go on: {at} s after {before} s")]
    Order {
        /// The time of the row before.
        before: String,
        /// The time of this row.
        at: String,
    },
    /// A cell that is not a finite number.
    #[error("`{text}` in column `{column}` is not a finite number")]
    Number {
        /// The column.
        column: String,
        /// The cell.
        text: String,
    },
    /// An empty cell behind a value.
    #[error("column `{column}` is empty after it had a value")]
    Gap {
        /// The column.
        column: String,
    },
    /// A word that names no kind of span.
    #[error("`{text}` is no kind of span: inference, layer, phase, idle or transition")]
    Kind {
        /// The cell.
        text: String,
    },
    /// A cell that is not the number of an inference.
    #[error("`{text}` is not the number of an inference: a whole number from 0, or empty")]
    Inference {
        /// The cell.
        text: String,
    },
    /// A span that ends before it starts.
    #[error("the span ends at {end} s, before its start at {start} s")]
    Backwards {
        /// Its start.
        start: String,
        /// Its end.
        end: String,
    },
    /// No row at all: a trace has at least the one of its end.
    #[error("no rows: a trace has at least the one of its end")]
    NoRows,
    /// Bytes that are not text.
    #[error("not UTF-8 text")]
    NotText,
}
