//! Fits on the command line: what a person with measurements of a board does.

use crate::command_line::{joulecast, json, number};
use crate::errors::{file, refused};
use joulecast::calibrate::{Calibration, Case, Protocol, hold_out, joint::Joint};
use joulecast::hardware::Profile;

const CALIBRATION: &str = r#"(
  schema: "joulecast.calibration/1",
  name: "board",
  cases: ["CASE"],
  fit: ["domains.core.clock_tree.*", "software.*.cycles_per_mac.*", "software.*.cycles_per_output.*"],
  noise: (latency: "±0.5%", energy: "±0.5%"),
)"#;

/// A case of a board of which only the truth in the profile at `hardware` is known, with the figures that it has.
fn case_of(truth: &str, hardware: &str) -> String {
    let mut observations = String::new();
    for model in ["ad_autoencoder", "kws_ds_cnn", "vww_mobilenetv1_025", "ic_resnet8"] {
        let d = json(&["estimate", model, "--on", truth, "--software", "x-cube-ai", "--json"]);
        let (time, energy) = (number(&d, "/totals/latency_s"), number(&d, "/totals/energy_j"));
        observations.push_str(&format!(
            "(model: \"{model}\", latency: \"{time:.9e} s @bench\", energy: \"{energy:.9e} J @bench\"),\n"
        ));
    }
    format!(
        r#"(schema: "joulecast.case/1", id: "bench/board", board: "a board",
        runtime: (family: "X-CUBE-AI", version: "9.0.0"), hardware: "{hardware}",
        operating_point: "120mhz_1v8", software: "x-cube-ai", split: Fit,
        sources: {{"bench": (kind: Measured, citation: "a bench")}}, tolerance: "2 % @bench",
        observations: [{observations}])"#
    )
}

/// What measured a board gives back the numbers that the board has, in the profile that is written.
#[test]
fn numbers_that_made_the_measurements_come_back() {
    let place = tempfile::tempdir().unwrap();
    let truth = file(
        place.path(),
        "truth.ron",
        r#"(schema: "joulecast.profile/1", name: "truth", extends: "stm32l4r5",
        domains: [(name: "core", clock_tree: Charge("150 uA/MHz ±1% @waiting"))],
        software: [(name: "x-cube-ai", cycles_per_mac: {FullyConnected: "2.5 cycle/MAC ±1% @prior"})])"#
            .as_bytes(),
    );
    let case = file(place.path(), "case.ron", case_of(&truth, "stm32l4r5").as_bytes());
    let calibration =
        file(place.path(), "board.ron", CALIBRATION.replace("CASE", &case).as_bytes());
    let out = place.path().join("fitted.ron");
    let out = out.to_str().unwrap();
    let d = json(&["calibrate", &calibration, "--out", out, "--json"]);
    let numbers = d["fits"][0]["numbers"].as_array().unwrap();
    let of = |path: &str| numbers.iter().find(|n| n["path"] == path).unwrap();
    let near = |path: &str, known: f64, most: f64| {
        let (value, sigma) = (number(of(path), "/value"), number(of(path), "/sigma"));
        assert!((value / known).ln().abs() < 2.0 * sigma, "{path}: {value} ±{sigma}, not {known}");
        assert!(sigma < most, "{path} ±{sigma}");
    };
    near("domains.core.clock_tree.Charge", 150e-12, 0.02);
    // What an output costs is known less, and shows in the same times.
    near("software.x-cube-ai.cycles_per_mac.FullyConnected", 2.5, 0.06);
    // The text stays, and what it cites now is the fit.
    let text = std::fs::read_to_string(out).unwrap();
    assert!(text.contains("// STM32L4R5ZI on the NUCLEO-L4R5ZI board"), "comments stay");
    assert!(text.contains("@fit-board\")") && text.contains("172 uA/MHz ±12% @waiting"));
    let fitted = Profile::load(out).unwrap();
    assert!(fitted.spec().posterior.is_some());
    let estimate = |on: &str| {
        let model = "kws_ds_cnn";
        let d = json(&["estimate", model, "--on", on, "--software", "x-cube-ai", "--json"]);
        number(&d, "/totals/energy_j")
    };
    assert!((estimate(out) / estimate(&truth) - 1.0).abs() < 0.005);
    // It is not written over without being told to.
    let again = joulecast(&["calibrate", &calibration, "--out", out]);
    assert_eq!(again.status.code(), Some(2));
    assert!(joulecast(&["calibrate", &calibration, "--out", out, "--force"]).status.success());
}

/// Charge of the clock tree and of work only show by their sum: the report says so and what would tell.
#[test]
fn what_cannot_be_told_apart_is_named_with_the_experiment() {
    let place = tempfile::tempdir().unwrap();
    let text = CALIBRATION
        .replace("CASE", "stm32l4r5/x-cube-ai-9.0")
        .replace("\"software.*.cycles_per_output.*\"", "\"engines.*.energy.*\"");
    let calibration = file(place.path(), "c.ron", text.as_bytes());
    let shown = joulecast(&["calibrate", &calibration]);
    let shown = String::from_utf8(shown.stdout).unwrap();
    assert!(shown.contains("go together (correlation -0."), "{shown}");
    assert!(shown.contains("to settle it: "), "{shown}");
    assert!(
        shown.contains("no fitted number touches: stm32l4r5/x-cube-ai-9.0/sleep_board"),
        "{shown}"
    );
}

#[test]
fn measurements_that_disagree_are_named_with_their_distance() {
    let place = tempfile::tempdir().unwrap();
    let text = case_of("stm32l4r5", "stm32l4r5");
    let (head, observations) = text.split_once("observations: [").unwrap();
    let first = observations.lines().next().unwrap();
    let doubled = first.replacen("latency: \"", "latency: \"1", 1);
    let case = file(
        place.path(),
        "case.ron",
        format!("{head}observations: [{doubled}\n{observations}").as_bytes(),
    );
    let calibration = file(place.path(), "c.ron", CALIBRATION.replace("CASE", &case).as_bytes());
    let d = json(&["calibrate", &calibration, "--json"]);
    let found = d["fits"][0]["contradictions"].as_array().unwrap();
    assert!(!found.is_empty(), "{d}");
    assert!(number(&found[0], "/sigmas") > 3.0);
    assert!(found[0]["one"].as_str().unwrap().contains("ad_autoencoder"));
}

#[test]
fn slips_of_a_calibration_are_told_with_the_nearest() {
    let place = tempfile::tempdir().unwrap();
    let said = |text: &str| refused(&["calibrate", &file(place.path(), "c.ron", text.as_bytes())]);
    let shown = said(&CALIBRATION.replace("CASE", "stm32l4r5/x-cube-ai-9.1"));
    assert!(shown.contains("c.ron:4") && shown.contains("did you mean `stm32l4r5/x-cube-ai-"));
    let shown = said(
        &CALIBRATION
            .replace("CASE", "stm32l4r5/x-cube-ai-9.0")
            .replace("domains.core.clock_tree.*", "domains.core.clock_tre.Charge"),
    );
    assert!(shown.contains("did you mean `domains.core.clock_tree.Charge`?"), "{shown}");
    assert!(refused(&["calibrate", "nowhere.ron"]).contains("cannot read calibration nowhere.ron"));
}

/// A network that is held out is predicted without it: changing what it measured changes nothing.
#[test]
fn what_is_held_out_does_not_reach_its_prediction() {
    let text = CALIBRATION.replace("CASE", "stm32l4r5/x-cube-ai-9.0");
    let calibration = Calibration::parse("c.ron", &text).unwrap();
    let shipped = joulecast::calibrate::shipped_cases();
    let shipped = shipped.iter().find(|c| c.path.ends_with("l4r5/x-cube-ai-9.0.ron")).unwrap();
    let predicted = |text: &str| {
        let cases = [Case::parse("x.ron", text).unwrap()];
        let joint = Joint::of(&cases, &calibration).unwrap();
        let all =
            joint.fitted_to_all(calibration.loss, joulecast::calibrate::fit::Limits::coarse());
        let all = all.unwrap();
        let start = joint.start(&all.fit.x, all.scales);
        let held = hold_out(&joint, &[Protocol::Row], calibration.loss, &start).unwrap();
        let of = |held: &joulecast::calibrate::HeldOut| {
            joint.sights()[held.forecast.sight].id.ends_with("ic_resnet8")
        };
        held.iter().filter(|h| of(h)).map(|h| h.forecast.predicted).collect::<Vec<f64>>()
    };
    let one = predicted(shipped.text);
    let (before, ic) = shipped.text.split_once("(model: \"ic_resnet8\"").unwrap();
    let (_, after) = ic.split_once("\n").unwrap();
    let moved = format!(
        "{before}(model: \"ic_resnet8\", latency: \"900 ms @tiny_v1_2\", energy: \"90 mJ @tiny_v1_2\"),\n{after}"
    );
    let key = shipped.text.split("sources: {").nth(1).unwrap().split('"').nth(1).unwrap();
    let other = predicted(&moved.replace("@tiny_v1_2", &format!("@{key}")));
    assert_eq!(one.len(), 2);
    for (one, other) in one.iter().zip(&other) {
        assert!((one / other - 1.0).abs() < 0.02, "{one} {other}");
    }
}
