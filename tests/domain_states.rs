//! Power states of domains in runs: what entry, inrush, rails that fall and weights that are lost cost,
//! against figures by hand.

use joulecast::hardware::Profile;
use joulecast::mapping::plan;
use joulecast::sim::scenario::{Fidelity, Scenario};
use joulecast::sim::{DomainUse, Limits, Prepared, Simulated, Snapshot, Start};
use joulecast::trace::{Cause, Recorder, Trace};
use joulecast::units::SimTime;

/// One engine at 100 MHz that costs nothing itself, in a domain that leaks 8 mW at its 0.8 V and whose
/// clock takes 1 mW, behind a regulator of 80 %.
const CHIP: &str = r#"(
  schema: "joulecast.profile/1", name: "gated", kind: SystemOnChip, description: "made up",
  sources: {}, temperature: "25 degC",
  operating_points: [(name: "only", clocks: {"c": "100 MHz", "s": "100 MHz"},
    voltages: {"vbat": "3.6 V", "vdd": "0.8 V", "vio": "1.8 V"})],
  rails: [(name: "vbat"), (name: "vdd"), (name: "vio")],
  regulators: [(name: "buck", input: "vbat", output: "vdd", max_current: "30 mA", REGULATOR
    kind: Switching(efficiency: "80 %", quiescent: "0 A"))],
  domains: [
    (name: "core", rail: "vdd", clock: "c", nominal_voltage: "0.8 V", clock_tree: Energy("10 pJ/cycle"), CORE
     leakage: (power: "8 mW", temperature: "25 degC", per_volt: "4 1/V", per_kelvin: "0 1/K"),
     states: [(name: "rest", leakage_share: "10 %", STATE)]),
    (name: "side", rail: "vdd", clock: "s", nominal_voltage: "0.8 V",
     leakage: (power: "2 mW", temperature: "25 degC", per_volt: "4 1/V", per_kelvin: "0 1/K"),
     states: [(name: "rest", leakage_share: "100 %", SIDE)]),
    (name: "io", rail: "vio", clock: "s", nominal_voltage: "1.8 V",
     states: [(name: "rest", wake_time: "7 us")]),
  ],
  memories: [
    (name: "sram", domain: "core", capacity: "1 MiB", holds: [Weights, Activations], bandwidth: PerCycle("8 B/cycle"),
     write_energy: "2 pJ/B"),
    (name: "side_ram", domain: "side", capacity: "64 KiB", holds: [Activations], bandwidth: PerCycle("8 B/cycle")),
    (name: "flash", domain: "io", capacity: "4 MiB", holds: [Weights], bandwidth: PerSecond("50 MB/s"),
     read_energy: "100 pJ/B"),
  ],
  engines: [
    (name: "unit", domain: "core", array: Lanes(macs: {Int8: "64 MAC/cycle", Int32: "16 MAC/cycle", Float32: "16 MAC/cycle"}), energy: (per_busy_cycle: Energy("0 uW/MHz")),
     supports: [Conv, StemConv, PointwiseConv, DepthwiseConv, FullyConnected, MatMul, Pool, Elementwise, Softmax, Normalisation, Reduce, View, Movement, Convert], memories: ["sram", "flash"], transfers: Inline),
    (name: "other", domain: "side", array: Lanes(macs: {Int8: "64 MAC/cycle", Int32: "16 MAC/cycle", Float32: "16 MAC/cycle"}), energy: (per_busy_cycle: Energy("0 uW/MHz")),
     supports: [Conv, StemConv, PointwiseConv, DepthwiseConv, FullyConnected, MatMul, Pool, Elementwise, Softmax, Normalisation, Reduce, View, Movement, Convert], memories: ["side_ram", "flash"], transfers: Inline),
  ],
)"#;

/// Working power of the core, and that at rest.
const ON: f64 = 9e-3;
const REST: f64 = 0.8e-3;

/// What is said of a chip.
#[derive(Debug, Clone, Copy, Default)]
struct Chip {
    regulator: &'static str,
    core: &'static str,
    state: &'static str,
    side: &'static str,
}

/// The side asks for 0.8 V at rest: its power is the same at work and at rest.
const HOLDS: Chip = Chip { regulator: "", core: "", state: "", side: "" };

impl Chip {
    fn text(self) -> String {
        let text = CHIP.replace("REGULATOR", self.regulator).replace("CORE", self.core);
        text.replace("STATE", self.state).replace("SIDE", self.side)
    }

    fn scenario(self, text: &str) -> Scenario {
        Self::on(&self.text(), text)
    }

    /// A scenario on the text of a profile.
    fn on(profile: &str, text: &str) -> Scenario {
        Profile::parse("gated.ron", profile).unwrap_or_else(|e| panic!("{e}"));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("gated.ron");
        std::fs::write(&path, profile).unwrap();
        let head = format!(
            r#"schema: "joulecast.scenario/1", name: "test", description: "a test", hardware: "{}","#,
            path.display()
        );
        let text = text.replace("NEVER", NEVER);
        Scenario::parse("test.ron", &format!("({head}{text})")).unwrap_or_else(|e| panic!("{e}"))
    }

    fn run(self, text: &str) -> Simulated {
        traced(&self.scenario(text)).0
    }
}

fn traced(scenario: &Scenario) -> (Simulated, Trace) {
    let mut recorder = Recorder::default();
    let prepared = Prepared::new(scenario, Fidelity::Phase).unwrap();
    let done = prepared.run(scenario.seed(), Limits::default(), &mut recorder).unwrap();
    assert!(done.ledger.residuals().hold());
    (done, recorder.into_trace())
}

/// A scenario has a network; here it is asked for once, behind the end of the run.
const NEVER: &str = r#"workloads: [(name: "never", model: "kws_ds_cnn", arrivals: Periodic(period: "1000 s", offset: "999 s"))]"#;

/// Mean time from asking to the end.
fn response(done: &Simulated, stream: &str) -> f64 {
    done.streams.iter().find(|own| own.name == stream).unwrap().served.response.mean().0
}

/// A millisecond of work each 10 ms.
const NODE: &str = r#"duration: "100 ms", NEVER,
  tasks: [(name: "a", engine: "unit", cycles: "100000 cycle", arrivals: Periodic(period: "10 ms"))],"#;

fn resting(policy: &str) -> String {
    format!(r#"{NODE} rest: {{"core": (state: "rest", policy: {policy})}}"#)
}

fn core(done: &Simulated) -> &DomainUse {
    &done.domains[0]
}

fn close(found: f64, expected: f64, what: &str) {
    assert!(
        (found - expected).abs() <= 1e-9 * expected.abs(),
        "{what}: {found} against {expected}"
    );
}

const ENTERS: Chip = Chip {
    state: r#"entry_time: "100 us", entry_energy: "1 uJ", wake_time: "50 us", wake_energy: "2 uJ""#,
    ..HOLDS
};

#[test]
fn going_to_rest_takes_its_time_at_working_power_and_its_energy() {
    let done = ENTERS.run(&resting("Immediately"));
    let own = core(&done);
    let times = own.residency;
    assert_eq!((times.wakes, own.transitions.entries), (10, 10));
    assert_eq!(times.on, SimTime(10_000_000_000));
    assert_eq!(times.entering, SimTime(1_000_000_000));
    assert_eq!(times.waking, SimTime(500_000_000));
    assert_eq!(times.resting.0, 100_000_000_000 - 11_500_000_000);
    close(own.transitions.entry.0, 10e-6, "entry");
    close(own.transitions.wake.0, 20e-6, "wake");
    // 2 mW of the side, all the time.
    let transition = (ON + 2e-3) * 1.5e-3 + 30e-6;
    close(done.ledger.by_cause[&Cause::Transition].0, transition, "transition");
    let load = ON * 11.5e-3 + REST * 88.5e-3 + 30e-6 + 2e-3 * 0.1;
    close(done.metrics.load_energy.0, load, "all");
    close(done.ledger.source.0, load / 0.8, "source");
}

#[test]
fn a_request_that_comes_during_entry_waits_for_its_end_and_for_the_waking() {
    // Work ends at 1.05 ms and the entry at 1.15 ms; asked for at 1.1 ms.
    let done = ENTERS.run(
        r#"duration: "50 ms", NEVER, tasks: [
          (name: "a", engine: "unit", cycles: "100000 cycle", arrivals: Periodic(period: "100 ms")),
          (name: "b", engine: "unit", cycles: "100000 cycle", arrivals: Periodic(period: "100 ms", offset: "1.1 ms"))],
          rest: {"core": (state: "rest")}"#,
    );
    close(response(&done, "a"), 1.05e-3, "from rest");
    close(response(&done, "b"), 0.05e-3 + 0.05e-3 + 1e-3, "during entry");
    let own = core(&done);
    assert_eq!((own.residency.wakes, own.transitions.entries), (2, 2));
    assert_eq!(own.residency.entering, SimTime(200_000_000));
}

/// Energy of two tasks with a gap between them, and whether the domain rested in it.
fn gap(policy: &str, gap: f64) -> (f64, bool) {
    let offset = 1.05e-3 + gap;
    // It ends with the second one, which waits for the waking where the domain rests at once.
    let end = offset + 1e-3 + if policy == "Immediately" { 50e-6 } else { 0.0 };
    let done = ENTERS.run(&format!(
        r#"duration: "{end:.12e} s", NEVER, tasks: [
          (name: "a", engine: "unit", cycles: "100000 cycle", arrivals: Periodic(period: "100 s")),
          (name: "b", engine: "unit", cycles: "100000 cycle", arrivals: Periodic(period: "100 s", offset: "{offset:.12e} s"))],
          rest: {{"core": (state: "rest", policy: {policy})}}"#
    ));
    (done.metrics.load_energy.0, core(&done).residency.wakes == 2)
}

#[test]
fn resting_pays_from_the_break_even_time_on_with_entry_and_waking_in_it() {
    let scenario = ENTERS.scenario(&resting("BreakEven"));
    let outlook = scenario.resting().remove(0);
    let even = 100e-6 + (1e-6 + 2e-6 + ON * 50e-6) / (ON - REST);
    close(outlook.break_even.unwrap().0, even, "break-even time");
    let lost = |idle: f64| gap("Immediately", idle).0 - gap(r#"Timeout("1 s")"#, idle).0;
    // The side leaks during the waking, too: a joule that the domain's own rule does not know of.
    let side = 2e-3 * 50e-6;
    assert!((lost(even) - side).abs() < 1e-12, "{}", lost(even));
    assert!(lost(0.9 * even) - side > 0.0 && lost(1.1 * even) - side < 0.0);
    assert!(!gap("Oracle", 0.999 * even).1 && gap("Oracle", 1.001 * even).1);
    // By a timeout it rests once it has been idle for that long.
    assert!(!gap("BreakEven", 0.999 * even).1 && gap("BreakEven", 1.001 * even).1);
}

const SWITCHED: Chip = Chip {
    core: r#"capacitance: "1 uF","#,
    state: r#"ramp_time: "20 us", wake_time: "50 us", wake_energy: "2 uJ""#,
    ..HOLDS
};

#[test]
fn switching_on_takes_c_v_squared_in_the_time_of_the_ramp() {
    let plain = Chip { state: r#"wake_time: "50 us", wake_energy: "2 uJ""#, ..HOLDS };
    let before = plain.run(&resting("Immediately"));
    let scenario = SWITCHED.scenario(&resting("Immediately"));
    let (done, trace) = traced(&scenario);
    let own = core(&done);
    assert_eq!(own.residency, core(&before).residency, "the ramp is a part of the wake time");
    // 1 uF (0.8 V)^2, ten times.
    close(own.transitions.inrush.0, 6.4e-6, "inrush");
    close(own.transitions.inrush_current.unwrap().0, 40e-3, "current");
    let more = done.metrics.load_energy.0 - before.metrics.load_energy.0;
    assert!((more - 6.4e-6).abs() < 1e-12, "{more}");
    let rest = trace.header.components.iter().position(|c| c.name == "core_rest").unwrap();
    let power = |us: u64| trace.power[rest].at(SimTime(us * 1_000_000));
    close(power(10), 0.8 * 40e-3, "ramp");
    close(power(30), 2e-6 / 30e-6, "the rest of waking");
    let warnings = scenario.outlook().unwrap().warnings;
    assert!(
        warnings.iter().any(|own| own.message.contains("gives 30.00 mA at most")),
        "{warnings:?}"
    );
}

const FALLS: Chip = Chip {
    regulator: r#"slew: "10 mV/us", output_capacitance: "10 uF","#,
    state: r#"voltage: "0.5 V", wake_time: "50 us""#,
    side: r#"voltage: "0.5 V""#,
    ..HOLDS
};

const BOTH: &str = r#"rest: {"core": (state: "rest", policy: Immediately), "side": (state: "rest", policy: Immediately)}"#;

#[test]
fn a_rail_stands_at_what_its_resting_domains_ask_and_leaks_by_that() {
    let (done, trace) = traced(&FALLS.scenario(&format!("{NODE} {BOTH}")));
    let rail = trace.header.rails.iter().position(|rail| rail.name == "vdd").unwrap();
    let voltage = |ms: u64| trace.voltage[rail].at(SimTime(ms * 1_000_000_000));
    close(voltage(5), 0.5, "at rest");
    close(voltage(1), 0.8, "at work");
    // 300 mV at 10 mV/us before the 50 us of waking.
    close(response(&done, "a"), 30e-6 + 50e-6 + 1e-3, "response");
    // 10 uF (0.64 - 0.25) V^2 / 2, ten times.
    close(core(&done).transitions.rail.0, 19.5e-6, "raising");
    // (V / V0) exp(4 (V - V0)) of 10 % of 8 mW and of all of 2 mW.
    let low = 0.5 / 0.8 * (-1.2f64).exp();
    let (up, down) = (10.0 * 1.08e-3, 100e-3 - 10.0 * 1.08e-3);
    let load = 11e-3 * up + low * 2.8e-3 * down + 19.5e-6;
    // The side rests throughout; nothing runs on it.
    close(done.metrics.load_energy.0, load, "all");
    close(done.ledger.source.0, load / 0.8, "the regulator takes its part of the raising, too");
}

#[test]
fn a_rail_is_held_up_by_one_that_asks_for_more() {
    let asks = Chip { side: r#"voltage: "0.6 V""#, ..FALLS };
    let (_, trace) = traced(&asks.scenario(&format!("{NODE} {BOTH}")));
    let rail = trace.header.rails.iter().position(|rail| rail.name == "vdd").unwrap();
    close(trace.voltage[rail].at(SimTime(5_000_000_000)), 0.6, "the highest of both");
    let alone = r#"rest: {"core": (state: "rest", policy: Immediately)}"#;
    let (done, trace) = traced(&asks.scenario(&format!("{NODE} {alone}")));
    close(trace.voltage[rail].at(SimTime(5_000_000_000)), 0.8, "the side never rests");
    close(response(&done, "a"), 50e-6 + 1e-3, "nothing to raise");
    assert_eq!(core(&done).transitions.rail.0, 0.0);
}

const LOSES: Chip =
    Chip { state: r#"loses: ["sram"], entry_time: "20 us", wake_time: "50 us""#, ..HOLDS };

const NET: &str = r#"(name: "net", model: "kws_ds_cnn", place: [("*", "unit")], arrivals: Periodic(period: "50 ms"))"#;

const RESTS: &str = r#"rest: {"core": (state: "rest", policy: Immediately), "io": (state: "rest", policy: Immediately)}"#;

/// Bytes of the weights that the plan of the first workload keeps in the first memory.
fn weights_in_sram(scenario: &Scenario) -> f64 {
    let placed = &scenario.workloads[0].placed;
    let planned = plan(&placed.network, scenario.setting(placed));
    assert_eq!(planned.memory.len(), 1);
    let sram = planned.memory[0].plan.memories.iter().find(|own| own.memory == 0).unwrap();
    sram.weight_bytes as f64
}

#[test]
fn weights_that_are_lost_come_back_over_the_channels_that_they_pass() {
    let scenario = LOSES.scenario(&format!(r#"duration: "200 ms", workloads: [{NET}], {RESTS}"#));
    let bytes = weights_in_sram(&scenario);
    assert!(bytes > 20e3);
    let (done, _) = traced(&scenario);
    let own = core(&done);
    assert_eq!((own.residency.wakes, own.transitions.reloads), (4, 4));
    close(own.transitions.reloaded.0, 4.0 * bytes, "bytes");
    // 100 pJ a byte from flash and 2 pJ into the SRAM.
    close(own.transitions.reload.0, 4.0 * bytes * 102e-12, "energy");
    close(done.ledger.by_component["flash"].0, 4.0 * bytes * 100e-12, "flash");
    // Wakes, waits for the flash to wake, and loads at 50 MB/s.
    let net = &done.streams[0].served;
    let waking = net.response.mean().0 - net.latency.mean().0;
    assert!((waking - (50e-6 + 7e-6 + bytes / 50e6)).abs() < 2e-12, "{waking}");
    close(scenario.resting()[0].wake_time.0, 50e-6 + bytes / 50e6, "as the outlook says");
    // Kept, nothing is loaded.
    let kept = Chip { state: r#"entry_time: "20 us", wake_time: "50 us""#, ..HOLDS };
    let kept = kept.run(&format!(r#"duration: "200 ms", workloads: [{NET}], {RESTS}"#));
    assert_eq!((core(&kept).transitions.reloads, kept.ledger.by_component["flash"].0), (0, 0.0));
}

#[test]
fn a_reload_shares_the_port_with_what_else_passes_it() {
    let both = |other: &str| {
        LOSES.run(&format!(r#"duration: "200 ms", workloads: [{NET}, {other}], {RESTS}"#))
    };
    let alone = both("");
    let busy = both(
        r#"(name: "busy", model: "ic_resnet8", place: [("*", "other")], arrivals: BackToBack)"#,
    );
    let flash = 2;
    assert_eq!(alone.contended[flash], SimTime::ZERO);
    assert!(busy.contended[flash] > SimTime::ZERO);
    assert!(response(&busy, "net") > response(&alone, "net") + 10e-6);
    close(core(&busy).transitions.reload.0, core(&alone).transitions.reload.0, "the same energy");
}

#[test]
fn a_domain_that_would_lose_live_data_does_not_rest_between_layers() {
    // The host of the pass is the other engine: the core would rest at each of its turns.
    let net = r#"(name: "net", model: "kws_ds_cnn", place: [("*", "unit")],
        host: (engine: "other", before: "1000 cycle", each_layer: "100000 cycle", after: "1000 cycle"), arrivals: Periodic(period: "50 ms"))"#;
    let keeps = Chip { state: r#"wake_time: "1 us""#, ..HOLDS };
    let loses = Chip { state: r#"wake_time: "1 us", loses: ["sram"]"#, ..HOLDS };
    let rests = r#"rest: {"core": (state: "rest", policy: Immediately)}"#;
    let text = format!(r#"duration: "100 ms", workloads: [{net}], {rests}"#);
    let (keeps, loses) = (keeps.run(&text), loses.run(&text));
    assert!(core(&keeps).residency.wakes > 10, "it rests while the host is at work");
    assert_eq!(core(&loses).residency.wakes, 2, "what layers hand on would be lost");
}

/// Every part of going to rest and of coming back.
const ALL: Chip = Chip {
    regulator: r#"slew: "10 mV/us", output_capacitance: "10 uF","#,
    core: r#"capacitance: "1 uF","#,
    state: r#"voltage: "0.5 V", loses: ["sram"], entry_time: "20 us", entry_energy: "1 uJ",
        ramp_time: "20 us", wake_time: "50 us", wake_energy: "2 uJ""#,
    side: r#"voltage: "0.4 V""#,
};

const ALL_REST: &str = r#"rest: {"core": (state: "rest", policy: Immediately), "side": (state: "rest", policy: Immediately),
    "io": (state: "rest", policy: Immediately)}"#;

#[test]
fn a_run_is_taken_up_within_any_part() {
    let scenario = ALL.scenario(&format!(r#"duration: "120 ms", workloads: [{NET}], {ALL_REST}"#));
    let prepared = Prepared::new(&scenario, Fidelity::Phase).unwrap();
    let whole = traced(&scenario).0;
    // The rail rises until 30 us, the ramp ends at 50, waking at 80, the flash is on at 87.
    for us in [5, 30, 40, 60, 84, 100, 300, 2_000, 40_000, 50_010, 50_085, 50_200] {
        let (at, seed) = (SimTime(us * 1_000_000), scenario.seed());
        let deaf = &mut joulecast::trace::Deaf;
        let run = prepared.run_from(Start::Afresh(seed), Some(at), Limits::default(), deaf);
        let run = run.unwrap();
        assert_eq!(run.simulated, whole);
        let snapshot = Snapshot::from_json(&run.snapshot.unwrap().to_json()).unwrap();
        let start = Start::From(&snapshot);
        let rest = prepared.run_from(start, None, Limits::default(), deaf).unwrap();
        assert_eq!(rest.simulated, whole, "taken up at {us} us");
    }
}

#[test]
fn a_run_that_is_cut_within_any_part_keeps_the_identity_of_joules() {
    let (chip, rests) = (ALL, ALL_REST);
    // Parts of the first waking lie at 30, 50, 80 and 87 us; entry behind the inference.
    for end in [10, 40, 60, 84, 100, 400, 60_000] {
        let done = chip.run(&format!(r#"duration: "{end} us", workloads: [{NET}], {rests}"#));
        let times = core(&done).residency;
        let sum = times.on.0 + times.entering.0 + times.resting.0 + times.waking.0;
        assert_eq!(sum, end * 1_000_000);
    }
    let scenario = chip.scenario(&format!(r#"duration: "200 ms", workloads: [{NET}], {rests}"#));
    let prepared = Prepared::new(&scenario, Fidelity::Phase).unwrap();
    for most in 1..60 {
        let limits = Limits { max_events: Some(most), interrupt: None };
        let done = prepared.run(1, limits, &mut joulecast::trace::Deaf).unwrap();
        assert!(done.ledger.residuals().hold(), "{most}");
    }
}

#[test]
fn what_cannot_be_in_a_state_is_a_fault_with_its_field() {
    let wrong = |chip: Chip| Profile::parse("gated.ron", &chip.text()).unwrap_err().to_string();
    let of = |state: &'static str| wrong(Chip { state, ..HOLDS });
    assert!(of(r#"entry_energy: "1 uJ""#).contains("energy of entry needs an entry_time"));
    assert!(of(r#"ramp_time: "1 us""#).contains("the domain's `capacitance`"));
    assert!(of(r#"loses: ["flsh"]"#).contains("no memory of domain core is called `flsh`"));
    let regulator = r#"output_capacitance: "10 uF","#;
    assert!(wrong(Chip { regulator, ..HOLDS }).contains("give the `slew`"));
}

#[test]
fn the_example_lets_the_rail_of_its_npu_fall_in_retention() {
    let text = |state: &str| {
        format!(
            r#"(schema: "joulecast.scenario/1", name: "t", description: "t", hardware: "edge_soc_example",
              duration: "1 s", workloads: [(name: "a", model: "vww_mobilenetv1_025", arrivals: Periodic(period: "100 ms"))],
              rest: {{"npu": (state: "{state}", policy: Immediately)}})"#
        )
    };
    let run = |state: &str| {
        let scenario = Scenario::parse("t.ron", &text(state)).unwrap_or_else(|e| panic!("{e}"));
        let (done, trace) = traced(&scenario);
        let rail = trace.header.rails.iter().position(|rail| rail.name == "vdd_npu").unwrap();
        (done.ledger.source.0, trace.voltage[rail].at(SimTime(90_000_000_000)))
    };
    let (kept, low) = run("retention");
    let (gated, high) = run("clock_gated");
    close(low, 0.55, "fallen");
    close(high, 0.75, "stands");
    assert!(kept < gated, "{kept} {gated}");
}

#[test]
fn weights_come_from_where_the_profile_says_and_not_in_a_circle() {
    let text = LOSES.text().replace("memories: [\n", r#"memories: [
        (name: "rom", domain: "io", capacity: "1 MiB", bandwidth: PerSecond("10 MB/s"), read_energy: "7 pJ/B"),"#);
    let from = |memory: &str| {
        text.replace(
            r#"write_energy: "2 pJ/B""#,
            &format!(r#"write_energy: "2 pJ/B", reloaded_from: "{memory}""#),
        )
    };
    let run = format!(r#"duration: "60 ms", workloads: [{NET}], {RESTS}"#);
    let done = traced(&Chip::on(&from("rom"), &run)).0;
    let spent = core(&done).transitions;
    close(
        spent.reload.0,
        spent.reloaded.0 * 9e-12,
        "7 pJ a byte out of the ROM and 2 into the SRAM",
    );
    let none = Profile::parse("gated.ron", &from("sram")).unwrap_err().to_string();
    assert!(none.contains("comes from another one"), "{none}");
    // The side's own weights would come from the core, and those of the core from the side.
    let circle = Chip { side: r#"loses: ["side_ram"]"#, ..LOSES }.text();
    let circle = circle.replace(
        r#"capacity: "64 KiB", holds: [Activations],"#,
        r#"capacity: "1 MiB", holds: [Weights, Activations], reloaded_from: "sram","#,
    );
    let circle = circle.replace(r#"write_energy: "2 pJ/B""#, r#"reloaded_from: "side_ram""#);
    let both = format!(
        r#"duration: "60 ms", workloads: [{NET}, (name: "busy", model: "ic_resnet8", place: [("*", "other")], arrivals: BackToBack)],
        {BOTH}"#
    );
    let scenario = Chip::on(&circle, &both);
    let prepared = Prepared::new(&scenario, Fidelity::Phase).unwrap();
    let failed = prepared.run(1, Limits::default(), &mut joulecast::trace::Deaf).unwrap_err();
    assert!(failed.to_string().contains("neither comes back"), "{failed}");
}
