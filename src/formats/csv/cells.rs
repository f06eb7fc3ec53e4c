//! Rows and cells, with the line they stand on in every error.

use super::super::{CsvFault, FormatError};
use super::time;
use crate::units::SimTime;
use csv::{ErrorKind, Reader, ReaderBuilder, StringRecord, Writer, WriterBuilder};
use std::io::{self, Read, Write};

/// Reads rows and knows where they stand.
pub(super) struct Rows<'a, R> {
    file: &'a str,
    reader: Reader<R>,
    /// Lines of the file before those the reader saw.
    skipped: u64,
    record: StringRecord,
}

impl<'a, R: Read> Rows<'a, R> {
    pub(super) fn new(file: &'a str, input: R, skipped: u64) -> Self {
        // Rows of any width come through, so that the fault can be told in our words.
        let reader = ReaderBuilder::new().has_headers(false).flexible(true).from_reader(input);
        Self { file, reader, skipped, record: StringRecord::new() }
    }

    /// The next row, or nothing at the end.
    pub(super) fn next(&mut self) -> Result<Option<Row<'_>>, FormatError> {
        match self.reader.read_record(&mut self.record) {
            Ok(false) => Ok(None),
            Ok(true) => {
                let line = self.record.position().map_or(0, csv::Position::line) + self.skipped;
                Ok(Some(Row { file: self.file, line, cells: &self.record }))
            }
            Err(error) => Err(self.failed(error)),
        }
    }

    /// Takes in the row of column names.
    pub(super) fn expect_columns(&mut self, expected: &[String]) -> Result<(), FormatError> {
        let line = self.skipped + 1;
        let file = self.file;
        let row = self.next()?.ok_or_else(|| malformed(file, line, CsvFault::NoRows))?;
        for number in 0..expected.len().max(row.cells.len()) {
            let wanted = expected.get(number).map_or("", String::as_str);
            let found = row.cells.get(number).unwrap_or("");
            if wanted != found || number >= expected.len().min(row.cells.len()) {
                return Err(row.fault(CsvFault::Column {
                    number: number + 1,
                    expected: wanted.to_owned(),
                    found: found.to_owned(),
                }));
            }
        }
        Ok(())
    }

    /// The fault of a file that stops too early.
    pub(super) fn ended(&self, fault: CsvFault) -> FormatError {
        malformed(self.file, self.reader.position().line() + self.skipped, fault)
    }

    fn failed(&self, error: csv::Error) -> FormatError {
        let line = error.position().map_or(0, csv::Position::line) + self.skipped;
        match error.into_kind() {
            ErrorKind::Utf8 { .. } => malformed(self.file, line, CsvFault::NotText),
            ErrorKind::Io(source) => FormatError::Read { file: self.file.to_owned(), source },
            other => FormatError::Read {
                file: self.file.to_owned(),
                source: io::Error::other(format!("{other:?}")),
            },
        }
    }
}

/// One row.
pub(super) struct Row<'a> {
    file: &'a str,
    line: u64,
    cells: &'a StringRecord,
}

impl<'a> Row<'a> {
    pub(super) fn fault(&self, fault: CsvFault) -> FormatError {
        malformed(self.file, self.line, fault)
    }

    pub(super) fn expect_cells(&self, expected: usize) -> Result<(), FormatError> {
        let found = self.cells.len();
        if found == expected {
            Ok(())
        } else {
            Err(self.fault(CsvFault::Cells { expected, found }))
        }
    }

    /// The text of a cell; empty behind the last.
    pub(super) fn text(&self, cell: usize) -> &'a str {
        self.cells.get(cell).unwrap_or("")
    }

    pub(super) fn time(&self, cell: usize, column: &str) -> Result<SimTime, FormatError> {
        let text = self.text(cell);
        time::from_text(text).ok_or_else(|| {
            self.fault(CsvFault::Time { column: column.to_owned(), text: text.to_owned() })
        })
    }

    /// A cell of numbers.
    pub(super) fn cell(&self, cell: usize, column: &str) -> Result<Cell, FormatError> {
        let text = self.text(cell);
        if text.is_empty() {
            return Ok(Cell::Empty);
        }
        if text.eq_ignore_ascii_case(Cell::UNKNOWN) {
            return Ok(Cell::Unknown);
        }
        match text.parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(Cell::Value(value)),
            _ => {
                Err(self
                    .fault(CsvFault::Number { column: column.to_owned(), text: text.to_owned() }))
            }
        }
    }
}

/// What a cell of numbers holds.
pub(super) enum Cell {
    /// Nothing.
    Empty,
    /// The word for a value that is not known.
    Unknown,
    /// A finite number.
    Value(f64),
}

impl Cell {
    /// pandas, polars and DuckDB read it as not-a-number.
    pub(super) const UNKNOWN: &str = "NaN";
}

pub(super) fn malformed(file: &str, line: u64, fault: CsvFault) -> FormatError {
    FormatError::Malformed { file: file.to_owned(), line, fault }
}

pub(super) fn writer<W: Write>(out: W) -> Writer<W> {
    WriterBuilder::new().flexible(true).from_writer(out)
}

pub(super) fn write_failed(file: &str, error: csv::Error) -> FormatError {
    let source = match error.into_kind() {
        ErrorKind::Io(source) => source,
        other => io::Error::other(format!("{other:?}")),
    };
    FormatError::Write { file: file.to_owned(), source }
}

/// The shortest text that reads back as the same number; plain digits where a person would write
/// them.
pub(super) fn number_text(value: f64) -> String {
    let size = value.abs();
    if size == 0.0 || (1e-5..1e15).contains(&size) {
        format!("{value}")
    } else {
        format!("{value:e}")
    }
}
