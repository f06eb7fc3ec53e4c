//! Captures of real boards, read and measured as their publishers did.

use crate::shared;
use joulecast::capture::{Measured, WindowOptions};
use joulecast::formats::{Options, open};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn joulecast(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_joulecast")).args(arguments).output().unwrap()
}

fn measured(path: &Path) -> Measured {
    let opened = open(path).unwrap();
    Measured::read(&opened, &Options::default(), &WindowOptions::default(), None, &[]).unwrap()
}

/// Folders of one benchmark's energy run.
fn tiny_folders(shared: &Path) -> Vec<PathBuf> {
    let list = |folder: &Path| {
        let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        entries.filter(|path| path.is_dir()).collect::<Vec<_>>()
    };
    let is_tiny = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        name.starts_with("mlperf-") && name.contains("-v") && !name.starts_with("mlperf-inf")
    };
    let boards = list(&shared.join("captures")).into_iter().filter(is_tiny);
    let mut folders: Vec<_> = boards.flat_map(|board| list(&board)).collect();
    folders.sort();
    folders
}

#[test]
fn every_tiny_capture_gives_the_published_energy_of_an_inference() {
    let Some(shared) = shared::folder("every_tiny_capture_gives_the_published_energy") else {
        return;
    };
    let folders = tiny_folders(&shared);
    assert!(folders.len() >= 28, "{} folders", folders.len());
    for folder in folders {
        let m = measured(&folder);
        let (energy, published) = (m.energy_per_inference.unwrap(), m.published().unwrap());
        let apart = energy / published - 1.0;
        // Published figures have three decimals of a microjoule.
        assert!(apart.abs() < 1e-4, "{}: {apart:e}", folder.display());
        let trimmed = folder.ends_with("mlperf-l4r5-tflm-v0.5/vww");
        assert_eq!(m.measured.len(), if trimmed { 2 } else { 5 }, "{}", folder.display());
        assert!(m.windows.remarks.is_empty(), "{:?}", m.windows.remarks);
    }
}

#[test]
fn a_host_clock_drifts_and_its_stop_lines_come_late() {
    let Some(shared) = shared::folder("a_host_clock_drifts_and_its_stop_lines_come_late") else {
        return;
    };
    for (folder, drift, lag) in [
        ("mlperf-l4r5-tflm-v0.5/kws", 60e-6..200e-6, 0.010..0.035),
        ("mlperf-l4r5-xcubeai9-v1.2/ic", 60e-6..200e-6, 0.010..0.035),
    ] {
        let m = measured(&shared.join("captures").join(folder));
        let fit = m.windows.matched.unwrap().fit;
        assert!(drift.contains(&-fit.drift) || drift.contains(&fit.drift), "{folder}: {fit:?}");
        assert!(lag.contains(&fit.stop_lag.0), "{folder}: {fit:?}");
        assert_eq!(fit.edges, 11, "{folder}");
        assert!(fit.worst.0 < 0.012, "{folder}: {fit:?}");
    }
}

#[test]
fn a_missing_time_stamp_is_named_and_its_window_left_out() {
    let Some(shared) = shared::folder("a_missing_time_stamp_is_named") else { return };
    let from = shared.join("captures/mlperf-l4r5-xcubeai73-1v8-v1.0/ic");
    let copy = tempfile::tempdir().unwrap();
    for name in ["trace1-energy.bin", "log.txt", "results.txt"] {
        std::fs::copy(from.join(name), copy.path().join(name)).unwrap();
    }
    let stamps = std::fs::read_to_string(from.join("trace1-timestamps.json")).unwrap();
    let stamps: Vec<f64> = serde_json::from_str(&stamps).unwrap();
    let whole = measured(&from).energy_per_inference.unwrap();
    for missing in 0..stamps.len() {
        let mut left = stamps.clone();
        left.remove(missing);
        let text = serde_json::to_string(&left).unwrap();
        std::fs::write(copy.path().join("trace1-timestamps.json"), text).unwrap();
        let m = measured(copy.path());
        let apart = m.energy_per_inference.unwrap() / whole - 1.0;
        assert!(apart.abs() < 1e-3, "stamp {missing}: {apart:e}");
        if missing == 0 {
            // The test pulse bounds no window.
            assert_eq!(m.measured.len(), 5);
        } else {
            assert_eq!(m.measured.len(), 4, "stamp {missing}");
            let window = format!("window {} has a ", missing.div_ceil(2));
            assert!(m.windows.remarks[0].starts_with(&window), "{:?}", m.windows.remarks);
        }
    }
}

#[test]
fn stats_prints_what_scripts_ask_for() {
    let Some(shared) = shared::folder("stats_prints_what_scripts_ask_for") else { return };
    let folder = shared.join("captures/mlperf-l4r5-tflm-v0.5/ic");
    let output = joulecast(&["stats", folder.to_str().unwrap(), "--json"]);
    assert!(output.status.success());
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let number = |name: &str| document[name].as_f64().unwrap_or_else(|| panic!("{name}"));
    assert!((number("energy_per_inference_j") / number("published_j") - 1.0).abs() < 1e-3);
    assert_eq!(number("inferences_per_window"), 10.0);
    assert_eq!(number("gaps"), 0.0);
    assert!((number("mean_w") * number("duration_s") / number("energy_j") - 1.0).abs() < 1e-12);
    assert!(number("peak_w") > number("mean_w"));
    for window in document["windows"].as_array().unwrap() {
        let of = |name: &str| window[name].as_f64().unwrap();
        assert!((of("stop_s") - of("start_s") - 7.04).abs() < 0.01);
        assert!((of("energy_j") / 0.292 - 1.0).abs() < 0.001);
    }
}

#[test]
fn a_run_is_measured_by_the_same_verb() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    let out = out.to_str().unwrap();
    let ran = joulecast(&[
        "run",
        "kws_ds_cnn",
        "--on",
        "stm32l4r5",
        "--inferences",
        "3",
        "--out",
        out,
        "--json",
    ]);
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let ran: Value = serde_json::from_slice(&ran.stdout).unwrap();
    let stats = joulecast(&["stats", out, "--json"]);
    let stats: Value = serde_json::from_slice(&stats.stdout).unwrap();
    let energy = stats["energy_j"].as_f64().unwrap();
    assert!((energy / ran["metrics"]["energy_j"].as_f64().unwrap() - 1.0).abs() < 1e-9);
    assert_eq!(stats["windows"].as_array().unwrap().len(), 3);
    let each = stats["energy_per_inference_j"].as_f64().unwrap();
    assert!((3.0 * each / energy - 1.0).abs() < 1e-9);
}

#[test]
fn what_is_no_capture_is_one_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.bin");
    std::fs::write(&path, [0u8; 100]).unwrap();
    for (arguments, said) in [
        (vec!["stats", path.to_str().unwrap()], "no instrument's format looks like this"),
        (vec!["stats", folder.path().to_str().unwrap()], "no instrument's format"),
        (vec!["stats", "nowhere.bin"], "cannot be read"),
        (vec!["stats", "x", "--format", "energyruner"], "did you mean `energyrunner"),
        (vec!["stats", "x", "--voltage", "3 A"], "--voltage"),
    ] {
        let output = joulecast(&arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(error.starts_with("error: ") && error.contains(said), "{error}");
    }
}

/// A layer of the reference table: its operators, energy \[uJ\] and mean power \[mW\].
struct Derived {
    operators: Vec<usize>,
    energy: f64,
    mean: f64,
}

fn derived(shared: &Path, benchmark: &str) -> Vec<Derived> {
    let table = shared.join("measured/l4r5_tflm_layers_derived.csv");
    let mut rows = csv::Reader::from_path(table).unwrap();
    let head = rows.headers().unwrap().clone();
    let at = |name: &str| head.iter().position(|column| column == name).unwrap();
    let columns = ["benchmark", "op_index", "energy_uj", "mean_mw"].map(at);
    rows.records()
        .map(|row| row.unwrap())
        .filter(|row| &row[columns[0]] == benchmark)
        .map(|row| Derived {
            operators: row[columns[1]].split('+').map(|op| op.parse().unwrap()).collect(),
            energy: row[columns[2]].parse().unwrap(),
            mean: row[columns[3]].parse().unwrap(),
        })
        .collect()
}

fn fold(folder: &Path, model: &str) -> Value {
    let folder = folder.to_str().unwrap();
    let output =
        joulecast(&["capture", "fold", folder, "--model", model, "--on", "stm32l4r5", "--json"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn layer_steps_come_out_of_folded_windows() {
    let Some(shared) = shared::folder("layer_steps_come_out_of_folded_windows") else { return };
    let tflm = shared.join("captures/mlperf-l4r5-tflm-v0.5");
    for (benchmark, model, period) in
        [("ic", "ic_resnet8", 0.703904), ("kws", "kws_ds_cnn", 0.180523)]
    {
        let document = fold(&tflm.join(benchmark), model);
        let found = document["period_s"].as_f64().unwrap();
        assert!((found / period - 1.0).abs() < 1e-4, "{benchmark}: {found}");
        let layers = document["layers"].as_array().unwrap();
        let rows = derived(&shared, benchmark);
        for row in &rows {
            let of = layers.iter().filter(|layer| {
                let own = layer["layers"].as_array().unwrap();
                own.iter().any(|l| row.operators.contains(&(l.as_u64().unwrap() as usize)))
            });
            let energy: f64 = of.map(|layer| layer["energy_j"].as_f64().unwrap() * 1e6).sum();
            // The table gives each of its edges to one millisecond.
            let edges = 2.0 * row.mean;
            let allowed = 0.03 * row.energy + edges;
            assert!(
                (energy - row.energy).abs() < allowed,
                "{benchmark} {:?}: {energy:.1} uJ, table {} uJ",
                row.operators,
                row.energy
            );
            if row.energy > 1500.0 {
                assert!(
                    (energy / row.energy - 1.0).abs() < 0.03,
                    "{benchmark} {:?}",
                    row.operators
                );
            }
        }
    }
}

#[test]
fn kernels_that_do_the_same_take_the_same_time() {
    let Some(shared) = shared::folder("kernels_that_do_the_same_take_the_same_time") else {
        return;
    };
    let folder = shared.join("captures/mlperf-l4r5-tflm-v0.5/kws");
    let document = fold(&folder, "kws_ds_cnn");
    let layers = document["layers"].as_array().unwrap();
    let duration = |layer: usize| layers[layer]["duration_s"].as_f64().unwrap();
    // Four depthwise layers of one shape, three pointwise ones of one shape.
    for same in [vec![1, 3, 5, 7], vec![2, 4, 6]] {
        let durations: Vec<f64> = same.into_iter().map(duration).collect();
        let most = durations.iter().copied().fold(0.0, f64::max);
        let least = durations.iter().copied().fold(f64::INFINITY, f64::min);
        assert!(most - least < 0.5e-3, "{durations:?}");
    }
}

fn stats(arguments: &[&str]) -> Value {
    let output = joulecast(&[&["stats", "--json"], arguments].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Start and stop of each window [s].
fn windows(stats: &Value) -> Vec<(f64, f64)> {
    let windows = stats["windows"].as_array().unwrap().iter();
    windows.map(|w| (w["start_s"].as_f64().unwrap(), w["stop_s"].as_f64().unwrap())).collect()
}

#[test]
fn a_log_in_other_words_tells_the_windows() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("host.log");
    let text = std::fs::read_to_string(docs.join("example_capture.log")).unwrap();
    let stamped = |line: &str| {
        let (stamp, said) = line.split_once(' ').unwrap();
        let (second, word) =
            (stamp.parse::<f64>().unwrap(), said.replace("io: [dut]: m-infer-", ""));
        let (minute, second) = ((second / 60.0).floor(), second % 60.0);
        format!("2026-01-02 10:{minute:02}:{second:06.3} INFO {}\n", word.replace("done", "stop"))
    };
    std::fs::write(&log, text.lines().map(stamped).collect::<String>()).unwrap();
    let capture = docs.join("example_capture.csv");
    let example = docs.join("example_capture.log");
    let paths = [&capture, &log, &example].map(|path| path.to_str().unwrap());
    let common = [paths[0], "--voltage", "1.8 V", "--log"];
    let own = stats(&[&common[..], &[paths[2]]].concat());
    let other = ["--start", "INFO start", "--stop", "INFO stop"];
    let told = stats(&[&common[..], &[paths[1]], &other[..]].concat());
    assert_eq!(windows(&told).len(), 3);
    assert_eq!(windows(&told), windows(&own));
    assert_eq!(told["inferences_per_window"], 20);
}

#[test]
fn a_line_that_ends_with_its_last_edge_has_its_last_window() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("logic.csv");
    std::fs::write(&path, "Time [s],Channel 0\n0.0,0\n1.0,1\n8.0,0\n").unwrap();
    let found = stats(&[path.to_str().unwrap()]);
    assert_eq!(windows(&found), [(1.0, 8.0)], "{found}");
}

#[test]
fn what_the_user_says_of_windows_holds_against_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let (table, tables) = (folder.path().join("t.csv"), folder.path().join("out.csv"));
    let mut text = String::from("Time (ms),Power (mW),trig\n");
    for ms in 0..4000 {
        let busy = (1000..2000).contains(&ms) || (2500..3500).contains(&ms);
        text += &format!("{ms},{},{}\n", if busy { 50 } else { 5 }, u8::from(ms / 500 == 2));
    }
    std::fs::write(&table, text).unwrap();
    let [table, tables] = [&table, &tables].map(|path| path.to_str().unwrap());
    let convert = ["convert", table, "--column", "trig=level", "--out", tables];
    assert!(joulecast(&convert).status.success());
    // The folder states the window of the line.
    assert_eq!(windows(&stats(&[tables])), [(1.0, 1.5)]);
    let by_power = stats(&[tables, "--edges", "power", "--inferences", "10"]);
    assert_eq!(windows(&by_power), [(1.0, 2.0), (2.5, 3.5)]);
    let each = by_power["energy_per_inference_j"].as_f64().unwrap();
    assert!((each / 5e-3 - 1.0).abs() < 1e-9, "{each}");
    assert_eq!(windows(&stats(&[table, "--edges", "power"])), windows(&by_power));
    assert_eq!(windows(&stats(&[tables, "--edges", "low", "--line", "trig"])), []);
    let again = format!("{tables}2.csv");
    let convert = ["convert", tables, "--edges", "power", "--out", &again];
    assert!(joulecast(&convert).status.success());
    assert_eq!(windows(&stats(&[&again])), windows(&by_power));
}

#[test]
fn a_line_that_changes_all_the_time_marks_no_windows_and_that_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("clock.csv");
    let mut text = String::from("Time [s],Channel 0\n");
    for change in 0..(1 << 20) + 10 {
        text += &format!("{change}e-6,{}\n", change % 2);
    }
    std::fs::write(&path, text).unwrap();
    let found = stats(&[path.to_str().unwrap()]);
    assert_eq!(windows(&found), []);
    let remarks = found["remarks"].to_string();
    assert!(remarks.contains("too often to mark windows"), "{remarks}");
}

#[test]
fn an_empty_file_is_called_empty() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("nothing.csv");
    std::fs::write(&path, "").unwrap();
    let output = joulecast(&["stats", path.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("the file is empty"));
}
