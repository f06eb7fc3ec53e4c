//! What every report of a prediction starts from.

use crate::cost::{Setting, asleep};
use crate::estimate::{Bound, Estimate, Headroom, Junction, RailPeak};
use crate::evidence::Coverage;
use crate::mapping::{Network, Plan};
use crate::physics::leakage_fixed_point::SteadyTemperature;
use crate::sim::{Arrivals, Outcome, Workload};
use crate::uncertainty::Uncertainty;
use crate::units::{Coulombs, Seconds, Volts};
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
    /// The highest current of each rail.
    pub peaks: Vec<RailPeak>,
    /// Where the junction settles, for a profile with a package.
    pub junction: Option<Junction>,
    /// What limits the headline figures, to be said wherever they are.
    pub caveats: Vec<String>,
}

/// How long a supply lasts.
#[derive(Debug, Clone, PartialEq)]
pub struct Lifetime {
    /// The supply.
    pub supply: String,
    /// Charge it holds.
    pub capacity: Coulombs,
    /// Inferences it lasts for.
    pub inferences: f64,
    /// Time it lasts for.
    pub duration: Seconds,
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
            peaks: Vec::new(),
            junction: None,
            caveats,
        }
    }

    /// Says so where the software that was asked for runs no layer.
    pub fn with_software(mut self, asked: Option<&str>) -> Self {
        let stacks = &self.setting.profile.spec().software;
        let used = self.plan.steps.iter().filter_map(|s| self.setting.stack(s.engine));
        let runs = |name: &str| used.clone().any(|stack| stack.name == name);
        if let Some(asked) = asked.filter(|name| !runs(name)) {
            let of = stacks.iter().find(|s| s.name == asked).map(|s| s.runs_on.join(", "));
            let on = of.unwrap_or_default();
            self.caveats.push(format!("software {asked} runs no layer: none is placed on {on}"));
        }
        self
    }

    /// Adds the highest currents and where the junction settles, which may be more than there can be.
    pub fn with_limits(mut self, peaks: Vec<RailPeak>, junction: Option<Junction>) -> Self {
        let rails = &self.setting.profile.spec().rails;
        for peak in peaks.iter().filter(|p| p.is_over()) {
            let Some(limit) = &peak.limit else { continue };
            self.caveats.push(format!(
                "OVER THE LIMIT: rail {} takes up to {}, and {} gives {}",
                rails[peak.rail].name, peak.current, limit.name, limit.current
            ));
        }
        self.caveats.extend(self.out_of_headroom(&peaks));
        if junction.is_some_and(|j| j.steady == SteadyTemperature::RunsAway) {
            self.caveats.push(
                "RUNS AWAY: back to back, leakage heats the junction faster than heat leaves it"
                    .to_owned(),
            );
        }
        (self.peaks, self.junction) = (peaks, junction);
        self
    }

    /// Supplies that sag too far at the highest current, and regulators that are left too little.
    fn out_of_headroom(&self, peaks: &[RailPeak]) -> Vec<String> {
        let spec = self.setting.profile.spec();
        let collapsing = peaks.iter().filter(|peak| peak.collapses);
        let mut said: Vec<String> = collapsing
            .map(|peak| {
                let rail = &spec.rails[peak.rail].name;
                format!(
                    "COLLAPSES: what rail {rail} is asked for passes its resistance at no voltage"
                )
            })
            .collect();
        for (peak, sag) in peaks.iter().filter_map(|p| Some((p, p.sag?))) {
            let rail = &spec.rails[peak.rail];
            let least = rail.minimum.as_ref().map_or(Volts::ZERO, |least| least.get());
            if peak.left < least || peak.left <= Volts::ZERO {
                let (current, full) = (peak.current, peak.left + sag);
                said.push(format!(
                    "OUT OF HEADROOM: at {current} the supply of rail {} sags by {sag}, from {full}",
                    rail.name
                ));
            }
        }
        for short in peaks.iter().filter_map(|p| p.headroom).filter(Headroom::is_short) {
            let regulator = &spec.regulators[short.regulator];
            said.push(format!(
                "OUT OF HEADROOM: regulator {} needs {} for a load of {}, and rail {} gives {}",
                regulator.name,
                short.given - short.spare,
                short.current,
                regulator.input,
                short.given
            ));
        }
        said
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
        if let Some(rest) = workload.rest.as_deref().filter(|rest| *rest != "on") {
            let awake = awake(self.setting, rest);
            if !awake.is_empty() {
                let domains = awake.join(", ");
                self.caveats
                    .push(format!("stays on between inferences: {domains} (no state `{rest}`)"));
            }
        }
        self
    }

    /// How long each supply that holds a charge lasts under back-to-back inference.
    pub fn lifetimes(&self) -> Vec<Lifetime> {
        self.lifetimes_at(&self.estimate.rail_charge, self.estimate.latency)
    }

    /// How long each lasts under the load of a run, its rests included.
    pub fn lifetimes_of_run(&self, outcome: &Outcome) -> Vec<Lifetime> {
        let count = outcome.metrics.inferences.max(1) as f64;
        let each: Vec<Coulombs> = outcome.ledger.rail_charge.iter().map(|q| *q / count).collect();
        self.lifetimes_at(&each, outcome.metrics.duration / count)
    }

    fn lifetimes_at(&self, charge: &[Coulombs], time: Seconds) -> Vec<Lifetime> {
        let (spec, links) = (self.setting.profile.spec(), self.setting.profile.links());
        let supplies = spec.supplies.iter().zip(&links.supply_rail);
        let lives = supplies.filter_map(|(supply, rail)| {
            let capacity = supply.capacity.as_ref()?.get();
            let each = *charge.get(*rail)?;
            let inferences = capacity / each;
            (each.0 > 0.0).then(|| Lifetime {
                supply: supply.name.clone(),
                capacity,
                inferences: inferences.floor(),
                duration: time * inferences,
            })
        });
        lives.collect()
    }

    /// Domains that stay at rest at the point, with their states.
    pub fn asleep(&self) -> Vec<(String, String)> {
        let domains = self.setting.profile.spec().domains.iter().enumerate();
        let found = domains.filter_map(|(i, domain)| {
            Some((domain.name.clone(), asleep(i, self.setting)?.name.clone()))
        });
        found.collect()
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

/// Domains that draw power and have no state of this name.
fn awake<'a>(setting: Setting<'a>, rest: &str) -> Vec<&'a str> {
    let domains = setting.profile.spec().domains.iter().enumerate();
    let lacks = domains.filter(|(_, d)| d.states.iter().all(|s| s.name != rest));
    let drawing = lacks.filter(|(_, d)| d.clock_tree.is_some() || d.leakage.is_some());
    let awake = drawing.filter(|(i, _)| asleep(*i, setting).is_none());
    awake.map(|(_, d)| d.name.as_str()).collect()
}
