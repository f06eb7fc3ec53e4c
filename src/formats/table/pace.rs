//! Columns into blocks: how long each row holds, where an even clock will do, where time is
//! missing.

use super::rows::{Change, Columns};
use crate::formats::ReadFault;
use crate::formats::line_reading::LineState;
use crate::trace::{Block, ChannelId, Edge, LineId, SampleClock, SampleSink};
use crate::units::{Hertz, SimTime};

/// Samples of a block at most.
const BLOCK: usize = 64 * 1024;
/// Samples in a row that an even clock is worth.
const EVEN: usize = 8;
/// Rows that may share a stamp.
const SHARED: usize = 1 << 16;
/// Rows at the start from which the usual interval is taken.
const LOOKED_AT: usize = 1 << 16;

/// When the rows of a table start.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Pace {
    /// At the beats of a clock.
    Clock(SampleClock),
    /// At their stamps.
    Stamps {
        /// From one row to the next, and from the last to the end.
        usual: SimTime,
        /// True where a wait of more than one and a half of it is a gap.
        gaps: bool,
    },
}

/// Intervals at the start of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Intervals {
    /// The median.
    pub(super) usual: SimTime,
    /// True where 95 of 100 lie within a half of it, so that a longer one is a gap.
    pub(super) regular: bool,
    /// True where rows share a stamp.
    pub(super) shared: bool,
}

impl Intervals {
    /// Of rows at these times, which never run backwards.
    pub(super) fn of(times: &[SimTime]) -> Self {
        let mut times = times.get(..LOOKED_AT).unwrap_or(times).to_vec();
        let last = group_start(&times);
        let shared = spread(&mut times, last);
        times.truncate(last + 1);
        let waits = times.windows(2).filter_map(|pair| match pair {
            [a, b] => Some(b.since(*a)),
            _ => None,
        });
        let mut waits: Vec<SimTime> = waits.collect();
        let middle = waits.len() / 2;
        if waits.is_empty() {
            return Self { shared, ..Self::default() };
        }
        let usual = *waits.select_nth_unstable(middle).1;
        let near = |wait: &SimTime| wait.0.abs_diff(usual.0) <= usual.0 / 2;
        let regular = waits.iter().filter(|wait| near(wait)).count() * 20 >= waits.len() * 19;
        Self { usual, regular, shared }
    }
}

/// Tells a sink the rows of a table.
pub(super) struct Teller<'s> {
    sink: &'s mut dyn SampleSink,
    pace: Pace,
    /// The clock of the last even block.
    clock: Option<SampleClock>,
    /// Rows told at the beats of a clock.
    told: u64,
    lines: Vec<LineState>,
    /// Rows whose end is not known yet: those of the last stamp.
    times: Vec<SimTime>,
    values: Vec<Vec<f64>>,
    changes: Vec<Change>,
}

impl<'s> Teller<'s> {
    pub(super) fn new(
        sink: &'s mut dyn SampleSink,
        pace: Pace,
        (channels, lines): (usize, usize),
    ) -> Self {
        Self {
            sink,
            pace,
            clock: None,
            told: 0,
            lines: vec![LineState::default(); lines],
            times: Vec::new(),
            values: vec![Vec::new(); channels],
            changes: Vec::new(),
        }
    }

    /// Takes the next rows.
    pub(super) fn take(&mut self, columns: &mut Columns) -> Result<(), ReadFault> {
        match self.pace {
            _ if columns.rows == 0 => Ok(()),
            Pace::Clock(clock) => self.on_the_beat(clock, columns),
            Pace::Stamps { usual, gaps } => self.at_stamps(columns, Hold { usual, gaps }),
        }
    }

    /// Tells the last rows and the end.
    pub(super) fn finish(mut self) {
        let end = match self.pace {
            Pace::Clock(clock) => clock.at(self.told),
            Pace::Stamps { usual, gaps } => {
                let last = self.times.last().copied().unwrap_or_default();
                let long = usual.0.saturating_mul(self.times.len() as u64);
                let end = SimTime(last.0.saturating_add(long));
                let mut times = std::mem::take(&mut self.times);
                let values = std::mem::take(&mut self.values);
                times.push(end);
                let rows = times.len() - 1;
                spread(&mut times, rows);
                let changes = std::mem::take(&mut self.changes);
                changes.iter().for_each(|change| self.edge(change, &times));
                let values: Vec<&[f64]> = values.iter().map(Vec::as_slice).collect();
                self.tell(&times, &values, Hold { usual, gaps });
                end
            }
        };
        self.sink.end(end);
    }

    fn on_the_beat(&mut self, clock: SampleClock, columns: &Columns) -> Result<(), ReadFault> {
        let first = self.told;
        self.told = first.saturating_add(columns.rows as u64);
        clock.reaches(self.told).map_err(|_| ReadFault::PastEnd {
            at: (self.told as f64 / clock.rate().0).to_string(),
        })?;
        for change in &columns.changes {
            self.change(change, clock.at(first + change.row as u64));
        }
        for (channel, values) in columns.values.iter().enumerate() {
            let values = values.get(1..).unwrap_or_default();
            for (k, part) in values.chunks(BLOCK).enumerate() {
                let block = Block::even(clock, first + (k * BLOCK) as u64, part);
                self.sink.samples(ChannelId(channel), &block);
            }
        }
        Ok(())
    }

    fn at_stamps(&mut self, columns: &mut Columns, hold: Hold) -> Result<(), ReadFault> {
        let kept = self.times.len();
        let first = columns.times.get(1).copied().unwrap_or_default();
        if let Some(before) = self.times.last().filter(|before| **before > first) {
            let (before, at) = (before.decimal_seconds(), first.decimal_seconds());
            return Err(ReadFault::Backwards { before, at });
        }
        // Rows kept from before take the place in front, which is there for one.
        put_in_front(&mut columns.times, &mut self.times);
        for (values, kept) in columns.values.iter_mut().zip(&mut self.values) {
            put_in_front(values, kept);
        }
        let mut changes = std::mem::take(&mut self.changes);
        changes.extend(columns.changes.iter().map(|c| Change { row: c.row + kept, ..*c }));
        let open = group_start(&columns.times);
        if columns.times.len() - open > SHARED {
            let fault = ReadFault::Value {
                what: format!("the time of {SHARED} rows and more"),
                found: columns.times.get(open).copied().unwrap_or_default().decimal_seconds(),
                expected: "a time that goes on",
            };
            return Err(fault);
        }
        spread(&mut columns.times, open);
        let (told, kept) = changes.split_at(changes.partition_point(|c| c.row < open));
        told.iter().for_each(|change| self.edge(change, &columns.times));
        self.changes = kept.iter().map(|c| Change { row: c.row - open, ..*c }).collect();
        let values: Vec<&[f64]> =
            columns.values.iter().map(|v| v.get(..open).unwrap_or_default()).collect();
        self.tell(columns.times.get(..=open).unwrap_or_default(), &values, hold);
        self.times.extend_from_slice(columns.times.get(open..).unwrap_or_default());
        for (kept, values) in self.values.iter_mut().zip(&columns.values) {
            kept.extend_from_slice(values.get(open..).unwrap_or_default());
        }
        Ok(())
    }

    fn edge(&mut self, change: &Change, times: &[SimTime]) {
        if let Some(at) = times.get(change.row) {
            self.change(change, *at);
        }
    }

    fn change(&mut self, change: &Change, at: SimTime) {
        if let Some(to) = self.lines.get_mut(change.line).and_then(|line| line.take(change.to)) {
            self.sink.edge(Edge { line: LineId(change.line), at, to });
        }
    }

    /// Tells rows, given the times at which they start and that of the row behind them.
    fn tell(&mut self, times: &[SimTime], values: &[&[f64]], hold: Hold) {
        let rows = times.len().saturating_sub(1);
        let mut at = 0;
        while at < rows && !values.is_empty() {
            let (even, closed) = hold.even(times, at, rows);
            let opened = at == 0 || hold.gap_before(times, at);
            let next = if even >= EVEN || (even > 0 && closed && opened) {
                self.tell_even(times, values, at..at + even, hold.usual);
                at + even
            } else {
                let next = hold.uneven(times, at, rows);
                self.tell_each(times, values, at..next, hold);
                next
            };
            at = next;
        }
    }

    fn tell_even(
        &mut self,
        times: &[SimTime],
        values: &[&[f64]],
        rows: std::ops::Range<usize>,
        usual: SimTime,
    ) {
        let Some(start) = times.get(rows.start).copied() else { return };
        let Some((clock, first)) = self.beat(start, rows.len() as u64, usual) else { return };
        for (channel, values) in values.iter().enumerate() {
            let values = values.get(rows.clone()).unwrap_or_default();
            for (k, part) in values.chunks(BLOCK).enumerate() {
                let block = Block::even(clock, first + (k * BLOCK) as u64, part);
                self.sink.samples(ChannelId(channel), &block);
            }
        }
    }

    /// The clock of the blocks before where it beats at `start` and is not off by a picosecond
    /// `rows` later, else one that starts there.
    fn beat(&mut self, start: SimTime, rows: u64, usual: SimTime) -> Option<(SampleClock, u64)> {
        let end = SimTime(start.0.saturating_add(rows.saturating_mul(usual.0)));
        if let Some(clock) = self.clock {
            let first = start.since(clock.start).0 / usual.0.max(1);
            if clock.at(first) == start && clock.at(first.saturating_add(rows)) == end {
                return Some((clock, first));
            }
        }
        self.clock = SampleClock::new(start, Hertz(1e12 / usual.0 as f64));
        self.clock.map(|clock| (clock, 0))
    }

    fn tell_each(
        &mut self,
        times: &[SimTime],
        values: &[&[f64]],
        rows: std::ops::Range<usize>,
        hold: Hold,
    ) {
        for (channel, values) in values.iter().enumerate() {
            let mut from = rows.start;
            while from < rows.end {
                let to = rows.end.min(from + BLOCK);
                let starts = times.get(from..to).unwrap_or_default();
                let part = values.get(from..to).unwrap_or_default();
                let block = Block::each(starts, hold.end(times, to - 1), part);
                self.sink.samples(ChannelId(channel), &block);
                from = to;
            }
        }
    }
}

/// How long a row holds.
#[derive(Debug, Clone, Copy)]
struct Hold {
    usual: SimTime,
    gaps: bool,
}

impl Hold {
    /// When row `at` ends: at the next, or after the usual interval where that comes much later.
    #[inline(always)]
    fn end(self, times: &[SimTime], at: usize) -> SimTime {
        let (start, next) = match times.get(at..) {
            Some([start, next, ..]) => (*start, *next),
            Some([start]) => (*start, *start),
            _ => return SimTime::ZERO,
        };
        let long = self.usual.0.saturating_add(self.usual.0 / 2);
        match self.gaps && next.since(start).0 > long {
            true => SimTime(start.0.saturating_add(self.usual.0)),
            false => next,
        }
    }

    /// True where time is missing between row `at` and the one before.
    fn gap_before(self, times: &[SimTime], at: usize) -> bool {
        times.get(at).is_some_and(|start| *start != self.end(times, at - 1))
    }

    /// How many rows from `at` on hold for exactly the usual interval, without a gap; and whether
    /// a gap or the end is behind them.
    fn even(self, times: &[SimTime], at: usize, rows: usize) -> (usize, bool) {
        if self.usual == SimTime::ZERO {
            return (0, false);
        }
        let rest = times.get(at..=rows).unwrap_or_default();
        let exact = |pair: &&[SimTime]| matches!(pair, [a, b] if b.since(*a) == self.usual);
        let count = rest.windows(2).take_while(exact).count();
        let behind = at + count;
        let start = times.get(behind).copied().unwrap_or_default();
        match behind == rows || self.end(times, behind).since(start) != self.usual {
            true => (count, behind == rows),
            // It is as long as usual only by the gap behind it.
            false => (count + 1, true),
        }
    }

    /// The row behind those from `at` on that an even clock will not do for.
    fn uneven(self, times: &[SimTime], at: usize, rows: usize) -> usize {
        let (mut row, mut streak) = (at, 0);
        while row < rows {
            let start = times.get(row).copied().unwrap_or_default();
            let end = self.end(times, row);
            streak = if end.since(start) == self.usual { streak + 1 } else { 0 };
            row += 1;
            if streak == EVEN && row > at + EVEN {
                return row - EVEN;
            }
            if row < rows && self.gap_before(times, row) {
                return row;
            }
        }
        rows
    }
}

/// The first row of the last stamp.
fn group_start(times: &[SimTime]) -> usize {
    let Some(last) = times.last() else { return 0 };
    times.iter().rposition(|at| at != last).map_or(0, |before| before + 1)
}

/// Rows that share a stamp are spread evenly from it to the next, for all that start before row
/// `open`; true where there were any.
fn spread(times: &mut [SimTime], open: usize) -> bool {
    let told = times.get(..=open).unwrap_or_default();
    if told.windows(2).all(|pair| matches!(pair, [a, b] if a != b)) {
        return false;
    }
    let mut from = 0;
    while from < open {
        let start = times.get(from).copied().unwrap_or_default();
        let behind = times.get(from..).unwrap_or_default();
        let count = behind.iter().take_while(|at| **at == start).count();
        let next = behind.get(count).copied().unwrap_or(start);
        let wait = u128::from(next.since(start).0);
        for (k, at) in times.iter_mut().skip(from).take(count).enumerate() {
            let share = wait * k as u128 / count.max(1) as u128;
            at.0 = start.0.saturating_add(u64::try_from(share).unwrap_or(u64::MAX));
        }
        from += count.max(1);
    }
    true
}

/// Puts what was kept in the place in front of a column, and leaves `kept` empty.
fn put_in_front<T: Copy>(column: &mut Vec<T>, kept: &mut Vec<T>) {
    match (kept.as_slice(), column.first_mut()) {
        ([one], Some(front)) => *front = *one,
        _ => drop(column.splice(0..1, kept.iter().copied())),
    }
    kept.clear();
}
