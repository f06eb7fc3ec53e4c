//! Integer simulation time: unsigned picoseconds.
//!
//! 2^64 ps are 213 days. Integers make ties exact and order independent of rounding; a duration
//! from a number of cycles is rounded once, from the start of its own task, so that rounded
//! periods never add up.

use super::Seconds;
use serde::{Deserialize, Serialize};
use std::fmt;

/// An instant, or a duration, in picoseconds.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct SimTime(pub u64);

/// A time that does not exist in a run.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum TimeError {
    /// Past the end of the 64-bit range.
    #[error("the run would pass 213 days, the end of picosecond time")]
    PastEnd,
    /// Not a number, or below zero.
    #[error("{0} s is not a duration")]
    NotADuration(f64),
}

const PS_PER_S: f64 = 1e12;

impl SimTime {
    /// The start of a run.
    pub const ZERO: Self = Self(0);
    /// Picoseconds in a second.
    pub const TICKS_PER_SECOND: f64 = PS_PER_S;

    /// Seconds with twelve decimals, without a detour over binary fractions.
    pub fn decimal_seconds(self) -> String {
        const PS_PER_S: u64 = 1_000_000_000_000;
        format!("{}.{:012}", self.0 / PS_PER_S, self.0 % PS_PER_S)
    }

    /// Later by `duration`; an error past the end of time.
    #[inline]
    pub fn after(self, duration: Self) -> Result<Self, TimeError> {
        self.0.checked_add(duration.0).map(Self).ok_or(TimeError::PastEnd)
    }

    /// `count` times as long; an error past the end of time.
    pub fn times(self, count: u64) -> Result<Self, TimeError> {
        self.0.checked_mul(count).map(Self).ok_or(TimeError::PastEnd)
    }

    /// The time since `earlier`; zero when `earlier` is later.
    #[inline]
    pub fn since(self, earlier: Self) -> Self {
        Self(self.0.saturating_sub(earlier.0))
    }

    /// As seconds.
    #[inline]
    pub fn seconds(self) -> Seconds {
        Seconds(self.0 as f64 / PS_PER_S)
    }

    /// The nearest picosecond to a duration.
    #[inline]
    pub fn from_seconds(duration: Seconds) -> Result<Self, TimeError> {
        let ps = (duration.0 * PS_PER_S).round();
        if ps < 0.0 || ps.is_nan() {
            return Err(TimeError::NotADuration(duration.0));
        }
        // 2^64 as f64; every smaller value converts without loss of range.
        if ps >= 18_446_744_073_709_551_616.0 {
            return Err(TimeError::PastEnd);
        }
        Ok(Self(ps as u64))
    }
}

impl fmt::Display for SimTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.seconds().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_become_picoseconds_once_rounded() {
        assert_eq!(SimTime::from_seconds(Seconds(1.0 / 120e6)), Ok(SimTime(8333)));
        assert_eq!(SimTime::from_seconds(Seconds(1.2e8 / 120e6)), Ok(SimTime(1_000_000_000_000)));
    }

    #[test]
    fn time_ends_with_an_error_and_not_a_wrap() {
        assert_eq!(SimTime(u64::MAX).after(SimTime(1)), Err(TimeError::PastEnd));
        assert_eq!(SimTime(u64::MAX / 2).times(2), Ok(SimTime(u64::MAX - 1)));
        assert_eq!(SimTime(u64::MAX / 2).times(3), Err(TimeError::PastEnd));
        assert_eq!(SimTime::from_seconds(Seconds(2e7)), Err(TimeError::PastEnd));
        assert!(SimTime::from_seconds(Seconds(f64::NAN)).is_err());
        assert!(SimTime::from_seconds(Seconds(-1.0)).is_err());
    }
}
