use super::*;
use proptest::prelude::*;

fn block(first: usize, last: usize, bytes: u64) -> Block {
    Block { first, last, bytes }
}

fn blocks() -> impl Strategy<Value = Vec<Block>> {
    let one = (0usize..20, 0usize..8, 0u64..2000).prop_map(|(f, l, b)| block(f, f + l, b));
    proptest::collection::vec(one, 0..40)
}

/// Most bytes alive at once.
fn alive(blocks: &[Block]) -> u128 {
    let at = |step: usize| {
        let alive = blocks.iter().filter(|b| b.first <= step && step <= b.last);
        alive.map(|b| u128::from(b.bytes)).sum::<u128>()
    };
    (0..30).map(at).max().unwrap_or(0)
}

fn check(blocks: &[Block], packing: &Packing) {
    assert_eq!(packing.offsets.len(), blocks.len());
    let ends = |at: usize| packing.offsets[at] + u128::from(blocks[at].bytes);
    for (at, own) in blocks.iter().enumerate().filter(|(_, own)| own.bytes > 0) {
        assert_eq!(packing.offsets[at] % u128::from(ALIGNMENT), 0);
        assert!(ends(at) <= packing.top);
        for (other, theirs) in blocks.iter().enumerate().take(at).filter(|(_, o)| o.bytes > 0) {
            let apart = ends(at) <= packing.offsets[other] || ends(other) <= packing.offsets[at];
            assert!(apart || !own.meets(theirs), "{own:?} {theirs:?} {packing:?}");
        }
    }
    assert!(packing.top >= alive(blocks));
}

proptest! {
    #[test]
    fn blocks_alive_together_lie_apart(blocks in blocks()) {
        let packing = pack(&blocks);
        check(&blocks, &packing);
        check(&blocks, &pack_by_size(&blocks));
        prop_assert!(packing.top <= pack_by_size(&blocks).top, "never above the greedy one");
    }

    #[test]
    fn those_placed_in_time_lie_apart_too(blocks in blocks()) {
        let layout = in_time_order(&blocks);
        let grains = u128::from(ALIGNMENT);
        let offsets: Vec<u128> = layout.offsets.iter().map(|o| o * grains).collect();
        check(&blocks, &Packing { offsets, top: layout.top * grains });
    }
}

/// Two that share a step with a third, which greedily takes the middle.
#[test]
fn searching_gets_below_the_largest_first() {
    let mut draw = 1u64;
    let mut below = |count: u64| {
        draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (draw >> 33) % count
    };
    let (mut greedy, mut found, mut least) = (0, 0, 0);
    for _ in 0..60 {
        let one = |_| {
            let first = below(25) as usize;
            block(first, first + below(6) as usize, 16 * (1 + below(60)))
        };
        let blocks: Vec<Block> = (0..40).map(one).collect();
        greedy += pack_by_size(&blocks).top;
        found += pack(&blocks).top;
        least += alive(&blocks);
    }
    let above = |top: u128| top as f64 / least as f64 - 1.0;
    assert!(above(found) < 0.5 * above(greedy), "{} {}", above(found), above(greedy));
}

#[test]
fn what_is_alive_throughout_lies_at_the_bottom() {
    let blocks = [block(2, 3, 100), block(0, 9, 40), block(0, 9, 8), block(4, 9, 100)];
    let packing = pack(&blocks);
    assert_eq!(packing.offsets, [64, 0, 48, 64]);
    assert_eq!(packing.top, 164);
}

#[test]
fn the_largest_sizes_do_not_overflow() {
    let packing = pack(&vec![block(0, 1, u64::MAX); 5]);
    assert_eq!(packing.top, 4 * (1u128 << 64) + u128::from(u64::MAX));
}

#[test]
fn many_that_are_alive_together_are_placed_in_time() {
    // More pairs than are searched.
    let mut blocks: Vec<Block> = (0..3_000).map(|at| block(at, 3_000, 16)).collect();
    blocks.push(block(3_000, 3_001, 160));
    let packing = pack(&blocks);
    assert_eq!(packing.top, 3_000 * 16 + 160);
}
