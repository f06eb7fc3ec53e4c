//! Any bytes as `energyrunner-log`: a reading or an error.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| joulecast_fuzz::read_instrument("energyrunner-log", bytes));
