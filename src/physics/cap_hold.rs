//! A cap that is not raised soon after it was lowered.
//!
//! every poll: a lower cap holds at once; a higher one only `hold` after the last time that it fell
//!
//! Symbols: `hold` \[s\]. A power allocator that can hold its target at no operating point changes between
//! two at every poll; this limits how often. Zero is the original law of Linux, which has no such limit.

use crate::units::Seconds;
use serde::{Deserialize, Serialize};

/// How long a cap stays down.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CapHold {
    /// Time from when it fell until it may rise; zero for one that may at every poll \[s\].
    pub hold: Seconds,
}

/// What holds at present.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct CapHoldState {
    cap: Option<usize>,
    /// Time since it fell, as far as it matters \[s\].
    since: Option<f64>,
}

impl CapHold {
    /// Polls: takes the cap that is wanted, `elapsed` after the poll before. Returns the one that holds.
    pub fn poll(&self, state: &mut CapHoldState, wanted: usize, elapsed: Seconds) -> usize {
        let since = state.since.map(|since| since + elapsed.0);
        // Polls are summed: what is left by rounding is no time.
        state.since = since.filter(|since| *since < self.hold.0 * (1.0 - 1e-9));
        let cap = match state.cap {
            Some(cap) if wanted > cap && state.since.is_some() => cap,
            Some(cap) if wanted < cap => {
                state.since = Some(0.0);
                wanted
            }
            _ => wanted,
        };
        state.cap = Some(cap);
        cap
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caps(hold: f64, wanted: &[usize]) -> Vec<usize> {
        let (law, mut state) = (CapHold { hold: Seconds(hold) }, CapHoldState::default());
        wanted.iter().map(|wanted| law.poll(&mut state, *wanted, Seconds(0.1))).collect()
    }

    #[test]
    fn a_cap_falls_at_once_and_rises_when_its_time_is_over() {
        assert_eq!(caps(0.3, &[6, 4, 6, 6, 6, 6]), [6, 4, 4, 4, 6, 6]);
        assert_eq!(caps(0.3, &[6, 4, 6, 3, 6, 6, 6]), [6, 4, 4, 3, 3, 3, 6], "each fall counts");
    }

    #[test]
    fn without_a_hold_it_is_what_is_wanted() {
        let wanted = [6, 4, 6, 0, 6, 5, 6];
        assert_eq!(caps(0.0, &wanted), wanted);
    }
}
