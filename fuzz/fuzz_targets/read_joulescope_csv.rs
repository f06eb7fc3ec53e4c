//! CSV of the Joulescope tools.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| joulecast_fuzz::read_table("joulescope-csv", bytes));
