//! Readers of logs on real files: powers at the wall of MLPerf Inference, and tables of layers.

use crate::shared;
use joulecast::formats::{Input, Options, Shape, open, open_as};
use joulecast::trace::{ChannelKind, Readings, SpanKind};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const OURS: [&str; 9] = [
    "ptdaemon",
    "tegrastats",
    "nvidia-smi",
    "power-gadget",
    "ambiq-layers",
    "tflm-profile",
    "tensorrt",
    "st-edge-ai",
    "sysfs-log",
];

fn read(path: &Path, expected: &str) -> Readings {
    let opened = open(path).unwrap();
    assert_eq!(opened.format.name, expected, "{}", path.display());
    let mut readings = Readings::default();
    opened.read(&Options::default(), &mut readings).unwrap();
    readings
}

/// Folders of the captures, by the run of the published results that they are of.
fn published_runs(captures: &Path) -> BTreeMap<String, PathBuf> {
    let mut runs = BTreeMap::new();
    for entry in std::fs::read_dir(captures).unwrap() {
        let set = entry.unwrap().path();
        let name = set.file_name().unwrap().to_string_lossy().into_owned();
        if !name.starts_with("mlperf-inf-") {
            continue;
        }
        let source = std::fs::read_to_string(set.join("SOURCE.md")).unwrap();
        for line in source.lines().filter(|line| line.starts_with("- `") && line.contains(" <- ")) {
            let (folder, rest) = line[3..].split_once("/` <- ").unwrap();
            let (repository, rest) = rest.split_once(" @ ").unwrap();
            let (commit, rest) = rest.split_once(" `").unwrap();
            let path = rest.split_once('`').unwrap().0;
            runs.insert(format!("{repository}@{}:{path}spl.txt", &commit[..12]), set.join(folder));
        }
    }
    runs
}

/// Average powers as published, by the source of the row.
fn published_powers(table: &Path) -> BTreeMap<String, f64> {
    let mut rows = csv::Reader::from_path(table).unwrap();
    let head = rows.headers().unwrap().clone();
    let at = |name: &str| head.iter().position(|column| column == name).unwrap();
    let (source, power) = (at("source"), at("avg_w"));
    let row = |row: Result<csv::StringRecord, csv::Error>| {
        let row = row.unwrap();
        (row[source].to_owned(), row[power].parse().unwrap())
    };
    rows.records().map(row).collect()
}

struct Means {
    /// Of the lines with a stamp within the window, as the published results average.
    of_lines: f64,
    /// Over the time of the window.
    over_time: f64,
    /// Over the window moved later by the given seconds.
    later: f64,
}

fn means(readings: &Readings, lag: f64) -> Means {
    let watts = readings.layout.channels.iter().position(|c| c.name == "Watts").unwrap();
    let window = readings.spans.iter().find(|span| span.kind == SpanKind::Window).unwrap();
    let (from, to) = (window.start.seconds().0, window.end.seconds().0);
    let segments: Vec<(f64, f64, f64)> = readings.series[watts]
        .segments()
        .map(|(a, b, w)| (a.seconds().0, b.seconds().0, w))
        .collect();
    let within: Vec<f64> =
        segments.iter().filter(|(_, at, _)| (from..=to).contains(at)).map(|s| s.2).collect();
    let over = |from: f64, to: f64| {
        let part = |(a, b, w): &(f64, f64, f64)| {
            let time = (b.min(to) - a.max(from)).max(0.0);
            (time, time * w)
        };
        let (time, energy) =
            segments.iter().map(part).fold((0.0, 0.0), |sum, p| (sum.0 + p.0, sum.1 + p.1));
        energy / time
    };
    Means {
        of_lines: within.iter().sum::<f64>() / within.len() as f64,
        over_time: over(from, to),
        later: over(from + lag, to + lag),
    }
}

#[test]
fn powers_at_the_wall_agree_with_those_published() {
    let Some(shared) = shared::folder("powers_at_the_wall_agree_with_those_published") else {
        return;
    };
    let runs = published_runs(&shared.join("captures"));
    assert_eq!(runs.len(), 17);
    let powers = published_powers(&shared.join("measured/mlperf_inference_power.csv"));
    for (source, folder) in &runs {
        let readings = read(folder, "mlperf-inference");
        let published = powers[source];
        let means = means(&readings, 0.8);
        let percent = |found: f64| 100.0 * (found / published - 1.0);
        println!(
            "{:>10.4} W published, lines {:+.4} %, time {:+.4} %, time 0.8 s later {:+.4} %  {}",
            published,
            percent(means.of_lines),
            percent(means.over_time),
            percent(means.later),
            folder.display()
        );
        assert!((means.of_lines - published).abs() < 1.01e-4, "{source}: {}", means.of_lines);
        assert!(percent(means.over_time).abs() < 0.2, "{source}: {}", means.over_time);
        let run = readings.layout.run.unwrap();
        if let Some(inferences) = run.inferences_per_window {
            let window = readings.spans[0].end.since(readings.spans[0].start).seconds().0;
            let rate = readings.layout.remarks.iter().find(|r| r.starts_with("loadgen: ")).unwrap();
            let stated: f64 = ["QPS w/ loadgen overhead ", "Samples per second "]
                .iter()
                .find_map(|label| rate.split_once(label))
                .map(|(_, rest)| rest.split(',').next().unwrap().parse().unwrap())
                .unwrap();
            let found = inferences as f64 / window;
            assert!((found / stated - 1.0).abs() < 0.01, "{source}: {found} for {stated}");
        }
    }
}

#[test]
fn every_file_of_the_captures_is_taken_by_its_own_format_alone() {
    let Some(shared) =
        shared::folder("every_file_of_the_captures_is_taken_by_its_own_format_alone")
    else {
        return;
    };
    let mut seen = BTreeMap::<&str, usize>::new();
    let mut folders = vec![shared.join("captures"), shared.join("measured")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let expected = match name.as_str() {
                "spl.txt" => Some("ptdaemon"),
                "stm32n6-stai-npu_100_1.txt" => Some("st-edge-ai"),
                name if name.starts_with("trt") => Some("tensorrt"),
                name if name.starts_with("ambiq_") && name.contains("layers") => {
                    Some("ambiq-layers")
                }
                _ => None,
            };
            let found = open(&path).ok().map(|opened| opened.format.name);
            let found = found.filter(|name| OURS.contains(name));
            assert_eq!(found, expected, "{}", path.display());
            if let Some(name) = found {
                *seen.entry(name).or_default() += 1;
            }
        }
    }
    let expected = [("ambiq-layers", 2), ("ptdaemon", 17), ("st-edge-ai", 1), ("tensorrt", 3)];
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), expected);
}

#[test]
fn three_phases_add_up_to_the_wall() {
    let Some(shared) = shared::folder("three_phases_add_up_to_the_wall") else { return };
    let log = shared.join("captures/mlperf-inf-h200x8/bert-99-offline/spl.txt");
    let readings = read(&log, "ptdaemon");
    let watts = |name: &str| {
        let at = readings.layout.channels.iter().position(|c| c.name == name).unwrap();
        readings.series[at].values()
    };
    let phases = watts("Ch1 Watts").iter().zip(watts("Ch2 Watts")).zip(watts("Ch3 Watts"));
    for (all, ((a, b), c)) in watts("Watts").iter().zip(phases) {
        assert!((all - a - b - c).abs() < 0.5, "{all}");
    }
    assert_eq!(watts("Watts").len(), 735);
}

#[test]
fn a_report_of_st_edge_ai_gives_its_epochs() {
    let Some(shared) = shared::folder("a_report_of_st_edge_ai_gives_its_epochs") else { return };
    let report = shared.join("captures/event-log-samples/stm32n6-stai-npu_100_1.txt");
    let readings = read(&report, "st-edge-ai");
    assert_eq!(readings.spans.len(), 169);
    // 3.582 ms by the report; 2 865 391 cycles at 800 MHz by its totals.
    let length = readings.end.seconds().0;
    assert!((length - 3.582e-3).abs() < 1e-6, "{length}");
    let sums: Vec<f64> = readings.series.iter().map(|s| s.values().iter().sum()).collect();
    for (sum, stated) in sums.iter().zip([534_582.0, 1_640_760.0, 690_049.0]) {
        assert!((sum / stated - 1.0).abs() < 1e-3, "{sum} for {stated}");
    }
}

#[test]
fn profiles_of_tensorrt_give_their_layers() {
    let Some(shared) = shared::folder("profiles_of_tensorrt_give_their_layers") else { return };
    let folder = shared.join("captures/event-log-samples");
    let profile = read(&folder.join("trtexec-resnet18-fp16.profile.json"), "tensorrt");
    let first = &profile.spans[0];
    assert!((first.end.seconds().0 - 8.00422e-6).abs() < 1e-11);
    let share = first.end.seconds().0 / profile.end.seconds().0 * 100.0;
    assert!((share - 2.20189).abs() < 0.01, "{share}");
    let lists = read(&folder.join("trt-resnet18-layer_latency.json"), "tensorrt");
    let inferences = 1 + lists.spans.iter().filter_map(|s| s.inference).max().unwrap();
    assert_eq!(lists.spans.len() as u64 % inferences, 0);
    assert!((lists.spans[0].end.seconds().0 - 14.912e-6).abs() < 1e-12);
    let graph = open(&folder.join("trtexec-resnet18-fp16.graph.json")).unwrap();
    let error = graph.read(&Options::default(), &mut Readings::default()).unwrap_err();
    assert!(error.to_string().contains("a graph has none"), "{error}");
}

#[test]
fn tables_of_ambiq_give_their_layers_with_counts() {
    let Some(shared) = shared::folder("tables_of_ambiq_give_their_layers_with_counts") else {
        return;
    };
    let measured = shared.join("measured");
    let etm = read(&measured.join("ambiq_kws_layers_etm.csv"), "ambiq-layers");
    let cycles = etm.layout.channels.iter().position(|c| c.name == "cycles").unwrap();
    assert_eq!(etm.layout.channels[cycles].kind, ChannelKind::Other);
    // 192 MHz, as the file itself says by cycles a microsecond; short layers are cut to whole ones.
    for (span, cycles) in etm.spans.iter().zip(etm.series[cycles].values()) {
        let clock = cycles / span.end.since(span.start).seconds().0;
        assert!((clock / 192e6 - 1.0).abs() < 0.08, "{}: {clock}", span.name);
    }
    let pmu = read(&measured.join("ambiq_apollo510_kws_layers_pmu.csv"), "ambiq-layers");
    assert_eq!((etm.spans.len(), pmu.spans.len()), (13, 13));
    // By its layers, with the counters on; 7.856 ms without.
    let length = pmu.end.seconds().0;
    assert!((9.0e-3..9.5e-3).contains(&length), "{length}");
    assert!(pmu.layout.channels.iter().any(|c| c.name == "ARM_PMU_L1D_CACHE_REFILL"));
}

#[test]
fn a_real_file_cut_at_any_kilobyte_is_an_error_or_shorter() {
    let Some(shared) = shared::folder("a_real_file_cut_at_any_kilobyte_is_an_error_or_shorter")
    else {
        return;
    };
    for file in [
        "captures/mlperf-inf-rpi4/resnet50/spl.txt",
        "captures/event-log-samples/stm32n6-stai-npu_100_1.txt",
        "captures/event-log-samples/trt-resnet18-layer_latency.json",
        "captures/event-log-samples/trtexec-resnet18-fp16.profile.json",
        "measured/ambiq_apollo510_kws_layers_pmu.csv",
    ] {
        let path = shared.join(file);
        let bytes = std::fs::read(&path).unwrap();
        let format = open_as(&path, open(&path).unwrap().format.name).unwrap().format;
        let Shape::File { read, .. } = format.shape else { unreachable!() };
        let whole = |bytes: &[u8]| {
            let mut readings = Readings::default();
            read(&mut Input::of("cut", bytes), &Options::default(), &mut readings)
                .map(|()| readings)
        };
        let all = whole(&bytes).unwrap();
        for cut in (0..bytes.len()).step_by(1024) {
            match whole(&bytes[..cut]) {
                Ok(part) => assert!(part.end <= all.end, "{file} at {cut}"),
                Err(error) => assert!(!error.to_string().is_empty()),
            }
        }
    }
}

#[test]
fn a_real_file_with_bytes_changed_is_an_error_or_a_reading() {
    let Some(shared) = shared::folder("a_real_file_with_bytes_changed_is_an_error_or_a_reading")
    else {
        return;
    };
    let mut state = 1u64;
    let mut random = |below: usize| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    for file in [
        "captures/mlperf-inf-h200x8/bert-99-offline/spl.txt",
        "captures/event-log-samples/stm32n6-stai-npu_100_1.txt",
        "captures/event-log-samples/trt-resnet18-layer_latency.json",
        "captures/event-log-samples/trtexec-resnet18-fp16.profile.json",
        "measured/ambiq_apollo510_kws_layers_pmu.csv",
    ] {
        let path = shared.join(file);
        let bytes = std::fs::read(&path).unwrap();
        let format = open(&path).unwrap().format;
        let Shape::File { read, .. } = format.shape else { unreachable!() };
        for _ in 0..200 {
            let mut changed = bytes.clone();
            for _ in 0..=random(4) {
                let at = random(changed.len());
                changed[at] = b"0123456789.,-:\n\"[]{}% \xff"[random(23)];
            }
            let mut readings = Readings::default();
            let input = &mut Input::of("changed", &changed);
            match read(input, &Options::default(), &mut readings) {
                Ok(()) => assert_eq!(readings.series.len(), readings.layout.channels.len()),
                Err(error) => assert!(!error.to_string().is_empty()),
            }
        }
    }
}
