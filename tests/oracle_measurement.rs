//! Buckets and sliding windows of a piecewise-constant current against an exact reference.

use crate::shared::folder;
use joulecast::trace::{
    Bounds, BucketSink, Component, ComponentId, ComponentKind, Header, MetricsSink, Sink, Tee,
    WINDOWS,
};
use joulecast::units::{SimTime, Watts};
use std::path::Path;

/// Microseconds at which the current of the reference changes, and the value from then on.
const STEPS: [(u64, f64); 7] = [
    (0, 0.0021),
    (350, 0.0480),
    (1020, 0.0325),
    (1500, 0.1105),
    (1530, 0.0325),
    (2900, 0.0021),
    (4100, 0.0480),
];
const END: SimTime = SimTime(5_000_000_000);

fn tell(sink: &mut impl Sink) {
    let component = Component {
        name: "dut".into(),
        kind: ComponentKind::Measured,
        domain: String::new(),
        rail: "dut".into(),
    };
    sink.begin(&Header { components: vec![component], ..Header::default() });
    for (at, value) in STEPS {
        sink.power(SimTime(at * 1_000_000), ComponentId(0), Watts(value));
    }
    sink.end(END);
}

/// The numbers of a table, row by row.
fn table(path: &Path) -> Vec<Vec<f64>> {
    let text = std::fs::read_to_string(path).unwrap();
    let row = |line: &str| line.split(',').map(|cell| cell.trim().parse().unwrap()).collect();
    text.lines().skip(1).map(row).collect()
}

fn near(a: f64, b: f64) -> bool {
    (a / b - 1.0).abs() < 1e-9
}

#[test]
fn buckets_and_window_means_are_those_of_the_reference() {
    let Some(shared) = folder("buckets_and_window_means_are_those_of_the_reference") else {
        return;
    };
    let folder = shared.join("oracles/measurement");
    let bounds = Bounds::new(SimTime::ZERO, END, 10).unwrap();
    let mut buckets = BucketSink::new(bounds, vec![vec![ComponentId(0)]]);
    let mut metrics = MetricsSink::default();
    tell(&mut Tee(&mut buckets, &mut metrics));
    let (told, metrics) = (buckets.finish(), metrics.finish());
    let rows = table(&folder.join("buckets.csv"));
    assert_eq!((rows.len(), told.sums[0].len()), (10, 10));
    for (k, (row, bucket)) in rows.iter().zip(&told.sums[0]).enumerate() {
        assert!((bounds.edge(k).seconds().0 - row[1]).abs() < 1e-12, "{k}");
        assert_eq!(bucket.known, SimTime(500_000_000));
        let values = [bucket.least, bucket.most, bucket.mean];
        for (own, theirs) in values.into_iter().zip(&row[2..]) {
            assert!(near(own, *theirs), "bucket {k}: {own} {theirs}");
        }
    }
    let rows = table(&folder.join("window_max.csv"));
    assert_eq!(rows.len(), WINDOWS.len());
    for ((row, width), own) in rows.iter().zip(WINDOWS).zip(metrics.window_peaks) {
        assert!(near(width.seconds().0, row[0]));
        assert!(near(own.0, row[1]), "{width}: {} {}", own.0, row[1]);
    }
}
