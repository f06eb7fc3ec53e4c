//! The engine of every table of numbers: rows of cells between delimiters, however large the file.
//!
//! A reader looks at the [`head`], says what each column is ([`Table`]), and [`stream`] does the
//! rest: the file is cut at line ends into pieces, threads turn these into columns, and the columns
//! go to the sink in the order of the file, so that the outcome does not depend on how many threads
//! there are. Memory is bounded by a few pieces.
//!
//! Times are exact picoseconds. Rows that are exactly as far apart as usual get an even clock, others
//! a time each; each holds to the next, the last for the usual interval. A wait of more than one and
//! a half of the usual interval is a gap, where the start of the table is regular. Rows of one stamp
//! are spread evenly to the next stamp.

mod chunks;
mod decimal;
pub(super) mod head;
mod loose;
mod pace;
mod rows;
mod stamp;

pub(super) use rows::{Cell, Rows};
pub(super) use stamp::{Stamp, Zone, calendar};

use super::{FormatError, Input, Options, Place, ReadFault};
use crate::trace::{ChannelKind, Layout, Origin, SampleClock, SampleSink};
use crate::units::{Hertz, Seconds, SimTime};
use chunks::{Piece, Pieces};
use head::Body;
use pace::{Intervals, Pace, Teller};

/// Bytes that a thread reads at once: text and columns of a piece stay near the core.
const PIECE: usize = 1 << 18;
/// More threads wait for the one that reads the file.
const THREADS: usize = 8;

/// What a reader says of a table whose columns it knows.
#[derive(Debug, Clone)]
pub(super) struct Table {
    /// What to make of a row.
    pub(super) rows: Rows,
    /// What is known before the rows; where it starts is found here.
    pub(super) layout: Layout,
    /// Where the rows are.
    pub(super) body: Body,
    /// When they start.
    pub(super) timing: Timing,
}

/// When the rows of a table start.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Timing {
    /// At the beats of a clock of this rate; stamps are skipped.
    Rate(Hertz),
    /// At their stamps.
    Stamps {
        /// True where a wait of more than one and a half of the usual interval is a gap, false where
        /// a row holds however long; told by the first rows where this is not known.
        gaps: Option<bool>,
    },
    /// One interval before their stamps: each is of the time before it.
    StampsAtEnds,
    /// At their stamps, which only stand where something changes.
    Changes,
}

/// Reads the rows of a table into a sink, on as many threads as the machine has.
pub(super) fn stream(
    input: &mut Input<'_>,
    table: Table,
    options: &Options,
    sink: &mut dyn SampleSink,
) -> Result<(), FormatError> {
    let threads = std::thread::available_parallelism().map_or(2, |n| n.get().clamp(2, THREADS));
    stream_on(input, table, options, sink, (threads, PIECE))
}

fn stream_on(
    input: &mut Input<'_>,
    table: Table,
    options: &Options,
    sink: &mut dyn SampleSink,
    (threads, size): (usize, usize),
) -> Result<(), FormatError> {
    let Table { mut rows, mut layout, body, timing } = table;
    if matches!(timing, Timing::Rate(_)) {
        rows.skip_stamps();
    }
    let name = input.name.clone();
    let fault = |line, fault| FormatError::Unreadable { file: name.clone(), place: line, fault };
    if body.dropped {
        layout.remarks.push("the last line has no end and is left out".into());
    }
    let mut pieces = Pieces::new(input, (body.offset, body.end), body.line, size)?;
    let mut piece = Piece::default();
    if !pieces.next(&mut piece)? {
        return Err(fault(Place::Whole, ReadFault::NoSamples));
    }
    let first = rows.timed().then(|| rows.first_stamp(piece.text())).flatten();
    rows.start = first.as_ref().map_or(0, |(start, _)| *start);
    piece.read(&rows);
    if piece.columns().rows == 0 && piece.columns().fault.is_none() {
        return Err(fault(Place::Whole, ReadFault::NoSamples));
    }
    let intervals = match rows.timed() {
        true => Intervals::of(piece.columns().times.get(1..).unwrap_or_default()),
        false => Intervals::default(),
    };
    let pace = pace(timing, intervals, options, &mut layout)
        .map_err(|wrong| fault(Place::Whole, wrong))?;
    layout.origin = origin(&rows, timing, first, intervals.usual);
    let volts = layout.channels.iter().any(|channel| channel.kind == ChannelKind::Voltage);
    if !volts && layout.supply.is_none() {
        layout.supply = options.voltage;
    }
    sink.begin(&layout);
    let mut teller = Teller::new(sink, pace, (rows.channels(), rows.lines()));
    pieces.take(&mut piece, &mut |columns| teller.take(columns))?;
    drop(piece);
    pieces.each(&rows, threads, &mut |columns| teller.take(columns))?;
    teller.finish();
    Ok(())
}

/// How long rows hold, with what a user should know of it.
fn pace(
    timing: Timing,
    intervals: Intervals,
    options: &Options,
    layout: &mut Layout,
) -> Result<Pace, ReadFault> {
    let rate = match timing {
        Timing::Rate(rate) => rate,
        Timing::Changes => return Ok(Pace::Stamps { usual: SimTime::ZERO, gaps: false }),
        Timing::Stamps { .. } | Timing::StampsAtEnds => {
            let alone = options.rate.filter(|_| intervals.usual == SimTime::ZERO);
            let usual = alone.and_then(|rate| SimTime::from_seconds(Seconds(1.0 / rate.0)).ok());
            let usual = usual.unwrap_or(intervals.usual);
            if usual == SimTime::ZERO {
                layout.remarks.push("how long the last row holds is not known".into());
            }
            if intervals.shared {
                let remark = "rows that share a time stamp are spread evenly to the next stamp";
                layout.remarks.push(remark.into());
            }
            let gaps = match timing {
                Timing::Stamps { gaps } => gaps.unwrap_or(intervals.regular),
                _ => true,
            };
            return Ok(Pace::Stamps { usual, gaps });
        }
    };
    let clock = SampleClock::new(SimTime::ZERO, rate).ok_or_else(|| ReadFault::Value {
        what: "the sample rate".into(),
        found: format!("{} Hz", rate.0),
        expected: "a rate above zero and up to 1 THz",
    })?;
    Ok(Pace::Clock(clock))
}

fn origin(
    rows: &Rows,
    timing: Timing,
    first: Option<(stamp::Picoseconds, String)>,
    usual: SimTime,
) -> Origin {
    let Some((start, cell)) = first else { return Origin::FirstSample };
    let before = if timing == Timing::StampsAtEnds { i128::from(usual.0) } else { 0 };
    rows.stamp.origin(start - before, &cell)
}

/// The rate that the user gave, for a table without time.
pub(super) fn given_rate(input: &Input<'_>, options: &Options) -> Result<Timing, FormatError> {
    let needs = || {
        let fault = ReadFault::Needs {
            what: "the sample rate of a table without a column of time",
            option: "--rate HZ",
        };
        input.fault(Place::Whole, fault)
    };
    options.rate.map(Timing::Rate).ok_or_else(needs)
}

#[cfg(test)]
mod tests;
