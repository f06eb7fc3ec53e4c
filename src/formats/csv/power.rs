//! The wide table of power by component, voltage and current by rail.

use super::super::instants::Instants;
use super::super::{CsvFault, FormatError};
use super::POWER_FILE;
use super::cells::{Row, Rows, malformed, number_text, write_failed, writer};
use super::time;
use crate::trace::{Header, Trace, Waveform};
use crate::units::SimTime;
use std::collections::HashSet;
use std::io::{self, BufRead, BufReader, Read, Write};

const SIGNATURE: &str = "# joulecast trace 1";
/// No description of components and rails is longer; a file without line ends must not fill memory.
const LONGEST_LINE: u64 = 16 << 20;

/// Columns in the order of [`Instants`], with the total between components and rails.
struct Columns {
    names: Vec<String>,
    components: usize,
    rails: usize,
}

impl Columns {
    fn of(header: &Header) -> Self {
        let mut names = vec!["time_s".to_owned()];
        names.extend(header.components.iter().map(|c| format!("{}_w", c.name)));
        names.push("total_w".to_owned());
        for rail in &header.rails {
            names.extend([format!("{}_v", rail.name), format!("{}_a", rail.name)]);
        }
        Self { names, components: header.components.len(), rails: header.rails.len() }
    }

    /// The column of a wave of [`Instants`].
    fn of_wave(&self, wave: usize) -> usize {
        if wave < self.components { 1 + wave } else { 2 + wave }
    }

    fn waves(&self) -> usize {
        self.components + 2 * self.rails
    }

    fn name(&self, column: usize) -> &str {
        self.names.get(column).map_or("", String::as_str)
    }
}

/// Writes `power.csv`.
pub fn write_power(trace: &Trace, out: &mut impl Write) -> Result<(), FormatError> {
    let failed = |source: io::Error| FormatError::Write { file: POWER_FILE.to_owned(), source };
    let described = serde_json::to_string(&trace.header).map_err(|e| failed(e.into()))?;
    write!(out, "{SIGNATURE}\n# {described}\n").map_err(failed)?;
    let columns = Columns::of(&trace.header);
    let mut table = writer(out);
    table.write_record(&columns.names).map_err(|e| write_failed(POWER_FILE, e))?;
    let mut instants = Instants::of(trace);
    loop {
        let at = instants.peek().unwrap_or(trace.end);
        if at > trace.end {
            return Err(FormatError::PastEnd { end: trace.end, at });
        }
        instants.advance(at);
        let row = row_cells(&columns, at, instants.values())?;
        table.write_record(&row).map_err(|e| write_failed(POWER_FILE, e))?;
        // The row of the end closes the table, whether or not something changes there.
        if at == trace.end {
            break;
        }
    }
    table.flush().map_err(failed)
}

fn row_cells(
    columns: &Columns,
    at: SimTime,
    values: &[Option<f64>],
) -> Result<Vec<String>, FormatError> {
    let mut cells = Vec::with_capacity(columns.names.len());
    cells.push(time::to_text(at));
    for (wave, value) in values.iter().enumerate() {
        if wave == columns.components {
            cells.push(total_text(values, columns));
        }
        cells.push(match value {
            None => String::new(),
            Some(value) if value.is_finite() => number_text(*value),
            Some(value) => {
                let quantity = columns.name(columns.of_wave(wave)).to_owned();
                return Err(FormatError::NotFinite { quantity, value: *value, at });
            }
        });
    }
    if columns.rails == 0 {
        cells.push(total_text(values, columns));
    }
    Ok(cells)
}

fn total_text(values: &[Option<f64>], columns: &Columns) -> String {
    let total: f64 = values.iter().take(columns.components).flatten().sum();
    // An empty sum is minus zero.
    number_text(total + 0.0)
}

/// Reads `power.csv`: a trace without spans. `file` is what errors call it.
pub fn read_power(file: &str, input: &mut impl Read) -> Result<Trace, FormatError> {
    let mut input = BufReader::new(input);
    let header = read_header(file, &mut input)?;
    let columns = Columns::of(&header);
    let mut rows = Rows::new(file, input, 2);
    rows.expect_columns(&columns.names)?;
    let mut waves = vec![Waveform::default(); columns.waves()];
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
    row.expect_cells(columns.names.len())?;
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
    for (wave, into) in waves.iter_mut().enumerate() {
        let column = columns.of_wave(wave);
        let name = columns.name(column);
        match row.number(column, name)? {
            Some(value) => into.set(at, value),
            None if into.points().is_empty() => {}
            None => return Err(row.fault(CsvFault::Gap { column: name.to_owned() })),
        }
    }
    Ok(())
}

fn assembled(header: Header, mut waves: Vec<Waveform>, end: SimTime) -> Trace {
    let of_rails = waves.split_off(header.components.len());
    let (mut voltage, mut current) = (Vec::new(), Vec::new());
    for (at, wave) in of_rails.into_iter().enumerate() {
        if at % 2 == 0 { voltage.push(wave) } else { current.push(wave) }
    }
    Trace { header, power: waves, voltage, current, end, ..Trace::default() }
}
