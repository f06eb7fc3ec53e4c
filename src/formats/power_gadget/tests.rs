use super::super::log_tests::*;
use super::*;
use proptest::prelude::*;

const LOG: &str = "System Time,RDTSC,Elapsed Time (sec), CPU Utilization(%),CPU Frequency_0(MHz),Processor Power_0(Watt),Cumulative Processor Energy_0(Joules),Cumulative Processor Energy_0(mWh),IA Power_0(Watt),Package Temperature_0(C),Package Hot_0,DRAM Power_0(Watt),Package Power Limit_0(Watt)\n\
17:16:13:287, 69904436189900,  0.500,  10.000, 2000,  4.000,  2.000,  0.556,  1.500, 44,0,  1.250,  15.000\n\
17:16:13:787, 69904436189901,  1.000,  20.000, 2100,  6.000,  5.000,  1.389,  2.500, 45,0,  1.250,  15.000\n\
\n\
Total Elapsed Time (sec) = 1.000000\n\
Cumulative Processor Energy_0 (Joules) = 5.000000\n\
Average Processor Power_0 (Watt) = 5.000000\n";

#[test]
fn a_row_is_the_mean_up_to_its_time_and_the_summary_is_no_row() {
    assert_eq!(name_of(LOG), Some("power-gadget"));
    let readings = read_text(&FORMAT, LOG).unwrap();
    assert_eq!(segments(&readings, "Processor Power_0"), [(0.0, 0.5, 4.0), (0.5, 1.0, 6.0)]);
    // The energy that the log states.
    let energy: f64 =
        segments(&readings, "Processor Power_0").iter().map(|(a, b, w)| (b - a) * w).sum();
    assert_eq!(energy, 5.0);
    assert_eq!(values(&readings, "CPU Utilization"), [0.1, 0.2]);
    assert_eq!(values(&readings, "CPU Frequency_0"), [2e9, 2.1e9]);
    let ia = readings.layout.channels.iter().find(|c| c.rail == "IA_0").unwrap();
    assert_eq!(ia.part_of.as_deref(), Some("Processor_0"));
    let dram = readings.layout.channels.iter().find(|c| c.rail == "DRAM_0").unwrap();
    assert_eq!(dram.part_of, None);
    assert_eq!(readings.layout.channels.len(), 6);
    // 17:16:13.287 less the half second of the first row.
    assert_eq!(readings.layout.origin, Origin::OwnClock(62_172.787));
}

#[test]
fn what_is_wrong_is_told_with_its_line() {
    let swap = LOG.replace("  1.000,  20", "  0.250,  20");
    assert!(fault(&FORMAT, &swap).contains("log:3: time runs backwards"));
    assert!(fault(&FORMAT, &LOG.replace(" 6.000", " six")).contains("`six` in Processor Power_0"));
    assert!(fault(&FORMAT, &LOG.replace(", 45,0", ", 45")).contains("12 cells, expected 13"));
    assert!(fault(&FORMAT, "System Time,RDTSC\n").contains("no column `Elapsed Time (sec)`"));
    assert!(fault(&FORMAT, LOG.lines().next().unwrap()).contains("no sample"));
    assert!(fault(&FORMAT, "").contains("empty"));
    let twice = LOG.replace("  1.000,  20", "  0.500,  20");
    assert!(says(&read_text(&FORMAT, &twice).unwrap(), "1 rows have the time"));
    cuts_are_honest(&FORMAT, LOG, &Options::default());
}

proptest! {
    #[test]
    fn nothing_that_is_read_panics(text in "[0-9:., \n=-]{0,60}") {
        let _ = read_text(&FORMAT, &text);
        let _ = read_text(&FORMAT, &format!("System Time,Elapsed Time (sec),Processor Power_0(Watt)\n{text}\n"));
    }
}
