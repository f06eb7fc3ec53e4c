//! The tiling of least traffic, by search.
//!
//! How often an operand comes depends on which loop is innermost and on how often the loops turn: `a` times
//! over rows, `b` over columns, `c` over the sum. With `A, B, C` the operands once (`A` with what its tiles
//! share, [`super::Rows`]) and `P` the partial sums, all tilings are of five kinds:
//!
//! | kind | moves | best found by |
//! |---|---|---|
//! | whole sums, rows outside | `A + a B + C`, `B` once where `b = 1` | each `m`, largest `n` |
//! | whole sums, columns outside | `b A + B + C`, `A` once where `a = 1` | each `m`, largest `n` |
//! | sum inside | `b A + a B + C` | each `m`, least `k`, largest `n` |
//! | columns inside | `A + a B + C + 2 (c - 1) P`, `B` once where `b = 1` | each `m`, least or all `n`, largest `k` |
//! | rows inside | `b A + B + C + 2 (c - 1) P`, `A` once where `a = 1` | each `m` and `n`, largest `k` |
//!
//! Each formula falls in every tile that the right column makes as large as the buffers allow, so the best of
//! a kind is found without trying all tiles, and none is missed. Of equal traffic the tiling of fewer tiles is
//! taken.
//!
//! What a tile takes in a buffer, of operands that share it together: `d (m k w_A + k n w_B) + m n w_C`, with
//! `d = 2` where the next tiles of the factors arrive while these are worked on. Results are as wide as the
//! output where their sums are finished in one visit of a tile, and as partial sums elsewhere.
//!
//! An operand without a buffer takes no room, and passes as often as the array asks for at least. One that is
//! gone through in several rounds (the recurrent weights once a step) comes in each, unless it is one tile and
//! stays.
//!
//! Where each tile that moves counts beside its bytes, as it does for its time on a way with a latency, the kinds
//! with parts of sums are searched by each `m` and `n` with the largest `k`.

use super::sizes::tile_sizes;
use super::{RowTile, Rows, TileLoop};

/// Buffers that the operands of a product pass at most.
pub const ROOMS: usize = 3;

/// A factor of a product on its way to the array.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Factor {
    /// Bytes of all groups, once.
    pub bytes: f64,
    /// Bytes of one group.
    pub group: f64,
    /// The buffer that it passes.
    pub room: Option<usize>,
    /// Times that it passes at least, in each round.
    pub passes: f64,
    /// Rounds, one after the other.
    pub rounds: f64,
    /// What a byte of it counts.
    pub price: f64,
}

/// The results of a product.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Results {
    /// Bytes of all groups, finished.
    pub bytes: f64,
    /// Bytes of all groups as partial sums.
    pub sums: f64,
    /// True where the array leaves partial sums in the buffer even within one tile.
    pub wide: bool,
    /// The buffer that they pass.
    pub room: Option<usize>,
    /// What a byte of them counts.
    pub price: f64,
}

/// A product whose operands pass buffers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Staging {
    /// Products, one after the other.
    pub groups: u64,
    /// What its rows are.
    pub rows: Rows,
    /// Columns.
    pub columns: u64,
    /// Depth of the sum, in steps that are never cut: input channels of a convolution.
    pub depth: u64,
    /// The first factor.
    pub input: Factor,
    /// The second.
    pub weight: Factor,
    /// The results.
    pub results: Results,
    /// Bytes beside each column (biases) and the buffer that they pass.
    pub beside: (f64, Option<usize>),
    /// Copies of the tiles of the factors: 2 where the next ones arrive while these are worked on.
    pub copies: f64,
    /// What each tile that comes or goes counts beside its bytes.
    pub wait: f64,
    /// Bytes that each buffer holds.
    pub rooms: [f64; 3],
}

/// A tiling, and what it moves.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StagedTiling {
    /// Rows, columns and steps of the depth in a tile.
    pub tile: (u64, u64, u64),
    /// Loops, outermost first.
    pub order: [TileLoop; 3],
    /// Tiles of the input, of the weights and of the results, of all groups.
    pub tiles: [f64; 3],
    /// Times that input and weights come.
    pub comings: [f64; 2],
    /// Bytes of the input each time: what its tiles share comes with each of them.
    pub input_bytes: f64,
    /// Times that the results leave, all but one as partial sums that come back.
    pub visits: f64,
    /// Bytes to and from the homes.
    pub traffic: f64,
    /// The same with each byte at its price, and what tiles count beside.
    pub cost: f64,
    /// False where not even the smallest tile fits its buffers.
    pub fits: bool,
}

/// The best tiling of each kind, cheapest first. There is at least one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tilings {
    best: StagedTiling,
    others: [Option<StagedTiling>; 4],
}

impl Tilings {
    /// The cheapest.
    pub fn best(&self) -> &StagedTiling {
        &self.best
    }

    /// The others that cost at most so many times as much.
    pub fn near(&self, ratio: f64) -> impl Iterator<Item = &StagedTiling> {
        let most = self.best.cost * ratio;
        self.others.iter().flatten().filter(move |own| own.cost <= most)
    }
}

/// Kinds of tilings.
const KINDS: usize = 5;
const WHOLE_ROWS_OUTSIDE: usize = 0;
const WHOLE_COLUMNS_OUTSIDE: usize = 1;
const SUM_INSIDE: usize = 2;
const COLUMNS_INSIDE: usize = 3;
const ROWS_INSIDE: usize = 4;

/// Ratio of costs that are the same but for rounding.
const SAME: f64 = 1.0 + 1e-12;

/// Tilings of least cost, one of each kind.
pub fn search(staging: &Staging) -> Tilings {
    let search = Search::of(staging);
    let mut best = Best::default();
    search.whole_sums(&mut best);
    search.sum_inside(&mut best);
    search.spilled(&mut best);
    best.into_tilings().unwrap_or_else(|| search.smallest())
}

#[derive(Default)]
struct Best([Option<StagedTiling>; KINDS]);

impl Best {
    fn offer(&mut self, kind: usize, own: StagedTiling) {
        let Some(place) = self.0.get_mut(kind) else { return };
        let better = place.is_none_or(|known| {
            own.cost * SAME < known.cost
                || (own.cost <= known.cost * SAME && own.moves() < known.moves())
        });
        if better {
            *place = Some(own);
        }
    }

    fn cost(&self) -> f64 {
        self.0.iter().flatten().map(|own| own.cost).fold(f64::INFINITY, f64::min)
    }

    fn into_tilings(self) -> Option<Tilings> {
        let mut all = self.0;
        let key = |own: &Option<StagedTiling>| own.map_or(f64::INFINITY, |own| own.cost);
        all.sort_by(|one, other| key(one).total_cmp(&key(other)));
        let [best, others @ ..] = all;
        Some(Tilings { best: best?, others })
    }
}

impl StagedTiling {
    /// Tiles that come and go.
    fn moves(&self) -> f64 {
        let [input, weight, results] = self.tiles;
        input * self.comings[0] + weight * self.comings[1] + results * (2.0 * self.visits - 1.0)
    }
}

/// Widths of elements \[B\], sizes to choose from.
struct Search<'a> {
    staging: &'a Staging,
    rows: Vec<RowTile>,
    columns: Vec<u64>,
    /// Parts of the depth, all of it apart.
    parts: Vec<u64>,
    input: f64,
    weight: f64,
    result: f64,
    sum: f64,
}

impl<'a> Search<'a> {
    fn of(staging: &'a Staging) -> Self {
        let extent = |all: u64| all.max(1) as f64;
        let (columns, depth) = (extent(staging.columns), extent(staging.depth));
        let results = extent(staging.rows.extent()) * columns * extent(staging.groups);
        let mut parts = tile_sizes(staging.depth);
        parts.pop();
        Self {
            staging,
            rows: staging.rows.tiles(),
            columns: tile_sizes(staging.columns),
            parts,
            input: staging.input.group / (extent(staging.rows.elements()) * depth),
            weight: staging.weight.group / (columns * depth),
            result: staging.results.bytes / results,
            sum: staging.results.sums / results,
        }
    }

    fn all(&self) -> u64 {
        self.staging.depth.max(1)
    }

    fn fits(&self, rows: &RowTile, columns: u64, depth: u64) -> bool {
        let taken = self.taken(rows, columns, depth);
        taken.iter().zip(&self.staging.rooms).all(|(taken, room)| taken <= room)
    }

    /// Groups that fit at once, each whole.
    fn together(&self, rows: &RowTile, columns: u64, depth: u64) -> f64 {
        let taken = self.taken(rows, columns, depth);
        let fit = taken.iter().zip(&self.staging.rooms).filter(|(taken, _)| **taken > 0.0);
        fit.map(|(taken, room)| (room / taken).floor()).fold(f64::INFINITY, f64::min).max(1.0)
    }

    /// Bytes that a tile takes in each buffer.
    fn taken(&self, rows: &RowTile, columns: u64, depth: u64) -> [f64; ROOMS] {
        let Staging { input, weight, results, beside, copies, .. } = self.staging;
        let (m, n, k) = (rows.rows as f64, columns as f64, depth as f64);
        let finished = depth >= self.all() && !results.wide;
        let mut taken = [0.0; ROOMS];
        for (room, bytes) in [
            (input.room, copies * (rows.inside as f64 * k * self.input)),
            (weight.room, copies * (k * n * self.weight)),
            (results.room, m * n * if finished { self.result } else { self.sum }),
            (beside.1, copies * (n * beside.0)),
        ] {
            if let Some(own) = room.and_then(|room| taken.get_mut(room)) {
                *own += bytes;
            }
        }
        taken
    }

    /// The most columns that fit beside these.
    fn columns_beside(&self, rows: &RowTile, depth: u64) -> Option<u64> {
        let count = self.columns.partition_point(|n| self.fits(rows, *n, depth));
        self.columns.get(count.checked_sub(1)?).copied()
    }

    /// The largest part of the depth that fits beside these.
    fn part_beside(&self, rows: &RowTile, columns: u64) -> Option<u64> {
        let count = self.parts.partition_point(|k| self.fits(rows, columns, *k));
        self.parts.get(count.checked_sub(1)?).copied()
    }

    fn whole_sums(&self, best: &mut Best) {
        use TileLoop::{K, M, N};
        for rows in &self.rows {
            let Some(columns) = self.columns_beside(rows, self.all()) else { break };
            let tile = (rows, columns, self.all());
            best.offer(WHOLE_ROWS_OUTSIDE, self.staged(tile, [M, N, K]));
            best.offer(WHOLE_COLUMNS_OUTSIDE, self.staged(tile, [N, M, K]));
        }
    }

    fn sum_inside(&self, best: &mut Best) {
        use TileLoop::{K, M, N};
        let Some(least) = self.parts.first() else { return };
        if self.staging.wait > 0.0 {
            return self.split_sums(SUM_INSIDE, [M, N, K], best);
        }
        for rows in &self.rows {
            let Some(columns) = self.columns_beside(rows, *least) else { break };
            let depth = self.part_beside(rows, columns).unwrap_or(*least);
            best.offer(SUM_INSIDE, self.staged((rows, columns, depth), [M, N, K]));
        }
    }

    /// One kind by each number of rows and columns with the largest part of the depth.
    fn split_sums(&self, kind: usize, order: [TileLoop; 3], best: &mut Best) {
        let Some(largest) = self.parts.last() else { return };
        for rows in &self.rows {
            for columns in &self.columns {
                // No part costs less than the largest.
                if self.staged((rows, *columns, *largest), order).cost >= best.cost() {
                    continue;
                }
                let Some(depth) = self.part_beside(rows, *columns) else { break };
                best.offer(kind, self.staged((rows, *columns, depth), order));
            }
        }
    }

    /// Tilings whose sums leave unfinished, where they can be cheaper at all.
    fn spilled(&self, best: &mut Best) {
        use TileLoop::{K, M, N};
        let Staging { input, weight, results, .. } = self.staging;
        let least = input.price * input.bytes * input.passes
            + weight.price * weight.bytes * weight.passes
            + results.price * (results.bytes + 2.0 * results.sums);
        let (Some(narrow), Some(all)) = (self.columns.first(), self.columns.last()) else { return };
        if self.staging.wait > 0.0 {
            if least < best.cost() {
                self.split_sums(COLUMNS_INSIDE, [K, M, N], best);
                self.split_sums(COLUMNS_INSIDE, [M, K, N], best);
                self.split_sums(ROWS_INSIDE, [K, N, M], best);
            }
            return;
        }
        for rows in &self.rows {
            if least >= best.cost() {
                return;
            }
            if let Some(depth) = self.part_beside(rows, *all) {
                best.offer(COLUMNS_INSIDE, self.staged((rows, *all, depth), [K, M, N]));
            }
            if let Some(depth) = self.part_beside(rows, *narrow) {
                let columns = self.columns_beside(rows, depth).unwrap_or(*narrow);
                best.offer(COLUMNS_INSIDE, self.staged((rows, columns, depth), [M, K, N]));
            } else {
                break;
            }
            for columns in &self.columns {
                let Some(depth) = self.part_beside(rows, *columns) else { break };
                best.offer(ROWS_INSIDE, self.staged((rows, *columns, depth), [K, N, M]));
            }
        }
    }

    /// The smallest tile, which does not fit.
    fn smallest(&self) -> Tilings {
        let rows = RowTile { rows: 1, trips: 1, inside: 1, read: 1 };
        let rows = self.rows.first().unwrap_or(&rows);
        let all = TileLoop::ORDERS
            .map(|order| StagedTiling { fits: false, ..self.staged((rows, 1, 1), order) });
        let best = all.into_iter().reduce(|a, b| if b.cost < a.cost { b } else { a });
        let best = best.unwrap_or(all[0]);
        Tilings { best, others: [None; 4] }
    }

    fn staged(&self, (rows, n, k): (&RowTile, u64, u64), order: [TileLoop; 3]) -> StagedTiling {
        use TileLoop::{K, M, N};
        let Staging { groups, input, weight, results, wait, .. } = self.staging;
        let over = |extent: u64, tile: u64| extent.max(1).div_ceil(tile.max(1)) as f64;
        let (a, b, c) = (rows.trips as f64, over(self.staging.columns, n), over(self.all(), k));
        let trips = |of: TileLoop| match of {
            M => a,
            N => b,
            K => c,
        };
        // Trips of the loop that does not pick an operand, where it stands outside one that does and turns.
        let again = |stranger: TileLoop| {
            let own = |l: &TileLoop| *l != stranger && trips(*l) > 1.0;
            let behind = order.iter().skip_while(|l| **l != stranger);
            if behind.skip(1).any(own) { trips(stranger) } else { 1.0 }
        };
        let comings = |factor: &Factor, again: f64, tiles: f64| {
            let stays = factor.room.is_some() && tiles <= 1.0;
            if stays { again } else { factor.rounds * again.max(factor.passes) }
        };
        let times = [comings(input, again(N), a * c), comings(weight, again(M), b * c)];
        let visits = again(K);
        let elements = self.staging.rows.elements().max(1) as f64;
        let input_bytes = input.bytes * (rows.read as f64 / elements).max(1.0);
        let (data, filter) = (input_bytes * times[0], weight.bytes * times[1]);
        let made = results.bytes + 2.0 * (visits - 1.0) * results.sums;
        let mut products = *groups as f64;
        if *groups > 1 && a * b * c <= 1.0 {
            products = (products / self.together(rows, n, k)).ceil();
        }
        let of_rounds = |factor: &Factor| (products / factor.rounds).max(1.0);
        let mut own = StagedTiling {
            tile: (rows.rows, n, k),
            order,
            tiles: [a * c * of_rounds(input), b * c * of_rounds(weight), a * b * products],
            comings: times,
            input_bytes,
            visits,
            traffic: data + filter + made,
            cost: input.price * data + weight.price * filter + results.price * made,
            fits: true,
        };
        own.cost += wait * own.moves();
        own
    }
}
