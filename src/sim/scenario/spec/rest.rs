//! How domains rest, as the file has it.

use super::variant_parameters;
use crate::evidence::{Condition, FieldPath, Parameter, Parameters, described};
use crate::units::{Ratio, Seconds};
use serde::Deserialize;

described! {
    /// How a domain rests while nothing needs it.
    pub struct RestSpec {
        /// The state it rests in; `on` to stay on.
        pub state: String,
        /// When it goes there; at once when left out.
        #[serde(default)]
        pub policy: RestPolicySpec,
    }
}

/// When a domain goes to rest.
#[derive(Debug, Clone, Default, Deserialize)]
pub enum RestPolicySpec {
    /// At once.
    #[default]
    Immediately,
    /// After this time without work.
    Timeout(Condition<Seconds>),
    /// After the break-even time without work, which follows from the profile.
    BreakEven,
    /// At once where the average of past idle times is longer than the break-even time.
    Predictive(PredictiveSpec),
    /// At once where the idle time that begins is longer than the break-even time: the bound.
    Oracle,
}

variant_parameters!(RestPolicySpec: Timeout, Predictive);

described! {
    /// An average of past idle times.
    pub struct PredictiveSpec {
        /// Weight of the newest.
        pub weight: Condition<Ratio>,
    }
}
