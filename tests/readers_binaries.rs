//! Readers of binary captures and of traces, against files of one truth.

use crate::shared;
use joulecast::formats::{FORMATS, FormatError, Input, Options, Shape, open, perfetto};
use joulecast::trace::{
    ChannelKind, Component, ComponentId, ComponentKind, Header, Level, Rail, RailId, Readings,
    Recorder, Sink, Span, SpanKind, Trace,
};
use joulecast::units::{Amperes, SimTime, Volts, Watts};
use std::path::{Path, PathBuf};

const OURS: [&str; 8] = [
    "saleae-binary",
    "ppk2",
    "sigrok-session",
    "joulescope-jls",
    "joulescope-jls-1",
    "perfetto",
    "chrome-json",
    "energyrunner-trace",
];

fn read_as(format: &str, bytes: &[u8]) -> Result<Readings, FormatError> {
    let format = FORMATS.iter().find(|known| known.name == format).unwrap();
    let Shape::File { read, .. } = format.shape else { panic!("{} is a folder", format.name) };
    let mut readings = Readings::default();
    read(&mut Input::of("bytes", bytes), &Options::default(), &mut readings)?;
    Ok(readings)
}

fn read_file(path: &Path) -> Readings {
    let mut readings = Readings::default();
    let opened = open(path).unwrap();
    opened.read(&Options::default(), &mut readings).unwrap_or_else(|e| panic!("{e}"));
    readings
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else {
            found.push(path);
        }
    }
}

/// The four binary files of the converted piece, with their formats.
const CONVERTED: [(&str, &str); 4] = [
    ("ppk2-session.ppk2", "ppk2"),
    ("joulescope.jls", "joulescope-jls"),
    ("saleae-digital_0.v0.bin", "saleae-binary"),
    ("sigrok.sr", "sigrok-session"),
];

#[test]
fn every_capture_is_taken_for_its_own_format_and_no_other() {
    let Some(shared) = shared::folder("every_capture_is_taken_for_its_own_format_and_no_other")
    else {
        return;
    };
    let mut all = Vec::new();
    files(&shared.join("captures"), &mut all);
    assert!(all.len() > 100, "{}", all.len());
    for path in all {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let expected = CONVERTED.iter().find(|(file, _)| *file == name).map(|(_, format)| *format);
        let expected = expected.or(name.ends_with("-energy.bin").then_some("energyrunner-trace"));
        let found = open(&path).ok().map(|opened| opened.format.name);
        let found = found.filter(|found| OURS.contains(found));
        assert_eq!(found, expected, "{}", path.display());
    }
}

#[test]
fn one_truth_comes_out_of_every_binary_file() {
    let Some(shared) = shared::folder("one_truth_comes_out_of_every_binary_file") else { return };
    for (file, format) in CONVERTED {
        let readings = read_file(&shared.join("captures/converted-fixtures").join(file));
        assert_eq!(readings.layout.format, format);
        // The trigger of the measured window: it falls at 1.000 s and 8.042 s.
        let falls: Vec<f64> = readings
            .edges
            .iter()
            .filter(|edge| edge.to != Level::Unknown && edge.line.0 == 0 && edge.at > SimTime::ZERO)
            .map(|edge| edge.at.seconds().0)
            .collect();
        assert!(falls.iter().any(|at| (at - 1.0).abs() < 1e-9), "{file}: {falls:?}");
        assert!(falls.iter().any(|at| (at - 8.042).abs() < 1e-9), "{file}: {falls:?}");
        for (channel, series) in readings.layout.channels.iter().zip(&readings.series) {
            let volts = match channel.kind {
                ChannelKind::Current => 1.8,
                ChannelKind::Power => 1.0,
                _ => continue,
            };
            let (from, to) = (SimTime(1_000_000_000_000), SimTime(8_042_000_000_000));
            let joules: f64 = series
                .segments()
                .filter(|(start, end, _)| *start >= from && *end <= to)
                .map(|(start, end, value)| end.since(start).seconds().0 * value * volts)
                .sum();
            let watts = joules / 7.042;
            assert!((watts - 41.48e-3).abs() < 0.01e-3, "{file} {}: {watts}", channel.name);
        }
    }
}

#[test]
fn a_capture_cut_at_every_kilobyte_is_one_error_or_a_shorter_one() {
    let Some(shared) =
        shared::folder("a_capture_cut_at_every_kilobyte_is_one_error_or_a_shorter_one")
    else {
        return;
    };
    for (file, format) in CONVERTED {
        let bytes = std::fs::read(shared.join("captures/converted-fixtures").join(file)).unwrap();
        let whole = read_as(format, &bytes).unwrap();
        for cut in (0..bytes.len()).step_by(1024) {
            match read_as(format, &bytes[..cut]) {
                Ok(shorter) => assert!(shorter.end <= whole.end, "{file} {cut}"),
                Err(error) => assert!(!error.to_string().contains('\n'), "{file}: {error}"),
            }
        }
    }
}

#[test]
fn the_file_of_another_tool_is_one_error() {
    let others: [&[u8]; 6] = [
        b"",
        b"\xf1\0\0\x7aD\0\0\0\0",
        b"PK\x03\x04 no archive",
        b"<SALEAE>",
        b"jlsfmt\r\n",
        b"Time [s],Channel 0\n0,1\n",
    ];
    for format in &OURS[..7] {
        for bytes in others {
            let error = read_as(format, bytes).unwrap_err().to_string();
            assert!(error.starts_with("bytes") && !error.contains('\n'), "{format}: {error}");
        }
    }
}

fn run() -> Trace {
    let mut recorder = Recorder::default();
    let component = |name: &str, kind| Component {
        name: name.into(),
        kind,
        domain: "core".into(),
        rail: "vdd".into(),
    };
    recorder.begin(&Header {
        components: vec![
            component("npu", ComponentKind::Engine),
            component("sram", ComponentKind::Memory),
        ],
        rails: vec![Rail { name: "vdd".into(), is_source: true }],
        ..Header::default()
    });
    let ms = |ms: u64| SimTime(ms * 1_000_000_000);
    for (at, npu, sram) in [(0, 0.1, 0.01), (2, 0.4, 0.05), (5, 0.1, 0.02)] {
        recorder.power(ms(at), ComponentId(0), Watts(npu));
        recorder.power(ms(at), ComponentId(1), Watts(sram));
        recorder.rail(ms(at), RailId(0), Volts(0.8), Amperes((npu + sram) / 0.8));
    }
    for (kind, name, start, end) in [
        (SpanKind::Layer, "conv", 0, 3),
        (SpanKind::Layer, "dense", 2, 6),
        (SpanKind::Inference, "inference", 0, 6),
    ] {
        let (name, track, inference) = (name.into(), "npu".into(), Some(0));
        recorder.span(Span { kind, name, track, inference, start: ms(start), end: ms(end) });
    }
    recorder.end(ms(8));
    recorder.into_trace()
}

#[test]
fn a_run_that_was_written_as_perfetto_comes_back_with_rails_components_and_layers() {
    let run = run();
    let mut bytes = Vec::new();
    perfetto::write(&run, &mut bytes).unwrap();
    let read = read_as("perfetto", &bytes).unwrap();
    let channels: Vec<_> = read
        .layout
        .channels
        .iter()
        .map(|c| (c.name.as_str(), c.kind.unit(), c.rail.as_str(), c.part_of.as_deref()))
        .collect();
    let expected = [
        ("total", "W", "total", None),
        ("npu", "W", "npu", Some("total")),
        ("sram", "W", "sram", Some("total")),
        ("vdd voltage", "V", "vdd", None),
        ("vdd current", "A", "vdd", None),
        ("vdd power", "W", "vdd", Some("total")),
    ];
    assert_eq!(channels, expected);
    let energy = |channel: usize| -> f64 {
        let segments = read.series[channel].segments();
        segments.map(|(start, end, value)| end.since(start).seconds().0 * value).sum()
    };
    let joules = |component: usize| run.power[component].integral(run.end);
    assert!((energy(1) - joules(0)).abs() < 1e-15);
    assert!((energy(0) - joules(0) - joules(1)).abs() < 1e-15);
    assert_eq!(read.end, run.end);
    let key = |span: &Span| (span.start, span.end, span.name.clone());
    let (mut spans, mut of_run) = (read.spans.clone(), run.spans.clone());
    spans.sort_by_key(key);
    of_run.sort_by_key(key);
    assert_eq!(spans, of_run);
}
