//! What a prediction says besides its figures, and what it does not.

use crate::chips::{changed, full_text};
use crate::command_line::{joulecast, json};
use crate::errors::{file, refused};
use joulecast::hardware::Profile;

fn text(arguments: &[&str]) -> String {
    String::from_utf8(joulecast(arguments).stdout).unwrap()
}

#[test]
fn software_that_fuses_is_no_flag_that_was_given() {
    let said = text(&["estimate", "kws_ds_cnn", "--on", "edge_soc_example"]);
    assert!(!said.contains("--fuse") && !said.contains("fused by"), "{said}");
    let fused = json(&["estimate", "kws_ds_cnn", "--on", "edge_soc_example", "--json"]);
    assert_eq!(fused["transforms"].as_array().unwrap().len(), 0);
    assert!(fused["fused_by_software"].is_null(), "nothing is there to fuse");
    let arguments = ["estimate", "resnet50", "--on", "edge_soc_example"];
    let said = text(&arguments);
    assert!(said.contains("fused by the software: "), "{said}");
}

#[test]
fn software_that_runs_no_layer_is_said() {
    let of = |name: &str| {
        text(&["estimate", "kws_ds_cnn", "--on", "edge_soc_example", "--software", name])
    };
    let said = of("cpu-runtime");
    assert!(said.contains("! software cpu-runtime runs no layer: none is placed on cpu"), "{said}");
    assert!(!of("dsp-kernels").contains("runs no layer"));
}

#[test]
fn a_state_that_a_block_lacks_names_the_block() {
    let of = |state: &str| {
        refused(&["estimate", "kws_ds_cnn", "--on", "edge_soc_example", "--state", state])
    };
    let said = of("modem=pagin");
    assert!(said.contains("`modem` has no state `pagin`; did you mean `paging`?"), "{said}");
    assert!(of("npu=on2").contains("`npu` has no state `on2`"));
    assert!(of("modm=off").contains("did you mean `modem`?"));
}

#[test]
fn clocks_and_voltages_that_are_set_are_exact_unless_they_say_otherwise() {
    let plain = changed(
        &full_text(),
        &[
            ("{\"cpu\": \"40 MHz @made_up\"", "{\"cpu\": \"40 MHz\""),
            ("\"vcore\": \"1.2 V @made_up\"", "\"vcore\": \"1.2 V ±3%\""),
        ],
    );
    let profile = Profile::parse("plain.ron", &plain).unwrap();
    let spread = |path: &str| {
        let record = profile.parameters().into_iter().find(|r| r.path == path).unwrap();
        record.parameter.spread
    };
    assert_eq!(spread("operating_points[0].clocks.cpu"), None);
    assert!(spread("operating_points[0].voltages.vcore").is_some());
}

#[test]
fn rails_and_domains_without_a_use_are_noted() {
    let place = tempfile::tempdir().unwrap();
    let text_of = changed(
        &full_text(),
        &[
            ("(name: \"vio\")]", "(name: \"vio\"), (name: \"vspare\")]"),
            (
                "\"vio\": \"1.8 V @made_up\"},\n    ),",
                "\"vio\": \"1.8 V @made_up\", \"vspare\": \"1 V\"},\n    ),",
            ),
            (
                "\"vio\": \"1.8 V @made_up\"},\n      set",
                "\"vio\": \"1.8 V @made_up\", \"vspare\": \"1 V\"},\n      set",
            ),
            (
                "\"vio\": \"1.8 V @made_up\"},\n    ),",
                "\"vio\": \"1.8 V @made_up\", \"vspare\": \"1 V\"},\n    ),",
            ),
            (
                "  domains: [\n",
                "  domains: [\n    (name: \"island\", rail: \"vcore\", clock: \"cpu\", nominal_voltage: \"1 V\", clock_tree: Energy(\"1 pJ/cycle\")),\n",
            ),
        ],
    );
    let path = file(place.path(), "chip.ron", text_of.as_bytes());
    let said = text(&["hardware", "check", &path]);
    for note in [
        "nothing is on rail vspare",
        "no supply and no regulator feeds rail vspare",
        "domain island holds nothing, and draws power",
    ] {
        assert!(said.contains(note), "{note}:\n{said}");
    }
    let sound = text(&["hardware", "check", "edge_soc_example"]);
    assert!(!sound.contains("note:"), "{sound}");
    // Conditions belong to what they are stated for.
    assert!(!sound.contains("leakage.temperature"), "{sound}");
}

/// Back to back where nothing else is said; with its rests, wakings and their losses for a run.
#[test]
fn a_battery_lasts_for_the_load_of_the_run() {
    let of = |d: &serde_json::Value| {
        let battery = &d["supplies"][0];
        let number = |name: &str| battery[name].as_f64().unwrap();
        (number("capacity_c"), number("inferences"), number("duration_s"))
    };
    let estimated = json(&["estimate", "kws_ds_cnn", "--on", "edge_soc_example", "--json"]);
    let (capacity, alone, _) = of(&estimated);
    let run = json(&[
        "run",
        "kws_ds_cnn",
        "--on",
        "edge_soc_example",
        "--inferences",
        "4",
        "--period",
        "10 ms",
        "--json",
    ]);
    let (_, inferences, duration) = of(&run);
    // The battery is the only source: its voltage makes charge of the energy.
    let each = run["metrics"]["j_per_inference"].as_f64().unwrap() / 3.85;
    assert!((inferences / (capacity / each) - 1.0).abs() < 1e-6, "{inferences}");
    assert!((duration / (inferences * 10e-3) - 1.0).abs() < 1e-6, "{duration}");
    assert!(inferences < 0.5 * alone, "waking and waiting cost");
}
