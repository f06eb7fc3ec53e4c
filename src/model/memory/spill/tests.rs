use super::*;
use proptest::prelude::*;

fn used() -> impl Strategy<Value = Vec<Used>> {
    let one = (0usize..12, 0usize..6, 0u64..500, 0u64..4).prop_map(|(first, more, bytes, uses)| {
        let block = Block { first, last: first + more, bytes };
        Used { block, traffic: bytes * uses }
    });
    proptest::collection::vec(one, 0..24)
}

/// Traffic of what is left out.
fn left_out(used: &[Used], kept: &Kept) -> u64 {
    let out = used.iter().enumerate().filter(|(at, _)| !kept.blocks.contains(at));
    out.map(|(_, own)| own.traffic).sum()
}

proptest! {
    #[test]
    fn what_is_kept_has_room(used in used(), room in 0u64..3000) {
        let kept = keep(&used, room);
        prop_assert!(kept.packing.top <= u128::from(room));
        prop_assert_eq!(kept.packing.offsets.len(), kept.blocks.len());
        let mut sorted = kept.blocks.clone();
        sorted.sort_unstable();
        sorted.dedup();
        prop_assert_eq!(sorted, kept.blocks);
    }

    #[test]
    fn more_room_never_leaves_out_more(used in used(), room in 0u64..3000, more in 0u64..1000) {
        let few = left_out(&used, &keep(&used, room));
        let many = left_out(&used, &keep(&used, room + more));
        prop_assert!(many <= few, "{many} with more room, {few} with less");
    }

    #[test]
    fn all_is_kept_where_it_has_room(used in used()) {
        let all = keep(&used, u64::MAX);
        prop_assert_eq!(all.blocks.len(), used.len());
        let top = u64::try_from(all.packing.top).unwrap();
        prop_assert_eq!(keep(&used, top), all);
    }
}

fn one(first: usize, last: usize, bytes: u64, traffic: u64) -> Used {
    Used { block: Block { first, last, bytes }, traffic }
}

#[test]
fn what_is_used_least_for_its_room_goes() {
    // The first is read eight times, the second twice, and either leaves room enough.
    let used = [one(0, 3, 160, 1280), one(0, 3, 160, 320), one(1, 2, 160, 480)];
    assert_eq!(keep(&used, 320).blocks, [0, 2]);
}

#[test]
fn one_that_leaves_room_enough_goes_alone() {
    // Leaving out the small one does not do; with the large one gone, it has room again.
    let used = [one(0, 3, 160, 160), one(0, 3, 640, 1280), one(1, 2, 160, 640)];
    assert_eq!(keep(&used, 400).blocks, [0, 2]);
}

#[test]
fn nothing_has_room_in_nothing() {
    let used = [one(0, 3, 160, 160), one(0, 3, 0, 0)];
    assert_eq!(keep(&used, 0).blocks, [1]);
    let huge = [one(0, 3, u64::MAX, u64::MAX), one(1, 2, u64::MAX, u64::MAX)];
    assert_eq!(keep(&huge, u64::MAX).blocks.len(), 1);
}
