//! One point, as a user sets it (`userspace`).

use crate::physics::opp_table::OppTable;
use crate::units::Hertz;

/// The slowest point of at least a frequency. It never looks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fixed {
    /// The frequency \[Hz\].
    pub frequency: Hertz,
}

impl Fixed {
    pub(super) fn point(&self, table: &OppTable) -> usize {
        table.at_least(self.frequency)
    }
}
