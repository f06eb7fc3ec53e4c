//! The order of execution with the lowest peak.

use super::OrderMethod;
use super::descent::descend;
use super::greedy::best_by_rule;
use super::live::{Sweep, Total};
use super::region::{Region, regions};
use super::search::{Found, Limits, search};
use super::storage::Storage;
use super::windows::by_window;

/// Operators that all searches of a network may look at together, and one of them alone.
const ALL_LOOKS: usize = 3_000_000;
const LOOKS: usize = 1_000_000;
/// A region of more operators is not searched: its states are large and its orders too many.
const SEARCHED: usize = 2_000;

/// An order of execution.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Choice {
    /// Operators by their position in the file.
    pub order: Vec<usize>,
    pub method: OrderMethod,
    /// True when no order has a lower peak.
    pub is_lowest: bool,
}

/// A region in a better order than that of the file.
struct Improved {
    region: Region,
    order: Vec<usize>,
    /// The peak in the order of the file.
    file_peak: Total,
    method: OrderMethod,
}

/// What is known of the peak of the whole while regions are ordered.
struct Peaks {
    /// No order is below this.
    proven: Total,
    /// The orders found so far do not get below this.
    reached: Total,
}

/// Chooses the order of the file unless another has a lower peak, and then changes only the regions
/// whose peak in the file is above it.
pub(super) fn choose(storage: &Storage) -> Choice {
    let file = storage.file_order();
    if !storage.is_sorted {
        return Choice { order: file, method: OrderMethod::FileOrder, is_lowest: false };
    }
    let sweep = storage.sweep(&file);
    let mut open: Vec<(Total, Region)> = Vec::new();
    let mut fixed = sweep.during.clone();
    for region in regions(storage, &sweep) {
        let Some(during) = fixed.get_mut(region.range.clone()) else { continue };
        let peak = during.iter().copied().max().unwrap_or(0);
        during.fill(region.lower_bound);
        open.push((peak, region));
    }
    let bound = fixed.into_iter().max().unwrap_or(0);
    let mut peaks = Peaks { proven: bound, reached: bound };
    // The region that makes the peak first: what it cannot go below, others need not either.
    open.sort_by_key(|(peak, region)| (std::cmp::Reverse(*peak), region.range.start));
    let mut budget = ALL_LOOKS;
    let mut improved = Vec::new();
    for (file_peak, region) in open {
        if file_peak <= peaks.reached {
            break;
        }
        improved.extend(improve(storage, &sweep, region, file_peak, &mut peaks, &mut budget));
    }
    assemble(file, sweep.peak(), &peaks, improved)
}

/// Orders one region.
fn improve(
    storage: &Storage,
    sweep: &Sweep,
    region: Region,
    file_peak: Total,
    peaks: &mut Peaks,
    budget: &mut usize,
) -> Option<Improved> {
    let (ruled, ruled_peak) = best_by_rule(&region);
    let limits = Limits { floor: peaks.reached, ceiling: file_peak.min(ruled_peak) };
    let (order, peak, method) = match searched(&region, limits, budget) {
        Found::Best(order) => {
            let peak = region.peak(&order);
            (order, peak, OrderMethod::ExactSearch)
        }
        // The rules' order is the best: the search saw no better one.
        Found::Nothing => (ruled, ruled_peak, OrderMethod::ExactSearch),
        Found::Unknown if ruled_peak <= limits.floor => (ruled, ruled_peak, OrderMethod::Heuristic),
        Found::Unknown => {
            let (order, peak) = by_window(storage, sweep, &region, limits.floor, budget);
            let best = if peak < ruled_peak { (order, peak) } else { (ruled, ruled_peak) };
            let limits = Limits { ceiling: best.1, ..limits };
            let lower = (region.len() <= SEARCHED).then(|| descend(&region, limits, budget));
            let (order, peak) = lower.flatten().unwrap_or(best);
            (order, peak, OrderMethod::Heuristic)
        }
    };
    let peak = peak.min(file_peak);
    if method == OrderMethod::ExactSearch && peak > limits.floor {
        peaks.proven = peaks.proven.max(peak);
    }
    peaks.reached = peaks.reached.max(peak);
    (peak < file_peak).then_some(Improved { region, order, file_peak, method })
}

/// Searches a region that is small enough, unless there is nothing to gain.
fn searched(region: &Region, limits: Limits, budget: &mut usize) -> Found {
    if region.len() > SEARCHED || limits.ceiling <= limits.floor {
        return Found::Unknown;
    }
    let granted = LOOKS.min(*budget);
    let mut looks = granted;
    let found = search(region, limits, &mut looks);
    *budget -= granted - looks;
    found
}

fn assemble(
    mut order: Vec<usize>,
    file_peak: Total,
    peaks: &Peaks,
    improved: Vec<Improved>,
) -> Choice {
    let peak = peaks.reached.min(file_peak);
    let is_lowest = peak <= peaks.proven;
    let mut method = OrderMethod::FileOrder;
    for part in improved.into_iter().filter(|part| peak < file_peak && part.file_peak > peak) {
        let start = part.region.range.start;
        if let Some(places) = order.get_mut(part.region.range) {
            for (place, operator) in places.iter_mut().zip(part.order) {
                *place = start + operator;
            }
        }
        method = match (method, part.method) {
            (OrderMethod::Heuristic, _) | (_, OrderMethod::Heuristic) => OrderMethod::Heuristic,
            _ => OrderMethod::ExactSearch,
        };
    }
    Choice { order, method, is_lowest }
}
