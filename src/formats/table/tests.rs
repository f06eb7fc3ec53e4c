use super::*;
use crate::trace::{Channel, Level, Readings};
use proptest::prelude::*;

const TWO: [Cell; 2] = [Cell::Time, Cell::Value { channel: 0, power: -6 }];

fn table(cells: &[Cell], text: &[u8], timing: Timing) -> Table {
    let names = (0..cells.len()).map(|k| format!("c{k}")).collect();
    let rows = Rows::new(cells.to_vec(), names, Stamp::units(-3));
    let channels = (0..rows.channels()).map(|_| Channel::new("i", ChannelKind::Current, "dut"));
    let lines = (0..rows.lines()).map(|k| format!("D{k}")).collect();
    let layout = Layout { channels: channels.collect(), lines, ..Layout::default() };
    let body = Body { offset: 0, end: text.len() as u64, line: 1, dropped: false };
    Table { rows, layout, body, timing }
}

fn read_on(
    cells: &[Cell],
    text: &[u8],
    timing: Timing,
    how: (usize, usize),
) -> Result<Readings, FormatError> {
    let mut readings = Readings::default();
    let table = table(cells, text, timing);
    stream_on(&mut Input::of("t", text), table, &Options::default(), &mut readings, how)?;
    Ok(readings)
}

const STAMPS: Timing = Timing::Stamps { gaps: None };
const SAMPLER: Timing = Timing::Stamps { gaps: Some(true) };

fn read(cells: &[Cell], text: &str, timing: Timing) -> Readings {
    read_on(cells, text.as_bytes(), timing, (2, PIECE)).unwrap()
}

fn blocks(readings: &Readings) -> Vec<(u64, u64, usize)> {
    let blocks = readings.series[0].blocks();
    blocks.map(|b| (b.start().0 / 1_000_000, b.end().0 / 1_000_000, b.values.len())).collect()
}

#[test]
fn rows_of_one_interval_get_an_even_clock_and_a_jump_is_a_gap() {
    let readings = read(&TWO, "0,1\n0.01,2\n0.02,3\n0.05,4\n0.06,5\n", SAMPLER);
    assert_eq!(blocks(&readings), [(0, 30, 3), (50, 70, 2)]);
    assert_eq!(readings.series[0].values(), [1e-6, 2e-6, 3e-6, 4e-6, 5e-6]);
    assert_eq!(readings.end, SimTime(70_000_000));
    let even = |block: crate::trace::Block<'_>| match block.times {
        crate::trace::Times::Even { clock, first } => Some((clock.rate().0, first)),
        crate::trace::Times::Each { .. } => None,
    };
    let clocks: Vec<_> = readings.series[0].blocks().map(even).collect();
    assert_eq!(clocks, [Some((100_000.0, 0)), Some((100_000.0, 5))]);
}

#[test]
fn uneven_rows_hold_to_the_next_and_the_last_as_long_as_usual() {
    let readings = read(&TWO, "5,1\n6,2\n8,3\n8.5,4\n", STAMPS);
    let ends: Vec<_> = readings.series[0].segments().map(|s| s.1.0 / 1_000_000).collect();
    assert_eq!(ends, [1000, 3000, 3500, 4500]);
    assert_eq!(readings.layout.origin, Origin::OwnClock(0.005));
}

#[test]
fn rows_of_one_stamp_are_spread_to_the_next() {
    let text = "0,1\n0,2\n1,3\n1,4\n2,5\n2,6\n";
    for how in [(2, PIECE), (1, 12), (3, 13)] {
        let readings = read_on(&TWO, text.as_bytes(), STAMPS, how).unwrap();
        let starts: Vec<_> = readings.series[0].segments().map(|s| s.0.0 / 1_000_000).collect();
        assert_eq!(starts, [0, 500, 1000, 1500, 2000, 2500], "{how:?}");
        assert_eq!(readings.end, SimTime(3_000_000_000), "{how:?}");
        assert!(readings.layout.remarks.iter().any(|r| r.contains("spread")));
    }
}

#[test]
fn levels_become_edges_when_they_change() {
    let cells = [Cell::Time, Cell::Level(0), Cell::Levels { first: 1, down: false }];
    let text = "0,1,00000000\n1,1,0000000X\n2,0,0\n3,0,-0000000\n";
    for how in [(2, PIECE), (2, 16)] {
        let readings = read_on(&cells, text.as_bytes(), STAMPS, how).unwrap();
        let edges: Vec<_> = readings.edges.iter().skip(9).collect();
        let told: Vec<_> = edges.iter().map(|e| (e.line.0, e.at.0 / 1_000_000_000, e.to)).collect();
        let (low, high, unknown) = (Level::Low, Level::High, Level::Unknown);
        assert_eq!(told, [(8, 1, high), (0, 2, low), (8, 2, low), (1, 3, unknown)]);
        assert_eq!(readings.edges[0].to, Level::High);
    }
}

#[test]
fn faults_name_their_line_and_there_is_one() {
    let fails =
        |text: &str| read_on(&TWO, text.as_bytes(), STAMPS, (2, 64)).unwrap_err().to_string();
    let long = "0,1\n".repeat(40);
    assert_eq!(fails(&format!("{long}1,2\n\n1,x\n")), "t:43: `x` in column `c1` is not a number");
    assert_eq!(fails("0,1\n2,1\n1,1\n"), "t:3: time runs backwards: 0.001 s after 0.002 s");
    assert_eq!(fails("0,1\n1\n"), "t:2: 1 cells, expected 2");
    assert_eq!(fails("0,1\n1,2,3\n"), "t:2: 3 cells, expected 2");
    assert!(fails("0,1\n1e15,2\n").contains("outside of the 213 days"));
    assert!(fails("\n\n").contains("no sample"));
    assert!(fails(&"1".repeat(100)).contains("a line would be"));
    let backwards = format!("{}1,2\n{}", "5,1\n".repeat(20), "4,1\n".repeat(20));
    assert!(fails(&backwards).contains("time runs backwards"));
    assert_eq!(fails("0,1\r1,x\r"), "t:2: `x` in column `c1` is not a number");
}

#[test]
fn blank_lines_line_ends_and_surplus_empty_cells_do_not_matter() {
    let plain = read(&TWO, "0,1\n1,2\n", STAMPS);
    for text in
        ["0,1\r\n1,2\r\n", "\n0,1\n\n1,2\n\n", "0,1,\n1,2,\n", "0, 1 \n1,\"2\"", "0,1,,\r\n1,2"]
    {
        assert_eq!(read(&TWO, text, STAMPS), plain, "{text:?}");
    }
    let one = [Cell::Value { channel: 0, power: 0 }];
    let rate = Timing::Rate(Hertz(10.0));
    let readings = read(&one, "1\n\n2\n", rate);
    assert_eq!(
        (readings.series[0].values(), readings.end),
        (&[1.0, 2.0][..], SimTime(200_000_000_000))
    );
}

#[test]
fn a_table_is_the_same_on_any_number_of_threads() {
    let row = |k: usize| match k % 97 {
        13 => format!("{},nan,1\n", k * 10),
        14 => String::new(),
        k97 => format!("{}.{},{}.{:03},{}\n", k * 10, k % 3 / 2, k, k97 * 7, k / 50 % 2),
    };
    let text: String = (0..5000).map(row).collect();
    let cells = [TWO[0], TWO[1], Cell::Level(0)];
    let one = read_on(&cells, text.as_bytes(), STAMPS, (1, 1000)).unwrap();
    for threads in 2..6 {
        let more = read_on(&cells, text.as_bytes(), STAMPS, (threads, 1000)).unwrap();
        // Not-a-number is not itself.
        assert_eq!(format!("{one:?}"), format!("{more:?}"), "{threads}");
    }
}

proptest! {
    #[test]
    fn any_bytes_are_columns_or_one_error(
        bytes in proptest::collection::vec(prop::sample::select(b"0123456789.,-+eX\"\r\n nan\xff".to_vec()), 0..300),
        size in 8usize..80,
    ) {
        let cells = [TWO[0], TWO[1], Cell::Level(0), Cell::Levels { first: 1, down: false }];
        for timing in [STAMPS, SAMPLER, Timing::Rate(Hertz(1e3)), Timing::Changes] {
            for cells in [&cells[..], &cells[..2], &cells[1..2], &cells[2..]] {
                let _ = read_on(cells, &bytes, timing, (2, size));
            }
        }
    }

    #[test]
    fn written_rows_come_back_however_they_are_cut(
        waits in proptest::collection::vec(1u64..5, 2..60),
        values in proptest::collection::vec(-1_000_000i64..1_000_000, 60),
        size in 40usize..400,
    ) {
        let mut at = 0;
        let mut text = String::new();
        let mut starts = Vec::new();
        for (wait, value) in waits.iter().zip(&values) {
            text += &format!("{}.{:02},{}.{:03}\n", at / 100, at % 100, value / 1000, value.abs() % 1000);
            starts.push(at * 10_000_000);
            at += wait;
        }
        let readings = read_on(&TWO, text.as_bytes(), Timing::Stamps { gaps: Some(false) }, (2, size)).unwrap();
        let told: Vec<u64> = readings.series[0].segments().map(|s| s.0.0).collect();
        prop_assert_eq!(told, starts);
        for (read, value) in readings.series[0].values().iter().zip(&values) {
            let text = format!("{}.{:03}e-6", value / 1000, value.abs() % 1000);
            prop_assert_eq!(*read, text.parse::<f64>().unwrap());
        }
    }
}
