//! Rows of text into columns.

use super::decimal;
use super::loose;
use super::stamp::{Picoseconds, Stamp, seconds};
use crate::formats::ReadFault;
use crate::formats::line_reading::LineReading;
use crate::units::SimTime;

/// What to make of a column of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::formats) enum Cell {
    /// Nothing.
    Skip,
    /// When the row starts.
    Time,
    /// Samples of a channel, in units of 10^`power`.
    Value {
        /// Index of the channel.
        channel: usize,
        /// The power of ten.
        power: i32,
    },
    /// A digital line, `0` or `1`.
    Level(usize),
    /// Eight digital lines as eight characters.
    Levels {
        /// The line of the first character.
        first: usize,
        /// True where the lines go down from there.
        down: bool,
    },
}

/// How the rows of a table are read.
#[derive(Debug, Clone)]
pub(in crate::formats) struct Rows {
    /// What stands between cells.
    pub(in crate::formats) delimiter: u8,
    /// The decimal sign.
    pub(in crate::formats) point: u8,
    /// The columns.
    pub(in crate::formats) cells: Vec<Cell>,
    /// Their names, for errors.
    pub(in crate::formats) names: Vec<String>,
    /// How time is written.
    pub(in crate::formats) stamp: Stamp,
    /// A value at least as large stands for one beyond the range of the instrument.
    pub(in crate::formats) overflow: f64,
    /// The first stamp, which is time zero.
    pub(super) start: Picoseconds,
}

/// A change of a digital line at a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Change {
    pub(super) row: usize,
    pub(super) line: usize,
    pub(super) to: LineReading,
}

/// Rows as columns. Times and values have one place more at their front, for the row before.
#[derive(Debug, Clone, Default)]
pub(super) struct Columns {
    pub(super) rows: usize,
    pub(super) times: Vec<SimTime>,
    pub(super) values: Vec<Vec<f64>>,
    pub(super) changes: Vec<Change>,
    /// Lines of the text, whether rows or blank.
    pub(super) lines: u64,
    /// What is wrong with the first line behind the rows.
    pub(super) fault: Option<ReadFault>,
    /// The character last seen of each digital line.
    levels: Vec<u8>,
    /// The last eight characters of each column of eight lines.
    words: Vec<[u8; 8]>,
}

impl Rows {
    /// Comma-separated cells with a decimal point.
    pub(in crate::formats) fn new(cells: Vec<Cell>, names: Vec<String>, stamp: Stamp) -> Self {
        Self {
            delimiter: b',',
            point: b'.',
            cells,
            names,
            stamp,
            overflow: f64::INFINITY,
            start: 0,
        }
    }

    pub(super) fn channels(&self) -> usize {
        let channels = self.cells.iter().filter(|cell| matches!(cell, Cell::Value { .. }));
        channels.count()
    }

    pub(super) fn lines(&self) -> usize {
        let lines = self.cells.iter().map(|cell| match cell {
            Cell::Level(_) => 1,
            Cell::Levels { .. } => 8,
            _ => 0,
        });
        lines.sum()
    }

    /// Leaves out the column of time.
    pub(super) fn skip_stamps(&mut self) {
        for cell in self.cells.iter_mut().filter(|cell| **cell == Cell::Time) {
            *cell = Cell::Skip;
        }
    }

    /// True where rows have times of their own.
    pub(super) fn timed(&self) -> bool {
        self.cells.contains(&Cell::Time)
    }

    /// The stamp of the first row, and its cell.
    pub(super) fn first_stamp(&self, text: &[u8]) -> Option<(Picoseconds, String)> {
        let column = self.cells.iter().position(|cell| *cell == Cell::Time)?;
        let row = text.split(|b| *b == b'\n').find(|row| !row.trim_ascii().is_empty())?;
        let mut at = 0;
        for _ in 0..column {
            at = loose::end(row, at, self.delimiter) + 1;
        }
        let cell = String::from_utf8_lossy(row.get(at..loose::end(row, at, self.delimiter))?);
        let cell = loose::bare(&cell);
        Some((self.stamp.cell(cell, self.point)?, cell.to_owned()))
    }

    /// Reads all rows of a text, up to the first with a fault.
    pub(super) fn read(&self, text: &[u8], columns: &mut Columns) {
        columns.clear(self.channels(), self.lines(), self.cells.len());
        let mut at = 0;
        while at < text.len() {
            match self.row(text, at, columns) {
                Ok(next) => at = next,
                Err(fault) => {
                    columns.fault = Some(fault);
                    columns.keep_whole_rows();
                    return;
                }
            }
            columns.lines += 1;
        }
    }

    /// Reads a row; the byte behind its end of line.
    #[inline(always)]
    fn row(&self, text: &[u8], start: usize, columns: &mut Columns) -> Result<usize, ReadFault> {
        let mut at = start;
        for (k, cell) in self.cells.iter().enumerate() {
            let next = self.cell(text, at, k, *cell, columns);
            let next = match next {
                Ok(next) => next,
                Err(fault) => return blank(text, start).ok_or(fault),
            };
            at = next + 1;
            if text.get(next) != Some(&self.delimiter) {
                // The end of the line.
                if k + 1 < self.cells.len() {
                    let short = ReadFault::Cells { expected: self.cells.len(), found: k + 1 };
                    let next = blank(text, start).ok_or(short)?;
                    columns.keep_whole_rows();
                    return Ok(next);
                }
                if k == 0
                    && next == start
                    && let Some(next) = blank(text, start)
                {
                    columns.keep_whole_rows();
                    return Ok(next);
                }
                columns.rows += 1;
                let two = text.get(next) == Some(&b'\r') && text.get(at) == Some(&b'\n');
                return Ok(at + usize::from(two));
            }
        }
        self.surplus(text, at)?;
        columns.rows += 1;
        Ok(line_end(text, at))
    }

    /// Reads one cell; the byte behind it.
    #[inline(always)]
    fn cell(
        &self,
        text: &[u8],
        at: usize,
        column: usize,
        cell: Cell,
        columns: &mut Columns,
    ) -> Result<usize, ReadFault> {
        match cell {
            Cell::Value { channel, power } => {
                let (value, next) = self.value(text, at, column, power)?;
                if let Some(values) = columns.values.get_mut(channel) {
                    values.push(value);
                }
                Ok(next)
            }
            Cell::Time => {
                let (ps, next) = match self.stamp.scan(text, at, self.point) {
                    Some((ps, next)) if self.ends(text, next) => (ps, next),
                    _ => self.odd_stamp(text, at, column)?,
                };
                let at = self.since_start(ps, columns)?;
                columns.times.push(at);
                Ok(next)
            }
            Cell::Skip => Ok(loose::end(text, at, self.delimiter)),
            Cell::Level(line) => {
                if self.ends(text, at + 1)
                    && let Some(level) = text.get(at)
                    && columns.levels.get(line) == Some(level)
                {
                    return Ok(at + 1);
                }
                self.changed_level(text, at, column, line, columns)
            }
            Cell::Levels { first, down } => {
                if let Some(word) = text.get(at..).and_then(|rest| rest.first_chunk::<8>())
                    && columns.words.get(column) == Some(word)
                    && self.ends(text, at + 8)
                {
                    return Ok(at + 8);
                }
                self.changed_levels(text, at, column, (first, down), columns)
            }
        }
    }

    /// A value × 10^`power`, a gap where it stands for an overflow; and the byte behind it.
    #[inline(always)]
    fn value(
        &self,
        text: &[u8],
        at: usize,
        column: usize,
        power: i32,
    ) -> Result<(f64, usize), ReadFault> {
        let (value, next) = match decimal::scan(text, at, self.point) {
            Some((number, next)) if self.ends(text, next) => (number.times_ten_to(power), next),
            _ => self.odd_value(text, at, column, power)?,
        };
        Ok((if value.abs() >= self.overflow { f64::NAN } else { value }, next))
    }

    /// True where a cell ends before this byte.
    #[inline(always)]
    fn ends(&self, text: &[u8], at: usize) -> bool {
        match text.get(at) {
            Some(&byte) => byte == self.delimiter || byte == b'\n' || byte == b'\r',
            None => true,
        }
    }

    #[cold]
    fn odd_value(
        &self,
        text: &[u8],
        at: usize,
        column: usize,
        power: i32,
    ) -> Result<(f64, usize), ReadFault> {
        let (cell, next) = self.text(text, at);
        let value = loose::value(&cell, self.point, power);
        Ok((value.ok_or_else(|| self.no_number(&cell, column))?, next))
    }

    #[cold]
    fn odd_stamp(
        &self,
        text: &[u8],
        at: usize,
        column: usize,
    ) -> Result<(Picoseconds, usize), ReadFault> {
        let (cell, next) = self.text(text, at);
        let stamp = self.stamp.cell(loose::bare(&cell), self.point);
        Ok((stamp.ok_or_else(|| self.no_number(&cell, column))?, next))
    }

    #[inline(always)]
    fn since_start(&self, ps: Picoseconds, columns: &Columns) -> Result<SimTime, ReadFault> {
        let since = ps - self.start;
        // The place in front holds zero, so that the first row has one before it too.
        let before = columns.times.last().map_or(0, |at| i128::from(at.0));
        match u64::try_from(since) {
            Ok(at) if since >= before && at != u64::MAX => Ok(SimTime(at)),
            _ => Err(self.no_time(ps, before + self.start)),
        }
    }

    #[cold]
    fn no_time(&self, ps: Picoseconds, before: Picoseconds) -> ReadFault {
        let at = seconds(ps).to_string();
        if ps < before {
            ReadFault::Backwards { before: seconds(before).to_string(), at }
        } else {
            ReadFault::PastEnd { at }
        }
    }

    #[cold]
    fn changed_level(
        &self,
        text: &[u8],
        at: usize,
        column: usize,
        line: usize,
        columns: &mut Columns,
    ) -> Result<usize, ReadFault> {
        let (cell, next) = self.text(text, at);
        let level = match *loose::bare(&cell).as_bytes() {
            [] => b'-',
            [level] => level,
            _ => return Err(self.no_level(&cell, column)),
        };
        let to = level_of(level).ok_or_else(|| self.no_level(&cell, column))?;
        if columns.levels.get(line) != Some(&level) {
            columns.change(line, level, to);
        }
        Ok(next)
    }

    #[cold]
    fn changed_levels(
        &self,
        text: &[u8],
        at: usize,
        column: usize,
        (first, down): (usize, bool),
        columns: &mut Columns,
    ) -> Result<usize, ReadFault> {
        let (cell, next) = self.text(text, at);
        // A spreadsheet takes it for a number and drops its leading zeros.
        let padded = format!("{:0>8}", loose::bare(&cell));
        let Ok(word) = <[u8; 8]>::try_from(padded.as_bytes()) else {
            return Err(self.no_level(&cell, column));
        };
        for (k, level) in word.into_iter().enumerate() {
            let line = if down { first.saturating_sub(k) } else { first + k };
            let to = level_of(level).ok_or_else(|| self.no_level(&cell, column))?;
            if columns.levels.get(line) != Some(&level) {
                columns.change(line, level, to);
            }
        }
        if let Some(last) = columns.words.get_mut(column) {
            *last = word;
        }
        Ok(next)
    }

    /// The text of a cell, and the byte behind it.
    fn text(&self, text: &[u8], at: usize) -> (String, usize) {
        let next = loose::end(text, at, self.delimiter);
        let cell = text.get(at..next).unwrap_or_default();
        (String::from_utf8_lossy(cell).into_owned(), next)
    }

    fn name(&self, column: usize) -> String {
        self.names.get(column).cloned().unwrap_or_default()
    }

    fn no_number(&self, cell: &str, column: usize) -> ReadFault {
        ReadFault::Number { column: format!("column `{}`", self.name(column)), text: short(cell) }
    }

    fn no_level(&self, cell: &str, column: usize) -> ReadFault {
        ReadFault::Value {
            what: format!("column `{}`", self.name(column)),
            found: format!("`{}`", short(cell)),
            expected: "0 or 1",
        }
    }

    /// Cells behind the last column have to be empty.
    fn surplus(&self, text: &[u8], start: usize) -> Result<(), ReadFault> {
        let mut at = start;
        let mut found = self.cells.len();
        let mut full = false;
        loop {
            let next = loose::end(text, at, self.delimiter);
            found += 1;
            full |= !text.get(at..next).unwrap_or_default().trim_ascii().is_empty();
            at = next + 1;
            if text.get(next) != Some(&self.delimiter) {
                break;
            }
        }
        match full {
            true => Err(ReadFault::Cells { expected: self.cells.len(), found }),
            false => Ok(()),
        }
    }
}

impl Columns {
    fn clear(&mut self, channels: usize, lines: usize, cells: usize) {
        self.rows = 0;
        self.lines = 0;
        self.fault = None;
        self.changes.clear();
        self.times.clear();
        self.times.push(SimTime::ZERO);
        self.values.resize(channels, Vec::new());
        for values in &mut self.values {
            values.clear();
            values.push(f64::NAN);
        }
        self.levels.clear();
        self.levels.resize(lines, 0);
        self.words.clear();
        self.words.resize(cells, [0; 8]);
    }

    /// Drops what a row brought that turned out to be none.
    fn keep_whole_rows(&mut self) {
        let rows = self.rows;
        self.times.truncate(rows + 1);
        self.values.iter_mut().for_each(|values| values.truncate(rows + 1));
        while self.changes.last().is_some_and(|change| change.row >= rows) {
            self.changes.pop();
        }
    }

    fn change(&mut self, line: usize, level: u8, to: LineReading) {
        if let Some(last) = self.levels.get_mut(line) {
            *last = level;
            self.changes.push(Change { row: self.rows, line, to });
        }
    }
}

fn level_of(level: u8) -> Option<LineReading> {
    match level {
        b'0' => Some(LineReading::Low),
        b'1' => Some(LineReading::High),
        b'X' | b'x' => Some(LineReading::Both),
        b'-' => Some(LineReading::Unknown),
        _ => None,
    }
}

fn short(cell: &str) -> String {
    loose::bare(cell).chars().take(40).collect()
}

fn line_end(text: &[u8], at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    rest.iter().position(|b| *b == b'\n').map_or(text.len(), |end| at + end + 1)
}

/// The byte behind a line without anything on it.
#[cold]
fn blank(text: &[u8], start: usize) -> Option<usize> {
    let end = line_end(text, start);
    text.get(start..end)?.trim_ascii().is_empty().then_some(end)
}
