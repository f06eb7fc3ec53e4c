//! The scenario as it stands in the file.
//!
//! What is set (a period, a deadline) is exact unless it says otherwise; what is claimed of the world (a
//! rate, a prevalence) is a number with a spread and a source like those of a profile, assumed where it
//! has none.

mod arrivals;
mod background;
mod cascade;
mod dvfs;
mod heat;
mod host;
mod rest;
mod workload;

pub use arrivals::{
    ArrivalsSpec, BurstsSpec, ClosedLoopSpec, PeriodicSpec, PoissonSpec, RecordedSpec, ThinkSpec,
};
pub use background::{BackgroundSpec, ResidenciesSpec, ResidencySpec, StepSpec, StepsSpec};
pub use cascade::{CascadeSpec, DetectorSpec, EventProcessSpec, EventsSpec, RunsSpec, StageSpec};
pub use dvfs::{DvfsSpec, GovernorSpec, OndemandSpec, SchedutilSpec, SimpleOndemandSpec};
pub use heat::{CoupledSpec, HeatSpec, HeatStartSpec};
pub use host::{HostSpec, TaskSpec};
pub use rest::{PredictiveSpec, RestPolicySpec, RestSpec};
pub use workload::{Aim, BatchSpec, Dropping, NetworkSpec, PassSpec, QueueSpec, WorkloadSpec};

use crate::evidence::{
    Condition, FieldPath, Parameter, Parameters, Sources, described, no_parameters,
};
use crate::units::{Ratio, Seconds, Volts};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The parameter walk of an enum, of whose variants some hold one thing.
macro_rules! variant_parameters {
    ($type:ident: $($variant:ident),*) => {
        impl Parameters for $type {
            fn walk(&mut self, path: &mut FieldPath, visit: &mut dyn FnMut(&FieldPath, &mut Parameter)) {
                match self {
                    $(Self::$variant(v) => path.within(stringify!($variant), |p| v.walk(p, visit)),)*
                    #[allow(unreachable_patterns)]
                    _ => {}
                }
            }
        }
    };
}
use variant_parameters;

described! {
    /// A scenario.
    pub struct ScenarioSpec {
        /// Version of the format.
        pub schema: String,
        /// Its name.
        pub name: String,
        /// One or two sentences for a reader.
        pub description: String,
        /// Sources that values point to with `@key`.
        #[serde(default)]
        pub sources: Sources,
        /// The hardware profile: a shipped name, or a path from the folder of this file.
        pub hardware: String,
        /// Its operating point; the first when left out.
        #[serde(default)]
        pub operating_point: Option<String>,
        /// Its corner of silicon and conditions.
        #[serde(default)]
        pub corner: Option<String>,
        /// Software stack of workloads that name none.
        #[serde(default)]
        pub software: Option<String>,
        /// States of blocks that run no network, and of domains that stay asleep, for the whole run.
        #[serde(default)]
        pub states: BTreeMap<String, String>,
        /// How long the run lasts; this or `inferences`.
        #[serde(default)]
        pub duration: Option<Condition<Seconds>>,
        /// After how many inferences of all workloads it ends.
        #[serde(default)]
        pub inferences: Option<u64>,
        /// What makes all that is random.
        #[serde(default)]
        pub seed: u64,
        /// How finely inferences are simulated.
        #[serde(default)]
        pub fidelity: Fidelity,
        /// What feeds it.
        #[serde(default)]
        pub supply: SupplyChoice,
        /// What happens where a supply cannot hold a rail.
        #[serde(default)]
        pub on_brown_out: OnBrownOut,
        /// Whether leakage follows the heat that is made.
        #[serde(default)]
        pub heat: HeatSpec,
        /// Networks that are asked for by themselves.
        #[serde(default)]
        pub workloads: Vec<WorkloadSpec>,
        /// Networks that wake each other.
        #[serde(default)]
        pub cascades: Vec<CascadeSpec>,
        /// Work that is no network and takes engines from those that are.
        #[serde(default)]
        pub tasks: Vec<TaskSpec>,
        /// How domains rest while nothing needs them, by domain. Those not named stay on.
        #[serde(default)]
        pub rest: BTreeMap<String, RestSpec>,
        /// Operating points that the chip goes between while a run goes on; it stays at its operating point when
        /// left out.
        #[serde(default)]
        pub dvfs: Option<DvfsSpec>,
        /// States that blocks which run no network go through, by block.
        #[serde(default)]
        pub background: BTreeMap<String, BackgroundSpec>,
    }
}

/// How finely inferences are simulated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Fidelity {
    /// Each layer is one segment.
    Layer,
    /// Filling, steady work and draining are apart.
    #[default]
    Phase,
    /// Each group of tiles has its own events.
    Tile,
}

no_parameters!(Fidelity);

/// What feeds the system.
#[derive(Debug, Clone, Default, Deserialize)]
pub enum SupplyChoice {
    /// What the profile says, a battery full.
    #[default]
    AsProfile,
    /// A bench supply that gives whatever is asked for.
    Bench,
    /// A battery of the profile.
    Battery(BatteryChoice),
    /// A storage capacitor of the profile.
    Storage(StorageChoice),
}

variant_parameters!(SupplyChoice: Battery, Storage);

/// What happens where a supply cannot hold a rail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum OnBrownOut {
    /// The run ends there.
    #[default]
    Stop,
    /// It goes on as if nothing had happened; what could not be given is counted.
    GoOn,
}

no_parameters!(OnBrownOut);

described! {
    /// A battery of the profile.
    pub struct BatteryChoice {
        /// The supply.
        pub supply: String,
        /// How full it is at the start; full when left out.
        #[serde(default)]
        pub charge: Option<Condition<Ratio>>,
    }
}

described! {
    /// A storage capacitor of the profile.
    pub struct StorageChoice {
        /// The supply.
        pub supply: String,
        /// Its voltage at the start; its highest when left out.
        #[serde(default)]
        pub voltage: Option<Condition<Volts>>,
    }
}
