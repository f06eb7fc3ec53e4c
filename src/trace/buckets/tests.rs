use super::*;
use crate::trace::{
    ChannelKind, Component, ComponentId, ComponentKind, Counter, CounterId, Header, Sink,
};
use crate::units::{Hertz, Watts};
use proptest::prelude::*;

fn bounds(from: u64, to: u64, count: usize) -> Bounds {
    Bounds::new(SimTime(from), SimTime(to), count).unwrap()
}

fn header(components: usize) -> Header {
    let component = |at: usize| Component {
        name: format!("c{at}"),
        kind: ComponentKind::Measured,
        domain: String::new(),
        rail: "r".into(),
    };
    Header {
        components: (0..components).map(component).collect(),
        counters: vec![Counter { name: "t".into(), kind: ChannelKind::Temperature }],
        ..Header::default()
    }
}

#[test]
fn a_piece_is_cut_at_each_bound_and_a_gap_is_no_zero() {
    let mut buckets = Buckets::new(bounds(10, 40, 3));
    for (start, end, value) in [(0, 15, 2.0), (15, 18, f64::NAN), (18, 24, -4.0), (35, 99, 6.0)] {
        buckets.hold(SimTime(start), SimTime(end), value);
    }
    let [a, b, c] = buckets.finish().try_into().unwrap();
    assert_eq!((a.least, a.most, a.known), (-4.0, 2.0, SimTime(7)));
    assert!((a.mean - (10.0 - 8.0) / 7.0).abs() < 1e-15);
    assert_eq!((b.least, b.most, b.mean, b.known), (-4.0, -4.0, -4.0, SimTime(4)));
    assert_eq!((c.mean, c.known), (6.0, SimTime(5)));
    let nothing = Buckets::new(bounds(0, 7, 1)).finish()[0];
    assert!(nothing.mean.is_nan() && nothing.known == SimTime::ZERO && nothing.integral() == 0.0);
}

#[test]
fn bounds_are_exact_to_the_picosecond_and_meet() {
    let b = bounds(5, u64::MAX, 3);
    assert_eq!((b.edge(0), b.edge(3), b.edge(9)), (SimTime(5), SimTime(u64::MAX), b.to()));
    assert_eq!(b.edge(1).0 - 5, (u64::MAX - 5) / 3);
    assert!(Bounds::new(SimTime(3), SimTime(3), 1).is_none());
    assert!(Bounds::new(SimTime(3), SimTime(4), 0).is_none());
    // More buckets than picoseconds: some have no time, and nothing is lost.
    let mut many = Buckets::new(bounds(0, 3, 7));
    many.hold(SimTime(0), SimTime(3), 1.0);
    assert_eq!(many.finish().iter().map(|bucket| bucket.known.0).sum::<u64>(), 3);
}

#[test]
fn what_comes_twice_counts_once() {
    let mut buckets = Buckets::new(bounds(0, 10, 1));
    buckets.hold(SimTime(0), SimTime(6), 1.0);
    buckets.hold(SimTime(4), SimTime(8), 3.0);
    buckets.hold(SimTime(0), SimTime(5), 9.0);
    let bucket = buckets.finish()[0];
    assert_eq!((bucket.known, bucket.most), (SimTime(8), 3.0));
    assert!((bucket.mean - 12.0 / 8.0).abs() < 1e-15);
}

#[test]
fn a_sum_is_known_where_all_its_components_are() {
    let members = vec![vec![ComponentId(0), ComponentId(1)], vec![ComponentId(1)]];
    let mut sink = BucketSink::new(bounds(0, 20, 2), members);
    sink.begin(&header(2));
    sink.power(SimTime(0), ComponentId(1), Watts(2.0));
    sink.power(SimTime(5), ComponentId(0), Watts(1.0));
    sink.counter(SimTime(10), CounterId(0), 40.0);
    sink.power(SimTime(15), ComponentId(1), Watts(f64::NAN));
    sink.end(SimTime(20));
    let told = sink.finish();
    let known = |of: &[Bucket]| of.iter().map(|b| (b.mean, b.known.0)).collect::<Vec<_>>();
    assert_eq!(known(&told.sums[0]), [(3.0, 5), (3.0, 5)]);
    assert_eq!(known(&told.sums[1]), [(2.0, 10), (2.0, 5)]);
    assert_eq!(
        told.counters[0][1],
        Bucket { least: 40.0, most: 40.0, mean: 40.0, known: SimTime(10) }
    );
    assert_eq!(told.counters[0][0].known, SimTime::ZERO);
}

fn value() -> impl Strategy<Value = f64> {
    prop_oneof![9 => -2.0..5.0f64, 1 => Just(f64::NAN)]
}

proptest! {
    #[test]
    fn the_buckets_hold_the_integral_over_known_time(
        pieces in proptest::collection::vec((1u64..50, value()), 1..40),
        from in 0u64..200,
        length in 1u64..500,
        count in 1usize..60,
    ) {
        let mut buckets = Buckets::new(bounds(from, from + length, count));
        let (mut now, mut integral, mut known) = (0, 0.0, 0);
        for (duration, value) in pieces {
            buckets.hold(SimTime(now), SimTime(now + duration), value);
            let inside = (now + duration).min(from + length).saturating_sub(now.max(from));
            if !value.is_nan() {
                integral += value * inside as f64;
                known += inside;
            }
            now += duration;
        }
        let buckets = buckets.finish();
        let told: f64 = buckets.iter().map(Bucket::integral).sum();
        prop_assert!((told * 1e12 - integral).abs() < 1e-9 * (1.0 + length as f64));
        prop_assert_eq!(buckets.iter().map(|b| b.known.0).sum::<u64>(), known);
        for b in buckets.iter().filter(|b| b.known.0 > 0) {
            prop_assert!(b.least <= b.mean && b.mean <= b.most);
        }
    }

    #[test]
    fn samples_at_once_are_samples_one_by_one(
        values in proptest::collection::vec(value(), 1..200),
        period in 1u64..9,
        start in 0u64..30,
        first in 0u64..40,
        from in 0u64..300,
        length in 1u64..900,
        count in 1usize..40,
    ) {
        let clock = SampleClock::new(SimTime(start), Hertz(1e12 / period as f64)).unwrap();
        let (mut whole, mut each) = (
            Buckets::new(bounds(from, from + length, count)),
            Buckets::new(bounds(from, from + length, count)),
        );
        let cut = values.len() / 3;
        whole.take(&Block::even(clock, first, &values[..cut]));
        whole.take(&Block::even(clock, first + cut as u64, &values[cut..]));
        for (start, end, value) in Block::even(clock, first, &values).segments() {
            each.hold(start, end, value);
        }
        for (a, b) in whole.finish().iter().zip(each.finish()) {
            prop_assert_eq!(a.known, b.known);
            prop_assert!(a.known.0 == 0 || (a.least == b.least && a.most == b.most));
            prop_assert!(a.known.0 == 0 || (a.mean - b.mean).abs() < 1e-12);
        }
    }
}
