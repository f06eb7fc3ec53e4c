//! Any table of numbers, under several descriptions by the user.

#![no_main]

use joulecast::formats::{FORMATS, Input, Options, Shape, TableOptions};
use joulecast::trace::Readings;
use joulecast::units::Hertz;

libfuzzer_sys::fuzz_target!(|data: (u8, &[u8])| {
    let (told, bytes) = data;
    let format = FORMATS.iter().find(|format| format.name == "csv").expect("it is there");
    let Shape::File { read, .. } = format.shape else { return };
    let bit = |k: u8| told >> k & 1 == 1;
    let table = TableOptions {
        time_column: bit(0).then(|| "1".into()),
        time_unit: bit(1).then(|| "ms".into()),
        columns: if bit(2) { vec!["2=mA".into()] } else { Vec::new() },
        unit: bit(3).then(|| "W".into()),
        delimiter: bit(4).then_some(';'),
        decimal: bit(5).then_some(','),
        skip: bit(6).then_some(1),
    };
    let options = Options { rate: bit(7).then_some(Hertz(1e3)), table, ..Options::default() };
    let mut readings = Readings::default();
    if let Err(error) = read(&mut Input::of("file", bytes), &options, &mut readings) {
        assert!(!error.to_string().is_empty());
    }
});
