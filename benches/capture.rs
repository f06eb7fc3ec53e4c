//! How long it takes to go through a capture, by sample.

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use joulecast::capture::{Rails, Statistics};
use joulecast::trace::{
    Block, Bounds, BucketSink, Channel, ChannelId, ChannelKind, ComponentId, Layout, SampleClock,
    SampleSink, Sink,
};
use joulecast::units::{Hertz, SimTime};

fn main() {
    divan::main();
}

const SAMPLES: usize = 1 << 20;
/// Samples that a reader tells at once.
const AT_ONCE: usize = 1 << 14;
const RATE: f64 = 1e6;

fn values() -> Vec<f64> {
    // A period that is no multiple of anything, so that levels change all the time.
    (0..SAMPLES).map(|at| 0.02 + 0.01 * ((at * 7919) % 1013) as f64 / 1013.0).collect()
}

fn clock() -> SampleClock {
    SampleClock::new(SimTime::ZERO, Hertz(RATE)).unwrap()
}

fn end() -> SimTime {
    clock().at(SAMPLES as u64)
}

fn layout(lines: usize) -> Layout {
    let channel = |at: usize| Channel::new(format!("p{at}"), ChannelKind::Power, format!("r{at}"));
    Layout { channels: (0..lines).map(channel).collect(), ..Layout::default() }
}

/// Tells samples on an even clock, or each with its own time.
fn tell(sink: &mut impl Sink, lines: usize, values: &[f64], starts: Option<&[SimTime]>) {
    let mut rails = Rails::power(sink, None);
    rails.begin(&layout(lines));
    for from in (0..values.len()).step_by(AT_ONCE) {
        let to = (from + AT_ONCE).min(values.len());
        let piece = &values[from..to];
        let block = match starts {
            Some(starts) => Block::each(&starts[from..to], clock().at(to as u64), piece),
            None => Block::even(clock(), from as u64, piece),
        };
        (0..lines).for_each(|line| rails.samples(ChannelId(line), &block));
    }
    rails.end(end());
}

fn buckets(lines: usize, count: usize) -> BucketSink {
    let bounds = Bounds::new(SimTime::ZERO, end(), count).unwrap();
    let all: Vec<_> = (0..lines).map(ComponentId).collect();
    let each = (0..lines).map(|line| vec![ComponentId(line)]).filter(|_| lines > 1);
    BucketSink::new(bounds, std::iter::once(all.clone()).chain(each).collect())
}

#[divan::bench(args = [1_000, 100_000])]
fn buckets_of_an_even_clock(bencher: Bencher, count: usize) {
    let values = values();
    bencher.counter(ItemsCount::new(SAMPLES)).bench(|| {
        let mut sink = buckets(1, count);
        tell(&mut sink, 1, black_box(&values), None);
        sink.finish()
    });
}

#[divan::bench(args = [1_000, 100_000])]
fn buckets_of_stamped_samples(bencher: Bencher, count: usize) {
    let values = values();
    let starts: Vec<SimTime> = (0..SAMPLES as u64).map(|at| clock().at(at)).collect();
    bencher.counter(ItemsCount::new(SAMPLES)).bench(|| {
        let mut sink = buckets(1, count);
        tell(&mut sink, 1, black_box(&values), Some(&starts));
        sink.finish()
    });
}

#[divan::bench]
fn buckets_of_three_supply_lines(bencher: Bencher) {
    let values = values();
    bencher.counter(ItemsCount::new(3 * SAMPLES)).bench(|| {
        let mut sink = buckets(3, 1_000);
        tell(&mut sink, 3, black_box(&values), None);
        sink.finish()
    });
}

#[divan::bench]
fn statistics_of_an_even_clock(bencher: Bencher) {
    let values = values();
    bencher.counter(ItemsCount::new(SAMPLES)).bench(|| {
        let mut sink = Statistics::default();
        tell(&mut sink, 1, black_box(&values), None);
        sink.finish()
    });
}
