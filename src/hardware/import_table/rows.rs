//! From bytes to rows of cells that know their line.

use super::TableError;
use crate::diagnostic::Lines;
use csv::{ReaderBuilder, StringRecord};

/// Larger than any table that somebody filled in.
const BYTES_LIMIT: usize = 16 << 20;

/// More rows than a power team has modes.
const ROWS_LIMIT: usize = 20_000;

/// More columns than a sheet of them has.
const COLUMNS_LIMIT: usize = 1000;

/// Lines that the delimiter is guessed from.
const SAMPLE: usize = 30;

/// A row.
pub(super) struct Row {
    /// The line it starts in, from 1.
    pub line: u64,
    /// Its cells, without white space around them.
    pub cells: Vec<String>,
}

impl Row {
    pub(super) fn cell(&self, column: usize) -> &str {
        self.cells.get(column).map_or("", String::as_str)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.cells.iter().all(String::is_empty)
    }
}

/// The text of the table.
pub(super) fn decoded(file: &str, bytes: &[u8]) -> Result<String, TableError> {
    let refused =
        |reason: &str| TableError::NotText { file: file.to_owned(), reason: reason.to_owned() };
    if bytes.len() > BYTES_LIMIT {
        return Err(refused("more than 16 MiB: this is no table of blocks"));
    }
    if bytes.starts_with(b"PK\x03\x04") || bytes.starts_with(&[0xd0, 0xcf, 0x11, 0xe0]) {
        return Err(refused("this is a spreadsheet: export the sheet as CSV"));
    }
    let units = |pairs: &[u8], of: fn([u8; 2]) -> u16| -> Vec<u16> {
        pairs.chunks_exact(2).filter_map(|p| p.try_into().ok()).map(of).collect()
    };
    let wide = match bytes {
        [0xff, 0xfe, rest @ ..] => Some(units(rest, u16::from_le_bytes)),
        [0xfe, 0xff, rest @ ..] => Some(units(rest, u16::from_be_bytes)),
        _ => None,
    };
    let text = match wide {
        Some(wide) => String::from_utf16(&wide).map_err(|_| refused("the text is damaged"))?,
        None => {
            let text = std::str::from_utf8(bytes).map_err(|error| {
                let before = bytes.get(..error.valid_up_to()).unwrap_or_default();
                let line = before.iter().filter(|b| **b == b'\n').count() + 1;
                refused(&format!("line {line} is not UTF-8 text: save the table as `CSV UTF-8`"))
            })?;
            text.to_owned()
        }
    };
    Ok(text.trim_start_matches('\u{feff}').to_owned())
}

/// All rows that hold something.
pub(super) fn rows(text: &str) -> Vec<Row> {
    let (skipped, delimiter) = match announced(text) {
        Some((length, delimiter)) => (length, delimiter),
        None => (0, guessed(text)),
    };
    let body = text.get(skipped..).unwrap_or("");
    let mut reader = ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(delimiter)
        .from_reader(body.as_bytes());
    let mut rows = Vec::new();
    let mut record = StringRecord::new();
    let mut lines = Lines::of(text);
    while reader.read_record(&mut record).is_ok_and(|more| more) {
        let start = record.position().map_or(0, |p| p.byte() as usize) + skipped;
        let line = lines.line_of(start);
        let cells = record.iter().map(|c| c.split_whitespace().collect::<Vec<_>>().join(" "));
        let row = Row { line, cells: cells.collect() };
        if !row.is_empty() && !row.cell(0).starts_with('#') {
            rows.push(row);
        }
    }
    rows
}

/// Refuses what nobody filled in.
pub(super) fn bounded(file: &str, rows: &[Row]) -> Result<(), TableError> {
    let reason = if rows.len() > ROWS_LIMIT {
        format!("more than {ROWS_LIMIT} rows: this is no table of blocks")
    } else if rows.iter().any(|row| row.cells.len() > COLUMNS_LIMIT) {
        format!("more than {COLUMNS_LIMIT} columns: this is no table of blocks")
    } else {
        return Ok(());
    };
    Err(TableError::NotText { file: file.to_owned(), reason })
}

/// The line `sep=;` that spreadsheets write: its length, and the delimiter.
fn announced(text: &str) -> Option<(usize, u8)> {
    let first = text.lines().next()?;
    match first.trim().strip_prefix("sep=")?.as_bytes() {
        [delimiter @ (b';' | b',' | b'\t')] => Some((first.len(), *delimiter)),
        [] if first.contains('\t') => Some((first.len(), b'\t')),
        _ => None,
    }
}

/// The delimiter that most lines have.
fn guessed(text: &str) -> u8 {
    let with = |delimiter: char| {
        let outside = |line: &str| {
            let mut quoted = false;
            line.chars().any(|c| {
                quoted ^= c == '"';
                !quoted && c == delimiter
            })
        };
        text.lines().filter(|l| !l.trim().is_empty()).take(SAMPLE).filter(|l| outside(l)).count()
    };
    // Of equally frequent ones the first: a comma may be that of a decimal.
    let counted = [';', '\t', ','].map(|d| (with(d), d));
    let best = counted.into_iter().reduce(|best, next| if next.0 > best.0 { next } else { best });
    best.map_or(b',', |(_, d)| d as u8)
}
