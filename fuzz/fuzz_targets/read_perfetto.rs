//! Whatever the bytes: a Perfetto trace, or one error.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| joulecast_fuzz::read_instrument("perfetto", bytes));
