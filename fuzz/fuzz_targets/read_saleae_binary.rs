//! Whatever the bytes: a binary export of Saleae Logic 2, or one error.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| joulecast_fuzz::read_instrument("saleae-binary", bytes));
