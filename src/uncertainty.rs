//! Intervals: how far a figure may be off, from the spreads of the profile.

mod linearised;
mod sampled;
mod simulated;

pub use linearised::{
    Contribution, Figure, Interval90, Sigma, Uncertainty, linearised, linearised_by,
};
pub use sampled::{Sampled, sampled};
pub use simulated::simulated;
