//! One capture of a bench in several observations, and what a prediction may know of it.

use crate::bench_captures::{CALIBRATION, capture, case_of, of};
use crate::command_line::{joulecast, json, number};
use crate::errors::{file, refused};
use joulecast::calibrate::joint::Joint;
use joulecast::calibrate::{Case, Gathered, Protocol, Quantity, held_out};
use std::path::Path;

/// Two networks by turns, each under a line of its own, and rest between them.
fn by_turns() -> Vec<(u64, f64, &'static str)> {
    let mut stretches = vec![(40, 9000.0, "00")];
    (0..6).for_each(|_| {
        let turn =
            [(57, 20000.0, "10"), (30, 9000.0, "00"), (5, 30000.0, "01"), (40, 9000.0, "00")];
        stretches.extend(turn);
    });
    stretches
}

fn observation(model: &str, line: &str, more: &str) -> String {
    format!(
        "(model: \"{model}\", capture: (file: \"turns.csv\", meter: \"ppk2\", voltage: \"1.8 V ±0.5%\", line: \"{line}\", \
         edges: High){more}),"
    )
}

const REST: &str = r#", rest: "waiting""#;

fn place_with(observations: &str) -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    file(place.path(), "turns.csv", capture(&by_turns()).as_bytes());
    file(place.path(), "case.ron", case_of(observations).as_bytes());
    file(place.path(), "c.ron", CALIBRATION.as_bytes());
    place
}

#[test]
fn two_networks_in_one_capture_have_one_meter_and_one_power_at_rest() {
    let both = observation("kws_ds_cnn", "D0", REST) + &observation("ad_autoencoder", "D1", REST);
    let place = place_with(&both);
    let case = Case::load(place.path().join("case.ron").to_str().unwrap()).unwrap();
    // No more than the current in which neither network runs, and once.
    assert_eq!(case.idle.len(), 1);
    let rest = case.idle[0].power.get().0;
    assert!((rest / (9e-3 * 1.8) - 1.0).abs() < 1e-9, "{rest}");
    let energies = case.observations.iter().map(|own| own.energy.as_ref().unwrap().get().0);
    for (found, known) in energies.zip([20e-3 * 1.8 * 57e-3, 30e-3 * 1.8 * 5e-3]) {
        assert!((found / known - 1.0).abs() < 1e-6, "{found} {known}");
    }
    let notes = case.notes().join("\n");
    for part in [
        "turns.csv serves observations[0] and observations[1]",
        "gain and clock of `ppk2` are one unknown each",
        "power at rest counts once for each state",
    ] {
        assert!(notes.contains(part), "`{part}` in {notes}");
    }
    // A gain, a clock and the voltage of the file.
    let gathered = Gathered::load(place.path().join("c.ron").to_str().unwrap()).unwrap();
    let joint = Joint::of(&gathered.cases, &gathered.calibration).unwrap();
    assert_eq!(joint.meters().count(), 3);
    // The same file under another path is the same.
    let other = both.replacen("\"turns.csv\"", "\"./turns.csv\"", 1);
    let place = place_with(&other);
    let gathered = Gathered::load(place.path().join("c.ron").to_str().unwrap()).unwrap();
    let joint = Joint::of(&gathered.cases, &gathered.calibration).unwrap();
    assert_eq!((joint.meters().count(), gathered.cases[0].idle.len()), (3, 1));
}

#[test]
fn the_same_windows_twice_are_a_fault_in_one_case_and_in_two() {
    let one = observation("kws_ds_cnn", "D0", "");
    for twice in [one.clone() + &one, one.clone() + &observation("ic_resnet8", "D0", REST)] {
        let place = place_with(&twice);
        let shown = refused(&["calibrate", place.path().join("c.ron").to_str().unwrap()]);
        for part in [
            "what this marks in the file is what observations[0] marks too, for kws_ds_cnn",
            "would count twice",
            "observations[1].capture.file",
        ] {
            assert!(shown.contains(part), "`{part}` in {shown}");
        }
    }
    let whole = r#", period: "132 ms", rest: "waiting""#;
    let mean = observation("kws_ds_cnn", "D0", whole);
    let place = place_with(&(observation("ad_autoencoder", "D1", "") + &mean));
    let shown = refused(&["validate", place.path().join("case.ron").to_str().unwrap()]);
    assert!(shown.contains("not that of one network: here it is of kws_ds_cnn"), "{shown}");

    let place = place_with(&one);
    let calibration = CALIBRATION.replace("[\"case.ron\"]", "[\"case.ron\", \"other.ron\"]");
    let calibration = file(place.path(), "c.ron", calibration.as_bytes());
    let other = |observations: &str| {
        let text = case_of(observations).replace("id: \"bench\"", "id: \"other\"");
        file(place.path(), "other.ron", text.as_bytes());
    };
    for again in [one.as_str(), &observation("ad_autoencoder", "D1", REST)] {
        other(again);
        let shown = refused(&["calibrate", &calibration]);
        assert!(
            shown.contains("case `other` takes from") && shown.contains("what case `bench` takes"),
            "{shown}"
        );
        assert!(shown.contains("belong into one case") && shown.contains("c.ron:"), "{shown}");
    }
    // Other windows of the file are other measurements.
    other(&observation("ad_autoencoder", "D1", ""));
    assert!(joulecast(&["calibrate", &calibration]).status.success());
}

/// The mean of a capture is shown, and counts only where its parts are not taken from the same capture.
#[test]
fn a_mean_that_windows_and_rest_make_up_is_shown_and_not_fitted() {
    let place = tempfile::tempdir().unwrap();
    let mut stretches = vec![(40, 9000.0, "00")];
    (0..6).for_each(|_| stretches.extend([(57, 20000.0, "10"), (43, 9000.0, "00")]));
    file(place.path(), "turns.csv", capture(&stretches).as_bytes());
    let calibration = file(place.path(), "c.ron", CALIBRATION.as_bytes());
    let mean = observation("kws_ds_cnn", "D0", r#", period: "100 ms", rest: "waiting""#);
    for (windows, counts) in [
        (observation("kws_ds_cnn", "D0", REST), false),
        (observation("kws_ds_cnn", "D0", ""), true),
        (String::new(), true),
    ] {
        file(place.path(), "case.ron", case_of(&(windows + &mean)).as_bytes());
        let d = json(&["calibrate", &calibration, "--json"]);
        let own = of(&d["fits"][0]["measurements"], "quantity", "mean_power_w");
        assert_eq!(own["given"], counts);
        assert_eq!(own["fault"].is_null(), counts);
        let measured = number(own, "/measured");
        let known = 1.8 * (20e-3 * 57.0 + 9e-3 * 43.0) / 100.0;
        assert!((measured / known - 1.0).abs() < 1e-6, "{measured} {known}");
        if !counts {
            let why = own["fault"].as_str().unwrap();
            assert!(why.contains("windows and the power between them"), "{why}");
        }
    }
}

/// Captures are read as the profile that predicts executes their networks.
#[test]
fn layers_of_a_capture_are_those_of_the_profile_that_is_asked_for() {
    let place = tempfile::tempdir().unwrap();
    let mut stretches = vec![(40, 9000.0, "00")];
    for _ in 0..4 {
        let layers = [(9, "11"), (9, "10"), (9, "11"), (9, "10")];
        stretches.extend(layers.repeat(3).into_iter().map(|(long, lines)| (long, 20000.0, lines)));
        stretches.push((40, 9000.0, "00"));
    }
    file(place.path(), "turns.csv", capture(&stretches).as_bytes());
    let marked = observation("kws_ds_cnn", "D0", "")
        .replace("edges: High", "edges: High, layers: Marked(line: \"D1\", at: Changes)");
    // The profile that the case names is none, and nothing is asked of it.
    let text = case_of(&marked).replace("\"stm32l4r5\"", "\"a_board_of_somebody\"");
    let case = file(place.path(), "case.ron", text.as_bytes());
    let shown = refused(&["validate", &case]);
    assert!(shown.contains("a_board_of_somebody"), "{shown}");
    let d = json(&["validate", &case, "--on", "stm32l4r5", "--json"]);
    let rows = d["cases"].as_array().unwrap();
    assert_eq!(rows.iter().filter(|row| !row["layer"].is_null()).count(), 2 * 12);
    assert!(rows.iter().all(|row| row["hardware"] == "stm32l4r5"));
}

/// In a hold-out of a network nothing of its capture reaches the prediction: neither does the power between its
/// inferences. Where that was measured apart, it does.
#[test]
fn power_between_inferences_of_a_network_that_is_held_out_is_held_out_with_it() {
    let place = tempfile::tempdir().unwrap();
    let held = |gap: f64, more: &str| {
        let mut stretches = vec![(40, gap, "00")];
        (0..6).for_each(|_| stretches.extend([(57, 20000.0, "10"), (43, gap, "00")]));
        file(place.path(), "turns.csv", capture(&stretches).as_bytes());
        // Which tells nothing of power.
        let other = r#"(model: "ad_autoencoder", latency: "5.1 ms ±1%"),"#;
        let text = case_of(&(observation("kws_ds_cnn", "D0", REST) + other))
            .replace("meters:", &format!("{more} meters:"));
        file(place.path(), "case.ron", text.as_bytes());
        let calibration = file(place.path(), "c.ron", CALIBRATION.as_bytes());
        let gathered = Gathered::load(&calibration).unwrap();
        let all = held_out(&gathered, &[Protocol::Row, Protocol::Network]).unwrap();
        // Power at rest itself is no prediction of a network.
        assert!(all.iter().all(|own| own.quantity != Quantity::IdlePower));
        let is = |own: &&joulecast::calibrate::Scored| {
            own.id == "bench/kws_ds_cnn" && own.quantity == Quantity::Energy
        };
        let found: Vec<f64> = all.iter().filter(is).map(|own| own.predicted).collect();
        assert_eq!(found.len(), 2);
        found
    };
    let apart_by = |low: Vec<f64>, high: Vec<f64>| -> Vec<f64> {
        low.iter().zip(&high).map(|(low, high)| high / low - 1.0).collect()
    };
    // As far as fits from two starts agree.
    let apart = apart_by(held(9000.0, ""), held(13000.0, ""));
    assert!(apart.iter().all(|own| own.abs() < 1e-6), "{apart:?}");
    let stated =
        |power: &str| held(9000.0, &format!("idle: [(state: \"waiting\", power: {power:?})],"));
    let apart = apart_by(stated("16.2 mW ±1%"), stated("23.4 mW ±1%"));
    assert!(apart.iter().all(|own| *own > 0.05), "{apart:?}");
}

#[test]
fn a_path_of_a_capture_starts_at_the_folder_of_the_case() {
    let place = tempfile::tempdir().unwrap();
    let case = case_of(&observation("kws_ds_cnn", "D0", ""));
    let case = file(place.path(), "case.ron", case.as_bytes());
    let shown = refused(&["validate", &case]);
    assert!(shown.contains("turns.csv: cannot be read"), "{shown}");
    assert!(shown.contains("paths are taken from the folder of the case file"), "{shown}");
    assert!(Path::new(&case).is_absolute());
}
