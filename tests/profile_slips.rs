//! Slips in profiles: each is told once, where it is, in words that lead to the right one.

use crate::chips::{changed, full_text};
use crate::errors::{file, refused};

fn check(name: &str, text: &str) -> String {
    let place = tempfile::tempdir().unwrap();
    refused(&["hardware", "check", &file(place.path(), name, text.as_bytes())])
}

/// What is said of the made-up profile with parts of it replaced.
fn said_of(changes: &[(&str, &str)]) -> String {
    check("chip.ron", &changed(&full_text(), changes))
}

#[track_caller]
fn one_fault(said: &str) {
    assert_eq!(said.matches("error:").count(), 1, "{said}");
}

const NPU: &str = "name: \"accelerator\", rail: \"vcore\", clock: \"npu\"";

#[test]
fn a_misspelt_clock_is_told_once_at_its_domain() {
    let said = said_of(&[(NPU, &NPU.replace("\"npu\"", "\"npuu\""))]);
    one_fault(&said);
    assert!(said.contains("clock `npuu` has no frequency at any operating point"), "{said}");
    assert!(
        said.contains("^^^^^^ domains[1].clock") && said.contains("did you mean `npu`?"),
        "{said}"
    );
}

#[test]
fn a_clock_that_some_points_lack_names_them() {
    let said = said_of(&[("\"npu\": \"20 MHz", "\"npi\": \"20 MHz")]);
    one_fault(&said);
    assert!(said.contains("clock `npu` has no frequency at `slow`"), "{said}");
    assert!(said.contains(" domains[1].clock") && said.contains("did you mean `npi`?"), "{said}");
}

#[test]
fn a_rail_without_voltages_is_told_once_with_the_points() {
    let rails = "(name: \"vio\")]";
    let said = said_of(&[(rails, "(name: \"vio\"), (name: \"vdd_dsp\")]")]);
    one_fault(&said);
    assert!(said.contains("rail `vdd_dsp` has no voltage at any operating point"), "{said}");
    assert!(said.contains("^^^^^^^^^ rails[4].name"), "{said}");
    assert!(said.contains("the operating points have vbat, vcore, vio, vsys"), "{said}");
    let said = said_of(&[(", \"vio\": \"1.8 V @made_up\"}", "}")]);
    one_fault(&said);
    assert!(said.contains("rail `vio` has no voltage at `nominal`"), "{said}");
}

#[test]
fn a_rail_that_all_points_misspell_is_told_at_the_first() {
    let place = "\"vio\": \"1.8 V";
    let said = said_of(&[(place, "\"vioo\": \"1.8 V"); 3]);
    assert_eq!(said.matches("no rail is called `vioo`").count(), 1, "{said}");
    assert!(said.contains("rail `vio` has no voltage at any operating point"), "{said}");
    assert!(said.contains("did you mean `vioo`?") && said.contains("2 faults in "), "{said}");
}

#[test]
fn a_clock_a_thousand_times_too_fast_questions_its_unit() {
    let slow = "\"npu\": \"20 MHz";
    let said = said_of(&[(slow, "\"npu\": \"800 GHz")]);
    one_fault(&said);
    let words = "clock `npu` runs at 800.0 GHz here, a factor of 16000 above the next, 50.00 MHz at `curved`: is the unit right?";
    assert!(said.contains(words), "{said}");
    assert!(said.contains("operating_points[1].clocks.npu"), "{said}");
    let said = said_of(&[("\"npu\": \"50 MHz", "\"npu\": \"50 kHz")]);
    one_fault(&said);
    let words = "clock `npu` runs at 50.00 kHz here, a factor of 400 below the next, 20.00 MHz at `slow`: is the unit right?";
    assert!(said.contains(words) && said.contains("operating_points[0].clocks.npu"), "{said}");
}

#[test]
fn a_domain_that_is_there_twice_is_told_once() {
    let said =
        said_of(&[("name: \"memory\", rail: \"vsys\"", "name: \"accelerator\", rail: \"vsys\"")]);
    assert!(said.contains("`accelerator` is there twice"), "{said}");
    assert!(!said.contains("in a trace"), "{said}");
}

#[test]
fn a_value_where_a_variant_belongs_shows_how_it_is_written() {
    for (from, to, names, help) in [
        (
            "clock_tree: Charge(\"8 uA/MHz @made_up\")",
            "clock_tree: \"15 uA/MHz @made_up\"",
            "Energy, Charge",
            "write `Charge(\"15 uA/MHz @made_up\")`",
        ),
        (
            "clock_tree: Energy(\"40 pJ/cycle ±40% @made_up\")",
            "clock_tree: \"40 pJ/cycle\"",
            "Energy, Charge",
            "write `Energy(\"40 pJ/cycle\")`",
        ),
        (
            "clock_tree: Charge(\"8 uA/MHz @made_up\")",
            "clock_tree: 15",
            "Energy, Charge",
            "write `Energy(\"130 uW/MHz\")` or `Charge(\"105 uA/MHz\")`",
        ),
        ("transfers: ", "transfers: \"Serial\", dispatch: ", "", "write `Serial`"),
    ] {
        let said = said_of(&[(from, to)]);
        one_fault(&said);
        assert!(said.contains(&format!("expected one of {names}")) || names.is_empty(), "{said}");
        assert!(said.contains(help), "{help}\n{said}");
    }
    let base = |more: &str| format!("(extends: \"eyeriss\", memories: [(name: \"glb\", {more})])");
    let said = check("chip.ron", &base("bandwidth: \"4 B/cycle\""));
    assert!(said.contains("write `PerCycle(\"4 B/cycle\")`"), "{said}");
    let said = check("chip.ron", &base("latency: \"60 ns\""));
    assert!(
        said.contains("expected one of Time, Cycles") && said.contains("write `Time(\"60 ns\")`"),
        "{said}"
    );
    let state = "(extends: \"stm32l4r5\", domains: [(name: \"core\", states: [(name: \"nap\", standing: \"3 uA\")])])";
    let said = check("chip.ron", state);
    assert!(said.contains("write `Current(\"3 uA\")`"), "{said}");
}

#[test]
fn a_bracket_that_is_not_closed_is_shown_where_it_opens() {
    let text = full_text();
    let at = text.find("(name: \"TT\"").unwrap();
    let close = at + text[at..].find("),").unwrap();
    let cut = [&text[..close], &text[close + 1..]].concat();
    let said = check("chip.ron", &cut);
    one_fault(&said);
    let line = text[..at].matches('\n').count() + 1;
    assert!(said.contains("the `(` that opens here is not closed"), "{said}");
    assert!(said.contains(&format!("chip.ron:{line}:")), "{said}");
    let said = said_of(&[("[Conv, DepthwiseConv],\n", "[Conv, DepthwiseConv,\n")]);
    one_fault(&said);
    assert!(said.contains("the `[` that opens here is not closed"), "{said}");
    let said = said_of(&[("  ],\n  memories: [", "\n  memories: [")]);
    one_fault(&said);
    assert!(said.contains("the `[` that opens here is not closed"), "{said}");
    assert!(said.contains(" domains\n"), "{said}");
    let said = said_of(&[("memories: [\"flash\", \"sram\"]", "memories: [\"flash\", \"sram\"")]);
    one_fault(&said);
    assert!(said.contains("the `[` that opens here is not closed"), "{said}");
    assert!(said.contains("`]` is missing before the `)` at "), "{said}");
}

#[test]
fn a_field_that_the_whole_profile_lacks_is_shown_at_its_start() {
    let said = said_of(&[("schema: \"joulecast.profile/1\",", "")]);
    one_fault(&said);
    assert!(said.contains("this profile needs a field `schema`"), "{said}");
    assert!(said.contains("^ schema"), "{said}");
}

#[test]
fn an_item_that_lies_over_nothing_names_the_one_that_was_meant() {
    let said = check(
        "mine.ron",
        "(extends: \"stm32l4r5\", memories: [(name: \"srma\", capacity: \"1 MiB\")])",
    );
    one_fault(&said);
    assert!(said.contains("this memory needs a field `domain`"), "{said}");
    assert!(
        said.contains(
            "stm32l4r5.ron has no `srma` in `memories` that this could lie over; did you mean `sram"
        ),
        "{said}"
    );
    let said = check("mine.ron", "(extends: \"stm32l4r5\", rails: [(name: \"vcor\")])");
    one_fault(&said);
    assert!(said.contains("rail `vcor` has no voltage at any operating point"), "{said}");
}

#[test]
fn a_literal_that_cannot_be_read_has_no_faults_in_its_wake() {
    let said = said_of(&[("\"vcore\": \"1.2 V @made_up\"", "\"vcore\": \"1,2 V @made_up\"")]);
    one_fault(&said);
    assert!(said.contains("a decimal point is expected, not a comma: `1.2`"), "{said}");
    let said = said_of(&[("temperature: \"45 degC", "temperature: \"45 C")]);
    one_fault(&said);
    assert!(said.contains("`C` is not a unit of temperature, did you mean `degC`?"), "{said}");
    let said = said_of(&[("temperature: \"45 degC ±10 K", "temperature: \"45 degC ±10%")]);
    one_fault(&said);
    assert!(said.contains("write kelvin, such as `±5 K`"), "{said}");
}
