//! The table of changes of digital lines.

use super::super::{CsvFault, FormatError};
use super::EDGES_FILE;
use super::cells::{Row, Rows, write_failed, writer};
use super::time;
use crate::trace::{Edge, Level, LineId};
use std::io::{Read, Write};

const COLUMNS: [&str; 4] = ["line", "name", "at_s", "level"];
const LEVELS: [(Level, &str); 3] =
    [(Level::Low, "low"), (Level::High, "high"), (Level::Unknown, "unknown")];

/// The word for a level.
pub(in super::super) fn level_name(level: Level) -> &'static str {
    LEVELS.iter().find(|(other, _)| *other == level).map_or("", |(_, name)| name)
}

/// Writes `edges.csv`; `lines` are the names of the lines.
pub fn write_edges(
    edges: &[Edge],
    lines: &[String],
    out: &mut impl Write,
) -> Result<(), FormatError> {
    let failed = |e| write_failed(EDGES_FILE, e);
    let mut table = writer(out);
    table.write_record(COLUMNS).map_err(failed)?;
    for edge in edges {
        let name = lines.get(edge.line.0).map_or("", String::as_str);
        let (line, at) = (edge.line.0.to_string(), time::to_text(edge.at));
        table.write_record([&line, name, &at, level_name(edge.to)]).map_err(failed)?;
    }
    table.flush().map_err(|e| failed(e.into()))
}

/// Reads `edges.csv`. `file` is what errors call it.
pub fn read_edges(file: &str, input: &mut impl Read) -> Result<Vec<Edge>, FormatError> {
    let mut rows = Rows::new(file, input, 0);
    rows.expect_columns(&COLUMNS.map(str::to_owned))?;
    let mut edges = Vec::new();
    while let Some(row) = rows.next()? {
        edges.push(edge(&row)?);
    }
    Ok(edges)
}

fn edge(row: &Row<'_>) -> Result<Edge, FormatError> {
    row.expect_cells(COLUMNS.len())?;
    let number = row.text(0);
    let line = number.parse().map(LineId);
    let line = line.map_err(|_| row.fault(CsvFault::Line { text: number.to_owned() }))?;
    let word = row.text(3);
    let level = LEVELS.iter().find(|(_, name)| *name == word).map(|(level, _)| *level);
    let to = level.ok_or_else(|| {
        let (column, expected) = ("level", "low, high, unknown");
        row.fault(CsvFault::Word { column, text: word.to_owned(), expected })
    })?;
    Ok(Edge { line, at: row.time(2, "at_s")?, to })
}
