//! Governors asked each millisecond over an hour of a chip with two clusters: four small cores and two
//! large ones, schedutil with tracked utilisation on each, a load that comes and goes at random.

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use joulecast::physics::opp_table::{OppPoint, OppTable};
use joulecast::sim::governor::{
    Governor, GovernorState, Observed, Ondemand, OndemandSlope, Schedutil, SimpleOndemand,
};
use joulecast::units::{Hertz, Joules, Ratio, Seconds, SimTime, Volts, Watts};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, Exp1};

fn main() {
    divan::main();
}

const TICK: SimTime = SimTime(1_000_000_000);
const TICKS: u64 = 3_600_000;

/// Points (MHz, V) with uW/MHz/V^2 of one core: the RK3588 as its device tree states it.
const LITTLE: &[(f64, f64)] =
    &[(1008.0, 0.675), (1200.0, 0.7125), (1416.0, 0.7625), (1608.0, 0.850), (1800.0, 0.950)];
const BIG: &[(f64, f64)] = &[
    (1200.0, 0.675),
    (1416.0, 0.725),
    (1608.0, 0.7625),
    (1800.0, 0.850),
    (2016.0, 0.925),
    (2208.0, 0.9875),
    (2400.0, 1.000),
];

fn table(points: &[(f64, f64)], coefficient: f64, capacity: f64) -> OppTable {
    let fastest = points[points.len() - 1].0;
    let point = |(mhz, volts): &(f64, f64)| OppPoint {
        frequency: Hertz(mhz * 1e6),
        capacity: Ratio(capacity * mhz / fastest),
        power: Watts(coefficient * mhz * volts * volts * 1e-6),
        voltages: vec![Volts(*volts)],
    };
    OppTable::new(points.iter().map(point).collect(), Vec::new()).unwrap()
}

/// A cluster whose work comes in stretches of random demand, mean length 20 ms.
struct Cluster {
    table: OppTable,
    state: GovernorState,
    random: ChaCha8Rng,
    current: usize,
    demand: f64,
    backlog: f64,
    left: u64,
    energy: Joules,
    changes: u64,
}

impl Cluster {
    fn new(table: OppTable, seed: u64) -> Self {
        Self {
            table,
            state: GovernorState::default(),
            random: ChaCha8Rng::seed_from_u64(seed),
            current: 0,
            demand: 0.0,
            backlog: 0.0,
            left: 0,
            energy: Joules::ZERO,
            changes: 0,
        }
    }

    /// One tick: what was asked for is done as far as capacity goes, and the governor looks back at it.
    fn tick(&mut self, governor: &Governor, now: SimTime) {
        if self.left == 0 {
            let (length, demand): (f64, f64) =
                (Exp1.sample(&mut self.random), Exp1.sample(&mut self.random));
            self.left = 1 + (length * 20.0) as u64;
            self.demand = (demand * 0.3).min(1.0) * self.table.at(self.table.fastest()).capacity.0;
        }
        self.left -= 1;
        let point = self.table.at(self.current);
        let asked = self.demand + self.backlog;
        let busy = (asked / point.capacity.0).min(1.0);
        self.backlog = asked - busy * point.capacity.0;
        self.energy += point.power * TICK.seconds() * busy;
        let window = (now, TICK.seconds());
        let seen = Observed::window(window, Ratio(busy), (self.current, point.capacity));
        let next = governor.decide(&mut self.state, &seen, &self.table);
        self.changes += u64::from(next != self.current);
        self.current = next;
    }
}

/// The hour; energy and changes of both clusters.
fn hour(governor: &Governor) -> (Joules, u64) {
    let mut little = Cluster::new(table(LITTLE, 228.0, 0.388), 1);
    let mut big = Cluster::new(table(BIG, 416.0, 1.0), 2);
    for tick in 1..=TICKS {
        let now = SimTime(tick * TICK.0);
        little.tick(governor, now);
        big.tick(governor, now);
    }
    (little.energy + big.energy, little.changes + big.changes)
}

fn measure(bencher: Bencher<'_, '_>, governor: Governor) {
    bencher.counter(ItemsCount::new(2 * TICKS)).bench_local(|| black_box(hour(&governor)));
}

#[divan::bench(sample_count = 5, sample_size = 1)]
fn schedutil(bencher: Bencher<'_, '_>) {
    let schedutil = Schedutil::new(TICK.seconds(), Seconds(2e-3)).unwrap();
    measure(bencher, Governor::Schedutil(schedutil));
}

#[divan::bench(sample_count = 5, sample_size = 1)]
fn ondemand(bencher: Bencher<'_, '_>) {
    let slope = OndemandSlope::Range;
    let ondemand = Ondemand::new(TICK.seconds(), Ratio(0.8), slope, 1).unwrap();
    measure(bencher, Governor::Ondemand(ondemand));
}

#[divan::bench(sample_count = 5, sample_size = 1)]
fn simple_ondemand(bencher: Bencher<'_, '_>) {
    let ondemand = SimpleOndemand::new(TICK.seconds(), 90, 5).unwrap();
    measure(bencher, Governor::SimpleOndemand(ondemand));
}

#[divan::bench(sample_count = 5, sample_size = 1)]
fn performance(bencher: Bencher<'_, '_>) {
    measure(bencher, Governor::Performance);
}
