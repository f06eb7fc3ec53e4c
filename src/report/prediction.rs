//! What every report of a prediction starts from.

use crate::cost::Setting;
use crate::estimate::{Bound, Estimate};
use crate::evidence::Coverage;
use crate::mapping::{Network, Plan};
use crate::sim::{Arrivals, Outcome, Workload};
use crate::uncertainty::Uncertainty;
use std::collections::BTreeSet;

/// A network on a profile at a setting, with its estimate and how sure that is.
#[derive(Debug)]
pub struct Prediction<'a> {
    /// The network.
    pub network: &'a Network,
    /// Profile, operating point and software.
    pub setting: Setting<'a>,
    /// The plan.
    pub plan: &'a Plan,
    /// The estimate.
    pub estimate: &'a Estimate,
    /// How sure the headline figures are.
    pub uncertainty: &'a Uncertainty,
    /// What the energy rests on.
    pub energy_evidence: &'a Coverage,
    /// What the time rests on.
    pub time_evidence: &'a Coverage,
    /// What limits the headline figures, to be said wherever they are.
    pub caveats: Vec<String>,
}

/// Below this share of the operations a figure is no figure of the network.
pub(super) const NEARLY_ALL: f64 = 0.99;

impl<'a> Prediction<'a> {
    /// A prediction with its caveats.
    pub fn new(
        network: &'a Network,
        setting: Setting<'a>,
        plan: &'a Plan,
        estimate: &'a Estimate,
        uncertainty: &'a Uncertainty,
        energy_evidence: &'a Coverage,
    ) -> Self {
        let time_evidence = &estimate.time_coverage;
        let mut caveats = Vec::new();
        if plan.costed_share < NEARLY_ALL {
            caveats.push(format!(
                "PARTIAL: only {:.1} % of the network's operations could be costed here",
                plan.costed_share * 100.0
            ));
        }
        let unknown = plan.unknown_layers();
        if unknown > 0 {
            let (layers, is) = if unknown == 1 { ("layer", "is") } else { ("layers", "are") };
            caveats.push(format!(
                "PARTIAL: {unknown} {layers} {is} of unknown work, which is in no figure here"
            ));
        }
        if !plan.fits {
            caveats.push("DOES NOT FIT: see the notes; costed as if it did".to_owned());
        }
        if energy_evidence.is_indicative() || time_evidence.is_indicative() {
            caveats.push(format!(
                "indicative: {:.0} % of the energy and {:.0} % of the time rest on measured, datasheet, paper or fitted numbers",
                energy_evidence.share() * 100.0,
                time_evidence.share() * 100.0
            ));
        }
        Self {
            network,
            setting,
            plan,
            estimate,
            uncertainty,
            energy_evidence,
            time_evidence,
            caveats,
        }
    }

    /// Adds what limits the figures of a run.
    pub fn of_run(mut self, workload: &Workload, outcome: &Outcome) -> Self {
        if let Arrivals::Periodic(period) = workload.arrivals
            && outcome.waited > 0
        {
            self.caveats.push(format!(
                "period not met: an inference takes {}, the period is {period}; {} of {} had to wait",
                outcome.latency.mean(),
                outcome.waited,
                outcome.metrics.inferences
            ));
        }
        self
    }

    /// Names of the software stacks that the plan runs on.
    pub fn software(&self) -> Option<String> {
        let engines: BTreeSet<usize> = self.plan.steps.iter().map(|s| s.engine).collect();
        let stacks = engines.into_iter().filter_map(|e| self.setting.stack(e));
        let names: Vec<&str> = stacks.map(|s| s.name.as_str()).collect();
        (!names.is_empty()).then(|| names.join(" and "))
    }

    /// `kws on stm32l4r5 at 120mhz, software any-runtime`.
    pub fn subject(&self) -> String {
        let spec = self.setting.profile.spec();
        let mut text =
            format!("{} on {} at {}", self.network.name, spec.name, self.setting.point.name);
        if let Some(corner) = self.setting.profile.corner() {
            text.push_str(&format!(", corner {corner}"));
        }
        if let Some(software) = self.software() {
            text.push_str(&format!(", software {software}"));
        }
        text
    }

    /// Name of what a layer waits for.
    pub fn bound_name(&self, bound: Bound) -> &str {
        match bound {
            Bound::Compute => "compute",
            Bound::Dispatch => "dispatch",
            Bound::Nothing => "nothing",
            Bound::Channel(channel) => self.setting.profile.channel_name(channel),
        }
    }
}
