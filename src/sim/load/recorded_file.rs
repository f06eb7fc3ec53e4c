//! Times in a text file, one a line, read as they are asked for.

use super::LoadError;
use crate::formats::decimal;
use crate::units::{SimTime, TimeError};
use serde::{Deserialize, Serialize};
use std::io::{BufRead, Read};

/// No line of times is longer.
const LONGEST_LINE: u64 = 4096;

/// Times of a CSV text: those of its first column in seconds; or, where a head line names its columns,
/// of the first that is called `time`, with its unit behind (`time_ms`, `time (us)`). Empty lines and
/// those that start with `#` are passed over. Times rise; equal ones are allowed.
#[derive(Debug)]
pub(super) struct TimeLines<R> {
    file: String,
    text: R,
    at: Position,
}

/// How far a text has been read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct Position {
    line: u64,
    /// Bytes up to the end of that line.
    pub(super) bytes: u64,
    /// Once the first line has been seen.
    column: Option<Column>,
    /// Line and time before.
    before: Option<(u64, SimTime)>,
    ended: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Column {
    number: usize,
    /// Power of ten of a second.
    power: i32,
}

const UNITS: [(&str, i32); 5] = [("s", 0), ("ms", -3), ("us", -6), ("ns", -9), ("ps", -12)];

impl<R: BufRead> TimeLines<R> {
    /// The times of a text from a position on, to which it has been read.
    pub(super) fn new(file: &str, text: R, at: Position) -> Self {
        Self { file: file.to_owned(), text, at }
    }

    /// How far it has been read.
    pub(super) fn read_to(&self) -> Position {
        self.at
    }

    fn fault(&self, problem: impl Into<String>) -> LoadError {
        LoadError::Line { file: self.file.clone(), line: self.at.line, problem: problem.into() }
    }

    /// The next line with its end cut off; nothing behind the last.
    fn line(&mut self) -> Result<Option<String>, LoadError> {
        let mut bytes = Vec::new();
        let read = (&mut self.text).take(LONGEST_LINE + 1).read_until(b'\n', &mut bytes);
        let count = read.map_err(|error| LoadError::Read {
            file: self.file.clone(),
            reason: error.to_string(),
        })?;
        self.at.line += 1;
        self.at.bytes += count as u64;
        if count == 0 {
            return Ok(None);
        }
        if count as u64 > LONGEST_LINE {
            return Err(self.fault(format!("a line has at most {LONGEST_LINE} bytes")));
        }
        let text = String::from_utf8(bytes).map_err(|_| self.fault("this is no text"))?;
        // A mark of byte order in front of the first line.
        Ok(Some(text.trim_start_matches('\u{feff}').trim().to_owned()))
    }

    /// The time on a line; nothing on the head line.
    fn time(&mut self, line: &str) -> Result<Option<SimTime>, LoadError> {
        let column = match self.at.column {
            Some(column) => column,
            None => match column(line) {
                Some(column) => {
                    self.at.column = Some(column);
                    return Ok(None);
                }
                None => *self.at.column.insert(Column { number: 0, power: 0 }),
            },
        };
        let field = line.split(',').nth(column.number).unwrap_or("");
        let field = field.trim().trim_matches('"');
        let Some(time) = decimal(field, column.power) else {
            return Err(self.fault(format!("`{}` is no time", field.escape_debug())));
        };
        match u64::try_from(time) {
            Ok(time) => Ok(Some(SimTime(time))),
            Err(_) if time < 0 => Err(self.fault(format!("{field} lies before the start"))),
            Err(_) => Err(self.fault(TimeError::PastEnd.to_string())),
        }
    }

    fn following(&mut self) -> Result<Option<SimTime>, LoadError> {
        loop {
            let Some(line) = self.line()? else { return Ok(None) };
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let Some(at) = self.time(&line)? else { continue };
            if let Some((before_line, before)) = self.at.before.filter(|(_, before)| at < *before) {
                let (file, line) = (self.file.clone(), self.at.line);
                return Err(LoadError::OutOfOrder { file, line, at, before_line, before });
            }
            self.at.before = Some((self.at.line, at));
            return Ok(Some(at));
        }
    }
}

impl<R: BufRead> Iterator for TimeLines<R> {
    type Item = Result<SimTime, LoadError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.at.ended {
            return None;
        }
        let next = self.following().transpose();
        self.at.ended = !matches!(next, Some(Ok(_)));
        next
    }
}

/// The column of times that a head line names; nothing of a line that starts with a number, or names
/// none.
fn column(head: &str) -> Option<Column> {
    let named = head.split(',').enumerate().find_map(|(number, name)| {
        let name = name.trim().trim_matches('"').to_ascii_lowercase();
        let unit = ["timestamp", "time", "t"].iter().find_map(|word| name.strip_prefix(word))?;
        let unit = unit.trim_matches([' ', '_', '(', ')', '[', ']']);
        let power = match unit {
            "" => Some(0),
            unit => UNITS.iter().find(|(own, _)| *own == unit).map(|(_, power)| *power),
        };
        power.map(|power| Column { number, power })
    });
    named.filter(|_| !head.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<u64>, String> {
        let lines = TimeLines::new("events.csv", text.as_bytes(), Position::default());
        lines.map(|at| at.map(|at| at.0).map_err(|error| error.to_string())).collect()
    }

    #[test]
    fn times_are_read_exactly_from_the_column_that_is_theirs() {
        let plain = read("0.1\n\n# a remark\n0.1\n100000.000000000001,x").unwrap();
        assert_eq!(plain, [100_000_000_000, 100_000_000_000, 100_000_000_000_000_001]);
        assert_eq!(
            read("name,time_ms\r\na,1.5\r\nb,2\r\n").unwrap(),
            [1_500_000_000, 2_000_000_000]
        );
        assert_eq!(read("\u{feff}\"Time [us]\"\n\"3\"\n").unwrap(), [3_000_000]);
        assert!(read("").unwrap().is_empty());
    }

    #[test]
    fn what_is_out_of_order_is_told_with_both_lines_and_times() {
        let said = read("time_s\n2.5\n# between\n1.25\n").unwrap_err();
        assert_eq!(
            said,
            "events.csv:4: 1.250000000000 s comes before 2.500000000000 s of line 2: times must rise"
        );
    }

    #[test]
    fn what_is_no_time_is_told_with_its_line() {
        for (text, part) in [
            ("1\nx\n", "events.csv:2: `x` is no time"),
            ("what,is,this\n1,2,3\n", "events.csv:1: `what` is no time"),
            ("1\n\n-2\n", "events.csv:3: -2 lies before the start"),
            ("time_ms,x\n,3\n", "events.csv:2: `` is no time"),
            ("1e8\n", "events.csv:1: the run would pass"),
        ] {
            let said = read(text).unwrap_err();
            assert!(said.contains(part), "{said}");
        }
        let long = "1".repeat(5000);
        assert!(read(&long).unwrap_err().contains("at most 4096 bytes"));
        let bytes =
            TimeLines::new("events.csv", &b"\xff\xfe"[..], Position::default()).next().unwrap();
        assert!(bytes.unwrap_err().to_string().contains("no text"));
    }

    #[test]
    fn nothing_comes_behind_an_error() {
        let mut lines = TimeLines::new("events.csv", "3\n2\n4\n".as_bytes(), Position::default());
        assert!(lines.next().unwrap().is_ok() && lines.next().unwrap().is_err());
        assert_eq!(lines.next(), None);
    }
}
