//! Work of processors beside networks, as the file has it.

use super::{ArrivalsSpec, QueueSpec};
use crate::evidence::{Condition, Valued, described};
use crate::units::{Cycles, Seconds};

described! {
    /// What the processor that drives a workload does for each pass.
    pub struct HostSpec {
        /// The engine that does it.
        pub engine: String,
        /// Before the first layer: input is prepared, the network is started.
        #[serde(default)]
        pub before: Option<Valued<Cycles>>,
        /// At each layer that runs on another engine: its command is written, its end is noticed.
        #[serde(default)]
        pub each_layer: Option<Valued<Cycles>>,
        /// After the last layer: the answer is made of the output.
        #[serde(default)]
        pub after: Option<Valued<Cycles>>,
    }
}

described! {
    /// Work that is no network and takes an engine from those that are: a protocol stack, an operating
    /// system, another program.
    pub struct TaskSpec {
        /// Its name.
        pub name: String,
        /// The engine that does it.
        pub engine: String,
        /// Cycles of that engine, each time.
        pub cycles: Valued<Cycles>,
        /// When it comes.
        pub arrivals: ArrivalsSpec,
        /// Time that it may take from coming to its end.
        #[serde(default)]
        pub deadline: Option<Condition<Seconds>>,
        /// Higher goes first; 0 when left out.
        #[serde(default)]
        pub priority: u32,
        /// Who is let in to wait; everybody when left out.
        #[serde(default)]
        pub queue: Option<QueueSpec>,
    }
}
