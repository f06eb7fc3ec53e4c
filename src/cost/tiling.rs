//! Bytes that pass into and out of a buffer for a given tiling of a product.
//!
//! A product `[M, K] x [K, N]` in tiles `m, k, n`: an operand is fetched anew in every iteration of the
//! loops from the outermost to the innermost one that picks its tile,
//! `fetches = ∏ trips`, and the results are read back on every visit but the first:
//!
//! `A = fetches(m, k) m k`, `B = fetches(k, n) k n`, `C written = fetches(m, n) m n`,
//! `C read = C written - M N`.
//!
//! A buffer of `S` elements holds the tiling if `d (m k + k n) + m n <= S`, with `d = 2` where the next
//! input tiles arrive while these are worked on. The input of a convolution tile of `t` output rows is
//! `(t - 1) stride + (kernel - 1) dilation + 1` rows: tiles overlap (halo). Bound from below:
//! `max(M K + K N + M N, 2 M N K / sqrt(S) - 2 S)` elements. Tiles that do not divide count their last one
//! as the part that is left.
//!
//! [`Tiling`] is this law; [`search`] finds the tilings of least traffic for operands of any width that pass
//! buffers of their own or share them ([`Staging`]), and [`tilings`] remembers what it found.

mod memo;
mod rows;
mod search;
mod sizes;

pub(crate) use memo::Mixing;
pub use memo::tilings;
pub use rows::{Image, RowTile, Rows};
pub use search::{Factor, ROOMS, Results, StagedTiling, Staging, Tilings, search};
pub use sizes::tile_sizes;

use crate::model::Gemm;

/// A loop over tiles of a product.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TileLoop {
    /// Over rows.
    M,
    /// Over columns.
    N,
    /// Over the sum.
    K,
}

impl TileLoop {
    /// The six orders, outermost first.
    pub const ORDERS: [[Self; 3]; 6] = [
        [Self::M, Self::N, Self::K],
        [Self::M, Self::K, Self::N],
        [Self::N, Self::M, Self::K],
        [Self::N, Self::K, Self::M],
        [Self::K, Self::M, Self::N],
        [Self::K, Self::N, Self::M],
    ];
}

/// Tiles of a product and the order of their loops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tiling {
    /// Rows of a tile.
    pub m: u64,
    /// Columns of a tile.
    pub n: u64,
    /// Depth of a tile.
    pub k: u64,
    /// Loops, outermost first.
    pub order: [TileLoop; 3],
}

/// Elements that a tiling moves, of all groups of a product.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TileTraffic {
    /// Of the first factor, read.
    pub input: u128,
    /// Of the second factor, read.
    pub weight: u128,
    /// Of the results, written.
    pub written: u128,
    /// Of partial results, read back.
    pub read_back: u128,
}

impl TileTraffic {
    /// All of them.
    pub fn total(self) -> u128 {
        let parts = [self.weight, self.written, self.read_back];
        parts.into_iter().fold(self.input, u128::saturating_add)
    }
}

impl Tiling {
    /// Elements that a buffer must hold, with room for the next input tiles where `double_buffered`.
    pub fn footprint(self, double_buffered: bool) -> u128 {
        let area = |a: u64, b: u64| u128::from(a).saturating_mul(u128::from(b));
        let inputs = area(self.m, self.k).saturating_add(area(self.k, self.n));
        let copies = if double_buffered { 2 } else { 1 };
        inputs.saturating_mul(copies).saturating_add(area(self.m, self.n))
    }

    /// Elements that it moves for a product.
    pub fn traffic(self, gemm: Gemm) -> TileTraffic {
        use TileLoop::{K, M, N};
        let area = |a: u64, b: u64| u128::from(a).saturating_mul(u128::from(b));
        let groups = u128::from(gemm.groups);
        // An operand is gone through whole once for each trip of loops outside that do not pick it.
        let times = |picks: [TileLoop; 2]| self.repeats(gemm, picks);
        let whole = |extent: u128, times: u128| groups.saturating_mul(extent).saturating_mul(times);
        let results = area(gemm.m, gemm.n);
        let written = whole(results, times([M, N]));
        TileTraffic {
            input: whole(area(gemm.m, gemm.k), times([M, K])),
            weight: whole(area(gemm.k, gemm.n), times([K, N])),
            written,
            read_back: written - whole(results, 1).min(written),
        }
    }

    /// How often an operand is gone through: trips of the loops that do not pick its tile and stand
    /// outside the innermost one that does and has more than one trip.
    fn repeats(self, gemm: Gemm, picks: [TileLoop; 2]) -> u128 {
        let trips = |of: TileLoop| {
            let (extent, tile) = match of {
                TileLoop::M => (gemm.m, self.m),
                TileLoop::N => (gemm.n, self.n),
                TileLoop::K => (gemm.k, self.k),
            };
            u128::from(extent.div_ceil(tile.max(1)).max(1))
        };
        let picked = |of: &TileLoop| picks.contains(of);
        let innermost = self.order.iter().rposition(|l| picked(l) && trips(*l) > 1);
        let outside = self.order.iter().take(innermost.map_or(0, |i| i + 1));
        let others = outside.filter(|l| !picked(l));
        others.fold(1u128, |product, l| product.saturating_mul(trips(*l)))
    }
}

/// Input rows (or columns) of a tile of output rows: tiles of a window larger than its stride overlap.
pub fn halo(output: u64, kernel: u64, stride: u64, dilation: u64) -> u64 {
    let reach = kernel.saturating_sub(1).saturating_mul(dilation.max(1)).saturating_add(1);
    output.saturating_sub(1).saturating_mul(stride).saturating_add(reach)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRODUCT: Gemm = Gemm { groups: 1, m: 64, n: 64, k: 64 };

    #[test]
    fn one_tile_moves_every_element_once() {
        let whole = Tiling { m: 64, n: 64, k: 64, order: TileLoop::ORDERS[0] };
        assert_eq!(whole.traffic(PRODUCT).total(), 3 * 64 * 64);
        assert_eq!(whole.footprint(true), 5 * 64 * 64);
    }

    #[test]
    fn sums_inside_keep_results_and_sums_outside_spill_them() {
        let tiles = |order| Tiling { m: 16, n: 32, k: 1, order };
        let inside = tiles([TileLoop::M, TileLoop::N, TileLoop::K]).traffic(PRODUCT);
        assert_eq!((inside.written, inside.read_back), (4096, 0));
        assert_eq!((inside.input, inside.weight), (2 * 4096, 4 * 4096));
        let outside = tiles([TileLoop::K, TileLoop::M, TileLoop::N]).traffic(PRODUCT);
        assert_eq!((outside.written, outside.read_back), (64 * 4096, 63 * 4096));
    }

    #[test]
    fn tiles_of_a_window_overlap() {
        assert_eq!(halo(8, 3, 1, 1), 10);
        assert_eq!(halo(8, 3, 2, 1), 17);
        assert_eq!(halo(8, 3, 1, 2), 12);
        assert_eq!(halo(1, 1, 4, 1), 1);
    }
}
