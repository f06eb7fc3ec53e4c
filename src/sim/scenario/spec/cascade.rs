//! Wake-on-inference cascades, as the file has them.

use super::{ArrivalsSpec, NetworkSpec, variant_parameters};
use crate::evidence::{Condition, FieldPath, Parameter, Parameters, Valued, described};
use crate::units::{Ratio, Seconds};
use serde::Deserialize;

described! {
    /// A detector that always looks, and stages behind it that it wakes.
    pub struct CascadeSpec {
        /// Its name.
        pub name: String,
        /// Time between two looks of the first stage.
        pub every: Condition<Seconds>,
        /// What there is to be seen.
        pub events: EventsSpec,
        /// Two stages or more, the one that always looks first.
        pub stages: Vec<StageSpec>,
    }
}

/// What there is to be seen.
#[derive(Debug, Clone, Deserialize)]
pub enum EventsSpec {
    /// An event in this share of looks.
    Prevalence(Valued<Ratio>),
    /// Events that come and last.
    Process(Box<EventProcessSpec>),
}

variant_parameters!(EventsSpec: Prevalence, Process);

described! {
    /// Events that come and last.
    pub struct EventProcessSpec {
        /// When they come.
        pub arrivals: ArrivalsSpec,
        /// How long each lasts.
        pub lasts: Valued<Seconds>,
    }
}

described! {
    /// A stage of a cascade.
    pub struct StageSpec {
        /// Its name.
        pub name: String,
        /// What it does with a look.
        pub runs: RunsSpec,
        /// Share that it passes on of looks with an event that it is given.
        pub hit: Valued<Ratio>,
        /// Share that it passes on of looks without.
        pub false_alarm: Valued<Ratio>,
        /// Time that it may take from being asked.
        #[serde(default)]
        pub deadline: Option<Condition<Seconds>>,
        /// Higher goes first; 0 when left out.
        #[serde(default)]
        pub priority: u32,
    }
}

/// What a stage does with a look.
#[derive(Debug, Clone, Deserialize)]
pub enum RunsSpec {
    /// It runs a network.
    Network(NetworkSpec),
    /// It takes a fixed time, in a block that runs no network.
    Detector(DetectorSpec),
}

variant_parameters!(RunsSpec: Network, Detector);

described! {
    /// A detector that is no network of ours.
    pub struct DetectorSpec {
        /// How long it takes.
        pub time: Valued<Seconds>,
        /// The block of the profile that is at work meanwhile; none where its power is part of what the
        /// profile draws anyway.
        #[serde(default)]
        pub block: Option<String>,
        /// The state that the block is in meanwhile.
        #[serde(default)]
        pub state: Option<String>,
    }
}
