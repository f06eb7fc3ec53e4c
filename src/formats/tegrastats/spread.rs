//! Times of rows from stamps of whole seconds, or from a rate.
//!
//! The lines of one second are spread evenly from its start to the next stamp. Those of the first
//! second end at the next one, at the usual interval, for the log need not start with the second.

use super::super::ReadFault;
use super::super::feed::{Pace, is_gap, later};
use super::super::stamps::{Forward, Picoseconds, SECOND};
use crate::units::SimTime;

/// Lines that can share one stamp: beyond, the clock stands still.
const MOST_SHARED: usize = 4096;

/// What a first pass finds of the stamps.
#[derive(Debug, Default)]
pub(super) struct Survey {
    forward: Forward,
    pace: Pace,
    current: Option<(Picoseconds, u64)>,
    first: Option<(Picoseconds, u64, Picoseconds)>,
    most: u64,
}

impl Survey {
    pub(super) fn take(&mut self, stamp: Picoseconds) -> Result<(), ReadFault> {
        self.forward.take(stamp)?;
        match &mut self.current {
            Some((at, lines)) if *at == stamp => *lines += 1,
            Some((at, lines)) => {
                let seconds = u64::try_from(stamp - *at).unwrap_or(u64::MAX);
                self.pace.interval(seconds / *lines);
                self.first.get_or_insert((*at, *lines, stamp));
                (*at, *lines) = (stamp, 1);
            }
            None => self.current = Some((stamp, 1)),
        }
        self.most = self.most.max(self.current.map_or(0, |(_, lines)| lines));
        if self.most > MOST_SHARED as u64 {
            return Err(ReadFault::Value {
                what: "the number of lines with one stamp".into(),
                found: self.most.to_string(),
                expected: "at most 4096: does the clock stand still?",
            });
        }
        Ok(())
    }

    /// The first stamp.
    pub(super) fn first(&self) -> Option<Picoseconds> {
        self.forward.first()
    }

    /// True where lines share a stamp.
    pub(super) fn shared(&self) -> bool {
        self.most > 1
    }

    /// The spread of the rows, and the stamp of the first row.
    pub(super) fn spread(&self) -> (Spread, Picoseconds) {
        let first = self.first().unwrap_or_default();
        let alone = SECOND as u64 / self.most.max(1);
        let usual = self.pace.usual().unwrap_or(SimTime(alone));
        let zero = match self.first {
            Some((at, lines, next)) if lines > 1 => {
                at.max(next - i128::from(usual.0) * i128::from(lines))
            }
            _ => first,
        };
        let spread =
            Spread { usual, zero, even: false, rows: 0, second: None, waiting: Vec::new() };
        (spread, zero)
    }
}

/// Gives each row its time.
#[derive(Debug)]
pub(super) struct Spread {
    usual: SimTime,
    zero: Picoseconds,
    even: bool,
    rows: u64,
    second: Option<Picoseconds>,
    waiting: Vec<Vec<f64>>,
}

impl Spread {
    /// Rows `period` apart.
    pub(super) fn even(period: SimTime) -> Self {
        Self { usual: period, zero: 0, even: true, rows: 0, second: None, waiting: Vec::new() }
    }

    /// The usual time from row to row.
    pub(super) fn usual(&self) -> SimTime {
        self.usual
    }

    /// Takes in a row, and hands on those whose time is known by it.
    pub(super) fn row(
        &mut self,
        stamp: Option<Picoseconds>,
        row: Vec<f64>,
        give: &mut dyn FnMut(SimTime, &[f64]),
    ) {
        let stamp = match stamp {
            Some(stamp) if !self.even => stamp,
            _ => {
                give(SimTime(self.usual.0.saturating_mul(self.rows)), &row);
                self.rows += 1;
                return;
            }
        };
        if self.second.is_some_and(|second| second != stamp) {
            self.hand_on(Some(stamp), give);
        }
        self.second = Some(stamp);
        self.waiting.push(row);
    }

    /// Hands on the rows of the last second.
    pub(super) fn finish(&mut self, give: &mut dyn FnMut(SimTime, &[f64])) {
        self.hand_on(None, give);
    }

    fn hand_on(&mut self, next: Option<Picoseconds>, give: &mut dyn FnMut(SimTime, &[f64])) {
        let Some(second) = self.second else { return };
        let time = |stamp: Picoseconds| {
            SimTime(u64::try_from((stamp - self.zero).max(0)).unwrap_or(u64::MAX))
        };
        let start = time(second);
        let lines = self.waiting.len() as u64;
        let step = match next.map(time) {
            Some(next) if !is_gap(start, next, SimTime(self.usual.0.max(SECOND as u64))) => {
                SimTime(next.since(start).0 / lines.max(1))
            }
            _ => self.usual,
        };
        let mut at = start;
        for row in self.waiting.drain(..) {
            give(at, &row);
            at = later(at, step);
        }
    }
}
