//! CSV of PyMonsoon.

#![no_main]

use joulecast::formats::{FORMATS, Input, Options, Shape};
use joulecast::trace::Readings;
use joulecast::units::Hertz;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let format = FORMATS.iter().find(|format| format.name == "monsoon-csv").expect("it is there");
    let Shape::File { read, .. } = format.shape else { return };
    let rate = bytes.first().filter(|byte| **byte % 2 == 0).map(|_| Hertz(1e3));
    let options = Options { rate, ..Options::default() };
    let mut readings = Readings::default();
    if let Err(error) = read(&mut Input::of("file", bytes), &options, &mut readings) {
        assert!(!error.to_string().is_empty());
    }
});
