//! Time as tables write it: a number in a unit, or a date and a time of day.

use super::decimal::{self, Decimal};
use crate::trace::Origin;

/// Picoseconds of a clock that may start anywhere.
pub(in crate::formats) type Picoseconds = i128;

const PER_SECOND: i128 = 1_000_000_000_000;

/// How a column of time is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::formats) enum Stamp {
    /// A number of units of 10^`power` seconds.
    Number {
        /// The power of ten.
        power: i32,
        /// True where the number counts from 1970-01-01 UTC.
        unix: bool,
    },
    /// A date and a time of day after ISO 8601, or a time of day alone.
    Calendar,
}

impl Stamp {
    /// Seconds.
    pub(in crate::formats) const SECONDS: Self = Self::units(0);

    /// Units of 10^`power` seconds of a clock of its own.
    pub(in crate::formats) const fn units(power: i32) -> Self {
        Self::Number { power, unix: false }
    }

    /// The stamp at byte `at` in a plain notation, and the byte behind it.
    #[inline(always)]
    pub(super) fn scan(self, text: &[u8], at: usize, point: u8) -> Option<(Picoseconds, usize)> {
        match self {
            Self::Number { power, .. } => {
                let (number, next) = decimal::scan(text, at, point)?;
                Some((number.integer(power + 12)?, next))
            }
            Self::Calendar => None,
        }
    }

    /// The stamp that a cell holds, in any notation.
    pub(super) fn cell(self, cell: &str, point: u8) -> Option<Picoseconds> {
        match self {
            Self::Number { power, .. } => {
                if let Some((ps, _)) =
                    self.scan(cell.as_bytes(), 0, point).filter(|(_, end)| *end == cell.len())
                {
                    return Some(ps);
                }
                let ps = super::loose::number(cell, point, power + 12)?.round();
                (ps.abs() < 1e36).then_some(ps as i128)
            }
            Self::Calendar => calendar(cell).map(|(ps, _)| ps),
        }
    }

    /// What time zero is where the first stamp is `start`, written as `cell`.
    pub(super) fn origin(self, start: Picoseconds, cell: &str) -> Origin {
        let wall = |utc| match i64::try_from(start.div_euclid(1000)) {
            Ok(unix_ns) => Origin::Wall { unix_ns, utc },
            Err(_) => Origin::OwnClock(seconds(start)),
        };
        match (self, calendar(cell)) {
            (Self::Number { unix: true, .. }, _) => wall(true),
            (Self::Calendar, Some((_, Zone::Utc))) => wall(true),
            (Self::Calendar, Some((_, Zone::Unknown))) => wall(false),
            _ if start == 0 => Origin::FirstSample,
            _ => Origin::OwnClock(seconds(start)),
        }
    }
}

/// As a number of seconds, for what is told.
pub(super) fn seconds(ps: Picoseconds) -> f64 {
    ps as f64 / PER_SECOND as f64
}

/// Which clock a date and time is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::formats) enum Zone {
    /// UTC, or a stated distance from it that was taken off.
    Utc,
    /// Not said.
    Unknown,
    /// A time of day without its date.
    Day,
}

/// `2024-01-31T12:00:00.5Z`, `2024/01/31 12:00:00,5`, `20240131T120000.5Z`, `…+02:00`, or
/// `12:00:00.5` alone, since 1970 or midnight.
pub(in crate::formats) fn calendar(cell: &str) -> Option<(Picoseconds, Zone)> {
    let cell = cell.trim();
    let Some((date, time)) = cell.split_once(['T', ' ']) else {
        let day = time_of_day(cell).filter(|_| cell.contains(':'))?;
        return Some((day, Zone::Day));
    };
    let days = days(date)?;
    let time = time.trim();
    let (time, zone, offset) = match time.strip_suffix(['Z', 'z']) {
        Some(time) => (time, Zone::Utc, 0),
        None => match time.rfind(['+', '-']) {
            Some(at) => (&time[..at], Zone::Utc, minutes_from_utc(&time[at..])?),
            None => (time, Zone::Unknown, 0),
        },
    };
    let seconds = days * 86_400 - offset * 60;
    Some((i128::from(seconds) * PER_SECOND + time_of_day(time.trim_end())?, zone))
}

fn days(date: &str) -> Option<i64> {
    let parts: Vec<&str> = date.split(['-', '/']).collect();
    let (year, month, day) = match parts[..] {
        [year, month, day] if year.len() == 4 => (year, month, day),
        [basic] if basic.len() == 8 && basic.is_ascii() => (&basic[..4], &basic[4..6], &basic[6..]),
        _ => return None,
    };
    let (year, month, day) = (whole(year)?, whole(month)?, whole(day)?);
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    // Days before a month in a year that starts in March, so that the leap day is its last.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leaps = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    Some(365 * year + leaps + (153 * month + 2) / 5 + day - 1 - 719_468)
}

fn time_of_day(time: &str) -> Option<Picoseconds> {
    let basic = time.as_bytes();
    let (hour, minute, second) = if basic.get(2) == Some(&b':') {
        let (hour, rest) = time.split_once(':')?;
        let (minute, second) = rest.split_once(':')?;
        (hour, minute, second)
    } else if basic.len() >= 6 && time.is_ascii() {
        (&time[..2], &time[2..4], &time[4..])
    } else {
        return None;
    };
    // A comma, and a third colon before the fraction, are seen too.
    let second = second.replacen([',', ':'], ".", 1);
    let (Decimal { negative: false, mantissa, exponent }, end) =
        decimal::scan(second.as_bytes(), 0, b'.')?
    else {
        return None;
    };
    let (hour, minute) = (whole(hour)?, whole(minute)?);
    let second_ps = Decimal { negative: false, mantissa, exponent }.integer(12)?;
    let fits = end == second.len() && hour < 25 && minute < 60 && second_ps < 61 * PER_SECOND;
    fits.then_some(i128::from(hour * 3600 + minute * 60) * PER_SECOND + second_ps)
}

fn minutes_from_utc(text: &str) -> Option<i64> {
    let sign = if text.starts_with('-') { -1 } else { 1 };
    let digits = text.get(1..)?.replace(':', "");
    let (hours, minutes) = match digits.len() {
        2 => (digits.as_str(), "0"),
        4 => (digits.get(..2)?, digits.get(2..)?),
        _ => return None,
    };
    Some(sign * (whole(hours)? * 60 + whole(minutes)?))
}

fn whole(text: &str) -> Option<i64> {
    let digits = (1..=4).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    digits.then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_of_several_notations_are_one_instant() {
        let noon = 1_706_702_400_500_000_000_000;
        let forms = [
            ("2024-01-31T12:00:00.5Z", Zone::Utc),
            ("20240131T120000.5Z", Zone::Utc),
            ("2024-01-31 13:00:00.5+01:00", Zone::Utc),
            ("2024-01-31T06:30:00.5-0530", Zone::Utc),
            ("2024/01/31 12:00:00,500", Zone::Unknown),
            ("2024-01-31 12:00:00:500", Zone::Unknown),
        ];
        for (text, zone) in forms {
            assert_eq!(calendar(text), Some((noon, zone)), "{text}");
        }
        assert_eq!(calendar("00:01:00.25"), Some((60_250_000_000_000, Zone::Day)));
        assert_eq!(calendar("1970-01-01T00:00:00Z"), Some((0, Zone::Utc)));
        assert_eq!(calendar("2000-03-01T00:00:00Z").map(|c| c.0 / PER_SECOND), Some(951_868_800));
    }

    #[test]
    fn what_is_no_date_is_none() {
        for text in
            ["", "12", "T", "2024-13-01T00:00:00", "31.01.2024 12:00:00", "a:b:c", "é2:00:00"]
        {
            assert_eq!(calendar(text), None, "{text}");
        }
    }
}
