//! Networks that are asked for, as the file has them.

use super::{ArrivalsSpec, HostSpec};
use crate::evidence::{Condition, described, no_parameters};
use crate::hardware::Keeps;
use crate::mapping::Objective;
use crate::units::Seconds;
use serde::Deserialize;
use std::collections::BTreeMap;

described! {
    /// A network that is asked for, and how requests for it wait.
    pub struct WorkloadSpec {
        /// Its name.
        pub name: String,
        /// The network: the name of a shipped one, one of a family, or a path from the folder of this file.
        pub model: String,
        /// Values of symbolic dimensions.
        #[serde(default)]
        pub bind: BTreeMap<String, u64>,
        /// Which pass of a transformer configuration.
        #[serde(default)]
        pub pass: Option<PassSpec>,
        /// Software stack; the scenario's, or the profile's first, when left out.
        #[serde(default)]
        pub software: Option<String>,
        /// What placement makes small; energy times time when left out.
        #[serde(default)]
        pub objective: Option<Aim>,
        /// Layers, by name or by a pattern with `*` and `?`, and the engine that each is tied to.
        #[serde(default)]
        pub place: Vec<(String, String)>,
        /// What stays in buffers between layers, instead of what the engines' software does.
        #[serde(default)]
        pub keep: Option<Keeps>,
        /// When it is asked for.
        pub arrivals: ArrivalsSpec,
        /// Inferences of one request, one after the other (the tokens of an answer); one when left out.
        #[serde(default)]
        pub inferences_each: Option<u64>,
        /// What a processor does for each pass beside the network.
        #[serde(default)]
        pub host: Option<HostSpec>,
        /// Time that a request may take from asking to its end.
        #[serde(default)]
        pub deadline: Option<Condition<Seconds>>,
        /// Higher goes first; 0 when left out.
        #[serde(default)]
        pub priority: u32,
        /// How many are served together; one when left out.
        #[serde(default)]
        pub batch: Option<BatchSpec>,
        /// Who is let in to wait; everybody when left out.
        #[serde(default)]
        pub queue: Option<QueueSpec>,
    }
}

impl WorkloadSpec {
    /// The network alone.
    pub fn network(&self) -> NetworkSpec {
        NetworkSpec {
            model: self.model.clone(),
            bind: self.bind.clone(),
            pass: self.pass.clone(),
            software: self.software.clone(),
            objective: self.objective,
            place: self.place.clone(),
            keep: self.keep,
        }
    }
}

described! {
    /// A network and where it runs; the fields are those of a workload.
    pub struct NetworkSpec {
        /// The network.
        pub model: String,
        /// Values of symbolic dimensions.
        #[serde(default)]
        pub bind: BTreeMap<String, u64>,
        /// Which pass of a transformer configuration.
        #[serde(default)]
        pub pass: Option<PassSpec>,
        /// Software stack.
        #[serde(default)]
        pub software: Option<String>,
        /// What placement makes small.
        #[serde(default)]
        pub objective: Option<Aim>,
        /// Layers and the engine that each is tied to.
        #[serde(default)]
        pub place: Vec<(String, String)>,
        /// What stays in buffers between layers.
        #[serde(default)]
        pub keep: Option<Keeps>,
    }
}

/// Which pass of a transformer configuration.
#[derive(Debug, Clone, Deserialize)]
pub enum PassSpec {
    /// So many tokens at once, without any before them.
    Prefill(u64),
    /// One token that attends to so many keys in the cache, its own among them.
    Decode(u64),
}

/// What placement makes small.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub enum Aim {
    /// Time of an inference.
    Time,
    /// Energy of an inference.
    Energy,
    /// Their product.
    Edp,
    /// Nothing: each layer runs on the first engine that takes it.
    First,
}

impl From<Aim> for Objective {
    fn from(aim: Aim) -> Self {
        match aim {
            Aim::Time => Self::Time,
            Aim::Energy => Self::Energy,
            Aim::Edp => Self::Edp,
            Aim::First => Self::First,
        }
    }
}

described! {
    /// Requests that are served together.
    pub struct BatchSpec {
        /// How many at most.
        pub size: u64,
        /// How long one waits for others at most.
        pub timeout: Condition<Seconds>,
    }
}

described! {
    /// Who is let in to wait.
    pub struct QueueSpec {
        /// How many may wait; any number when left out.
        #[serde(default)]
        pub limit: Option<u64>,
        /// What gives way where that many do.
        #[serde(default)]
        pub when_full: Dropping,
        /// True to refuse a request whose deadline cannot be held.
        #[serde(default)]
        pub refuse_late: bool,
    }
}

/// What gives way in a full queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
pub enum Dropping {
    /// The request that comes.
    #[default]
    DropNewest,
    /// The one that has waited longest.
    DropOldest,
}

no_parameters!(PassSpec, Aim, Dropping);
