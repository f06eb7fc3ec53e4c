use super::super::log_tests::*;
use super::*;
use proptest::prelude::*;

const NANO: &str = "RAM 534/3964MB (lfb 98x4MB) SWAP 5/1982MB (cached 1MB) IRAM 0/252kB(lfb 252kB) CPU [16%@204,9%@204,off,0%@204] EMC_FREQ 0%@204 GR3D_FREQ 40%@76 APE 25 PLL@34C CPU@36.5C PMIC@100C GPU@36C thermal@36.25C POM_5V_IN 1022/1010 POM_5V_GPU 82/40 POM_5V_CPU 204/204\n";
const TX2: &str = "RAM 1345/7829MB (lfb 1290x4MB) SWAP 0/512MB (cached 0MB) CPU [2%@345,off] EMC_FREQ 13%@40 GR3D_FREQ 0%@114 APE 150 MTS fg 3% bg 1% BCPU@35C PMIC@100C VDD_IN 2003/2658 VDD_CPU 320/518 VDD_GPU 400/735 VDD_SOC 400/415 VDD_WIFI 0/0 VDD_DDR 240/348\n";
const XAVIER: &str = "RAM 721/31927MB (lfb 7291x4MB) CPU [2%@1190,off] EMC_FREQ 0% GR3D_FREQ 0% AO@37.5C GPU@37.5C CPU@37.5C GPU 10/5 CPU 311/311 SOC 932/932 CV 0/0 VDDRQ 621/621 SYS5V 1482/1482\n";
const ORIN: &str = "10-16-2023 10:59:22 RAM 1205/30623MB (lfb 6429x4MB) SWAP 0/15311MB (cached 0MB) CPU [0%@729,off] EMC_FREQ 0%@204 GR3D_FREQ 12%@[1300,1200] NVJPG1 729 NVDEC off VIC_FREQ 729 APE 233 CV0@-256C CPU@43.5C SOC2@40.062C VDD_GPU_SOC 4788mW/4000mW VDD_CPU_CV -398mW/798mW VIN_SYS_5V0 3842mW/3842mW NC 0mW/0mW VDDQ_VDD2_1V8AO 707mW/707mW NC 0mW/0mW\n";
const THOR: &str = "07-02-2026 13:45:44 RAM 36529/125749MB (lfb 12x4MB) SWAP 11/4096MB (cached 9MB) CPU [2%@972,1%@972] GR3D_FREQ @[314,314,315] NVENC0_FREQ @314 cpu@60.406C/60.5C tj@63.281C VDD_GPU 37528mW/37528mW/37530mW VDD_CPU_SOC_MSS 18961mW VIN_SYS_5V0 18331mW/18331mW/18331mW VIN 87426mW/43713mW/87426mW\n";

fn rail<'a>(readings: &'a crate::trace::Readings, name: &str) -> (f64, Option<&'a str>) {
    let channel = readings.layout.channels.iter().find(|c| c.rail == name).unwrap();
    (values(readings, name)[0], channel.part_of.as_deref())
}

fn close(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 1e-9 * expected.abs(), "{found} for {expected}");
}

#[test]
fn every_generation_is_recognised_and_its_first_figure_taken() {
    for line in [NANO, TX2, XAVIER, ORIN, THOR] {
        assert_eq!(name_of(line), Some("tegrastats"), "{line}");
    }
    let nano = read_text(&FORMAT, NANO).unwrap();
    assert_eq!(rail(&nano, "POM_5V_IN"), (1.022, None));
    assert_eq!(rail(&nano, "POM_5V_GPU"), (0.082, Some("POM_5V_IN")));
    let tx2 = read_text(&FORMAT, TX2).unwrap();
    assert_eq!(rail(&tx2, "VDD_DDR"), (0.24, Some("VDD_IN")));
    assert_eq!(values(&tx2, "MTS fg load"), [0.03]);
    let xavier = read_text(&FORMAT, XAVIER).unwrap();
    assert_eq!(rail(&xavier, "GPU"), (0.01, None));
    assert_eq!(values(&xavier, "GPU temperature"), [37.5]);
    assert!(says(&xavier, "no rail carries the whole board"));
    let thor = read_text(&FORMAT, THOR).unwrap();
    assert_eq!(rail(&thor, "VDD_GPU"), (37.528, Some("VIN")));
    close(rail(&thor, "VDD_CPU_SOC_MSS").0, 18.961);
    assert_eq!(rail(&thor, "VDD_CPU_SOC_MSS").1, Some("VIN"));
    assert_eq!(values(&thor, "cpu temperature"), [60.406]);
}

#[test]
fn loads_clocks_and_what_is_off() {
    let nano = read_text(&FORMAT, NANO).unwrap();
    close(values(&nano, "CPU0 load")[0], 0.16);
    close(values(&nano, "CPU0 clock")[0], 204e6);
    assert!(values(&nano, "CPU2 load")[0].is_nan());
    assert!(values(&nano, "CPU2 clock")[0].is_nan());
    close(values(&nano, "GR3D_FREQ load")[0], 0.4);
    close(values(&nano, "GR3D_FREQ clock")[0], 76e6);
    close(values(&nano, "APE clock")[0], 25e6);
    assert!(says(&nano, "PMIC shows a constant"));
    let orin = read_text(&FORMAT, ORIN).unwrap();
    close(values(&orin, "GR3D_FREQ load")[0], 0.12);
    close(values(&orin, "GR3D_FREQ 1 clock")[0], 1200e6);
    assert!(values(&orin, "CV0 temperature")[0].is_nan());
    assert!(values(&orin, "NVDEC clock")[0].is_nan());
    assert_eq!(rail(&orin, "VDD_CPU_CV"), (-0.398, None));
    assert_eq!(rail(&orin, "VDDQ_VDD2_1V8AO").1, Some("VIN_SYS_5V0"));
    assert!(!orin.layout.channels.iter().any(|channel| channel.rail == "NC"));
    let thor = read_text(&FORMAT, THOR).unwrap();
    close(values(&thor, "GR3D_FREQ 2 clock")[0], 315e6);
    close(values(&thor, "NVENC0_FREQ clock")[0], 314e6);
    let old = "RAM 1/2MB (lfb 1x4MB) cpu [5%,off,0%]@102 GR3D 7%@76\n";
    let old = read_text(&FORMAT, old).unwrap();
    close(values(&old, "CPU2 clock")[0], 102e6);
    assert!(says(&old, "no rail in it"));
}

#[test]
fn lines_without_stamps_are_a_second_apart_unless_told_otherwise() {
    let log = format!("{NANO}some other line\n{NANO}");
    let readings = read_text(&FORMAT, &log).unwrap();
    assert_eq!(segments(&readings, "POM_5V_IN"), [(0.0, 1.0, 1.022), (1.0, 2.0, 1.022)]);
    assert!(
        says(&readings, "taken as 1 s apart") && says(&readings, "1 lines that are no readings")
    );
    let options = Options { rate: Some(Hertz(4.0)), ..Options::default() };
    let readings = read_with(&FORMAT, &log, &options).unwrap();
    assert_eq!(readings.end, SimTime(500_000_000_000));
    assert!(says(&readings, "0.25 s apart as --rate says"));
    for rate in [0.0, -1.0, f64::NAN, 1e13, 1e-30] {
        let options = Options { rate: Some(Hertz(rate)), ..Options::default() };
        assert!(read_with(&FORMAT, &log, &options).is_err(), "{rate}");
    }
}

fn stamped(seconds: &[u32]) -> String {
    let line = |(number, second): (usize, &u32)| {
        format!(
            "10-16-2023 10:59:{second:02} RAM 1/2MB CPU [0%@1] VDD_IN {}mW/0mW\n",
            1000 * number
        )
    };
    seconds.iter().enumerate().map(line).collect()
}

#[test]
fn lines_of_one_second_are_spread_over_it() {
    let readings = read_text(&FORMAT, &stamped(&[3, 4, 4, 5, 5, 6, 6, 7])).unwrap();
    let starts: Vec<_> = segments(&readings, "VDD_IN").iter().map(|s| s.0).collect();
    // The first line is the second half of its second.
    assert_eq!(starts, [0.0, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0]);
    let readings = read_text(&FORMAT, &stamped(&[3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 6])).unwrap();
    let starts: Vec<_> = segments(&readings, "VDD_IN").iter().map(|s| s.0).collect();
    assert_eq!(starts[..4], [0.0, 0.25, 0.5, 0.75]);
    assert!(says(&readings, "spread evenly"));
}

#[test]
fn seconds_that_are_skipped_are_no_gap_and_more_is() {
    let readings = read_text(&FORMAT, &stamped(&[1, 2, 3, 5, 6, 20])).unwrap();
    let segments = segments(&readings, "VDD_IN");
    assert_eq!(segments[2], (2.0, 4.0, 2.0));
    assert_eq!(segments[4], (5.0, 6.0, 4.0));
    assert_eq!(segments[5], (19.0, 20.0, 5.0));
}

#[test]
fn what_is_wrong_is_told_with_its_line() {
    assert!(fault(&FORMAT, &stamped(&[5, 4])).contains("log:2: time runs backwards"));
    assert!(fault(&FORMAT, &(stamped(&[5]) + NANO)).contains("log:2: the time stamp of the line"));
    let amperes = NANO.replace("1022/1010", "1022mA/1010mA");
    assert!(fault(&FORMAT, &amperes).contains("`mA` is no unit of POM_5V_IN; expected mW"));
    assert!(fault(&FORMAT, &NANO.replace("16%@204", "x%@204")).contains("in CPU0 is not a number"));
    assert!(fault(&FORMAT, "nothing\n").contains("no sample"));
    assert!(fault(&FORMAT, "2023-10-16 1 RAM 1/2MB CPU [0%]\n").contains("expected `MM-DD-YYYY"));
    assert!(fault(&FORMAT, "").contains("empty"));
    let still = stamped(&[1]).repeat(5000);
    assert!(fault(&FORMAT, &still).contains("does the clock stand still"));
}

#[test]
fn a_cut_log_is_a_shorter_one() {
    cuts_are_honest(&FORMAT, &format!("{TX2}{TX2}"), &Options::default());
    let options = Options { rate: Some(Hertz(1.0)), ..Options::default() };
    cuts_are_honest(&FORMAT, &format!("{ORIN}{ORIN}"), &options);
}

proptest! {
    #[test]
    fn nothing_that_is_read_panics(text in "(RAM 1/2MB |CPU \\[|10-16-2023 10:59:22 |VDD_IN |1/2|mW|@|C|%|\\]|off|[0-9, \n(/-]){0,40}") {
        let _ = read_text(&FORMAT, &text);
        let _ = read_text(&FORMAT, &format!("RAM 1/2MB CPU [{text}"));
    }
}
