//! Any bytes as a log of `power-gadget`: a reading or an error.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| joulecast_fuzz::read_instrument("power-gadget", bytes));
