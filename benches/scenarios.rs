//! How fast scenarios are simulated into the metrics alone: events a second, an event being one that is
//! taken from the queue and handled.
//!
//! `cargo bench --bench scenarios` runs some of its own (engines that contend for one memory, tile by
//! tile; a day of a microcontroller that a trigger wakes once a second at random) and those that ship.
//! Names of scenarios behind `--` run these instead.

use joulecast::sim::scenario::{Fidelity, Scenario, shipped_scenarios};
use joulecast::sim::{Limits, Prepared};
use joulecast::trace::Deaf;
use std::time::Instant;

/// Two accelerators that move tiles to and from one DRAM.
const CONTENDED: &str = r#"(schema: "joulecast.scenario/1", name: "contended", description: "Two accelerators, one DRAM.",
    hardware: "edge_soc_example", operating_point: "balanced", duration: "1 s", fidelity: Tile,
    workloads: [
        (name: "gpu", model: "mobilenet_v2", place: [("*", "gpu")], arrivals: BackToBack),
        (name: "npu", model: "ic_resnet8", arrivals: BackToBack),
    ])"#;

/// A graphics processor and a processor whose DRAM is overbooked a quarter of the time.
const OVERBOOKED: &str = r#"(schema: "joulecast.scenario/1", name: "overbooked", description: "Two engines, one DRAM.",
    hardware: "edge_soc_example", operating_point: "balanced", duration: "100 s", fidelity: Tile,
    workloads: [
        (name: "gpu", model: "mobilenet_v2", place: [("*", "gpu")], arrivals: BackToBack),
        (name: "cpu", model: "mobilenet_v2", place: [("*", "cpu")], arrivals: BackToBack),
    ])"#;

/// An NPU that moves tiles by DMA beside a processor.
const TILED: &str = r#"(schema: "joulecast.scenario/1", name: "tiled", description: "Two accelerators, one DRAM.",
    hardware: "rk3588", operating_point: "npu_one_core", duration: "10 s", fidelity: Tile,
    workloads: [
        (name: "npu", model: "yolov8n", arrivals: BackToBack),
        (name: "cpu", model: "mobilenet_v2", place: [("*", "cpu")], arrivals: BackToBack),
    ])"#;

/// A trigger once a second, at random.
const WAKES: &str = r#"(schema: "joulecast.scenario/1", name: "wake_day", description: "86 400 wakes in a day.",
    hardware: "stm32u585", operating_point: "160mhz_3v0_smps", duration: "1 day", fidelity: Layer,
    workloads: [(name: "keyword", model: "kws_ds_cnn", arrivals: Poisson(rate: "1 Hz ±0%"))],
    rest: {"core": (state: "stop2"), "peripherals": (state: "stop2"), "pin": (state: "stop2")})"#;

fn simulated(name: &str, scenario: &Scenario, fidelity: Fidelity) {
    let prepared = Prepared::new(scenario, fidelity).unwrap_or_else(|error| panic!("{error}"));
    let mut fastest = f64::INFINITY;
    let mut events = 0;
    let mut done = None;
    for _ in 0..3 {
        let start = Instant::now();
        let run = prepared.run(scenario.seed(), Limits::default(), &mut Deaf);
        fastest = fastest.min(start.elapsed().as_secs_f64());
        let run = run.unwrap_or_else(|error| panic!("{error}"));
        events = run.events;
        done = Some(run);
    }
    let contended = done.map_or(0.0, |run| {
        let most = run.contended.iter().map(|time| time.seconds().0).fold(0.0, f64::max);
        most / run.metrics.duration.0
    });
    let (rate, shared) = (events as f64 / fastest / 1e6, contended * 100.0);
    println!(
        "{name:14} {:6} {events:>10} events {fastest:8.3} s {rate:6.2} M/s, a memory overbooked {shared:.0} % of the time",
        format!("{fidelity:?}")
    );
}

fn main() {
    let names: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with("--")).collect();
    for name in &names {
        let scenario = Scenario::load(name).unwrap_or_else(|error| panic!("{error}"));
        for fidelity in [Fidelity::Layer, Fidelity::Phase, Fidelity::Tile] {
            simulated(name, &scenario, fidelity);
        }
    }
    if !names.is_empty() {
        return;
    }
    let own = [
        ("contended", CONTENDED),
        ("overbooked", OVERBOOKED),
        ("tiled", TILED),
        ("wake_day", WAKES),
    ];
    for (name, text) in own {
        let scenario = Scenario::parse("bench.ron", text).unwrap_or_else(|error| panic!("{error}"));
        simulated(name, &scenario, scenario.fidelity());
    }
    for shipped in shipped_scenarios() {
        let scenario = Scenario::load(shipped.name).unwrap_or_else(|error| panic!("{error}"));
        simulated(shipped.name, &scenario, scenario.fidelity());
    }
}
