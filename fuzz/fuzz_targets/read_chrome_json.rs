//! Whatever the bytes: Chrome trace events, or one error.

#![no_main]

use joulecast::formats::{FORMATS, Input, Options, Shape};
use joulecast::trace::Readings;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let format = FORMATS.iter().find(|format| format.name == "chrome-json").expect("a format");
    let Shape::File { read, .. } = format.shape else { return };
    let mut readings = Readings::default();
    if let Err(error) = read(&mut Input::of("bytes", bytes), &Options::default(), &mut readings) {
        assert!(!error.to_string().is_empty());
    }
});
