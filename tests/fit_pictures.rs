//! Pictures of fits and of predictions held against measurements, from the command line.

use crate::command_line::joulecast;
use crate::errors::{file, refused};
use std::path::Path;

const CALIBRATION: &str = r#"(
  schema: "joulecast.calibration/1",
  name: "board",
  cases: ["stm32l4r5/x-cube-ai-9.0"],
  fit: ["software.*.cycles_per_mac.*", "domains.*.clock_tree.*", "engines.*.energy.*"],
  noise: (latency: "±1%", energy: "±1%"),
)"#;

/// What a file of a picture says, after a look at whether it is one.
fn looked_at(folder: &Path, name: &str) -> String {
    let png = std::fs::read(folder.join(format!("{name}.png"))).unwrap();
    assert_eq!(&png[..8], b"\x89PNG\r\n\x1a\n", "{name}");
    assert!(png.ends_with(b"IEND\xaeB`\x82"), "{name} is whole");
    let svg = std::fs::read_to_string(folder.join(format!("{name}.svg"))).unwrap();
    assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"), "{name}");
    svg
}

#[test]
fn a_fit_is_drawn_as_a_folder_of_pictures_that_are_the_same_every_time() {
    let place = tempfile::tempdir().unwrap();
    let calibration = file(place.path(), "board.ron", CALIBRATION.as_bytes());
    let folders = ["one", "other"].map(|name| place.path().join(name));
    for folder in &folders {
        let folder = folder.to_str().unwrap();
        let output = joulecast(&["calibrate", &calibration, "--pictures", folder]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert!(String::from_utf8_lossy(&output.stdout).contains("pictures are in"));
    }
    for (name, said) in [
        ("residuals", &["before the fit", "after the fit", "kws_ds_cnn", "power at rest"][..]),
        ("predicted", &["latency", "energy", "10 % off", "100 ms", "stm32l4r5"]),
        ("numbers", &["clock_tree.Charge", "uA/MHz", "σ left", "prior, 90 %"]),
        ("correlations", &["clock_tree.Charge", "per_busy_cycle.Charge", "strongest"]),
        ("contributions", &["ad_autoencoder", "cycles_per_mac.FullyConnected", "leverage"]),
    ] {
        let svg = looked_at(&folders[0], name);
        for text in said {
            assert!(svg.contains(text), "{name}: {text}");
        }
        for kind in ["png", "svg"] {
            let [one, other] =
                [0, 1].map(|at| std::fs::read(folders[at].join(format!("{name}.{kind}"))).unwrap());
            assert!(one == other, "{name}.{kind} differs");
        }
    }
    // The same folder again, dark.
    let folder = folders[0].to_str().unwrap();
    let before = std::fs::read(folders[0].join("numbers.svg")).unwrap();
    let output = joulecast(&["calibrate", &calibration, "--pictures", folder, "--dark"]);
    assert!(output.status.success());
    assert!(before != std::fs::read(folders[0].join("numbers.svg")).unwrap());
}

#[test]
fn a_folder_of_somebody_else_is_left_alone() {
    let place = tempfile::tempdir().unwrap();
    let calibration = file(place.path(), "board.ron", CALIBRATION.as_bytes());
    let folder = place.path().join("mine");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("thesis.txt"), "years of work").unwrap();
    let shown = refused(&["calibrate", &calibration, "--pictures", folder.to_str().unwrap()]);
    assert!(shown.contains("thesis.txt"), "{shown}");
    assert!(refused(&["calibrate", &calibration, "--dark"]).contains("--pictures"));
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
}

#[test]
fn fits_that_stand_apart_have_names_of_their_own() {
    let place = tempfile::tempdir().unwrap();
    let text = CALIBRATION
        .replace(
            "\"stm32l4r5/x-cube-ai-9.0\"",
            "\"stm32l4r5/x-cube-ai-9.0\", \"stm32l4r5/x-cube-ai-7.1\"",
        )
        .replace("  fit:", "  apart: true,\n  fit:");
    let calibration = file(place.path(), "board.ron", text.as_bytes());
    let folder = place.path().join("pictures");
    let output = joulecast(&["calibrate", &calibration, "--pictures", folder.to_str().unwrap()]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    for case in ["stm32l4r5_x-cube-ai-9.0", "stm32l4r5_x-cube-ai-7.1"] {
        looked_at(&folder, &format!("{case}_residuals"));
    }
}

#[test]
fn named_cases_are_drawn_as_their_profiles_predict_them() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("pictures");
    let case = "validation/stm32l4r5/x-cube-ai-9.0.ron";
    let output = joulecast(&["validate", case, "--pictures", folder.to_str().unwrap()]);
    assert!(!String::from_utf8_lossy(&output.stderr).contains("error"));
    assert!(String::from_utf8_lossy(&output.stdout).contains("pictures are in"));
    let svg = looked_at(&folder, "predicted_uncalibrated");
    for text in ["latency", "energy", "from profiles as they stand", "half within", "mJ"] {
        assert!(svg.contains(text), "{text}");
    }
    let svg = looked_at(&folder, "errors");
    for text in ["uncalibrated", "absolute error of the prediction", "median", "90 %"] {
        assert!(svg.contains(text), "{text}");
    }
    assert!(refused(&["validate", "--record", "--pictures", "x"]).contains("--pictures"));
}
