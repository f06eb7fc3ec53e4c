//! CSV exports of Saleae Logic.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| joulecast_fuzz::read_table("saleae-csv", bytes));
