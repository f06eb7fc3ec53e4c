use super::super::log_tests::*;
use super::*;
use proptest::prelude::*;

const HEAD: &str = "timestamp, index, name, power.draw [W], clocks.current.sm [MHz], temperature.gpu, utilization.gpu [%], memory.used [MiB], pstate\n";

fn row(second: &str, gpu: u32, power: &str) -> String {
    format!(
        "2024/10/30 18:42:{second}, {gpu}, NVIDIA A, {power}, 1410 MHz, 52, 87 %, 1024 MiB, P0\n"
    )
}

#[test]
fn gpus_that_interleave_are_rails_of_their_own() {
    let log = HEAD.to_owned()
        + &row("33.000", 0, "22.89 W")
        + &row("33.000", 1, "[N/A]")
        + &row("33.500", 0, "22.89 W")
        + &row("33.502", 1, "50.00 W");
    assert_eq!(name_of(&log), Some("nvidia-smi"));
    let readings = read_text(&FORMAT, &log).unwrap();
    assert_eq!(segments(&readings, "gpu0 power.draw"), [(0.0, 0.5, 22.89), (0.5, 1.0, 22.89)]);
    assert!(values(&readings, "gpu1 power.draw")[0].is_nan());
    assert_eq!(segments(&readings, "gpu1 power.draw")[1], (0.502, 1.004, 50.0));
    assert_eq!(values(&readings, "gpu0 clocks.current.sm"), [1410e6, 1410e6]);
    assert_eq!(values(&readings, "gpu0 utilization.gpu"), [0.87, 0.87]);
    assert_eq!(values(&readings, "gpu1 memory.used")[0], 1024.0 * 1_048_576.0);
    assert!(says(&readings, "1 of 2 readings of gpu0's power repeat"));
    assert!(
        says(&readings, "about one second")
            && says(&readings, "left out, as no readings: name, pstate")
    );
    assert_eq!(readings.layout.channels[0].rail, "gpu0");
}

#[test]
fn cells_without_units_are_in_those_of_the_head() {
    let log = "timestamp, power.draw [W], power.limit [W]\n2024/10/30 18:42:33, 22.5, 250.0\n";
    let readings = read_text(&FORMAT, log).unwrap();
    assert_eq!(values(&readings, "gpu0 power.draw"), [22.5]);
    let limit = readings.layout.channels.iter().find(|c| c.name == "gpu0 power.limit").unwrap();
    assert_eq!((limit.kind, limit.rail.as_str()), (ChannelKind::Other, ""));
}

#[test]
fn rows_of_one_stamp_are_one_of_each_gpu_where_nothing_tells_them_apart() {
    let log = "timestamp, power.draw [W]\n2024/10/30 18:42:33.1, 1 W\n2024/10/30 18:42:33.1, 2 W\n2024/10/30 18:42:34.1, 3 W\n2024/10/30 18:42:34.1, 4 W\n";
    let readings = read_text(&FORMAT, log).unwrap();
    assert_eq!(values(&readings, "gpu0 power.draw"), [1.0, 3.0]);
    assert_eq!(values(&readings, "gpu1 power.draw"), [2.0, 4.0]);
    assert!(says(&readings, "no column tells GPUs apart"));
}

#[test]
fn a_module_feeds_its_gpu_and_a_second_head_is_passed_by() {
    let head = "timestamp, uuid, power.draw [W], module.power.draw.average [W]\n";
    let log = format!(
        "{head}2024/10/30 18:42:33.1, GPU-a, 300 W, 500 W\n{head}2024/10/30 18:42:34.1, GPU-a, 301 W, 501 W\n"
    );
    let readings = read_text(&FORMAT, &log).unwrap();
    assert_eq!(values(&readings, "GPU-a power.draw"), [300.0, 301.0]);
    assert_eq!(readings.layout.channels[0].part_of.as_deref(), Some("GPU-a module"));
}

#[test]
fn what_is_wrong_is_told_with_its_line() {
    let with = |rows: &str| HEAD.to_owned() + rows;
    let swapped = with(&row("33.0", 0, "22.89 MHz"));
    assert!(fault(&FORMAT, &swapped).contains("log:2: `MHz` is no unit of power.draw; expected W"));
    let milli = HEAD.replace("[W]", "[mW]") + &row("33.0", 0, "22");
    assert!(fault(&FORMAT, &milli).contains("log:1: `mW` is no unit of power.draw"));
    let backwards = with(&(row("33.0", 0, "1 W") + &row("32.0", 0, "1 W")));
    assert!(fault(&FORMAT, &backwards).contains("log:3: time runs backwards"));
    assert!(fault(&FORMAT, &with("2024/10/30 18:42:33, 0\n")).contains("2 cells, expected 9"));
    assert!(fault(&FORMAT, &with(&row("99.0", 0, "1 W"))).contains("expected `YYYY/MM/DD"));
    assert!(fault(&FORMAT, &with(&row("33.0", 0, "many"))).contains("`many` in power.draw"));
    assert!(fault(&FORMAT, HEAD).contains("no sample"));
    assert!(fault(&FORMAT, "power.draw [W]\n1\n").contains("no column `timestamp`"));
    assert!(fault(&FORMAT, "").contains("empty"));
    assert_eq!(name_of("dataset,power_limit,average_power\na,100,1\n"), None);
    assert_eq!(name_of("timestamp,voltage,current\n0,1,2\n"), None);
}

#[test]
fn equal_stamps_of_one_gpu_weigh_nothing_and_a_cut_log_is_a_shorter_one() {
    let log =
        HEAD.to_owned() + &row("33.0", 0, "1 W") + &row("33.0", 0, "2 W") + &row("34.0", 0, "3 W");
    assert!(says(&read_text(&FORMAT, &log).unwrap(), "1 rows of gpu0 have the stamp"));
    cuts_are_honest(&FORMAT, &log, &Options::default());
}

proptest! {
    #[test]
    fn nothing_that_is_read_panics(text in "(2024/10/30 18:42:33|, | W|[0-9.\n,\\[-]){0,40}") {
        let _ = read_text(&FORMAT, &text);
        let _ = read_text(&FORMAT, &format!("timestamp, index, power.draw [W]\n{text}\n"));
    }
}
