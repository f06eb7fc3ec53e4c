//! Tables of Vela, ZigZag and SCALE-Sim.

#![no_main]

use joulecast::mapping::import::ImportedTable;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Err(error) = ImportedTable::parse("table.csv", bytes) {
        assert!(!error.to_string().is_empty());
    }
});
