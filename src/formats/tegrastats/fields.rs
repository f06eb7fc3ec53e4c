//! The fields of one line, in whatever order a release writes them.

use super::super::stamps::{DateOrder, Picoseconds, calendar};
use super::super::{ReadFault, lines};

/// What a reading is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum What {
    /// Power \[W\].
    Rail,
    /// Share of one.
    Load,
    /// Clock \[Hz\].
    Clock,
    /// Temperature \[degC\].
    Temperature,
}

/// One reading; not a number where the block is off.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Reading {
    pub(super) name: String,
    pub(super) what: What,
    pub(super) value: f64,
}

/// All that is read of a line.
#[derive(Debug, Default)]
pub(super) struct Fields {
    pub(super) stamp: Option<Picoseconds>,
    pub(super) readings: Vec<Reading>,
    /// There were means behind a slash.
    pub(super) means: bool,
    /// There was a sensor that shows a constant.
    pub(super) constant: bool,
}

/// A block without power reads as -256 degC.
const NO_READING: f64 = -256.0;

/// True for a line of tegrastats: `RAM 1/2MB` and the cores of the CPU.
pub(super) fn is_reading(line: &str) -> bool {
    let Some((_, rest)) = line.split_once("RAM ") else { return false };
    let memory = rest.split(' ').next().unwrap_or_default();
    let sizes = memory.strip_suffix("MB").and_then(|sizes| sizes.split_once('/'));
    let whole = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let cores = rest.to_ascii_lowercase().contains("cpu [");
    cores && sizes.is_some_and(|(used, all)| whole(used) && whole(all))
}

impl Fields {
    pub(super) fn of(line: &str) -> Result<Self, ReadFault> {
        let mut fields = Self::default();
        let mut tokens = Tokens::of(line);
        fields.stamp = tokens.stamp()?;
        while let Some(token) = tokens.next() {
            let next = tokens.peek().unwrap_or_default();
            if let Some((name, degrees)) = temperature(token) {
                fields.temperature(name, degrees)?;
            } else if matches!(token, "RAM" | "SWAP" | "IRAM") {
                tokens.next();
            } else if token.eq_ignore_ascii_case("CPU") && next.starts_with('[') {
                tokens.next();
                fields.cores(next)?;
            } else if token == "MTS" {
                for name in ["MTS fg", "MTS bg"] {
                    tokens.next();
                    let share = tokens.next().and_then(|share| share.strip_suffix('%'));
                    if let Some(share) = share {
                        fields.push(name.into(), What::Load, lines::number(share, name)? * 1e-2);
                    }
                }
            } else if let Some((reading, mean)) = rail(token, next)? {
                tokens.next();
                fields.means |= mean;
                if token != "NC" {
                    fields.push(token.into(), What::Rail, reading);
                }
            } else if starts_a_name(token) && fields.engine(token, next)? {
                tokens.next();
            }
        }
        Ok(fields)
    }

    fn push(&mut self, name: String, what: What, value: f64) {
        self.readings.push(Reading { name, what, value });
    }

    fn temperature(&mut self, name: &str, degrees: &str) -> Result<(), ReadFault> {
        if name.eq_ignore_ascii_case("PMIC") {
            self.constant = true;
            return Ok(());
        }
        let degrees = lines::number(degrees, name)?;
        let value = if degrees <= NO_READING { f64::NAN } else { degrees };
        self.push(name.into(), What::Temperature, value);
        Ok(())
    }

    /// `[12%@1190,off,...]`, or on old releases `[12%,off,...]@1190`.
    fn cores(&mut self, text: &str) -> Result<(), ReadFault> {
        let (cores, all) = text.trim_start_matches('[').split_once(']').unwrap_or((text, ""));
        let common = all.strip_prefix('@');
        for (number, core) in cores.split(',').enumerate() {
            let name = format!("CPU{number}");
            let (load, clock) = match core.split_once('@') {
                Some((load, clock)) => (load, Some(clock)),
                None => (core, common),
            };
            let off = load == "off";
            let share = load.strip_suffix('%').unwrap_or(load);
            let share = if off { f64::NAN } else { lines::number(share, &name)? * 1e-2 };
            self.push(name.clone(), What::Load, share);
            if let Some(clock) = clock {
                let hertz = if off { f64::NAN } else { lines::number(clock, &name)? * 1e6 };
                self.push(name, What::Clock, hertz);
            } else if off {
                self.push(name, What::Clock, f64::NAN);
            }
        }
        Ok(())
    }

    /// `99%`, `99%@1300`, `0%@[1300,1300]`, `@[1000,1000]`, `@314`, `729` or `off`; false where the
    /// text is none of them.
    fn engine(&mut self, name: &str, text: &str) -> Result<bool, ReadFault> {
        if text == "off" {
            self.push(name.into(), What::Clock, f64::NAN);
            return Ok(true);
        }
        if !text.starts_with(|c: char| c.is_ascii_digit() || c == '@') {
            return Ok(false);
        }
        let (load, clock) = match text.split_once('@') {
            Some((load, clock)) => (load, Some(clock)),
            None if text.ends_with('%') => (text, None),
            None => ("", Some(text)),
        };
        let share = load.strip_suffix('%');
        if share.is_none() && !load.is_empty() {
            return Ok(false);
        }
        if let Some(share) = share {
            self.push(name.into(), What::Load, lines::number(share, name)? * 1e-2);
        }
        let clocks = clock.unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
        let several = clocks.contains(',');
        for (number, clock) in clocks.split(',').filter(|clock| !clock.is_empty()).enumerate() {
            let name = if several { format!("{name} {number}") } else { name.to_owned() };
            self.push(name, What::Clock, lines::number(clock, text)? * 1e6);
        }
        Ok(true)
    }
}

/// `NAME@38C`, `name@48.4C/48.4C`: the name and the first figure.
fn temperature(token: &str) -> Option<(&str, &str)> {
    let (name, degrees) = token.split_once('@')?;
    let first = degrees.split('/').next()?.strip_suffix('C')?;
    starts_a_name(name).then_some((name, first))
}

fn starts_a_name(token: &str) -> bool {
    token.starts_with(|c: char| c.is_ascii_alphabetic())
}

/// Power of a rail \[W\] and whether means follow it, where `text` is one: figures in milliwatt
/// with the unit, or with a slash between them, or both.
fn rail(name: &str, text: &str) -> Result<Option<(f64, bool)>, ReadFault> {
    let (first, mean) = match text.split_once('/') {
        Some((first, _)) => (first, true),
        None => (text, false),
    };
    let end = first.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(first.len());
    let (figure, unit) = first.split_at(end);
    let is_figure = figure.trim_start_matches('-').starts_with(|c: char| c.is_ascii_digit());
    if !starts_a_name(name) || !is_figure || figure.contains(['%', '@']) {
        return Ok(None);
    }
    match unit {
        "mW" => Ok(Some((lines::number(figure, name)? * 1e-3, mean))),
        "" if mean => Ok(Some((lines::number(figure, name)? * 1e-3, mean))),
        "uW" | "W" | "mA" | "mV" => {
            Err(ReadFault::Unit { column: name.into(), found: unit.into(), expected: "mW" })
        }
        _ => Ok(None),
    }
}

/// The words of a line, without what stands in round brackets.
#[derive(Debug)]
struct Tokens<'a> {
    words: std::iter::Peekable<std::str::SplitWhitespace<'a>>,
}

impl<'a> Tokens<'a> {
    fn of(line: &'a str) -> Self {
        Self { words: line.split_whitespace().peekable() }
    }

    /// The date and time that a line may start with.
    fn stamp(&mut self) -> Result<Option<Picoseconds>, ReadFault> {
        let date = self.words.peek().copied().unwrap_or_default();
        if !date.starts_with(|c: char| c.is_ascii_digit()) {
            return Ok(None);
        }
        self.words.next();
        let time = self.words.next().unwrap_or_default();
        let stamp = calendar(date, time, DateOrder::MonthFirst);
        stamp.map(Some).ok_or_else(|| ReadFault::Value {
            what: "the time stamp".into(),
            found: lines::shown(&format!("{date} {time}")),
            expected: "`MM-DD-YYYY HH:MM:SS`",
        })
    }

    fn next(&mut self) -> Option<&'a str> {
        loop {
            let word = self.words.next()?;
            let Some(at) = word.find('(') else { return Some(word) };
            let mut last = word;
            while !last.contains(')') {
                match self.words.next() {
                    Some(word) => last = word,
                    None => break,
                }
            }
            if at > 0 {
                return word.get(..at);
            }
        }
    }

    fn peek(&mut self) -> Option<&'a str> {
        self.words.peek().copied()
    }
}
