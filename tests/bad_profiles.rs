//! Profiles that cannot be: everything found is told together, each with its field and its place.

use crate::chips::{changed, full_text};
use crate::errors::{file, refused};

/// What `hardware check` says of the made-up profile with parts of it replaced.
fn said_of(changes: &[(&str, &str)]) -> (String, String) {
    let place = tempfile::tempdir().unwrap();
    let text = changed(&full_text(), changes);
    let path = file(place.path(), "chip.ron", text.as_bytes());
    (refused(&["hardware", "check", &path]), text)
}

/// The place of the first occurrence of `what`, as messages show it.
fn place_of(text: &str, what: &str) -> String {
    let at = text.find(what).unwrap();
    let before = &text[..at];
    let line = before.matches('\n').count() + 1;
    let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
    format!("chip.ron:{line}:{column}")
}

#[test]
fn faults_of_every_kind_are_reported_together_with_field_and_line() {
    let (said, text) = said_of(&[
        ("memories: [\"flash\", \"sram\"]", "memories: [\"sram\"]"),
        ("input: \"vbat\", output: \"vsys\"", "input: \"vcore\", output: \"vsys\""),
        ("\"cpu\": \"8 MHz", "\"cpu\": \"0 MHz"),
        ("\"vcore\": \"1.0 V @made_up\"", "\"vcore\": \"1.25 V @made_up\""),
        ("name: \"core\", rail: \"vcore\"", "name: \"core\", rail: \"vcor\""),
        ("capacity: \"1 MiB @made_up\"", "capacity: \"1 MHz @made_up\""),
    ]);
    for (message, field, place) in [
        ("no engine works from memory `flash`", "memories[0].name", "\"flash\", domain"),
        (
            "rails feed each other in a loop: `vsys` feeds `vcore` feeds `vsys` (at `nominal`, `slow`)",
            "regulators[0].input",
            "\"vcore\", output: \"vsys\"",
        ),
        ("a frequency must be above zero", "operating_points[1].clocks.cpu", "\"0 MHz"),
        (
            "clock `npu` runs at 50.00 MHz on 1.200 V here, and at only 20.00 MHz on 1.250 V at `slow`",
            "operating_points[0].voltages.vcore",
            "\"1.2 V @made_up\", \"vio\"",
        ),
        ("no rail is called `vcor`", "domains[0].rail", "\"vcor\""),
        ("`MHz` is not a unit of memory size", "memories[1].capacity", "MHz @made_up\", holds"),
    ] {
        assert!(said.contains(message), "{message}:\n{said}");
        assert!(said.contains(&format!(" {field}\n")), "{field}:\n{said}");
        let place = place_of(&text, place);
        assert!(said.contains(&place), "{message} is not at {place}:\n{said}");
    }
    // The point that runs the same clock on the same voltage is as wrong.
    assert!(said.contains("7 faults in"), "{said}");
}

#[test]
fn a_rail_behind_its_own_regulator_is_a_loop_too() {
    let (said, _) = said_of(&[(
        "input: \"vsys\", output: \"vcore\", kind: Ldo",
        "input: \"vcore\", output: \"vcore\", kind: Ldo",
    )]);
    assert!(said.contains("`vcore` feeds `vcore` (at `nominal`, `slow`)"), "{said}");
    assert_eq!(said.matches("in a loop").count(), 1, "{said}");
}

#[test]
fn a_domain_without_a_rail_is_a_missing_field_at_the_domain() {
    let (said, text) = said_of(&[("name: \"core\", rail: \"vcore\",", "name: \"core\",")]);
    assert!(said.contains("this domain needs a field `rail`"), "{said}");
    let start = text[..text.find("name: \"core\",").unwrap()].rfind('(').unwrap();
    assert!(said.contains(&place_of(&text, &text[start..])), "{said}");
    assert!(said.contains(" domains[0]\n"), "{said}");
}

/// One wrong number in each block of the language; all of them have to be seen.
#[test]
fn every_block_is_checked() {
    let cases: [(&str, &str, &str, &str); 27] = [
        (
            "loads: {\"modem\": \"listen\"},",
            "loads: {\"modem\": \"listen\"}, asleep: {\"memory\": \"nap\"},",
            "operating_points[1].asleep.memory",
            "nap",
        ),
        (
            "name: \"slow\",",
            "name: \"slow\", asleep: {\"accelerator\": \"stop\", \"core\": \"stop\"},",
            "operating_points[1].asleep",
            "no engine is awake",
        ),
        (
            "name: \"curved\",",
            "name: \"curved\", asleep: {\"memory\": \"stop\"},",
            "operating_points[2].asleep.memory",
            "works from memory `dram`",
        ),
        ("(name: \"SS\",", "(name: \"TT\",", "corners[2].name", "TT"),
        (
            "set_points: {\"dram\": \"half\"}",
            "set_points: {\"dram\": \"third\"}",
            "operating_points[1].set_points",
            "third",
        ),
        (
            "loads: {\"modem\": \"listen\"}",
            "loads: {\"modem\": \"talk\"}",
            "operating_points[1].loads",
            "talk",
        ),
        ("minimum: \"0.9 V", "minimum: \"1.1 V", "operating_points[1].voltages.vcore", "1.0"),
        (
            "efficiency: \"90 % ±3%",
            "efficiency: \"190 %",
            "regulators[0].kind.Switching.efficiency",
            "",
        ),
        ("(load: \"10 mA\"", "(load: \"10 uA\"", "regulators[3].kind.Table.points[1]", ""),
        (
            "resistance: \"0.2 Ohm",
            "resistance: \"-0.2 Ohm",
            "regulators[2].kind.Buck.resistance",
            "",
        ),
        ("capacity: \"200 mAh", "capacity: \"0 mAh", "supplies[0].capacity", ""),
        ("name: \"pads\", rail: \"vio\"", "name: \"pads\", rail: \"vsys\"", "supplies[1].rail", ""),
        (
            "leakage_share: \"20 % ±50%",
            "leakage_share: \"120 %",
            "domains[0].states[1].leakage_share",
            "",
        ),
        (
            "memories: {\"dram\": \"self_refresh\"}",
            "memories: {\"dram\": \"sleepy\"}",
            "domains[2].states[0].memories",
            "sleepy",
        ),
        (
            "limits: [\"20 MHz\", \"40 MHz\"",
            "limits: [\"20 MHz\", \"10 MHz\"",
            "memories[0].bandwidth.WaitStates.ranges[1]",
            "",
        ),
        ("hit: \"80 % ±40%", "hit: \"180 %", "memories[3].rows.hit", ""),
        (
            "staged_through: \"buffer\"",
            "staged_through: \"sram\"",
            "memories[3].staged_through",
            "",
        ),
        ("line: \"16 B", "line: \"0 B", "caches[0].line", ""),
        ("backs: [\"flash\"]", "backs: [\"flesh\"]", "caches[0].backs", "flesh"),
        ("joins: (\"dram\", \"buffer\")", "joins: (\"dram\", \"dram\")", "links[0].joins", ""),
        ("rows: 16, columns: 8", "rows: 0, columns: 8", "engines[1].array.Systolic.rows", ""),
        ("units: 2, m: 8", "units: 2, m: 0", "engines[2].array.TensorTiles.m", ""),
        ("gain: \"90 % ±20%", "gain: \"190 %", "engines[0].skips[0].gain", ""),
        ("peak_to_mean: \"1.4 x", "peak_to_mean: \"0.4 x", "engines[0].peak_to_mean", ""),
        ("initial: \"off\"", "initial: \"of\"", "loads[0].initial", "did you mean `off`?"),
        (
            "runs_on: [\"npu\", \"tensor\"]",
            "runs_on: [\"tenser\"]",
            "software[1].runs_on",
            "did you mean `tensor`?",
        ),
        ("capacity: \"2 mJ/K", "capacity: \"0 mJ/K", "package.network.Cauer[0].capacity", ""),
    ];
    for (from, to, field, words) in cases {
        let (said, _) = said_of(&[(from, to)]);
        assert!(said.contains(field) && said.contains(words), "{to}: {field}, {words}:\n{said}");
    }
    // All at once, but for what says the same place in another way.
    let cases: Vec<_> = cases.iter().filter(|c| !c.1.contains("\"nap\"")).copied().collect();
    let all: Vec<_> = cases.iter().map(|c| (c.0, c.1)).collect();
    let (said, _) = said_of(&all);
    for (_, to, field, _) in cases {
        assert!(said.contains(field), "{to} is missed among the others: {field}\n{said}");
    }
}

#[test]
fn no_temperature_lies_below_absolute_zero() {
    let cold = "-273.2 degC";
    let (said, _) = said_of(&[
        ("temperature: \"45 degC", &format!("temperature: \"{cold}")),
        ("temperature: \"85 degC", &format!("temperature: \"{cold}")),
        ("temperature: \"25 degC", &format!("temperature: \"{cold}")),
        (
            "Growing(power: \"10 uW @made_up\", temperature: \"25 degC",
            &format!("Growing(power: \"10 uW @made_up\", temperature: \"{cold}"),
        ),
        ("ambient: \"25 degC", &format!("ambient: \"{cold}")),
    ]);
    for field in [
        "temperature",
        "corners[1].temperature",
        "domains[0].leakage.temperature",
        "package.ambient",
    ] {
        assert!(said.contains(&format!(" {field}\n")), "{field}:\n{said}");
    }
    assert!(said.contains(".leakage.Growing.temperature\n"), "{said}");
    assert_eq!(said.matches("a temperature is not below -273.15 °C").count(), 5, "{said}");
}
