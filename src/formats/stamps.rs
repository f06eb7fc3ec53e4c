//! Time stamps of logs: exact decimals and calendar dates, as picoseconds of the log's own clock.

use super::ReadFault;
use crate::units::SimTime;

/// Picoseconds of a clock with a zero of its own; wide enough for any date.
pub(crate) type Picoseconds = i128;

/// One second.
pub(super) const SECOND: Picoseconds = 1_000_000_000_000;

const PS_DIGITS: i32 = 12;
/// Digits that a stamp can have.
const LONGEST: usize = 24;

/// A decimal number of 10^`power` seconds, without a detour over binary fractions.
pub(crate) fn decimal(text: &str, power: i32) -> Option<Picoseconds> {
    let text = text.trim();
    let (text, exponent) = match text.split_once(['e', 'E']) {
        Some((digits, exponent)) => (digits, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let (negative, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = whole.len() + fraction.len();
    let all_digits = whole.bytes().chain(fraction.bytes()).all(|byte| byte.is_ascii_digit());
    if digits == 0 || digits > LONGEST || !all_digits || exponent.unsigned_abs() > 30 {
        return None;
    }
    let mantissa: i128 = format!("{whole}{fraction}").parse().ok()?;
    let shift = PS_DIGITS + power + exponent - fraction.len() as i32;
    let scale = 10i128.checked_pow(shift.unsigned_abs())?;
    let value = match shift >= 0 {
        true => mantissa.checked_mul(scale)?,
        false => mantissa.checked_add(scale / 2)? / scale,
    };
    Some(if negative { -value } else { value })
}

/// In which order a date stands, and by what its parts are joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DateOrder {
    /// `MM-DD-YYYY`.
    MonthFirst,
    /// `YYYY/MM/DD`.
    YearFirst,
}

/// Picoseconds from 1970-01-01 00:00:00 of the log's own zone to `date` and `time`
/// (`HH:MM:SS` with any decimals).
pub(super) fn calendar(date: &str, time: &str, order: DateOrder) -> Option<Picoseconds> {
    let joint = if order == DateOrder::MonthFirst { '-' } else { '/' };
    let parts = split(date, joint)?;
    let [year, month, day] = match order {
        DateOrder::MonthFirst => [parts[2], parts[0], parts[1]],
        DateOrder::YearFirst => parts,
    };
    let (year, month, day) = (whole(year, 4)?, whole(month, 2)?, whole(day, 2)?);
    let [hours, minutes, seconds] = split(time, ':')?;
    let (hours, minutes) = (whole(hours, 2)?, whole(minutes, 2)?);
    let seconds = (!seconds.starts_with(['-', '+'])).then(|| decimal(seconds, 0))??;
    let in_range = (1970..=9999).contains(&year)
        && (1..=12).contains(&month)
        && (1..=31).contains(&day)
        && hours < 24
        && minutes < 60
        && seconds < 61 * SECOND;
    in_range.then(|| {
        let minutes = (days_since_1970(year, month, day) * 24 + hours) * 60 + minutes;
        i128::from(minutes) * 60 * SECOND + seconds
    })
}

fn split(text: &str, joint: char) -> Option<[&str; 3]> {
    let mut parts = text.trim().splitn(3, joint);
    Some([parts.next()?, parts.next()?, parts.next()?])
}

fn whole(text: &str, longest: usize) -> Option<i64> {
    let digits = (1..=longest).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    digits.then(|| text.parse().ok())?
}

/// Days of the Gregorian calendar, counted from a year that starts in March so that the leap day
/// is the last.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    const TO_1970: i64 = 719_468;
    let year = if month < 3 { year - 1 } else { year };
    let from_march = (month + 9) % 12;
    let leap_days = year / 4 - year / 100 + year / 400;
    year * 365 + leap_days + (153 * from_march + 2) / 5 + day - 1 - TO_1970
}

/// Nanoseconds since 1970, for [`Origin::Wall`](crate::trace::Origin).
pub(super) fn unix_ns(stamp: Picoseconds) -> i64 {
    i64::try_from(stamp / 1000).unwrap_or(i64::MAX)
}

/// Seconds of a stamp, for messages.
pub(super) fn in_seconds(stamp: Picoseconds) -> String {
    let sign = if stamp < 0 { "-" } else { "" };
    let stamp = stamp.unsigned_abs();
    let second = SECOND.unsigned_abs();
    let text = format!("{sign}{}.{:012}", stamp / second, stamp % second);
    text.trim_end_matches('0').trim_end_matches('.').into()
}

/// The time of a trace at a stamp, with zero at another.
pub(super) fn since(zero: Picoseconds, stamp: Picoseconds) -> Result<SimTime, ReadFault> {
    let elapsed = stamp.checked_sub(zero);
    let elapsed = elapsed.and_then(|elapsed| u64::try_from(elapsed).ok());
    elapsed.map(SimTime).ok_or_else(|| ReadFault::PastEnd { at: in_seconds(stamp - zero) })
}

/// Sees to it that stamps do not run backwards.
#[derive(Debug, Default)]
pub(super) struct Forward {
    ends: Option<(Picoseconds, Picoseconds)>,
    /// Stamps equal to the one before.
    pub(super) equal: u64,
}

impl Forward {
    /// Takes in the next stamp.
    pub(super) fn take(&mut self, stamp: Picoseconds) -> Result<(), ReadFault> {
        let (first, before) = *self.ends.get_or_insert((stamp, stamp - 1));
        if stamp < before {
            let before = in_seconds(before - first);
            return Err(ReadFault::Backwards { before, at: in_seconds(stamp - first) });
        }
        self.equal += u64::from(stamp == before);
        self.ends = Some((first, stamp));
        since(first, stamp).map(|_| ())
    }

    /// The first stamp.
    pub(super) fn first(&self) -> Option<Picoseconds> {
        self.ends.map(|(first, _)| first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_decimal_is_exact() {
        assert_eq!(decimal("1638271234.123456789", 0), Some(1_638_271_234_123_456_789_000));
        assert_eq!(decimal("16", -3), Some(16_000_000_000));
        assert_eq!(decimal("-0.5", -9), Some(-500));
        assert_eq!(decimal("1.5e3", -6), Some(1_500_000_000));
        assert_eq!(decimal("0.0000000000005", 0), Some(1));
        for text in ["", ".", "-", "1,5", "1.2.3", "0x1", "nan", "1e99", "1e-99", "--1"] {
            assert_eq!(decimal(text, 0), None, "{text}");
        }
        assert_eq!(decimal(&"9".repeat(25), 0), None);
    }

    #[test]
    fn dates_are_days_of_the_calendar() {
        let day = 86_400 * SECOND;
        let date = |text| calendar(text, "00:00:00", DateOrder::YearFirst);
        assert_eq!(date("1970/01/01"), Some(0));
        assert_eq!(date("2000/03/01").unwrap() - date("2000/02/28").unwrap(), 2 * day);
        assert_eq!(date("2100/03/01").unwrap() - date("2100/02/28").unwrap(), day);
        // `date -u -d 2024-07-12T23:12:57 +%s`
        let stamp = calendar("07-12-2024", "23:12:57.304", DateOrder::MonthFirst).unwrap();
        assert_eq!(unix_ns(stamp), 1_720_825_977_304_000_000);
    }

    #[test]
    fn what_is_no_date_is_none() {
        for (date, time) in [
            ("13-01-2024", "00:00:00"),
            ("01-32-2024", "00:00:00"),
            ("2024-01-01", "00:00:00"),
            ("01-01-2024", "24:00:00"),
            ("01-01-2024", "00:00"),
            ("01-01-2024", "00:00:-1"),
            ("01-01-1969", "00:00:00"),
            ("", ""),
        ] {
            assert_eq!(calendar(date, time, DateOrder::MonthFirst), None, "{date} {time}");
        }
    }

    #[test]
    fn time_goes_forward() {
        let mut forward = Forward::default();
        for stamp in [5 * SECOND, 5 * SECOND, 7 * SECOND] {
            forward.take(stamp).unwrap();
        }
        assert_eq!(forward.equal, 1);
        let error = forward.take(6 * SECOND).unwrap_err().to_string();
        assert_eq!(error, "time runs backwards: 1 s after 2 s");
        assert!(forward.take(5 * SECOND).is_err());
        assert!(since(0, SECOND * 30_000_000).unwrap_err().to_string().contains("213 days"));
    }

    proptest! {
        #[test]
        fn a_written_decimal_is_read_back(ps in -1_000_000_000_000_000_000i128..1_000_000_000_000_000_000) {
            prop_assert_eq!(decimal(&in_seconds(ps), 0), Some(ps));
        }
    }
}
