//! What a run of a scenario leaves besides what it wrote into its sink.

use super::accounts::RailUse;
use super::heat::HeatUse;
use super::kernel::Ending;
use super::load::Tally;
use super::supplied::Supplied;
use super::system::{OppUse, Residency, Served, Transitions};
use crate::evidence::Coverage;
use crate::trace::{Cause, Ledger, Metrics};
use crate::units::{JouleSeconds, Joules, Seconds, SimTime};
use std::collections::BTreeMap;

/// A stream of requests: a workload, or a stage of a cascade.
#[derive(Debug, Clone, PartialEq)]
pub struct StreamUse {
    /// Its name (`door.person` of a stage).
    pub name: String,
    /// Names of the layers, by their place in the network.
    pub layers: Vec<String>,
    /// True of a network, false of a detector that is none.
    pub runs_network: bool,
    /// True where requests are to be done by some time.
    pub has_deadline: bool,
    /// What became of its requests.
    pub served: Served,
    /// Requests that wait or are in service at the end.
    pub unfinished: u64,
}

/// A domain in a run.
#[derive(Debug, Clone, PartialEq)]
pub struct DomainUse {
    /// Its name.
    pub name: String,
    /// The state that it rests in; nothing of one that stays on.
    pub state: Option<String>,
    /// True of one that stays at rest at the operating point.
    pub stays: bool,
    /// Time in each.
    pub residency: Residency,
    /// What its changes of state took.
    pub transitions: Transitions,
}

/// What is known at the end of a run of a scenario.
#[derive(Debug, Clone, PartialEq)]
pub struct Simulated {
    /// Exact metrics of the whole run.
    pub metrics: Metrics,
    /// Energy by cause, component, rail and loss. Workloads are numbered as `streams` are.
    pub ledger: Ledger,
    /// What the energy of idle times and transitions rests on.
    pub rest_evidence: Coverage,
    /// How it ended.
    pub ending: Ending,
    /// Events that were taken from the queue and handled.
    pub events: u64,
    /// Workloads, then the stages of cascades.
    pub streams: Vec<StreamUse>,
    /// Looks of each cascade, by its name.
    pub cascades: Vec<(String, Tally)>,
    /// Domains of the profile.
    pub domains: Vec<DomainUse>,
    /// Time of each block of the profile in each of its states.
    pub blocks: Vec<Vec<SimTime>>,
    /// Time that each engine was held.
    pub engines: Vec<SimTime>,
    /// Time that each memory, cache and link was asked for more than it gives.
    pub contended: Vec<SimTime>,
    /// Rails of the profile.
    pub rails: Vec<RailUse>,
    /// Time at each operating point, of a run that goes between several.
    pub speeds: Option<OppUse>,
    /// Sources, modes of regulators, brown-outs.
    pub supplied: Supplied,
    /// Temperatures; nothing where leakage does not follow them.
    pub heat: Option<HeatUse>,
}

impl Simulated {
    /// Streams that run networks: what a detector does is no inference.
    pub fn networks(&self) -> impl Iterator<Item = &StreamUse> {
        self.streams.iter().filter(|own| own.runs_network)
    }

    /// Inferences of all networks.
    pub fn inferences(&self) -> u64 {
        self.networks().map(|own| own.served.inferences).fold(0, u64::saturating_add)
    }

    /// Those that were done in time, or have no deadline.
    pub fn in_time(&self) -> u64 {
        self.networks().map(|own| own.served.in_time).fold(0, u64::saturating_add)
    }

    /// All energy over all inferences, idle times and transitions included; nothing of no inference.
    pub fn energy_per_inference(&self) -> Option<Joules> {
        let count = self.inferences();
        (count > 0).then(|| self.ledger.source / count as f64)
    }

    /// Mean time of a pass over all networks.
    pub fn mean_latency(&self) -> Option<Seconds> {
        let passes: u64 = self.networks().map(|own| own.served.passes).sum();
        let time = |own: &StreamUse| own.served.latency.mean() * own.served.passes as f64;
        let all: Seconds = self.networks().map(time).sum();
        (passes > 0).then(|| all / passes as f64)
    }

    /// Energy per inference times mean latency.
    pub fn edp(&self) -> Option<JouleSeconds> {
        Some(self.energy_per_inference()? * self.mean_latency()?)
    }

    /// Inferences in time a second and watt: throughput that the deadline lets count over the mean power
    /// of everything, host and memory included.
    pub fn inferences_per_second_and_watt(&self) -> Option<f64> {
        let energy = self.ledger.source.0;
        (energy > 0.0).then(|| self.in_time() as f64 / energy)
    }

    /// Load and loss of a stream together.
    pub fn energy_of(&self, stream: usize) -> Joules {
        let (load, loss) = self.load_and_loss_of(stream);
        load + loss
    }

    /// What was booked for a stream at the loads, and what regulators burnt for it.
    pub fn load_and_loss_of(&self, stream: usize) -> (Joules, Joules) {
        let of = |map: &BTreeMap<Cause, Joules>| -> Joules {
            let first = Cause::Layer { workload: stream, layer: 0 };
            let last = Cause::Layer { workload: stream, layer: usize::MAX };
            map.range(first..=last).map(|(_, energy)| *energy).sum()
        };
        (of(&self.ledger.by_cause), of(&self.ledger.loss_by_cause))
    }
}
