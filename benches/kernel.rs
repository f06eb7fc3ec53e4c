//! Events a second: of the bare queue, and of a station of servers built on it.

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use joulecast::sim::kernel::{Class, Queue};
use joulecast::units::SimTime;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, Exp1};

#[path = "../tests/one_station.rs"]
#[allow(dead_code)] // The tests use the rest of it.
mod one_station;

use one_station::{Setting, simulate};

fn main() {
    divan::main();
}

/// What a simulated system puts into its events: who, and of which generation.
#[derive(Debug, Clone, Copy)]
struct Event {
    component: u32,
    generation: u64,
}

const HOLDS: u64 = 1_000_000;

/// Takes the next event and puts it back later, with this many pending.
#[divan::bench(args = [1, 4, 16, 256, 4096], sample_count = 20, sample_size = 1)]
fn hold(bencher: Bencher<'_, '_>, pending: u32) {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let delays: Vec<u64> = (0..4096)
        .map(|_| {
            let delay: f64 = Exp1.sample(&mut random);
            (delay * 1e6) as u64
        })
        .collect();
    bencher.counter(ItemsCount::new(HOLDS)).bench_local(|| {
        let mut queue = Queue::default();
        for component in 0..pending {
            let at = SimTime(delays[component as usize % delays.len()]);
            queue.schedule(at, Class::Completion, Event { component, generation: 0 }).unwrap();
        }
        for hold in 0..HOLDS {
            let mut event = queue.take().unwrap().unwrap();
            event.generation += 1;
            let at = queue.now().after(SimTime(delays[hold as usize % delays.len()])).unwrap();
            queue.schedule(at, Class::Completion, event).unwrap();
        }
        black_box(queue.take().unwrap().map(|e| (e.component, e.generation)))
    });
}

/// A station in use four fifths of the time: all that a customer does, chance and quantiles included.
#[divan::bench(args = [1, 4, 16], sample_count = 10, sample_size = 1)]
fn servers_with_exponential_service(bencher: Bencher<'_, '_>, servers: usize) {
    let setting = Setting::plain(servers, 0.8, HOLDS / 2);
    bencher.counter(ItemsCount::new(HOLDS)).bench_local(|| black_box(simulate(&setting).1));
}
