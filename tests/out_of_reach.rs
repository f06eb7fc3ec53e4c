//! Operating points that ask for what rails, wait states and regulators do not give, as written and at
//! a corner.

use crate::chips::{at, changed, chip, chip_text};
use crate::errors::{file, refused};
use joulecast::hardware::Profile;

const ARRAY: &str = r#"Lanes(macs: {Int8: "16 MAC/cycle"})"#;

/// The chip of the tests with two operating points, behind a regulator.
fn text(changes: &[(&str, &str)]) -> String {
    let text = chip_text(ARRAY, "", "");
    let first = r#"(name: "only", clocks: {"clock": "100 MHz"}, voltages: {"rail": "1 V"})"#;
    let both = r#"(name: "calm", clocks: {"clock": "100 MHz"}, voltages: {"rail": "1 V", "in": "1.8 V"}),
        (name: "fast", clocks: {"clock": "200 MHz"}, voltages: {"rail": "1.75 V", "in": "1.8 V"})"#;
    let rails = r#"rails: [(name: "rail", minimum: "0.5 V", maximum: "1.8 V"), (name: "in")],
  regulators: [(name: "feed", input: "in", output: "rail", kind: Ldo())],
  corners: [(name: "high", voltage: "1.1 x"), (name: "higher", voltage: "1.79 x"), (name: "low", voltage: "0.4 x"),
    (name: "quick", frequency: "3 x"), (name: "equal", voltage: "1.8 x"), (name: "weak", voltage: "0.85 x")],"#;
    let text = changed(&text, &[(first, both), ("rails: [(name: \"rail\")],", rails)]);
    changed(&text, changes)
}

const FLASH: (&str, &str) = (
    "PerCycle(\"64 B/cycle\")",
    r#"WaitStates(width: "8 B", ranges: [(voltage: "0.9 V", limits: ["50 MHz", "100 MHz", "250 MHz"])])"#,
);

fn at_corner(text: &str, corner: &str, point: Option<&str>) -> Result<Profile, String> {
    let profile = Profile::parse("chip.ron", text).unwrap_or_else(|e| panic!("{e}"));
    profile.at_corner(corner, point).map_err(|e| e.to_string())
}

fn faults(changes: &[(&str, &str)]) -> String {
    let place = tempfile::tempdir().unwrap();
    refused(&["hardware", "check", &file(place.path(), "chip.ron", text(changes).as_bytes())])
}

#[test]
fn a_corner_is_held_against_the_operating_point_that_is_chosen() {
    let plain = text(&[]);
    // Of the two points, only the fast one asks its linear regulator for too much.
    assert!(at_corner(&plain, "high", None).is_ok());
    assert!(at_corner(&plain, "high", Some("calm")).is_ok());
    let said = at_corner(&plain, "high", Some("fast")).unwrap_err();
    let rail = "at corner `high` operating point `fast` cannot be: 1.925 V is above the 1.800 V of rail `rail`";
    assert_eq!(said, rail);
    let free = text(&[(", maximum: \"1.8 V\"", "")]);
    let said = at_corner(&free, "high", Some("fast")).unwrap_err();
    assert!(
        said.contains(
            "`fast` cannot be: linear regulator `feed` cannot make 1.925 V out of 1.800 V"
        ),
        "{said}"
    );
    // Up to the limit, and no further than it.
    assert!(at_corner(&plain, "higher", None).is_ok());
    assert!(at_corner(&plain, "equal", None).is_ok());
    let said = at_corner(&plain, "low", None).unwrap_err();
    assert!(
        said.contains("`calm` cannot be: 400.0 mV is below the 500.0 mV of rail `rail`"),
        "{said}"
    );
}

#[test]
fn a_corner_keeps_to_the_wait_states_of_a_memory() {
    let flash = text(&[FLASH]);
    let said = at_corner(&flash, "quick", None).unwrap_err();
    assert!(
        said.contains("at corner `quick` operating point `calm` cannot be: at 1.000 V the wait states of `ram` end at 250.0 MHz, below the 300.0 MHz here"),
        "{said}"
    );
    let said = at_corner(&flash, "weak", None).unwrap_err();
    assert!(
        said.contains("the wait states of `ram` begin at 900.0 mV, above the 850.0 mV here"),
        "{said}"
    );
    assert!(at_corner(&flash, "high", None).is_ok());
}

#[test]
fn a_voltage_below_all_ranges_of_wait_states_is_a_fault() {
    let flash = (FLASH.0, FLASH.1.replace("0.9 V", "1.2 V"));
    let said = faults(&[(flash.0, &flash.1)]);
    assert!(
        said.contains("the wait states of `ram` begin at 1.200 V, above the 1.000 V here"),
        "{said}"
    );
    assert!(said.contains(" operating_points[0].voltages.rail\n"), "{said}");
    assert!(!said.contains("operating_points[1]"), "{said}");
}

#[test]
fn a_step_down_regulator_does_not_step_up_and_others_may() {
    let swapped = (r#""rail": "1 V", "in": "1.8 V""#, r#""rail": "1 V", "in": "0.9 V""#);
    let buck =
        r#"Buck(quiescent: "1 uA", switching_loss: "0 W", drop: "0 V", resistance: "0 Ohm")"#;
    let said = faults(&[swapped, ("kind: Ldo()", &format!("kind: {buck}"))]);
    assert!(
        said.contains("step-down regulator `feed` cannot make 1.000 V out of 900.0 mV"),
        "{said}"
    );
    assert!(said.contains(" operating_points[0].voltages.rail\n"), "{said}");
    let boost = r#"kind: Switching(efficiency: "90 %", quiescent: "1 uA")"#;
    let table = r#"kind: Table(points: [(load: "1 mA", efficiency: "90 %")])"#;
    for kind in [boost, table] {
        let text = text(&[swapped, ("kind: Ldo()", kind)]);
        assert!(Profile::parse("chip.ron", &text).is_ok(), "{kind}");
    }
}

/// Loads on the chip are of its silicon: they switch and leak as its domains do. What stands beside the chip
/// does neither, and IO at its own supply only leaks.
#[test]
fn a_corner_scales_loads_on_the_chip() {
    let loads = |more: &str| {
        format!(
            r#"loads: [(name: "block", rail: "rail", {more} states: [(name: "on", voltage: "1 V", dynamic: "1 mW", leakage: Constant("2 mW"))])],"#
        )
    };
    let power = |more: &str, corner: Option<&str>| {
        let lists =
            format!(r#"corners: [(name: "FF", leakage: "3 x", dynamic: "2 x")], {}"#, loads(more));
        let mut profile = chip(r#"Lanes(macs: {Int8: "8 MAC/cycle"})"#, &lists);
        if let Some(corner) = corner {
            profile = profile.at_corner(corner, None).unwrap();
        }
        at(&profile, None, |setting| joulecast::cost::load_power(0, setting).power.0 * 1e3)
    };
    for (more, typical, fast) in
        [("", 3.0, 8.0), ("voltage_exponent: \"0 x\",", 3.0, 7.0), ("off_chip: true,", 3.0, 3.0)]
    {
        assert!((power(more, None) - typical).abs() < 1e-9, "{more}");
        assert!(
            (power(more, Some("FF")) - fast).abs() < 1e-9,
            "{more} {}",
            power(more, Some("FF"))
        );
    }
}
