//! Supplies in runs of scenarios: batteries and storages that run down, brown-outs, regulators that take
//! time to wake, against closed forms.

use crate::command_line::{joulecast, json, number};
use crate::errors::file;
use joulecast::sim::scenario::{Fidelity, Scenario};
use joulecast::sim::{BrownOut, Cause, Holding, Limits, Prepared, Simulated, SourceUse};
use joulecast::trace::{Deaf, Recorder};
use joulecast::units::{Seconds, SimTime, Volts};

/// A chip that asks for nothing by itself, at 1 V behind a regulator out of 3 V. One block draws on
/// either side of it.
fn chip(regulator: &str, supply: &str, input: &str) -> String {
    let states = |powers: &[(&str, &str)]| {
        let all = powers.iter().map(|(name, power)| {
            format!(r#"(name: "{name}", voltage: "1 V", dynamic: "{power}")"#)
        });
        all.collect::<Vec<_>>().join(", ")
    };
    let before = states(&[("off", "0 W"), ("on", "36 mW"), ("low", "30 mW"), ("high", "50 mW")]);
    let behind = states(&[("off", "0 W"), ("idle", "5 mW"), ("busy", "50 mW")]);
    format!(
        r#"(schema: "joulecast.profile/1", name: "fed", kind: Accelerator, description: "made up",
  sources: {{}}, temperature: "25 degC",
  operating_points: [(name: "only", clocks: {{"clock": "100 MHz"}}, voltages: {{"core": "1 V", "in": "3 V"}})],
  rails: [(name: "core"), (name: "in"{input})],
  regulators: [(name: "feed", input: "in", output: "core", {regulator})],
  supplies: [{supply}],
  domains: [(name: "domain", rail: "core", clock: "clock", nominal_voltage: "1 V")],
  memories: [(name: "ram", domain: "domain", capacity: "1 GiB", holds: [Weights, Activations],
    bandwidth: PerCycle("64 B/cycle"), read_energy: "1 pJ/B", write_energy: "1 pJ/B")],
  engines: [(name: "unit", domain: "domain", array: Lanes(macs: {{Int8: "16 MAC/cycle"}}),
    energy: (per_mac: {{Int8: "0.3 pJ"}}, per_operation: {{Int8: "0.1 pJ"}}),
    supports: [Conv, FullyConnected, Elementwise, View, Movement, Convert, Softmax, Pool], memories: ["ram"], transfers: Inline)],
  loads: [
    (name: "radio", rail: "in", voltage_exponent: "0 x", states: [{before}]),
    (name: "logic", rail: "core", voltage_exponent: "0 x", states: [{behind}]),
  ])"#
    )
}

const LOSSLESS: &str = r#"kind: Switching(efficiency: "100 %", quiescent: "0 A")"#;

/// A cell of 1 mAh that falls from 4.1 V over 3.5 V to 3 V.
fn cell(more: &str) -> String {
    format!(
        r#"(name: "cell", rail: "in", capacity: "1 mAh", open_circuit: [(charge: "0 %", voltage: "3 V"),
        (charge: "20 %", voltage: "3.5 V"), (charge: "100 %", voltage: "4.1 V")], {more})"#
    )
}

fn storage(more: &str, resistance: &str) -> String {
    format!(
        r#"(name: "cap", rail: "in", storage: (capacitance: "10 mF", maximum: "3 V", {more}), resistance: "{resistance}")"#
    )
}

const LATER: &str = r#"workloads: [(name: "later", model: "ad_autoencoder", arrivals: Periodic(period: "2400 h", offset: "1200 h"))]"#;

fn text(scenario: &str) -> String {
    format!(
        r#"(schema: "joulecast.scenario/1", name: "fed", description: "a test", hardware: "chip.ron", {LATER}, {scenario})"#
    )
}

fn parsed(chip: &str, scenario: &str) -> Scenario {
    let place = tempfile::tempdir().unwrap();
    file(place.path(), "chip.ron", chip.as_bytes());
    let at = place.path().join("fed.ron");
    Scenario::parse(at.to_str().unwrap(), &text(scenario)).unwrap_or_else(|e| panic!("{e}"))
}

fn run(chip: &str, scenario: &str) -> Simulated {
    let scenario = parsed(chip, scenario);
    let prepared = Prepared::new(&scenario, Fidelity::Phase).unwrap();
    let done = prepared.run(scenario.seed(), Limits::default(), &mut Deaf).unwrap();
    assert!(done.ledger.residuals().hold(), "{:?}", done.ledger.residuals());
    done
}

fn close(found: f64, known: f64, relative: f64) {
    assert!((found - known).abs() <= relative * known.abs(), "{found} against {known}");
}

/// The source, and the brown-out that a run ended with.
fn ended(done: &Simulated) -> (&SourceUse, BrownOut) {
    assert!(done.supplied.ended);
    assert_eq!(done.supplied.brown_outs, 1);
    let first = done.supplied.first.unwrap();
    assert_eq!(first.at.seconds(), done.metrics.duration, "it ends with the brown-out");
    (&done.supplied.sources[0], first)
}

/// Simpson's rule over a thousand pieces.
fn integral(from: f64, to: f64, of: impl Fn(f64) -> f64) -> f64 {
    let step = (to - from) / 2000.0;
    let at = |i: u32| of(from + f64::from(i) * step);
    let inner: f64 = (1..2000).map(|i| if i % 2 == 1 { 4.0 * at(i) } else { 2.0 * at(i) }).sum();
    (at(0) + at(2000) + inner) * step / 3.0
}

const ON: &str = r#"states: {"radio": "on"}, duration: "1 h""#;

#[test]
fn a_battery_lasts_for_the_energy_under_its_curve() {
    let done = run(&chip(LOSSLESS, &cell(""), ""), ON);
    let (source, first) = ended(&done);
    // 3.6 C (0.2 x 3.25 V + 0.8 x 3.8 V) at 36 mW.
    let energy = 3.6 * (0.2 * 3.25 + 0.8 * 3.8);
    close(first.at.seconds().0, energy / 0.036, 1e-9);
    assert_eq!((first.rail, first.cause), (1, Cause::Empty));
    close(source.given.0, energy, 1e-9);
    close(source.charge.0, 3.6, 1e-9);
    close(source.lowest.0, 3.0, 1e-6);
    assert_eq!(source.empty, Some(first.at));
    let Holding::Battery { start, left, .. } = source.holding else { panic!("{source:?}") };
    assert_eq!(start.0, 3.6);
    assert!(left.0.abs() < 1e-8, "{left}");
    assert_eq!(done.ledger.source, source.given);
    // Its voltage is told in steps of a thousandth.
    let steps = (4.1f64 / 3.0).ln() / 1e-3;
    assert!((done.events as f64 - steps).abs() < 5.0, "{} events, {steps} steps", done.events);
}

#[test]
fn a_battery_with_resistance_browns_out_at_the_minimum_of_its_rail() {
    let supply = cell(r#"resistance: "20 Ohm", charge: "90 %""#);
    let done = run(&chip(LOSSLESS, &supply, r#", minimum: "2.98 V""#), ON);
    let (source, first) = ended(&done);
    assert_eq!((first.rail, first.cause), (1, Cause::BelowMinimum));
    // At 2.98 V the load takes 36 mW / 2.98 V, and the cell stands 20 Ohm times that above.
    let open = 2.98 + 20.0 * 0.036 / 2.98;
    let share = 0.2 * (open - 3.0) / 0.5;
    let terminals = |share: f64| {
        let open = if share < 0.2 { 3.0 + 2.5 * share } else { 3.5 + 0.75 * (share - 0.2) };
        0.5 * (open + f64::sqrt(open * open - 4.0 * 0.036 * 20.0))
    };
    // The curve bends at 20 %.
    let over = |of: &dyn Fn(f64) -> f64| integral(share, 0.2, of) + integral(0.2, 0.9, of);
    let time = 3.6 / 0.036 * over(&terminals);
    close(first.at.seconds().0, time, 1e-6);
    close(source.lowest.0, 2.98, 1e-6);
    close(source.charge.0, 3.6 * (0.9 - share), 1e-6);
    let burnt = 20.0 * 3.6 * 0.036 * over(&|share| 1.0 / terminals(share));
    close(source.inside.0, burnt, 1e-6);
    close(source.given.0, 0.036 * time, 1e-6);
}

#[test]
fn a_storage_discharges_by_the_law_of_its_resistance() {
    let low = r#"states: {"radio": "low"}, duration: "1 h""#;
    let done = run(&chip(LOSSLESS, &storage(r#"minimum: "2 V""#, "5 Ohm"), ""), low);
    let (source, first) = ended(&done);
    assert_eq!(first.cause, Cause::BelowMinimum);
    let w0: f64 = 0.5 * (3.0 + (9.0f64 - 4.0 * 0.03 * 5.0).sqrt());
    let time = 0.01 * ((w0 * w0 - 4.0) / (2.0 * 0.03) - 5.0 * (w0 / 2.0).ln());
    close(first.at.seconds().0, time, 1e-9);
    close(source.lowest.0, 2.0, 1e-9);
    let Holding::Storage { start, left, leaked } = source.holding else { panic!("{source:?}") };
    assert_eq!(leaked.0, 0.0);
    close(start.0, 0.045, 1e-12);
    // Its own voltage is 5 Ohm times 15 mA above the terminals.
    close(left.0, 0.5 * 0.01 * 2.075 * 2.075, 1e-9);
    close(source.given.0, 0.03 * time, 1e-9);
    assert!(source.residual() < 1e-12, "{source:?}");
    // The terminals collapse where no minimum comes before: at 2 sqrt(P r).
    let high = r#"states: {"radio": "high"}, duration: "1 h""#;
    let done = run(&chip(LOSSLESS, &storage(r#"minimum: "0.1 V""#, "5 Ohm"), ""), high);
    let (source, first) = ended(&done);
    assert_eq!(first.cause, Cause::Collapse);
    let w0: f64 = 0.5 * (3.0 + (9.0f64 - 4.0 * 0.05 * 5.0).sqrt());
    let time = 0.01 * ((w0 * w0 - 0.25) / (2.0 * 0.05) - 5.0 * (w0 / 0.5).ln());
    close(first.at.seconds().0, time, 1e-6);
    assert!(source.residual() < 1e-12, "{source:?}");
}

#[test]
fn a_storage_behind_a_linear_regulator_falls_in_a_straight_line() {
    let busy = r#"states: {"logic": "busy"}, duration: "1 h""#;
    let supply = storage(r#"minimum: "1.5 V""#, "0 Ohm");
    let done = run(&chip(r#"kind: Ldo(quiescent: "1 mA")"#, &supply, ""), busy);
    let (source, first) = ended(&done);
    assert_eq!(first.cause, Cause::Empty);
    // 50 mW at 1 V are 50 mA at any input, and 1 mA: 10 mF 1.5 V / 51 mA.
    close(first.at.seconds().0, 0.015 / 0.051, 1e-6);
    close(source.given.0, 0.5 * 0.01 * (9.0 - 2.25), 1e-9);
    close(source.charge.0, 0.015, 1e-6);
    close(done.ledger.losses["feed"].0, source.given.0 - 0.05 * first.at.seconds().0, 1e-6);
}

#[test]
fn what_leaks_from_a_storage_is_told_apart() {
    let leaky = storage(r#"minimum: "2 V", leakage: "1 kOhm""#, "0 Ohm");
    let done = run(&chip(LOSSLESS, &leaky, ""), r#"states: {"radio": "low"}, duration: "1 h""#);
    let (source, first) = ended(&done);
    // W obeys W_inf + (W_0 - W_inf) exp(-2 t / R C), with W_inf = -P R C / 2.
    let (end, constant) = (-0.03 * 10.0 / 2.0, 10.0);
    let time = -0.5 * constant * ((0.02f64 - end) / (0.045 - end)).ln();
    close(first.at.seconds().0, time, 1e-8);
    let Holding::Storage { leaked, .. } = source.holding else { panic!("{source:?}") };
    close(leaked.0, 0.025 - 0.03 * time, 1e-6);
    assert!(source.residual() < 1e-12);
    // With a resistance beside it, nearly the same: 2 r / R.
    let both = storage(r#"minimum: "2 V", leakage: "1 kOhm""#, "10 mOhm");
    let done = run(&chip(LOSSLESS, &both, ""), r#"states: {"radio": "low"}, duration: "1 h""#);
    let (source, other) = ended(&done);
    close(other.at.seconds().0, first.at.seconds().0, 1e-3);
    assert!(source.residual() < 1e-9 && source.inside.0 > 0.0);
}

#[test]
fn a_run_that_goes_on_counts_what_could_not_be_given() {
    let on = r#"states: {"radio": "on"}, duration: "10 min", on_brown_out: GoOn"#;
    let done = run(&chip(LOSSLESS, &cell(""), ""), on);
    assert!(!done.supplied.ended);
    assert_eq!(done.metrics.duration, Seconds(600.0));
    let empty = done.supplied.sources[0].empty.unwrap().seconds().0;
    close(empty, 369.0, 1e-9);
    close(done.ledger.unmet.0, 0.036 * (600.0 - empty), 1e-9);
    close(done.ledger.source.0, 0.036 * empty, 1e-9);
    close(done.metrics.energy.0, 0.036 * 600.0, 1e-9);
    // The rail of the cell and the one behind it are short for the rest.
    for rail in &done.rails {
        close(rail.collapsed.seconds().0, 600.0 - empty, 1e-9);
    }
    close(done.rails[1].lowest.0, 3.0, 1e-3);
}

#[test]
fn a_peak_that_pulls_a_rail_below_its_minimum_is_counted_each_time() {
    let supply = r#"(name: "bench", rail: "in", resistance: "10 Ohm", follows: true)"#;
    let steps = r#"background: {"radio": Steps(repeats: true, steps: [(state: "off", lasts: "1 s"), (state: "high", lasts: "10 ms")])}"#;
    let peaks = format!(r#"duration: "5 s", on_brown_out: GoOn, {steps}"#);
    let done = run(&chip(LOSSLESS, supply, r#", minimum: "2.9 V""#), &peaks);
    // 3 V less 10 Ohm times some 17 mA.
    let low = 0.5 * (3.0 + (9.0f64 - 4.0 * 0.05 * 10.0).sqrt());
    close(done.rails[1].lowest.0, low, 1e-12);
    assert_eq!(done.supplied.brown_outs, 4);
    assert_eq!(done.rails[1].collapsed, SimTime::ZERO, "it gives what is asked all the same");
    assert_eq!(done.ledger.unmet.0, 0.0);
    let first = done.supplied.first.unwrap();
    assert_eq!((first.at, first.cause), (SimTime(1_000_000_000_000), Cause::BelowMinimum));
    // The run that stops stops there.
    let stopped = run(
        &chip(LOSSLESS, supply, r#", minimum: "2.9 V""#),
        &format!(r#"duration: "5 s", {steps}"#),
    );
    assert_eq!(stopped.metrics.duration, Seconds(1.0));
    assert_eq!(ended(&stopped).1, first);
}

/// A regulator whose light mode converts half of what it takes.
fn moded(wake: &str) -> String {
    let eco = r#"kind: Switching(efficiency: "50 %", quiescent: "0 A")"#;
    format!(
        r#"{LOSSLESS}, modes: [(name: "eco", {eco}, enter_below: "10 mA", leave_above: "20 mA", {wake})]"#
    )
}

fn pulses(idle: &str, busy: &str) -> String {
    format!(
        r#"duration: "9.5 s", background: {{"logic": Steps(repeats: true, steps: [(state: "idle", lasts: "{idle}"), (state: "busy", lasts: "{busy}")])}}"#
    )
}

#[test]
fn a_regulator_wakes_in_its_time_and_with_its_energy() {
    let wake = r#"wake_time: "5 ms", wake_energy: "1 mJ""#;
    let done = run(&chip(&moded(wake), "", ""), &pulses("1 s", "1 s"));
    let feed = &done.supplied.regulators[0];
    // Up at 1, 3, 5, 7 and 9 s, each 5 ms late, and down at 2, 4, 6 and 8 s.
    assert_eq!(feed.changes, 9);
    close(feed.wake_energy.0, 5e-3, 1e-12);
    let names: Vec<&str> = feed.modes.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["eco", "full"]);
    assert_eq!(feed.modes[0].1, SimTime(5_025_000_000_000));
    assert_eq!(feed.modes[1].1, SimTime(4_475_000_000_000));
    // Eco burns what it gives: 5 mW for 5 s, 50 mW for 25 ms.
    let loss = 5e-3 * 5.0 + 50e-3 * 0.025 + 5e-3;
    close(done.ledger.losses["feed"].0, loss, 1e-12);
    close(done.ledger.source.0, 5e-3 * 5.0 + 50e-3 * 4.5 + loss, 1e-12);
    let cause = &joulecast::trace::Cause::Transition;
    close(done.ledger.loss_by_cause[cause].0, 5e-3, 1e-12);
}

#[test]
fn a_load_shorter_than_the_waking_breaks_it_off() {
    let wake = r#"wake_time: "5 ms", wake_energy: "1 mJ""#;
    let done = run(&chip(&moded(wake), "", ""), &pulses("0.998 s", "2 ms"));
    let feed = &done.supplied.regulators[0];
    assert_eq!(feed.changes, 0);
    // Two of five milliseconds, nine times.
    close(feed.wake_energy.0, 9.0 * 0.4e-3, 1e-9);
    assert_eq!(feed.modes[1].1, SimTime::ZERO);
}

#[test]
fn modes_without_a_time_change_at_once() {
    let done = run(&chip(&moded(""), "", ""), &pulses("1 s", "1 s"));
    let feed = &done.supplied.regulators[0];
    assert_eq!((feed.changes, feed.wake_energy.0), (9, 0.0));
    assert_eq!(feed.modes[0].1, SimTime(5_000_000_000_000));
    close(done.ledger.losses["feed"].0, 5e-3 * 5.0, 1e-12);
}

#[test]
fn a_battery_that_lasts_changes_no_bit() {
    let run = |supply: &str| {
        let text = format!(
            r#"(schema: "joulecast.scenario/1", name: "same", description: "a test", hardware: "edge_soc_example",
            duration: "3 s", seed: 4, supply: {supply},
            workloads: [(name: "look", model: "vww_mobilenetv1_025", arrivals: Poisson(rate: "20 Hz ±0%"))],
            rest: {{"npu": (state: "off", policy: Timeout("2 ms"))}})"#
        );
        let scenario = Scenario::parse("same.ron", &text).unwrap_or_else(|e| panic!("{e}"));
        let prepared = Prepared::new(&scenario, Fidelity::Phase).unwrap();
        let mut recorder = Recorder::default();
        let done = prepared.run(4, Limits::default(), &mut recorder).unwrap();
        (done, recorder.into_trace())
    };
    let (bench, bench_trace) = run("Bench");
    let (battery, trace) = run(r#"Battery(supply: "battery", charge: "80 %")"#);
    assert_eq!(bench.ledger, battery.ledger);
    assert_eq!(bench.events, battery.events);
    assert!(bench_trace == trace);
    let own = &battery.supplied.sources[0];
    close(own.given.0, battery.ledger.source.0, 1e-12);
    let Holding::Battery { start, left, .. } = own.holding else { panic!("{own:?}") };
    close(start.0 - left.0, battery.ledger.rail_charge[own.rail].0, 1e-9);
    assert_eq!(bench.supplied.sources[0].holding, Holding::Endless);
    close(bench.supplied.sources[0].given.0, bench.ledger.source.0, 1e-12);
}

#[test]
fn the_same_run_into_two_sinks_gives_the_same_numbers() {
    let scenario = parsed(
        &chip(
            &moded(r#"wake_time: "5 ms", wake_energy: "1 mJ""#),
            &cell(r#"resistance: "2 Ohm""#),
            "",
        ),
        &pulses("0.1 s", "0.1 s"),
    );
    let prepared = Prepared::new(&scenario, Fidelity::Phase).unwrap();
    let mut recorder = Recorder::default();
    let first = prepared.run(1, Limits::default(), &mut recorder).unwrap();
    let second = prepared.run(1, Limits::default(), &mut Deaf).unwrap();
    assert_eq!(first, second);
    // The trace has the rail where the battery has it.
    let trace = recorder.into_trace();
    assert_eq!(trace.end.seconds(), Seconds(9.5));
    assert!(first.rails[1].lowest < Volts(4.1));
}

#[test]
fn a_script_finds_the_brown_out_and_a_reader_too() {
    let place = tempfile::tempdir().unwrap();
    file(place.path(), "chip.ron", chip(&moded(""), &cell(""), "").as_bytes());
    let path = file(place.path(), "fed.ron", text(ON).as_bytes());
    let d = json(&["run", &path, "--json"]);
    assert_eq!(d["ending"]["kind"], "brown_out");
    assert_eq!(d["incomplete"], false);
    assert_eq!(d["metrics"]["brown_outs"], 1);
    close(number(&d, "/metrics/first_brown_out/at_s"), 369.0, 1e-9);
    assert_eq!(d["metrics"]["first_brown_out"]["rail"], "in");
    assert_eq!(d["metrics"]["first_brown_out"]["cause"], "empty");
    let source = &d["sources"][0];
    assert_eq!((&source["name"], &source["kind"]), (&"cell".into(), &"battery".into()));
    close(number(source, "/charge_used_c"), 3.6, 1e-9);
    assert!(number(source, "/charge_left_c").abs() < 1e-8);
    close(number(source, "/empty_at_s"), 369.0, 1e-9);
    close(number(source, "/lowest_v"), 3.0, 1e-6);
    assert_eq!(d["rails"][1]["collapsed_s"], 0.0);
    assert!(number(&d, "/rails/1/lowest_v") <= 3.001);
    let feed = &d["regulators"][0];
    assert_eq!((&feed["name"], &feed["mode_changes"]), (&"feed".into(), &0.into()));
    close(number(feed, "/modes/0/residency"), 1.0, 1e-12);
    let output = joulecast(&["run", &path]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success());
    for said in ["BROWN-OUT: rail in", "cell is empty", "battery", "feed: eco"] {
        assert!(text.contains(said), "{said}: {text}");
    }
}

#[test]
fn what_makes_no_sense_of_a_supply_is_told_with_its_field() {
    let place = tempfile::tempdir().unwrap();
    let supplies = format!("{}, ", storage(r#"minimum: "2 V""#, "0 Ohm"));
    file(place.path(), "chip.ron", chip(LOSSLESS, &supplies, "").as_bytes());
    let at = place.path().join("fed.ron");
    for (supply, told) in [
        (r#"supply: Battery(supply: "cap")"#, "supply.Battery.supply"),
        (r#"supply: Battery(supply: "cup")"#, "did you mean `cap`"),
        (r#"supply: Storage(supply: "cup")"#, "supply.Storage.supply"),
        (r#"supply: Storage(supply: "cap", voltage: "2 V")"#, "supply.Storage.voltage"),
        (r#"supply: Storage(supply: "cap", voltage: "3.1 V")"#, "does not start at"),
        (r#"supply: Storage(supply: "cap", voltage: "3 A")"#, "supply.Storage.voltage"),
        (r#"on_brown_out: Stopp"#, "did you mean `Stop`"),
    ] {
        let text = text(&format!(r#"duration: "1 s", {supply}"#));
        let said = Scenario::parse(at.to_str().unwrap(), &text).unwrap_err().to_string();
        assert!(said.contains(told), "{told}: {said}");
    }
    let wrong = chip(&moded(r#"wake_energy: "1 mJ""#), "", "");
    let said = joulecast::hardware::Profile::parse("chip.ron", &wrong).unwrap_err().to_string();
    assert!(said.contains("needs a wake_time"), "{said}");
}

#[test]
fn the_example_of_the_page_lasts_as_long_as_it_says() {
    let node = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/example_capacitor_node.ron");
    let text = String::from_utf8(joulecast(&["run", node]).stdout).unwrap().replace('\u{a0}', " ");
    let page = include_str!("../docs/scenarios.md");
    let shown = page.split("```text\n! BROWN-OUT").nth(1).unwrap().split("```").next().unwrap();
    for line in format!("! BROWN-OUT{shown}").lines().filter(|line| !line.contains(['…', '═']))
    {
        assert!(text.contains(line.trim_end()), "{line}: {text}");
    }
    // Of what was in it above the voltage that an inference still runs at, hardly anything is left.
    let d = json(&["run", node, "--json"]);
    let bank = &d["sources"][0];
    let of = |name: &str| number(bank, &format!("/{name}"));
    let gone = of("energy_given_j") + of("inside_loss_j") + of("leaked_j");
    close(-of("stored_change_j"), gone, 1e-9);
    close(of("stored_at_start_j"), 0.5 * 0.1 * 3.2 * 3.2, 1e-12);
    let own = (2.0 * of("stored_left_j") / 0.1).sqrt();
    assert!(own > 2.0 && own < 2.02, "{own} V");
}
