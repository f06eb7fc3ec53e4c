//! Whatever the bytes: a session of sigrok, or one error.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| joulecast_fuzz::read_instrument("sigrok-session", bytes));
