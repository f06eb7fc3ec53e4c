//! A table of comma-separated values: headers that are known by name, and cells that know their place.

use super::source::Source;
use super::{ImportError, Place, TableFault};
use crate::diagnostic::{Lines, nearest};
use csv::{ReaderBuilder, StringRecord};

/// More rows than any network has operators.
const ROWS_LIMIT: usize = 100_000;

/// More columns than any of these tables has.
const COLUMNS_LIMIT: usize = 512;

/// Beyond it a number of cycles or bytes is none.
const LARGEST: f64 = 1e18;

/// A table.
pub(super) struct Sheet<'a> {
    pub(super) file: &'a str,
    header: StringRecord,
    line: u64,
    pub(super) rows: Vec<Row>,
}

/// A row with the line that it starts in.
pub(super) struct Row {
    pub(super) line: u64,
    cells: StringRecord,
}

impl Row {
    pub(super) fn cell(&self, column: usize) -> &str {
        self.cells.get(column).map_or("", str::trim)
    }
}

/// Letters and digits of a header, so that spaces and marks do not matter.
fn bare(header: &str) -> String {
    header.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// How many of these headers a text has in its first row.
pub(super) fn known_headers(source: &Source, known: &[&str]) -> usize {
    let mut reader = reader(&source.text);
    let mut header = StringRecord::new();
    if !reader.read_record(&mut header).unwrap_or(false) || header.len() > COLUMNS_LIMIT {
        return 0;
    }
    let has: Vec<String> = header.iter().map(bare).collect();
    known.iter().filter(|name| has.contains(&bare(name))).count()
}

/// The first headers of a text, as they stand there.
pub(super) fn first_headers(source: &Source) -> String {
    let mut reader = reader(&source.text);
    let mut header = StringRecord::new();
    if !reader.read_record(&mut header).unwrap_or(false) {
        return String::new();
    }
    let printable = |cell: &str| -> String {
        cell.trim().chars().filter(|c| !c.is_control()).take(40).collect()
    };
    header
        .iter()
        .take(4)
        .map(|cell| format!("`{}`", printable(cell)))
        .collect::<Vec<_>>()
        .join(", ")
}

fn reader(text: &str) -> csv::Reader<&[u8]> {
    ReaderBuilder::new().has_headers(false).flexible(true).from_reader(text.as_bytes())
}

impl<'a> Sheet<'a> {
    /// All rows of a text.
    ///
    /// # Errors
    /// A row ends early or goes on behind the header, or there is none.
    pub(super) fn of(source: &'a Source) -> Result<Self, ImportError> {
        let file = source.file.as_str();
        let mut sheet = Self { file, header: StringRecord::new(), line: 1, rows: Vec::new() };
        let mut lines = Lines::of(&source.text);
        let mut reader = reader(&source.text);
        let mut cells = StringRecord::new();
        let mut first = true;
        loop {
            let start = reader.position().byte() as usize;
            if !reader.read_record(&mut cells).unwrap_or(false) {
                break;
            }
            let line = lines.line_of(start);
            if cells.iter().all(|cell| cell.trim().is_empty()) {
                continue;
            }
            if cells.len() > COLUMNS_LIMIT {
                let fault = TableFault::TooMany { what: "columns", most: COLUMNS_LIMIT };
                return Err(fault.at(Place::line(file, line)));
            }
            if first {
                (sheet.header, sheet.line, first) = (cells.clone(), line, false);
                continue;
            }
            sheet.add(Row { line, cells: cells.clone() })?;
        }
        if sheet.rows.is_empty() {
            return Err(TableFault::NoRows.at(Place::file(file)));
        }
        Ok(sheet)
    }

    fn add(&mut self, row: Row) -> Result<(), ImportError> {
        let columns = self.header.len();
        let place = Place::line(self.file, row.line);
        if row.cells.len() < columns {
            return Err(TableFault::Short { cells: row.cells.len(), columns }.at(place));
        }
        if let Some(text) = row.cells.iter().skip(columns).find(|cell| !cell.trim().is_empty()) {
            let text = text.trim().chars().take(40).collect();
            return Err(TableFault::Surplus { text, columns }.at(place));
        }
        if self.rows.len() == ROWS_LIMIT {
            return Err(TableFault::TooMany { what: "rows", most: ROWS_LIMIT }.at(place));
        }
        self.rows.push(row);
        Ok(())
    }

    /// The column of this header, if there is one.
    pub(super) fn column(&self, header: &str) -> Option<usize> {
        let wanted = bare(header);
        self.header.iter().position(|own| bare(own) == wanted)
    }

    /// The column of this header.
    ///
    /// # Errors
    /// There is none.
    pub(super) fn needed(&self, wanted: &'static str) -> Result<usize, ImportError> {
        self.column(wanted).ok_or_else(|| {
            let near = nearest(wanted, self.header.iter().map(str::trim)).map(str::to_owned);
            TableFault::NoColumn { wanted, near }.at(Place::line(self.file, self.line))
        })
    }

    /// Where a cell stands.
    pub(super) fn place(&self, row: &Row, column: usize) -> Place {
        let header = self.header.get(column).map_or("", str::trim).to_owned();
        Place { column: Some((column + 1, header)), ..Place::line(self.file, row.line) }
    }

    /// A number that is not below zero.
    pub(super) fn number(&self, row: &Row, column: usize) -> Result<f64, ImportError> {
        let text = row.cell(column);
        number(text).map_err(|reason| {
            let text = text.chars().take(40).collect();
            TableFault::Number { text, reason }.at(self.place(row, column))
        })
    }

    /// The same, and whole.
    pub(super) fn whole(&self, row: &Row, column: usize) -> Result<u64, ImportError> {
        let value = self.number(row, column)?;
        if value.fract() != 0.0 {
            let (text, reason) = (row.cell(column).to_owned(), "is not a whole number");
            return Err(TableFault::Number { text, reason }.at(self.place(row, column)));
        }
        Ok(value as u64)
    }
}

/// A number that cycles, bytes or words can be.
pub(super) fn number(text: &str) -> Result<f64, &'static str> {
    let value: f64 = text.parse().map_err(|_| "is not a number")?;
    amount(value)
}

/// The same of a number that has been read.
pub(super) fn amount(value: f64) -> Result<f64, &'static str> {
    match value {
        _ if !value.is_finite() => Err("is not a finite number"),
        _ if value < 0.0 => Err("is below zero"),
        _ if value > LARGEST => Err("is more than anything takes"),
        _ => Ok(value),
    }
}
