//! Exact laws, one a file: pure functions on typed quantities. Nothing here knows events, traces,
//! files or randomness.

pub mod buck_regulator;
pub mod leakage;
pub mod linear_regulator;
pub mod switching;
pub mod switching_regulator;
