//! The work that is really done: without the channels that a runtime leaves out, and without the
//! zeros that an engine skips.

use super::Setting;
use crate::evidence::Kind;
use crate::hardware::{Engine, SoftwareStack, Zeros};
use crate::model::{Gemm, OperandRole, Sparsity, Window, Work};
use std::borrow::Cow;

/// The work of a layer as the software of engine number `engine` executes it.
pub fn executed_on<'a>(work: &'a Work, engine: usize, setting: Setting<'_>) -> Cow<'a, Work> {
    executed(work, setting.stack(engine))
}

/// The work of a layer as a runtime executes it. One that removes dead channels does the live
/// multiply-accumulates on the live channels; without a stack, or with one that does not, all.
pub(super) fn executed<'a>(work: &'a Work, stack: Option<&SoftwareStack>) -> Cow<'a, Work> {
    let removes = stack.is_some_and(|s| s.removes_dead_channels);
    let Some(live) = work.live.filter(|_| removes && work.live_macs < work.macs) else {
        return Cow::Borrowed(work);
    };
    let mut left = work.clone();
    left.macs = work.live_macs;
    // Zeros stand in the live filters as densely as in the others.
    left.skippable_macs = part(work.skippable_macs, work.live_macs, work.macs);
    if let Some(gemm) = work.gemm {
        let channels = gemm.n.saturating_mul(gemm.groups).max(1);
        let alive = live.channels.min(channels);
        left.output_elements = part(work.output_elements, alive, channels);
        left.output_bytes = part(work.output_bytes, alive, channels);
        left.element_ops = part(work.element_ops, alive, channels);
        let taps = work.window.map_or(1, |w| w.kernel_height.saturating_mul(w.kernel_width).max(1));
        let product = shrunk(gemm, taps, alive, work.live_macs);
        left.gemm = Some(product);
        left.window = work.window.map(|window| Window {
            groups: product.groups,
            output_channels: product.groups.saturating_mul(product.n),
            input_channels: product.k / taps,
            ..window
        });
        for operand in &mut left.operands {
            operand.elements = match operand.role {
                OperandRole::Filter => part(operand.elements, work.live_macs, work.macs),
                OperandRole::Data if product.groups < gemm.groups => {
                    part(operand.elements, product.groups, gemm.groups)
                }
                OperandRole::Data => part(operand.elements, product.k, gemm.k),
                OperandRole::Side => operand.elements,
            };
        }
    }
    Cow::Owned(left)
}

/// `whole` times `share` over `of`.
fn part(whole: u64, share: u64, of: u64) -> u64 {
    let scaled = u128::from(whole) * u128::from(share) / u128::from(of.max(1));
    u64::try_from(scaled).unwrap_or(whole)
}

/// The product on live channels: a depthwise one has fewer groups, any other fewer columns, and as
/// much depth, in whole windows of so many taps, as holds the live multiply-accumulates.
fn shrunk(gemm: Gemm, taps: u64, alive: u64, live_macs: u64) -> Gemm {
    if gemm.groups > 1 && gemm.n == 1 {
        return Gemm { groups: alive, ..gemm };
    }
    let n = alive.div_ceil(gemm.groups.max(1));
    let each = gemm.groups.saturating_mul(gemm.m).saturating_mul(n).saturating_mul(taps);
    let k = if each > 0 { live_macs.div_ceil(each).saturating_mul(taps) } else { 0 };
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
