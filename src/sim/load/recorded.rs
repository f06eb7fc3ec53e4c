//! Requests as they were recorded.

use super::recorded_file::{Position, TimeLines};
use super::{LoadError, process::positive};
use crate::units::{Hertz, Seconds, SimTime, TimeError};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{BufReader, Seek, SeekFrom};

/// A file of times, read through once to know that it is sound; a run reads it again, as it goes, in
/// constant memory. Behind the last time nothing comes, unless the record repeats.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Recorded {
    file: String,
    repeat: Option<SimTime>,
    events: u64,
    first: SimTime,
    last: SimTime,
}

impl Recorded {
    /// Reads through `file`, which starts anew each `repeat` where that is given.
    ///
    /// # Errors
    /// The file cannot be read, holds no time, or holds one that is out of order; or its last lies behind
    /// the time after which it repeats.
    pub fn scan(file: &str, repeat: Option<Seconds>) -> Result<Self, LoadError> {
        let repeat = match repeat {
            Some(time) => {
                positive("the time to repeat after", time)?;
                Some(SimTime::from_seconds(time)?)
            }
            None => None,
        };
        let (mut events, mut first, mut last) = (0, None, SimTime::ZERO);
        for at in open(file, Position::default())? {
            last = at?;
            first.get_or_insert(last);
            events += 1;
        }
        let Some(first) = first else {
            let problem = "the file holds no time".to_owned();
            return Err(LoadError::Line { file: file.to_owned(), line: 1, problem });
        };
        if let Some(repeat) = repeat.filter(|repeat| *repeat < last) {
            let problem = format!("is {repeat}, but {file} goes on until {last}");
            return Err(LoadError::parameter("the time to repeat after", problem));
        }
        Ok(Self { file: file.to_owned(), repeat, events, first, last })
    }

    /// How many times it holds.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// Requests over the time to repeat after; without one, gaps over the time from first to last, and
    /// none of a record without two different times.
    pub fn mean_rate(&self) -> Option<Hertz> {
        let (events, time) = match self.repeat {
            Some(repeat) => (self.events, repeat),
            None => (self.events - 1, self.last.since(self.first)),
        };
        (time > SimTime::ZERO).then(|| Hertz(events as f64 / time.seconds().0))
    }

    /// One run of it, which opens the file when it is asked first.
    pub fn times(&self) -> RecordedTimes {
        let (round, read) = (0, Position::default());
        RecordedTimes { record: self.clone(), round, read, ended: false, lines: None }
    }
}

type Lines = TimeLines<BufReader<File>>;

/// The lines of a file behind those that were read.
fn open(file: &str, read: Position) -> Result<Lines, LoadError> {
    let fault = |error: std::io::Error| LoadError::Read {
        file: file.to_owned(),
        reason: error.to_string(),
    };
    let mut text = BufReader::new(File::open(file).map_err(fault)?);
    text.seek(SeekFrom::Start(read.bytes)).map_err(fault)?;
    Ok(TimeLines::new(file, text, read))
}

/// The times of a [`Recorded`]. The file is open only while it is read: what is written down is how
/// far.
#[derive(Debug, Serialize, Deserialize)]
pub struct RecordedTimes {
    record: Recorded,
    round: u64,
    read: Position,
    ended: bool,
    #[serde(skip)]
    lines: Option<Lines>,
}

impl Clone for RecordedTimes {
    fn clone(&self) -> Self {
        Self { record: self.record.clone(), lines: None, ..*self }
    }
}

impl RecordedTimes {
    fn following(&mut self) -> Result<Option<SimTime>, LoadError> {
        // A file that has grown short of times since it was read through ends the run.
        for _ in 0..2 {
            let lines = match &mut self.lines {
                Some(lines) => lines,
                closed => closed.insert(open(&self.record.file, self.read)?),
            };
            let next = lines.next();
            self.read = lines.read_to();
            if let Some(at) = next {
                let start = self.record.repeat.unwrap_or_default().0.checked_mul(self.round);
                let start = start.map(SimTime).ok_or(TimeError::PastEnd)?;
                return Ok(Some(at?.after(start)?));
            }
            if self.record.repeat.is_none() {
                return Ok(None);
            }
            self.round += 1;
            (self.lines, self.read) = (None, Position::default());
        }
        Ok(None)
    }
}

impl Iterator for RecordedTimes {
    type Item = Result<SimTime, LoadError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let next = self.following().transpose();
        if !matches!(next, Some(Ok(_))) {
            (self.lines, self.ended) = (None, true);
        }
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(text: &str, check: impl Fn(&str)) {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("events.csv");
        std::fs::write(&path, text).unwrap();
        check(path.to_str().unwrap());
    }

    #[test]
    fn a_record_ends_or_starts_anew() {
        with("time_ms\n100\n200\n900\n", |file| {
            let once = Recorded::scan(file, None).unwrap();
            let times: Vec<_> = once.times().map(|at| at.unwrap().0 / 1_000_000_000).collect();
            assert_eq!(times, [100, 200, 900]);
            assert_eq!(once.mean_rate(), Some(Hertz(2.5)));
            let again = Recorded::scan(file, Some(Seconds(1.0))).unwrap();
            let times = again.times().take(7).map(|at| at.unwrap().0 / 1_000_000_000);
            assert_eq!(times.collect::<Vec<_>>(), [100, 200, 900, 1100, 1200, 1900, 2100]);
            assert_eq!((again.mean_rate(), again.events()), (Some(Hertz(3.0)), 3));
        });
    }

    #[test]
    fn a_record_that_cannot_be_is_told_before_it_runs() {
        with("1\n3\n2\n", |file| {
            let said = Recorded::scan(file, None).unwrap_err().to_string();
            assert!(said.contains("events.csv:3:") && said.contains("of line 2"), "{said}");
        });
        with("# nothing\n", |file| {
            let said = Recorded::scan(file, None).unwrap_err().to_string();
            assert!(said.contains("holds no time"), "{said}");
        });
        with("1\n3\n", |file| {
            let said = Recorded::scan(file, Some(Seconds(2.0))).unwrap_err().to_string();
            assert!(said.contains("goes on until 3.000 s"), "{said}");
            assert_eq!(Recorded::scan(file, None).unwrap().mean_rate(), Some(Hertz(0.5)));
        });
        with("1\n", |file| assert_eq!(Recorded::scan(file, None).unwrap().mean_rate(), None));
        let said = Recorded::scan("nowhere/events.csv", None).unwrap_err().to_string();
        assert!(said.contains("cannot read nowhere/events.csv"), "{said}");
    }

    #[test]
    fn a_record_that_repeats_to_the_end_of_time_is_an_error_there() {
        with("1\n", |file| {
            let record = Recorded::scan(file, Some(Seconds(1e7))).unwrap();
            let mut times = record.times();
            assert!(times.next().unwrap().is_ok() && times.next().unwrap().is_ok());
            assert_eq!(times.next(), Some(Err(TimeError::PastEnd.into())));
            assert_eq!(times.next(), None);
        });
    }
}
