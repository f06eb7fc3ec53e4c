//! What a run leaves besides what it wrote into its sink.

use super::Quantiles;
use crate::evidence::Coverage;
use crate::trace::{Ledger, Metrics};
use crate::units::{JouleSeconds, JouleSecondsSquared, Joules, Seconds, SimTime};
use serde::{Deserialize, Serialize};

/// Durations seen so far.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Durations {
    sum: Seconds,
    quantiles: Quantiles,
}

impl Durations {
    pub(super) fn add(&mut self, duration: SimTime) {
        self.sum += duration.seconds();
        self.quantiles.add(duration);
    }

    /// The mean; zero of none.
    pub fn mean(&self) -> Seconds {
        let count = self.quantiles.count();
        if count > 0 { self.sum / count as f64 } else { Seconds::ZERO }
    }

    /// The longest; zero of none.
    pub fn longest(&self) -> Seconds {
        self.quantiles.longest().unwrap_or(SimTime::ZERO).seconds()
    }

    /// Their quantiles.
    pub fn quantiles(&self) -> &Quantiles {
        &self.quantiles
    }
}

/// What is known at the end of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// Exact metrics of the whole run.
    pub metrics: Metrics,
    /// Energy by cause, component, rail and loss.
    pub ledger: Ledger,
    /// From the start of an inference to its end.
    pub latency: Durations,
    /// From asking for an inference to its end: waking and waiting for others included.
    pub response: Durations,
    /// Inferences that had to wait for another one.
    pub waited: u64,
    /// What the energy of idle times and transitions rests on.
    pub rest_evidence: Coverage,
    /// Events handled.
    pub events: u64,
}

impl Outcome {
    /// All energy over all inferences, idle times and transitions included.
    pub fn energy_per_inference(&self) -> Joules {
        self.metrics.energy / self.metrics.inferences.max(1) as f64
    }

    /// Energy per inference times mean latency.
    pub fn edp(&self) -> JouleSeconds {
        self.energy_per_inference() * self.latency.mean()
    }

    /// Energy per inference times the square of the mean latency.
    pub fn ed2p(&self) -> JouleSecondsSquared {
        self.edp() * self.latency.mean()
    }

    /// What the energy of the run rests on, given what that of one inference rests on.
    pub fn energy_evidence(&self, of_inference: &Coverage) -> Coverage {
        let mut all = of_inference.clone().scaled(self.metrics.inferences as f64);
        all.merge(&self.rest_evidence);
        all
    }
}
