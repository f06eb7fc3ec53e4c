use super::super::log_tests::*;
use super::*;
use proptest::prelude::*;

const TABLE: &str = "LogCsv 2 events.\n\"Event\",\"Tag\",\"uSeconds\",\"Est MACs\",\"MAC Eq\",\"Output Shape\", \"Stride H\",\"ARM_PMU_MEM_ACCESS\"\n0, CONV_2D, 1559, 320000, 10*4*25, 1*25*5*64, 2, 118076,\n1, SOFTMAX, 22, 0, 0, 1*12, 0, 470,\n0, CONV_2D, 1560, 320000, 10*4*25, 1*25*5*64, 2, 118077,\nbye\n";

#[test]
fn numbers_behind_the_time_are_counts_of_their_layer() {
    assert_eq!(name_of(TABLE), Some("ambiq-layers"));
    let readings = read_text(&FORMAT, TABLE).unwrap();
    let spans: Vec<_> =
        readings.spans.iter().map(|s| (s.name.as_str(), s.inference, s.end.0)).collect();
    let expected = [
        ("CONV_2D", Some(0), 1_559_000_000),
        ("SOFTMAX", Some(0), 1_581_000_000),
        ("CONV_2D", Some(1), 3_141_000_000),
    ];
    assert_eq!(spans, expected);
    let names: Vec<_> = readings.layout.channels.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(names, ["Est MACs", "ARM_PMU_MEM_ACCESS"]);
    assert_eq!(values(&readings, "ARM_PMU_MEM_ACCESS"), [118_076.0, 470.0, 118_077.0]);
    assert!(says(&readings, "counters on"));
}

#[test]
fn what_is_wrong_is_told() {
    changes_do_not_panic(&FORMAT, TABLE, &Options::default());
    assert!(fault(&FORMAT, &TABLE.replace(" 1559", " x")).contains("log:3: `x` in uSeconds"));
    assert!(
        fault(&FORMAT, &TABLE.replace(" 1*12, 0, 470,", " 470"))
            .contains("log:4: 6 cells, expected 8")
    );
    assert!(fault(&FORMAT, &TABLE.replace(" 22,", " -22,")).contains("no less than zero"));
    assert!(fault(&FORMAT, "nothing\n").contains("a head with Event, Tag and uSeconds is missing"));
    assert!(fault(&FORMAT, TABLE.lines().nth(1).unwrap()).contains("no sample"));
    assert!(fault(&FORMAT, "").contains("empty"));
    let rows = TABLE.replace("bye\n", "");
    for cut in 0..rows.len() {
        if let Ok(part) = read_text(&FORMAT, &rows[..cut]) {
            assert!(part.spans.len() <= 3);
        }
    }
}

proptest! {
    #[test]
    fn nothing_that_is_read_panics(text in "([0-9., \n\"-]|CONV){0,60}") {
        let _ = read_text(&FORMAT, &format!("Event,Tag,uSeconds,n\n{text}\n"));
    }
}
