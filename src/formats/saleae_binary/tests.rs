use super::super::{Head, recognised};
use super::*;
use crate::trace::{Level, Readings};

fn head(version: u32, kind: u32) -> Vec<u8> {
    let mut bytes = Vec::from(MAGIC);
    bytes.extend(version.to_le_bytes());
    bytes.extend(kind.to_le_bytes());
    bytes
}

fn digital(high: u32, rate: Option<f64>, begin: f64, end: f64, times: &[f64]) -> Vec<u8> {
    let mut bytes = Vec::from(high.to_le_bytes());
    bytes.extend(rate.iter().flat_map(|rate| rate.to_le_bytes()));
    bytes.extend(begin.to_le_bytes());
    bytes.extend(end.to_le_bytes());
    bytes.extend((times.len() as u64).to_le_bytes());
    bytes.extend(times.iter().flat_map(|time| time.to_le_bytes()));
    bytes
}

fn readings(bytes: &[u8]) -> Result<Readings, FormatError> {
    let mut readings = Readings::default();
    read(&mut Input::of("d.bin", bytes), &Options::default(), &mut readings)?;
    Ok(readings)
}

fn milliseconds(readings: &Readings) -> Vec<(u64, Level)> {
    readings.edges.iter().map(|edge| (edge.at.0 / 1_000_000_000, edge.to)).collect()
}

#[test]
fn a_digital_export_starts_at_its_first_level_and_its_own_begin() {
    let mut bytes = head(0, 0);
    bytes.extend(digital(1, None, -0.5, 2.0, &[-0.25, 1.0]));
    let recognised = recognised(&Head::of(&mut Input::of("d", &bytes)).unwrap());
    assert_eq!(recognised.map(|format| format.name), Some("saleae-binary"));
    let read = readings(&bytes).unwrap();
    let expected = [(0, Level::High), (250, Level::Low), (1500, Level::High)];
    assert_eq!(milliseconds(&read), expected);
    assert_eq!(read.layout.origin, Origin::OwnClock(-0.5));
    assert_eq!(read.end, SimTime(2_500_000_000_000));
}

#[test]
fn pieces_of_version_1_have_an_unknown_level_between_them() {
    let mut bytes = head(1, 0);
    bytes.extend(2u64.to_le_bytes());
    bytes.extend(digital(0, Some(1e6), 0.0, 1.0, &[0.5]));
    bytes.extend(digital(0, Some(1e6), 2.0, 3.0, &[]));
    let read = readings(&bytes).unwrap();
    let expected =
        [(0, Level::Low), (500, Level::High), (1000, Level::Unknown), (2000, Level::Low)];
    assert_eq!(milliseconds(&read), expected);
    assert_eq!(read.layout.remarks.len(), 1);
    for cut in 0..bytes.len() {
        assert!(readings(&bytes[..cut]).is_err(), "{cut}");
    }
}

#[test]
fn an_analogue_export_is_volts_at_the_reduced_rate() {
    let mut bytes = head(0, 1);
    bytes.extend(0f64.to_le_bytes());
    bytes.extend(1000u64.to_le_bytes());
    bytes.extend(10u64.to_le_bytes());
    bytes.extend(2u64.to_le_bytes());
    bytes.extend(1.5f32.to_le_bytes());
    bytes.extend(f32::NAN.to_le_bytes());
    let read = readings(&bytes).unwrap();
    let segments: Vec<_> = read.series[0].segments().collect();
    assert_eq!(segments[0], (SimTime(0), SimTime(10_000_000_000), 1.5));
    assert!(segments[1].2.is_nan());
    assert_eq!(read.end, SimTime(20_000_000_000));
}

#[test]
fn pieces_of_an_analogue_export_keep_their_gap() {
    let mut bytes = head(1, 1);
    bytes.extend(2u64.to_le_bytes());
    for begin in [1.0f64, 2.0] {
        for field in [begin, begin, 10.0] {
            bytes.extend(field.to_le_bytes());
        }
        bytes.extend(1u64.to_le_bytes());
        bytes.extend(1u64.to_le_bytes());
        bytes.extend(3f32.to_le_bytes());
    }
    let read = readings(&bytes).unwrap();
    let starts: Vec<_> = read.series[0].blocks().map(|b| b.start().0 / 1_000_000_000).collect();
    assert_eq!(starts, [0, 1000]);
}

#[test]
fn what_lies_or_runs_backwards_is_one_error_that_says_where() {
    let whole = |piece: Vec<u8>| [head(0, 0), piece].concat();
    let mut lie = whole(digital(0, None, 0.0, 1.0, &[0.5]));
    lie[36..44].copy_from_slice(&u64::MAX.to_le_bytes());
    for (bytes, said) in [
        (lie, "a piece would be"),
        (whole(digital(0, None, 0.0, 2.0, &[1.0, 0.5])), "at byte 52: time runs backwards"),
        (whole(digital(0, None, 0.0, 1.0, &[1.5])), "a time before the end"),
        (whole(digital(7, None, 0.0, 1.0, &[])), "0 or 1"),
        (whole(digital(0, None, 1.0, 0.0, &[])), "an end behind it"),
        (whole(digital(0, None, 0.0, 1e9, &[])), "213 days"),
        ([head(2, 0), vec![0; 40]].concat(), "version 2 is not known"),
        ([head(0, 3), vec![0; 40]].concat(), "the type of the export"),
        ([whole(digital(0, None, 0.0, 1.0, &[])), vec![1]].concat(), "1 bytes more"),
        (vec![], "the file is empty"),
    ] {
        let error = readings(&bytes).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    }
}
