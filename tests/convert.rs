//! Captures and runs as CSV, Parquet and Perfetto, and back.

use crate::convert_traces::same;
use crate::shared;
use crate::trace_formats::Decoded;
use joulecast::capture::{Measured, Rails, WindowOptions};
use joulecast::formats::{Options, csv, open};
use joulecast::report::{Converted, Source, Target, Told, convert};
use joulecast::trace::{Recorder, SpanKind};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Field, Row};
use serde_json::Value;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

pub(crate) fn joulecast(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_joulecast")).args(arguments).output().unwrap()
}

pub(crate) fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

pub(crate) fn converted(capture: &Path, out: &Path) -> Converted {
    let source = if capture.join(csv::POWER_FILE).is_file() {
        Source::Run(Box::new(csv::read_folder(capture).unwrap()))
    } else {
        Source::Capture { opened: open(capture).unwrap(), options: Options::default() }
    };
    convert(&source, capture, &Told::default(), None, out).unwrap()
}

/// What `stats` says.
pub(crate) fn stats(path: &Path) -> Value {
    let output = joulecast(&["stats", text(path), "--json"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

pub(crate) fn near(a: f64, b: f64) {
    assert!((a / b - 1.0).abs() < 1e-9, "{a} {b}");
}

/// The rows of a Parquet file.
fn rows(path: &Path) -> Vec<Row> {
    let reader = SerializedFileReader::new(File::open(path).unwrap()).unwrap();
    reader.get_row_iter(None).unwrap().map(Result::unwrap).collect()
}

fn field<'a>(row: &'a Row, name: &str) -> &'a Field {
    row.get_column_iter().find(|(column, _)| *column == name).unwrap().1
}

fn whole(row: &Row, name: &str) -> i64 {
    match field(row, name) {
        Field::Long(value) => *value,
        other => panic!("{name}: {other}"),
    }
}

/// Nothing where it is null.
fn double(row: &Row, name: &str) -> Option<f64> {
    match field(row, name) {
        Field::Double(value) => Some(*value),
        Field::Null => None,
        other => panic!("{name}: {other}"),
    }
}

/// The integral of a column over the time that it is known.
fn integral(rows: &[Row], name: &str) -> f64 {
    let pairs = rows.windows(2).filter_map(|pair| {
        let seconds = (whole(&pair[1], "time_ps") - whole(&pair[0], "time_ps")) as f64 * 1e-12;
        Some(double(&pair[0], name)? * seconds)
    });
    pairs.sum()
}

fn metadata(path: &Path, key: &str) -> Option<String> {
    let reader = SerializedFileReader::new(File::open(path).unwrap()).unwrap();
    let pairs = reader.metadata().file_metadata().key_value_metadata().unwrap().clone();
    pairs.into_iter().find(|pair| pair.key == key).and_then(|pair| pair.value)
}

/// A log of a current at 3.3 V where it is said, and of a temperature, with a gap in both.
pub(crate) const LOG: &str = "time_s,hwmon0/curr1_input,hwmon0/temp1_input\n\
    0.0,100,40000\n0.1,110,40500\n0.2,,41000\n0.3,120,41500\n1.3,130,42000\n1.4,140,42500\n";

pub(crate) fn log(folder: &Path) -> PathBuf {
    let path = folder.join("log.csv");
    std::fs::write(&path, LOG).unwrap();
    path
}

/// A folder of EnergyRunner: two windows of 10 mW in 1 mW, with the host's log ahead of the meter.
pub(crate) fn runner(folder: &Path) -> PathBuf {
    let path = folder.join("runner");
    std::fs::create_dir(&path).unwrap();
    let mut bytes = vec![0xf1];
    bytes.extend(1000f32.to_le_bytes());
    let edges = [0.5, 3.0, 10.0, 13.0, 20.0];
    for sample in 0..25_000u16 {
        let at = f64::from(sample) * 1e-3;
        let inside = edges[1..].chunks(2).any(|pair| pair[0] <= at && at < pair[1]);
        // No two pairs of samples alike, each of the same mean.
        let pair = f32::from((sample / 2).wrapping_mul(40_503)) / 131_072.0;
        let ripple = if sample % 2 == 0 { -pair } else { pair };
        let microjoule: f32 = ripple + if inside { 10.0 } else { 1.0 };
        bytes.extend(microjoule.to_le_bytes());
    }
    std::fs::write(path.join("trace1-energy.bin"), bytes).unwrap();
    std::fs::write(path.join("trace1-timestamps.json"), format!("{edges:?}")).unwrap();
    let mut log = String::from(
        "00095.000 emon: m-ready\n00100.500 emon: [dut]: m-dut-passthrough(timestamp)\n",
    );
    for (start, done) in [(3.0, 10.0), (13.0, 20.0)] {
        log += &format!("{:09.3} emon: [dut]: m-infer-start-10\n", 100.0 + start);
        log += &format!("{:09.3} emon: [dut]: m-infer-done\n", 100.02 + done);
    }
    std::fs::write(path.join("log.txt"), log).unwrap();
    path
}

#[test]
fn windows_marks_and_edges_of_a_runner_come_through_in_every_kind() {
    let folder = tempfile::tempdir().unwrap();
    let capture = runner(folder.path());
    let expected = stats(&capture);
    let energy = expected["energy_j"].as_f64().unwrap();
    near(energy, 14.0 * 0.010 + 11.0 * 0.001);

    let tables = folder.path().join("tables.csv");
    let c = converted(&capture, &tables);
    assert_eq!((c.target, c.spans, c.marks, c.edges), (Target::Csv, 2, 6, 5));
    let trace = csv::read_folder(&tables).unwrap();
    near(trace.power[0].integral(trace.end), energy);
    near(stats(&tables)["energy_j"].as_f64().unwrap(), energy);
    let bounds = |document: &Value| {
        let of =
            |window: &Value| ["start_s", "stop_s", "energy_j"].map(|name| window[name].clone());
        document["windows"].as_array().unwrap().iter().map(of).collect::<Vec<_>>()
    };
    assert_eq!(bounds(&stats(&tables)).len(), 2);
    for (again, once) in bounds(&stats(&tables)).iter().zip(bounds(&expected)) {
        // The runner counts whole samples, and so the window lies where it counts.
        near(again[2].as_f64().unwrap(), once[2].as_f64().unwrap());
        assert!((again[0].as_f64().unwrap() - once[0].as_f64().unwrap()).abs() < 0.0011);
    }
    let marks = std::fs::read_to_string(tables.join("marks.csv")).unwrap();
    assert!(marks.contains("host,emon,m-ready,95.000000000000,-5."), "{marks}");

    let power = folder.path().join("x.parquet");
    let c = converted(&capture, &power);
    assert_eq!((c.target, c.files.len()), (Target::Parquet, 4));
    let of_power = rows(&power);
    near(integral(&of_power, "dut_w"), energy);
    near(integral(&of_power, "total_w"), energy);
    assert_eq!(whole(of_power.last().unwrap(), "time_ps"), 25_000_000_000_000);
    assert_eq!(double(&of_power[0], "dut_v"), None);
    assert_eq!(metadata(&power, "joulecast.schema").as_deref(), Some("joulecast.trace/1"));
    assert_eq!(metadata(&power, "joulecast.format").as_deref(), Some("energyrunner"));
    assert_eq!(metadata(&power, "joulecast.inferences_per_window").as_deref(), Some("10"));
    let spans = rows(&folder.path().join("x.spans.parquet"));
    let bounds: Vec<_> = spans.iter().map(|s| (whole(s, "start_ps"), whole(s, "end_ps"))).collect();
    let s = 1_000_000_000_000;
    for (found, whole) in bounds.iter().zip([(3 * s, 10 * s), (13 * s, 20 * s)]) {
        let sample = s as u64 / 1000;
        assert!(found.0.abs_diff(whole.0) <= sample && found.1.abs_diff(whole.1) <= sample);
    }
    let marks = rows(&folder.path().join("x.marks.parquet"));
    let start = marks.iter().find(|m| field(m, "name").to_string().contains("start")).unwrap();
    assert_eq!(whole(start, "at_ps"), 103 * s);
    assert!(whole(start, "meter_ps").abs_diff(3 * s) < 20_000_000, "{start}");
    assert_eq!(rows(&folder.path().join("x.edges.parquet")).len(), 5);

    let timeline = folder.path().join("x.perfetto-trace");
    let c = converted(&capture, &timeline);
    assert!(c.remarks[0].contains("1 marks from before the trace"), "{:?}", c.remarks);
    let decoded = Decoded::from_bytes(&std::fs::read(&timeline).unwrap());
    near(decoded.integral(decoded.track("dut")), energy);
    assert!(decoded.tracks.values().all(|track| track.name != "dut voltage"), "it has none");
    let windows = &decoded.slices[&decoded.track("windows")];
    let sample = 1_000_000;
    assert_eq!(windows.len(), 2);
    assert!(windows[0].start.abs_diff(3_000_000_000) <= sample);
    assert!(windows[0].end.abs_diff(10_000_000_000) <= sample);
    let said = &decoded.instants[&decoded.track("dut (host)")];
    assert_eq!(said.len(), 5);
    assert!(said[1].0.abs_diff(3_000_000_000) < 20_000, "{said:?}");
    let falls = &decoded.instants[&decoded.track("timestamp")];
    assert_eq!(falls.iter().map(|fall| fall.1.as_str()).collect::<Vec<_>>(), ["fall"; 5]);
}

#[test]
fn a_current_alone_and_a_temperature_are_carried_and_the_lack_of_power_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let capture = log(folder.path());
    let tables = folder.path().join("tables");
    let output = joulecast(&["convert", text(&capture), "--to", "csv", "--out", text(&tables)]);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.contains("no supply line has a power") && said.contains("--voltage"), "{said}");
    let power = std::fs::read_to_string(tables.join("power.csv")).unwrap();
    assert!(power.contains("\n0.200000000000,,,,41\n"), "{power}");
    assert!(power.contains("\n0.300000000000,,,0.12,41.5\n"), "{power}");

    let timeline = folder.path().join("x.perfetto-trace");
    converted(&capture, &timeline);
    let decoded = Decoded::from_bytes(&std::fs::read(&timeline).unwrap());
    assert!(decoded.tracks.values().all(|track| track.name != "total"), "no power is no zero");
    let heat = decoded.in_group("hwmon0/temp1_input", "counters");
    assert_eq!(decoded.tracks[&heat].unit.as_deref(), Some("degC"));
    assert_eq!(decoded.values[&heat][..2], [(0, 40.0), (100_000_000, 40.5)]);
    let starts = |of: &str| {
        let lane = &decoded.slices[&decoded.in_group(of, "gaps")];
        lane.iter().map(|gap| (gap.start, gap.end)).collect::<Vec<_>>()
    };
    let hole = (400_000_000, 1_300_000_000);
    assert_eq!(starts("hwmon0/temp1_input"), [hole]);
    assert_eq!(starts("hwmon0/1 current"), [(200_000_000, 300_000_000), hole]);
}

#[test]
fn a_stated_voltage_makes_power_with_gaps_in_every_kind() {
    let folder = tempfile::tempdir().unwrap();
    let capture = log(folder.path());
    let to = |out: &Path| {
        let arguments =
            ["convert", text(&capture), "--voltage", "3.3 V", "--out", text(out), "--json"];
        let output = joulecast(&arguments);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice::<Value>(&output.stdout).unwrap()
    };
    let expected = joulecast(&["stats", text(&capture), "--voltage", "3.3 V", "--json"]);
    let expected: Value = serde_json::from_slice(&expected.stdout).unwrap();
    let energy = expected["energy_j"].as_f64().unwrap();
    let [tables, power, timeline] =
        ["x.csv", "x.parquet", "x.pftrace"].map(|name| folder.path().join(name));
    assert_eq!(to(&tables)["kind"], "csv");
    let again = stats(&tables);
    near(again["energy_j"].as_f64().unwrap(), energy);
    near(again["unknown_s"].as_f64().unwrap(), expected["unknown_s"].as_f64().unwrap());
    assert_eq!(again["gaps"], expected["gaps"]);
    assert_eq!(to(&power)["files"].as_array().unwrap().len(), 4);
    near(integral(&rows(&power), "hwmon0/1_w"), energy);
    assert_eq!(rows(&folder.path().join("x.marks.parquet")).len(), 0);
    assert_eq!(to(&timeline)["kind"], "perfetto");
    let decoded = Decoded::from_bytes(&std::fs::read(&timeline).unwrap());
    assert_eq!(decoded.parent_of(decoded.track("hwmon0/1 voltage")), "rails");
}

#[test]
fn a_run_keeps_its_energy_in_parquet_and_comes_back_from_csv() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    let ran = joulecast(&["run", "kws_ds_cnn", "--on", "stm32l4r5", "--out", text(&run)]);
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let energy = stats(&run)["energy_j"].as_f64().unwrap();
    let power = folder.path().join("run.parquet");
    let c = converted(&run, &power);
    near(integral(&rows(&power), "total_w"), energy);
    assert_eq!(rows(&folder.path().join("run.spans.parquet")).len(), c.spans);
    let tables = folder.path().join("again");
    let arguments = ["convert", text(&run), "--to", "csv", "--out", text(&tables)];
    assert!(joulecast(&arguments).status.success());
    for name in ["power.csv", "spans.csv"] {
        let read = |folder: &Path| std::fs::read(folder.join(name)).unwrap();
        assert!(read(&run) == read(&tables), "{name}");
    }
    let timeline = folder.path().join("run.perfetto-trace");
    converted(&run, &timeline);
    let read = |path: &Path| std::fs::read(path).unwrap();
    assert!(read(&run.join("trace.perfetto-trace")) == read(&timeline));
}

#[test]
fn perfetto_brings_gaps_and_lines_back() {
    let folder = tempfile::tempdir().unwrap();
    let capture = folder.path().join("ppk2.csv");
    let mut text = String::from("Timestamp(ms),Current(uA),D0,D1,D2,D3,D4,D5,D6,D7\n");
    for sample in (0..3000).filter(|sample| !(1200..1450).contains(sample)) {
        let level = u8::from(!matches!(sample, 500 | 2500));
        text += &format!("{sample}.0,{}.000,{level},0,0,0,0,0,0,0\n", 100 + sample % 7);
    }
    std::fs::write(&capture, text).unwrap();
    let measured = |path: &Path| {
        let path = path.to_str().unwrap();
        let output = joulecast(&["stats", path, "--voltage", "2 V", "--line", "D0", "--json"]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice::<Value>(&output.stdout).unwrap()
    };
    let before = measured(&capture);
    assert_eq!((&before["gaps"], before["unknown_s"].as_f64()), (&1.into(), Some(0.25)));
    assert_eq!(before["windows"][0]["unknown_s"], 0.25);
    let timeline = folder.path().join("x.perfetto-trace");
    let [from, to] = [&capture, &timeline].map(|path| path.to_str().unwrap());
    let output = joulecast(&["convert", from, "--voltage", "2 V", "--line", "D0", "--out", to]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let after = measured(&timeline);
    near(after["energy_j"].as_f64().unwrap(), before["energy_j"].as_f64().unwrap());
    for what in ["gaps", "unknown_s", "duration_s", "gap_list"] {
        assert_eq!(after[what], before[what], "{what}");
    }
    assert_eq!(after["windows"][0]["start_s"], before["windows"][0]["start_s"]);
    let (a, b) = (&after["windows"][0]["energy_j"], &before["windows"][0]["energy_j"]);
    near(a.as_f64().unwrap(), b.as_f64().unwrap());
}

#[test]
fn captures_of_boards_keep_their_energy_and_their_trace() {
    let test = "captures_of_boards_keep_their_energy_and_their_trace";
    let Some(shared) = shared::folder(test) else { return };
    for name in [
        "mlperf-l4r5-tflm-v0.5/ic",
        "mlperf-l4r5zip-xcubeai10-v1.3/ic",
        "mlperf-inf-orin-trt/resnet50-singlestream",
        "mlperf-inf-rpi4/resnet50",
    ] {
        let capture = shared.join("captures").join(name);
        let place = tempfile::tempdir().unwrap();
        let opened = open(&capture).unwrap();
        let (options, windows) = (Options::default(), WindowOptions::default());
        let measured = Measured::read(&opened, &options, &windows, None, &[]).unwrap();
        let energy = measured.summary.energy.0;
        let mut recorder = Recorder::default();
        opened.read(&options, &mut Rails::full(&mut recorder, None)).unwrap();
        let mut expected = recorder.into_trace();

        let tables = place.path().join("x.csv");
        converted(&capture, &tables);
        let back = csv::read_folder(&tables).unwrap();
        // Windows found by edges are added; those that the files state are there already.
        let of_windows = back.spans.iter().filter(|span| span.kind == SpanKind::Window);
        assert_eq!(of_windows.count(), measured.windows.windows.len(), "{name}");
        expected.spans.clone_from(&back.spans);
        same(&back, &expected);
        near(stats(&tables)["energy_j"].as_f64().unwrap(), energy);

        let power = place.path().join("x.parquet");
        converted(&capture, &power);
        near(integral(&rows(&power), "total_w"), energy);

        let timeline = place.path().join("x.perfetto-trace");
        let c = converted(&capture, &timeline);
        let decoded = Decoded::from_bytes(&std::fs::read(&timeline).unwrap());
        let component = &measured.summary.header.components[0].name;
        let again = stats(&timeline);
        near(again["energy_j"].as_f64().unwrap(), energy);
        assert_eq!(again["gaps"], measured.summary.gap_count, "{name}");
        // Counters hold over a gap, so that their integral is only that of a trace without.
        if measured.summary.gap_count == 0 {
            near(decoded.integral(decoded.track(component)), energy);
        }
        let instants: usize = decoded.instants.values().map(Vec::len).sum();
        let left_out = c.remarks.iter().filter(|remark| remark.contains(" marks "));
        let left_out: usize = left_out
            .map(|remark| remark.split(' ').next().unwrap().parse::<usize>().unwrap())
            .sum();
        assert_eq!(instants, c.marks + c.edges - left_out, "{name}");
    }
}

#[test]
fn files_of_instruments_convert_as_they_are_measured() {
    let test = "files_of_instruments_convert_as_they_are_measured";
    let Some(shared) = shared::folder(test) else { return };
    let place = tempfile::tempdir().unwrap();
    let mut read = 0;
    for entry in std::fs::read_dir(shared.join("captures/converted-fixtures")).unwrap() {
        let capture = entry.unwrap().path();
        // Tables of numbers need options, and the note beside them is no capture.
        let Ok(opened) = open(&capture) else { continue };
        let options = Options::default();
        let Ok(measured) = Measured::read(&opened, &options, &WindowOptions::default(), None, &[])
        else {
            continue;
        };
        read += 1;
        let name = capture.file_name().unwrap().to_string_lossy().into_owned();
        let power = place.path().join(format!("{name}.parquet"));
        converted(&capture, &power);
        if measured.summary.energy.0 != 0.0 {
            near(integral(&rows(&power), "total_w"), measured.summary.energy.0);
        }
        let timeline = place.path().join(format!("{name}.pftrace"));
        converted(&capture, &timeline);
        Decoded::from_bytes(&std::fs::read(&timeline).unwrap());
        if !measured.summary.header.components.is_empty() {
            let again = stats(&timeline);
            near(again["energy_j"].as_f64().unwrap(), measured.summary.energy.0);
            assert_eq!(again["unknown_s"], measured.summary.unknown.0, "{name}");
        }
        let tables = place.path().join(format!("{name}.csv"));
        converted(&capture, &tables);
        let again = Measured::of_trace(
            &csv::read_folder(&tables).unwrap(),
            &WindowOptions::default(),
            None,
            &[],
        );
        let (a, b) = (again.summary.energy.0, measured.summary.energy.0);
        assert!((a - b).abs() <= 1e-9 * b.abs(), "{name}: {a} {b}");
    }
    println!("{read} files");
}
