//! CSV exports of the Power Profiler Kit.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| joulecast_fuzz::read_table("ppk2-csv", bytes));
