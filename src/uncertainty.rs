//! Intervals: how far a figure may be off, from the spreads of the profile.

mod linearised;
mod sampled;

pub use linearised::{Contribution, Figure, Interval90, Uncertainty, linearised};
pub use sampled::sampled;
