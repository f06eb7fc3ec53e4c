//! A piece of one channel: when its samples start, and their values.

use crate::units::{Hertz, SimTime, TimeError};

/// The even clock of a sampler: sample k starts at `start` + k / `rate`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SampleClock {
    /// When sample 0 starts.
    pub start: SimTime,
    /// Picoseconds from one sample to the next.
    period: f64,
}

impl SampleClock {
    /// A clock of a rate; none for a rate that is not a positive number or is above 1 THz.
    pub fn new(start: SimTime, rate: Hertz) -> Option<Self> {
        let period = 1e12 / rate.0;
        (rate.0 > 0.0 && period >= 1.0 && period.is_finite()).then_some(Self { start, period })
    }

    /// Samples a second.
    pub fn rate(&self) -> Hertz {
        Hertz(1e12 / self.period)
    }

    /// When sample `k` starts, rounded once; the end of time where it would pass it.
    pub fn at(&self, k: u64) -> SimTime {
        SimTime(self.start.0.saturating_add((k as f64 * self.period).round() as u64))
    }

    /// An error where sample `k` would start past the end of time.
    pub fn reaches(&self, k: u64) -> Result<SimTime, TimeError> {
        let at = self.at(k);
        if at.0 == u64::MAX { Err(TimeError::PastEnd) } else { Ok(at) }
    }

    /// The number of the first sample that starts at or after `at`.
    pub fn first_from(&self, at: SimTime) -> u64 {
        let mut k = (at.since(self.start).0 as f64 / self.period) as u64;
        while k > 0 && self.at(k - 1) >= at {
            k -= 1;
        }
        while self.at(k) < at {
            k += 1;
        }
        k
    }
}

/// When the samples of a block start.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Times<'a> {
    /// At the beats of a clock, from number `first` on.
    Even {
        /// The clock.
        clock: SampleClock,
        /// The number of the first sample.
        first: u64,
    },
    /// One by one.
    Each {
        /// When each starts, never backwards.
        starts: &'a [SimTime],
        /// When the last one ends.
        until: SimTime,
    },
}

/// Samples of one channel that follow each other without a gap in time. A value that is not a
/// number is a gap.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Block<'a> {
    /// When they start.
    pub times: Times<'a>,
    /// Their values, in the SI unit of the channel.
    pub values: &'a [f64],
}

/// The segments `(start, end, value)` of a block.
#[derive(Debug, Clone)]
pub struct Segments<'a> {
    block: Block<'a>,
    next: usize,
}

impl<'a> Block<'a> {
    /// Samples at the beats of a clock.
    pub fn even(clock: SampleClock, first: u64, values: &'a [f64]) -> Self {
        Self { times: Times::Even { clock, first }, values }
    }

    /// Samples with a time each; as many times as values.
    pub fn each(starts: &'a [SimTime], until: SimTime, values: &'a [f64]) -> Self {
        Self { times: Times::Each { starts, until }, values }
    }

    /// When sample `i` of the block starts; its end for the one behind the last.
    pub fn at(&self, i: usize) -> SimTime {
        match self.times {
            Times::Even { clock, first } => clock.at(first.saturating_add(i as u64)),
            Times::Each { starts, until } => starts.get(i).copied().unwrap_or(until),
        }
    }

    /// Start of the first sample.
    pub fn start(&self) -> SimTime {
        self.at(0)
    }

    /// End of the last sample.
    pub fn end(&self) -> SimTime {
        self.at(self.values.len())
    }

    /// The same times with other values, for a quantity computed sample by sample.
    pub fn with_values<'b>(&self, values: &'b [f64]) -> Block<'b>
    where
        'a: 'b,
    {
        Block { times: self.times, values }
    }

    /// The segments, in the order of time.
    pub fn segments(&self) -> Segments<'a> {
        Segments { block: *self, next: 0 }
    }
}

impl Iterator for Segments<'_> {
    type Item = (SimTime, SimTime, f64);

    fn next(&mut self) -> Option<Self::Item> {
        let value = *self.block.values.get(self.next)?;
        let segment = (self.block.at(self.next), self.block.at(self.next + 1), value);
        self.next += 1;
        Some(segment)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_rounds_each_sample_once_and_does_not_drift() {
        let clock = SampleClock::new(SimTime(5), Hertz(3e6)).unwrap();
        assert_eq!(clock.at(1), SimTime(333_338));
        assert_eq!(clock.at(3_000_000), SimTime(1_000_000_000_005));
        for k in [0, 1, 2, 7, 2_999_999] {
            assert_eq!(clock.first_from(clock.at(k)), k);
            assert_eq!(clock.first_from(SimTime(clock.at(k).0 + 1)), k + 1);
        }
        assert!(SampleClock::new(SimTime(0), Hertz(0.0)).is_none());
        assert!(SampleClock::new(SimTime(0), Hertz(f64::NAN)).is_none());
        assert!(clock.reaches(u64::MAX).is_err());
    }

    #[test]
    fn a_block_holds_each_value_to_the_next() {
        let starts = [SimTime(3), SimTime(7)];
        let block = Block::each(&starts, SimTime(9), &[1.0, 2.0]);
        assert_eq!((block.start(), block.end()), (SimTime(3), SimTime(9)));
        let segments: Vec<_> = block.segments().collect();
        assert_eq!(segments, [(SimTime(3), SimTime(7), 1.0), (SimTime(7), SimTime(9), 2.0)]);
        let clock = SampleClock::new(SimTime(10), Hertz(1e12)).unwrap();
        assert_eq!(Block::even(clock, 4, &[1.0, 2.0]).end(), SimTime(16));
    }
}
