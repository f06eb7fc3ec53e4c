use super::super::log_tests::*;
use super::*;
use crate::trace::Readings;
use crate::units::Hertz;
use proptest::prelude::*;

fn layers(readings: &Readings) -> Vec<(&str, u64, u64)> {
    let of = |span: &crate::trace::Span| (span.end.since(span.start).0) / 1_000;
    readings.spans.iter().map(|s| (s.name.as_str(), s.inference.unwrap(), of(s))).collect()
}

const TEXT: &str = "boot\n[00:00:01.250,000] <inf> app: CONV_2D took 1500000 ticks (12 ms).\n[00:00:01.251,000] <inf> app: ADD took 30000 ticks (0 ms).\ndone\nI (1234) app: CONV_2D took 1560000 ticks (13 ms).\nI (1240) app: ADD took 30000 ticks (0 ms).\n";

#[test]
fn the_rate_of_ticks_follows_from_the_milliseconds_or_is_given() {
    assert_eq!(name_of(TEXT), Some("tflm-profile"));
    let readings = read_text(&FORMAT, TEXT).unwrap();
    assert!(says(&readings, "--rate says it"));
    // 1.56 M ticks in 13 to 14 ms and 1.5 M in 12 to 13 ms: between 115.4 and 120 MHz.
    let length = readings.spans[0].end.seconds().0;
    assert!((12.5e-3..13.0e-3).contains(&length), "{length}");
    let options = Options { rate: Some(Hertz(120e6)), ..Options::default() };
    let readings = read_with(&FORMAT, TEXT, &options).unwrap();
    let expected = [
        ("CONV_2D", 0, 12_500_000),
        ("ADD", 0, 250_000),
        ("CONV_2D", 1, 13_000_000),
        ("ADD", 1, 250_000),
    ];
    assert_eq!(layers(&readings), expected);
    assert_eq!(values(&readings, "ticks"), [1.5e6, 3e4, 1.56e6, 3e4]);
    assert_eq!(readings.spans[1].start, readings.spans[0].end);
}

#[test]
fn the_csv_starts_a_new_inference_where_its_numbers_do() {
    let log = "x: \"Event\",\"Tag\",\"Ticks\",\"ms\"\nx: 0,CONV_2D,240000,2\nx: 1,SOFTMAX,1200,0\nx: 0,CONV_2D,240000,2\n\"Unique Tag\",\"Total ticks across all events with that tag.\"\nCONV_2D, 480000\n\"total number of ticks\", 481200\n";
    assert_eq!(name_of(log), Some("tflm-profile"));
    let options = Options { rate: Some(Hertz(120e6)), ..Options::default() };
    let readings = read_with(&FORMAT, log, &options).unwrap();
    let expected = [("CONV_2D", 0, 2_000_000), ("SOFTMAX", 0, 10_000), ("CONV_2D", 1, 2_000_000)];
    assert_eq!(layers(&readings), expected);
    assert!(says(&readings, "totals by tag"));
}

#[test]
fn ports_print_microseconds_and_cycles() {
    let log = "\"Event\",\"Tag\",\"microseconds\"\n0,CONV_2D,1500\n";
    assert_eq!(layers(&read_text(&FORMAT, log).unwrap()), [("CONV_2D", 0, 1_500_000)]);
    let log = "CONV_2D took 1500 microseconds.\nADD took 10 us (960 cycles).\n";
    let readings = read_text(&FORMAT, log).unwrap();
    assert_eq!(layers(&readings), [("CONV_2D", 0, 1_500_000), ("ADD", 0, 10_000)]);
    assert!(values(&readings, "cycles")[0].is_nan());
    assert_eq!(values(&readings, "cycles")[1], 960.0);
    let padded = "\"Event\",\"Tag\",\"Ticks\", \"Percentage\"\n0    ,CONV_2D         ,240             ,99.00%\n";
    let options = Options { rate: Some(Hertz(1e6)), ..Options::default() };
    assert_eq!(layers(&read_with(&FORMAT, padded, &options).unwrap()), [("CONV_2D", 0, 240_000)]);
}

#[test]
fn what_is_wrong_is_told() {
    assert!(fault(&FORMAT, "CONV_2D took 1200 ticks (0 ms).\n").contains("--rate"));
    assert!(fault(&FORMAT, "\"Event\",\"Tag\",\"Ticks\"\n0,A,1\n").contains("--rate"));
    assert!(
        fault(&FORMAT, "\"Unique Tag\",\"Total\"\nA, 1\n").contains("totals by tag are no layers")
    );
    assert!(fault(&FORMAT, "CONV_2D took long\n").contains("no sample"));
    assert!(fault(&FORMAT, "").contains("empty"));
    assert_eq!(name_of("it took 3 hours\n"), None);
    let options = Options { rate: Some(Hertz(0.0)), ..Options::default() };
    assert!(read_with(&FORMAT, TEXT, &options).is_err());
    let options = Options { rate: Some(Hertz(120e6)), ..Options::default() };
    cuts_are_honest(&FORMAT, TEXT, &options);
}

proptest! {
    #[test]
    fn nothing_that_is_read_panics(text in "(A took |[0-9]{1,22}|ticks| \\(|ms\\)\\.|\"Event\",\"Tag\",\"Ticks\"|[,\n ]){0,30}", rate in proptest::num::f64::ANY) {
        let _ = read_text(&FORMAT, &text);
        let _ = read_with(&FORMAT, &text, &Options { rate: Some(Hertz(rate)), ..Options::default() });
    }
}
