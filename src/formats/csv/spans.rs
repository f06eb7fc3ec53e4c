//! The table of spans.

use super::super::{CsvFault, FormatError};
use super::SPANS_FILE;
use super::cells::{Row, Rows, write_failed, writer};
use super::time;
use crate::trace::{Span, SpanKind};
use std::io::{Read, Write};

const COLUMNS: [&str; 7] = ["kind", "name", "track", "inference", "start_s", "end_s", "duration_s"];
const KINDS: [SpanKind; 7] = [
    SpanKind::Inference,
    SpanKind::Layer,
    SpanKind::Phase,
    SpanKind::Idle,
    SpanKind::Transition,
    SpanKind::State,
    SpanKind::Window,
];

/// Writes `spans.csv`.
pub fn write_spans(spans: &[Span], out: &mut impl Write) -> Result<(), FormatError> {
    let failed = |e| write_failed(SPANS_FILE, e);
    let mut table = writer(out);
    table.write_record(COLUMNS).map_err(failed)?;
    for span in spans {
        let inference = span.inference.map_or_else(String::new, |n| n.to_string());
        let times = [span.start, span.end, span.end.since(span.start)].map(time::to_text);
        let words = [span.kind.name(), span.name.as_str(), span.track.as_str(), inference.as_str()];
        let cells = words.into_iter().chain(times.iter().map(String::as_str));
        table.write_record(cells).map_err(failed)?;
    }
    table.flush().map_err(|e| failed(e.into()))
}

/// Reads `spans.csv`. `file` is what errors call it.
pub fn read_spans(file: &str, input: &mut impl Read) -> Result<Vec<Span>, FormatError> {
    let mut rows = Rows::new(file, input, 0);
    rows.expect_columns(&COLUMNS.map(str::to_owned))?;
    let mut spans = Vec::new();
    while let Some(row) = rows.next()? {
        spans.push(span(&row)?);
    }
    Ok(spans)
}

fn span(row: &Row<'_>) -> Result<Span, FormatError> {
    row.expect_cells(COLUMNS.len())?;
    let word = row.text(0);
    let kind = KINDS.into_iter().find(|kind| kind.name() == word);
    let kind = kind.ok_or_else(|| row.fault(CsvFault::Kind { text: word.to_owned() }))?;
    let (start, end) = (row.time(4, "start_s")?, row.time(5, "end_s")?);
    if end < start {
        let (start, end) = (time::to_text(start), time::to_text(end));
        return Err(row.fault(CsvFault::Backwards { start, end }));
    }
    let inference = match row.text(3) {
        "" => None,
        text => Some(
            text.parse().map_err(|_| row.fault(CsvFault::Inference { text: text.to_owned() }))?,
        ),
    };
    let (name, track) = (row.text(1).to_owned(), row.text(2).to_owned());
    Ok(Span { kind, name, track, inference, start, end })
}
