//! Picoseconds as decimal seconds, without a detour over binary fractions.

use crate::units::SimTime;

const PS_PER_S: u64 = 1_000_000_000_000;
const DECIMALS: usize = 12;

/// Seconds with twelve decimals.
pub(super) fn to_text(time: SimTime) -> String {
    time.decimal_seconds()
}

/// The time a text stands for: digits, then at most twelve decimals.
pub(super) fn from_text(text: &str) -> Option<SimTime> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
    let digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
    if whole.is_empty() || decimals.len() > DECIMALS || !digits(whole) || !digits(decimals) {
        return None;
    }
    let seconds: u64 = whole.parse().ok()?;
    let fraction: u64 = format!("{decimals:0<DECIMALS$}").parse().ok()?;
    seconds.checked_mul(PS_PER_S)?.checked_add(fraction).map(SimTime)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_picosecond_survives() {
        for ps in [0, 1, 999_999_999_999, 1_000_000_000_000, u64::MAX] {
            assert_eq!(from_text(&to_text(SimTime(ps))), Some(SimTime(ps)), "{ps}");
        }
        assert_eq!(to_text(SimTime(1_500_000_000_001)), "1.500000000001");
        assert_eq!(from_text("2"), Some(SimTime(2 * PS_PER_S)));
        assert_eq!(from_text("2.5"), Some(SimTime(2_500_000_000_000)));
    }

    #[test]
    fn what_is_no_time_is_refused() {
        for text in ["", ".5", "-1", "+1", "1e-3", "1.0000000000001", "18446745", "1.2.3", "nan"] {
            assert_eq!(from_text(text), None, "{text}");
        }
    }
}
