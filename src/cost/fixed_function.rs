//! Datapaths that do given steps of each loop at once (spatial unrolling).
//!
//! A product takes `c ∏ ceil(extent / unrolled)` cycles over output channels, input channels, window
//! points, output rows and columns, with `c` cycles a step, and at least `outputs / rate` of the way
//! out. Loops whose extents do not divide run partly empty. Neglected: order of the loops and what it
//! keeps, which is traffic's matter.

use super::timing::{Passes, Refusal, Timing};
use crate::evidence::{Kind, Valued};
use crate::hardware::{Engine, FixedFunction, Precision, Unrolled};
use crate::model::{Gemm, OpKind, Window, Work};
use crate::units::{Cycles, MacsPerCycle, OperationsPerCycle, Ratio};

/// Extents of the loops: groups, and those of [`Unrolled`].
#[derive(Debug, Clone, Copy, PartialEq)]
struct Loops {
    groups: u64,
    output_channels: u64,
    input_channels: u64,
    window: u64,
    rows: u64,
    columns: u64,
}

impl Loops {
    /// A convolution by its window; any other product as one over rows of one point.
    fn of(gemm: Gemm, window: Option<Window>) -> Self {
        let product = Self {
            groups: gemm.groups,
            output_channels: gemm.n,
            input_channels: gemm.k,
            window: 1,
            rows: 1,
            columns: gemm.m,
        };
        let Some(w) = window else { return product };
        let groups = w.groups.max(1);
        let points = w.kernel_height.saturating_mul(w.kernel_width).max(1);
        let loops = Self {
            groups,
            output_channels: (w.output_channels / groups).max(1),
            input_channels: w.input_channels.max(1),
            window: points,
            rows: w.output_height.max(1).saturating_mul(w.batch.max(1)),
            columns: w.output_width.max(1),
        };
        // Of a transposed convolution the product runs over the input, and says so better.
        if loops.macs() == gemm.macs() { loops } else { product }
    }

    fn macs(self) -> u128 {
        [self.groups, self.output_channels, self.input_channels, self.window, self.rows]
            .into_iter()
            .chain([self.columns])
            .fold(1u128, |product, extent| product.saturating_mul(u128::from(extent)))
    }

    /// Steps, for a depthwise convolution with its channels in the place of output channels.
    fn steps(self, unrolled: &Unrolled) -> f64 {
        let over = |extent: u64, at_once: u64| extent.div_ceil(at_once.max(1)).max(1) as f64;
        let depthwise = self.groups > 1 && self.output_channels == 1;
        let (groups, channels) =
            if depthwise { (1, self.groups) } else { (self.groups, self.output_channels) };
        groups as f64
            * over(channels, unrolled.output_channels)
            * over(self.input_channels, unrolled.input_channels)
            * over(self.window, unrolled.window)
            * over(self.rows, unrolled.output_rows)
            * over(self.columns, unrolled.output_columns)
    }
}

fn rate_in(function: &FixedFunction, precision: Precision) -> Option<(f64, Kind)> {
    if function.precision == precision {
        return Some((1.0, Kind::STRONGEST));
    }
    function.rates.get(&precision).map(|rate: &Valued<Ratio>| (rate.get().0, rate.kind()))
}

fn cycles_of_step(unrolled: &Unrolled) -> f64 {
    unrolled.cycles.as_ref().map_or(1.0, |c| c.get().0)
}

/// Multiply-accumulates a cycle of full steps.
fn pace(unrolled: &Unrolled) -> f64 {
    unrolled.macs() as f64 / cycles_of_step(unrolled)
}

pub(super) fn timing(
    engine: &Engine,
    function: &FixedFunction,
    work: &Work,
    precision: Precision,
) -> Result<Timing, Refusal> {
    let name = || engine.name.clone();
    let (rate, kind) = rate_in(function, precision).ok_or_else(|| Refusal::NoPrecision {
        engine: name(),
        kind: work.kind,
        element: work.element,
    })?;
    let widest = function.unrolled.values().map(pace).fold(0.0, f64::max);
    let mut timing = Timing {
        compute: Cycles::ZERO,
        array_macs: 0,
        peak: MacsPerCycle(widest * rate),
        passes: Passes::ONCE,
        kind,
    };
    let at = |rate: &Valued<OperationsPerCycle>, count: u64| count as f64 / rate.get().0;
    if let Some(gemm) = work.gemm {
        let no_function = || Refusal::NoFunction { engine: name(), kind: work.kind };
        let unrolled = function.unrolled.get(&work.kind).ok_or_else(no_function)?;
        let steps = Loops::of(gemm, work.window).steps(unrolled);
        let mut cycles = steps * cycles_of_step(unrolled) / rate;
        timing.kind = timing.kind.weaker(unrolled.cycles.as_ref().map_or(kind, |c| c.kind()));
        if let Some(way_out) = &function.outputs {
            let least = at(way_out, work.output_elements);
            if least > cycles {
                (cycles, timing.kind) = (least, way_out.kind());
            }
        }
        timing.compute = Cycles(cycles);
        timing.array_macs = (steps * unrolled.macs() as f64) as u64;
        return Ok(timing);
    }
    if work.element_ops > 0 && work.kind != OpKind::View {
        let no_function = || Refusal::NoFunction { engine: name(), kind: work.kind };
        let beside = function.operations.as_ref().ok_or_else(no_function)?;
        timing.compute = Cycles(at(beside, work.element_ops).ceil());
        timing.kind = beside.kind();
    }
    Ok(timing)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unrolled() -> Unrolled {
        ron::from_str("(output_channels: 8, input_channels: 8, output_columns: 2)").unwrap()
    }

    fn window(kernel: u64, size: u64, inputs: u64, outputs: u64, groups: u64) -> Window {
        Window {
            kernel_height: kernel,
            kernel_width: kernel,
            output_height: size,
            output_width: size,
            input_channels: inputs,
            output_channels: outputs,
            groups,
            batch: 1,
        }
    }

    #[test]
    fn loops_that_divide_run_full_and_others_do_not() {
        let gemm = Gemm { groups: 1, m: 64, n: 16, k: 144 };
        let full = Loops::of(gemm, Some(window(3, 8, 16, 16, 1)));
        assert_eq!(full.steps(&unrolled()), (2 * 2 * 9 * 8 * 4) as f64);
        let gemm = Gemm { groups: 1, m: 49, n: 17, k: 27 };
        let odd = Loops::of(gemm, Some(window(3, 7, 3, 17, 1)));
        assert_eq!(odd.steps(&unrolled()), (3 * 9 * 7 * 4) as f64);
    }

    #[test]
    fn a_depthwise_convolution_fills_output_channels_and_one_input_channel() {
        let gemm = Gemm { groups: 64, m: 25, n: 1, k: 9 };
        let loops = Loops::of(gemm, Some(window(3, 5, 1, 64, 64)));
        assert_eq!(loops.steps(&unrolled()), (8 * 9 * 5 * 3) as f64);
    }

    #[test]
    fn a_product_without_a_window_runs_over_its_rows() {
        let gemm = Gemm { groups: 1, m: 1, n: 10, k: 64 };
        assert_eq!(Loops::of(gemm, None).steps(&unrolled()), (2 * 8) as f64);
    }
}
