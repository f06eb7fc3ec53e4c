//! `run` of scenarios: what scripts rely on, what cannot be, and closed forms beside it.

use super::command_line::{joulecast, json, number};
use joulecast::sim::scenario::{Scenario, shipped_scenarios};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

/// A shipped scenario with changes, as a file.
fn variant(folder: &Path, name: &str, changes: &[(&str, &str)]) -> String {
    let shipped = shipped_scenarios().iter().find(|own| own.name == name).unwrap();
    let mut text = shipped.text.to_owned();
    for (from, to) in changes {
        assert!(text.contains(from), "{from} in {name}");
        text = text.replacen(from, to, 1);
    }
    let path = folder.join(format!("{name}.ron"));
    std::fs::write(&path, text).unwrap();
    path.to_string_lossy().into_owned()
}

fn keyword(folder: &Path, duration: &str) -> String {
    variant(folder, "keyword_node", &[("duration: \"1 h\"", &format!("duration: \"{duration}\""))])
}

fn place() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

fn document(output: &Output) -> Value {
    let shown = String::from_utf8_lossy(&output.stderr);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {shown}"))
}

/// What is said of what cannot be run.
fn refused(arguments: &[&str]) -> String {
    let output = joulecast(arguments);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    assert!(output.stdout.is_empty(), "{arguments:?}");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn a_run_of_a_scenario_gives_what_scripts_rely_on() {
    let d = json(&["run", "keyword_node", "--json"]);
    assert_eq!(d["schema"], "joulecast.scenario_run/1");
    assert_eq!((&d["incomplete"], &d["ending"]["kind"]), (&false.into(), &"until".into()));
    for name in ["energy_j", "source_energy_j", "mean_w", "j_per_inference", "edp_js"] {
        let value = number(&d, &format!("/metrics/{name}"));
        let low = number(&d, &format!("/metrics/{name}_interval90/0"));
        let high = number(&d, &format!("/metrics/{name}_interval90/1"));
        assert!(0.0 < low && low < value && value < high, "{name}: {low} {value} {high}");
    }
    let of = |name: &str| number(&d, &format!("/metrics/{name}"));
    assert!((of("energy_j") / of("source_energy_j") - 1.0).abs() < 1e-9);
    assert!((of("mean_w") * of("duration_s") / of("energy_j") - 1.0).abs() < 1e-9);
    assert!((of("j_per_inference") * of("inferences") / of("energy_j") - 1.0).abs() < 1e-9);
    assert!((of("inferences_per_s_per_w") * of("j_per_inference") - 1.0).abs() < 1e-9);
    assert!(of("peak_w") > of("mean_w") && of("identity_residual") < 1e-9);
    assert!(of("events") > 3600.0 && of("deadline_misses") == 0.0);
    let at = |share: &str| number(&d, &format!("/metrics/latency_s/{share}"));
    assert!(at("p50") <= at("p95") && at("p95") <= at("p99") && at("p50") > 0.0);
    assert_eq!(d["metrics"]["latency_s"]["exact"], true);
    let keyword = &d["workloads"][0];
    assert_eq!((&keyword["name"], &keyword["asked"]), (&"keyword".into(), &3600.into()));
    let layers = keyword["layers"].as_array().unwrap();
    let sum: f64 = layers.iter().map(|layer| number(layer, "/energy_j")).sum();
    assert!((sum / number(keyword, "/energy_j") - 1.0).abs() < 1e-9);
    for domain in d["domains"].as_array().unwrap() {
        let residency = domain["residency"].as_object().unwrap();
        let shares: f64 = residency.values().map(|share| share.as_f64().unwrap()).sum();
        assert!((shares - 1.0).abs() < 1e-9, "{domain}");
        assert!(["on", "waking", "stop2"].iter().all(|state| residency.contains_key(*state)));
        assert_eq!(domain["wakes"], 3600);
    }
    let rails = d["rails"].as_array().unwrap();
    let loads: f64 = rails.iter().map(|rail| number(rail, "/load_energy_j")).sum();
    assert!((loads / of("load_energy_j") - 1.0).abs() < 1e-9);
    let joules = &d["joules"];
    let causes = number(joules, "/by_workload_j/keyword")
        + number(joules, "/idle_j")
        + number(joules, "/transitions_j");
    assert!((causes / of("energy_j") - 1.0).abs() < 1e-9);
    assert!(d["generator"].as_str().unwrap().contains("ChaCha8"));
}

#[test]
fn the_same_scenario_seed_and_version_give_the_same_bytes() {
    let place = place();
    let file = keyword(place.path(), "20 s");
    let run = |seed: &str, out: &str| {
        let out = place.path().join(out);
        let output =
            joulecast(&["run", &file, "--seed", seed, "--json", "--out", out.to_str().unwrap()]);
        assert!(output.status.success());
        let mut files: Vec<(PathBuf, Vec<u8>)> = Vec::new();
        for entry in std::fs::read_dir(&out).unwrap() {
            let path = entry.unwrap().path();
            let name = PathBuf::from(path.file_name().unwrap());
            files.push((name, std::fs::read(&path).unwrap()));
        }
        files.sort();
        assert!(files.len() >= 9, "{files:?}");
        (output.stdout, files)
    };
    let first = run("5", "first");
    assert!(first == run("5", "second"), "the same seed gives other bytes");
    assert!(first.0 != run("6", "third").0, "another seed gives the same bytes");
    // On one processor there is one thread.
    let alone = Command::new("taskset")
        .args(["-c", "0", env!("CARGO_BIN_EXE_joulecast"), "run", &file, "--seed", "5", "--json"])
        .output();
    match alone {
        Ok(output) if output.status.success() => assert!(first.0 == output.stdout),
        _ => println!("skipped: one processor, for there is no taskset"),
    }
}

#[test]
fn a_deadline_shorter_than_an_inference_is_missed_each_time_and_said() {
    let place = place();
    let changes =
        [("duration: \"1 h\"", "duration: \"20 s\""), ("deadline: \"1 s\"", "deadline: \"1 ms\"")];
    let file = variant(place.path(), "keyword_node", &changes);
    let d = json(&["run", &file, "--json"]);
    assert_eq!(d["metrics"]["deadline_misses"], 20);
    assert_eq!(d["workloads"][0]["deadline_miss_share"], 1.0);
    assert_eq!(d["metrics"]["inferences_per_s_per_w"], 0.0);
    let warning = &d["warnings"][0];
    assert_eq!(warning["field"], "workloads[0].deadline");
    assert!(warning["message"].as_str().unwrap().contains("longer than its deadline"));
    assert!(warning["line"].as_u64().is_some());
    let text = String::from_utf8(joulecast(&["run", &file]).stdout).unwrap();
    assert!(text.contains("longer than its deadline"), "{text}");
}

#[test]
fn a_rate_that_saturates_is_a_result_with_its_figures() {
    let place = place();
    let changes = [
        ("duration: \"1 h\"", "duration: \"10 s\""),
        ("Periodic(period: \"1 s\", jitter: \"1 ms ±50% @audio\")", "Poisson(rate: \"50 Hz\")"),
        ("      queue: (limit: 1, when_full: DropOldest),\n", ""),
        ("  sources: {\n", "  sources: { \"x\": (kind: Assumed, citation: \"for this test\"),\n"),
    ];
    let file = variant(place.path(), "keyword_node", &changes);
    let d = json(&["run", &file, "--json"]);
    let own = &d["workloads"][0];
    assert_eq!(own["pressure"]["saturated"], true);
    assert!(number(own, "/pressure/engine_load") > 2.5);
    assert!(number(own, "/pressure/offered_per_s") > 2.0 * number(own, "/pressure/served_per_s"));
    assert!(number(own, "/unfinished") > 100.0 && number(own, "/longest_queue") > 100.0);
    assert_eq!(
        number(own, "/asked"),
        number(own, "/served") + number(own, "/unfinished"),
        "who is not served still waits"
    );
    assert!(number(&d, "/engines/0/busy_share") > 0.9);
    assert!(d["caveats"][0].as_str().unwrap().starts_with("SATURATED: `keyword` is asked"));
}

#[test]
fn what_cannot_be_is_told_and_nothing_is_written() {
    let place = place();
    let out = place.path().join("out");
    let out = out.to_str().unwrap();
    let file = keyword(place.path(), "300 day");
    let said = refused(&["run", &file, "--out", out]);
    assert!(said.contains("duration") && said.contains("keyword_node.ron:"), "{said}");
    std::fs::write(place.path().join("times.csv"), "time_s\n1\n3\n2\n").unwrap();
    let changes = [(
        "Periodic(period: \"1 s\", jitter: \"1 ms ±50% @audio\")",
        "Recorded(file: \"times.csv\")",
    )];
    let file = variant(place.path(), "keyword_node", &changes);
    let said = refused(&["run", &file, "--out", out]);
    assert!(said.contains("times must rise") && said.contains("times.csv:4"), "{said}");
    let file = variant(
        place.path(),
        "keyword_node",
        &[("hardware: \"stm32u585\"", "hardware: \"stm32u58\"")],
    );
    let said = refused(&["run", &file, "--out", out]);
    assert!(said.contains("stm32u58") && said.contains("keyword_node.ron:"), "{said}");
    let file = variant(place.path(), "keyword_node", &[("  duration:", "  duration")]);
    let said = refused(&["run", &file, "--out", out]);
    assert!(said.contains("keyword_node.ron:") && said.contains("^"), "{said}");
    assert!(!Path::new(out).exists());
}

#[test]
fn so_many_events_end_a_run_with_what_is_known_and_say_so() {
    let place = place();
    let out = place.path().join("out");
    let arguments =
        ["run", "keyword_node", "--max-events", "1000", "--json", "--out", out.to_str().unwrap()];
    let output = joulecast(&arguments);
    assert_eq!(output.status.code(), Some(1));
    let d = document(&output);
    assert_eq!((&d["incomplete"], &d["ending"]["kind"]), (&true.into(), &"max_events".into()));
    assert!(d["caveats"][0].as_str().unwrap().starts_with("INCOMPLETE: stopped after 1000 events"));
    assert_eq!(d["metrics"]["events"], 1000);
    assert!(number(&d, "/metrics/identity_residual") < 1e-9);
    assert!(number(&d, "/metrics/duration_s") < 100.0);
    assert!(number(&d, "/metrics/energy_j_interval90/1") > number(&d, "/metrics/energy_j"));
    let written: Value =
        serde_json::from_slice(&std::fs::read(out.join("metrics.json")).unwrap()).unwrap();
    assert_eq!(written, d);
    assert!(out.join("joulecast.json").is_file());
    // The very first event is one too many for any figure of an inference.
    let output = joulecast(&["run", "keyword_node", "--max-events", "1", "--json"]);
    let d = document(&output);
    assert_eq!(d["metrics"]["j_per_inference"], Value::Null);
    assert_eq!(d["metrics"]["latency_s"]["p50"], Value::Null);
}

/// Waits until the process catches SIGINT.
#[cfg(target_os = "linux")]
fn catches_interrupts(process: u32) -> bool {
    for _ in 0..600 {
        let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
        let caught = caught.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
        if caught.is_some_and(|mask| mask & 0b10 != 0) {
            return true;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    false
}

#[cfg(target_os = "linux")]
#[test]
fn an_interrupted_run_ends_with_what_is_known() {
    let place = place();
    let file = keyword(place.path(), "200 day");
    let out = place.path().join("out");
    let run = Command::new(env!("CARGO_BIN_EXE_joulecast"))
        .args(["run", &file, "--json", "--out", out.to_str().unwrap()])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    assert!(catches_interrupts(run.id()));
    // Long enough for most runs to have begun; one that has not ends at its first event.
    std::thread::sleep(Duration::from_millis(1500));
    let sent = Command::new("kill").args(["-INT", &run.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let output = run.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    let d = document(&output);
    assert_eq!((&d["incomplete"], &d["ending"]["kind"]), (&true.into(), &"interrupted".into()));
    assert!(d["caveats"][0].as_str().unwrap().starts_with("INCOMPLETE: interrupted"));
    assert!(number(&d, "/metrics/duration_s") < 200.0 * 86_400.0);
    let written: Value =
        serde_json::from_slice(&std::fs::read(out.join("metrics.json")).unwrap()).unwrap();
    assert_eq!(written["incomplete"], true);
    let left = std::fs::read_dir(place.path()).unwrap().count();
    assert_eq!(left, 2, "the scenario and the folder, and nothing half written");
}

#[test]
fn a_name_that_cannot_be_run_is_told_with_the_nearest_of_both_kinds() {
    let said = refused(&["run", "keywrd_node"]);
    assert!(said.contains("did you mean the scenario `keyword_node`"), "{said}");
    let said = refused(&["run", "kws_ds_cn"]);
    assert!(said.contains("the model `kws_ds_cnn`"), "{said}");
    let said = refused(&["run", "kws_ds_cnn"]);
    assert!(said.contains("no scenario") && said.contains("--on HARDWARE"), "{said}");
    let said = refused(&["run", "keyword_node", "--on", "stm32u585"]);
    assert!(said.contains("names its own hardware"), "{said}");
    let said = refused(&["run", "nowhere.ron"]);
    assert!(said.contains("no such file"), "{said}");
    // A model together with hardware is run as ever.
    let d = json(&["run", "kws_ds_cnn", "--on", "stm32u585", "--json"]);
    assert_eq!(d["schema"], "joulecast.run/1");
}

#[test]
fn an_option_of_the_other_kind_is_told_with_what_to_write() {
    let of_models: [(&[&str], &str); 8] = [
        (&["--opp", "x"], "operating_point"),
        (&["--period", "1 s"], "arrivals: Periodic"),
        (&["--inferences", "1"], "inferences: N"),
        (&["--idle", "on"], "rest:"),
        (&["--state", "modem=off"], "states:"),
        (&["--place", "*=cpu"], "place:"),
        (&["--trace-inferences", "3"], "--trace-time"),
        (&["--width", "0.5"], "workload of the scenario"),
    ];
    for (option, instead) in of_models {
        let arguments: Vec<&str> = ["run", "keyword_node"].iter().chain(option).copied().collect();
        let said = refused(&arguments);
        assert!(said.contains(instead), "{option:?}: {said}");
        assert!(said.contains(option[0]), "{option:?}: {said}");
    }
    let of_scenarios = [
        ("--seed", "3", "random"),
        ("--fidelity", "tile", "by phases"),
        ("--max-events", "5", "--inferences"),
        ("--trace-time", "1 s", "--trace-inferences"),
    ];
    for (option, value, instead) in of_scenarios {
        let said = refused(&["run", "kws_ds_cnn", "--on", "stm32u585", option, value]);
        assert!(said.contains(instead) && said.contains(option), "{said}");
    }
    assert!(refused(&["run", "keyword_node", "--trace-time", "0 s"]).contains("above zero"));
}

/// Each inference costs what it costs by itself and a waking, and the rest of the time is rest.
#[test]
fn a_duty_cycle_costs_what_its_parts_cost() {
    let place = place();
    let file = keyword(place.path(), "60 s");
    let d = json(&["run", &file, "--json"]);
    let point = "160mhz_3v0_smps";
    let alone = json(&["estimate", "kws_ds_cnn", "--on", "stm32u585", "--opp", point, "--json"]);
    let (energy, latency) =
        (number(&alone, "/totals/energy_j"), number(&alone, "/totals/latency_s"));
    let rests = Scenario::load(&file).unwrap().resting();
    let resting: f64 = rests.iter().map(|own| own.rest.0).sum();
    let waking: f64 = rests.iter().map(|own| own.cost.0).sum();
    let wake_time = rests.iter().map(|own| own.wake_time.0).fold(0.0, f64::max);
    let count = number(&d, "/metrics/inferences");
    assert_eq!(count, 60.0);
    let rest = resting * (60.0 - count * (latency + wake_time));
    let expected = count * (energy + waking) + rest;
    let simulated = number(&d, "/metrics/energy_j");
    assert!((simulated / expected - 1.0).abs() < 1e-3, "{simulated} {expected}");
    // The idle part by itself, which is a hundredth of it.
    let idle = number(&d, "/joules/idle_j");
    assert!((idle / rest - 1.0).abs() < 1e-3, "{idle} {rest}");
}

#[test]
fn all_fidelities_give_the_same_load_energy() {
    let place = place();
    let file = keyword(place.path(), "10 s");
    let of = |how: &str| {
        let d = json(&["run", &file, "--fidelity", how, "--json"]);
        assert_eq!(d["fidelity"], how);
        (number(&d, "/metrics/load_energy_j"), number(&d, "/metrics/events"))
    };
    let [layer, phase, tile] = ["layer", "phase", "tile"].map(of);
    assert!((layer.0 / phase.0 - 1.0).abs() < 1e-9, "{layer:?} {phase:?}");
    assert!((tile.0 / phase.0 - 1.0).abs() < 1e-9, "{tile:?} {phase:?}");
    assert!(layer.1 <= phase.1 && phase.1 <= tile.1);
}

#[test]
fn a_trace_holds_as_much_as_was_asked_for_with_lanes_of_states() {
    let place = place();
    let file = keyword(place.path(), "20 s");
    let out = place.path().join("out");
    let out = out.to_str().unwrap();
    let d = json(&["run", &file, "--trace-time", "3.5 s", "--json", "--out", out]);
    assert_eq!(number(&d, "/metrics/duration_s"), 20.0);
    let caveats = d["caveats"].as_array().unwrap();
    let said = |caveat: &Value| caveat.as_str().unwrap().contains("the first 3.500 s of 20.00 s");
    assert!(caveats.iter().any(said), "{caveats:?}");
    let stats = json(&["stats", out, "--json"]);
    assert!((number(&stats, "/duration_s") - 3.5).abs() < 1e-9, "{stats}");
    let spans = std::fs::read_to_string(Path::new(out).join("spans.csv")).unwrap();
    let states = |line: &&str| line.contains("stop2") && line.contains("core");
    assert_eq!(spans.lines().filter(states).count(), 5, "{spans}");
    for name in ["power.png", "first_inference.svg", "trace.perfetto-trace", "report.txt"] {
        assert!(Path::new(out).join(name).is_file(), "{name}");
    }
}

#[test]
fn shared_engines_cascades_and_batteries_are_in_the_figures() {
    let place = place();
    let file =
        variant(place.path(), "wake_camera", &[("duration: \"1 day\"", "duration: \"30 s\"")]);
    let d = json(&["run", &file, "--json"]);
    let names: Vec<_> = d["workloads"].as_array().unwrap().iter().map(|w| &w["name"]).collect();
    assert_eq!(names, ["door.motion", "door.person", "door.classify"]);
    // What a detector does is no inference.
    let of = |at: usize| number(&d, &format!("/workloads/{at}/inferences"));
    assert_eq!(number(&d, "/metrics/inferences"), of(1) + of(2));
    let cascade = &d["cascades"][0];
    // The one at the very end is beyond it.
    assert_eq!(number(cascade, "/looks"), 299.0);
    let stages = cascade["stages"].as_array().unwrap();
    assert_eq!(stages[0]["passed"], stages[1]["asked"]);
    assert!(number(cascade, "/expected_wakes_per_h") > 1800.0);
    let pipeline = d["blocks"].as_array().unwrap().iter();
    let pipeline = pipeline.clone().find(|block| block["name"] == "camera_pipeline").unwrap();
    assert!((number(pipeline, "/residency/preview") - 0.02).abs() < 1e-3, "{pipeline}");
    let lasts = number(&d, "/supplies/0/lasts_h");
    let charge = number(&d, "/supplies/0/charge_c");
    let battery = d["rails"].as_array().unwrap().iter().find(|r| r["name"] == "vbat").unwrap();
    let mean = number(battery, "/mean_a");
    assert!((lasts * 3600.0 * mean / charge - 1.0).abs() < 1e-9);
}

#[test]
fn a_scenario_is_checked_before_it_runs() {
    let d = json(&["scenario", "check", "shared_npu", "--json"]);
    assert_eq!(d["schema"], "joulecast.scenario_check/1");
    assert_eq!(d["workloads"].as_array().unwrap().len(), 2);
    assert!(d["engines"].as_array().unwrap().iter().all(|e| number(e, "/share") < 1.0));
    assert_eq!(d["warnings"], Value::Array(Vec::new()));
    let d = json(&["scenario", "list", "--json"]);
    assert_eq!(d["scenarios"].as_array().unwrap().len(), shipped_scenarios().len());
    assert!(refused(&["scenario", "check", "shared_np"]).contains("`shared_npu`"));
}

#[test]
fn tables_of_scenarios_stay_readable() {
    let place = place();
    let shared =
        variant(place.path(), "shared_npu", &[("duration: \"1 min\"", "duration: \"2 s\"")]);
    for (name, of) in [("keyword_node", "keyword_node"), ("shared_npu_2s", shared.as_str())] {
        let output = joulecast(&["run", of]);
        let text = String::from_utf8(output.stdout).unwrap();
        let widest = text.lines().filter(|line| !line.starts_with('!')).map(|l| l.chars().count());
        assert!(widest.max().unwrap() <= 130, "{text}");
        insta::assert_snapshot!(format!("scenario_run_{name}"), text);
    }
    let output = joulecast(&["scenario", "check", "wake_camera"]);
    insta::assert_snapshot!(
        "scenario_check_wake_camera",
        String::from_utf8(output.stdout).unwrap()
    );
}
