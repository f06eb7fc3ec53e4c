//! So many requests, a period apart.

use super::LoadError;
use crate::units::{Seconds, SimTime};
use serde::{Deserialize, Serialize};

/// The times of so many requests, each counted from the start of the run, so that rounded periods do not
/// add up.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CountedTimes {
    period: Seconds,
    number: u64,
    count: u64,
}

impl CountedTimes {
    /// `count` requests, the first at the start.
    pub fn new(period: Seconds, count: u64) -> Self {
        Self { period, number: 0, count }
    }

    /// When request `number` comes.
    ///
    /// # Errors
    /// Past the end of time.
    pub fn at(period: Seconds, number: u64) -> Result<SimTime, LoadError> {
        Ok(SimTime::from_seconds(Seconds(period.0 * number as f64))?)
    }
}

impl Iterator for CountedTimes {
    type Item = Result<SimTime, LoadError>;

    fn next(&mut self) -> Option<Self::Item> {
        let number = self.number;
        (number < self.count).then(|| {
            self.number += 1;
            Self::at(self.period, number)
        })
    }
}
