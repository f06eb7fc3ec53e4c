//! Rails that may not be held: how low each stood, how long it was short, and when it browned out.

use super::supplies::NEVER_LOWER;
use crate::sim::supplied::{BrownOut, Cause};
use crate::units::{SimTime, Volts};
use serde::{Deserialize, Serialize};

/// A rail at an instant.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Seen {
    pub(super) voltage: Volts,
    /// It cannot give what is asked.
    pub(super) short: bool,
    /// What it feeds does not work: it browns out, for this reason.
    pub(super) fails: Option<Cause>,
}

/// A rail over time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Watched {
    seen: Seen,
    /// Lowest voltage that lasted any time.
    lowest: Volts,
    short: SimTime,
}

/// All rails.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RailWatch {
    rails: Vec<Watched>,
    since: SimTime,
    pub(super) brown_outs: u64,
    pub(super) first: Option<BrownOut>,
}

impl RailWatch {
    pub(super) fn new(set: impl Iterator<Item = Volts>) -> Self {
        let watched = |voltage: Volts| Watched {
            seen: Seen { voltage, short: false, fails: None },
            lowest: NEVER_LOWER,
            short: SimTime::ZERO,
        };
        Self { rails: set.map(watched).collect(), ..Self::default() }
    }

    /// How many rails it watches.
    pub(super) fn len(&self) -> usize {
        self.rails.len()
    }

    /// Books what was until `now`.
    pub(super) fn spend(&mut self, now: SimTime) {
        let lasted = now.since(self.since);
        self.since = now;
        if lasted == SimTime::ZERO {
            return;
        }
        for rail in &mut self.rails {
            rail.lowest = rail.lowest.min(rail.seen.voltage);
            if rail.seen.short {
                rail.short = SimTime(rail.short.0.saturating_add(lasted.0));
            }
        }
    }

    /// How a rail stands from `now` on, after [`RailWatch::spend`].
    pub(super) fn see(&mut self, now: SimTime, rail: usize, seen: Seen) {
        let Some(own) = self.rails.get_mut(rail) else { return };
        let failed = own.seen.fails.is_some();
        own.seen = seen;
        if let Some(cause) = seen.fails.filter(|_| !failed) {
            self.brown_outs += 1;
            self.first = self.first.or(Some(BrownOut { at: now, rail, cause }));
        }
    }

    /// The lowest voltage of a rail, and the time that it was short.
    pub(super) fn of(&self, rail: usize) -> Option<(Volts, SimTime)> {
        self.rails.get(rail).map(|own| (own.lowest.min(own.seen.voltage), own.short))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rail_browns_out_once_each_time_that_it_falls() {
        let mut watch = RailWatch::new([Volts(3.0), Volts(1.0)].into_iter());
        let seen =
            |voltage: f64, short: bool, fails| Seen { voltage: Volts(voltage), short, fails };
        for (at, own) in [
            (10, seen(2.0, false, Some(Cause::BelowMinimum))),
            (20, seen(1.9, true, Some(Cause::Collapse))),
            (25, seen(3.0, false, None)),
            (40, seen(2.5, true, Some(Cause::Collapse))),
        ] {
            watch.spend(SimTime(at));
            watch.see(SimTime(at), 0, own);
        }
        watch.spend(SimTime(100));
        assert_eq!(watch.brown_outs, 2);
        let first = BrownOut { at: SimTime(10), rail: 0, cause: Cause::BelowMinimum };
        assert_eq!(watch.first, Some(first));
        assert_eq!(watch.of(0), Some((Volts(1.9), SimTime(65))));
        assert_eq!(watch.of(1), Some((Volts(1.0), SimTime::ZERO)));
    }
}
