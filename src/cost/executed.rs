//! The work that is really done: without the channels that a runtime leaves out, and without the
//! zeros that an engine skips.

use crate::evidence::Kind;
use crate::hardware::{Engine, SoftwareStack, Zeros};
use crate::model::{Gemm, OperandRole, Sparsity, Work};
use std::borrow::Cow;

/// The work of a layer as a runtime executes it. One that removes dead channels does the live
/// multiply-accumulates on the live channels; without a stack, or with one that does not, all.
pub(super) fn executed<'a>(work: &'a Work, stack: Option<&SoftwareStack>) -> Cow<'a, Work> {
    let removes = stack.is_some_and(|s| s.removes_dead_channels);
    let Some(live) = work.live.filter(|_| removes && work.live_macs < work.macs) else {
        return Cow::Borrowed(work);
    };
    let mut left = work.clone();
    left.macs = work.live_macs;
    if let Some(gemm) = work.gemm {
        let channels = gemm.n.saturating_mul(gemm.groups).max(1);
        let alive = live.channels.min(channels);
        let part = |whole: u64| {
            let scaled = u128::from(whole) * u128::from(alive) / u128::from(channels);
            u64::try_from(scaled).unwrap_or(whole)
        };
        left.output_elements = part(work.output_elements);
        left.output_bytes = part(work.output_bytes);
        left.element_ops = part(work.element_ops);
        left.gemm = Some(shrunk(gemm, alive, work.live_macs));
        if let Some(window) = &mut left.window {
            window.output_channels = alive;
        }
    }
    Cow::Owned(left)
}

/// The product on live channels: a depthwise one has fewer groups, any other fewer columns, and as
/// much depth as leaves the live multiply-accumulates.
fn shrunk(gemm: Gemm, alive: u64, live_macs: u64) -> Gemm {
    if gemm.groups > 1 && gemm.n == 1 {
        return Gemm { groups: alive, ..gemm };
    }
    let n = alive / gemm.groups.max(1);
    let each = gemm.groups.saturating_mul(gemm.m).saturating_mul(n);
    let k = if each > 0 { live_macs.div_ceil(each) } else { 0 };
    Gemm { n, k: k.min(gemm.k), ..gemm }
}

/// What skipping zeros saves of the work of a layer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Skipped {
    /// Multiply-accumulates that are not done.
    pub(super) macs: u64,
    /// Share of the cycles that is left.
    pub(super) time: f64,
    /// What the gain rests on.
    pub(super) kind: Kind,
}

impl Skipped {
    const NOTHING: Self = Self { macs: 0, time: 1.0, kind: Kind::STRONGEST };

    /// The zeros of a layer's filters that an engine skips.
    pub(super) fn of(work: &Work, engine: &Engine) -> Self {
        let filters = work.operands.iter().find(|o| o.role == OperandRole::Filter);
        let Some(stored) = filters.and_then(|o| o.sparsity).filter(|_| work.macs > 0) else {
            return Self::NOTHING;
        };
        let finds = |zeros: Zeros| match (zeros, stored) {
            (Zeros::Anywhere, _) => true,
            (Zeros::Structured { keep, of }, Sparsity::Structured { keep: k, of: o }) => {
                (keep, of) == (k, o)
            }
            (Zeros::Structured { .. }, Sparsity::Unstructured { .. }) => false,
        };
        let Some(skips) = engine.skips.iter().find(|s| finds(s.zeros)) else {
            return Self::NOTHING;
        };
        let macs = work.skippable_macs.min(work.macs);
        let share = macs as f64 / work.macs as f64;
        let gain = skips.gain.get().0.clamp(0.0, 1.0);
        Self { macs, time: 1.0 - share * gain, kind: skips.gain.kind() }
    }
}
