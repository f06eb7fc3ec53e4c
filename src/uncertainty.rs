//! Intervals: how far a figure may be off, from the spreads of the profile.

mod linearised;
mod sampled;
mod simulated;

pub use linearised::{Contribution, Figure, Interval90, Uncertainty, linearised, linearised_by};
pub use sampled::sampled;
pub use simulated::simulated;
