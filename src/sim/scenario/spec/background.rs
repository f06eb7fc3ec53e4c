//! States that blocks go through, as the file has them.

use super::variant_parameters;
use crate::evidence::{Condition, FieldPath, Parameter, Parameters, Valued, described};
use crate::units::{Ratio, Seconds};
use serde::Deserialize;

/// States that a block goes through.
#[derive(Debug, Clone, Deserialize)]
pub enum BackgroundSpec {
    /// One after the other, each for a time.
    Steps(StepsSpec),
    /// Each for its share of a round, in their order.
    Residencies(ResidenciesSpec),
}

variant_parameters!(BackgroundSpec: Steps, Residencies);

described! {
    /// States one after the other.
    pub struct StepsSpec {
        /// The states.
        pub steps: Vec<StepSpec>,
        /// True to start over, false to stay in the last.
        #[serde(default)]
        pub repeats: bool,
    }
}

described! {
    /// A state and how long it lasts.
    pub struct StepSpec {
        /// The state.
        pub state: String,
        /// How long.
        pub lasts: Condition<Seconds>,
    }
}

described! {
    /// States by their share of time.
    pub struct ResidenciesSpec {
        /// How long a round through all of them takes.
        pub every: Condition<Seconds>,
        /// The states; their shares make the whole.
        pub shares: Vec<ResidencySpec>,
    }
}

described! {
    /// A state and its share of time.
    pub struct ResidencySpec {
        /// The state.
        pub state: String,
        /// The share.
        pub share: Valued<Ratio>,
    }
}
