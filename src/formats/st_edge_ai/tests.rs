use super::super::log_tests::*;
use super::*;
use proptest::prelude::*;

const REPORT: &str = "ST Edge AI Core v9.9.9-1 abc\nParameters : validate\n  device.attrs                  :   fpu,npu_cache=1,mcu_freq=800MHz,npu_freq=1000MHz\n  ST.AI Profiling results v2.0 - \"network\"\n  nb sample(s)       :   10\n  duration           :   0.253 ms by sample (0.25/0.26/0.001)\n   Inference time per node\n   -----\n   c_id    m_id   type                dur (ms)      %    cumul  CPU cycles                            name\n   -----\n   0       -      epoch (SW)             0.022   8.7%     8.7%  [     8,650      5,338      3,435 ]   EpochBlock_2\n   1       -      epoch                  0.231  91.3%   100.0%  [    21,595    158,002      5,520 ]   EpochBlock_4\n   -----\n   n/a     n/a    Inter-nodal            0.000   0.0%   100.0%                                        n/a\n   -----\n   total                                 0.253                  [    30,245    163,340      8,955 ]\n  0 is no node\n";

#[test]
fn durations_come_from_cycles_that_agree_with_the_milliseconds() {
    assert_eq!(name_of(REPORT), Some("st-edge-ai"));
    let readings = read_text(&FORMAT, REPORT).unwrap();
    let spans: Vec<_> = readings.spans.iter().map(|s| (s.name.as_str(), s.end.0)).collect();
    // 17 423 and 185 117 cycles at 800 MHz.
    assert_eq!(spans, [("EpochBlock_2", 21_778_750), ("EpochBlock_4", 253_175_000)]);
    assert_eq!(values(&readings, "cycles NPU"), [5_338.0, 158_002.0]);
    assert!(says(&readings, "cycles at 800 MHz") && says(&readings, "means of 10 inferences"));
}

#[test]
fn a_clock_that_does_not_fit_is_not_used() {
    let other = REPORT.replace("mcu_freq=800MHz", "mcu_freq=600MHz");
    let readings = read_text(&FORMAT, &other).unwrap();
    assert_eq!(readings.end.0, 253_000_000);
    assert!(says(&readings, "known to a microsecond"));
    let old = "Neural Network Tools for STM32AI v1.5.1 (STM.ai v7.0.0)\n Inference time per node\n c_id m_id desc output ms %\n 0 2 Conv2D (0x103) (1,2)/int8 12.345 60.0%\n 1 3 Dense (0x104) (1,2)/int8 8.000 40.0%\n ---\n 20.345 ms\n";
    assert_eq!(name_of(old), Some("st-edge-ai"));
    let readings = read_text(&FORMAT, old).unwrap();
    assert_eq!(readings.end.0, 20_345_000_000);
    assert!(readings.series.is_empty());
}

#[test]
fn what_is_wrong_is_told() {
    let without = REPORT.replace(TABLE, "Other table");
    assert!(fault(&FORMAT, &without).contains("Inference time per node"));
    assert!(fault(&FORMAT, &REPORT.replace("0.022", "-0.022")).contains("zero or more"));
    assert!(
        fault(&FORMAT, &REPORT.replace("  0.231  91.3%", "  x  91.3%")).contains("`x` in dur (ms)")
    );
    assert!(fault(&FORMAT, &REPORT.replace("3,435 ]", "3,435")).contains("log:11: the `]`"));
    assert!(
        fault(&FORMAT, &REPORT.replace("5,338      3,435", "3,435"))
            .contains("expected 2, found 3")
            || fault(&FORMAT, &REPORT.replace("5,338      3,435", "3,435"))
                .contains("3 cells, expected 2")
    );
    assert!(fault(&FORMAT, "").contains("empty"));
    cuts_are_honest(&FORMAT, REPORT, &Options::default());
    let cut = REPORT.split("   1       -").next().unwrap();
    assert!(says(&read_text(&FORMAT, cut).unwrap(), "the table has no end"));
}

proptest! {
    #[test]
    fn nothing_that_is_read_panics(text in "([0-9.,% \n\\[\\]-]|epoch|total|n/a){0,60}") {
        let _ = read_text(&FORMAT, &format!("{TABLE}\n{text}\n"));
    }
}
