use super::super::archive::ArchiveWriter;
use super::super::{Head, recognised};
use super::*;
use crate::trace::{Level, Readings};
use crate::units::Volts;
use proptest::prelude::*;
use std::io::Cursor;

fn session(frames: &[(f32, u16)], metadata: &str) -> Vec<u8> {
    let mut archive = ArchiveWriter::new(Cursor::new(Vec::new()));
    let bytes: Vec<u8> = frames
        .iter()
        .flat_map(|(current, bits)| {
            let mut frame = Vec::from(current.to_le_bytes());
            frame.extend(bits.to_be_bytes());
            frame
        })
        .collect();
    archive.entry(RAW, |out| out.write_all(&bytes)).unwrap();
    archive.entry(METADATA, |out| out.write_all(metadata.as_bytes())).unwrap();
    archive.finish().unwrap().into_inner()
}

const PLAIN: &str = r#"{"metadata": {"samplesPerSecond": 1000, "startSystemTime": 1600000000000},
    "formatVersion": 2}"#;

fn readings(bytes: &[u8]) -> Result<Readings, FormatError> {
    let mut readings = Readings::default();
    let options = Options { voltage: Some(Volts(3.0)), ..Options::default() };
    read(&mut Input::of("s.ppk2", bytes), &options, &mut readings)?;
    Ok(readings)
}

#[test]
fn current_is_microampere_and_two_big_endian_bits_are_a_level() {
    let bytes = session(&[(1500.0, 0x0002), (f32::NAN, 0x0001), (0.0, 0x0003)], PLAIN);
    let head = Head::of(&mut Input::of("s", &bytes)).unwrap();
    assert_eq!(recognised(&head).map(|format| format.name), Some("ppk2"));
    let read = readings(&bytes).unwrap();
    let values = read.series[0].values();
    assert_eq!(values[0], 1500.0 * 1e-6);
    assert!(values[1].is_nan());
    let levels: Vec<_> = read.edges.iter().filter(|e| e.line.0 == 0).map(|e| e.to).collect();
    // Both levels within the third: it rises there.
    assert_eq!(levels, [Level::High, Level::Low, Level::High]);
    assert_eq!(read.layout.supply, Some(Volts(3.0)));
    let origin = Origin::Wall { unix_ns: 1_600_000_000_000_000_000, utc: true };
    assert_eq!(read.layout.origin, origin);
    assert_eq!(read.end, SimTime(3_000_000_000));
}

#[test]
fn a_session_that_says_something_else_is_one_error() {
    let frames = [(1.0, 0)];
    for (metadata, said) in [
        ("{", "not the JSON expected: metadata.json"),
        (r#"{"metadata": {"samplesPerSecond": 0}, "formatVersion": 2}"#, "a rate above zero"),
        (r#"{"metadata": {"samplesPerSecond": 1e-7}, "formatVersion": 2}"#, "213 days"),
        (r#"{"metadata": {"samplesPerSecond": 1e5}, "formatVersion": 3}"#, "version 3"),
        (r#"{"metadata": {"samplesPerSecond": 1e5}}"#, "version (none)"),
    ] {
        let frames = if said == "213 days" { vec![(1.0, 0); 40] } else { frames.to_vec() };
        let error = readings(&session(&frames, metadata)).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    }
    let error = readings(&session(&[], PLAIN)).unwrap_err().to_string();
    assert!(error.contains("no sample"), "{error}");
}

proptest! {
    #[test]
    fn what_is_written_reads_back_as_it_was(
        frames in prop::collection::vec((-1e6f32..1e6, 0u16..=0xffff), 1..200),
        gap in 0usize..200,
    ) {
        // Both levels within a sample, and none recorded, are one thing once read.
        let tidy = |bits: u16| (0..8).fold(0, |all, line| {
            let level = bits >> (2 * line) & 3;
            all | if level == 3 { 0 } else { level << (2 * line) }
        });
        let frames: Vec<_> = frames.into_iter().enumerate().map(|(at, (current, bits))| {
            (if at == gap { f32::NAN } else { current }, tidy(bits))
        }).collect();
        let first = readings(&session(&frames, PLAIN)).unwrap();
        let mut bytes = Cursor::new(Vec::new());
        write(&first, &mut bytes).unwrap();
        let again = readings(bytes.get_ref()).unwrap();
        prop_assert_eq!(&again.edges, &first.edges);
        prop_assert_eq!(&again.layout, &first.layout);
        let bits = |readings: &Readings| -> Vec<u64> {
            readings.series[0].values().iter().map(|value| value.to_bits()).collect()
        };
        prop_assert_eq!(bits(&again), bits(&first));
    }
}
