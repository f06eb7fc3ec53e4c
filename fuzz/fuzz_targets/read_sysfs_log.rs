//! Any bytes as a log of `sysfs-log`: a reading or an error.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| joulecast_fuzz::read_instrument("sysfs-log", bytes));
