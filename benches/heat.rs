//! How long a thermal network with leakage takes for a million segments of constant power.

use divan::{Bencher, black_box};
use joulecast::physics::leaking_network::{
    HeatEnd, LeakSource, LeakingNetwork, Segment, SensorLag, Surroundings,
};
use joulecast::physics::thermal_modes::ThermalModes;
use joulecast::physics::thermal_nodes::{ThermalJoin, ThermalNode, ThermalNodes};
use joulecast::units::{Celsius, JoulesPerKelvin, KelvinsPerWatt, PerKelvin, Seconds, Watts};

const SEGMENTS: u32 = 1_000_000;
const BLOCKS: usize = 12;

fn main() {
    divan::main();
}

/// Twelve blocks in rows of four, on a spreader, a sink, a board and a case.
fn sixteen_nodes() -> ThermalModes {
    let node = |i: usize| {
        let (capacity, to_air) = match i {
            12 => (0.8, None),
            13 => (25.0, Some(4.0)),
            14 => (9.0, None),
            15 => (60.0, Some(6.0)),
            _ => (0.004 + 0.0005 * i as f64, None),
        };
        let to_air = to_air.map(KelvinsPerWatt);
        ThermalNode { capacity: JoulesPerKelvin(capacity), to_air }
    };
    let join = |one: usize, other: usize, resistance: f64| ThermalJoin {
        between: (one, other),
        resistance: KelvinsPerWatt(resistance),
    };
    let mut joins: Vec<_> = (0..BLOCKS).map(|i| join(i, 12, 3.0 + 0.1 * i as f64)).collect();
    joins.extend((0..BLOCKS).filter(|i| i % 4 < 3).map(|i| join(i, i + 1, 12.0)));
    joins.extend((0..BLOCKS - 4).map(|i| join(i, i + 4, 15.0)));
    joins.extend([join(12, 13, 0.6), join(12, 14, 5.0), join(14, 15, 2.0)]);
    let nodes = ThermalNodes::new((0..16).map(node).collect(), joins).unwrap();
    ThermalModes::of_nodes(&nodes).unwrap()
}

/// The network with so many of its nodes leaking, and a sensor with a lag.
fn network(leaking: usize) -> LeakingNetwork {
    let source = |place| LeakSource {
        place,
        reference: Celsius(25.0),
        per_kelvin: PerKelvin(0.025 + 0.0005 * place as f64),
    };
    let around = Surroundings {
        ambient: Celsius(35.0),
        ceiling: Celsius(200.0),
        sources: (0..leaking).map(source).collect(),
        sensors: vec![SensorLag { place: 0, time: Seconds(0.02) }],
    };
    LeakingNetwork::new(sixteen_nodes(), around).unwrap()
}

/// A change of power: which block, to what, and for how long until the next.
struct Change {
    block: usize,
    power: Watts,
    duration: Seconds,
}

/// Changes that never come again: layers of 20 us to 2 ms, up to 2 W a block.
fn changes() -> Vec<Change> {
    let mut state = 1u64;
    let mut unit = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(0x1405_7b7e_f767_814f);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let change = |_| {
        let block = ((unit() * BLOCKS as f64) as usize).min(BLOCKS - 1);
        let power = Watts(if unit() < 0.5 { 0.0 } else { 2.0 * unit() });
        Change { block, power, duration: Seconds(20e-6 * 100f64.powf(unit())) }
    };
    (0..SEGMENTS).map(change).collect()
}

#[divan::bench(args = [0, 4, 12, 16], sample_count = 3, sample_size = 1)]
fn a_million_segments(bencher: Bencher<'_, '_>, leaking: usize) {
    stepped(bencher, leaking, &[vec![Watts(0.03); leaking]]);
}

/// The same where every other segment leaks ten times less: blocks that are gated between bursts.
#[divan::bench(args = [4, 12], sample_count = 3, sample_size = 1)]
fn a_million_gated_segments(bencher: Bencher<'_, '_>, leaking: usize) {
    stepped(bencher, leaking, &[vec![Watts(0.06); leaking], vec![Watts(0.006); leaking]]);
}

/// All changes, with leakages that come one after the other, over and over.
fn stepped(bencher: Bencher<'_, '_>, leaking: usize, leakage: &[Vec<Watts>]) {
    let (network, changes) = (network(leaking), changes());
    bencher.bench_local(|| {
        let mut state = network.at_rest();
        let mut power = [Watts(0.0); BLOCKS];
        for (change, leakage) in changes.iter().zip(leakage.iter().cycle()) {
            power[change.block] = change.power;
            let (power, leakage) = (&power[..], &leakage[..]);
            let segment = Segment { power, leakage, duration: change.duration };
            let end = network.advance(&mut state, black_box(segment));
            assert_eq!(end, Ok(HeatEnd::Whole));
        }
        network.temperature(&mut state, 0)
    });
}

#[divan::bench]
fn the_modes_of_sixteen_nodes() -> ThermalModes {
    sixteen_nodes()
}
