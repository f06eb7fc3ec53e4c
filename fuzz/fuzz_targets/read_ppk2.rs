//! Whatever the bytes: a session of the Power Profiler Kit, or one error.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| joulecast_fuzz::read_instrument("ppk2", bytes));
