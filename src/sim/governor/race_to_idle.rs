//! Full speed while there is work, and then rest.

use super::Observed;
use crate::physics::opp_table::OppTable;

/// The fastest point while a job is in hand, the slowest without one. It is asked when jobs come and end,
/// and samples nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RaceToIdle;

impl RaceToIdle {
    pub(super) fn decide(self, seen: &Observed, table: &OppTable) -> usize {
        if seen.job.is_some_and(|job| job.work.0 > 0.0) { table.fastest() } else { 0 }
    }
}
