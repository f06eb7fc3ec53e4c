//! Whatever the bytes: a capture of Joulescope, or one error.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| joulecast_fuzz::read_instrument("joulescope-jls", bytes));
