//! Tables of numbers as instruments export them: recognised by content, read to the same truth.

use crate::shared;
use joulecast::formats::{FormatError, Head, Input, Options, Shape, open, open_as, recognised};
use joulecast::trace::{Level, Origin, Readings};
use joulecast::units::{Hertz, SimTime};
use std::path::{Path, PathBuf};

const FIXTURES: [(&str, &str); 7] = [
    ("ppk2-separate.csv", "ppk2-csv"),
    ("ppk2-bitstring.csv", "ppk2-csv"),
    ("joulescope-visible.csv", "joulescope-csv"),
    ("joulescope-statistics.csv", "joulescope-csv"),
    ("monsoon-pymonsoon.csv", "monsoon-csv"),
    ("saleae-digital.csv", "saleae-csv"),
    ("sigrok.csv", "sigrok-csv"),
];

fn fixture(name: &str) -> Option<PathBuf> {
    Some(shared::folder(name)?.join("captures/converted-fixtures").join(name))
}

fn read_file(path: &Path) -> Readings {
    let mut readings = Readings::default();
    open(path).unwrap().read(&Options::default(), &mut readings).unwrap();
    readings
}

/// Bytes as the format that they are recognised as, or as a named one.
fn read_bytes(bytes: &[u8], name: &str, options: &Options) -> Result<Readings, FormatError> {
    let head = Head::of(&mut Input::of("t", bytes)).unwrap();
    let found = recognised(&head);
    let named = joulecast::formats::FORMATS.iter().find(|format| format.name == name);
    let format = found.filter(|format| format.name == name).or(named).unwrap();
    let Shape::File { read, .. } = format.shape else { panic!("{name} is a folder") };
    let mut readings = Readings::default();
    read(&mut Input::of("t", bytes), options, &mut readings)?;
    Ok(readings)
}

fn taken(bytes: &[u8]) -> Option<&'static str> {
    recognised(&Head::of(&mut Input::of("t", bytes)).unwrap()).map(|format| format.name)
}

fn read(text: &str, name: &str) -> Readings {
    assert_eq!(taken(text.as_bytes()), Some(name), "{text}");
    read_bytes(text.as_bytes(), name, &Options::default()).unwrap()
}

fn fault(text: &str, name: &str) -> String {
    let error = read_bytes(text.as_bytes(), name, &Options::default()).unwrap_err().to_string();
    assert!(!error.trim_end().contains('\n') || error.contains("\nhelp: "), "{error}");
    error
}

/// Mean of a channel between two instants, in milliseconds.
fn mean(readings: &Readings, channel: usize, from: u64, to: u64) -> f64 {
    let (from, to) = (from * 1_000_000_000, to * 1_000_000_000);
    let within = readings.series[channel].segments().map(|(start, end, value)| {
        let time = end.0.min(to).saturating_sub(start.0.max(from)) as f64;
        (value * time, time)
    });
    let (sum, time) = within.fold((0.0, 0.0), |sum, part| (sum.0 + part.0, sum.1 + part.1));
    sum / time
}

fn falls(readings: &Readings, line: usize) -> Vec<u64> {
    let falls = readings.edges.iter().filter(|e| e.line.0 == line && e.to == Level::Low);
    falls.map(|edge| edge.at.0 / 1_000_000).collect()
}

#[test]
fn every_table_among_the_captures_is_recognised_as_what_it_is() {
    for (name, format) in FIXTURES {
        let Some(path) = fixture(name) else { return };
        assert_eq!(open(&path).unwrap().format.name, format, "{name}");
    }
}

#[test]
fn one_capture_in_several_tables_is_one_truth() {
    for name in ["ppk2-separate.csv", "saleae-digital.csv", "sigrok.csv"] {
        let Some(path) = fixture(name) else { return };
        let readings = read_file(&path);
        let falls = falls(&readings, 0);
        assert_eq!(falls, [1_000_000, 8_042_000], "{name}");
    }
    let Some(path) = fixture("ppk2-separate.csv") else { return };
    let milliwatts = mean(&read_file(&path), 0, 1000, 8042) * 1.8 * 1e3;
    assert!((milliwatts - 41.48).abs() < 0.01, "{milliwatts}");
    let Some(path) = fixture("joulescope-statistics.csv") else { return };
    let milliwatts = mean(&read_file(&path), 2, 1000, 8000) * 1e3;
    assert!((milliwatts - 41.48).abs() < 0.05, "{milliwatts}");
    let Some(path) = fixture("ppk2-bitstring.csv") else { return };
    let (short, path) = (read_file(&path), fixture("ppk2-separate.csv").unwrap());
    let whole = read_file(&path);
    let samples = short.series[0].values();
    assert_eq!(samples, &whole.series[0].values()[..samples.len()]);
    assert_eq!(falls(&short, 0), [1_000_000]);
    // Every fifth of 5 kHz, as the host's seconds say.
    let Some(path) = fixture("monsoon-pymonsoon.csv") else { return };
    let monsoon = read_file(&path);
    assert_eq!(monsoon.end, SimTime(3_000_000_000_000));
    let difference = mean(&monsoon, 0, 0, 3000) / mean(&whole, 0, 0, 3000) - 1.0;
    assert!(difference.abs() < 1e-6, "{difference}");
}

#[test]
fn a_table_cut_anywhere_is_one_error_or_shorter() {
    for (name, format) in FIXTURES {
        let Some(path) = fixture(name) else { return };
        let bytes = std::fs::read(path).unwrap();
        let whole = read_bytes(&bytes, format, &Options::default()).unwrap();
        // Every kilobyte at the start, where heads end; fewer behind.
        let often = |cut: &usize| *cut < 24 << 10 || cut.is_multiple_of(16 << 10);
        let cuts = (0..bytes.len()).step_by(1024).filter(often);
        for cut in cuts.chain([bytes.len() - 1]) {
            match read_bytes(&bytes[..cut], format, &Options::default()) {
                Ok(part) => {
                    assert!(part.end <= whole.end, "{name} {cut}");
                    for (part, whole) in part.series.iter().zip(&whole.series) {
                        let values = part.values();
                        assert_eq!(values, &whole.values()[..values.len()], "{name} {cut}");
                    }
                }
                Err(error) => assert!(!error.to_string().contains('\n') || cut < 1024, "{error}"),
            }
        }
    }
}

#[test]
fn power_profiler_columns_come_in_every_combination() {
    let read = |text: &str| read(text, "ppk2-csv");
    let plain = read("Timestamp(ms),Current(uA)\n0,1.500\n0.01,2.500\n");
    assert_eq!(plain.series[0].values(), [1.5e-6, 2.5e-6]);
    assert_eq!(plain.end, SimTime(20_000_000));
    let both = read(
        "Timestamp(ms),Current(uA),D0-D7,D0,D1,D2,D3,D4,D5,D6,D7\n0,1,10000000,1,0,0,0,0,0,0,0\n0.01,1,X0000000,X,0,0,0,0,0,0,-\n",
    );
    assert_eq!(both.layout.lines.len(), 8);
    let unknown = both.edges.iter().filter(|e| e.to == Level::Unknown).map(|e| e.line.0);
    assert_eq!(unknown.collect::<Vec<_>>(), [7]);
    assert_eq!(falls(&both, 0), [10]);
    let old = read("Timestamp(ms),Current(uA),Bits\n0,1,00000001\n0.01,1,10000000\n");
    assert_eq!(falls(&old, 0), [10]);
    let saved = read("Timestamp(ms);Current(uA);D0-D7\n0;1,500;1000000\n0,01;2,500;10000000\n");
    assert_eq!(saved.series[0].values(), [1.5e-6, 2.5e-6]);
    assert_eq!(falls(&saved, 1), [10]);
    assert!(saved.layout.remarks.iter().any(|r| r.contains("zeros missing")));
    let gap = read("Timestamp(ms),Current(uA)\n0,1\n0.01,1\n0.02,1\n0.07,1\n0.08,1\n");
    assert_eq!(gap.series[0].blocks().count(), 2);
    assert_eq!(
        falls(
            &read("D0,D1,D2,D3,D4,D5,D6,D7,Timestamp(ms)\n1,0,0,0,0,0,0,0,0\n0,0,0,0,0,0,0,0,1\n"),
            0
        ),
        [1000]
    );
}

#[test]
fn a_power_profiler_without_stamps_needs_a_rate() {
    let text = "Current(uA),D0-D7\n1,10000000\n2,00000000\n";
    assert_eq!(taken(text.as_bytes()), Some("ppk2-csv"));
    assert!(fault(text, "ppk2-csv").contains("--rate HZ"));
    let options = Options { rate: Some(Hertz(100_000.0)), ..Options::default() };
    let readings = read_bytes(text.as_bytes(), "ppk2-csv", &options).unwrap();
    assert_eq!((readings.end, falls(&readings, 0)), (SimTime(20_000_000), vec![10]));
}

#[test]
fn heads_of_other_units_and_other_tools_are_told_from_these() {
    let swapped = "Timestamp(s),Current(mA)\n0,1\n1,2\n";
    assert_eq!(taken(swapped.as_bytes()), Some("csv"));
    assert_eq!(fault(swapped, "ppk2-csv"), "t:1: `s` is no unit of `Timestamp(ms)`; expected ms");
    for name in ["ppk2-csv", "joulescope-csv", "monsoon-csv", "saleae-csv", "sigrok-csv", "csv"] {
        let error = fault("Frame,Pixels\na,b\n", name);
        assert!(error.contains("expected"), "{error}");
        assert_eq!(fault("", name), "t: the file is empty");
    }
    let head = "Timestamp(ms),Current(uA)\n";
    assert!(fault(head, "ppk2-csv").contains("no sample"));
    assert!(fault(&format!("{head}1,1\n0,1\n"), "ppk2-csv").contains("t:3: time runs backwards"));
    assert!(fault(&format!("{head}0,1\n1,1 mA\n"), "ppk2-csv").contains("`1 mA`"));
}

#[test]
fn statistics_of_a_joulescope_are_of_the_interval_before_their_time() {
    let text = "#time,current,voltage,power,charge,energy\n0.0,1,2,2,0,0\n0.5,2,2,4,1,2\n";
    let readings = read(text, "joulescope-csv");
    assert_eq!(readings.layout.origin, Origin::OwnClock(-0.5));
    assert_eq!((readings.series.len(), readings.end), (3, SimTime(1_000_000_000_000)));
    let dated = "#time,current\n20240131T120000.5Z,1\n20240131T120001.0Z,nan\n";
    let readings = read(dated, "joulescope-csv");
    let noon = 1_706_702_400_000_000_000;
    assert_eq!(readings.layout.origin, Origin::Wall { unix_ns: noon, utc: true });
    assert!(readings.series[0].values()[1].is_nan());
}

#[test]
fn one_signal_of_pyjls_needs_its_rate_and_unit() {
    let text = "1.0e-3\n2.0e-3\n";
    assert_eq!(taken(text.as_bytes()), None);
    assert!(fault(text, "joulescope-csv").contains("--unit A"));
    let mut options = Options { rate: Some(Hertz(1e6)), ..Options::default() };
    options.table.unit = Some("A".into());
    let readings = read_bytes(text.as_bytes(), "joulescope-csv", &options).unwrap();
    assert_eq!(readings.series[0].values(), [1e-3, 2e-3]);
    assert_eq!(readings.end, SimTime(2_000_000));
}

#[test]
fn a_monsoon_is_paced_by_the_number_of_its_rows() {
    let row = |k: u32| format!("{},{},1.8,\n", k / 50 * 10, k);
    let text: String = (0..200).map(row).collect();
    let seconds = |text: &str| text.replace("0,", "0.0,");
    let text = format!("Time(ms),Main(mA),Main Voltage(V),\n{}", seconds(&text));
    let options = Options { rate: Some(Hertz(5000.0)), ..Options::default() };
    let given = read_bytes(text.as_bytes(), "monsoon-csv", &options).unwrap();
    assert_eq!(given.end, SimTime(40_000_000_000));
    let packets: String = (0..500).map(|k| format!("0.{:02},1,3.7,\n", k / 50)).collect();
    let text = format!("Time(ms),Main(mA),Main Voltage(V),\n{packets}");
    let readings = read(&text, "monsoon-csv");
    assert_eq!(readings.end, SimTime(100_000_000_000));
    let remarks = readings.layout.remarks.join("\n");
    assert!(remarks.contains("5000 Hz by their number"), "{remarks}");
    let scalars = "Time(s),Main(mA)\nnp.float64(0.0),np.float64(2.5)\n";
    assert_eq!(read(scalars, "monsoon-csv").series[0].values(), [2.5e-3]);
}

#[test]
fn a_logic_analyser_starts_before_its_trigger_or_at_a_date() {
    let text = "Time [s],clock,Channel 1\n-0.500000000,1,0\n0.000000000,0,0\n0.25,0,1\n";
    let readings = read(text, "saleae-csv");
    assert_eq!(readings.layout.origin, Origin::OwnClock(-0.5));
    assert_eq!((falls(&readings, 0), readings.end), (vec![500_000], SimTime(750_000_000_000)));
    let dated = "Time [s],Channel 0\n2022-07-09T00:04:09.000000001+00:00,1\n2022-07-09T00:04:09.500000001+00:00,0\n";
    let readings = read(dated, "saleae-csv");
    assert!(matches!(readings.layout.origin, Origin::Wall { utc: true, .. }));
    assert_eq!(falls(&readings, 0), [500_000]);
    let analogue = "Time [s],Channel 0\n0,1.25\n0.001,1.5\n";
    assert_eq!(read(analogue, "saleae-csv").series[0].values(), [1.25, 1.5]);
    assert!(fault("Time [s],Channel 0\n0,1\n1,2\n0,1\n1,0\n", "saleae-csv").contains("backwards"));
}

#[test]
fn the_rate_of_sigrok_is_right_where_its_times_are_rounded_down() {
    let head = "; CSV generated by libsigrok 0.6.0\n; from Demo device\n; Channels (2/8): D0, A1\n";
    let kilo = format!("{head}; Samplerate: 1 kHz\nmilliseconds,logic,V\n1,1,0.5\n2,0,0.25\n");
    let readings = read(&kilo, "sigrok-csv");
    assert_eq!((falls(&readings, 0), readings.end), (vec![1000], SimTime(2_000_000_000)));
    assert_eq!(readings.series[0].values(), [0.5, 0.25]);
    // 24 MHz takes 41 whole nanoseconds of 41.67.
    let mega = format!("{head}; Samplerate: 24 MHz\nTime,D0,A1\n41,1,0.5\n82,0,0.25\n123,0,0.5\n");
    let readings = read(&mega, "sigrok-csv");
    assert_eq!(
        (readings.edges.last().unwrap().at, readings.end),
        (SimTime(41_667), SimTime(125_000))
    );
    let timeless = format!("{head}; Samplerate: 2 kHz\nlogic,V\n1,0.5\n0,0.5\n");
    let readings = read(&timeless, "sigrok-csv");
    assert_eq!(falls(&readings, 0), [500]);
    assert!(readings.layout.remarks.iter().any(|r| r.contains("dedup")));
    let rateless = format!("{head}logic,V\n1,0.5\n");
    assert!(fault(&rateless, "sigrok-csv").contains("--rate HZ"));
}

#[test]
fn a_format_is_named_where_nothing_tells_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.csv");
    std::fs::write(&path, "a;b\n0;1,5\n1;2,5\n").unwrap();
    assert!(matches!(open(&path), Err(FormatError::Unrecognised { .. })));
    let mut options = Options::default();
    options.table.time_column = Some("a".into());
    options.table.columns = vec!["b=mA".into()];
    let mut readings = Readings::default();
    open_as(&path, "csv").unwrap().read(&options, &mut readings).unwrap();
    assert_eq!(readings.series[0].values(), [1.5e-3, 2.5e-3]);
}
