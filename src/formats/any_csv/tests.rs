use super::super::{Head, TableOptions, recognised};
use super::*;
use crate::trace::{Origin, Readings};
use crate::units::{Hertz, SimTime};

fn read_as(bytes: &[u8], options: &Options) -> Result<Readings, FormatError> {
    let mut readings = Readings::default();
    read(&mut Input::of("t", bytes), options, &mut readings)?;
    Ok(readings)
}

fn taken(bytes: &[u8]) -> Option<&'static str> {
    recognised(&Head::of(&mut Input::of("t", bytes)).unwrap()).map(|format| format.name)
}

fn told(columns: &[&str], change: impl FnOnce(&mut Options)) -> Options {
    let columns = columns.iter().map(|column| (*column).to_owned()).collect();
    let table = TableOptions { columns, ..TableOptions::default() };
    let mut options = Options { table, ..Options::default() };
    change(&mut options);
    options
}

fn values(readings: &Readings) -> Vec<Vec<f64>> {
    readings.series.iter().map(|series| series.values().to_vec()).collect()
}

#[test]
fn the_table_of_a_source_meter_is_found_below_its_metadata() {
    let file = b"Model;2450\nSerial;1\n\nIndex;Time (s);Current (mA);Voltage (V);Charge (mAh)\n\
                 1;0,0;1,5;3,3;0\n2;0,5;9,9E+37;3,3;1\n3;1,0;-2,25;3,2;2\n";
    assert_eq!(taken(file), Some("csv"));
    let readings = read_as(file, &Options::default()).unwrap();
    let read = values(&readings);
    assert_eq!((read[0][0], read[0][2]), (1.5e-3, -2.25e-3));
    assert!(read[0][1].is_nan());
    assert_eq!(read[1], [3.3, 3.3, 3.2]);
    let rails: Vec<_> = readings.layout.channels.iter().map(|c| c.rail.as_str()).collect();
    assert_eq!(rails, ["main", "main"]);
    let remarks = readings.layout.remarks.join("\n");
    assert!(remarks.contains("decimal") && remarks.contains("Charge"), "{remarks}");
    assert_eq!(readings.end, SimTime(1_500_000_000_000));
}

#[test]
fn a_buffer_without_units_is_read_as_told() {
    let file = b"READING,SOURCE,RELATIVE\n1.5E-3,3.3,0.0\n1.6E-3,3.3,0.1\n";
    assert_eq!(taken(file), None);
    let options = told(&["READING=A", "source=V"], |o| o.table.time_column = Some("3".into()));
    let readings = read_as(file, &options).unwrap();
    assert_eq!(values(&readings), [[1.5e-3, 1.6e-3], [3.3, 3.3]]);
    assert!(readings.layout.remarks.iter().any(|r| r.contains("says no unit")));
    let error = read_as(file, &Options::default()).unwrap_err().to_string();
    assert!(error.contains("--unit mA"), "{error}");
    let wrong = told(&["READING=s"], |_| ());
    let error = read_as(file, &wrong).unwrap_err().to_string();
    assert!(error.contains("`s` is no unit of `READING`"), "{error}");
    let missing = told(&["READNG=A"], |_| ());
    assert!(read_as(file, &missing).unwrap_err().to_string().contains("expected a line of names"));
}

#[test]
fn a_table_at_a_rate_needs_neither_time_nor_names() {
    let file = b"\xef\xbb\xbf1.5\n2.5\n";
    let options = told(&[], |o| {
        o.rate = Some(Hertz(1000.0));
        o.table.unit = Some("mW".into());
    });
    let readings = read_as(file, &options).unwrap();
    assert_eq!(values(&readings), [[1.5e-3, 2.5e-3]]);
    assert_eq!(readings.end, SimTime(2_000_000_000));
    let no_rate = told(&[], |o| o.table.unit = Some("mW".into()));
    assert!(read_as(file, &no_rate).is_err());
    let skipped = told(&[], |o| {
        o.table.skip = Some(1);
        o.table.unit = Some("mW".into());
    });
    let error = read_as(b"Power\nx\n1\n2\n", &skipped).unwrap_err().to_string();
    assert!(error.contains("--rate HZ"), "{error}");
}

#[test]
fn wall_clocks_are_kept_as_the_origin() {
    let dated = b"Timestamp\tPower [W]\n2024-01-31 12:00:00.0\t1\n2024-01-31 12:00:00.5\t2\n";
    let readings = read_as(dated, &Options::default()).unwrap();
    let noon = 1_706_702_400_000_000_000;
    assert_eq!(readings.layout.origin, Origin::Wall { unix_ns: noon, utc: false });
    assert_eq!(readings.end, SimTime(1_000_000_000_000));
    let unix = b"time,power_mw\n1706702400000,1\n1706702400250,2\n";
    let readings = read_as(unix, &Options::default()).unwrap();
    assert_eq!(readings.layout.origin, Origin::Wall { unix_ns: noon, utc: true });
    assert_eq!(readings.end, SimTime(500_000_000_000));
    assert_eq!(values(&readings), [[1e-3, 2e-3]]);
}

#[test]
fn a_clock_of_another_language_is_told_by_its_unit() {
    let file =
        b"\xef\xbb\xbfZeit (s);Strom (mA);Spannung (V)\r\n0,000;5,1;3,3\r\n0,001;5,2;3,3\r\n\
                 0,002;5,3;3,3\r\n";
    assert_eq!(taken(file), Some("csv"));
    let readings = read_as(file, &Options::default()).unwrap();
    assert_eq!(values(&readings)[0], [5.1e-3, 5.2e-3, 5.3e-3]);
    let rails: Vec<_> = readings.layout.channels.iter().map(|c| c.rail.as_str()).collect();
    assert_eq!(rails, ["main", "main"]);
    assert_eq!(readings.end, SimTime(3_000_000_000));
    assert!(readings.layout.remarks[1].contains("`Zeit (s)` is taken as time"));
    // Durations do not only rise.
    assert_eq!(taken(b"Dauer (ms);Strom (mA)\n3;1\n2;1\n4;1\n"), None);
}

#[test]
fn a_column_of_levels_is_a_line_and_what_is_left_out_is_named() {
    let file = b"Time (ms),Power (mW),trig\n0,1,0\n1,2,1\n2,3,1\n3,4,0\n";
    let plain = read_as(file, &Options::default()).unwrap();
    assert!(plain.layout.remarks[0].contains("left out: trig"), "{:?}", plain.layout.remarks);
    let readings = read_as(file, &told(&["trig=level"], |_| ())).unwrap();
    assert_eq!(values(&readings), [[1e-3, 2e-3, 3e-3, 4e-3]]);
    assert_eq!((readings.layout.lines.as_slice(), readings.edges.len()), (&["trig".into()][..], 3));
    assert_eq!(readings.edges[1].at, SimTime(1_000_000_000));
    assert!(readings.layout.remarks.is_empty());
    let wrong = read_as(b"Time (ms),Power (mW),trig\n0,1,2\n", &told(&["trig=level"], |_| ()));
    assert!(wrong.unwrap_err().to_string().contains("expected 0 or 1"));
}

#[test]
fn a_name_and_a_unit_of_different_quantities_are_not_guessed_at() {
    let file = b"time_s,supply current (W)\n0,1\n1,2\n";
    let error = read_as(file, &Options::default()).unwrap_err().to_string();
    assert!(error.contains("`W` is no unit of `supply current (W)`"), "{error}");
    let readings = read_as(file, &told(&["supply current=W"], |_| ())).unwrap();
    assert_eq!(values(&readings), [[1.0, 2.0]]);
}

#[test]
fn units_may_stand_on_a_line_of_their_own_and_thousands_be_grouped() {
    let file = b"Time,Channel A,Channel B\n(ms),(mV),(A)\n0,\"1,250.5\",1\n1,\"1,300.0\",2\n";
    let readings = read_as(file, &Options::default()).unwrap();
    assert_eq!(values(&readings), [[1.2505, 1.3], [1.0, 2.0]]);
    assert_eq!(readings.end, SimTime(2_000_000_000));
}

#[test]
fn a_last_row_that_is_cut_is_left_out_and_one_that_is_whole_is_kept() {
    let whole = read_as(b"t (s),I (A),V (V)\n0,1,2\n1,1,2", &Options::default()).unwrap();
    assert_eq!(whole.series[0].values().len(), 2);
    let cut = read_as(b"t (s),I (A),V (V)\n0,1,2\n1,1,2\n2,1", &Options::default()).unwrap();
    assert_eq!(cut.series[0].values().len(), 2);
    assert!(cut.layout.remarks.iter().any(|r| r.contains("last line")));
}

#[test]
fn text_of_other_kinds_is_not_taken() {
    let none: [&[u8]; 6] = [
        b"hello, world\n",
        b"a,b\n1,2\n3,4\n",
        b"time,event\n0,start\n",
        b"# joulecast trace 1\n# {}\ntime_s,core_w\n0,1\n",
        b"{\"time\": 1}\n",
        b"\0\0Time (s),I (A)\n0,1\n",
    ];
    for bytes in none {
        assert_eq!(taken(bytes), None, "{}", String::from_utf8_lossy(bytes));
    }
    for bytes in [&b""[..], b"\n \n", b"\xff\xfeT\0i\0"] {
        assert!(read_as(bytes, &Options::default()).is_err());
    }
}
