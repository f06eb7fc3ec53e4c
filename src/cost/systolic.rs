//! Two-dimensional arrays: cycles and operand passes from shapes.
//!
//! A product `[M, K] x [K, N]` on `R x C` elements, without stalls (equal to SCALE-Sim v3):
//!
//! - weight stationary: `ceil(K/R) ceil(N/C) (2R + C + M - 2) - 1`
//! - output stationary: `ceil(M/R) ceil(N/C) (R + C + K - 2) - 1`
//! - input stationary:  `ceil(K/R) ceil(M/C) (2R + C + N - 2) - 1`, by symmetry
//! - row stationary (Eyeriss, IEEE JSSC 52(1), 2017): a set of `kh` rows by `min(E, C)` columns makes
//!   one plane of filter and channel; `floor(R/kh) floor(C/min(E, C))` sets work side by side, taller
//!   planes are cut into `ceil(E/C)` strips and taller windows into `ceil(kh/R)` parts, and a set
//!   takes `kw F` cycles, for an output of `E x F`.
//!
//! With the next stationary tile loaded while this one is worked on, a weight- or input-stationary fold
//! takes `max(streamed, R)` cycles, and the array fills once: `R + C - 2`.
//!
//! Formats with a rate `r` over that of the elements take `1/r` of the cycles. Groups run one after the
//! other. Neglected: stalls for operands (mapping adds them), and for row stationary the filling of each
//! pass.

use super::timing::{Passes, Refusal, Timing, window_reads};
use crate::evidence::Kind;
use crate::hardware::{Dataflow, Engine, Precision, Scratchpads, Systolic};
use crate::model::{Gemm, Window, Work};
use crate::units::{Cycles, MacsPerCycle};

/// Cycles and passes of a product on an array.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SystolicCycles {
    /// Cycles without stalls.
    pub cycles: f64,
    /// MAC slots filled, padding included.
    pub array_macs: f64,
    /// Operand passes.
    pub passes: Passes,
}

/// Times that `size` goes into `extent`, at least one.
fn folds(extent: u64, size: u64) -> f64 {
    extent.div_ceil(size.max(1)).max(1) as f64
}

/// Cycles of a product on a weight-, output- or input-stationary array. A product has no rows that
/// slide, so a row-stationary array holds its weights.
pub fn systolic_cycles(dataflow: Dataflow, rows: u64, columns: u64, gemm: Gemm) -> SystolicCycles {
    product(dataflow, (rows, columns), false, gemm)
}

fn product(
    dataflow: Dataflow,
    (rows, columns): (u64, u64),
    prefetches: bool,
    gemm: Gemm,
) -> SystolicCycles {
    let Gemm { groups, m, n, k } = gemm;
    let (r, c) = (rows as f64, columns as f64);
    // Stationary extents over rows and columns, streamed extent, and loads of the stationary tile.
    let (down, across, streamed, load) = match dataflow {
        Dataflow::WeightStationary | Dataflow::RowStationary => (k, n, m as f64, 2.0 * r),
        Dataflow::OutputStationary => (m, n, k as f64, r),
        Dataflow::InputStationary => (k, m, n as f64, 2.0 * r),
    };
    let (fold_rows, fold_columns) = (folds(down, rows), folds(across, columns));
    let tiles = fold_rows * fold_columns;
    // The closed form counts from the first to the last result: on a single element that is one
    // cycle short of its work.
    let least = (m as f64) * (n as f64) * (k as f64) / (r * c);
    let each = if prefetches && dataflow != Dataflow::OutputStationary {
        tiles * streamed.max(r) + r + c - 2.0
    } else {
        tiles * (load + c + streamed - 2.0) - 1.0
    };
    let cycles = each.max(least) * groups as f64;
    let sums = fold_rows;
    let passes = match dataflow {
        Dataflow::WeightStationary | Dataflow::RowStationary => Passes {
            input: fold_columns,
            output_written: sums,
            output_read: sums - 1.0,
            ..Passes::ONCE
        },
        Dataflow::OutputStationary => {
            Passes { input: fold_columns, weight: fold_rows, ..Passes::ONCE }
        }
        Dataflow::InputStationary => Passes {
            weight: fold_columns,
            output_written: sums,
            output_read: sums - 1.0,
            ..Passes::ONCE
        },
    };
    SystolicCycles { cycles, array_macs: tiles * r * c * streamed * groups as f64, passes }
}

/// Cycles of a convolution on a row-stationary array.
fn row_stationary(array: &Systolic, window: Window) -> SystolicCycles {
    let (rows, columns) = (array.rows, array.columns);
    let kernel_folds = folds(window.kernel_height, rows);
    let set_rows = window.kernel_height.clamp(1, rows);
    let set_columns = window.output_height.clamp(1, columns);
    let sets = (rows / set_rows) * (columns / set_columns);
    let strips = folds(window.output_height, columns);
    // Strips of one plane, channels, filters and samples all fill the sets.
    let planes = window.output_channels as f64
        * window.input_channels as f64
        * window.batch as f64
        * strips
        * kernel_folds;
    let each = window.kernel_width as f64 * window.output_width as f64;
    let rounds = (planes / sets as f64).ceil();
    let slots = (sets * set_rows * set_columns) as f64;
    SystolicCycles {
        cycles: rounds * each,
        array_macs: rounds * each * slots,
        passes: row_stationary_passes(array.scratchpads.as_ref(), sets, strips, window),
    }
}

/// Passes of a row-stationary mapping. A pass keeps `p` filters and `q` channels in the scratchpads
/// of each element; `t` sets take different filters and `r` sets different channels, `r t = sets`. A plane of
/// more strips than there are sets is made in rounds, of which each has input rows of its own: `q` times the
/// rounds is at most [`Scratchpads::input_rows`].
/// The input is read once for each group of `p t` filters, partial sums move once for each group of
/// `q r` channels. The split of least traffic is taken.
fn row_stationary_passes(
    pads: Option<&Scratchpads>,
    sets: u64,
    strips: f64,
    window: Window,
) -> Passes {
    let Some(pads) = pads else { return Passes::ONCE };
    let group_filters = (window.output_channels / window.groups.max(1)).max(1);
    let width = window.kernel_width.max(1);
    let rounds = (strips / sets.max(1) as f64).ceil().max(1.0) as u64;
    let rows = pads.input_rows.map_or(u64::MAX, |rows| (rows / rounds).max(1));
    let q = (pads.input / width).min(rows).clamp(1, window.input_channels.max(1));
    let p = (pads.filter / q.saturating_mul(width))
        .clamp(1, pads.partial_sum.max(1))
        .min(group_filters);
    // Sets that hold strips of one plane are not free for other filters or channels.
    let free = ((sets as f64 / strips).floor() as u64).max(1);
    let input_size = window.input_channels as f64 * window.groups as f64;
    let output_size = window.output_channels as f64;
    divisors(free)
        .map(|r| {
            let input = folds(group_filters, p.saturating_mul(free / r));
            let sums = folds(window.input_channels, q.saturating_mul(r));
            let traffic = input * input_size + (2.0 * sums - 1.0) * output_size;
            let passes =
                Passes { input, output_written: sums, output_read: sums - 1.0, ..Passes::ONCE };
            (traffic, passes)
        })
        .min_by(|a, b| a.0.total_cmp(&b.0))
        .map_or(Passes::ONCE, |(_, passes)| passes)
}

fn divisors(number: u64) -> impl Iterator<Item = u64> {
    let low = (1..=number.isqrt()).filter(move |d| number.is_multiple_of(*d));
    low.flat_map(move |d| [d, number / d])
}

/// How much faster the elements work in a format; nothing in one that they do not work in.
fn rate_in(array: &Systolic, precision: Precision) -> Option<(f64, Kind)> {
    if array.precision == precision {
        // The size of an array is structure: its time rests on the clock alone.
        return Some((1.0, Kind::STRONGEST));
    }
    array.rates.get(&precision).map(|rate| (rate.get().0, rate.kind()))
}

pub(super) fn timing(
    engine: &Engine,
    array: &Systolic,
    work: &Work,
    precision: Precision,
) -> Result<Timing, Refusal> {
    let unsupported = || Refusal::no_function(engine, work);
    let (rate, kind) =
        rate_in(array, precision).ok_or_else(|| Refusal::no_precision(engine, work))?;
    let peak = MacsPerCycle((array.rows * array.columns) as f64 * rate);
    let Some(gemm) = work.gemm else {
        let (cycles, kind) = if work.element_ops == 0 {
            (0.0, kind)
        } else {
            let beside = array.operations.as_ref().ok_or_else(unsupported)?;
            ((work.element_ops as f64 / beside.get().0).ceil(), beside.kind())
        };
        return Ok(Timing {
            compute: Cycles(cycles),
            array_macs: 0,
            made: 1.0,
            peak,
            passes: Passes::ONCE,
            kind,
        });
    };
    let result = match (array.dataflow, work.window) {
        (Dataflow::RowStationary, window) => {
            row_stationary(array, window.unwrap_or_else(|| as_window(gemm)))
        }
        (dataflow, _) => {
            product(dataflow, (array.rows, array.columns), array.prefetches_weights, gemm)
        }
    };
    Ok(Timing {
        compute: Cycles(result.cycles.max(0.0) / rate),
        array_macs: result.array_macs as u64,
        made: 1.0,
        peak,
        passes: taken_in(result.passes, array, work),
        kind,
    })
}

/// The passes with overlapping windows, whose words enter the array each time: at its edge for each fold, or
/// as the stationary tile. Row by row they slide within it, and buffers of lines hand them on.
fn taken_in(passes: Passes, array: &Systolic, work: &Work) -> Passes {
    if array.dataflow == Dataflow::RowStationary || array.reuses_windows {
        return passes;
    }
    Passes { windows: window_reads(work), ..passes }
}

/// A matrix product as a convolution with a window of one point.
fn as_window(gemm: Gemm) -> Window {
    Window {
        kernel_height: 1,
        kernel_width: 1,
        input_height: 1,
        input_width: gemm.m,
        output_height: 1,
        output_width: gemm.m,
        stride_height: 1,
        stride_width: 1,
        input_channels: gemm.k,
        output_channels: gemm.n.saturating_mul(gemm.groups),
        groups: gemm.groups,
        batch: 1,
        dilation_height: 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn eyeriss() -> Systolic {
        Systolic {
            reuses_windows: false,
            rows: 12,
            columns: 14,
            dataflow: Dataflow::RowStationary,
            precision: Precision::Int16,
            rates: std::collections::BTreeMap::new(),
            prefetches_weights: false,
            scratchpads: Some(Scratchpads {
                filter: 224,
                input: 12,
                partial_sum: 24,
                input_rows: Some(2),
            }),
            operations: None,
        }
    }

    fn alexnet(kernel: u64, output: u64, input_channels: u64, filters: u64, groups: u64) -> Window {
        Window {
            kernel_height: kernel,
            kernel_width: kernel,
            input_height: output,
            input_width: output,
            output_height: output,
            output_width: output,
            stride_height: 1,
            stride_width: 1,
            input_channels,
            output_channels: filters,
            groups,
            batch: 1,
            dilation_height: 1,
        }
    }

    #[test]
    fn a_product_folds_over_the_array() {
        let gemm = Gemm { groups: 1, m: 125, n: 64, k: 40 };
        let ws = systolic_cycles(Dataflow::WeightStationary, 32, 32, gemm);
        assert_eq!(ws.cycles, 2.0 * 2.0 * (64.0 + 32.0 + 125.0 - 2.0) - 1.0);
        assert_eq!(ws.passes.input, 2.0);
        assert_eq!(ws.passes.output_read, 1.0);
    }

    #[test]
    fn prefetched_weights_hide_their_load_behind_the_stream() {
        let gemm = Gemm { groups: 1, m: 125, n: 64, k: 40 };
        let hidden = product(Dataflow::WeightStationary, (32, 32), true, gemm);
        assert_eq!(hidden.cycles, 4.0 * 125.0 + 62.0);
        // A stream shorter than a column waits for the weights.
        let short = Gemm { m: 8, ..gemm };
        assert_eq!(
            product(Dataflow::WeightStationary, (32, 32), true, short).cycles,
            4.0 * 32.0 + 62.0
        );
    }

    /// Active elements of Eyeriss on AlexNet as its paper prints them: 154, 135, 156, 156, 156.
    /// On conv2 27 rows are cut into 14 and 13, so 135 of the 140 held elements work.
    #[test]
    fn row_stationary_sets_hold_the_elements_that_the_chip_used() {
        let array = eyeriss();
        let slots = |w: Window| {
            let c = row_stationary(&array, w);
            c.array_macs / c.cycles
        };
        assert_eq!(slots(alexnet(11, 55, 3, 96, 1)), 154.0);
        assert_eq!(slots(alexnet(5, 27, 48, 256, 2)), 140.0);
        assert_eq!(slots(alexnet(3, 13, 256, 384, 1)), 156.0);
    }

    /// Global-buffer traffic that the paper prints for VGG-16 is that of partial sums, `2 / qr` words for each
    /// MAC over nine: `qr` of 1 at 224 and 112 pixels, 2 at 56, 4 at 28 and 8 at 14.
    #[test]
    fn partial_sums_move_as_often_as_the_rows_of_an_element_ask_for() {
        for (size, channels, together) in
            [(224, 64, 1), (112, 128, 1), (56, 256, 2), (28, 512, 4), (14, 512, 8)]
        {
            let passes = row_stationary(&eyeriss(), alexnet(3, size, channels, 64, 1)).passes;
            assert_eq!(passes.output_written, (channels / together) as f64, "{size}");
            assert_eq!(passes.output_read, passes.output_written - 1.0);
        }
        // As many rows as fit, where nothing is said: four channels of three words in twelve.
        let mut free = eyeriss();
        free.scratchpads.as_mut().unwrap().input_rows = None;
        let passes = row_stationary(&free, alexnet(3, 56, 256, 64, 1)).passes;
        assert_eq!(passes.output_written, 64.0);
    }

    #[test]
    fn utilisation_never_passes_one() {
        for (rows, columns) in [(1, 1), (3, 5), (12, 14)] {
            let array = Systolic { rows, columns, ..eyeriss() };
            for window in
                [alexnet(11, 55, 3, 96, 1), alexnet(1, 1, 7, 9, 1), alexnet(3, 2, 1, 8, 8)]
            {
                let macs = window.kernel_height
                    * window.kernel_width
                    * window.output_height
                    * window.output_width
                    * window.input_channels
                    * window.output_channels;
                let cycles = row_stationary(&array, window).cycles;
                assert!(macs as f64 <= cycles * (rows * columns) as f64 * 1.000_001);
            }
        }
    }
}
