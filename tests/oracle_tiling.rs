//! Traffic of tilings against an exhaustive search.

use crate::shared;
use joulecast::cost::{TileLoop, Tiling};
use joulecast::model::Gemm;

fn divisors(number: u64) -> Vec<u64> {
    (1..=number).filter(|d| number.is_multiple_of(*d)).collect()
}

/// The least traffic over divisor tiles that fit, in all orders.
fn least(gemm: Gemm, capacity: u128, double_buffered: bool) -> u128 {
    let mut least = u128::MAX;
    for m in divisors(gemm.m) {
        for n in divisors(gemm.n) {
            for k in divisors(gemm.k) {
                for order in TileLoop::ORDERS {
                    let tiling = Tiling { m, n, k, order };
                    if tiling.footprint(double_buffered) <= capacity {
                        least = least.min(tiling.traffic(gemm).total());
                    }
                }
            }
        }
    }
    least
}

#[test]
fn the_best_tiling_moves_exactly_what_the_exhaustive_search_found() {
    let Some(folder) =
        shared::folder("the_best_tiling_moves_exactly_what_the_exhaustive_search_found")
    else {
        return;
    };
    let path = folder.join("oracles/matmul_traffic/min_traffic.csv");
    let mut rows = 0;
    for row in csv::Reader::from_path(path).unwrap().records() {
        let row = row.unwrap();
        let number = |i: usize| row[i].parse::<u64>().unwrap();
        let gemm = Gemm { groups: 1, m: number(0), n: number(1), k: number(2) };
        let found = least(gemm, u128::from(number(3)), &row[4] == "True");
        assert_eq!(found, u128::from(number(5)), "{row:?}");
        // And the tiling it names moves that much.
        let order = row[9].chars().map(|c| match c {
            'm' => TileLoop::M,
            'n' => TileLoop::N,
            _ => TileLoop::K,
        });
        let order: Vec<_> = order.collect();
        let named = Tiling {
            m: number(6),
            n: number(7),
            k: number(8),
            order: [order[0], order[1], order[2]],
        };
        assert_eq!(named.traffic(gemm).total(), u128::from(number(5)), "{row:?}");
        rows += 1;
    }
    assert_eq!(rows, 40);
}
