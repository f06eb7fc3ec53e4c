//! Intervals: how far a figure may be off, from the spreads of the profile.

mod headlines;
mod linearised;
mod sampled;
mod simulated;

pub use headlines::{Headline, Headlines, headlines};
pub use linearised::{
    Contribution, Figure, Interval90, Sigma, Uncertainty, linearised, linearised_by,
    linearised_figures,
};
pub use sampled::{Sampled, sampled};
pub use simulated::simulated;
