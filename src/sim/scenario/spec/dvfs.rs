//! Who changes the operating point while a run goes on, as the file has it.

use super::variant_parameters;
use crate::evidence::{Condition, FieldPath, Parameter, Parameters, described};
use crate::units::{Ratio, Seconds};
use serde::Deserialize;

described! {
    /// Operating points that the chip goes between while a run goes on. It starts at the scenario's
    /// `operating_point`, which is one of them.
    pub struct DvfsSpec {
        /// Operating points of the profile, in any order.
        pub points: Vec<String>,
        /// Who chooses among them.
        pub governor: GovernorSpec,
    }
}

/// Who chooses an operating point.
#[derive(Debug, Clone, Deserialize)]
pub enum GovernorSpec {
    /// The fastest, always.
    Performance,
    /// The slowest, always.
    Powersave,
    /// This one, always.
    Fixed(String),
    /// By the load of the past window, to the fastest at once.
    Ondemand(OndemandSpec),
    /// By utilisation as a scheduler tracks it.
    Schedutil(SchedutilSpec),
    /// By the load of the past window, as devices are (`devfreq`).
    SimpleOndemand(SimpleOndemandSpec),
    /// The fastest while anything is asked for, else the slowest.
    RaceToIdle,
}

variant_parameters!(GovernorSpec: Ondemand, Schedutil, SimpleOndemand);

described! {
    /// Linux's `ondemand`.
    pub struct OndemandSpec {
        /// Time between looks; a thousand times the longest change of point, at least 10 ms, when left out.
        #[serde(default)]
        pub period: Option<Condition<Seconds>>,
        /// Load above which it goes to the fastest point; 80 % when left out.
        #[serde(default)]
        pub up_threshold: Option<Condition<Ratio>>,
    }
}

described! {
    /// Linux's `schedutil`.
    pub struct SchedutilSpec {
        /// Time between looks; 4 ms when left out.
        #[serde(default)]
        pub tick: Option<Condition<Seconds>>,
        /// Least time between changes; 10 ms when left out.
        #[serde(default)]
        pub rate_limit: Option<Condition<Seconds>>,
    }
}

described! {
    /// Linux's `simple_ondemand` of devices.
    pub struct SimpleOndemandSpec {
        /// Time between looks; 50 ms when left out.
        #[serde(default)]
        pub period: Option<Condition<Seconds>>,
    }
}
