//! Throttling by one operating point at a time, with hysteresis.
//!
//! every poll: `T >= T_trip`: one point down; `T <= T_trip - hysteresis`: one up; between them, none
//!
//! Symbols: `T` \[degC\] the sensor's reading, `T_trip` \[degC\] the passive trip, `hysteresis` \[K\]. The depth
//! counts points below the fastest; what it caps is capped at its own fastest less the depth, or at its
//! slowest. Source: the step-wise governor of Linux's thermal framework without its trends
//! (Documentation/driver-api/thermal), poll 100 ms by default. Neglected: that its trend looks ahead.

use crate::units::{Celsius, Kelvins};
use serde::{Deserialize, Serialize};

/// When to go down and up.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StepWise {
    /// Reading from which it goes down \[degC\].
    pub trip: Celsius,
    /// How far below the trip it goes up again \[K\].
    pub hysteresis: Kelvins,
    /// Points below the fastest that it may go: those of what it caps, less one.
    pub deepest: usize,
}

/// How far down it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct StepWiseState {
    depth: usize,
}

impl StepWise {
    /// Polls: takes a reading. Returns the depth from now on.
    pub fn poll(&self, state: &mut StepWiseState, reading: Celsius) -> usize {
        if reading >= self.trip {
            state.depth = state.depth.saturating_add(1).min(self.deepest);
        } else if reading.0 <= self.trip.0 - self.hysteresis.0 {
            state.depth = state.depth.saturating_sub(1);
        }
        state.depth
    }
}

impl StepWiseState {
    /// Points below the fastest.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// The fastest point allowed of a number of points, the slowest being the first.
    pub fn cap(&self, points: usize) -> usize {
        points.saturating_sub(1).saturating_sub(self.depth)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRIP: StepWise = StepWise { trip: Celsius(85.0), hysteresis: Kelvins(3.0), deepest: 2 };

    #[test]
    fn it_goes_down_at_the_trip_and_up_below_the_hysteresis() {
        let mut state = StepWiseState::default();
        let mut poll = |reading| TRIP.poll(&mut state, Celsius(reading));
        assert_eq!(poll(84.9), 0);
        assert_eq!(poll(85.0), 1);
        assert_eq!(poll(84.0), 1, "between the two it stays");
        assert_eq!(poll(82.1), 1);
        assert_eq!(poll(90.0), 2);
        assert_eq!(poll(91.0), 2, "there is no slower point");
        assert_eq!(poll(82.0), 1);
        assert_eq!(poll(20.0), 0);
        assert_eq!(poll(20.0), 0);
    }

    #[test]
    fn what_has_few_points_stops_at_its_slowest() {
        let mut state = StepWiseState::default();
        TRIP.poll(&mut state, Celsius(99.0));
        TRIP.poll(&mut state, Celsius(99.0));
        assert_eq!((state.cap(7), state.cap(2), state.cap(1), state.cap(0)), (4, 0, 0, 0));
    }
}
