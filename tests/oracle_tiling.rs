//! Traffic of tilings against an exhaustive search.

use crate::shared;
use crate::tiling_laws::product;
use joulecast::cost::{TileLoop, Tiling, search};
use joulecast::model::Gemm;

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
        let copies = if &row[4] == "True" { 2.0 } else { 1.0 };
        let staging = product(gemm.m, gemm.n, gemm.k, number(3) as f64, copies);
        let found = *search(&staging).best();
        assert_eq!(found.traffic, number(5) as f64, "{row:?}");
        // The law says the same of the tiling that was found, and of the one that the row names.
        let (m, n, k) = found.tile;
        let own = Tiling { m, n, k, order: found.order };
        assert_eq!(own.traffic(gemm).total(), u128::from(number(5)), "{row:?}");
        assert!(own.footprint(copies > 1.0) <= u128::from(number(3)), "{row:?}");
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
