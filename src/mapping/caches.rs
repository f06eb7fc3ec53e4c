//! What a cache leaves to the memory behind it.
//!
//! An operand that a kernel goes through `n` times comes from behind the cache once, and again in each
//! later pass for the part that did not stay ([`Cache`]). What must stay for the next pass is the
//! operand itself and the block of results that is worked on; groups of a product run one after the
//! other, each with its own part. Windows that overlap are read again within a pass: side by side they
//! hit; from one row to the next they hit for the share of the rows under a window that stays.

use super::flows::Flow;
use crate::cost::{Cost, Setting};
use crate::evidence::Kind;
use crate::hardware::Replacement;
use crate::model::{OperandRole, Work};
use crate::physics::cache::{Cache, Replacement as Law};
use crate::units::Bytes;

/// What a cache asks of the memory behind it.
pub(super) struct Misses {
    /// Bytes of the lines that it fetches.
    pub(super) bytes: Bytes,
    /// Passes over the operand that they stand for.
    pub(super) passes: f64,
    /// What both rest on.
    pub(super) kind: Kind,
}

/// What a cache fetches while an engine reads an operand so often.
pub(super) fn misses(
    cache: usize,
    flow: &Flow,
    readings: f64,
    work: &Work,
    cost: &Cost,
    setting: Setting<'_>,
) -> Misses {
    let unit = &setting.profile.spec().caches[cache];
    let law = Cache {
        capacity: unit.capacity.get(),
        line: unit.line.get(),
        replacement: match unit.replacement {
            Replacement::LeastRecentlyUsed => Law::LeastRecentlyUsed,
            Replacement::Random => Law::Random,
        },
    };
    let groups = work.gemm.map_or(1.0, |g| g.groups.max(1) as f64 / flow.repeats).max(1.0);
    let own = flow.bytes / groups;
    let footprint = law.footprint(own, own);
    let kept = law.hit_share(footprint + beside(flow, work, cost));
    let again = (readings - 1.0).max(0.0) * (1.0 - kept);
    let (overlap, rows) = overlapping_rows(flow, work, cost);
    let each = 1.0 + (overlap - 1.0) * (1.0 - law.hit_share(law.footprint(rows, rows)));
    // The first pass runs through all groups, which lie one behind the other.
    let bytes = law.footprint(flow.bytes, flow.bytes) + footprint * (groups * again);
    // What is read once comes once, however much the cache holds.
    let once = readings <= 1.0 && overlap <= 1.0;
    let room = if once { Kind::STRONGEST } else { unit.capacity.kind() };
    Misses { bytes: bytes * each, passes: 1.0 + again, kind: unit.line.kind().weaker(room) }
}

/// How many windows a row of the input is under, one after the other, and the bytes of the rows under one
/// window.
fn overlapping_rows(flow: &Flow, work: &Work, cost: &Cost) -> (f64, Bytes) {
    let overlaps = flow.role == OperandRole::Data && cost.passes.windows > 1.0;
    let Some(window) = work.window.filter(|_| overlaps) else { return (1.0, Bytes::ZERO) };
    let height = window.kernel_height as f64;
    let overlap = (height / window.stride_height.max(1) as f64).clamp(1.0, cost.passes.windows);
    let row = window.output_width as f64 * window.stride_width.max(1) as f64;
    let words = height * row * window.input_channels as f64;
    (overlap, Bytes(words * cost.precision.bits() as f64 / 8.0))
}

/// Bytes of the other operand that pass between two uses of this one: one column of the sum for each
/// result of a block. A block of data stays while all filters pass; it is worked on and gone.
fn beside(flow: &Flow, work: &Work, cost: &Cost) -> Bytes {
    let Some(gemm) = work.gemm.filter(|_| flow.role == OperandRole::Filter) else {
        return Bytes::ZERO;
    };
    let positions = (gemm.m as f64 / cost.passes.weight.max(1.0)).max(1.0);
    Bytes(positions * gemm.k as f64 * cost.precision.bits() as f64 / 8.0)
}
