//! How fast tables of numbers are read. Beside polars: `benches/compare_csv.py`.

use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use joulecast::formats::{FORMATS, Input, Options, Shape};
use joulecast::trace::{Block, ChannelId, Edge, Layout, Mark, SampleSink, Span};
use joulecast::units::SimTime;
use std::fmt::Write as _;

fn main() {
    divan::main();
}

const ROWS: u32 = 300_000;

/// Sums what it hears.
#[derive(Default)]
struct Sum(f64);

impl SampleSink for Sum {
    fn begin(&mut self, _: &Layout) {}
    fn samples(&mut self, _: ChannelId, block: &Block<'_>) {
        self.0 += block.values.iter().sum::<f64>();
    }
    fn edge(&mut self, _: Edge) {}
    fn mark(&mut self, _: Mark) {}
    fn span(&mut self, _: Span) {}
    fn end(&mut self, _: SimTime) {}
}

/// A file of a format, by its rows.
fn file(format: &str) -> String {
    let head = match format {
        "ppk2-csv" => "Timestamp(ms),Current(uA),D0-D7\n",
        "joulescope-csv" => "# time,JS220-000000.i,JS220-000000.v\n",
        "monsoon-csv" => "Time(ms),Main(mA),Main Voltage(V),\n",
        _ => "Time (s);Current (mA);Voltage (V)\n",
    };
    let mut text = String::from(head);
    for k in 0..ROWS {
        let (time, value) = (f64::from(k), f64::from(k * 7919 % 100_000));
        let written = match format {
            "ppk2-csv" => writeln!(text, "{},{:.3},{}0000000", time / 100.0, value, k / 1000 % 2),
            "joulescope-csv" => {
                writeln!(text, "{:.18e},{:.18e},{:.18e}", time * 1e-6, value * 1e-7, 3.3)
            }
            "monsoon-csv" => writeln!(text, "{},{},{},", time * 2e-4, value / 777.0, 3.7),
            _ => writeln!(text, "{:.3};{:.2};3,300", time / 1e3, value / 100.0),
        };
        written.unwrap();
    }
    if format == "csv" { text.replace('.', ",") } else { text }
}

#[divan::bench(args = ["ppk2-csv", "joulescope-csv", "monsoon-csv", "csv"], sample_count = 20)]
fn read_and_sum(bencher: Bencher, format: &str) {
    let text = file(format);
    let format = FORMATS.iter().find(|f| f.name == format).unwrap();
    let Shape::File { read, .. } = format.shape else { unreachable!() };
    bencher.counter(BytesCount::new(text.len())).bench(|| {
        let mut sum = Sum::default();
        let mut input = Input::of("bench", black_box(text.as_bytes()));
        read(&mut input, &Options::default(), &mut sum).unwrap();
        sum.0
    });
}
