//! Scenarios, and what is made of those that are sound by themselves. Files and shipped parts that they name
//! are not looked at.

#![no_main]

use joulecast::sim::scenario::ScenarioSpec;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Err(error) = ScenarioSpec::parse("scenario.ron", text) {
        assert!(!error.faults().is_empty() && !error.to_string().is_empty());
    }
});
