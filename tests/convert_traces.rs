//! Traces of every shape as CSV and Perfetto, and back.

use crate::trace_formats::Decoded;
use joulecast::formats::{FormatError, FrameSink, csv, perfetto};
use joulecast::trace::{
    Annotations, ChannelKind, Component, ComponentId, ComponentKind, Counter, CounterId, Edge,
    Header, Level, LineId, Mark, Rail, RailId, Recorder, Sink, Span, SpanKind, Teller, Trace,
};
use joulecast::units::{Amperes, SimTime, Volts, Watts};
use proptest::prelude::*;

fn header() -> Header {
    let component = |name: &str| Component {
        name: name.to_owned(),
        kind: ComponentKind::Measured,
        domain: String::new(),
        rail: name.to_owned(),
    };
    let rail = |name: &str| Rail { name: name.to_owned(), is_source: true };
    Header {
        components: vec![component("cpu"), component("gpu")],
        rails: vec![rail("cpu"), rail("gpu")],
        counters: vec![
            Counter { name: "hot, spot".into(), kind: ChannelKind::Temperature },
            Counter { name: "load".into(), kind: ChannelKind::Share },
        ],
        lines: vec!["D0".into(), "D1".into()],
    }
}

#[derive(Debug, Clone)]
enum Step {
    Power(usize, f64),
    Rail(usize, f64, f64),
    Counter(usize, f64),
    Edge(usize, u8),
    Mark(bool, u64, String),
    Span(u64),
}

fn told() -> impl Strategy<Value = (u64, Step)> {
    let number = || prop_oneof![2 => -1.0..3.0f64, 1 => Just(f64::NAN), 1 => Just(0.0)];
    let told = prop_oneof![
        4 => (0..2usize, number()).prop_map(|(at, value)| Step::Power(at, value)),
        2 => (0..2usize, number(), number()).prop_map(|(at, v, i)| Step::Rail(at, v, i)),
        2 => (0..2usize, number()).prop_map(|(at, value)| Step::Counter(at, value)),
        1 => (0..2usize, 0..3u8).prop_map(|(line, level)| Step::Edge(line, level)),
        1 => (any::<bool>(), 0..9_000u64, "[ -~]{0,6}").prop_map(|(h, at, n)| Step::Mark(h, at, n)),
        1 => (0..5_000u64).prop_map(Step::Span),
    ];
    (prop_oneof![0..3u64, 0..5_000u64], told)
}

fn tell(steps: &[(u64, Step)], sink: &mut impl Sink) {
    sink.begin(&header());
    let mut now = 0;
    for (later, told) in steps {
        now += later;
        let at = SimTime(now);
        match told {
            Step::Power(of, value) => sink.power(at, ComponentId(*of), Watts(*value)),
            Step::Rail(of, v, i) => sink.rail(at, RailId(*of), Volts(*v), Amperes(*i)),
            Step::Counter(of, value) => sink.counter(at, CounterId(*of), *value),
            Step::Edge(line, level) => {
                let to = [Level::Low, Level::High, Level::Unknown][usize::from(*level)];
                sink.edge(Edge { line: LineId(*line), at, to });
            }
            Step::Mark(host, other, name) => {
                let teller = if *host { Teller::Host } else { Teller::Meter };
                let at = if *host { SimTime(*other) } else { at };
                sink.mark(Mark { teller, at, track: "t".into(), name: name.clone() });
            }
            Step::Span(length) => sink.span(Span {
                kind: SpanKind::Window,
                name: "w".into(),
                track: "windows".into(),
                inference: None,
                start: at,
                end: SimTime(now + length),
            }),
        }
    }
    sink.end(SimTime(now + 5_000));
}

fn trace(steps: &[(u64, Step)]) -> Trace {
    let mut recorder = Recorder::default();
    tell(steps, &mut recorder);
    recorder.into_trace()
}

/// Waveforms bit by bit, not-a-number being itself.
fn bits(trace: &Trace) -> Vec<Vec<(u64, u64)>> {
    let waves = trace.power.iter().chain(&trace.voltage).chain(&trace.current);
    let bits = |value: f64| if value.is_nan() { u64::MAX } else { value.to_bits() };
    let points = |wave: &joulecast::trace::Waveform| {
        wave.points().iter().map(|p| (p.0.0, bits(p.1))).collect()
    };
    waves.chain(&trace.counters).map(points).collect()
}

pub(crate) fn same(a: &Trace, b: &Trace) {
    assert_eq!(bits(a), bits(b));
    assert_eq!((&a.header, a.end), (&b.header, b.end));
    assert_eq!((&a.spans, &a.edges, &a.marks), (&b.spans, &b.edges, &b.marks));
}

proptest! {
    #[test]
    fn csv_brings_a_capture_back_with_its_gaps(
        steps in proptest::collection::vec(told(), 0..40),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let trace = trace(&steps);
        csv::write_folder(&trace, folder.path()).unwrap();
        same(&csv::read_folder(folder.path()).unwrap(), &trace);
        // The same bytes where it streams by.
        let mut stream = Vec::new();
        let table = csv::PowerTable::begin(&trace.header, &mut stream).unwrap();
        let mut sink = FrameSink::new(table, &trace.header);
        tell(&steps, &mut sink);
        drop(sink.finish().unwrap());
        let back = csv::read_power("power.csv", &mut stream.as_slice()).unwrap();
        prop_assert_eq!(bits(&back), bits(&trace));
    }

    #[test]
    fn perfetto_of_any_capture_decodes_with_gaps_as_slices(
        steps in proptest::collection::vec(told(), 0..40),
    ) {
        let trace = trace(&steps);
        let mut bytes = Vec::new();
        perfetto::write(&trace, &mut bytes).unwrap();
        let decoded = Decoded::from_bytes(&bytes);
        let instants: usize = decoded.instants.values().map(Vec::len).sum();
        let own = trace.marks.iter().filter(|mark| mark.teller == Teller::Meter).count();
        prop_assert!(instants >= own && instants <= own + trace.edges.len());
        let gaps = decoded.slices.iter().filter(|(track, of)| {
            !of.is_empty() && decoded.parent_of(**track) == "gaps"
        });
        for (track, of) in gaps {
            let name = &decoded.tracks[track].name;
            prop_assert!(of.iter().all(|gap| gap.name == "unknown" && gap.start <= gap.end));
            if let Some(at) = trace.header.components.iter().position(|c| &c.name == name) {
                let missing = trace.power[at].segments(trace.end).filter(|s| s.2.is_nan());
                let missing: u64 = missing.map(|s| s.1.0 - s.0.0).sum();
                let shown: u64 = of.iter().map(|gap| 1000 * (gap.end - gap.start)).sum();
                let slack = 1000 * (trace.power[at].points().len() as u64 + 1);
                prop_assert!(missing.abs_diff(shown) <= slack, "{} {}", missing, shown);
            }
        }
    }
}

/// Takes a few bytes and then no more.
struct Full(usize);

impl std::io::Write for Full {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 = self.0.checked_sub(bytes.len()).ok_or(std::io::ErrorKind::StorageFull)?;
        Ok(bytes.len())
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_full_disk_is_told_once_and_by_its_name() {
    let annotations = Annotations::default();
    let writer = perfetto::Writer::begin(&header(), &annotations, Full(600)).unwrap();
    let mut sink = FrameSink::new(writer, &header());
    for at in 0..100 {
        sink.power(SimTime(at * 1000), ComponentId(0), Watts(at as f64));
    }
    sink.end(SimTime(100_000));
    match sink.finish() {
        Err(FormatError::Write { source, .. }) => {
            assert_eq!(source.kind(), std::io::ErrorKind::StorageFull);
        }
        other => panic!("{other:?}"),
    }
}
