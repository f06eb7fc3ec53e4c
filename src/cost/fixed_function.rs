//! Datapaths that do given steps of each loop at once (spatial unrolling).
//!
//! A product takes `c S + s U + t T + o O + p P` cycles and at least `outputs / rate` of the way out, with
//! `S = ∏ ceil(extent / unrolled)` steps over output channels, input channels, window points, output rows
//! and columns, of which output channels, rows and columns make `T` tiles of results; `U` and `O` are the
//! output channels of all steps and of all tiles, and `P` the positions of the results, each once for all
//! channels. Loops whose extents do not divide run partly empty; a
//! datapath that makes results at every position makes `stride²` times as many, and one with a step of
//! its own for strides has other extents there. Neglected: order of the loops and what it
//! keeps, which is traffic's matter. Datapaths of single layers count alike; that they work at once is a
//! matter of the plan.

use super::timing::{Passes, Refusal, Timing};
use crate::evidence::{Kind, Valued};
use crate::hardware::{Array, Engine, FixedFunction, Precision, Unrolled};
use crate::model::{Gemm, Layer, OpKind, Window, Work};
use crate::units::{Cycles, MacsPerCycle, OperationsPerCycle, Ratio};

/// Extents of the loops: groups, and those of [`Unrolled`].
#[derive(Debug, Clone, Copy, PartialEq)]
struct Loops {
    groups: u64,
    samples: u64,
    output_channels: u64,
    input_channels: u64,
    window: u64,
    rows: u64,
    columns: u64,
    /// Whether some positions are left out.
    strided: bool,
}

impl Loops {
    /// A convolution by its window; any other product as one over rows of one point.
    fn of(gemm: Gemm, window: Option<Window>) -> Self {
        let product = Self {
            groups: gemm.groups,
            samples: 1,
            output_channels: gemm.n,
            input_channels: gemm.k,
            window: 1,
            rows: 1,
            columns: gemm.m,
            strided: false,
        };
        let Some(w) = window else { return product };
        let groups = w.groups.max(1);
        let points = w.kernel_height.saturating_mul(w.kernel_width).max(1);
        let loops = Self {
            groups,
            samples: w.batch.max(1),
            output_channels: (w.output_channels / groups).max(1),
            input_channels: w.input_channels.max(1),
            window: points,
            rows: w.output_height.max(1),
            columns: w.output_width.max(1),
            strided: w.stride_height.max(w.stride_width) > 1,
        };
        // Of a transposed convolution the product runs over the input, and says so better.
        if loops.macs() == gemm.macs() { loops } else { product }
    }

    fn macs(self) -> u128 {
        [self.groups, self.samples, self.output_channels, self.input_channels, self.window]
            .into_iter()
            .chain([self.rows, self.columns])
            .fold(1u128, |product, extent| product.saturating_mul(u128::from(extent)))
    }

    /// Steps, tiles of results, and output channels of all tiles; for a depthwise convolution with its
    /// channels in the place of output channels.
    fn counts(self, unrolled: &Unrolled) -> Counts {
        let over = |extent: u64, at_once: u64| extent.div_ceil(at_once.max(1)).max(1) as f64;
        let depthwise = self.groups > 1 && self.output_channels == 1;
        let (groups, channels) =
            if depthwise { (1, self.groups) } else { (self.groups, self.output_channels) };
        let (rows, columns) = self.positions_of_step(unrolled);
        let positions = over(self.rows, rows) * over(self.columns, columns) * self.samples as f64;
        let planes = positions * groups as f64;
        let tiles = planes * over(channels, unrolled.output_channels);
        let inside =
            over(self.input_channels, unrolled.input_channels) * over(self.window, unrolled.window);
        let channels = planes * channels as f64;
        Counts {
            steps: tiles * inside,
            step_channels: channels * inside,
            tiles,
            channels,
            positions,
        }
    }

    /// Output rows and columns of a step.
    fn positions_of_step(self, unrolled: &Unrolled) -> (u64, u64) {
        match unrolled.strided {
            Some(extents) if self.strided => extents,
            _ => (unrolled.output_rows, unrolled.output_columns),
        }
    }

    /// Multiply-accumulates that a step has room for.
    fn macs_of_step(self, unrolled: &Unrolled) -> u64 {
        let (rows, columns) = self.positions_of_step(unrolled);
        [unrolled.output_channels, unrolled.input_channels, unrolled.window, rows, columns]
            .into_iter()
            .fold(1, u64::saturating_mul)
    }

    /// Multiply-accumulates that all steps have room for. Channels that come one after the other leave
    /// no room where there are none.
    fn slots(self, unrolled: &Unrolled, counts: Counts) -> f64 {
        let room = self.macs_of_step(unrolled) as f64;
        match unrolled.step_channel_cycles {
            Some(_) => counts.step_channels * room / unrolled.output_channels.max(1) as f64,
            None => counts.steps * room,
        }
    }

    /// The same at every input position.
    fn at_all_positions(self, window: Option<Window>) -> Self {
        let Some(w) = window else { return self };
        Self {
            rows: self.rows.saturating_mul(w.stride_height.max(1)),
            columns: self.columns.saturating_mul(w.stride_width.max(1)),
            strided: false,
            ..self
        }
    }
}

/// How often a datapath does what.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Counts {
    steps: f64,
    step_channels: f64,
    tiles: f64,
    channels: f64,
    positions: f64,
}

impl Unrolled {
    /// Cycles of so many steps, tiles and channels, and what they rest on.
    fn cycles_of(&self, counts: Counts) -> (f64, Kind) {
        let each = |cycles: &Option<Valued<Cycles>>, default: f64| {
            let kind = cycles.as_ref().map_or(Kind::STRONGEST, Valued::kind);
            (cycles.as_ref().map_or(default, |c| c.get().0), kind)
        };
        let (step, tile) = (each(&self.cycles, 1.0), each(&self.tile_cycles, 0.0));
        let (step_channel, channel) =
            (each(&self.step_channel_cycles, 0.0), each(&self.channel_cycles, 0.0));
        let position = each(&self.position_cycles, 0.0);
        let cycles = counts.steps * step.0
            + counts.step_channels * step_channel.0
            + counts.tiles * tile.0
            + counts.channels * channel.0
            + counts.positions * position.0;
        let kinds = [step_channel.1, tile.1, channel.1, position.1];
        (cycles, kinds.into_iter().fold(step.1, Kind::weaker))
    }

    /// Multiply-accumulates a cycle with everything full, of whichever step does most.
    fn rate(&self) -> f64 {
        let step_channels = self.output_channels as f64;
        let one = Counts { steps: 1.0, step_channels, tiles: 0.0, channels: 0.0, positions: 0.0 };
        let (rows, columns) = (self.output_rows, self.output_columns);
        let most = [Some((rows, columns)), self.strided].into_iter().flatten();
        let most = most.map(|(r, c)| r.saturating_mul(c)).max().unwrap_or(1);
        let inside = self.output_channels.saturating_mul(self.input_channels);
        let macs = inside.saturating_mul(self.window).saturating_mul(most);
        macs as f64 / self.cycles_of(one).0
    }
}

fn rate_in(function: &FixedFunction, precision: Precision) -> Option<(f64, Kind)> {
    if function.precision == precision {
        return Some((1.0, Kind::STRONGEST));
    }
    function.rates.get(&precision).map(|rate: &Valued<Ratio>| (rate.get().0, rate.kind()))
}

/// True where the input channels of a result come in more than one step.
pub(super) fn sums_in_passes(array: &Array, work: &Work) -> bool {
    let Array::FixedFunction(function) = array else { return false };
    let Some((gemm, unrolled)) = work.gemm.zip(function.unrolled.get(&work.kind)) else {
        return false;
    };
    Loops::of(gemm, work.window).input_channels > unrolled.input_channels
}

pub(super) fn timing(
    engine: &Engine,
    function: &FixedFunction,
    work: &Work,
    precision: Precision,
) -> Result<Timing, Refusal> {
    let (rate, kind) =
        rate_in(function, precision).ok_or_else(|| Refusal::no_precision(engine, work))?;
    let no_function = || Refusal::no_function(engine, work);
    let fastest = function.unrolled.values().map(Unrolled::rate).fold(0.0, f64::max);
    let mut timing = Timing {
        compute: Cycles::ZERO,
        array_macs: 0,
        made: 1.0,
        peak: MacsPerCycle(fastest * rate),
        passes: Passes::ONCE,
        kind,
    };
    let at = |rate: &Valued<OperationsPerCycle>, count: u64| count as f64 / rate.get().0;
    if let Some(gemm) = work.gemm {
        let unrolled = function.unrolled.get(&work.kind).ok_or_else(no_function)?;
        let mut loops = Loops::of(gemm, work.window);
        if unrolled.makes_all_positions {
            let kept = loops.macs() as f64;
            loops = loops.at_all_positions(work.window);
            timing.made = loops.macs() as f64 / kept.max(1.0);
        }
        let counts = loops.counts(unrolled);
        let (cycles, cycles_kind) = unrolled.cycles_of(counts);
        let mut cycles = cycles / rate;
        timing.kind = timing.kind.weaker(cycles_kind);
        if let Some(way_out) = &function.outputs {
            let least = at(way_out, work.output_elements);
            if least > cycles {
                (cycles, timing.kind) = (least, way_out.kind());
            }
        }
        timing.compute = Cycles(cycles);
        timing.array_macs = loops.slots(unrolled, counts) as u64;
        return Ok(timing);
    }
    if work.element_ops > 0 && work.kind != OpKind::View {
        let own = function.operations_by_kind.get(&work.kind);
        let beside = own.or(function.operations.as_ref()).ok_or_else(no_function)?;
        timing.compute = Cycles(at(beside, work.element_ops).ceil());
        timing.kind = beside.kind();
    }
    Ok(timing)
}

/// What the datapath that a layer has to itself takes for all of the layer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StageCost {
    /// Cycles for all of it, the way out included.
    pub compute: Cycles,
    /// Multiply-accumulate slots of these cycles.
    pub array_macs: u64,
    /// Most multiply-accumulates a cycle.
    pub peak: MacsPerCycle,
    /// What the cycles rest on.
    pub kind: Kind,
}

fn stages(engine: &Engine) -> Option<&FixedFunction> {
    let Array::FixedFunction(function) = &engine.array else { return None };
    (!function.stages.is_empty()).then_some(function)
}

/// True where layers have datapaths to themselves.
pub fn has_stages(engine: &Engine) -> bool {
    stages(engine).is_some()
}

/// Why an engine that is made for one network takes no such layer.
pub fn no_stage(engine: &Engine, layer: &Layer) -> Option<Refusal> {
    let function = stages(engine)?;
    let missing = layer.work.gemm.is_some() && !function.stages.contains_key(&layer.name);
    missing.then(|| Refusal::no_function(engine, &layer.work))
}

/// The cost of a layer on the datapath of its own; nothing where it has none.
pub fn stage(engine: &Engine, layer: &Layer) -> Option<StageCost> {
    let function = stages(engine)?;
    let own = function.stages.get(&layer.name)?;
    let loops = Loops::of(layer.work.gemm?, layer.work.window);
    let counts = loops.counts(own);
    let (mut cycles, mut kind) = own.cycles_of(counts);
    if let Some(way_out) = &function.outputs {
        let least = layer.work.output_elements as f64 / way_out.get().0;
        if least > cycles {
            (cycles, kind) = (least, way_out.kind());
        }
    }
    let (array_macs, peak) = (loops.slots(own, counts) as u64, MacsPerCycle(own.rate()));
    Some(StageCost { compute: Cycles(cycles), array_macs, peak, kind })
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
            input_height: size,
            input_width: size,
            output_height: size,
            output_width: size,
            stride_height: 1,
            stride_width: 1,
            input_channels: inputs,
            output_channels: outputs,
            groups,
            batch: 1,
            dilation_height: 1,
        }
    }

    #[test]
    fn loops_that_divide_run_full_and_others_do_not() {
        let gemm = Gemm { groups: 1, m: 64, n: 16, k: 144 };
        let full = Loops::of(gemm, Some(window(3, 8, 16, 16, 1)));
        assert_eq!(full.counts(&unrolled()).steps, (2 * 2 * 9 * 8 * 4) as f64);
        let gemm = Gemm { groups: 1, m: 49, n: 17, k: 27 };
        let odd = Loops::of(gemm, Some(window(3, 7, 3, 17, 1)));
        assert_eq!(odd.counts(&unrolled()).steps, (3 * 9 * 7 * 4) as f64);
    }

    #[test]
    fn a_depthwise_convolution_fills_output_channels_and_one_input_channel() {
        let gemm = Gemm { groups: 64, m: 25, n: 1, k: 9 };
        let loops = Loops::of(gemm, Some(window(3, 5, 1, 64, 64)));
        assert_eq!(loops.counts(&unrolled()).steps, (8 * 9 * 5 * 3) as f64);
    }

    #[test]
    fn a_product_without_a_window_runs_over_its_rows() {
        let gemm = Gemm { groups: 1, m: 1, n: 10, k: 64 };
        assert_eq!(Loops::of(gemm, None).counts(&unrolled()).steps, (2 * 8) as f64);
    }

    #[test]
    fn tiles_and_channels_cost_beside_their_steps() {
        let text = "(output_channels: 32, input_channels: 16, window: 9, output_rows: 3, output_columns: 3, cycles: \"40 cycle\", step_channel_cycles: \"2 cycle\", tile_cycles: \"60 cycle\", channel_cycles: \"8 cycle\")";
        let unrolled: Unrolled = crate::diagnostic::ron_options().from_str(text).unwrap();
        let gemm = Gemm { groups: 1, m: 36, n: 40, k: 9 * 32 };
        let counts = Loops::of(gemm, Some(window(3, 6, 32, 40, 1))).counts(&unrolled);
        // Four planes of 3 x 3; two tiles of channels in each, of which the second is 8 wide.
        assert_eq!((counts.steps, counts.tiles, counts.channels), (16.0, 8.0, 160.0));
        assert_eq!(counts.step_channels, 320.0);
        let cycles = 16.0 * 40.0 + 320.0 * 2.0 + 8.0 * 60.0 + 160.0 * 8.0;
        assert_eq!(unrolled.cycles_of(counts).0, cycles);
        assert_eq!(unrolled.rate(), (32 * 16 * 9 * 9) as f64 / (40.0 + 64.0));
    }

    #[test]
    fn a_position_costs_once_whatever_its_channels_and_passes() {
        let text = "(output_channels: 64, input_channels: 64, window: 9, cycles: \"2 cycle\", step_channel_cycles: \"0.5 cycle\", position_cycles: \"4 cycle\")";
        let unrolled: Unrolled = crate::diagnostic::ron_options().from_str(text).unwrap();
        // Two passes of 64 input channels over 8 x 8 positions, 40 channels of results.
        let gemm = Gemm { groups: 1, m: 64, n: 40, k: 9 * 128 };
        let counts = Loops::of(gemm, Some(window(3, 8, 128, 40, 1))).counts(&unrolled);
        assert_eq!((counts.steps, counts.step_channels, counts.positions), (128.0, 5120.0, 64.0));
        assert_eq!(unrolled.cycles_of(counts).0, 128.0 * 2.0 + 5120.0 * 0.5 + 64.0 * 4.0);
        // A depthwise convolution of 144 channels: three times 64, and its positions once.
        let gemm = Gemm { groups: 144, m: 64, n: 1, k: 9 };
        let counts = Loops::of(gemm, Some(window(3, 8, 1, 144, 144))).counts(&unrolled);
        assert_eq!((counts.steps, counts.step_channels, counts.positions), (192.0, 9216.0, 64.0));
        assert_eq!(unrolled.cycles_of(counts).0, 192.0 * 2.0 + 9216.0 * 0.5 + 64.0 * 4.0);
    }

    #[test]
    fn a_datapath_that_drops_positions_makes_them_first() {
        let strided = Window { stride_height: 2, stride_width: 2, ..window(3, 8, 16, 16, 1) };
        let gemm = Gemm { groups: 1, m: 64, n: 16, k: 144 };
        let loops = Loops::of(gemm, Some(strided));
        let all = loops.at_all_positions(Some(strided)).counts(&unrolled()).steps;
        assert_eq!(all, 4.0 * loops.counts(&unrolled()).steps);
    }
    #[test]
    fn a_step_for_strides_is_of_another_size() {
        let strided = Window { stride_height: 2, stride_width: 2, ..window(3, 8, 16, 16, 1) };
        let gemm = Gemm { groups: 1, m: 64, n: 16, k: 144 };
        let text = "(output_channels: 16, input_channels: 16, window: 9, output_rows: 3, output_columns: 3, strided: (2, 2))";
        let unrolled: Unrolled = crate::diagnostic::ron_options().from_str(text).unwrap();
        let steps = |window| Loops::of(gemm, Some(window)).counts(&unrolled).steps;
        assert_eq!((steps(strided), steps(window(3, 8, 16, 16, 1))), (16.0, 9.0));
    }
}
