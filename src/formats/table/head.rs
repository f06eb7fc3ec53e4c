//! What stands above the rows: lines of text, names with units, and where the rows begin and end.

mod units;

pub(in crate::formats) use units::{Labelled, Quantity, Unit, label, rail, unit};

use super::loose;
use crate::formats::{FormatError, Head, Input, Place, ReadFault};
use std::io::{Read, Seek, SeekFrom};

/// Bytes at the start that are looked at.
const LENGTH: u64 = 256 * 1024;
/// Bytes at the end in which the last line has to begin.
const TAIL: u64 = 64 * 1024;

/// Where the rows of a table are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::formats) struct Body {
    /// Byte at which the first row starts.
    pub(in crate::formats) offset: u64,
    /// Byte behind the last row.
    pub(in crate::formats) end: u64,
    /// Line of the first row, from 1.
    pub(in crate::formats) line: u64,
    /// True where a last line without an end is left out.
    pub(in crate::formats) dropped: bool,
}

/// What to do with a last line that has no end: it may be cut within a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::formats) enum Unended {
    /// Leave it out, as the tool ends every line.
    Drop,
    /// Keep it where it has as many cells as this, between these delimiters.
    KeepCells(usize, u8),
}

/// A line of the head.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Line {
    /// Its text, without the end of line and the byte-order mark.
    text: String,
    /// Byte behind its end of line.
    next: u64,
}

/// The first lines of a file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(in crate::formats) struct Lines {
    lines: Vec<Line>,
    /// Bytes of the byte-order mark.
    mark: u64,
}

const MARK: &[u8] = b"\xef\xbb\xbf";

impl Lines {
    /// Reads the first lines; the last of them is left out where it is cut.
    pub(in crate::formats) fn of(input: &mut Input<'_>) -> Result<Self, FormatError> {
        let mut bytes = Vec::new();
        input.rewind()?;
        let name = input.name.clone();
        (&mut *input)
            .take(LENGTH)
            .read_to_end(&mut bytes)
            .map_err(|source| FormatError::Read { file: name, source })?;
        if bytes.trim_ascii().is_empty() {
            return Err(input.fault(Place::Whole, ReadFault::Empty));
        }
        if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") || bytes.contains(&0) {
            return Err(input.fault(Place::Byte(0), ReadFault::NotText));
        }
        let whole = bytes.len() as u64 >= input.size;
        Ok(Self::split(&bytes, whole))
    }

    /// The lines of the head by which a format is recognised.
    pub(in crate::formats) fn seen(head: &Head) -> Self {
        let bytes = head.bytes();
        if bytes.contains(&0) { Self::default() } else { Self::split(bytes, false) }
    }

    fn split(bytes: &[u8], whole: bool) -> Self {
        let mut lines = Vec::new();
        let mut next = 0;
        for line in bytes.split_inclusive(|b| *b == b'\n') {
            next += line.len() as u64;
            if whole || line.ends_with(b"\n") || lines.is_empty() {
                let line = line.strip_prefix(MARK).unwrap_or(line);
                lines.push(Line { text: text(line), next });
            }
        }
        Self { lines, mark: if bytes.starts_with(MARK) { MARK.len() as u64 } else { 0 } }
    }

    /// How many there are.
    pub(in crate::formats) fn count(&self) -> usize {
        self.lines.len()
    }

    /// The text of line `k`, from 0; empty behind the last.
    pub(in crate::formats) fn text(&self, k: usize) -> &str {
        self.lines.get(k).map_or("", |line| &line.text)
    }

    /// The body behind the first `head` lines.
    pub(in crate::formats) fn body(
        &self,
        input: &mut Input<'_>,
        head: usize,
        unended: Unended,
    ) -> Result<Body, FormatError> {
        let offset = match head.checked_sub(1) {
            None => self.mark,
            Some(last) => self.lines.get(last).map_or(input.size, |line| line.next),
        };
        let whole = input.size;
        let tail = unended_line(input, offset)?;
        let dropped = match unended {
            _ if tail.is_empty() => false,
            Unended::Drop => true,
            Unended::KeepCells(cells, delimiter) => {
                let line = String::from_utf8_lossy(&tail);
                !line.trim().is_empty() && split(&line, delimiter).len() < cells
            }
        };
        let end = if dropped { whole - tail.len() as u64 } else { whole };
        Ok(Body { offset, end, line: head as u64 + 1, dropped })
    }
}

/// UTF-8, or else Latin-1, in which instruments write their degrees and micros.
fn text(line: &[u8]) -> String {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    match std::str::from_utf8(line) {
        Ok(text) => text.to_owned(),
        Err(_) => line.iter().map(|byte| char::from(*byte)).collect(),
    }
}

/// The bytes behind the last end of line.
fn unended_line(input: &mut Input<'_>, offset: u64) -> Result<Vec<u8>, FormatError> {
    let from = input.size.saturating_sub(TAIL).max(offset);
    let mut bytes = Vec::new();
    let name = input.name.clone();
    let failed = |source| FormatError::Read { file: name.clone(), source };
    input.seek(SeekFrom::Start(from)).map_err(failed)?;
    (&mut *input).take(TAIL).read_to_end(&mut bytes).map_err(failed)?;
    let end = bytes.iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1);
    bytes.drain(..end);
    Ok(bytes)
}

/// The cells of a line, without blanks and quotes.
pub(in crate::formats) fn split(line: &str, delimiter: u8) -> Vec<String> {
    let bytes = line.as_bytes();
    let mut cells = Vec::new();
    let mut at = 0;
    loop {
        let end = loose::end(bytes, at, delimiter);
        cells.push(loose::bare(line.get(at..end).unwrap_or_default()).to_owned());
        if bytes.get(end) != Some(&delimiter) {
            return cells;
        }
        at = end + 1;
    }
}

/// The value of a cell, not-a-number where it says that there is none.
pub(in crate::formats) fn value(cell: &str, point: u8) -> Option<f64> {
    loose::value(cell, point, 0)
}
