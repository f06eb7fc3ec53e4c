use super::super::Options;
use super::super::log_tests::*;
use super::*;
use proptest::prelude::*;

const LOG: &str = "Time,01-02-2023 23:59:58.500,Watts,10.5,Volts,230.1,Amps,0.1,PF,0.45,Mark,idle\n\
    Time,01-02-2023 23:59:59.500,Watts,10.7,Volts,230.0,Amps,0.11,PF,0.45,Mark,idle\n\
    Time,01-03-2023 00:00:00.500,Watts,20.0,Volts,229.9,Amps,0.2,PF,0.5,Mark,busy\n\
    Time,01-03-2023 00:00:04.500,Watts,21.0,Volts,229.8,Amps,0.2,PF,0.5,Mark,busy\n";

#[test]
fn a_line_is_the_mean_of_the_second_before_it_and_missing_lines_are_a_gap() {
    assert_eq!(name_of(LOG), Some("ptdaemon"));
    let readings = read_text(&FORMAT, LOG).unwrap();
    let expected = [(0.0, 1.0, 10.5), (1.0, 2.0, 10.7), (2.0, 3.0, 20.0), (6.0, 7.0, 21.0)];
    assert_eq!(segments(&readings, "Watts"), expected);
    assert_eq!(values(&readings, "PF"), [0.45, 0.45, 0.5, 0.5]);
    let marks: Vec<_> = readings.marks.iter().map(|m| (m.at.0, m.name.as_str())).collect();
    assert_eq!(marks, [(0, "idle"), (2_000_000_000_000, "busy")]);
    // One second before 2023-01-02 23:59:58.5.
    let origin = Origin::Wall { unix_ns: 1_672_703_997_500_000_000, utc: false };
    assert_eq!(readings.layout.origin, origin);
    assert_eq!(readings.end, SimTime(7_000_000_000_000));
}

#[test]
fn phases_are_parts_of_the_wall_and_minus_one_is_a_gap() {
    let log = "Time,01-02-2023 00:00:00.000,Watts,300,Volts,-1.000000,Amps,-1.0,PF,-1,Mark,x,Ch1,Watts,100,Volts,120,Amps,0.9,PF,0.9,Ch2,Watts,200,Volts,121,Amps,1.8,PF,0.9\n";
    let readings = read_text(&FORMAT, log).unwrap();
    assert!(values(&readings, "Volts")[0].is_nan());
    assert!(says(&readings, "3 readings of -1"));
    let second = readings.layout.channels.iter().find(|c| c.name == "Ch2 Watts").unwrap();
    assert_eq!((second.rail.as_str(), second.part_of.as_deref()), ("wall Ch2", Some("wall")));
    assert_eq!(segments(&readings, "Ch2 Watts"), [(0.0, 1.0, 200.0)]);
}

#[test]
fn what_is_wrong_is_told_with_its_line() {
    let line = |time: &str| format!("Time,{time},Watts,1.0,Mark,x\n");
    let backwards = line("01-02-2023 00:00:02.000") + &line("01-02-2023 00:00:01.000");
    assert_eq!(fault(&FORMAT, &backwards), "log:2: time runs backwards: -1 s after 0 s");
    let other = line("01-02-2023 00:00:02.000") + "Time,01-02-2023 00:00:03.000,Volts,1,Mark,x\n";
    assert!(fault(&FORMAT, &other).contains("log:2: expected the quantities of the first line"));
    for (text, words) in [
        ("", "empty"),
        ("\n\n", "no sample"),
        ("Time,2023-01-02 00:00:00,Watts,1,Mark,x\n", "expected `Time,MM-DD-YYYY"),
        ("Time,01-02-2023 00:00:00,Watts,x,Mark,x\n", "`x` in Watts is not a number"),
        ("Time,01-02-2023 00:00:00,Watts\n", "the value of Watts is missing"),
        ("Time,01-02-2023 00:00:00,Joules,1,Mark,x\n", "expected Watts, Volts, Amps, PF"),
        ("Timestamp(ms),Current(uA)\n0,1\n", "expected `Time,MM-DD-YYYY"),
    ] {
        assert!(fault(&FORMAT, text).contains(words), "{text}: {}", fault(&FORMAT, text));
    }
}

#[test]
fn equal_stamps_weigh_nothing_and_a_cut_file_is_a_shorter_one() {
    let line = "Time,01-02-2023 00:00:02.000,Watts,1.0,Mark,x\n";
    let readings = read_text(&FORMAT, &line.repeat(2)).unwrap();
    assert!(says(&readings, "1 lines have the stamp"));
    assert_eq!(segments(&readings, "Watts"), [(0.0, 1.0, 1.0), (1.0, 1.0, 1.0)]);
    cuts_are_honest(&FORMAT, LOG, &Options::default());
    assert!(says(&read_text(&FORMAT, LOG.trim_end()).unwrap(), "no end"));
}

proptest! {
    #[test]
    fn nothing_that_is_read_panics(text in "(Time,|Watts,|Mark,|Ch1,|01-02-2023 00:00:00.0|[0-9.,\n -]){0,40}") {
        let _ = read_text(&FORMAT, &text);
    }
}
