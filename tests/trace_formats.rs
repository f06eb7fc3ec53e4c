//! Traces through files and back, and as pictures.

use joulecast::formats::{csv, perfetto};
use joulecast::report::plot::{PlotError, PowerOptions, power};
use joulecast::trace::{
    Component, ComponentId, ComponentKind, Header, Rail, RailId, Recorder, Sink, Span, SpanKind,
    Trace,
};
use joulecast::units::{Amperes, SimTime, Volts, Watts};
use proptest::prelude::*;
use std::collections::HashMap;

/// One step of a run: how long it takes, and what changes at its start.
#[derive(Debug, Clone)]
struct Step {
    duration: u64,
    component: usize,
    power: f64,
    rail: usize,
    volts: f64,
    amperes: f64,
    kind: SpanKind,
    name: String,
    inference: Option<u64>,
    length: u64,
}

fn step() -> impl Strategy<Value = Step> {
    let number = || {
        prop_oneof![
            Just(0.0),
            -1.0..3.0f64,
            proptest::num::f64::NORMAL.prop_map(|x| x % 1e6),
            proptest::num::f64::SUBNORMAL,
        ]
    };
    let kind = prop_oneof![
        Just(SpanKind::Inference),
        Just(SpanKind::Layer),
        Just(SpanKind::Phase),
        Just(SpanKind::Idle),
        Just(SpanKind::Transition),
    ];
    let duration = prop_oneof![0..3u64, 0..2000u64, 0..5_000_000_000u64];
    let label = prop_oneof!["[a-z]{1,8}", "[ -~]{0,8}", "[\"\n,#;é]{0,4}"];
    let values = (number(), number(), number());
    let places = (0..3usize, 0..2usize);
    let inference = proptest::option::of(0..9u64);
    (duration.clone(), duration, places, values, kind, label, inference).prop_map(
        |(duration, length, places, values, kind, name, inference)| Step {
            duration,
            component: places.0,
            power: values.0,
            rail: places.1,
            volts: values.1,
            amperes: values.2,
            kind,
            name,
            inference,
            length,
        },
    )
}

fn header() -> Header {
    let component = |name: &str, kind| Component {
        name: name.to_owned(),
        kind,
        domain: "core".to_owned(),
        rail: "vdd".to_owned(),
    };
    Header {
        components: vec![
            component("engine", ComponentKind::Engine),
            component("sram, banks \"0\"", ComponentKind::Memory),
            component("ldo", ComponentKind::RegulatorLoss),
        ],
        rails: vec![
            Rail { name: "vbat".to_owned(), is_source: true },
            Rail { name: "vdd".to_owned(), is_source: false },
        ],
        ..Header::default()
    }
}

fn trace(steps: &[Step]) -> Trace {
    let mut recorder = Recorder::default();
    recorder.begin(&header());
    let (mut now, mut end) = (0, 0);
    for step in steps {
        let at = SimTime(now);
        recorder.power(at, ComponentId(step.component), Watts(step.power));
        recorder.rail(at, RailId(step.rail), Volts(step.volts), Amperes(step.amperes));
        recorder.span(Span {
            kind: step.kind,
            name: step.name.clone(),
            track: format!("lane {}", step.component),
            inference: step.inference,
            start: at,
            end: SimTime(now + step.length),
        });
        end = end.max(now + step.length);
        now += step.duration;
    }
    recorder.end(SimTime(now.max(end)));
    recorder.into_trace()
}

/// An inference of named layers, each with its phases, and idle time after it.
fn inference() -> Trace {
    let mut recorder = Recorder::default();
    recorder.begin(&header());
    let mut now = 0;
    let span = |kind, name: &str, start, end| Span {
        kind,
        name: name.to_owned(),
        track: "npu".to_owned(),
        inference: Some(0),
        start: SimTime(start),
        end: SimTime(end),
    };
    for (name, length) in [("conv_first", 9_000_000_123), ("pool", 3_000_000_000), ("dense", 501)] {
        let half = now + length / 2;
        for (start, watts) in [(now, 0.5), (half, 0.2)] {
            recorder.power(SimTime(start), ComponentId(0), Watts(watts));
            recorder.power(SimTime(start), ComponentId(2), Watts(watts / 10.0));
            recorder.rail(SimTime(start), RailId(1), Volts(1.1), Amperes(watts / 1.1));
        }
        recorder.span(span(SpanKind::Phase, "fill", now, half));
        recorder.span(span(SpanKind::Phase, "steady", half, now + length));
        recorder.span(span(SpanKind::Layer, name, now, now + length));
        now += length;
    }
    recorder.span(span(SpanKind::Inference, "inference 0", 0, now));
    recorder.power(SimTime(now), ComponentId(0), Watts(1e-6));
    recorder.span(span(SpanKind::Idle, "sleep", now, now + 5_000_000_000));
    recorder.end(SimTime(now + 5_000_000_000));
    recorder.into_trace()
}

fn csv_files(trace: &Trace) -> (Vec<u8>, Vec<u8>) {
    let (mut power, mut spans) = (Vec::new(), Vec::new());
    csv::write_power(trace, &mut power).unwrap();
    csv::write_spans(&trace.spans, &mut spans).unwrap();
    (power, spans)
}

fn bits(trace: &Trace) -> Vec<Vec<(u64, u64)>> {
    let waves = trace.power.iter().chain(&trace.voltage).chain(&trace.current);
    waves.map(|w| w.points().iter().map(|p| (p.0.0, p.1.to_bits())).collect()).collect()
}

proptest! {
    #[test]
    fn csv_brings_every_bit_back(steps in proptest::collection::vec(step(), 0..40)) {
        let trace = trace(&steps);
        let (power, spans) = csv_files(&trace);
        let mut back = csv::read_power("power.csv", &mut power.as_slice()).unwrap();
        back.spans = csv::read_spans("spans.csv", &mut spans.as_slice()).unwrap();
        prop_assert_eq!(bits(&back), bits(&trace));
        prop_assert_eq!(back, trace);
    }

    #[test]
    fn a_damaged_file_is_an_error_or_a_trace_but_never_a_panic(
        steps in proptest::collection::vec(step(), 0..8),
        damage in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        kept in any::<prop::sample::Index>(),
    ) {
        let (mut power, mut spans) = csv_files(&trace(&steps));
        for (at, byte) in &damage {
            for file in [&mut power, &mut spans] {
                let place = at.index(file.len());
                file[place] = *byte;
            }
        }
        let cut = kept.index(power.len());
        let _ = csv::read_power("power.csv", &mut power.as_slice());
        let _ = csv::read_power("power.csv", &mut &power[..cut]);
        let _ = csv::read_spans("spans.csv", &mut spans.as_slice());
    }

    #[test]
    fn perfetto_decodes_to_balanced_lanes_and_the_energy_of_the_trace(
        steps in proptest::collection::vec(step(), 0..40),
    ) {
        check_perfetto(&trace(&steps));
    }
}

#[test]
fn perfetto_shows_an_inference_as_nested_slices() {
    let decoded = check_perfetto(&inference());
    let lane = decoded.track("npu");
    assert_eq!(decoded.parent_of(lane), "activity");
    let ns = 12_000_000;
    let slices: Vec<_> = decoded.slices[&lane].iter().map(|s| (s.name.as_str(), s.depth)).collect();
    let layers = ["conv_first", "pool", "dense"];
    let mut expected = vec![("inference 0", 0)];
    for layer in layers {
        expected.extend([(layer, 1), ("fill", 2), ("steady", 2)]);
    }
    expected.push(("sleep", 0));
    assert_eq!(slices, expected);
    let ends: Vec<_> = decoded.slices[&lane].iter().map(|s| (s.start, s.end)).collect();
    assert_eq!(
        (ends[0], ends[1], ends[10]),
        ((0, ns + 1), (0, ns - 3_000_000), (ns + 1, 17_000_001))
    );
    assert_eq!(decoded.parent_of(decoded.track("total")), "power");
    assert_eq!(decoded.parent_of(decoded.track("vdd voltage")), "rails");
    let units = ["total", "ldo", "vdd voltage", "vdd current", "vdd power"]
        .map(|name| decoded.tracks[&decoded.track(name)].unit.as_deref().unwrap());
    assert_eq!(units, ["W", "W", "V", "A", "W"]);
}

/// What must hold of any trace in Perfetto form.
fn check_perfetto(trace: &Trace) -> Decoded {
    let mut bytes = Vec::new();
    perfetto::write(trace, &mut bytes).unwrap();
    let decoded = Decoded::from_bytes(&bytes);
    let slices: usize = decoded.slices.values().map(Vec::len).sum();
    assert_eq!(slices, trace.spans.len());
    let end = trace.end.0 as f64 * 1e-12;
    for (component, wave) in trace.header.components.iter().zip(&trace.power) {
        // Half a nanosecond for every edge, and for the pulses that share one.
        let largest = wave.points().iter().map(|p| p.1.abs()).fold(0.0, f64::max);
        let slack = 2e-9 * largest * (wave.points().len() + 1) as f64;
        let written = decoded.integral(decoded.track(&component.name));
        let exact = wave.integral(trace.end);
        assert!((written - exact).abs() <= slack + 1e-12 * largest * end, "{written} {exact}");
    }
    decoded
}

/// A field of a protobuf message: its number and its value.
enum Field<'a> {
    Number(u64),
    Double(f64),
    Bytes(&'a [u8]),
}

fn varint(bytes: &mut &[u8]) -> u64 {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let byte = bytes[0];
        *bytes = &bytes[1..];
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return value;
        }
    }
    panic!("a varint of more than ten bytes");
}

fn fields(mut bytes: &[u8]) -> Vec<(u64, Field<'_>)> {
    let mut out = Vec::new();
    while !bytes.is_empty() {
        let key = varint(&mut bytes);
        let field = match key & 7 {
            0 => Field::Number(varint(&mut bytes)),
            1 => {
                let (head, tail) = bytes.split_at(8);
                bytes = tail;
                Field::Double(f64::from_le_bytes(head.try_into().unwrap()))
            }
            2 => {
                let length = varint(&mut bytes) as usize;
                let (head, tail) = bytes.split_at(length);
                bytes = tail;
                Field::Bytes(head)
            }
            other => panic!("wire type {other}"),
        };
        out.push((key >> 3, field));
    }
    out
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[derive(Default)]
pub struct Track {
    pub name: String,
    parent: Option<u64>,
    pub unit: Option<String>,
}

pub struct Slice {
    pub name: String,
    depth: usize,
    pub start: u64,
    pub end: u64,
}

/// A Perfetto trace, decoded.
#[derive(Default)]
pub struct Decoded {
    pub tracks: HashMap<u64, Track>,
    /// In the order of their begin.
    pub slices: HashMap<u64, Vec<Slice>>,
    pub values: HashMap<u64, Vec<(u64, f64)>>,
    pub instants: HashMap<u64, Vec<(u64, String)>>,
}

impl Decoded {
    /// Follows the published field numbers, knowing nothing of the writer.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        let mut decoded = Self::default();
        let mut open: HashMap<u64, Vec<usize>> = HashMap::new();
        let mut last = 0;
        for (number, field) in fields(bytes) {
            let (1, Field::Bytes(packet)) = (number, field) else { panic!("not a packet") };
            let (mut time, mut event) = (None, None);
            for field in fields(packet) {
                match field {
                    (8, Field::Number(ns)) => time = Some(ns),
                    (10, Field::Number(sequence)) => assert_eq!(sequence, 1),
                    (11, Field::Bytes(bytes)) => event = Some(bytes),
                    (13, Field::Number(flags)) => assert_eq!(flags, 1),
                    (60, Field::Bytes(bytes)) => decoded.describe(bytes),
                    (other, _) => panic!("field {other} of a packet"),
                }
            }
            if let Some(event) = event {
                let time = time.unwrap();
                assert!(time >= last, "time runs back");
                last = time;
                decoded.happen(time, event, &mut open);
            }
        }
        assert!(open.values().all(Vec::is_empty), "slices are left open");
        decoded
    }

    fn describe(&mut self, bytes: &[u8]) {
        let (mut uuid, mut track) = (0, Track::default());
        for field in fields(bytes) {
            match field {
                (1, Field::Number(number)) => uuid = number,
                (2, Field::Bytes(name)) => track.name = text(name),
                (5, Field::Number(number)) => track.parent = Some(number),
                (8, Field::Bytes(counter)) => {
                    for field in fields(counter) {
                        if let (6, Field::Bytes(unit)) = field {
                            track.unit = Some(text(unit));
                        }
                    }
                }
                (11 | 12, Field::Number(_)) => {}
                (other, _) => panic!("field {other} of a track"),
            }
        }
        assert!(uuid != 0 && track.parent.is_none_or(|parent| self.tracks.contains_key(&parent)));
        assert!(self.tracks.insert(uuid, track).is_none());
    }

    fn happen(&mut self, time: u64, bytes: &[u8], open: &mut HashMap<u64, Vec<usize>>) {
        let (mut kind, mut track, mut name, mut value) = (0, 0, None, None);
        for field in fields(bytes) {
            match field {
                (9, Field::Number(number)) => kind = number,
                (11, Field::Number(number)) => track = number,
                (23, Field::Bytes(bytes)) => name = Some(text(bytes)),
                (44, Field::Double(number)) => value = Some(number),
                (4 | 22, Field::Bytes(_)) => {}
                (other, _) => panic!("field {other} of an event"),
            }
        }
        assert!(self.tracks.contains_key(&track));
        let stack = open.entry(track).or_default();
        let slices = self.slices.entry(track).or_default();
        match kind {
            1 => {
                let name = name.unwrap();
                stack.push(slices.len());
                slices.push(Slice { name, depth: stack.len() - 1, start: time, end: time });
            }
            2 => slices[stack.pop().expect("an end without a begin")].end = time,
            3 => self.instants.entry(track).or_default().push((time, name.unwrap())),
            4 => {
                let values = self.values.entry(track).or_default();
                assert!(values.last().is_none_or(|last| last.0 < time), "two values at one time");
                let value = value.unwrap();
                assert!(value.is_finite(), "{value}");
                values.push((time, value));
            }
            other => panic!("event of type {other}"),
        }
    }

    pub fn track(&self, name: &str) -> u64 {
        *self.tracks.iter().find(|(_, track)| track.name == name).unwrap().0
    }

    /// The track of a name under a group.
    pub fn in_group(&self, name: &str, group: &str) -> u64 {
        let under = |track: &u64| {
            self.tracks[track].parent.is_some_and(|parent| self.tracks[&parent].name == group)
        };
        let of_name = self.tracks.iter().filter(|(_, track)| track.name == name).map(|(id, _)| *id);
        of_name.into_iter().find(under).unwrap()
    }

    pub fn parent_of(&self, track: u64) -> &str {
        &self.tracks[&self.tracks[&track].parent.unwrap()].name
    }

    pub fn integral(&self, track: u64) -> f64 {
        let pairs = self.values[&track].windows(2);
        pairs.map(|pair| pair[0].1 * (pair[1].0 - pair[0].0) as f64 * 1e-9).sum()
    }
}

#[test]
fn pictures_are_files_of_their_kind() {
    let folder = tempfile::tempdir().unwrap();
    let trace = inference();
    let options = PowerOptions {
        title: "dense network on a chip".to_owned(),
        subtitle: vec!["3 layers & more".to_owned()],
        ..PowerOptions::default()
    };
    let png = folder.path().join("power.png");
    power(&trace, &options, &png).unwrap();
    assert!(std::fs::read(&png).unwrap().starts_with(b"\x89PNG\r\n\x1a\n"));
    let svg = folder.path().join("power.svg");
    power(&trace, &options, &svg).unwrap();
    let text = std::fs::read_to_string(&svg).unwrap();
    let shown = ["dense network on a chip", "3 layers &amp; more", "conv_first", "pool", "sleep"];
    for part in shown.into_iter().chain(["engine", "ldo", "time (ms)", "power (mW)", "fill"]) {
        assert!(text.contains(part), "{part}");
    }
    power(&trace, &options, &svg).unwrap();
    assert_eq!(std::fs::read_to_string(&svg).unwrap(), text, "the same trace, the same picture");
}

#[test]
fn what_cannot_be_drawn_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let (trace, options) = (inference(), PowerOptions::default());
    let error = power(&trace, &options, &folder.path().join("power.bmp")).unwrap_err();
    assert!(matches!(error, PlotError::Extension { .. }), "{error}");
    let late = PowerOptions { from: Some(trace.end), ..options.clone() };
    let error = power(&trace, &late, &folder.path().join("power.svg")).unwrap_err();
    assert!(matches!(error, PlotError::Range { .. }), "{error}");
    for name in ["gone/power.svg", "gone/power.png"] {
        assert!(power(&trace, &options, &folder.path().join(name)).is_err());
    }
}

#[test]
fn a_picture_of_nothing_is_a_picture() {
    let folder = tempfile::tempdir().unwrap();
    let flat = |power: f64| {
        let mut recorder = Recorder::default();
        recorder.begin(&header());
        recorder.power(SimTime(0), ComponentId(0), Watts(power));
        recorder.end(SimTime(7));
        recorder.into_trace()
    };
    let traces = [Trace::default(), flat(0.0), flat(1.0), flat(-1.0), flat(1e-30), flat(1e30)];
    for trace in traces {
        for name in ["power.png", "power.svg"] {
            let dark = PowerOptions { dark: true, ..PowerOptions::default() };
            power(&trace, &dark, &folder.path().join(name)).unwrap();
        }
    }
}
