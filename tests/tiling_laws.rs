//! Claims on the search for tilings, on products drawn at random.

use joulecast::cost::{
    Factor, Image, ROOMS, Results, Rows, StagedTiling, Staging, TileLoop, Tiling, search,
    tile_sizes, tilings,
};
use joulecast::model::Gemm;
use proptest::prelude::*;

/// A product of one group in elements of one byte, through one buffer of so many.
pub fn product(m: u64, n: u64, k: u64, room: f64, copies: f64) -> Staging {
    let factor = |bytes: u64| {
        let bytes = bytes as f64;
        Factor { bytes, group: bytes, room: Some(0), passes: 1.0, rounds: 1.0, price: 1.0 }
    };
    let results = (m * n) as f64;
    Staging {
        groups: 1,
        rows: Rows::Matrix(m),
        columns: n,
        depth: k,
        input: factor(m * k),
        weight: factor(k * n),
        results: Results { bytes: results, sums: results, wide: false, room: Some(0), price: 1.0 },
        beside: (0.0, None),
        copies,
        wait: 0.0,
        rooms: [room; ROOMS],
    }
}

/// Every tiling that fits, in every order, by the law of [`Tiling`] alone.
fn exhaustive(m: u64, n: u64, k: u64, room: u128, double: bool, wait: u128) -> Option<u128> {
    let gemm = Gemm { groups: 1, m, n, k };
    let mut least = None;
    for tile_m in tile_sizes(m) {
        for tile_n in tile_sizes(n) {
            for tile_k in tile_sizes(k) {
                for order in TileLoop::ORDERS {
                    let tiling = Tiling { m: tile_m, n: tile_n, k: tile_k, order };
                    if tiling.footprint(double) <= room {
                        let traffic = tiling.traffic(gemm);
                        let (a, b, c) =
                            (m.div_ceil(tile_m), n.div_ceil(tile_n), k.div_ceil(tile_k));
                        let moves = |bytes: u128, (x, y): (u64, u64), (p, q): (u64, u64)| {
                            bytes / u128::from(x * y) * u128::from(p * q)
                        };
                        let results = traffic.written + traffic.read_back;
                        let tiles = moves(traffic.input, (m, k), (a, c))
                            + moves(traffic.weight, (k, n), (c, b))
                            + moves(results, (m, n), (a, b));
                        let own = traffic.total() + wait * tiles;
                        least = Some(least.map_or(own, |known: u128| known.min(own)));
                    }
                }
            }
        }
    }
    least
}

/// All widths, rooms and prices of their own; rows of a matrix or of an image.
fn staging() -> impl Strategy<Value = Staging> {
    let rows = prop_oneof![
        (1u64..30).prop_map(Rows::Matrix),
        (1u64..3, 1u64..9, 1u64..7, 1u64..5, 1u64..3).prop_map(
            |(samples, high, wide, kernel, stride)| {
                let input = |output: u64| (output - 1) * stride + kernel;
                Rows::Image(Image {
                    samples,
                    output: (high, wide),
                    input: (input(high), input(wide)),
                    kernel: (kernel, kernel),
                    stride: (stride, stride),
                    dilation: 1,
                })
            }
        ),
    ];
    let width = || prop_oneof![Just(1.0), Just(0.5), Just(2.0), Just(0.3)];
    let factor = move || (width(), 0usize..4, 1u32..3, 1u64..3, prop_oneof![Just(1.0), Just(0.1)]);
    (
        (rows, 1u64..20, 1u64..20, 1u64..4),
        factor(),
        factor(),
        (width(), 1.0..4.0, any::<bool>(), 0usize..4),
        (0usize..4, any::<bool>()),
        proptest::array::uniform3(1.0..2000.0f64),
    )
        .prop_map(|((rows, columns, depth, groups), input, weight, results, others, rooms)| {
            let room = |room: usize| Some(room).filter(|room| *room < ROOMS);
            let groups = groups * 2;
            let factor = |(width, place, passes, rounds, price): (f64, usize, u32, u64, f64),
                          elements: u64| {
                let group = elements as f64 * width;
                let bytes = group * (groups / rounds) as f64;
                let room = room(place);
                let passes = if room.is_some() { 1.0 } else { f64::from(passes) };
                Factor { bytes, group, room, passes, rounds: rounds as f64, price }
            };
            let made = (rows.extent() * columns * groups) as f64;
            Staging {
                groups,
                rows,
                columns,
                depth,
                input: factor(input, rows.elements() * depth),
                weight: factor(weight, columns * depth),
                results: Results {
                    bytes: made * results.0,
                    sums: made * results.0 * results.1,
                    wide: results.2,
                    room: room(results.3),
                    price: 1.0,
                },
                beside: (0.5, room(others.0)),
                copies: if others.1 { 2.0 } else { 1.0 },
                wait: 0.0,
                rooms,
            }
        })
}

/// The least cost of all tilings of a staging, counted tile by tile and loop by loop.
fn walked(staging: &Staging) -> Option<f64> {
    let mut least: Option<f64> = None;
    for rows in staging.rows.tiles() {
        for n in tile_sizes(staging.columns) {
            for k in tile_sizes(staging.depth) {
                if !holds(staging, (rows.rows, rows.inside), n, k) {
                    continue;
                }
                let trips = [rows.trips, staging.columns.div_ceil(n), staging.depth.div_ceil(k)];
                let read = rows.read as f64 / staging.rows.elements() as f64;
                for order in TileLoop::ORDERS {
                    let own = walk(staging, trips, read, order);
                    least = Some(least.map_or(own, |known| known.min(own)));
                }
            }
        }
    }
    least
}

fn holds(staging: &Staging, (m, inside): (u64, u64), n: u64, k: u64) -> bool {
    let Staging { input, weight, results, copies, .. } = staging;
    let of_elements = |bytes: f64, count: u64| bytes / count as f64;
    let input_width = of_elements(input.group, staging.rows.elements() * staging.depth);
    let weight_width = of_elements(weight.group, staging.columns * staging.depth);
    let made = if k < staging.depth || results.wide { results.sums } else { results.bytes };
    let made = of_elements(made, staging.groups * staging.rows.extent() * staging.columns);
    let parts = [
        (input.room, copies * input_width * (inside * k) as f64),
        (weight.room, copies * weight_width * (k * n) as f64),
        (results.room, made * (m * n) as f64),
        (staging.beside.1, copies * staging.beside.0 * n as f64),
    ];
    (0..ROOMS).all(|room| {
        let own = parts.iter().filter(|(place, _)| *place == Some(room));
        own.map(|(_, bytes)| bytes).sum::<f64>() <= staging.rooms[room] * (1.0 + 1e-12)
    })
}

/// Goes through the loops and counts how often the tile of each operand changes.
fn walk(staging: &Staging, trips: [u64; 3], read: f64, order: [TileLoop; 3]) -> f64 {
    let place = |of: TileLoop| TileLoop::ORDERS[0].iter().position(|l| *l == of).unwrap();
    let picks = [[0, 2], [1, 2], [0, 1]];
    let (mut last, mut loads) = ([None; 3], [0u64; 3]);
    for x in 0..trips[place(order[0])] {
        for y in 0..trips[place(order[1])] {
            for z in 0..trips[place(order[2])] {
                let mut at = [0; 3];
                for (l, i) in order.iter().zip([x, y, z]) {
                    at[place(*l)] = i;
                }
                for (operand, picks) in picks.iter().enumerate() {
                    let tile = picks.map(|l| at[l]);
                    if last[operand].replace(tile) != Some(tile) {
                        loads[operand] += 1;
                    }
                }
            }
        }
    }
    let times = |operand: usize| {
        let tiles: u64 = picks[operand].iter().map(|l| trips[*l]).product();
        (loads[operand] as f64 / tiles as f64, tiles)
    };
    let factor = |own: &Factor, operand: usize| {
        let (times, tiles) = times(operand);
        let stays = tiles == 1 && own.room.is_some();
        own.price * own.bytes * if stays { 1.0 } else { own.rounds * times.max(own.passes) }
    };
    let Staging { input, weight, results, .. } = staging;
    let spilled = 2.0 * (times(2).0 - 1.0) * results.sums;
    factor(input, 0) * read + factor(weight, 1) + results.price * (results.bytes + spilled)
}

fn kept(tiling: &StagedTiling) -> [f64; 4] {
    let [input, weight] = tiling.comings;
    [input, weight, tiling.visits, tiling.traffic]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn the_search_finds_what_trying_everything_finds(
        m in 1u64..40, n in 1u64..40, k in 1u64..40, room in 3u32..3000, double: bool,
    ) {
        let copies = if double { 2.0 } else { 1.0 };
        let found = *search(&product(m, n, k, f64::from(room), copies)).best();
        match exhaustive(m, n, k, room.into(), double, 0) {
            Some(least) => prop_assert_eq!(found.traffic, least as f64),
            None => prop_assert!(!found.fits),
        }
        let waits = Staging { wait: 7.0, ..product(m, n, k, f64::from(room), copies) };
        if let Some(least) = exhaustive(m, n, k, room.into(), double, 7) {
            prop_assert_eq!(search(&waits).best().cost, least as f64);
        }
        let (m_tile, n_tile, k_tile) = found.tile;
        let law = Tiling { m: m_tile, n: n_tile, k: k_tile, order: found.order };
        prop_assert_eq!(law.traffic(Gemm { groups: 1, m, n, k }).total() as f64, found.traffic);
    }

    #[test]
    fn haloes_rounds_widths_rooms_and_prices_change_nothing_of_that(own in staging()) {
        let found = *search(&own).best();
        match walked(&own) {
            Some(least) => {
                prop_assert!((found.cost / least - 1.0).abs() < 1e-9, "{} {least}", found.cost);
            }
            None => prop_assert!(!found.fits),
        }
        prop_assert_eq!(kept(tilings(&own).best()), kept(&found));
    }

    #[test]
    fn traffic_never_rises_with_the_buffer_and_never_passes_its_bounds(
        own in staging(), grown in 1.0..3.0f64,
    ) {
        let found = *search(&own).best();
        let larger = search(&Staging { rooms: own.rooms.map(|room| room * grown), ..own });
        prop_assert!(larger.best().cost <= found.cost * (1.0 + 1e-9));
        // Each operand once, and what the array asks for at least.
        let floor = |own: &Factor| if own.room.is_some() { 1.0 } else { own.passes * own.rounds };
        prop_assert!(found.comings[0] >= floor(&own.input) && found.comings[1] >= floor(&own.weight));
        prop_assert!(found.visits >= 1.0 && found.input_bytes >= own.input.bytes * (1.0 - 1e-12));
        for tiling in search(&own).near(f64::INFINITY) {
            prop_assert!(tiling.cost >= found.cost);
        }
    }

    #[test]
    fn no_tiling_moves_less_than_the_bound(
        m in 1u64..200, n in 1u64..200, k in 1u64..200, room in 3u32..8000,
    ) {
        let found = *search(&product(m, n, k, f64::from(room), 1.0)).best();
        let (all, room) = ((m * n * k) as f64, f64::from(room));
        let once = (m * k + k * n + m * n) as f64;
        let bound = once.max(2.0 * all / room.sqrt() - 2.0 * room);
        prop_assert!(found.traffic >= bound, "{} < {bound}", found.traffic);
    }
}

#[test]
fn extents_at_the_end_of_their_range_are_searched_like_others() {
    for extent in [0, 1, u64::MAX, 1 << 63, 6_983_776_800] {
        for room in [0.0, 1.0, 1e6, f64::MAX] {
            let factor = Factor {
                bytes: 1e30,
                group: 1e30,
                room: Some(0),
                passes: 1.0,
                rounds: 1.0,
                price: 1.0,
            };
            let own = Staging {
                rows: Rows::Matrix(extent),
                columns: extent,
                depth: extent,
                groups: extent,
                input: factor,
                weight: factor,
                rooms: [room; ROOMS],
                ..product(1, 1, 1, room, 2.0)
            };
            assert!(search(&own).best().traffic >= 1e30);
        }
    }
}

/// A prime has no divisors between: tiles that leave a rest take their place.
#[test]
fn primes_are_not_cut_into_single_rows() {
    let found = *search(&product(197, 64, 64, 4096.0, 1.0)).best();
    assert!(found.tile.0 > 16 && found.tile.0 < 197, "{:?}", found.tile);
    let (near, prime) = (
        search(&product(196, 64, 64, 4096.0, 1.0)).best().traffic,
        search(&product(197, 64, 64, 4096.0, 1.0)).best().traffic,
    );
    assert!(prime < near * 1.1, "{prime} {near}");
}
