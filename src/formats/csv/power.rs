//! The wide table of power by component, voltage and current by rail, and counters.

use super::super::columns::Columns;
use super::super::frames::write_frames;
use super::super::{CsvFault, FormatError, FrameWriter};
use super::POWER_FILE;
use super::cells::{Cell, Row, Rows, malformed, number_text, write_failed, writer};
use super::time;
use crate::trace::{Header, Trace, Waveform};
use crate::units::SimTime;
use std::collections::HashSet;
use std::io::{self, BufRead, BufReader, Read, Write};

const SIGNATURE: &str = "# joulecast trace 1";
/// No description of components and rails is longer; a file without line ends must not fill memory.
const LONGEST_LINE: u64 = 16 << 20;
const TIME: &str = "time_s";

/// Writes `power.csv`, row by row.
pub struct PowerTable<W: Write> {
    columns: Columns,
    table: csv::Writer<W>,
    /// Quantities that have had a cell with something in it.
    told: Vec<bool>,
    last: Option<SimTime>,
}

impl<W: Write> std::fmt::Debug for PowerTable<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PowerTable").field("columns", &self.columns).finish_non_exhaustive()
    }
}

impl<W: Write> PowerTable<W> {
    /// Writes what stands before the rows.
    pub fn begin(header: &Header, mut out: W) -> Result<Self, FormatError> {
        let described = serde_json::to_string(header).map_err(|e| failed(e.into()))?;
        write!(out, "{SIGNATURE}\n# {described}\n").map_err(failed)?;
        let columns = Columns::of(TIME, header);
        let mut table = writer(out);
        table.write_record(columns.names()).map_err(|e| write_failed(POWER_FILE, e))?;
        Ok(Self { told: vec![false; columns.quantities()], columns, table, last: None })
    }

    fn row(&mut self, at: SimTime, values: &[Option<f64>]) -> Result<(), FormatError> {
        self.field(&time::to_text(at))?;
        for quantity in 0..self.told.len() {
            if quantity == self.columns.components() {
                self.total(values)?;
            }
            let text = self.cell(at, quantity, values.get(quantity).copied().flatten())?;
            self.field(&text)?;
        }
        if self.told.len() == self.columns.components() {
            self.total(values)?;
        }
        self.last = Some(at);
        self.table.write_record(None::<&[u8]>).map_err(|e| write_failed(POWER_FILE, e))
    }

    fn field(&mut self, text: &str) -> Result<(), FormatError> {
        self.table.write_field(text).map_err(|e| write_failed(POWER_FILE, e))
    }

    fn total(&mut self, values: &[Option<f64>]) -> Result<(), FormatError> {
        let total = self.columns.total(values);
        let text = if total.is_finite() { number_text(total) } else { String::new() };
        self.field(&text)
    }

    fn cell(
        &mut self,
        at: SimTime,
        quantity: usize,
        value: Option<f64>,
    ) -> Result<String, FormatError> {
        let Some(value) = value else { return Ok(String::new()) };
        let before = self.told.get_mut(quantity).is_some_and(|told| std::mem::replace(told, true));
        if value.is_finite() {
            return Ok(number_text(value));
        }
        if value.is_nan() {
            return Ok(if before { "" } else { Cell::UNKNOWN }.to_owned());
        }
        let quantity = self.columns.name(self.columns.of_quantity(quantity)).to_owned();
        Err(FormatError::NotFinite { quantity, value, at })
    }
}

impl<W: Write> FrameWriter for PowerTable<W> {
    fn frame(&mut self, at: SimTime, values: &[Option<f64>]) -> Result<(), FormatError> {
        self.row(at, values)
    }

    fn end(&mut self, at: SimTime, values: &[Option<f64>]) -> Result<(), FormatError> {
        // The row of the end closes the table, whether or not something changes there.
        if self.last != Some(at) {
            self.row(at, values)?;
        }
        self.table.flush().map_err(failed)
    }
}

fn failed(source: io::Error) -> FormatError {
    FormatError::Write { file: POWER_FILE.to_owned(), source }
}

/// Writes `power.csv`.
pub fn write_power(trace: &Trace, out: &mut impl Write) -> Result<(), FormatError> {
    write_frames(trace, &mut PowerTable::begin(&trace.header, out)?).map(|_| ())
}

/// Reads `power.csv`: a trace without spans. `file` is what errors call it.
pub fn read_power(file: &str, input: &mut impl Read) -> Result<Trace, FormatError> {
    let mut input = BufReader::new(input);
    let header = read_header(file, &mut input)?;
    let columns = Columns::of(TIME, &header);
    let mut rows = Rows::new(file, input, 2);
    rows.expect_columns(columns.names())?;
    let mut waves = vec![Waveform::default(); columns.quantities()];
    let mut last: Option<SimTime> = None;
    while let Some(row) = rows.next()? {
        let at = row_time(&row, &columns, last)?;
        row_values(&row, &columns, at, &mut waves)?;
        last = Some(at);
    }
    let Some(end) = last else { return Err(rows.ended(CsvFault::NoRows)) };
    Ok(assembled(header, waves, end))
}

fn read_header(file: &str, input: &mut impl BufRead) -> Result<Header, FormatError> {
    let first = read_line(file, 1, input)?;
    if first.trim_start_matches('\u{feff}') != SIGNATURE {
        let found = first.chars().take(SIGNATURE.len() + 20).collect();
        return Err(malformed(file, 1, CsvFault::Signature { expected: SIGNATURE, found }));
    }
    let second = read_line(file, 2, input)?;
    let json = second.strip_prefix('#').unwrap_or(&second);
    let header: Header = serde_json::from_str(json)
        .map_err(|e| malformed(file, 2, CsvFault::Header { reason: e.to_string() }))?;
    expect_unique(file, header.components.iter().map(|c| c.name.as_str()))?;
    expect_unique(file, header.rails.iter().map(|r| r.name.as_str()))?;
    Ok(header)
}

fn expect_unique<'a>(file: &str, names: impl Iterator<Item = &'a str>) -> Result<(), FormatError> {
    let mut seen = HashSet::new();
    for name in names {
        if !seen.insert(name) {
            return Err(malformed(file, 2, CsvFault::NameTwice { name: name.to_owned() }));
        }
    }
    Ok(())
}

fn read_line(file: &str, line: u64, input: &mut impl BufRead) -> Result<String, FormatError> {
    let mut bytes = Vec::new();
    let read = input.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut bytes);
    read.map_err(|source| FormatError::Read { file: file.to_owned(), source })?;
    if bytes.len() as u64 == LONGEST_LINE {
        return Err(malformed(file, line, CsvFault::LineTooLong { limit: LONGEST_LINE }));
    }
    let text = String::from_utf8(bytes).map_err(|_| malformed(file, line, CsvFault::NotText))?;
    Ok(text.trim_end_matches(['\r', '\n']).to_owned())
}

fn row_time(
    row: &Row<'_>,
    columns: &Columns,
    last: Option<SimTime>,
) -> Result<SimTime, FormatError> {
    row.expect_cells(columns.names().len())?;
    let at = row.time(0, columns.name(0))?;
    match last {
        Some(before) if before >= at => {
            Err(row.fault(CsvFault::Order { before: time::to_text(before), at: time::to_text(at) }))
        }
        _ => Ok(at),
    }
}

fn row_values(
    row: &Row<'_>,
    columns: &Columns,
    at: SimTime,
    waves: &mut [Waveform],
) -> Result<(), FormatError> {
    for (quantity, into) in waves.iter_mut().enumerate() {
        let column = columns.of_quantity(quantity);
        match row.cell(column, columns.name(column))? {
            Cell::Value(value) => into.set(at, value),
            Cell::Empty if into.points().is_empty() => {}
            Cell::Empty | Cell::Unknown => into.set(at, f64::NAN),
        }
    }
    Ok(())
}

fn assembled(header: Header, mut waves: Vec<Waveform>, end: SimTime) -> Trace {
    let mut of_rails = waves.split_off(header.components.len());
    let counters = of_rails.split_off(2 * header.rails.len());
    let (mut voltage, mut current) = (Vec::new(), Vec::new());
    for (at, wave) in of_rails.into_iter().enumerate() {
        if at % 2 == 0 { voltage.push(wave) } else { current.push(wave) }
    }
    Trace { header, power: waves, voltage, current, counters, end, ..Trace::default() }
}
