//! An order of a region too wide to search, improved piece by piece.
//!
//! The file's order is cut into windows. What has run before each of them stays as it is, so that
//! they are searched one by one, those first that make the peak.

use super::descent::descend;
use super::live::{Sweep, Total};
use super::region::Region;
use super::search::Limits;
use super::storage::Storage;

/// Operators of a window.
const WINDOW: usize = 64;

/// An order of the region, and its peak, which is not above that of the file. Peaks at or below
/// `floor` are all equally good. What is looked at is taken off the budget.
pub(super) fn by_window(
    storage: &Storage,
    sweep: &Sweep,
    region: &Region,
    floor: Total,
    budget: &mut usize,
) -> (Vec<usize>, Total) {
    let mut order: Vec<_> = (0..region.len()).collect();
    let mut windows = windows(storage, sweep, region);
    windows.sort_by_key(|(peak, window)| (std::cmp::Reverse(*peak), window.range.start));
    let mut reached = floor.max(region.lower_bound);
    for (file_peak, window) in windows {
        if file_peak <= reached {
            break;
        }
        let limits = Limits { floor: reached, ceiling: file_peak };
        let Some((better, peak)) = descend(&window, limits, budget) else {
            return (order, file_peak);
        };
        reached = reached.max(peak);
        let start = window.range.start - region.range.start;
        if let Some(places) = order.get_mut(start..start + window.len()) {
            for (place, operator) in places.iter_mut().zip(better) {
                *place = start + operator;
            }
        }
    }
    (order, reached)
}

/// The windows of a region with their peaks in the order of the file.
fn windows(storage: &Storage, sweep: &Sweep, region: &Region) -> Vec<(Total, Region)> {
    let starts = region.range.clone().step_by(WINDOW);
    let window = |start: usize| {
        let range = start..region.range.end.min(start + WINDOW);
        let before = start.checked_sub(1).and_then(|last| sweep.after.get(last).copied());
        let during = sweep.during.get(range.clone()).unwrap_or_default();
        let peak = during.iter().copied().max().unwrap_or(0);
        (peak, Region::of(storage, range, before.unwrap_or(region.start)))
    };
    starts.map(window).collect()
}
