//! The table of power, voltage, current and counters.

use super::super::columns::Columns;
use super::super::{FormatError, FrameWriter};
use super::metadata::{plain, properties};
use super::{About, ROWS, failed, picoseconds};
use crate::units::SimTime;
use parquet::basic::{Encoding, Repetition, Type as Physical};
use parquet::data_type::{DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;
use std::io::Write;
use std::sync::Arc;

/// Cells of a group of rows: with many columns it has fewer rows.
const CELLS: usize = 16 << 20;
const FEWEST_ROWS: usize = 1 << 12;

/// Values of one column that wait for their group to be full.
#[derive(Debug, Default)]
struct Lane {
    /// The known ones.
    values: Vec<f64>,
    /// For each row 1 where it is known, else 0.
    known: Vec<i16>,
}

impl Lane {
    fn push(&mut self, value: f64) {
        self.known.push(i16::from(!value.is_nan()));
        if !value.is_nan() {
            self.values.push(value);
        }
    }

    fn clear(&mut self) {
        self.values.clear();
        self.known.clear();
    }
}

/// Writes the file of power, group by group.
pub struct PowerWriter<W: Write + Send> {
    file: SerializedFileWriter<W>,
    columns: Columns,
    rows_of_group: usize,
    times: Vec<i64>,
    /// Columns behind the time.
    lanes: Vec<Lane>,
    last: Option<SimTime>,
}

impl<W: Write + Send> std::fmt::Debug for PowerWriter<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PowerWriter").field("columns", &self.columns).finish_non_exhaustive()
    }
}

impl<W: Write + Send> PowerWriter<W> {
    /// Starts the file of a trace.
    pub fn begin(about: &About<'_>, out: W) -> Result<Self, FormatError> {
        let columns = Columns::of("time_ps", about.header);
        let schema = schema(&columns).map_err(failed)?;
        let properties = plain(properties(about), Encoding::BYTE_STREAM_SPLIT);
        let file = SerializedFileWriter::new(out, schema, Arc::new(properties)).map_err(failed)?;
        let lanes = columns.names().iter().skip(1).map(|_| Lane::default()).collect();
        let rows_of_group = (CELLS / columns.names().len()).clamp(FEWEST_ROWS, ROWS);
        Ok(Self { file, columns, rows_of_group, times: Vec::new(), lanes, last: None })
    }

    fn row(&mut self, at: SimTime, values: &[Option<f64>]) -> Result<(), FormatError> {
        self.times.push(picoseconds(at)?);
        let total = self.columns.total(values);
        let components = self.columns.components();
        for (place, lane) in self.lanes.iter_mut().enumerate() {
            let quantity = if place < components { place } else { place.saturating_sub(1) };
            lane.push(if place == components {
                total
            } else {
                values.get(quantity).copied().flatten().unwrap_or(0.0)
            });
        }
        self.last = Some(at);
        if self.times.len() >= self.rows_of_group { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<(), FormatError> {
        if !self.times.is_empty() {
            group(&mut self.file, &self.times, &self.lanes).map_err(failed)?;
        }
        self.times.clear();
        self.lanes.iter_mut().for_each(Lane::clear);
        Ok(())
    }
}

impl<W: Write + Send> FrameWriter for PowerWriter<W> {
    fn frame(&mut self, at: SimTime, values: &[Option<f64>]) -> Result<(), FormatError> {
        self.row(at, values)
    }

    fn end(&mut self, at: SimTime, values: &[Option<f64>]) -> Result<(), FormatError> {
        if self.last != Some(at) {
            self.row(at, values)?;
        }
        self.flush()?;
        self.file.finish().map_err(failed)?;
        self.file.inner_mut().flush().map_err(|error| failed(error.into()))
    }
}

fn schema(columns: &Columns) -> Result<Arc<Type>, ParquetError> {
    let mut fields = Vec::new();
    for (place, name) in columns.names().iter().enumerate() {
        let (physical, repetition) = match place {
            0 => (Physical::INT64, Repetition::REQUIRED),
            _ => (Physical::DOUBLE, Repetition::OPTIONAL),
        };
        let field = Type::primitive_type_builder(name, physical).with_repetition(repetition);
        fields.push(Arc::new(field.build()?));
    }
    Ok(Arc::new(Type::group_type_builder("trace").with_fields(fields).build()?))
}

fn group<W: Write + Send>(
    file: &mut SerializedFileWriter<W>,
    times: &[i64],
    lanes: &[Lane],
) -> Result<(), ParquetError> {
    let mut group = file.next_row_group()?;
    if let Some(mut column) = group.next_column()? {
        column.typed::<Int64Type>().write_batch(times, None, None)?;
        column.close()?;
    }
    for lane in lanes {
        if let Some(mut column) = group.next_column()? {
            column.typed::<DoubleType>().write_batch(&lane.values, Some(&lane.known), None)?;
            column.close()?;
        }
    }
    group.close()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{ChannelKind, Component, ComponentKind, Counter, Header, Layout};
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::Field;

    fn header() -> Header {
        let component = Component {
            name: "dut".into(),
            kind: ComponentKind::Measured,
            domain: String::new(),
            rail: "dut".into(),
        };
        let counters = vec![Counter { name: "die".into(), kind: ChannelKind::Temperature }];
        Header { components: vec![component], counters, ..Header::default() }
    }

    #[test]
    fn groups_follow_each_other_and_what_is_unknown_is_null() {
        let (header, layout) = (header(), Layout::default());
        let about = About { header: &header, layout: &layout, inferences_per_window: Some(3) };
        let file = tempfile::tempfile().unwrap();
        let mut writer = PowerWriter::begin(&about, file.try_clone().unwrap()).unwrap();
        writer.rows_of_group = 3;
        for at in 0..7u64 {
            let power = if at == 4 { f64::NAN } else { at as f64 };
            writer.frame(SimTime(at), &[Some(power), None]).unwrap();
        }
        writer.end(SimTime(9), &[Some(6.0), Some(f64::NAN)]).unwrap();
        drop(writer);
        let reader = SerializedFileReader::new(file).unwrap();
        assert_eq!(reader.num_row_groups(), 3);
        let rows: Vec<_> = reader.get_row_iter(None).unwrap().map(Result::unwrap).collect();
        let fields =
            |row: usize| rows[row].get_column_iter().map(|c| c.1.clone()).collect::<Vec<_>>();
        let double = |value: f64| Field::Double(value);
        assert_eq!(fields(3), [Field::Long(3), double(3.0), double(3.0), double(0.0)]);
        assert_eq!(fields(4), [Field::Long(4), Field::Null, Field::Null, double(0.0)]);
        assert_eq!(fields(7), [Field::Long(9), double(6.0), double(6.0), Field::Null]);
        assert_eq!(rows.len(), 8);
    }

    #[test]
    fn a_time_beyond_the_column_is_told() {
        let (header, layout) = (Header::default(), Layout::default());
        let about = About { header: &header, layout: &layout, inferences_per_window: None };
        let mut writer = PowerWriter::begin(&about, Vec::new()).unwrap();
        let late = writer.end(SimTime(u64::MAX), &[]);
        assert!(matches!(late, Err(FormatError::TooLate { .. })), "{late:?}");
    }
}
