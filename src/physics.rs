//! Exact laws, one a file: pure functions on typed quantities. Nothing here knows events, traces,
//! files or randomness.

pub mod adaptive_voltage;
pub mod break_even;
pub mod buck_fit;
pub mod buck_regulator;
pub mod cache;
pub mod capacitor;
pub mod capacitor_discharge;
pub mod efficiency_surface;
pub mod efficiency_table;
pub mod inrush;
mod lambert;
mod law_error;
pub mod leakage;
pub mod leakage_fixed_point;
pub mod linear_regulator;
pub mod load_switch;
pub mod opp_hull;
pub mod opp_schedule;
pub mod opp_table;
pub mod opp_transition;
pub mod pelt;
pub mod row_buffer;
pub mod series_drop;
pub mod switching;
pub mod switching_regulator;
pub mod thermal_network;

pub use law_error::LawError;
