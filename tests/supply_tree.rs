//! What feeds a chip, from the file to the figures.

use crate::chips::{at, changed, chip_text, parsed, product};
use crate::command_line::joulecast;
use crate::errors::file;
use joulecast::estimate::{Estimate, estimate};
use joulecast::hardware::{Profile, Role};
use joulecast::mapping::plan;
use joulecast::model::ElementType;
use joulecast::sim::{Arrivals, Workload, run};
use joulecast::trace::Recorder;
use joulecast::units::Seconds;

/// The chip of the tests behind a regulator, at 1 V out of 3 V, from a supply.
fn text(regulator: &str, supply: &str, domain: &str) -> String {
    let array = r#"Lanes(macs: {Int8: "16 MAC/cycle"})"#;
    let feed = format!(
        r#"rails: [(name: "rail"), (name: "in")],
  regulators: [(name: "feed", input: "in", output: "rail", {regulator})],
  supplies: [(name: "cell", rail: "in", {supply})],"#
    );
    changed(
        &chip_text(array, "", ""),
        &[
            ("{\"rail\": \"1 V\"}", "{\"rail\": \"1 V\", \"in\": \"3 V\"}"),
            ("rails: [(name: \"rail\")],", &feed),
            ("clock: \"clock\", nominal", &format!("clock: \"clock\", {domain} nominal")),
        ],
    )
}

const LOSSLESS: &str = r#"kind: Switching(efficiency: "100 %", quiescent: "0 A")"#;

fn estimated(profile: &Profile) -> Estimate {
    let network = product(1, 64, 64, ElementType::Int8);
    at(profile, None, |setting| estimate(&plan(&network, setting), setting))
}

fn part(estimate: &Estimate, wanted: Role) -> f64 {
    let parts = estimate.by_component.iter().filter(|part| part.role == wanted);
    parts.map(|part| part.energy.0).sum()
}

#[test]
fn the_grid_of_a_domain_burns_its_share_in_estimate_and_run() {
    let plain = estimated(&parsed(&text(LOSSLESS, "", "")));
    let grid = parsed(&text(LOSSLESS, "", r#"ir_drop: "2 Ohm","#));
    let found = estimated(&grid);
    let lost = part(&found, Role::Grid(0));
    assert_eq!(found.load_energy, plain.load_energy);
    assert!((found.energy.0 - plain.energy.0 - lost).abs() < 1e-12 * plain.energy.0);
    // All power is drawn at one rate here: V = (1 + sqrt(1 - 4 P R)) / 2 and R (P / V)^2 for its time.
    let by_hand: f64 = plain.energy.0 / plain.latency.0;
    let behind = 0.5 * (1.0 + (1.0 - 4.0 * by_hand * 2.0).sqrt());
    let mean = 2.0 * (by_hand / behind).powi(2) * plain.latency.0;
    assert!(lost >= mean * (1.0 - 1e-9), "the loss is convex: {lost} against {mean}");
    let network = product(1, 64, 64, ElementType::Int8);
    at(&grid, None, |setting| {
        let arrivals = Arrivals::Periodic(Seconds(1e-3));
        let workload = Workload { inferences: 2, arrivals, rest: None };
        let mut recorder = Recorder::default();
        let outcome = run(&plan(&network, setting), &workload, setting, &mut recorder).unwrap();
        assert!(outcome.ledger.residuals().hold());
        let run_lost = outcome.ledger.losses["domain_grid"].0;
        assert!((run_lost / (2.0 * lost) - 1.0).abs() < 1e-6, "{run_lost} {lost}");
        let trace = recorder.into_trace();
        assert!(trace.header.components.iter().any(|c| c.name == "domain_grid" && !c.is_load()));
    });
}

#[test]
fn a_cell_that_is_followed_gives_more_current_at_less_voltage() {
    let charge = |supply: &str| estimated(&parsed(&text(LOSSLESS, supply, ""))).rail_charge[1].0;
    let stiff = charge(r#"resistance: "20 Ohm""#);
    let followed = charge(r#"resistance: "20 Ohm", follows: true"#);
    assert!(followed > stiff, "{followed} {stiff}");
    // Of one voltage all over its charge, a curve says the same.
    let curve = r#"resistance: "20 Ohm", open_circuit: [(charge: "50 %", voltage: "3 V")]"#;
    assert_eq!(charge(curve), followed);
    let storage =
        r#"resistance: "20 Ohm", storage: (capacitance: "1 mF", minimum: "2 V", maximum: "3 V")"#;
    assert_eq!(charge(storage), followed);
    let half = r#"resistance: "0 Ohm", open_circuit: [(charge: "0 %", voltage: "1 V"), (charge: "100 %", voltage: "2 V")], charge: "50 %""#;
    assert!((charge(half) / stiff - 2.0).abs() < 1e-12, "half the voltage, twice the charge");
}

#[test]
fn a_light_mode_is_taken_where_the_load_is_light() {
    let modes = |enter: &str| {
        let eco = r#"kind: Switching(efficiency: "50 %", quiescent: "0 A")"#;
        format!(r#"{LOSSLESS}, modes: [(name: "eco", {eco}, enter_below: "{enter}")]"#)
    };
    let energy = |enter: &str| estimated(&parsed(&text(&modes(enter), "", ""))).energy.0;
    let full = estimated(&parsed(&text(LOSSLESS, "", ""))).energy.0;
    assert_eq!(energy("1 nA"), full);
    assert!((energy("10 A") / full - 2.0).abs() < 1e-12);
}

#[test]
fn a_fit_to_points_of_a_buck_predicts_as_the_buck() {
    let buck = r#"kind: Buck(quiescent: "10 uA", switching_loss: "1 mW", drop: "20 mV", resistance: "0.2 Ohm")"#;
    let known = estimated(&parsed(&text(buck, "", ""))).energy.0;
    // Loss: 30 uW + 1 mW + 0.02 V I + 0.2 Ohm I^2, at 1 V out of 3 V.
    let points = [1e-3, 1e-2, 0.1, 0.3, 1.0f64].map(|load| {
        let loss = 1.03e-3 + 0.02 * load + 0.2 * load * load;
        format!(r#"(load: "{load} A", efficiency: "{:.12} %")"#, 100.0 * load / (load + loss))
    });
    let fit = format!(
        r#"kind: BuckFit(input: "3 V", output: "1 V", quiescent: "10 uA", points: [{}])"#,
        points.join(", ")
    );
    let found = estimated(&parsed(&text(&fit, "", ""))).energy.0;
    assert!((found / known - 1.0).abs() < 1e-6, "{found} {known}");
}

/// What the command line says of a profile.
fn said(verb: &[&str], text: &str) -> String {
    let place = tempfile::tempdir().unwrap();
    let path = file(place.path(), "chip.ron", text.as_bytes());
    let arguments: Vec<&str> = verb.iter().copied().chain([path.as_str()]).collect();
    let output = joulecast(&arguments);
    String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap()
}

#[test]
fn show_tells_modes_grids_switches_and_cells() {
    let modes = r#"kind: LoadSwitch(resistance: "50 mOhm"),
        modes: [(name: "eco", kind: Ldo(dropout: "2 Ohm"), enter_below: "1 mA", leave_above: "2 mA", wake_time: "5 us")]"#;
    let cell = r#"open_circuit: [(charge: "0 %", voltage: "3 V"), (charge: "100 %", voltage: "4.2 V")], charge: "50 %""#;
    let text = said(&["hardware", "show"], &text(modes, cell, r#"ir_drop: "20 mOhm","#));
    let text = text.replace('\u{a0}', " ");
    let text: Vec<&str> = text.split_whitespace().filter(|word| !"│├└─".contains(*word)).collect();
    let text = text.join(" ");
    for part in [
        "load switch of 50 mOhm",
        "eco below 1 mA until above 2 mA (wakes in 5 us): linear, dropout 2 Ohm",
        "3 V to 4.2 V without load, 50 % charged, its rail sags with it",
        "grid 20 mOhm",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn a_rail_that_cannot_be_given_what_it_takes_is_said_to_collapse() {
    let cell = r#"resistance: "10 kOhm", follows: true"#;
    let said = said(&["estimate", "ad_autoencoder", "--on"], &text(LOSSLESS, cell, ""));
    assert!(said.contains("COLLAPSES: what rail in"), "{said}");
}

#[test]
fn what_makes_no_sense_of_a_supply_is_a_fault() {
    let sound = text(
        r#"kind: Switching(efficiency: "100 %", quiescent: "0 A"), modes: [
            (name: "deep", kind: Ldo(), enter_below: "1 mA"),
            (name: "eco", kind: BuckFit(input: "3 V", output: "1 V", quiescent: "1 uA", points: [
                (load: "1 mA", efficiency: "80 %"), (load: "10 mA", efficiency: "90 %"), (load: "100 mA", efficiency: "90 %")]),
             enter_below: "5 mA", leave_above: "6 mA")]"#,
        r#"open_circuit: [(charge: "0 %", voltage: "2.9 V"), (charge: "90 %", voltage: "4.1 V")], charge: "50 %""#,
        r#"ir_drop: "20 mOhm","#,
    );
    parsed(&sound);
    for (from, to, told) in [
        (r#"leave_above: "6 mA""#, r#"leave_above: "4 mA""#, "is not left below that"),
        (r#"enter_below: "1 mA""#, r#"enter_below: "9 mA""#, "modes stand in rising order"),
        (r#"name: "deep""#, r#"name: "eco""#, "`eco` is there twice"),
        (
            r#"efficiency: "90 %"), (load: "100 mA""#,
            r#"efficiency: "50 %"), (load: "100 mA""#,
            "the law of a buck",
        ),
        (r#"efficiency: "80 %")"#, r#"efficiency: "180 %")"#, "at most at 100 %"),
        (r#"ir_drop: "20 mOhm""#, r#"ir_drop: "20 mF""#, "resistance"),
        (
            r#"charge: "90 %", voltage: "4.1 V""#,
            r#"charge: "90 %", voltage: "2.1 V""#,
            "no lower voltage",
        ),
        (r#"charge: "90 %""#, r#"charge: "0 %""#, "charges stand in rising order"),
        (
            r#"charge: "50 %""#,
            r#"storage: (capacitance: "1 F", minimum: "3 V", maximum: "2 V")"#,
            "between minimum and maximum",
        ),
        (r#"kind: Ldo()"#, r#"kind: LoadSwith(resistance: "1 Ohm")"#, "did you mean `LoadSwitch`"),
        (r#"leave_above"#, r#"leave_abov"#, "did you mean `leave_above`"),
    ] {
        let wrong = sound.replacen(from, to, 1);
        assert_ne!(wrong, sound, "{from}");
        let said = said(&["hardware", "check"], &wrong);
        assert!(said.contains(told), "{told}: {said}");
    }
}
