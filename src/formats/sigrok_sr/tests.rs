use super::super::archive::ArchiveWriter;
use super::super::{Head, TableOptions, recognised};
use super::*;
use crate::trace::Readings;
use std::io::Cursor;

fn session(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = ArchiveWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in files {
        archive.entry(name, |out| out.write_all(bytes)).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

fn readings(bytes: &[u8], options: &Options) -> Result<Readings, FormatError> {
    let mut readings = Readings::default();
    read(&mut Input::of("s.sr", bytes), options, &mut readings)?;
    Ok(readings)
}

const MIXED: &[u8] = b"[global]\nsigrok version=0.6.0\n\n[device 1]\ncapturefile=logic-1\n\
total probes=9\nsamplerate=1 kHz\ntotal analog=2\nprobe1=D0\nprobe9=TRIG\nanalog10=A0\n\
analog11=CH1 (mA)\nunitsize=2\n";

fn floats(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn mixed() -> Vec<u8> {
    session(&[
        ("version", b"2"),
        ("metadata", MIXED),
        ("logic-1-1", &[1, 0, 1, 0, 0, 0]),
        ("logic-1-2", &[0, 1]),
        ("analog-1-10-1", &floats(&[1.0, 2.0, 3.0, 4.0])),
        ("analog-1-11-1", &floats(&[10.0, 20.0])),
        ("analog-1-11-2", &floats(&[30.0, 40.0])),
    ])
}

#[test]
fn pieces_follow_each_other_and_bits_are_lines() {
    let bytes = mixed();
    let head = Head::of(&mut Input::of("s", &bytes)).unwrap();
    assert_eq!(recognised(&head).map(|format| format.name), Some("sigrok-session"));
    let read = readings(&bytes, &Options::default()).unwrap();
    assert_eq!(read.layout.lines, ["D0", "TRIG"]);
    let edges: Vec<_> =
        read.edges.iter().map(|e| (e.line.0, e.at.0 / 1_000_000_000, e.to)).collect();
    let expected =
        [(0, 0, Level::High), (1, 0, Level::Low), (0, 2, Level::Low), (1, 3, Level::High)];
    assert_eq!(edges, expected);
    assert_eq!(read.series[0].values(), [1.0, 2.0, 3.0, 4.0]);
    assert_eq!(read.layout.channels[0].kind, ChannelKind::Voltage);
    assert_eq!(read.layout.remarks, ["the file keeps no unit of A0: taken as volt"]);
    assert_eq!(read.layout.channels[1].kind, ChannelKind::Current);
    assert_eq!(read.series[1].blocks().count(), 1);
    assert_eq!(read.series[1].values()[3], 40.0 * 1e-3);
    assert_eq!(read.end, SimTime(4_000_000_000));
}

#[test]
fn a_unit_that_the_caller_states_is_taken() {
    let table = TableOptions { unit: Some("uA".into()), ..TableOptions::default() };
    let options = Options { table, ..Options::default() };
    let read = readings(&mixed(), &options).unwrap();
    assert_eq!(read.layout.channels[0].kind, ChannelKind::Current);
    assert_eq!(read.series[0].values()[0], 1e-6);
}

/// Keeps the order in which things are told.
#[derive(Default)]
struct Order(Vec<(u64, bool)>);

impl SampleSink for Order {
    fn begin(&mut self, _: &Layout) {}
    fn samples(&mut self, _: ChannelId, block: &Block<'_>) {
        self.0.push((block.end().0, false));
    }
    fn edge(&mut self, edge: Edge) {
        self.0.push((edge.at.0, true));
    }
    fn mark(&mut self, _: crate::trace::Mark) {}
    fn span(&mut self, _: crate::trace::Span) {}
    fn end(&mut self, _: SimTime) {}
}

#[test]
fn an_edge_comes_before_the_samples_that_start_after_it() {
    let mut order = Order::default();
    read(&mut Input::of("s", &mixed()), &Options::default(), &mut order).unwrap();
    for (at, (end, is_edge)) in order.0.iter().enumerate() {
        if !is_edge {
            assert!(!order.0[at..].iter().any(|(edge, is_edge)| *is_edge && edge < end));
        }
    }
}

#[test]
fn what_does_not_fit_is_one_error() {
    let with = |metadata: &str, more: &[(&str, &[u8])]| {
        let mut files = vec![("version", &b"2"[..]), ("metadata", metadata.as_bytes())];
        files.extend(more);
        session(&files)
    };
    let plain = "[device 1]\nsamplerate=1 kHz\nprobe1=D0\nunitsize=1\n";
    for (bytes, said) in [
        (with("[global]\n", &[]), "[device 1] in metadata is missing"),
        (with("[device 1]\nprobe1=D0\n", &[]), "the sample rate is not known"),
        (with("[device 1]\nsamplerate=1 kV\n", &[]), "`kV` is no unit of samplerate"),
        (with("[device 1]\nsamplerate=0 Hz\n", &[]), "more than 0"),
        (with("[device 1]\nprobe0=D\n", &[]), "probe1 to probe512"),
        (with("[device 1]\nprobe9=D\nunitsize=1\nsamplerate=1 Hz\n", &[]), "every eight"),
        (with(plain, &[]), "there is no sample"),
        (with(plain, &[("logic-1-2", b"a")]), "logic-1-1 is missing"),
        (session(&[("version", b"3"), ("metadata", plain.as_bytes())]), "version 3"),
        (session(&[("version", b"2")]), "metadata is missing"),
    ] {
        let error = readings(&bytes, &Options::default()).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    }
}
