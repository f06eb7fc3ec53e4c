//! Intervals: how far a figure may be off, from the spreads of the profile.

mod claims;
mod headlines;
mod linearised;
mod roofs;
mod sampled;
mod scenario;
mod simulated;
#[cfg(test)]
mod tests;
pub(crate) mod threads;
mod together;

pub use headlines::{Headline, Headlines, headlines};
pub use linearised::{
    Contribution, Figure, Interval90, Sigma, Uncertainty, Z90, linearised, linearised_by,
    linearised_figures, linearised_of,
};
pub use roofs::{CountBands, EnergyBand, EngineBands, RoofBands, roof_bands};
pub use sampled::{Sampled, sampled, sampled_of};
pub use scenario::{ScenarioUncertainty, StreamUncertainty, of_scenario};
pub use simulated::{simulated, simulated_of};
pub use together::lower_factor;
