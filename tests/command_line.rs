//! Journeys through the command line: the contracts that scripts rely on.

use serde_json::Value;
use std::process::{Command, Output};

/// Runs the program in the repository's root.
pub fn joulecast(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_joulecast"))
        .args(arguments)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap()
}

pub fn json(arguments: &[&str]) -> Value {
    let output = joulecast(arguments);
    let shown = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {shown}");
    serde_json::from_slice(&output.stdout).unwrap()
}

pub fn number(document: &Value, path: &str) -> f64 {
    document.pointer(path).and_then(Value::as_f64).unwrap_or_else(|| panic!("{path} in {document}"))
}

fn brackets(document: &Value, name: &str) {
    let value = number(document, name);
    let low = number(document, &format!("{name}_interval90/0"));
    let high = number(document, &format!("{name}_interval90/1"));
    assert!(0.0 < low && low < value && value < high, "{name}: {low} {value} {high}");
}

const MODEL: &str = "models/mlperf_tiny/kws_ds_cnn.ron";

#[test]
fn inspect_gives_totals_and_layers() {
    let d = json(&["inspect", MODEL, "--json"]);
    assert_eq!(d["schema"], "joulecast.inspect/3");
    assert_eq!(d["totals"]["macs"], 2_656_768);
    assert_eq!(d["totals"]["parameters"], 22_604);
    let layers = d["layers"].as_array().unwrap();
    assert_eq!(layers.len(), 13);
    let sum: u64 = layers.iter().map(|l| l["macs"].as_u64().unwrap()).sum();
    assert_eq!(sum, 2_656_768);
    assert!(layers.iter().all(|l| l["name"].is_string() && l["kind"].is_string()));
}

#[test]
fn estimate_gives_intervals_coverage_and_layers() {
    let d = json(&["estimate", MODEL, "--on", "stm32l4r5", "--json", "--samples", "50"]);
    for name in ["/totals/latency_s", "/totals/energy_j", "/totals/edp_js"] {
        brackets(&d, name);
    }
    for share in ["/totals/coverage/energy", "/totals/coverage/time"] {
        assert!((0.0..=1.0).contains(&number(&d, share)));
    }
    let mut time = 0.0;
    for layer in d["layers"].as_array().unwrap() {
        time += number(layer, "/time_s");
        number(layer, "/energy_j");
        assert!((0.0..=1.0).contains(&number(layer, "/utilisation")));
        assert!(layer["bound_by"].is_string() && layer["kind"].is_string());
    }
    assert!((time / number(&d, "/totals/latency_s") - 1.0).abs() < 1e-12);
    assert!(number(&d, "/totals/latency_s_sampled90/1") > 0.0);
}

#[test]
fn run_gives_metrics_and_the_identity() {
    let d = json(&[
        "run",
        MODEL,
        "--on",
        "eyeriss",
        "--json",
        "--inferences",
        "2",
        "--period",
        "20 ms",
    ]);
    for name in ["energy_j", "mean_w", "peak_w", "j_per_inference", "edp_js"] {
        assert!(number(&d, &format!("/metrics/{name}")) > 0.0, "{name}");
    }
    assert!(number(&d, "/metrics/identity_residual") < 1e-9);
    assert!((number(&d, "/metrics/duration_s") - 0.04).abs() < 1e-12);
    let each = number(&d, "/metrics/energy_j") / 2.0;
    assert!((number(&d, "/metrics/j_per_inference") / each - 1.0).abs() < 1e-12);
    let causes: f64 =
        d["joules"]["by_cause"].as_array().unwrap().iter().map(|c| number(c, "/energy_j")).sum();
    assert!((causes / number(&d, "/metrics/energy_j") - 1.0).abs() < 1e-9);
}

#[test]
fn validate_gives_cases() {
    let d = json(&["validate", "--protocol", "uncalibrated", "--json"]);
    let cases = d["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 1824);
    let layers = cases.iter().filter(|c| c["layer"].is_string()).count();
    assert_eq!(layers, 2 * (29 + 18 + 19));
    for case in cases {
        let (measured, predicted) = (number(case, "/measured"), number(case, "/predicted"));
        let error = number(case, "/relative_error");
        assert!((predicted / measured - 1.0 - error).abs() < 1e-12);
        assert!(number(case, "/predicted_interval90/0") < predicted);
        assert!(
            case["id"].is_string() && case["quantity"].is_string() && case["split"].is_string()
        );
    }
    let named = &d["summary"]["uncalibrated"];
    for field in [
        "n",
        "median_abs_error_energy",
        "p90_abs_error_energy",
        "median_abs_error_latency",
        "p90_abs_error_latency",
        "coverage90",
    ] {
        assert!(number(named, &format!("/{field}")) > 0.0, "{field}");
    }
    let summary = d["summary_by_board"].as_array().unwrap();
    let of = |board: &Value, of: &str| {
        summary.iter().find(|s| s["hardware"] == *board && s["of"] == of).unwrap()
    };
    let figures = |s: &Value| number(s, "/latency/figures") + number(s, "/energy/figures");
    let faulty = cases.iter().filter(|c| c["fault"].is_string()).count();
    assert_eq!(figures(of(&Value::Null, "layers")) as usize, layers);
    let networks = figures(of(&Value::Null, "networks")) as usize;
    assert_eq!(networks + layers + faulty, cases.len());
    let is_summed =
        |c: &&Value| c["hardware"] == "stm32l4r5" && c["layer"].is_null() && c["fault"].is_null();
    let l4r5 = cases.iter().filter(is_summed).count();
    assert_eq!(figures(of(&"stm32l4r5".into(), "networks")) as usize, l4r5);
}

#[test]
fn hardware_and_model_verbs_answer_in_both_forms() {
    let d = json(&["hardware", "list", "--json"]);
    let names: Vec<_> = d["profiles"].as_array().unwrap().iter().map(|p| &p["name"]).collect();
    let shipped: Vec<_> = joulecast::hardware::shipped_profiles().iter().map(|p| p.name).collect();
    assert_eq!(names, shipped);
    assert!((0.0..=1.0).contains(&number(&d, "/profiles/0/sourced_share")));
    for verb in ["show", "check"] {
        let d = json(&["hardware", verb, "hardware_profiles/eyeriss.ron", "--json"]);
        assert_eq!(d["name"], "eyeriss");
        assert!(d["parameters"].as_array().unwrap().iter().all(|p| p["kind"].is_string()));
        let text = String::from_utf8(joulecast(&["hardware", verb, "eyeriss"]).stdout).unwrap();
        assert!(text.contains("on evidence"), "{text}");
    }
    assert_eq!(json(&["model", "list", "--json"])["models"].as_array().unwrap().len(), 14);
    for model in json(&["model", "list", "--json"])["models"].as_array().unwrap() {
        assert!(model["licence"].is_string(), "{model}");
        assert!(model["source"].is_string(), "{model}");
    }
}

#[test]
fn the_same_seed_gives_the_same_bytes() {
    let arguments =
        ["estimate", MODEL, "--on", "eyeriss", "--json", "--samples", "60", "--seed", "9"];
    assert_eq!(joulecast(&arguments).stdout, joulecast(&arguments).stdout);
    let other = ["estimate", MODEL, "--on", "eyeriss", "--json", "--samples", "60", "--seed", "10"];
    assert_ne!(joulecast(&arguments).stdout, joulecast(&other).stdout);
}

#[test]
fn tables_read_as_reviewed() {
    let text = |arguments: &[&str]| String::from_utf8(joulecast(arguments).stdout).unwrap();
    insta::assert_snapshot!("inspect", text(&["inspect", "kws_ds_cnn"]));
    insta::assert_snapshot!("estimate", text(&["estimate", "kws_ds_cnn", "--on", "eyeriss"]));
    insta::assert_snapshot!("hardware_list", text(&["hardware", "list"]));
    insta::assert_snapshot!("model_list", text(&["model", "list"]));
}

#[test]
fn a_short_run_is_kept_whole_and_a_long_one_says_what_is_kept() {
    let place = tempfile::tempdir().unwrap();
    let out = place.path().join("run");
    let run = |inferences: &str, kept: &str| {
        let output = joulecast(&[
            "run",
            MODEL,
            "--on",
            "stm32l4r5",
            "--inferences",
            inferences,
            "--period",
            "1 s",
            "--trace-inferences",
            kept,
            "--out",
            out.to_str().unwrap(),
        ]);
        assert!(output.status.success());
        let csv = std::fs::read_to_string(out.join("power.csv")).unwrap();
        let last = csv.lines().last().unwrap().split(',').next().unwrap().to_owned();
        (last.parse::<f64>().unwrap(), String::from_utf8(output.stdout).unwrap())
    };
    let (end, text) = run("3", "3");
    assert!(end == 3.0 && !text.contains("the trace holds"), "{end}");
    let (end, text) = run("9", "2");
    assert!(end < 2.0 && text.contains("the trace holds the first 2 of 9 inferences"), "{end}");
    assert!(text.contains("in 9.000 s"), "totals are of all");
}
