//! What supplies and regulators leave at the highest current.

use crate::chips::{at, changed, chip_text, parsed, product};
use crate::command_line::joulecast;
use crate::errors::file;
use joulecast::estimate::{estimate, rail_peaks};
use joulecast::hardware::Profile;
use joulecast::mapping::plan;
use joulecast::model::ElementType;

/// The chip of the tests behind this regulator, at 1 V out of 1.1 V, from a supply.
fn text(regulator: &str, supply: &str) -> String {
    let array = r#"Lanes(macs: {Int8: "16 MAC/cycle"})"#;
    let feed = format!(
        r#"rails: [(name: "rail"), (name: "in")],
  regulators: [(name: "feed", input: "in", output: "rail", kind: {regulator})],
  supplies: [(name: "cell", rail: "in", {supply})],"#
    );
    changed(
        &chip_text(array, "", ""),
        &[
            ("{\"rail\": \"1 V\"}", "{\"rail\": \"1 V\", \"in\": \"1.1 V\"}"),
            ("rails: [(name: \"rail\")],", &feed),
        ],
    )
}

/// Highest current of the core, sag of the input rail, what the regulator has to spare, and the
/// energy.
fn peaks(profile: &Profile) -> (f64, Option<f64>, Option<f64>, f64) {
    let network = product(1, 64, 64, ElementType::Int8);
    at(profile, None, |setting| {
        let plan = plan(&network, setting);
        let found = rail_peaks(&plan, setting);
        let [core, input] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!((core.sag, input.headroom), (None, None));
        let spare = core.headroom.map(|h| h.spare.0);
        assert_eq!(core.headroom.is_some_and(|h| h.is_short()), spare.is_some_and(|s| s < 0.0));
        let energy = estimate(&plan, setting).energy.0;
        (core.current.0, input.sag.map(|v| v.0), spare, energy)
    })
}

#[test]
fn a_linear_regulator_needs_its_dropout_at_the_highest_current() {
    let of = |regulator: &str| peaks(&parsed(&text(regulator, "")));
    let (current, sag, spare, energy) = of("Ldo()");
    assert_eq!(sag, None);
    assert!((spare.unwrap() - 0.1).abs() < 1e-9);
    let (_, _, spare, same) = of(&format!("Ldo(dropout: \"{} Ohm\")", 0.05 / current));
    assert!((spare.unwrap() - 0.05).abs() < 1e-9, "{spare:?}");
    assert_eq!(same, energy);
    // In dropout the output follows: V^2 - 1.1 V + 0.2 = 0, and the same power takes more current.
    let (more, _, spare, higher) = of(&format!("Ldo(dropout: \"{} Ohm\")", 0.2 / current));
    let output = 0.5 * (1.1 + (1.21f64 - 0.8).sqrt());
    assert!((more - current / output).abs() < 1e-9 * current, "{more}");
    assert!((spare.unwrap() - (0.1 - 0.2 / output)).abs() < 1e-9, "{spare:?}");
    assert!(higher > energy);
}

#[test]
fn a_supply_sags_by_its_resistance_and_leaves_less() {
    let of = |regulator: &str, supply: &str| peaks(&parsed(&text(regulator, supply)));
    let (current, none, ..) = of("Ldo()", "");
    assert_eq!(none, None);
    let supply = format!("resistance: \"{} Ohm\"", 0.15 / current);
    let (_, sag, spare, _) = of("Ldo()", &supply);
    assert!((sag.unwrap() - 0.15).abs() < 1e-9 && (spare.unwrap() + 0.05).abs() < 1e-9);
    // Less current flows into a buck, and what it leaves still has to reach its output.
    let buck = r#"Buck(quiescent: "0 A", switching_loss: "0 W", drop: "0 V", resistance: "0 Ohm")"#;
    let (_, sag, spare, _) = of(buck, &supply);
    assert!((sag.unwrap() - 0.15 / 1.1).abs() < 1e-9, "{sag:?}");
    assert!((spare.unwrap() - (0.1 - 0.15 / 1.1)).abs() < 1e-9, "{spare:?}");
    // One that may step up is short of nothing.
    let either = r#"Switching(efficiency: "90 %", quiescent: "0 A")"#;
    assert_eq!(of(either, &supply).2, None);
}

#[test]
fn what_is_out_of_headroom_is_said_beside_every_figure() {
    let place = tempfile::tempdir().unwrap();
    let said = |name: &str, regulator: &str, supply: &str, json: bool| {
        let path = file(place.path(), name, text(regulator, supply).as_bytes());
        let mut arguments = vec!["estimate", "ad_autoencoder", "--on", &path];
        arguments.extend(json.then_some("--json"));
        String::from_utf8(joulecast(&arguments).stdout).unwrap()
    };
    let short = said("short.ron", "Ldo(dropout: \"1000 Ohm\")", "", false);
    assert!(short.contains("! OUT OF HEADROOM: regulator feed needs "), "{short}");
    assert!(short.contains("and rail in gives 1.100 V"), "{short}");
    let sound = said("sound.ron", "Ldo(dropout: \"1 mOhm\")", "resistance: \"1 Ohm\"", false);
    assert!(!sound.contains("HEADROOM") && sound.contains("its supply sags by "), "{sound}");
    let sagging = "resistance: \"1000 Ohm\"";
    let table = r#"Table(points: [(load: "1 mA", efficiency: "90 %")])"#;
    let sagged = said("sagged.ron", table, sagging, false);
    assert!(
        sagged.contains("! OUT OF HEADROOM: at ") && sagged.contains(", from 1.100 V"),
        "{sagged}"
    );
    let json = said("sound.ron", "Ldo()", "resistance: \"1 Ohm\"", true);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let rails = &json["rails"];
    assert_eq!(rails[1]["sag_v"], rails[1]["peak_a"]);
    assert!(rails[0]["sag_v"].is_null() && rails[0]["headroom_v"].as_f64().unwrap() > 0.0);
}

#[test]
fn what_changes_no_energy_weakens_no_evidence() {
    let share = |dropout: &str| {
        let text = text(&format!("Ldo({dropout})"), "");
        let text = changed(
            &text,
            &[(
                "sources: {}",
                "sources: {\"m\": (kind: Measured, citation: \"x\"), \"guess\": (kind: Assumed, citation: \"x\")}",
            )],
        );
        let text = text.replace("V\"}", "V @m\"}").replace("1 V\", \"in\"", "1 V @m\", \"in\"");
        let text = text.replace("pJ\"", "pJ @m\"").replace("pJ/B\"", "pJ/B @m\"");
        let network = product(1, 64, 64, ElementType::Int8);
        at(&parsed(&text), None, |setting| {
            estimate(&plan(&network, setting), setting).energy_coverage.share()
        })
    };
    assert_eq!(share(""), 1.0);
    assert_eq!(share("dropout: \"1 Ohm @guess\""), 1.0);
}
