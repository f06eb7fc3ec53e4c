//! What every fuzz target asks: whatever the bytes, a graph that can be counted or an error.

use joulecast::formats::{FORMATS, Input, Options, Shape};
use joulecast::model::{Bindings, import};
use joulecast::trace::Readings;
use joulecast::units::Hertz;

/// Reads the bytes as a file of this name.
pub fn read(name: &str, bytes: &[u8]) {
    match import::from_bytes(name, bytes, &Bindings::default()) {
        Ok(graph) => drop(graph.layers().expect("a graph that was read can be counted")),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// Reads the bytes as a file of this format.
pub fn read_instrument(format: &str, bytes: &[u8]) {
    read_with(format, &Options::default(), bytes);
}

/// The same as a table of numbers, every other one at a rate that the user gives.
pub fn read_table(format: &str, bytes: &[u8]) {
    let rate = bytes.first().filter(|byte| **byte % 2 == 0).map(|_| Hertz(1e3));
    read_with(format, &Options { rate, ..Options::default() }, bytes);
}

fn read_with(format: &str, options: &Options, bytes: &[u8]) {
    let format = FORMATS.iter().find(|known| known.name == format).expect("a format of the list");
    let Shape::File { read, .. } = format.shape else { panic!("{} is a folder", format.name) };
    let mut readings = Readings::default();
    match read(&mut Input::of("fuzz", bytes), options, &mut readings) {
        Ok(()) => assert_eq!(readings.series.len(), readings.layout.channels.len()),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}
