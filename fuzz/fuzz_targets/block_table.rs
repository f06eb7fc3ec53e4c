//! Spreadsheets of block power.

#![no_main]

use joulecast::hardware::BlockTable;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Err(error) = BlockTable::read("blocks.csv", bytes, Some("rail")) {
        assert!(!error.to_string().is_empty());
    }
});
