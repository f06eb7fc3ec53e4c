//! Any bytes as `mlperf-tiny-json`: a reading or an error.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| joulecast_fuzz::read_instrument("mlperf-tiny-json", bytes));
