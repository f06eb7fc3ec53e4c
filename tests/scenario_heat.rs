//! Heat in runs of scenarios: leakage that follows temperatures, against closed forms and finely stepped
//! laws; limits that end a run; runs that are taken up.

use crate::command_line::json;
use crate::errors::file;
use joulecast::physics::leakage::Leakage;
use joulecast::physics::leakage_fixed_point::{LeakageFixedPoint, SteadyTemperature};
use joulecast::physics::leaking_network::{
    HeatEnd, LeakSource, LeakingNetwork, LeakingState, Segment, Surroundings,
};
use joulecast::physics::thermal_modes::ThermalModes;
use joulecast::physics::thermal_network::{CauerLadder, CauerStage};
use joulecast::sim::scenario::{Fidelity, Scenario};
use joulecast::sim::{HeatUse, Limits, Prepared, Simulated, Snapshot, Start, TrippedBy};
use joulecast::trace::{Recorder, Trace};
use joulecast::units::{
    Celsius, JoulesPerKelvin, KelvinsPerWatt, PerKelvin, PerVolt, Seconds, SimTime, Volts, Watts,
};

/// Watts that the domain leaks at 25 degC and 1 V.
const LEAK: f64 = 0.5;
/// Of the die and of the sink \[J/K\], \[K/W\].
const STAGES: [(f64, f64); 2] = [(0.05, 2.0), (1.0, 5.0)];
/// Watts of the heater that is on.
const ON: f64 = 4.0;

/// A chip that leaks and has a heater, in a package of two stages: `growth` of the leakage \[1/K\].
fn chip(growth: f64, package: &str) -> String {
    let [die, sink] = STAGES.map(|(capacity, resistance)| {
        format!(r#"capacity: "{capacity} J/K", resistance: "{resistance} K/W""#)
    });
    format!(
        r#"(schema: "joulecast.profile/1", name: "hot", kind: Accelerator, description: "made up",
  sources: {{}}, temperature: "60 degC",
  operating_points: [(name: "only", clocks: {{"clock": "100 MHz"}}, voltages: {{"core": "1 V"}})],
  rails: [(name: "core")],
  domains: [(name: "domain", rail: "core", clock: "clock", nominal_voltage: "1 V",
    leakage: (power: "{LEAK} W", temperature: "25 degC", per_volt: "4 1/V", per_kelvin: "{growth} 1/K"))],
  memories: [(name: "ram", domain: "domain", capacity: "1 GiB", holds: [Weights, Activations],
    bandwidth: PerCycle("64 B/cycle"), read_energy: "1 pJ/B", write_energy: "1 pJ/B")],
  engines: [(name: "unit", domain: "domain", array: Lanes(macs: {{Int8: "16 MAC/cycle"}}),
    energy: (per_mac: {{Int8: "2 nJ"}}, per_operation: {{Int8: "0.1 pJ"}}),
    supports: [Conv, FullyConnected, Elementwise, View, Movement, Convert, Softmax, Pool], memories: ["ram"], transfers: Inline)],
  loads: [
    (name: "heater", rail: "core", voltage_exponent: "0 x",
      states: [(name: "off", voltage: "1 V", dynamic: "0 W"), (name: "on", voltage: "1 V", dynamic: "{ON} W")]),
    (name: "display", rail: "core", voltage_exponent: "0 x", off_chip: true,
      states: [(name: "off", voltage: "1 V", dynamic: "0 W"), (name: "bright", voltage: "1 V", dynamic: "2 W")]),
  ],
  package: (ambient: "25 degC", network: Cauer([(name: "die", {die}), (name: "sink", {sink})]), {package}))"#
    )
}

const LATER: &str = r#"workloads: [(name: "later", model: "ad_autoencoder", arrivals: Periodic(period: "2400 h", offset: "1200 h"))],"#;
const OFTEN: &str =
    r#"workloads: [(name: "often", model: "ad_autoencoder", arrivals: Periodic(period: "3 ms"))],"#;
const COUPLED: &str = "heat: Coupled(),";
const HEATER: &str = r#"states: {"heater": "on"},"#;

fn parsed(chip: &str, scenario: &str) -> Scenario {
    let place = tempfile::tempdir().unwrap();
    file(place.path(), "chip.ron", chip.as_bytes());
    let at = place.path().join("hot.ron");
    let text = format!(
        r#"(schema: "joulecast.scenario/1", name: "hot", description: "a test", hardware: "chip.ron", {scenario})"#
    );
    Scenario::parse(at.to_str().unwrap(), &text).unwrap_or_else(|e| panic!("{e}"))
}

fn ran(scenario: &Scenario, fidelity: Fidelity) -> (Simulated, Trace) {
    let prepared = Prepared::new(scenario, fidelity).unwrap();
    let mut recorder = Recorder::default();
    let done = prepared.run(scenario.seed(), Limits::default(), &mut recorder).unwrap();
    assert!(done.ledger.residuals().hold(), "{:?}", done.ledger.residuals());
    (done, recorder.into_trace())
}

fn run(chip: &str, scenario: &str) -> (Simulated, HeatUse) {
    let (done, _) = ran(&parsed(chip, scenario), Fidelity::Phase);
    let heat = done.heat.clone().unwrap();
    (done, heat)
}

fn close(found: f64, known: f64, relative: f64) {
    assert!((found - known).abs() <= relative * known.abs(), "{found} against {known}");
}

/// The law of the chip's package by itself.
fn law(growth: f64, ceiling: f64) -> LeakingNetwork {
    let stage = |(capacity, resistance)| CauerStage {
        capacity: JoulesPerKelvin(capacity),
        resistance: KelvinsPerWatt(resistance),
    };
    let ladder = CauerLadder::new(STAGES.map(stage).to_vec()).unwrap();
    let source = LeakSource { place: 0, reference: Celsius(25.0), per_kelvin: PerKelvin(growth) };
    let around = Surroundings {
        ambient: Celsius(25.0),
        ceiling: Celsius(ceiling),
        sources: vec![source],
        sensors: Vec::new(),
    };
    LeakingNetwork::new(ThermalModes::of_ladder(&ladder).unwrap(), around).unwrap()
}

fn go(law: &LeakingNetwork, state: &mut LeakingState, power: f64, time: f64) -> HeatEnd {
    let (power, leakage) = ([Watts(power)], [Watts(LEAK)]);
    let segment = Segment { power: &power, leakage: &leakage, duration: Seconds(time) };
    law.advance(state, segment).unwrap()
}

#[test]
fn constant_power_settles_where_leakage_and_temperature_hold_each_other() {
    let (done, heat) =
        run(&chip(0.02, ""), &format!(r#"{LATER} {HEATER} {COUPLED} duration: "300 s""#));
    let leakage = Leakage {
        power: Watts(LEAK),
        voltage: Volts(1.0),
        temperature: Celsius(25.0),
        per_volt: PerVolt(4.0),
        per_kelvin: PerKelvin(0.02),
    };
    let point = LeakageFixedPoint {
        ambient: Celsius(25.0),
        resistance: KelvinsPerWatt(7.0),
        leakage,
        voltage: Volts(1.0),
    };
    let SteadyTemperature::Settles(steady) = point.steady(Watts(ON)) else { panic!() };
    let [die, sink] = &heat.nodes[..] else { panic!("{heat:?}") };
    assert!((die.last.0 - steady.0).abs() < 1e-3, "{} against {steady}", die.last);
    assert_eq!(die.highest, die.last, "it only ever warms");
    let leaks = leakage.at(Volts(1.0), steady).0;
    assert!((sink.last.0 - (25.0 + 5.0 * (ON + leaks))).abs() < 1e-3);
    // What is drawn at the end is what leaks there, to a thousandth.
    let header = &done.metrics.header.components;
    assert!(header.iter().any(|own| own.name.contains("leak")), "{header:?}");
    close(heat.booked.0, heat.leaked.0, 1e-3);
    assert!(heat.steps < 2000, "{} steps", heat.steps);
}

#[test]
fn a_step_of_power_follows_the_law_of_the_network_at_every_moment() {
    for growth in [0.0, 0.02] {
        let text = format!(r#"{LATER} {HEATER} {COUPLED} duration: "20 s""#);
        let (done, trace) = ran(&parsed(&chip(growth, ""), &text), Fidelity::Phase);
        let law = law(growth, 200.0);
        assert_eq!(trace.header.counters[0].name, "die temperature");
        let points = trace.counters[0].points();
        let rise = points[points.len() - 1].1 - points[0].1;
        assert!(points.len() as f64 >= rise && rise > 20.0, "{} points, {rise} K", points.len());
        for (at, told) in points {
            let mut state = law.at_rest();
            go(&law, &mut state, ON, at.seconds().0);
            let known = law.temperature(&mut state, 0).0;
            assert!((told - known).abs() < 2e-3, "{told} against {known} after {at}");
        }
        // The mean, by the law stepped finely.
        let (mut state, mut sum, step) = (law.at_rest(), 0.0, 1e-3);
        for _ in 0..20_000 {
            let before = law.temperature(&mut state, 0).0;
            go(&law, &mut state, ON, step);
            sum += 0.5 * step * (before + law.temperature(&mut state, 0).0);
        }
        close(done.heat.unwrap().nodes[0].mean.0, sum / 20.0, 1e-4);
    }
}

/// On and off in turns, by the law stepped from one change to the next. Its leakage, and the highest and
/// last temperature of the die.
fn turns(growth: f64, (on, off): (f64, f64), count: u32) -> (f64, f64, f64) {
    let law = law(growth, 200.0);
    let (mut state, mut leaked, mut highest) = (law.at_rest(), 0.0, 0f64);
    for _ in 0..count {
        for (power, time) in [(0.0, off), (ON, on)] {
            go(&law, &mut state, power, time);
            leaked += state.leaked()[0].0;
            highest = highest.max(law.temperature(&mut state, 0).0);
        }
    }
    (leaked, highest, law.temperature(&mut state, 0).0)
}

#[test]
fn a_periodic_load_keeps_to_the_law_stepped_from_change_to_change() {
    // A twentieth of the fastest time constant is some 4 ms: below it, power is summed.
    for (on, off, count) in [(0.5, 0.5, 20), (0.02, 0.05, 300), (0.0005, 0.0005, 20_000)] {
        let steps = format!(
            r#"background: {{"heater": Steps(repeats: true, steps: [(state: "off", lasts: "{off} s"), (state: "on", lasts: "{on} s")])}},"#
        );
        let lasts = (on + off) * f64::from(count);
        let text = format!(r#"{LATER} {steps} {COUPLED} duration: "{lasts} s""#);
        let (_, heat) = run(&chip(0.02, ""), &text);
        let (leaked, highest, last) = turns(0.02, (on, off), count);
        let die = &heat.nodes[0];
        assert!((die.last.0 - last).abs() < 0.05, "{} against {last}", die.last);
        assert!((die.highest.0 - highest).abs() < 0.05, "{} against {highest}", die.highest);
        close(heat.leaked.0, leaked, 5e-4);
        close(heat.booked.0, leaked, 1.5e-3);
        let changes = 2 * u64::from(count);
        assert!(on > 1e-3 || heat.steps * 4 < changes, "{} steps", heat.steps);
    }
}

#[test]
fn every_joule_that_is_drawn_on_the_chip_heats_it_and_no_other() {
    let all = r#"states: {"heater": "on", "display": "bright"}, duration: "3 s""#;
    let (done, heat) = run(&chip(0.02, ""), &format!("{OFTEN} {COUPLED} {all}"));
    let by = &done.ledger.by_component;
    let leakage = by.iter().find(|(name, _)| name.contains("leak")).unwrap().1;
    close(heat.booked.0, leakage.0, 1e-12);
    let into: f64 = heat.nodes.iter().map(|own| own.heat.0).sum();
    let drawn = done.ledger.source.0 - by["display"].0;
    close(into, drawn - heat.booked.0 + heat.leaked.0, 1e-11);
    assert!(by["display"].0 > 1.0);
    close(heat.booked.0, heat.leaked.0, 2e-3);
    assert_eq!(heat.nodes[1].heat.0, 0.0, "nothing is said to heat the sink");
}

#[test]
fn leakage_that_outgrows_its_way_to_the_air_ends_the_run() {
    let text = format!(r#"{LATER} {HEATER} {COUPLED} duration: "1 h""#);
    let (done, heat) = run(&chip(0.04, ""), &text);
    let runaway = heat.runaway.unwrap();
    let law = law(0.04, 200.0);
    let mut state = law.at_rest();
    let HeatEnd::Ceiling { after, place: 0 } = go(&law, &mut state, ON, 3600.0) else {
        panic!("it settles")
    };
    close(runaway.at.seconds().0, after.0, 2e-3);
    assert!(runaway.unbounded && runaway.node == 0, "{runaway:?}");
    assert!(done.metrics.duration.0 >= runaway.at.seconds().0);
    close(done.metrics.duration.0, after.0, 1e-2);
    close(heat.nodes[0].highest.0, 200.0, 1e-9);
    // With half of the power it holds.
    let (_, cooler) = run(&chip(0.02, ""), &text);
    assert_eq!(cooler.runaway, None);
}

#[test]
fn a_critical_node_shuts_the_run_down_when_it_is_reached() {
    let package = r#"critical: (temperature: "45 degC")"#;
    let (done, heat) =
        run(&chip(0.02, package), &format!(r#"{LATER} {HEATER} {COUPLED} duration: "1 h""#));
    let tripped = heat.tripped.unwrap();
    assert_eq!(tripped.by, TrippedBy::Node(0));
    assert_eq!(tripped.at.seconds(), done.metrics.duration, "it ends there");
    let law = law(0.02, 200.0);
    let mut state = law.at_rest();
    go(&law, &mut state, ON, tripped.at.seconds().0);
    assert!((law.temperature(&mut state, 0).0 - 45.0).abs() < 3e-3);
}

#[test]
fn a_sensor_lags_behind_and_trips_by_what_it_reads() {
    let package = r#"sensors: [(name: "near", lag: "200 ms", resolution: "0.5 K", period: "10 ms"), (name: "bare", node: "sink")],
      critical: (temperature: "45 degC", sensor: "near")"#;
    let text = format!(r#"{LATER} {HEATER} {COUPLED} duration: "1 h""#);
    let (done, heat) = run(&chip(0.02, package), &text);
    let tripped = heat.tripped.unwrap();
    assert_eq!(tripped.by, TrippedBy::Sensor(0));
    let near = &heat.sensors[0];
    assert_eq!(near.highest, Some(Celsius(45.0)));
    assert_eq!(near.readings, 1 + tripped.at.0 / 10_000_000_000, "every 10 ms and at the start");
    assert_eq!(tripped.at.0 % 10_000_000_000, 0);
    assert!(heat.nodes[0].last.0 > 45.0, "the die is ahead of it");
    assert!(heat.sensors[1].readings > near.readings / 2);
    assert_eq!(tripped.at.seconds(), done.metrics.duration);
}

#[test]
fn a_run_starts_where_it_is_told() {
    let cold = run(
        &chip(0.02, ""),
        &format!(r#"{LATER} heat: Coupled(ambient: "10 degC"), duration: "1 s""#),
    )
    .1;
    assert_eq!((cold.ambient, cold.nodes[0].first), (Celsius(10.0), Celsius(10.0)));
    let warm = run(
        &chip(0.02, ""),
        &format!(r#"{LATER} heat: Coupled(start: At("45 degC")), duration: "1 s""#),
    )
    .1;
    for node in &warm.nodes {
        close(node.first.0, 45.0, 1e-12);
        assert!(node.last < node.first);
    }
    let text = format!(r#"{LATER} {HEATER} heat: Coupled(start: Settled), duration: "100 s""#);
    let (done, settled) = run(&chip(0.02, ""), &text);
    let die = &settled.nodes[0];
    assert!((die.last.0 - die.first.0).abs() < 1e-4, "{die:?}");
    assert!(die.first.0 > 60.0, "{die:?}");
    close(done.metrics.mean.0, ON + settled.leaked.0 / 100.0, 1e-4);
}

#[test]
fn a_run_that_is_taken_up_ends_with_the_same_bits() {
    let package =
        r#"sensors: [(name: "near", lag: "30 ms", resolution: "0.5 K", period: "10 ms")]"#;
    let steps = r#"background: {"heater": Steps(repeats: true, steps: [(state: "off", lasts: "30 ms"), (state: "on", lasts: "20 ms")])},"#;
    let scenario =
        parsed(&chip(0.02, package), &format!(r#"{OFTEN} {steps} {COUPLED} duration: "2 s""#));
    let (expected, trace) = ran(&scenario, Fidelity::Phase);
    let prepared = Prepared::new(&scenario, Fidelity::Phase).unwrap();
    for at in [1, 777_777_777_777, 1_030_000_000_000].map(SimTime) {
        let start = Start::Afresh(scenario.seed());
        let kept = prepared.run_from(start, Some(at), Limits::default(), &mut Recorder::default());
        let kept = kept.unwrap();
        assert_eq!(kept.simulated, expected, "a snapshot at {at} changes nothing");
        let snapshot = Snapshot::from_json(&kept.snapshot.unwrap().to_json()).unwrap();
        let mut rest = Recorder::default();
        let ran = prepared.run_from(Start::From(&snapshot), None, Limits::default(), &mut rest);
        assert_eq!(ran.unwrap().simulated, expected, "taken up at {at}");
        for (wave, all) in rest.into_trace().counters.iter().zip(&trace.counters) {
            assert_eq!(wave.at(at), all.at(at));
            let later = |points: &[(SimTime, f64)]| -> Vec<(SimTime, f64)> {
                points.iter().copied().filter(|(time, _)| *time > at).collect()
            };
            assert_eq!(later(wave.points()), later(all.points()), "after {at}");
        }
    }
}

#[test]
fn heat_goes_on_through_changes_of_operating_point_and_snapshots() {
    let text = r#"(schema: "joulecast.scenario/1", name: "hot", description: "a test", hardware: "edge_soc_example",
      operating_point: "balanced", duration: "300 ms", seed: 3, heat: Coupled(ambient: "35 degC", start: Settled),
      workloads: [(name: "a", model: "vww_mobilenetv1_025", arrivals: Poisson(rate: "60 Hz"))],
      rest: {"npu": (state: "retention"), "gpu": (state: "off")},
      dvfs: (points: ["efficient", "balanced"], governor: SimpleOndemand(period: "1 ms")))"#;
    let scenario = Scenario::parse("test.ron", text).unwrap_or_else(|e| panic!("{e}"));
    let (expected, _) = ran(&scenario, Fidelity::Phase);
    let heat = expected.heat.as_ref().unwrap();
    // It starts settled at the faster point and cools at the slower one.
    assert!(expected.speeds.as_ref().unwrap().changes > 0, "{:?}", expected.speeds);
    assert!(heat.nodes[0].mean < heat.nodes[0].first, "{heat:?}");
    close(heat.booked.0, heat.leaked.0, 5e-3);
    let prepared = Prepared::new(&scenario, Fidelity::Phase).unwrap();
    for at in [77_777_777_777, 200_000_000_000].map(SimTime) {
        let start = Start::Afresh(3);
        let kept = prepared.run_from(start, Some(at), Limits::default(), &mut Recorder::default());
        let snapshot = kept.unwrap().snapshot.unwrap();
        let rest = &mut Recorder::default();
        let ran = prepared.run_from(Start::From(&snapshot), None, Limits::default(), rest);
        assert_eq!(ran.unwrap().simulated, expected, "taken up at {at}");
    }
}

#[test]
fn a_run_whose_heat_is_not_coupled_knows_no_package() {
    let with = chip(0.02, r#"critical: (temperature: "26 degC")"#);
    let at = with.find("package: (").unwrap();
    let without = format!("{})", &with[..at]);
    let text = format!(r#"{OFTEN} {HEATER} duration: "100 ms""#);
    let (bare, first) = ran(&parsed(&without, &text), Fidelity::Tile);
    for said in ["", "heat: Fixed,"] {
        let (done, trace) = ran(&parsed(&with, &format!("{text}, {said}")), Fidelity::Tile);
        assert_eq!(done, bare);
        assert_eq!(trace, first);
        assert_eq!(done.heat, None);
    }
}

#[test]
fn a_run_that_ends_with_its_inferences_is_not_kept_going_by_its_heat() {
    let (done, heat) = run(&chip(0.02, ""), &format!("{OFTEN} {COUPLED} inferences: 50"));
    assert_eq!(done.inferences(), 50);
    assert!(heat.nodes[0].last.0 > 25.0 && done.metrics.duration.0 < 1.0);
}

fn faults(chip: &str, scenario: &str) -> String {
    let place = tempfile::tempdir().unwrap();
    file(place.path(), "chip.ron", chip.as_bytes());
    let at = place.path().join("hot.ron");
    let text = format!(
        r#"(schema: "joulecast.scenario/1", name: "hot", description: "a test", hardware: "chip.ron", {scenario})"#
    );
    Scenario::parse(at.to_str().unwrap(), &text).unwrap_err().to_string()
}

#[test]
fn heat_without_a_package_and_starts_beyond_limits_are_faults() {
    let with = chip(0.02, r#"critical: (temperature: "100 degC")"#);
    let without = format!("{})", &with[..with.find("package: (").unwrap()]);
    let none = faults(&without, &format!(r#"{LATER} {COUPLED} duration: "1 s""#));
    assert!(none.contains("states no package") && none.contains("heat: Fixed"), "{none}");
    let both = r#"heat: Coupled(ambient: "110 degC", start: At("120 degC")), duration: "1 s""#;
    let told = faults(&with, &format!("{LATER} {both}"));
    assert!(told.contains("heat.Coupled.ambient") || told.contains("off at once"), "{told}");
    assert!(told.contains("does not start at"), "{told}");
}

#[test]
fn the_report_of_a_run_holds_its_temperatures_and_how_it_ended() {
    let place = tempfile::tempdir().unwrap();
    let package = r#"critical: (temperature: "45 degC")"#;
    file(place.path(), "chip.ron", chip(0.02, package).as_bytes());
    let text = format!(
        r#"(schema: "joulecast.scenario/1", name: "hot", description: "a test", hardware: "chip.ron", {LATER} {HEATER} {COUPLED} duration: "1 h")"#
    );
    file(place.path(), "hot.ron", text.as_bytes());
    let at = place.path().join("hot.ron");
    let told = json(&["run", at.to_str().unwrap(), "--json"]);
    assert_eq!(told["ending"]["kind"], "critical_temperature");
    let highest = told["metrics"]["max_temperature_c"].as_f64().unwrap();
    assert!((highest - 45.0).abs() < 2e-3, "{highest}");
    assert_eq!(told["heat"]["nodes"][0]["name"], "die");
    assert_eq!(told["heat"]["nodes"][0]["max_c"].as_f64().unwrap(), highest);
    assert_eq!(told["heat"]["trip"]["node"], "die");
    assert!(told["heat"]["runaway"].is_null());
}
