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
    /// The file of an instrument is not what its format asks for.
    #[error("{file}{place}: {fault}")]
    Unreadable {
        /// The file as the caller named it.
        file: String,
        /// Where in it.
        place: Place,
        /// What is wrong there.
        fault: ReadFault,
    },
    /// No format is known that looks like this file.
    #[error(
        "{file}: no instrument's format looks like this\nhelp: `--format NAME` names one ({known}); a table of numbers is read with --format csv --time-column NAME --unit mA"
    )]
    Unrecognised {
        /// The file as the caller named it.
        file: String,
        /// The formats that there are.
        known: String,
    },
    /// A format that does not exist.
    #[error(
        "there is no format `{name}`{}\nhelp: formats are {known}",
        nearest.as_ref().map(|name| format!("; did you mean `{name}`?")).unwrap_or_default()
    )]
    NoFormat {
        /// The name as given.
        name: String,
        /// The nearest one.
        nearest: Option<String>,
        /// The formats that there are.
        known: String,
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
    /// A time that the file has no room for.
    #[error("the trace goes on to {at}, and a file of this kind holds times up to 106 days")]
    TooLate {
        /// The first such time.
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

/// Where in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// The file as a whole.
    Whole,
    /// A line, from 1.
    Line(u64),
    /// A byte, from 0.
    Byte(u64),
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Whole => Ok(()),
            Self::Line(line) => write!(f, ":{line}"),
            Self::Byte(byte) => write!(f, " at byte {byte}"),
        }
    }
}

/// What is wrong with the file of an instrument.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ReadFault {
    /// Nothing in it.
    #[error("the file is empty")]
    Empty,
    /// It has a head and no sample.
    #[error("there is no sample in it")]
    NoSamples,
    /// It ends in the middle of something.
    #[error("the file ends within {what}: {found} of {expected} bytes are there")]
    Truncated {
        /// What it ends in.
        what: &'static str,
        /// Bytes it should have.
        expected: u64,
        /// Bytes it has.
        found: u64,
    },
    /// Its head is not that of the format.
    #[error("expected {expected}, found `{found}`")]
    Head {
        /// What the format starts with.
        expected: String,
        /// The start of what is there.
        found: String,
    },
    /// A version that is not known.
    #[error("{what} version {found} is not known; known: {known}")]
    Version {
        /// Of what.
        what: &'static str,
        /// The version in the file.
        found: String,
        /// Those that can be read.
        known: &'static str,
    },
    /// Time that runs backwards.
    #[error("time runs backwards: {at} s after {before} s")]
    Backwards {
        /// The time before \[s\].
        before: String,
        /// This time \[s\].
        at: String,
    },
    /// A time that a trace cannot hold.
    #[error("{at} s is outside of the 213 days that a trace can hold")]
    PastEnd {
        /// The time \[s\].
        at: String,
    },
    /// A column that has to be there.
    #[error("there is no column `{column}`; columns are {known}")]
    NoColumn {
        /// The column.
        column: String,
        /// Those that there are.
        known: String,
    },
    /// A row with too many or too few cells.
    #[error("{found} cells, expected {expected}")]
    Cells {
        /// How many the head has.
        expected: usize,
        /// How many the row has.
        found: usize,
    },
    /// Text that should be a number.
    #[error("`{text}` in {column} is not a number")]
    Number {
        /// The column or field.
        column: String,
        /// What is there.
        text: String,
    },
    /// A number that cannot be.
    #[error("{what} is {found}, expected {expected}")]
    Value {
        /// Of what.
        what: String,
        /// What is there.
        found: String,
        /// What can be.
        expected: &'static str,
    },
    /// A unit that is not known, or not of this column.
    #[error("`{found}` is no unit of {column}; expected {expected}")]
    Unit {
        /// The column.
        column: String,
        /// The unit in the file.
        found: String,
        /// Units that would do.
        expected: &'static str,
    },
    /// A size beyond the file, or beyond what is read into memory.
    #[error("{what} would be {size} bytes, at most {limit} can be there")]
    Size {
        /// Of what.
        what: &'static str,
        /// The size in the file.
        size: u64,
        /// The largest that can be.
        limit: u64,
    },
    /// A checksum that does not agree.
    #[error("the checksum of {what} does not agree with its bytes")]
    Checksum {
        /// Of what.
        what: &'static str,
    },
    /// A part that has to be there.
    #[error("{what} is missing")]
    Missing {
        /// The part.
        what: String,
    },
    /// JSON that is none.
    #[error("not the JSON expected: {reason}")]
    Json {
        /// What the JSON reader said.
        reason: String,
    },
    /// An archive that is none.
    #[error("not a readable archive: {reason}")]
    Archive {
        /// What the archive reader said.
        reason: String,
    },
    /// Bytes that are not text.
    #[error("not UTF-8 text")]
    NotText,
    /// An option that this reader needs.
    #[error("{what} is not known\nhelp: give {option}")]
    Needs {
        /// What is missing.
        what: &'static str,
        /// The option that says it.
        option: &'static str,
    },
}

impl ReadFault {
    /// Time that runs backwards, of two instants.
    pub(super) fn backwards(before: SimTime, at: SimTime) -> Self {
        Self::Backwards { before: before.decimal_seconds(), at: at.decimal_seconds() }
    }
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
    /// A word that names no kind of span.
    #[error("`{text}` is no kind of span: inference, layer, phase, idle, transition or window")]
    Kind {
        /// The cell.
        text: String,
    },
    /// A word that is none of those that a column may hold.
    #[error("`{text}` in column `{column}` is none of {expected}")]
    Word {
        /// The column.
        column: &'static str,
        /// The cell.
        text: String,
        /// What it may hold.
        expected: &'static str,
    },
    /// A cell that is not the number of a digital line.
    #[error("`{text}` is not the number of a line: a whole number from 0")]
    Line {
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
