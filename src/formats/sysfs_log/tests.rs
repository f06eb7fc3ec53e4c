use super::super::TableOptions;
use super::super::log_tests::*;
use super::*;
use proptest::prelude::*;

#[test]
fn a_counter_gives_the_mean_power_between_two_reads_and_its_wrap_is_put_right() {
    let log = "time_ns,intel-rapl:0(package-0)/energy_uj,intel-rapl:0/max_energy_range_uj,intel-rapl:0:0(core)/energy_uj\n\
        1000000000000000000,262143000000,262143328850,5000000\n\
        1000000000500000000,262143328850,262143328850,5000000\n\
        1000000001000000000,3000000,262143328850,4000000\n\
        1000000003000000000,7000000,262143328850,8000000\n";
    assert_eq!(name_of(log), Some("sysfs-log"));
    let readings = read_text(&FORMAT, log).unwrap();
    let package = segments(&readings, "intel-rapl:0/energy_uj");
    let expected = [(0.0, 0.5, 0.6577), (0.5, 1.0, 6.0), (1.0, 3.0, 2.0)];
    for (found, expected) in package.iter().zip(expected) {
        assert_eq!((found.0, found.1), (expected.0, expected.1));
        assert!((found.2 - expected.2).abs() < 1e-12, "{found:?}");
    }
    assert!(says(&readings, "intel-rapl:0/energy_uj wrapped once:"));
    // No range is given for the cores: the fall is a gap, not a negative power.
    assert_eq!(segments(&readings, "intel-rapl:0:0/energy_uj"), [(0.0, 0.5, 0.0), (1.0, 3.0, 2.0)]);
    assert!(says(&readings, "fell 1 times without a known range"));
    assert!(says(&readings, "stood still in 1 of 3 intervals"));
    let channels = &readings.layout.channels;
    assert_eq!(channels[0].rail, "intel-rapl:0(package-0)");
    assert_eq!(channels[1].part_of.as_deref(), Some("intel-rapl:0(package-0)"));
    let origin = Origin::Wall { unix_ns: 1_000_000_000_000_000_000, utc: true };
    assert_eq!(readings.layout.origin, origin);
    assert!(says(&readings, "from 1970 UTC"));
    let booted = read_text(&FORMAT, "time_s,power1_input\n12.5,1\n13.5,1\n").unwrap();
    assert_eq!(booted.layout.origin, Origin::OwnClock(12.5));
}

#[test]
fn a_range_that_could_not_be_read_is_no_range() {
    let log = "time_s,p/energy_uj,p/max_energy_range_uj\n0,10,0\n1,5,0\n2,2000005,0\n";
    let readings = read_text(&FORMAT, log).unwrap();
    assert_eq!(segments(&readings, "p/energy_uj"), [(1.0, 2.0, 2.0)]);
}

#[test]
fn psys_holds_packages_and_dram_is_beside_them() {
    let log = "time_s,intel-rapl:0(package-0)/energy_uj,intel-rapl:0:1(dram)/energy_uj,intel-rapl:1(psys)/energy_uj,intel-rapl:0:0/energy_uj\n0,0,0,0,0\n1,1,1,1,1\n";
    let readings = read_text(&FORMAT, log).unwrap();
    let parts: Vec<_> = readings.layout.channels.iter().map(|c| c.part_of.as_deref()).collect();
    let package = Some("intel-rapl:0(package-0)");
    assert_eq!(parts, [Some("intel-rapl:1(psys)"), None, None, package]);
    assert!(says(&readings, "without a name is taken as a part"));
}

#[test]
fn inputs_of_one_number_are_one_rail_in_the_units_of_the_kernel() {
    let log = "time_ms;ina226(VDD)/in0_input;ina226(VDD)/in1_input;ina226(VDD)/curr1_input;ina226(VDD)/power1_input;cpu0/scaling_cur_freq;thermal_zone1/temp;cpu0/governor\n\
        0;2;5000;1500;7500000;1800000;45500;x\n100;2;5000;;7500000;1800000;45500;x\n";
    let readings = read_text(&FORMAT, log).unwrap();
    let of = |name: &str| values(&readings, name)[0];
    assert_eq!(of("ina226/in1_input"), 5.0);
    assert_eq!(of("ina226/curr1_input"), 1.5);
    assert_eq!(of("ina226/power1_input"), 7.5);
    assert_eq!(of("cpu0/scaling_cur_freq"), 1.8e9);
    assert_eq!(of("thermal_zone1/temp"), 45.5);
    assert!(values(&readings, "ina226/curr1_input")[1].is_nan());
    let rails: Vec<_> = readings.layout.channels.iter().map(|c| c.rail.as_str()).collect();
    assert_eq!(
        rails,
        ["ina226(VDD)/1 shunt", "ina226(VDD)/1", "ina226(VDD)/1", "ina226(VDD)/1", "", ""]
    );
    assert_eq!(segments(&readings, "ina226/in1_input"), [(0.0, 0.1, 5.0), (0.1, 0.2, 5.0)]);
    assert!(says(&readings, "cpu0/governor is left out"));
}

#[test]
fn an_ina3221_shows_shunts_in_microvolt() {
    let log = "t_us,hwmon3/in1_input,hwmon3/curr1_input,hwmon3/in4_input,hwmon3/in7_input\n0,5040,304,1520,2000\n1000,5040,304,1520,2000\n";
    let readings = read_text(&FORMAT, log).unwrap();
    assert!((values(&readings, "hwmon3/in4_input")[0] - 1520e-6).abs() < 1e-12);
    assert_eq!(readings.layout.channels[2].rail, "hwmon3/1 shunt");
    assert!(says(&readings, "hwmon3/in7_input is the sum over the shunts"));
    let other = log.replace("curr1", "temp1");
    assert_eq!(values(&read_text(&FORMAT, &other).unwrap(), "hwmon3/in4_input")[0], 1.52);
    let iio = "time_s,in_voltage0_input,in_current0_input,in_power0_input\n0,5000,180,1159\n";
    let readings = read_text(&FORMAT, iio).unwrap();
    assert_eq!(values(&readings, "in_power0_input")[0], 1.159);
    assert_eq!(readings.layout.channels[0].rail, readings.layout.channels[2].rail);
}

#[test]
fn a_time_without_a_unit_asks_for_it() {
    let log = "time,power1_input\n0,1000000\n250,2000000\n";
    assert_eq!(name_of(log), Some("sysfs-log"));
    assert!(fault(&FORMAT, log).contains("--time-unit"));
    let table = TableOptions { time_unit: Some("ms".into()), ..TableOptions::default() };
    let options = Options { table, ..Options::default() };
    let readings = read_with(&FORMAT, log, &options).unwrap();
    assert_eq!(segments(&readings, "power1_input"), [(0.0, 0.25, 1.0), (0.25, 0.5, 2.0)]);
}

#[test]
fn what_is_wrong_is_told_with_its_line() {
    let with = |rows: &str| format!("time_s,power1_input\n{rows}");
    assert!(
        fault(&FORMAT, &with("1,1\n0.5,1\n"))
            .contains("log:3: time runs backwards: -0.5 s after 0 s")
    );
    assert!(fault(&FORMAT, &with("1,1,1\n")).contains("3 cells, expected 2"));
    assert!(fault(&FORMAT, &with("x,1\n")).contains("`x` in time_s is not a number"));
    assert!(fault(&FORMAT, &with("1,x\n")).contains("`x` in power1_input is not a number"));
    assert!(fault(&FORMAT, &with("")).contains("no sample"));
    assert!(fault(&FORMAT, &with("0,1\n30000000,1\n")).contains("213 days"));
    assert!(fault(&FORMAT, "time_s,energy_uj\n0,1\n").contains("no sample"));
    assert!(fault(&FORMAT, "time_s,volts\n0,1\n").contains("no column"));
    assert!(fault(&FORMAT, "power1_input\n1\n").contains("no column `time`"));
    assert!(fault(&FORMAT, "").contains("empty"));
    assert_eq!(name_of("time_s,voltage,current\n0,1,2\n"), None);
    assert_eq!(name_of("time_s,energy_j\n0,1\n"), None);
}

#[test]
fn equal_times_weigh_nothing_and_a_cut_log_is_a_shorter_one() {
    let log = "time_s,a/energy_uj,b/power1_input\n0,0,1\n1,1000000,2\n1,1500000,3\n2,3000000,4\n";
    let readings = read_text(&FORMAT, log).unwrap();
    assert!(says(&readings, "1 rows have the time"));
    assert_eq!(segments(&readings, "a/energy_uj"), [(0.0, 1.0, 1.0), (1.0, 2.0, 2.0)]);
    cuts_are_honest(&FORMAT, log, &Options::default());
}

proptest! {
    #[test]
    fn energy_is_kept_whatever_the_reads_and_wraps(steps in proptest::collection::vec((1u64..5_000, 0u64..900_000), 1..60)) {
        const RANGE: u64 = 1_000_000;
        let (mut time, mut counter, mut total) = (0, 0, 0u64);
        let mut log = String::from("time_us,d/energy_uj,d/max_energy_range_uj\n0,0,1000000\n");
        for (wait, grown) in steps {
            time += wait;
            counter = (counter + grown) % RANGE;
            total += grown;
            log += &format!("{time},{counter},{RANGE}\n");
        }
        let readings = read_text(&FORMAT, &log).unwrap();
        let energy: f64 = segments(&readings, "d/energy_uj").iter().map(|(a, b, w)| (b - a) * w).sum();
        prop_assert!((energy - total as f64 * 1e-6).abs() < 1e-9 * (1.0 + energy));
    }

    #[test]
    fn nothing_that_is_read_panics(text in "(time_s,|energy_uj|in4_input|,|/|\\(|\\)|[0-9.\n-]){0,40}") {
        let _ = read_text(&FORMAT, &text);
        let _ = read_text(&FORMAT, &format!("time_s,d/energy_uj,d/in1_input\n{text}\n"));
    }
}
