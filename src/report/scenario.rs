//! What every report of a run of a scenario starts from.

mod heat;
mod pressure;
mod supply;

pub use heat::degrees;
pub use pressure::Pressure;

use crate::cost::Setting;
use crate::mapping::Plan;
use crate::sim::kernel::{Ending, Streams};
use crate::sim::scenario::{Fidelity, Outlook, Scenario};
use crate::sim::{Grounds, PolicyChange, Prepared, Quantiles, Simulated, StreamUse};
use crate::trace::Cause;
use crate::uncertainty::{Figure, Interval90, ScenarioUncertainty, StreamUncertainty, Uncertainty};
use crate::units::{Coulombs, Joules, Seconds, SimTime};

/// A scenario that was run.
#[derive(Debug)]
pub struct ScenarioRun<'a> {
    /// The scenario.
    pub scenario: &'a Scenario,
    /// What closed forms say of it.
    pub outlook: &'a Outlook,
    /// The run.
    pub simulated: &'a Simulated,
    /// What made all that is random.
    pub seed: u64,
    /// How finely inferences were simulated.
    pub fidelity: Fidelity,
    /// How sure the headline figures are; nothing where nothing can be said.
    pub uncertainty: Option<Uncertainty>,
    /// How sure the figures of each stream are; empty where nothing can be said.
    pub of_streams: Vec<StreamUncertainty>,
    /// What energy and time rest on.
    pub grounds: Grounds,
    /// What limits the headline figures, to be said wherever they are.
    pub caveats: Vec<String>,
    /// Where it was taken up from a snapshot; nothing of one that began at time zero.
    pub resumed: Option<Resumed>,
}

/// Where a run goes on from a snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resumed {
    /// The moment.
    pub at: SimTime,
    /// What is other from there on.
    pub changed: Vec<PolicyChange>,
}

/// Time in a state.
#[derive(Debug, Clone, PartialEq)]
pub struct TimeIn {
    /// The state.
    pub state: String,
    /// The time.
    pub time: Seconds,
    /// Its share of all time.
    pub share: f64,
}

/// How long a supply that holds a charge lasts under the load of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Endurance {
    /// The supply.
    pub supply: String,
    /// Charge that it starts with.
    pub charge: Coulombs,
    /// How long that lasts.
    pub lasts: Seconds,
}

impl<'a> ScenarioRun<'a> {
    /// A run with its caveats.
    pub fn new(
        (scenario, outlook): (&'a Scenario, &'a Outlook),
        prepared: &Prepared<'_>,
        (seed, fidelity): (u64, Fidelity),
        simulated: &'a Simulated,
        uncertainty: Option<ScenarioUncertainty>,
    ) -> Self {
        let grounds = prepared.grounds(simulated);
        let caveats = Vec::new();
        let (uncertainty, of_streams) = uncertainty.map(|own| (own.headline, own.streams)).unzip();
        let of_streams = of_streams.unwrap_or_default();
        let mut run = Self {
            scenario,
            outlook,
            simulated,
            seed,
            fidelity,
            uncertainty,
            of_streams,
            grounds,
            caveats,
            resumed: None,
        };
        run.caveats = run.limits();
        run.caveats.extend(prepared.plans().filter_map(|(name, own)| lacks(name, own?)));
        run
    }

    /// It goes on from a snapshot.
    pub fn resume(&mut self, resumed: Resumed) {
        let at = resumed.at.seconds();
        let mut said =
            format!("taken up from a snapshot at {at}; figures are of all from the start");
        // Domains of one chip mostly change together.
        let mut alike: Vec<(Vec<&str>, &PolicyChange)> = Vec::new();
        for own in &resumed.changed {
            match alike.iter_mut().find(|(_, other)| (&other.was, &other.is) == (&own.was, &own.is))
            {
                Some((policies, _)) => policies.push(&own.policy),
                None => alike.push((vec![&own.policy], own)),
            }
        }
        for (policies, own) in alike {
            said.push_str(&format!("; {}: {}, before {}", policies.join(", "), own.is, own.was));
        }
        if !resumed.changed.is_empty() {
            said.push_str("; no intervals, for policies change on the way");
        }
        self.caveats.push(said);
        self.resumed = Some(resumed);
    }

    fn limits(&self) -> Vec<String> {
        let mut said = Vec::new();
        let ending = self.simulated.ending;
        if ending.is_incomplete() {
            let why = match ending {
                Ending::MaxEvents(events) => format!("stopped after {events} events"),
                _ => "interrupted".to_owned(),
            };
            said.push(format!(
                "INCOMPLETE: {why}; all figures are of the first {}",
                self.simulated.metrics.duration
            ));
        }
        said.extend(self.brown_out());
        said.extend(self.overheated());
        if self.simulated.heat.is_some() {
            said.push("leakage follows temperatures; intervals and closed forms are of leakage at the profile's temperature".to_owned());
        }
        said.extend(self.pressures().filter_map(|own| own.words()));
        if self.is_indicative() {
            said.push(format!(
                "indicative: {:.0} % of the energy and {:.0} % of the time rest on measured, datasheet, paper or fitted numbers",
                self.grounds.energy.share() * 100.0,
                self.grounds.time.share() * 100.0
            ));
        }
        if self.scenario.dvfs.is_some() {
            said.push("no intervals: the operating point changes in the run".to_owned());
        }
        let assumed = self.scenario.assumed().len();
        if assumed > 0 {
            let (numbers, are, they) =
                if assumed == 1 { ("number", "is", "it") } else { ("numbers", "are", "they") };
            said.push(format!(
                "{assumed} {numbers} of the scenario {are} assumed; intervals hold what {they} may be off by"
            ));
        }
        said
    }

    /// True where less than half of the energy or of the time rests on evidence.
    pub fn is_indicative(&self) -> bool {
        self.grounds.energy.is_indicative() || self.grounds.time.is_indicative()
    }

    /// The setting of the whole run, without the software of a workload.
    pub fn setting(&self) -> Setting<'_> {
        Setting { profile: self.scenario.profile(), point: self.scenario.point(), stacks: &[] }
    }

    /// `keyword_node on stm32u585 at 160mhz_3v0_smps`.
    pub fn subject(&self) -> String {
        let profile = self.scenario.profile();
        let (name, point) = (&self.scenario.spec().name, &self.scenario.point().name);
        let mut text = format!("{name} on {} at {point}", profile.spec().name);
        if let Some(corner) = profile.corner() {
            text.push_str(&format!(", corner {corner}"));
        }
        text
    }

    /// How random numbers are made.
    pub fn generator(&self) -> &'static str {
        Streams::ALGORITHM
    }

    /// The interval around a figure; nothing where none is known.
    pub fn interval(&self, figure: Figure, value: f64) -> Option<Interval90> {
        self.uncertainty.as_ref().map(|own| own.interval(figure, value))
    }

    /// The interval around the energy per inference of a stream.
    pub fn energy_interval_of(&self, stream: usize, each: Joules) -> Option<Interval90> {
        self.of_streams.get(stream).map(|own| own.energy.interval(each.0))
    }

    /// The interval around a latency of a stream, a quantile or the mean.
    pub fn latency_interval_of(&self, stream: usize, latency: Seconds) -> Option<Interval90> {
        self.of_streams.get(stream).map(|own| own.latency.interval(latency.0))
    }

    /// The interval around the energy of the whole run: of a length that is given as uncertain as the mean
    /// power, of a number of inferences as that of each.
    pub fn energy_interval(&self, energy: Joules) -> Option<Interval90> {
        let figure = match self.scenario.end {
            crate::sim::scenario::End::After(_) => Figure::MeanPower,
            crate::sim::scenario::End::Inferences(_) => Figure::Energy,
        };
        self.interval(figure, energy.0)
    }

    /// A count a second.
    pub fn per_second(&self, count: u64) -> Option<f64> {
        let lasted = self.simulated.metrics.duration.0;
        (lasted > 0.0).then(|| count as f64 / lasted)
    }

    /// Quantiles over all networks together.
    pub fn quantiles(&self, of: impl Fn(&StreamUse) -> &Quantiles) -> Quantiles {
        let mut all = Quantiles::default();
        self.simulated.networks().for_each(|own| all.merge(of(own)));
        all
    }

    /// Requests that were late or lost, of all streams.
    pub fn deadline_misses(&self) -> u64 {
        let own = self.simulated.streams.iter().map(|own| own.served.deadlines);
        own.fold(0, |sum, own| sum.saturating_add(own.late).saturating_add(own.lost))
    }

    /// Layers of a stream with their energy, largest first.
    pub fn layers(&self, stream: usize) -> Vec<(&str, Joules)> {
        let Some(own) = self.simulated.streams.get(stream) else { return Vec::new() };
        let named = own.layers.iter().enumerate().map(|(layer, name)| {
            let cause = Cause::Layer { workload: stream, layer };
            (name.as_str(), self.simulated.ledger.of(&cause))
        });
        let mut layers: Vec<_> = named.filter(|(_, energy)| energy.0 != 0.0).collect();
        layers.sort_by(|a, b| b.1.0.total_cmp(&a.1.0));
        layers
    }

    /// Time of each domain in each of its states.
    pub fn residency(&self, domain: usize) -> Vec<TimeIn> {
        let Some(own) = self.simulated.domains.get(domain) else { return Vec::new() };
        let times = own.residency;
        let part = |state: &str, time: Seconds| self.time_in(state, time);
        // One that the operating point has asleep neither works nor wakes.
        if let Some(state) = own.state.as_ref().filter(|_| own.stays) {
            return vec![part(state, times.resting.seconds())];
        }
        let mut all = vec![part("on", times.on.seconds())];
        if let Some(state) = &own.state {
            if times.entering > SimTime::ZERO {
                all.push(part("entering", times.entering.seconds()));
            }
            all.push(part("waking", times.waking.seconds()));
            all.push(part(state, times.resting.seconds()));
        }
        all
    }

    /// Time of each block in each of its states.
    pub fn block_times(&self, block: usize) -> Vec<TimeIn> {
        let spec = self.scenario.profile().spec().loads.get(block);
        let times = self.simulated.blocks.get(block);
        let states = spec.zip(times).into_iter().flat_map(|(s, times)| s.states.iter().zip(times));
        states.map(|(state, time)| self.time_in(&state.name, time.seconds())).collect()
    }

    fn time_in(&self, state: &str, time: Seconds) -> TimeIn {
        TimeIn { state: state.to_owned(), time, share: self.share(time) }
    }

    /// Share of all time; zero of none.
    pub fn share(&self, time: Seconds) -> f64 {
        let lasted = self.simulated.metrics.duration;
        if lasted.0 > 0.0 { time / lasted } else { 0.0 }
    }

    /// Time at each operating point, the slowest first, of a run that goes between several.
    pub fn operating_points(&self) -> Vec<TimeIn> {
        let dvfs = self.scenario.dvfs.as_deref();
        let points = dvfs.into_iter().flat_map(|own| &own.points);
        let used = self.simulated.speeds.iter().flat_map(|own| &own.residency);
        points.zip(used).map(|(point, time)| self.time_in(&point.name, time.seconds())).collect()
    }

    /// How long each supply that holds a charge lasts if all goes on like this.
    pub fn endurances(&self) -> Vec<Endurance> {
        let profile = self.scenario.profile();
        let lasted = self.simulated.metrics.duration;
        let supplies = profile.spec().supplies.iter().zip(&profile.links().supply_rail).enumerate();
        let lives = supplies.filter_map(|(number, (supply, rail))| {
            let full = self.scenario.charge_of(number)?;
            let charge = supply.capacity.as_ref()?.get() * full.0;
            let taken = *self.simulated.ledger.rail_charge.get(*rail)?;
            let lasts = lasted * (charge / taken);
            let supply = supply.name.clone();
            (taken.0 > 0.0).then_some(Endurance { supply, charge, lasts })
        });
        lives.collect()
    }
}

/// What the figures of a stream leave out.
fn lacks(name: &str, plan: &Plan) -> Option<String> {
    if !plan.fits {
        return Some(format!(
            "DOES NOT FIT: `{name}` needs more memory than there is; costed as if it did"
        ));
    }
    let unknown = plan.unknown_layers();
    if unknown > 0 {
        return Some(format!(
            "PARTIAL: {unknown} layers of `{name}` are of unknown work, in no figure here"
        ));
    }
    (!plan.uncosted.is_empty()).then(|| {
        let share = plan.costed_share * 100.0;
        format!("PARTIAL: only {share:.1} % of the operations of `{name}` could be costed here")
    })
}
