//! An order of a region found by asking for a little less at a time.
//!
//! A search with a floor far below what can be reached sees many sets that lead nowhere. One with a
//! floor close below its ceiling is content with the first order that gets there.

use super::live::Total;
use super::region::Region;
use super::search::{Found, Limits, search};

/// Operators that one search may look at.
const LOOKS: usize = 200_000;
/// Part of the way to the floor that is asked for at once.
const STEPS: Total = 4;

/// An order below the ceiling, and its peak; nothing when none is found. What is looked at is taken
/// off the budget.
pub(super) fn descend(
    region: &Region,
    limits: Limits,
    budget: &mut usize,
) -> Option<(Vec<usize>, Total)> {
    let mut best = None;
    let mut ceiling = limits.ceiling;
    while ceiling > limits.floor {
        let floor = ceiling - ((ceiling - limits.floor) / STEPS).max(1);
        let granted = LOOKS.min(*budget);
        let mut looks = granted;
        let found = search(region, Limits { floor, ceiling }, &mut looks);
        *budget -= granted - looks;
        let Found::Best(order) = found else { break };
        let peak = region.peak(&order);
        best = Some((order, peak));
        if peak > floor {
            break; // The lowest there is.
        }
        ceiling = peak;
    }
    best
}
