//! Tensor cores: a product is cut into tiles of results, and the last of each is paid in full.
//!
//! Tiles `T = g ceil(M/m) ceil(N/n)` go to `U` units in `ceil(T/U)` rounds, each of
//! `ceil(K/k) k m n / rate` cycles, with `rate` \[MAC/cycle\] of one unit. Utilisation falls off in
//! steps: of the tile (padding of M, N, K) and of the round (units that have nothing left, NVIDIA's
//! wave quantisation). Neglected: splitting the sum over units, which a library does where few tiles
//! meet a deep sum.

use super::timing::{Passes, Refusal, Timing, window_reads};
use crate::evidence::Kind;
use crate::hardware::{Engine, Precision, TensorTiles};
use crate::model::{Gemm, Work};
use crate::units::{Cycles, MacsPerCycle};

/// Cycles and filled slots of a product.
fn product(tiles: &TensorTiles, rate: f64, gemm: Gemm) -> (f64, f64) {
    let rounds_of = |extent: u64, side: u64| extent.div_ceil(side.max(1)).max(1) as f64;
    let count = gemm.groups as f64 * rounds_of(gemm.m, tiles.m) * rounds_of(gemm.n, tiles.n);
    let depth = rounds_of(gemm.k, tiles.k) * tiles.k as f64;
    let slots = depth * tiles.m as f64 * tiles.n as f64;
    let rounds = (count / tiles.units as f64).ceil();
    (rounds * slots / rate, count * slots)
}

pub(super) fn timing(
    engine: &Engine,
    tiles: &TensorTiles,
    work: &Work,
    precision: Precision,
) -> Result<Timing, Refusal> {
    let no_precision = || Refusal::no_precision(engine, work);
    let rate = tiles.macs.get(&precision).ok_or_else(no_precision)?;
    let peak = MacsPerCycle(rate.get().0 * tiles.units as f64);
    let mut timing = Timing {
        compute: Cycles::ZERO,
        array_macs: 0,
        made: 1.0,
        peak,
        passes: Passes::ONCE,
        kind: Kind::STRONGEST,
    };
    if let Some(gemm) = work.gemm {
        let (cycles, slots) = product(tiles, rate.get().0, gemm);
        timing.compute = Cycles(cycles);
        timing.array_macs = slots as u64;
        timing.passes = Passes {
            input: gemm.n.div_ceil(tiles.n.max(1)).max(1) as f64,
            windows: window_reads(work),
            weight: gemm.m.div_ceil(tiles.m.max(1)).max(1) as f64,
            ..Passes::ONCE
        };
        timing.kind = rate.kind();
    } else if work.element_ops > 0 {
        let unsupported = || Refusal::no_function(engine, work);
        let rate = tiles.operations.get(&precision).ok_or_else(unsupported)?;
        timing.compute = Cycles((work.element_ops as f64 / rate.get().0).ceil());
        timing.kind = rate.kind();
    }
    Ok(timing)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cores() -> TensorTiles {
        ron::from_str("(units: 4, m: 16, n: 16, k: 16, macs: {Float16: \"256 MAC/cycle\"})")
            .unwrap()
    }

    #[test]
    fn a_product_that_fills_tiles_and_rounds_runs_at_the_peak() {
        let full = Gemm { groups: 1, m: 32, n: 32, k: 64 };
        assert_eq!(product(&cores(), 256.0, full), (64.0, (32 * 32 * 64) as f64));
    }

    #[test]
    fn one_row_more_pays_a_round_more() {
        // 33 rows make three rows of tiles: six tiles, two rounds of four units.
        let one_more = Gemm { groups: 1, m: 33, n: 32, k: 64 };
        assert_eq!(product(&cores(), 256.0, one_more).0, 128.0);
        let vector = Gemm { groups: 1, m: 1, n: 16, k: 16 };
        assert_eq!(product(&cores(), 256.0, vector), (16.0, 4096.0));
    }
}
