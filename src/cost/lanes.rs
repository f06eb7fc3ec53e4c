//! Processors and vector units: software decides the rate, the datapath bounds it.
//!
//! `cycles = max(datapath, MACs c_kind + outputs o_kind + positions p_kind)` with `c` \[cycle/MAC\], `o`
//! \[cycle/element\] and `p` \[cycle\] of the software stack. The term per output element (requantise,
//! store) takes the error of whole layers on a Cortex-M4 from 16 % to 4 %. A kernel that computes whole
//! tiles of `M x N` results and `K` points of the sum counts `g ceil(m / M) M ceil(n / N) N ceil(k / K) K`
//! MACs and as many outputs less the last factor; products of a vector (`m = 1`) and depthwise ones have no
//! such tiles. The datapath of `L` lanes takes, for a
//! product of `g` groups `[m, k] x [k, n]` vectorised
//!
//! - along the sum: `g m n (ceil(k / L) L / peak + overhead)`,
//! - along the output channels: `g m ceil(n / L) (k L / peak + overhead)`, where the channels of a
//!   depthwise convolution (`n = 1`) stand in the place of `n`,
//!
//! and `MACs / peak` where no vector loop is given. Without a stack the datapath runs at that pace,
//! which no real kernel does: a profile of a programmable engine should have one.

use super::timing::{Passes, Refusal, Timing};
use crate::evidence::{Kind, Valued};
use crate::hardware::{Blocks, Engine, Lanes, Precision, SoftwareStack, Tile, Vector, VectorLoop};
use crate::model::{Gemm, OpKind, Work};
use crate::units::{Cycles, MacsPerCycle};

pub(super) fn timing(
    engine: &Engine,
    lanes: &Lanes,
    stack: Option<&SoftwareStack>,
    work: &Work,
    precision: Precision,
) -> Result<Timing, Refusal> {
    let no_precision = || Refusal::no_precision(engine, work);
    let peak = lanes.macs.get(&precision).ok_or_else(no_precision)?;
    let (least, least_kind) = datapath(lanes, peak, work, precision);
    let (software, software_kind) = match stack {
        None => (0.0, least_kind),
        Some(stack) => software_cycles(engine, stack, work, precision)?,
    };
    let (compute, kind) =
        if software >= least { (software, software_kind) } else { (least, least_kind) };
    let blocks = stack.and_then(|s| s.blocks.as_ref());
    Ok(Timing {
        compute: Cycles(compute),
        array_macs: work.macs,
        made: 1.0,
        peak: peak.get(),
        passes: passes(blocks, work.gemm),
        kind,
    })
}

/// Cycles that the datapath takes at least.
fn datapath(
    lanes: &Lanes,
    peak: &Valued<MacsPerCycle>,
    work: &Work,
    precision: Precision,
) -> (f64, Kind) {
    let rate = peak.get().0;
    let (mut products, mut kind) = (work.macs as f64 / rate, peak.kind());
    if let (Some(vector), Some(gemm)) = (&lanes.vector, work.gemm)
        && work.macs > 0
    {
        let vectors = vectorised(vector, gemm, rate, precision);
        if vectors > products {
            products = vectors;
            kind = kind.weaker(vector.overhead.as_ref().map_or(kind, Valued::kind));
        }
    }
    let beside = lanes.operations.get(&precision);
    let others = work.element_ops as f64 / beside.map_or(rate, |r| r.get().0);
    if products >= others {
        return (products, kind);
    }
    (others, beside.map_or(peak.kind(), |r| r.kind()))
}

fn vectorised(vector: &Vector, gemm: Gemm, peak: f64, precision: Precision) -> f64 {
    let lanes = vector.elements.get(&precision).copied().unwrap_or(1).max(1);
    let full = |extent: u64| extent.div_ceil(lanes) as f64;
    let each = lanes as f64 / peak;
    let overhead = vector.overhead.as_ref().map_or(0.0, |o| o.get().0);
    let Gemm { groups, m, n, k } = gemm;
    let (groups, m) = (groups as f64, m as f64);
    match vector.along {
        VectorLoop::Depth => groups * m * n as f64 * (full(k) * each + overhead),
        VectorLoop::OutputChannels if n == 1 => {
            m * full(gemm.groups) * (k as f64 * each + overhead)
        }
        VectorLoop::OutputChannels => groups * m * full(n) * (k as f64 * each + overhead),
    }
}

/// How often a kernel that makes blocks of results goes through its operands.
fn passes(blocks: Option<&Blocks>, gemm: Option<Gemm>) -> Passes {
    let (Some(blocks), Some(gemm)) = (blocks, gemm) else { return Passes::ONCE };
    let rounds = |extent: u64, block: u64| extent.div_ceil(block.max(1)).max(1) as f64;
    Passes {
        input: rounds(gemm.n, blocks.channels),
        weight: rounds(gemm.m, blocks.positions),
        ..Passes::ONCE
    }
}

/// What the cycles of a kernel go by.
#[derive(Debug, PartialEq)]
struct Counted {
    macs: f64,
    outputs: f64,
    /// Output positions, whatever their channels.
    positions: f64,
}

impl Counted {
    /// Counted in whole tiles, where the kernel computes such.
    fn of(tile: Option<&Tile>, work: &Work) -> Self {
        let (macs, outputs) = (work.macs as f64, work.output_elements as f64);
        let Some(gemm) = work.gemm else { return Self { macs, outputs, positions: 0.0 } };
        let (macs, outputs) = tile.and_then(|tile| tiled(tile, gemm)).unwrap_or((macs, outputs));
        Self { macs, outputs, positions: positions(gemm, work.window.is_some()) }
    }
}

/// Output positions. The groups of a convolution are channels, those of a batched product are products.
fn positions(gemm: Gemm, slides: bool) -> f64 {
    if slides { gemm.m as f64 } else { gemm.groups as f64 * gemm.m as f64 }
}

/// MACs and outputs of whole tiles. Depthwise products, and those of a single row, are not made so.
fn tiled(tile: &Tile, gemm: Gemm) -> Option<(f64, f64)> {
    let Gemm { groups, m, n, k } = gemm;
    if m <= 1 || (groups > 1 && n == 1) {
        return None;
    }
    let whole = |extent: u64, tile: u64| extent.div_ceil(tile.max(1)) as f64 * tile.max(1) as f64;
    let outputs = groups as f64 * whole(m, tile.positions) * whole(n, tile.channels);
    Some((outputs * whole(k, tile.depth), outputs))
}

fn software_cycles(
    engine: &Engine,
    stack: &SoftwareStack,
    work: &Work,
    precision: Precision,
) -> Result<(f64, Kind), Refusal> {
    let (mut cycles, mut kind) = (0.0, Kind::STRONGEST);
    let Counted { macs, outputs, positions } = Counted::of(stack.tile.as_ref(), work);
    let mut known = work.kind == OpKind::View;
    if let Some(rate) = stack.cycles_per_mac.get(&work.kind) {
        cycles += macs * rate.get().0;
        kind = kind.weaker(rate.kind());
        known = true;
    }
    if let Some(rate) = stack.cycles_per_output.get(&work.kind) {
        cycles += outputs * rate.get().0;
        kind = kind.weaker(rate.kind());
        known |= work.macs == 0;
    }
    if let Some(each) = stack.cycles_per_position.get(&work.kind) {
        cycles += positions * each.get().0;
        kind = kind.weaker(each.kind());
    }
    if let (Some(rate), Some(gemm)) = (stack.cycles_per_gathered.get(&work.kind), work.gemm) {
        cycles += gemm.groups as f64 * gemm.m as f64 * gemm.k as f64 * rate.get().0;
        kind = kind.weaker(rate.kind());
    }
    if let Some(rate) = stack.cycles_per_operation.get(&work.kind).filter(|_| work.macs == 0) {
        cycles += work.element_ops as f64 * rate.get().0;
        kind = kind.weaker(rate.kind());
        known = true;
    }
    if let Some(factor) = stack.relative_cycles.get(&precision) {
        cycles *= factor.get().0;
        kind = kind.weaker(factor.kind());
    }
    if known {
        return Ok((cycles, kind));
    }
    Err(Refusal::NoRate {
        engine: engine.name.clone(),
        software: stack.name.clone(),
        kind: work.kind,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vector(along: &str) -> Vector {
        let text = format!("(along: {along}, elements: {{Int8: 16}})");
        ron::from_str(&text).unwrap()
    }

    #[test]
    fn what_does_not_fill_a_vector_runs_it_partly_empty() {
        let peak = 8.0;
        let cycles = |along, gemm| vectorised(&vector(along), gemm, peak, Precision::Int8);
        // 27 window points times channels fill one vector of 16 and 11 lanes of the next.
        let stem = Gemm { groups: 1, m: 100, n: 8, k: 27 };
        assert_eq!(cycles("Depth", stem), 100.0 * 8.0 * 2.0 * 2.0);
        assert_eq!(cycles("OutputChannels", stem), 100.0 * 27.0 * 2.0);
        // The 9 points of a depthwise window leave 7 of 16 lanes empty; its channels fill them all.
        let depthwise = Gemm { groups: 64, m: 100, n: 1, k: 9 };
        assert_eq!(cycles("Depth", depthwise), 64.0 * 100.0 * 2.0);
        assert_eq!(cycles("OutputChannels", depthwise), 100.0 * 4.0 * 9.0 * 2.0);
    }

    #[test]
    fn a_kernel_with_larger_blocks_reads_its_operands_less_often() {
        let gemm = Gemm { groups: 1, m: 100, n: 64, k: 27 };
        let blocks = Blocks { positions: 2, channels: 4 };
        let passes = passes(Some(&blocks), Some(gemm));
        assert_eq!((passes.input, passes.weight), (16.0, 50.0));
    }

    #[test]
    fn a_tile_is_computed_whole() {
        let tile = Tile { positions: 8, channels: 16, depth: 4 };
        // 9 positions fill two tiles of 8, 24 channels two of 16, 27 points seven of 4.
        let stem = Gemm { groups: 1, m: 9, n: 24, k: 27 };
        assert_eq!(tiled(&tile, stem), Some((16.0 * 32.0 * 28.0, 16.0 * 32.0)));
        let heads = Gemm { groups: 3, m: 9, n: 16, k: 4 };
        assert_eq!(tiled(&tile, heads), Some((3.0 * 16.0 * 16.0 * 4.0, 3.0 * 16.0 * 16.0)));
        let depthwise = Gemm { groups: 5, m: 9, n: 1, k: 9 };
        let of_a_row = Gemm { groups: 1, m: 1, n: 10, k: 3 };
        assert_eq!([depthwise, of_a_row].map(|gemm| tiled(&tile, gemm)), [None, None]);
    }

    #[test]
    fn channels_share_a_position_and_products_do_not() {
        let five = Gemm { groups: 5, m: 9, n: 1, k: 9 };
        assert_eq!((positions(five, true), positions(five, false)), (9.0, 45.0));
    }
}
