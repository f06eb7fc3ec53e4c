//! Any bytes as `host-log`: a reading or an error.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| joulecast_fuzz::read_instrument("host-log", bytes));
