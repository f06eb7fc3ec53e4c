//! The work that is really done: without the channels that a runtime leaves out, and without the
//! zeros that an engine skips.

use super::Setting;
use crate::evidence::Kind;
use crate::hardware::{Engine, SoftwareStack, Zeros};
use crate::model::{Gemm, OpKind, Operand, OperandRole, Sparsity, Window, Work};
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
    /// Share of the cycles of a step of whole groups that is left, where zeros have a structure.
    pub(super) steps: f64,
    /// What the gain rests on.
    pub(super) kind: Kind,
}

impl Skipped {
    const NOTHING: Self = Self { macs: 0, time: 1.0, steps: 1.0, kind: Kind::STRONGEST };

    /// The zeros of a layer's filters that an engine skips.
    pub(super) fn of(work: &Work, engine: &Engine) -> Self {
        let filters = work.operands.iter().find(|o| o.role == OperandRole::Filter);
        let Some(filters) = filters.filter(|_| work.macs > 0) else { return Self::NOTHING };
        let skipping = engine.skips.iter().find_map(|skips| {
            let macs = match filters.sparsity {
                Some(stored) => is_found(skips.zeros, stored).then_some(work.skippable_macs),
                None if skips.found => {
                    let channels = channels(work).filter(|_| filters.constant);
                    channels.and_then(|own| macs_in_groups(skips.zeros, filters, own, work.macs))
                }
                None => None,
            };
            Some((skips, macs?.min(work.macs)))
        });
        let Some((skips, macs)) = skipping else { return Self::NOTHING };
        let share = macs as f64 / work.macs as f64;
        let gain = skips.gain.get().0.clamp(0.0, 1.0);
        let within = match skips.zeros {
            Zeros::Structured { keep, of } => 1.0 - f64::from(keep) / f64::from(of.max(1)),
            Zeros::Anywhere => 0.0,
        };
        let (time, steps) = (1.0 - share * gain, 1.0 - within.max(0.0) * gain);
        Self { macs, time, steps, kind: skips.gain.kind() }
    }
}

/// Whether an engine finds zeros that are stored so.
fn is_found(zeros: Zeros, stored: Sparsity) -> bool {
    match (zeros, stored) {
        (Zeros::Anywhere, _) => true,
        (Zeros::Structured { keep, of }, Sparsity::Structured { keep: k, of: o }) => {
            (keep, of) == (k, o)
        }
        (Zeros::Structured { .. }, Sparsity::Unstructured { .. }) => false,
    }
}

/// Channels that a result is summed up over; nothing for a depthwise convolution.
fn channels(work: &Work) -> Option<u64> {
    let own = work.window.map(|window| window.input_channels).or(work.gemm.map(|gemm| gemm.k));
    own.filter(|_| work.kind != OpKind::DepthwiseConv)
}

/// Multiply-accumulates by zeros that have a structure by their values: nothing where some group along the
/// channels has more than so many that are not zero, or where nobody knows.
fn macs_in_groups(zeros: Zeros, filters: &Operand, channels: u64, macs: u64) -> Option<u64> {
    let Zeros::Structured { keep, of } = zeros else { return None };
    let (kept, group) = (u64::from(keep), u64::from(of).max(1));
    // Groups of few channels have their zeros whatever the values.
    let last = channels % group;
    let statistics = filters.statistics;
    let all_whole = match (keep, of) {
        _ if channels < group => true,
        (1, 4) => statistics?.one_of_four? >= 1.0,
        (2, 4) => statistics?.two_of_four? >= 1.0,
        (4, 8) => statistics?.four_of_eight? >= 1.0,
        _ => false,
    };
    if !all_whole || last > kept {
        return None;
    }
    let done = (channels / group).saturating_mul(kept).saturating_add(last);
    Some(part(macs, channels.saturating_sub(done), channels))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{ElementType, WeightStatistics};

    fn filters(two_of_four: Option<f64>) -> Operand {
        let statistics = WeightStatistics {
            zeros: 0.5,
            entropy_bits: 4.0,
            one_of_four: None,
            two_of_four,
            four_of_eight: None,
            zero_filters: 0,
        };
        Operand {
            role: OperandRole::Filter,
            constant: true,
            element: ElementType::Int8,
            elements: 64,
            repeats: 1,
            sparsity: None,
            port: 1,
            buffer: None,
            handed_in: false,
            encoded: None,
            statistics: Some(statistics),
        }
    }

    fn found(channels: u64, two_of_four: Option<f64>) -> Option<u64> {
        let zeros = Zeros::Structured { keep: 2, of: 4 };
        macs_in_groups(zeros, &filters(two_of_four), channels, 8 * channels)
    }

    #[test]
    fn two_of_four_is_found_where_every_group_has_it() {
        assert_eq!(found(8, Some(1.0)), Some(32));
        assert_eq!(found(8, Some(0.999_999)), None);
        assert_eq!(found(8, None), None, "nobody knows");
    }

    #[test]
    fn channels_that_are_missing_from_a_group_are_zero() {
        // Whatever their values; and no multiply-accumulate by a zero is there to be left out.
        assert_eq!([found(1, None), found(2, None), found(3, None)], [Some(0), Some(0), None]);
        assert_eq!(found(6, Some(1.0)), Some(16), "two of six are zero");
        assert_eq!(found(7, Some(1.0)), None, "nobody looked at the last three");
    }
}
