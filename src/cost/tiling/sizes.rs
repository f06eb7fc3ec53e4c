//! Sizes that an extent is cut in.
//!
//! Tiles of equal size divide their extent. Where neighbouring divisors lie more than [`WIDEST`] times
//! apart (a prime has no other than one and itself), tiles that do not divide fill the gap: `ceil(E / t)`
//! for numbers of tiles `t`, the last tile being what is left, of eight sizes in each octave.
//!
//! Prime factors beyond 2^16 are not looked for, and of more than [`MOST`] sizes so many are taken,
//! evenly in their order: only extents above a million have more divisors.

/// The widest step from one size to the next, as a ratio, that divisors alone may leave.
const WIDEST: u64 = 4;

/// Most sizes of one extent.
const MOST: usize = 256;

/// Largest factor that is looked for.
const LARGEST_FACTOR: u64 = 1 << 16;

/// Sizes of tiles of an extent, rising, from 1 to all of it.
pub fn tile_sizes(extent: u64) -> Vec<u64> {
    let extent = extent.max(1);
    let divisors = divisors(extent);
    let mut sizes = Vec::with_capacity(divisors.len());
    let mut last = 1u64;
    for divisor in divisors {
        if divisor / last >= WIDEST && divisor > last.saturating_mul(WIDEST) {
            between(extent, last, divisor, &mut sizes);
        }
        sizes.push(divisor);
        last = divisor;
    }
    thinned(sizes)
}

/// Divisors, rising.
fn divisors(extent: u64) -> Vec<u64> {
    let mut divisors = vec![1];
    let mut left = extent;
    let mut factor = 2;
    while left > 1 {
        if factor > LARGEST_FACTOR || factor * factor > left {
            factor = left;
        }
        let known = divisors.len();
        let mut power = 1;
        while left.is_multiple_of(factor) {
            left /= factor;
            power *= factor;
            divisors.extend_from_within(..known);
            let own = divisors.len() - known;
            divisors.iter_mut().skip(own).for_each(|divisor| *divisor *= power);
        }
        factor += if factor == 2 { 1 } else { 2 };
    }
    divisors.sort_unstable();
    divisors
}

/// Sizes of equal tiles but for the last, strictly between two divisors.
fn between(extent: u64, low: u64, high: u64, sizes: &mut Vec<u64>) {
    let mut last = low;
    let mut aim = low + 1;
    while aim < high {
        let size = extent.div_ceil(extent.div_ceil(aim));
        if size > last && size < high {
            sizes.push(size);
            last = size;
        }
        // Eight in each octave.
        let step = 1 << aim.ilog2().saturating_sub(3);
        let Some(next) = aim.checked_add(step) else { break };
        aim = next;
    }
}

fn thinned(sizes: Vec<u64>) -> Vec<u64> {
    let count = sizes.len();
    if count <= MOST {
        return sizes;
    }
    let of = |i: usize| sizes.get(i * (count - 1) / (MOST - 1)).copied();
    (0..MOST).filter_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn divisors_where_they_are_near_and_others_where_they_are_not() {
        assert_eq!(tile_sizes(12), [1, 2, 3, 4, 6, 12]);
        assert_eq!(tile_sizes(196), [1, 2, 4, 7, 14, 28, 49, 98, 196]);
        assert_eq!(tile_sizes(0), [1]);
        assert_eq!(tile_sizes(3), [1, 3]);
        assert_eq!(tile_sizes(13), [1, 2, 3, 4, 5, 7, 13]);
        let prime = tile_sizes(197);
        assert!(prime.len() > 20 && prime.is_sorted_by(|a, b| a < b && *b <= 2 * a.max(&2)));
        // What fills a gap leaves no tile empty.
        for size in prime {
            assert!(size * (197u64.div_ceil(size) - 1) < 197);
        }
    }

    #[test]
    fn any_extent_has_few_sizes_and_ends_with_itself() {
        for extent in [1, 1 << 40, 6_983_776_800, u64::MAX, u64::MAX - 58, 3 * 4_294_967_291] {
            let sizes = tile_sizes(extent);
            assert!(sizes.len() <= MOST, "{extent}: {}", sizes.len());
            assert_eq!((sizes[0], sizes[sizes.len() - 1]), (1, extent));
            assert!(sizes.is_sorted_by(|a, b| a < b));
        }
    }
}
