//! Exact laws, one a file: pure functions on typed quantities. Nothing here knows events, traces,
//! files or randomness.

pub mod adaptive_voltage;
pub mod break_even;
pub mod buck_fit;
pub mod buck_regulator;
pub mod cache;
pub mod cap_hold;
pub mod capacitor;
pub mod capacitor_discharge;
pub mod critical_trip;
mod dense;
pub mod efficiency_surface;
pub mod efficiency_table;
mod exponential_sum;
pub mod inrush;
mod lambert;
mod law_error;
pub mod leakage;
pub mod leakage_fixed_point;
pub mod leaking_network;
pub mod linear_regulator;
pub mod load_switch;
pub mod opp_hull;
pub mod opp_schedule;
pub mod opp_table;
pub mod opp_transition;
pub mod pelt;
mod phi_functions;
pub mod power_allocator;
pub mod power_division;
pub mod row_buffer;
pub mod series_drop;
pub mod step_wise;
pub mod switching;
pub mod switching_regulator;
pub mod temperature_reading;
pub mod thermal_modes;
pub mod thermal_network;
pub mod thermal_nodes;
pub mod thermal_responses;

pub use law_error::LawError;
