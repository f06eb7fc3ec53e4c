//! The tables of spans, marks and edges.

use super::super::FormatError;
use super::super::csv::{level_name, teller_name};
use super::metadata::properties;
use super::{About, ROWS, failed, picoseconds};
use crate::trace::{Edge, PlacedMark, Span};
use crate::units::SimTime;
use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type;
use std::io::Write;
use std::sync::Arc;

/// One column of a group of rows.
enum Values {
    Text(Vec<ByteArray>),
    Whole(Vec<i64>),
    /// None is null.
    Perhaps(Vec<Option<i64>>),
}

type Column = (&'static str, Values);

/// Writes `X.spans.parquet`.
pub fn write_spans(
    spans: &[Span],
    about: &About<'_>,
    out: impl Write + Send,
) -> Result<(), FormatError> {
    write_table(spans, about, out, |spans| {
        let times = |of: fn(&Span) -> SimTime| {
            spans.iter().map(|span| picoseconds(of(span))).collect::<Result<_, _>>()
        };
        let number = |span: &Span| span.inference.and_then(|number| i64::try_from(number).ok());
        Ok(vec![
            ("kind", text(spans, |span| span.kind.name())),
            ("name", text(spans, |span| &span.name)),
            ("track", text(spans, |span| &span.track)),
            ("inference", Values::Perhaps(spans.iter().map(number).collect())),
            ("start_ps", Values::Whole(times(|span| span.start)?)),
            ("end_ps", Values::Whole(times(|span| span.end)?)),
        ])
    })
}

/// Writes `X.marks.parquet`.
pub fn write_marks(
    marks: &[PlacedMark],
    about: &About<'_>,
    out: impl Write + Send,
) -> Result<(), FormatError> {
    write_table(marks, about, out, |marks| {
        let at = marks.iter().map(|placed| picoseconds(placed.mark.at));
        Ok(vec![
            ("teller", text(marks, |placed| teller_name(placed.mark.teller))),
            ("track", text(marks, |placed| &placed.mark.track)),
            ("name", text(marks, |placed| &placed.mark.name)),
            ("at_ps", Values::Whole(at.collect::<Result<_, _>>()?)),
            ("meter_ps", Values::Perhaps(marks.iter().map(|placed| placed.at_ps).collect())),
        ])
    })
}

/// Writes `X.edges.parquet`.
pub fn write_edges(
    edges: &[Edge],
    about: &About<'_>,
    out: impl Write + Send,
) -> Result<(), FormatError> {
    write_table(edges, about, out, |edges| {
        let at = edges.iter().map(|edge| picoseconds(edge.at));
        let line = |edge: &Edge| i64::try_from(edge.line.0).unwrap_or(i64::MAX);
        let name = |edge: &Edge| about.header.lines.get(edge.line.0).map_or("", String::as_str);
        let names = edges.iter().map(|edge| ByteArray::from(name(edge))).collect();
        Ok(vec![
            ("line", Values::Whole(edges.iter().map(line).collect())),
            ("name", Values::Text(names)),
            ("at_ps", Values::Whole(at.collect::<Result<_, _>>()?)),
            ("level", text(edges, |edge| level_name(edge.to))),
        ])
    })
}

fn text<T>(rows: &[T], of: impl Fn(&T) -> &str) -> Values {
    Values::Text(rows.iter().map(|row| ByteArray::from(of(row))).collect())
}

/// Writes rows in groups; `columns` makes the columns of a group.
fn write_table<T, W: Write + Send>(
    rows: &[T],
    about: &About<'_>,
    out: W,
    columns: impl Fn(&[T]) -> Result<Vec<Column>, FormatError>,
) -> Result<(), FormatError> {
    let schema = schema(&columns(&[])?).map_err(failed)?;
    let properties = properties(about).build();
    let mut file = SerializedFileWriter::new(out, schema, Arc::new(properties)).map_err(failed)?;
    for rows in rows.chunks(ROWS) {
        let columns = columns(rows)?;
        let mut group = file.next_row_group().map_err(failed)?;
        columns.iter().try_for_each(|column| write(&mut group, &column.1)).map_err(failed)?;
        group.close().map_err(failed)?;
    }
    file.finish().map_err(failed)?;
    file.inner_mut().flush().map_err(|error| failed(error.into()))
}

fn schema(columns: &[Column]) -> Result<Arc<Type>, ParquetError> {
    let mut fields = Vec::new();
    for (name, values) in columns {
        let builder = match values {
            Values::Text(_) => Type::primitive_type_builder(name, Physical::BYTE_ARRAY)
                .with_repetition(Repetition::REQUIRED)
                .with_logical_type(Some(LogicalType::String)),
            Values::Whole(_) => Type::primitive_type_builder(name, Physical::INT64)
                .with_repetition(Repetition::REQUIRED),
            Values::Perhaps(_) => Type::primitive_type_builder(name, Physical::INT64)
                .with_repetition(Repetition::OPTIONAL),
        };
        fields.push(Arc::new(builder.build()?));
    }
    Ok(Arc::new(Type::group_type_builder("trace").with_fields(fields).build()?))
}

fn write<W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    values: &Values,
) -> Result<(), ParquetError> {
    let Some(mut column) = group.next_column()? else { return Ok(()) };
    match values {
        Values::Text(text) => {
            column.typed::<ByteArrayType>().write_batch(text, None, None)?;
        }
        Values::Whole(whole) => {
            column.typed::<Int64Type>().write_batch(whole, None, None)?;
        }
        Values::Perhaps(perhaps) => {
            let known: Vec<i16> = perhaps.iter().map(|value| i16::from(value.is_some())).collect();
            let values: Vec<i64> = perhaps.iter().copied().flatten().collect();
            column.typed::<Int64Type>().write_batch(&values, Some(&known), None)?;
        }
    }
    column.close()
}
