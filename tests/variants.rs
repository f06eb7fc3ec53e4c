//! Variants of a network held against each other and against a demand on their quality.

use crate::command_line::joulecast;
use serde_json::Value;

fn variant(folder: &std::path::Path, name: &str, flags: &[&str]) -> String {
    let path = folder.join(name).to_string_lossy().into_owned();
    let import = ["model", "import", "kws_ds_cnn", "--out", &path];
    let made = joulecast(&[&import[..], flags].concat());
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    path
}

#[test]
fn only_a_variant_whose_figure_says_so_is_good_enough() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path();
    let full = variant(folder, "full.ron", &["--quality", "accuracy=0.917@test set"]);
    let narrow = variant(
        folder,
        "narrow.ron",
        &["--width", "0.5", "--quality", "accuracy=0.86@test set", "--quality-slice", "night=0.7"],
    );
    let unknown = variant(folder, "unknown.ron", &[]);
    let compared = |demand: &[&str], models: &[&str]| {
        let asked = [&["model", "compare", "--json"][..], models, demand].concat();
        let output = joulecast(&asked);
        let document: Value = serde_json::from_slice(&output.stdout).unwrap();
        let good: Vec<bool> = document["models"]
            .as_array()
            .unwrap()
            .iter()
            .map(|model| model["good_enough"].as_bool().unwrap())
            .collect();
        (output.status.code(), good, document)
    };
    let all = [full.as_str(), &narrow, &unknown];
    let (code, good, document) = compared(&["--at-least", "accuracy=0.9"], &all);
    assert_eq!((code, good), (Some(0), vec![true, false, false]));
    assert!(document["models"][1]["macs"].as_u64() < document["models"][0]["macs"].as_u64());
    assert_eq!(document["models"][1]["transforms"][0], "--width 0.5");
    assert_eq!(document["models"][2]["meets"][0], Value::Null);
    let (code, ..) = compared(&["--at-least", "accuracy/night=0.75"], &all);
    assert_eq!(code, Some(1), "no variant is known to be that good at night");
    let (code, good, _) = compared(&[], &all);
    assert_eq!((code, good), (Some(0), vec![true; 3]), "nothing is demanded");
}

#[test]
fn the_table_shows_what_moved_and_who_measured() {
    let place = tempfile::tempdir().unwrap();
    let narrow =
        variant(place.path(), "n.ron", &["--width", "0.5", "--quality", "accuracy=0.86@test set"]);
    let output = joulecast(&["model", "compare", "kws_ds_cnn", &narrow]);
    let said = String::from_utf8(output.stdout).unwrap();
    for part in ["-69.3 %", "accuracy 0.86 (test set)", "--width 0.5"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let wrong = joulecast(&["model", "compare", "kws_ds_cnn", "--at-least", "accuracy"]);
    assert_eq!(wrong.status.code(), Some(2));
}

#[test]
fn unknown_work_is_said_and_not_held_against_anything() {
    let folder = env!("CARGO_MANIFEST_DIR");
    let vendor = format!("{folder}/tests/fixtures/onnx/control_flow_loop.onnx");
    let output = joulecast(&["model", "compare", "kws_ds_cnn", &vendor]);
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("PARTIAL: ") && said.contains("1 layer is of unknown work"), "{said}");
    assert!(!said.contains('%'), "{said}");
}
