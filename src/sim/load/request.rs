//! One thing that is asked for.

use crate::units::SimTime;
use serde::{Deserialize, Serialize};

/// A request of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// Its number in its stream, from 0.
    pub number: u64,
    /// When it came.
    pub arrived: SimTime,
    /// When it is to be done, if that matters.
    pub due: Option<SimTime>,
}

impl Request {
    /// True where ending at `end` is too late.
    pub fn is_late(&self, end: SimTime) -> bool {
        self.due.is_some_and(|due| end > due)
    }
}
