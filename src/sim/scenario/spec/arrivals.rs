//! When something comes, as the file has it.

use super::variant_parameters;
use crate::evidence::{Condition, FieldPath, Parameter, Parameters, Valued, described};
use crate::units::{Hertz, Seconds};
use serde::Deserialize;

/// When something comes.
#[derive(Debug, Clone, Deserialize)]
pub enum ArrivalsSpec {
    /// The next as soon as the one before is over.
    BackToBack,
    /// One each period.
    Periodic(PeriodicSpec),
    /// At random, independent of each other.
    Poisson(PoissonSpec),
    /// At random, at one of two rates.
    Bursts(BurstsSpec),
    /// As in a file of times.
    Recorded(RecordedSpec),
    /// By clients that wait for an answer and think.
    ClosedLoop(ClosedLoopSpec),
}

variant_parameters!(ArrivalsSpec: Periodic, Poisson, Bursts, Recorded, ClosedLoop);

described! {
    /// One each period.
    pub struct PeriodicSpec {
        /// The period.
        pub period: Condition<Seconds>,
        /// The most that one is late by; none when left out.
        #[serde(default)]
        pub jitter: Option<Valued<Seconds>>,
        /// When the first one is due; at the start when left out.
        #[serde(default)]
        pub offset: Option<Condition<Seconds>>,
    }
}

described! {
    /// At random, independent of each other.
    pub struct PoissonSpec {
        /// Mean rate (`0.2 Hz`, `12 1/h`).
        pub rate: Valued<Hertz>,
    }
}

described! {
    /// A Poisson process whose rate jumps between two levels.
    pub struct BurstsSpec {
        /// Rate while it is quiet.
        pub quiet_rate: Valued<Hertz>,
        /// How long that lasts in the mean.
        pub quiet_stay: Valued<Seconds>,
        /// Rate in a burst.
        pub burst_rate: Valued<Hertz>,
        /// How long that lasts in the mean.
        pub burst_stay: Valued<Seconds>,
    }
}

described! {
    /// As in a file of times.
    pub struct RecordedSpec {
        /// The file, from the folder of the scenario.
        pub file: String,
        /// After how long it starts over; never when left out.
        #[serde(default)]
        pub repeat: Option<Condition<Seconds>>,
    }
}

described! {
    /// Clients with one request on its way each, at most.
    pub struct ClosedLoopSpec {
        /// How many.
        pub clients: u64,
        /// Time from an answer to the next request.
        pub think: ThinkSpec,
    }
}

/// Time from an answer to the next request.
#[derive(Debug, Clone, Deserialize)]
pub enum ThinkSpec {
    /// Always the same.
    Fixed(Valued<Seconds>),
    /// Exponential with this mean.
    Exponential(Valued<Seconds>),
}

variant_parameters!(ThinkSpec: Fixed, Exponential);
