//! Logs of a host in any words: lines of text that begin with a time.
//!
//! The time is a number of seconds, a date with a time of day after ISO 8601, as most loggers write it,
//! or a time of day alone; brackets about it are taken off. What follows is what was said. Lines
//! without a time go on from the one before and are left out. Threads may write out of order, so that
//! lines are put in the order of their times.

use super::stamps::{Picoseconds, SECOND, decimal, in_seconds, since, unix_ns};
use super::table::{Zone, calendar};
use super::{Format, FormatError, Head, Input, Place, ReadFault, Shape, lines};
use crate::trace::{Layout, Mark, Origin, SampleSink, Teller};
use crate::units::SimTime;

pub(super) const FORMAT: Format = Format {
    name: "host-log",
    title: "log of a host: lines of text that begin with a time",
    shape: Shape::File { recognises, read: |input, _, sink| read(input, sink) },
};

/// Every line is kept; a log that an experiment goes with is far smaller.
const LARGEST: u64 = 64 << 20;
/// Lines at the start that have to begin with a time.
const LOOKED_AT: usize = 8;
const DAY: Picoseconds = 86_400 * SECOND;
/// A clock that counts from a start is below this; one that counts from 1970 is not.
const YEAR: Picoseconds = 365 * DAY;

/// What a time is counted from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Clock {
    Seconds,
    Date { utc: bool },
    TimeOfDay,
}

/// A time, and what was said then.
struct Said<'t> {
    at: Picoseconds,
    clock: Clock,
    text: &'t str,
}

fn recognises(head: &Head) -> bool {
    let mut first = head.lines().filter(|line| !line.trim().is_empty()).take(LOOKED_AT).peekable();
    // What is indented may go on from the line before.
    let fits = |line: &str| said(line).is_some() || line.starts_with([' ', '\t']);
    first.peek().is_some_and(|line| said(line).is_some()) && first.all(fits)
}

fn said(line: &str) -> Option<Said<'_>> {
    let line = line.trim();
    let of = |stamp: &str, text| {
        let (at, clock) = time(stamp.trim_end_matches([':', ',']))?;
        Some(Said { at, clock, text })
    };
    let said = match line.strip_prefix('[') {
        Some(inner) => inner.split_once(']').and_then(|(stamp, text)| of(stamp.trim(), text)),
        None => {
            let mut blanks = line.match_indices([' ', '\t']).map(|(at, _)| at);
            let (first, second) = (blanks.next(), blanks.next());
            // A date and a time of day are two words.
            [second, first].into_iter().flatten().find_map(|end| {
                let (stamp, text) = line.split_at_checked(end)?;
                of(stamp, text)
            })
        }
    }?;
    let text = said.text.trim_start_matches([' ', '\t', ':', '-', '|']);
    text.contains(char::is_alphabetic).then_some(Said { text, ..said })
}

fn time(stamp: &str) -> Option<(Picoseconds, Clock)> {
    if let Some((at, zone)) = calendar(stamp) {
        let clock = match zone {
            Zone::Utc => Clock::Date { utc: true },
            Zone::Unknown => Clock::Date { utc: false },
            Zone::Day => Clock::TimeOfDay,
        };
        return Some((at, clock));
    }
    // A whole number may be anything.
    let at = stamp.contains('.').then(|| decimal(stamp, 0))??;
    (at >= 0).then_some((at, Clock::Seconds))
}

/// The lines that begin with a time.
#[derive(Debug, Default)]
struct Log {
    clock: Option<Clock>,
    lines: Vec<(Picoseconds, String)>,
    others: u64,
    cut: bool,
}

fn read(input: &mut Input<'_>, sink: &mut dyn SampleSink) -> Result<(), FormatError> {
    if input.size > LARGEST {
        let fault = ReadFault::Size { what: "the log", size: input.size, limit: LARGEST };
        return Err(input.fault(Place::Whole, fault));
    }
    let mut log = Log::default();
    let mut days = 0;
    lines::each(input, |line| {
        let blank = line.text.trim().is_empty();
        let said =
            said(line.text).filter(|said| *log.clock.get_or_insert(said.clock) == said.clock);
        match said {
            _ if !line.whole => log.cut = !blank,
            Some(mut said) => {
                // Midnight is a step back by most of a day.
                let before = log.lines.last().map(|(before, _)| *before);
                let midnight = said.clock == Clock::TimeOfDay
                    && before.is_some_and(|before| said.at + days * DAY + DAY / 2 < before);
                days += Picoseconds::from(midnight);
                said.at += days * DAY;
                log.lines.push((said.at, said.text.to_owned()));
            }
            None => log.others += u64::from(!blank),
        }
        Ok(())
    })?;
    log.lines.sort_by_key(|(at, _)| *at);
    let (Some(clock), Some((first, _))) = (log.clock, log.lines.first()) else {
        let what = "a line that begins with a time".into();
        return Err(input.fault(Place::Whole, ReadFault::Missing { what }));
    };
    let zero = if clock == Clock::Seconds && *first < YEAR / 2 { 0 } else { *first };
    let layout = layout(&log, clock, zero);
    let past = |at| input.fault(Place::Whole, ReadFault::PastEnd { at: in_seconds(at - zero) });
    let mut marks = Vec::with_capacity(log.lines.len());
    for (at, name) in log.lines {
        let when = since(zero, at).map_err(|_| past(at))?;
        marks.push(Mark { teller: Teller::Host, at: when, track: "log".into(), name });
    }
    sink.begin(&layout);
    marks.into_iter().for_each(|mark| sink.mark(mark));
    sink.end(SimTime::ZERO);
    Ok(())
}

fn layout(log: &Log, clock: Clock, zero: Picoseconds) -> Layout {
    let origin = match clock {
        Clock::Date { utc } => Origin::Wall { unix_ns: unix_ns(zero), utc },
        Clock::Seconds | Clock::TimeOfDay => Origin::OwnClock(zero as f64 * 1e-12),
    };
    let mut layout = Layout { format: FORMAT.name.into(), origin, ..Layout::default() };
    match log.others {
        0 => {}
        1 => layout.remarks.push("one line begins with no time and is left out".into()),
        more => layout.remarks.push(format!("{more} lines begin with no time and are left out")),
    }
    if log.cut {
        layout.remarks.push(lines::CUT.into());
    }
    layout
}

#[cfg(test)]
mod tests {
    use super::super::log_tests::{
        changes_do_not_panic, cuts_are_honest, fault, name_of, read_text, says,
    };
    use super::*;
    use crate::formats::Options;

    fn told(text: &str) -> Vec<(f64, String)> {
        let readings = read_text(&FORMAT, text).unwrap();
        assert!(readings.marks.iter().all(|mark| mark.teller == Teller::Host));
        readings.marks.into_iter().map(|mark| (mark.at.seconds().0, mark.name)).collect()
    }

    #[test]
    fn times_of_many_loggers_are_taken_and_the_rest_is_what_was_said() {
        for text in [
            "12.5 begin 10\n14.0 end\n",
            "[   12.500] begin 10\n[   14.000] end\n",
            "00012.500: begin 10\n00014.000: end\n",
        ] {
            assert_eq!(told(text), [(12.5, "begin 10".into()), (14.0, "end".into())], "{text}");
        }
        for text in [
            "2026-01-02T10:00:00.5Z begin 10\n2026-01-02T10:00:02Z end\n",
            "2026-01-02 10:00:00,500 - begin 10\n2026-01-02 10:00:02,000 - end\n",
            "[2026-01-02 10:00:00.500] begin 10\n[2026-01-02 10:00:02.000] end\n",
            "23:59:59.5 begin 10\n00:00:01.0 end\n",
            "1767348000.5\tbegin 10\n1767348002.0\tend\n",
        ] {
            assert_eq!(told(text), [(0.0, "begin 10".into()), (1.5, "end".into())], "{text}");
            assert_eq!(name_of(text), Some("host-log"), "{text}");
        }
    }

    #[test]
    fn lines_are_in_the_order_of_their_times_and_others_are_said() {
        let text = "1.5 b\n  a traceback\n1.0 a\n2026-01-02T10:00:00 c\n2.0 cu";
        assert_eq!(told(text), [(1.0, "a".into()), (1.5, "b".into())]);
        let readings = read_text(&FORMAT, text).unwrap();
        assert!(says(&readings, "2 lines begin with no time") && says(&readings, "the last line"));
        assert_eq!(told("1.0 a\n2.0 b\n").len(), 2);
    }

    #[test]
    fn what_is_no_log_is_one_error() {
        assert!(fault(&FORMAT, "").contains("empty"));
        assert!(fault(&FORMAT, "hello\n").contains("a line that begins with a time"));
        assert!(fault(&FORMAT, "0.5 a\n99999999999.0 b\n").contains("213 days"));
        for text in ["hello world\n", "1 little pig\n2 little pigs\n", "0.1 0.2\n0.3 0.4\n", "\n"] {
            assert_eq!(name_of(text), None, "{text}");
        }
        let text = "[1.5] begin 10\n2.5 end\n";
        changes_do_not_panic(&FORMAT, text, &Options::default());
        cuts_are_honest(&FORMAT, "1.5 begin\n2.5 end\n", &Options::default());
    }
}
