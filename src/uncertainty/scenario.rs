//! The linearised interval of a run of a scenario.
//!
//! To run a day anew for each number of a profile would take hours. What such a number moves is nearly a
//! sum, and its parts are run instead: the whole time with nothing to do, blocks going through their
//! states, and one request of each stream by itself, with waking, the time until domains rest again and
//! what regulators burn. With `n` requests of each stream
//!
//! `E(θ) = E_nothing(θ) + Σ n (E_alone(θ) - P_nothing(θ) t)`.
//!
//! Only changes of its logarithm are used, so that what streams share (a domain that stays on from one
//! request to the next) need not be right in size, only in kind. How many requests come is held as the
//! run had it; where a stream is asked for anew once it has answered, or never catches up, they come as
//! fast as it answers.
//!
//! The scenario's own numbers are moved in the same way ([`super::claims`]): parts are made of the scenario
//! that they make, and each stream is asked for as many times as often as its mean rate says in closed form.
//!
//! What was booked for a stream, and its latency, go as those of a request by itself do.

use super::claims;
use super::linearised::{Changes, Figure, Sigma, Uncertainty};
use super::threads;
use crate::hardware::Profile;
use crate::sim::load::{
    Admission, Cascade, Events, MicroBatch, Periodic, Process, RestRule, Stage, StateSchedule,
};
use crate::sim::scenario::{
    End, Fidelity, OnBrownOut, Outlook, PowerSource, Scenario, StreamOutlook, Task, WakeCascade,
    Work, Workload,
};
use crate::sim::{Limits, Prepared, Simulated, StreamUse};
use crate::trace::Deaf;
use crate::units::{Hertz, Joules, Ratio, Seconds, SimTime};

/// How sure the figures of a run of a scenario are.
#[derive(Debug, Clone, PartialEq)]
pub struct ScenarioUncertainty {
    /// Mean latency, energy and energy-delay product of an inference, mean power.
    pub headline: Uncertainty,
    /// Each stream, in the order of the run.
    pub streams: Vec<StreamUncertainty>,
}

/// How sure the figures of a stream are.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct StreamUncertainty {
    /// Of its energy per inference.
    pub energy: Sigma,
    /// Of the time of a pass, and of its quantiles.
    pub latency: Sigma,
}

/// Figures of a stream beside the headline.
const OF_A_STREAM: usize = 2;

/// The linearised uncertainty of a run's figures, by what the numbers of its hardware and its own say.
/// Nothing where no inference was done, or no time went by.
pub fn of_scenario(
    scenario: &Scenario,
    outlook: &Outlook,
    simulated: &Simulated,
) -> Option<ScenarioUncertainty> {
    let asked = |own: &Scenario| Parts::of(own, scenario, outlook, simulated);
    let parts = asked(scenario)?;
    let stacks: Vec<Option<usize>> = placed(scenario).flat_map(|p| p.stacks.clone()).collect();
    let (profile, point) = (scenario.profile(), scenario.point());
    let used = |path: &str| moves_in_runs(path) || profile.is_in_use(path, point, &stacks);
    let count = Figure::COUNT + OF_A_STREAM * simulated.streams.len();
    let lost = || vec![f64::NAN; count];
    let figures = |parts: &Parts, profile: &Profile| parts.figures(profile).unwrap_or_else(lost);
    let changes = Changes::of(profile, used, |profile| figures(&parts, profile));
    let moves = claims::moves(scenario);
    let found = threads::mapped(&moves, |step| {
        [1.0, -1.0].map(|sign| {
            let moved = scenario.moved(|place, value| step.apply(place, value, sign));
            let parts = moved.as_ref().and_then(asked);
            parts.map_or_else(lost, |parts| figures(&parts, profile))
        })
    });
    let changes = changes.and(moves, &found);
    let streams = (0..simulated.streams.len()).map(|stream| {
        let first = Figure::COUNT + OF_A_STREAM * stream;
        StreamUncertainty { energy: changes.sigma(first), latency: changes.sigma(first + 1) }
    });
    Some(ScenarioUncertainty { headline: changes.headline(), streams: streams.collect() })
}

fn placed(scenario: &Scenario) -> impl Iterator<Item = &crate::sim::scenario::Placed> {
    let stages = scenario.cascades.iter().flat_map(|wake| &wake.stages);
    let stages = stages.filter_map(|stage| match &stage.work {
        Work::Network(placed) => Some(placed.as_ref()),
        Work::Detector { .. } => None,
    });
    scenario.workloads.iter().map(|own| &own.placed).chain(stages)
}

/// One request by itself.
#[derive(Debug, Clone)]
struct Alone {
    workload: Option<Workload>,
    cascade: Option<WakeCascade>,
    task: Option<Task>,
    lasts: SimTime,
}

/// What a request takes.
#[derive(Debug, Clone, Copy)]
struct Taken {
    /// Energy above that of doing nothing.
    added: Joules,
    /// Energy that was booked for it.
    booked: Joules,
    latency: Seconds,
}

/// How often a stream is asked for where the scenario's numbers were moved.
#[derive(Debug, Clone, Copy)]
struct Asked {
    /// Requests over those of the run.
    ratio: f64,
    /// How much longer one of those who ask thinks.
    longer: Seconds,
}

/// A stream in the sum.
#[derive(Debug)]
struct Part {
    /// The stream, by number.
    stream: usize,
    asked: Asked,
    /// One request; where it is of many inferences, one of one inference.
    one: Alone,
    /// One of two inferences, which tells what each further one adds.
    two: Option<Alone>,
    /// Inferences of a request.
    each: f64,
    /// Requests in the run.
    requests: f64,
    passes: f64,
    runs_network: bool,
    /// Time between two requests of one of those who ask, and the latency that it holds with; nothing
    /// where requests come whatever happens.
    answered: Option<(Seconds, Seconds)>,
}

#[derive(Debug)]
struct Parts {
    /// Streams of the run.
    of: usize,
    /// The scenario without anything to do.
    nothing: Scenario,
    background: Vec<Option<StateSchedule>>,
    streams: Vec<Part>,
    lasted: Seconds,
    /// True of a run whose length is given, false of one until so many inferences are done.
    fixed: bool,
}

impl Parts {
    /// The parts of a scenario that was run as `before`.
    fn of(
        scenario: &Scenario,
        before: &Scenario,
        outlook: &Outlook,
        simulated: &Simulated,
    ) -> Option<Self> {
        let lasted = simulated.metrics.duration;
        if lasted <= Seconds::ZERO || simulated.inferences() == 0 {
            return None;
        }
        let mut nothing = scenario.clone();
        (nothing.workloads, nothing.cascades) = (Vec::new(), Vec::new());
        nothing.tasks = Vec::new();
        // A request by itself is over before anything warms.
        nothing.heat = None;
        // Its parts are not to end where a battery does.
        (nothing.power, nothing.on_brown_out) = (PowerSource::Bench, OnBrownOut::GoOn);
        let background = nothing.background.clone();
        nothing.background = vec![None; background.len()];
        let tail = tail(scenario);
        let mut streams = Vec::new();
        let asked = sources(scenario).zip(sources(before)).map(|(now, was)| now.asked(&was));
        let all = sources(scenario).zip(&outlook.streams).zip(&simulated.streams).zip(asked);
        let served = |used: &StreamUse| used.served.passes > 0;
        for (stream, (((source, own), used), asked)) in
            all.enumerate().filter(|(_, ((_, used), _))| served(used))
        {
            let part = source.part(own, used, lasted, tail)?;
            streams.push(Part { stream, asked, ..part });
        }
        let fixed = matches!(scenario.end, End::After(_));
        let of = simulated.streams.len();
        Some(Self { of, nothing, background, streams, lasted, fixed })
    }

    /// In the order of [`Figure::ALL`], then energy per inference and latency of each stream.
    fn figures(&self, profile: &Profile) -> Option<Vec<f64>> {
        let mut scenario = self.nothing.on(profile).ok()?;
        let second = SimTime::from_seconds(Seconds(1.0)).ok()?;
        let idle = run(&mut scenario, second)?.added;
        let mut sums = Sums::default();
        // What served nobody does not move.
        let mut of_streams = vec![1.0; OF_A_STREAM * self.of];
        for part in &self.streams {
            let taken = part.request(&mut scenario, idle)?;
            sums.add(part, taken);
            let own = of_streams.iter_mut().skip(OF_A_STREAM * part.stream);
            let figures = [taken.booked.0 / part.each, taken.latency.0];
            own.zip(figures).for_each(|(own, figure)| *own = figure);
        }
        (scenario.workloads, scenario.cascades) = (Vec::new(), Vec::new());
        scenario.tasks = Vec::new();
        scenario.background.clone_from(&self.background);
        let whole = SimTime::from_seconds(self.lasted).ok()?;
        let mut energy = match self.background.iter().any(Option::is_some) {
            true => run(&mut scenario, whole)?.added,
            false => idle * self.lasted.0,
        };
        // As many inferences as were asked for take another time.
        let (mut lasted, mut inferences) = (self.lasted, sums.inferences);
        if !self.fixed && sums.inferences > 0.0 {
            let stretch = sums.before / sums.inferences;
            (energy, lasted, inferences) = (energy * stretch, lasted * stretch, sums.before);
            sums.energy = sums.energy * stretch;
        }
        let energy = energy + sums.energy;
        let (each, latency) = (energy / inferences, sums.latency / sums.passes);
        let (edp, power) = (each * latency, energy / lasted);
        let mut figures = vec![latency.0, each.0, edp.0, power.0, (edp * latency).0];
        figures.append(&mut of_streams);
        Some(figures)
    }
}

/// Sums over streams.
#[derive(Debug, Default)]
struct Sums {
    energy: Joules,
    latency: Seconds,
    passes: f64,
    /// Inferences as often as they come here, and as often as they came in the run.
    inferences: f64,
    before: f64,
}

impl Sums {
    fn add(&mut self, part: &Part, Taken { added, latency, .. }: Taken) {
        let ratio = match part.answered {
            None => part.asked.ratio,
            Some((cycle, was)) => {
                let longer = (latency - was) * part.each + part.asked.longer;
                cycle / (cycle + longer).max(Seconds(cycle.0 * 1e-3))
            }
        };
        let requests = part.requests * ratio;
        self.energy += added * requests;
        if part.runs_network {
            let passes = part.passes * part.asked.ratio;
            self.latency += latency * passes;
            self.passes += passes;
            self.inferences += requests * part.each;
            self.before += part.requests * part.each;
        }
    }
}

impl Part {
    /// What a request takes.
    fn request(&self, scenario: &mut Scenario, idle: Joules) -> Option<Taken> {
        let one = self.one.run(scenario, idle)?;
        let Some(two) = &self.two else { return Some(one) };
        let two = two.run(scenario, idle)?;
        let all = |one: Joules, two: Joules| one + (two - one) * (self.each - 1.0);
        let (added, booked) = (all(one.added, two.added), all(one.booked, two.booked));
        Some(Taken { added, booked, ..one })
    }
}

impl Alone {
    /// What it takes where doing nothing takes `idle` a second.
    fn run(&self, scenario: &mut Scenario, idle: Joules) -> Option<Taken> {
        scenario.workloads = self.workload.iter().cloned().collect();
        scenario.cascades = self.cascade.iter().cloned().collect();
        scenario.tasks = self.task.iter().cloned().collect();
        let ran = run(scenario, self.lasts)?;
        let added = ran.added - idle * self.lasts.seconds().0;
        (ran.latency > Seconds::ZERO).then_some(Taken { added, ..ran })
    }
}

/// All energy of a run, what was booked for its first stream, and the mean time of a pass of that.
fn run(scenario: &mut Scenario, lasts: SimTime) -> Option<Taken> {
    scenario.end = End::After(lasts);
    let prepared = Prepared::new(scenario, Fidelity::Layer).ok()?;
    let simulated = prepared.run(0, Limits::default(), &mut Deaf).ok()?;
    let latency = simulated.streams.first().map_or(Seconds::ZERO, |own| own.served.latency.mean());
    Some(Taken { added: simulated.ledger.source, booked: simulated.energy_of(0), latency })
}

/// Where requests come from.
enum Source<'a> {
    Workload(&'a Workload),
    Stage(&'a WakeCascade, usize),
    Task(&'a Task),
}

fn sources(scenario: &Scenario) -> impl Iterator<Item = Source<'_>> {
    let stages = scenario
        .cascades
        .iter()
        .flat_map(|wake| (0..wake.stages.len()).map(move |stage| Source::Stage(wake, stage)));
    let tasks = scenario.tasks.iter().map(Source::Task);
    scenario.workloads.iter().map(Source::Workload).chain(stages).chain(tasks)
}

impl Source<'_> {
    fn part(
        &self,
        own: &StreamOutlook,
        used: &StreamUse,
        lasted: Seconds,
        (wake, rest): (Seconds, Seconds),
    ) -> Option<Part> {
        let each = match self {
            Self::Workload(workload) => workload.inferences_each,
            Self::Stage(..) | Self::Task(_) => 1,
        };
        let requests = used.served.inferences as f64 / each as f64;
        let rest = rest.min(lasted / requests);
        let lasts = |inferences: u64| {
            let busy = own.latency * inferences as f64;
            SimTime::from_seconds(busy * 4.0 + wake * 2.0 + rest + Seconds(1e-3)).ok()
        };
        let few = if each > 2 { 1 } else { each };
        Some(Part {
            stream: 0,
            asked: Asked { ratio: 1.0, longer: Seconds::ZERO },
            one: self.alone(few, lasts(few)?)?,
            two: if each > 2 { Some(self.alone(2, lasts(2)?)?) } else { None },
            each: each as f64,
            requests,
            passes: used.served.passes as f64,
            runs_network: used.runs_network,
            answered: self.answered(used, requests, lasted).map(|cycle| (cycle, own.latency)),
        })
    }

    /// A request that comes once.
    fn alone(&self, inferences: u64, lasts: SimTime) -> Option<Alone> {
        let length = lasts.seconds();
        match self {
            Self::Workload(workload) => {
                let once = once(length)?;
                let workload = Workload {
                    name: workload.name.clone(),
                    placed: workload.placed.clone(),
                    together: Vec::new(),
                    process: once,
                    host: workload.host,
                    inferences_each: inferences,
                    deadline: None,
                    priority: 0,
                    batch: MicroBatch::SINGLE,
                    admission: Admission::default(),
                };
                Some(Alone { workload: Some(workload), cascade: None, task: None, lasts })
            }
            Self::Stage(wake, stage) => {
                let named = wake.cascade.stages().get(*stage)?;
                let never = Stage { hit: Ratio(0.0), false_alarm: Ratio(0.0), ..named.clone() };
                let nothing = Events::Prevalence(Ratio(0.0));
                // It looks at the end of the time that it looks at.
                let cascade = Cascade::new(length, nothing, vec![never]).ok()?;
                let stages = vec![wake.stages.get(*stage)?.clone()];
                let cascade = WakeCascade { name: wake.name.clone(), cascade, stages };
                let lasts = SimTime::from_seconds(length * 1.999).ok()?;
                Some(Alone { workload: None, cascade: Some(cascade), task: None, lasts })
            }
            Self::Task(task) => {
                let (process, deadline, priority) = (once(length)?, None, 0);
                let admission = Admission::default();
                let name = task.name.clone();
                let task = Task { name, process, deadline, priority, admission, ..**task };
                Some(Alone { workload: None, cascade: None, task: Some(task), lasts })
            }
        }
    }

    /// How often it is asked for against what was asked in a run.
    fn asked(&self, before: &Self) -> Asked {
        let ratio = self.rate().zip(before.rate()).filter(|(_, was)| was.0 > 0.0);
        let longer = self.thinks() - before.thinks();
        Asked { ratio: ratio.map_or(1.0, |(now, was)| now.0 / was.0), longer }
    }

    /// Mean rate of its requests, where it has a closed form.
    fn rate(&self) -> Option<Hertz> {
        match self {
            Self::Workload(own) => own.process.mean_rate(),
            Self::Task(own) => own.process.mean_rate(),
            Self::Stage(wake, 0) => Some(wake.cascade.look_rate()),
            Self::Stage(wake, stage) => Some(wake.cascade.expected()?.stages.get(*stage)?.asked),
        }
    }

    /// Time from an answer to the next request of one who asks.
    fn thinks(&self) -> Seconds {
        let process = match self {
            Self::Workload(own) => &own.process,
            Self::Task(own) => &own.process,
            Self::Stage(..) => return Seconds::ZERO,
        };
        match process {
            Process::ClosedLoop(clients) => clients.thinks(),
            _ => Seconds::ZERO,
        }
    }

    /// Time between two requests of one of those who ask and wait, or of a stream that never catches up.
    fn answered(&self, used: &StreamUse, requests: f64, lasted: Seconds) -> Option<Seconds> {
        let clients = match self {
            Self::Workload(Workload { process: Process::ClosedLoop(clients), .. }) => {
                clients.clients() as f64
            }
            Self::Task(Task { process: Process::ClosedLoop(clients), .. }) => {
                clients.clients() as f64
            }
            Self::Workload(Workload { process: Process::BackToBack, .. })
            | Self::Task(Task { process: Process::BackToBack, .. }) => 1.0,
            _ if used.served.busy.seconds() > lasted * NEVER_IDLE => 1.0,
            _ => return None,
        };
        Some(lasted * clients / requests)
    }
}

/// At the start, and not again in the length of a run.
fn once(length: Seconds) -> Option<Process> {
    Periodic::new(length * 4.0, Seconds::ZERO, Seconds::ZERO).ok().map(Process::Periodic)
}

/// Share of time in service above which a stream never catches up.
const NEVER_IDLE: f64 = 0.98;

/// The longest time to wake, and the longest until a domain rests again.
fn tail(scenario: &Scenario) -> (Seconds, Seconds) {
    let rules = scenario.rest.iter().flatten().map(|rest| rest.rule);
    let mut longest = (Seconds::ZERO, Seconds::ZERO);
    for (rest, rule) in scenario.resting().iter().zip(rules) {
        let waits = match rule {
            RestRule::Immediately => Seconds::ZERO,
            RestRule::Timeout(time) => time,
            _ => rest.break_even.unwrap_or(Seconds::ZERO),
        };
        longest = (longest.0.max(rest.wake_time), longest.1.max(waits * 2.0 + rest.entry_time));
    }
    longest
}

/// True of numbers that matter while time goes on, and to no estimate: blocks go through states that are not
/// those of the point, rails fall to what states ask, regulators wake.
fn moves_in_runs(path: &str) -> bool {
    let state = path.starts_with("domains[") && path.contains("].states[");
    let wakes = path.starts_with("regulators[") && path.contains(".wake_");
    path.starts_with("loads[") || (state && path.ends_with(".voltage")) || wakes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::scenario::scenario_text;

    fn shortened(name: &str, from: &str, to: &str) -> Scenario {
        let (file, text) = scenario_text(name).unwrap();
        assert!(text.contains(from));
        Scenario::parse(&file, &text.replace(from, to)).unwrap_or_else(|e| panic!("{e}"))
    }

    fn simulated(scenario: &Scenario) -> Simulated {
        let prepared = Prepared::new(scenario, Fidelity::Layer).unwrap();
        prepared.run(1, Limits::default(), &mut Deaf).unwrap()
    }

    /// The sum of the parts, and what a change of numbers does to it, held against whole runs.
    fn hold(scenario: &Scenario, changed: &str, by: f64, within: f64) {
        let outlook = scenario.outlook().unwrap();
        let whole = simulated(scenario);
        let parts = Parts::of(scenario, scenario, &outlook, &whole).unwrap();
        let before = parts.figures(scenario.profile()).unwrap();
        let energy = whole.energy_per_inference().unwrap().0;
        assert!((before[1] / energy - 1.0).abs() < within, "{} {energy}", before[1]);
        let records = scenario.profile().parameters();
        let moved = scenario.profile().perturbed(|at, value| {
            if records[at].path.contains(changed) { value * by } else { value }
        });
        let moved_run = simulated(&scenario.on(&moved).unwrap());
        let after = parts.figures(&moved).unwrap();
        let of_parts = (after[1] / before[1]).ln();
        let of_run = (moved_run.energy_per_inference().unwrap().0 / energy).ln();
        assert!(of_run.abs() > 1e-4, "{changed} moves nothing");
        let off = (of_parts - of_run).abs();
        assert!(off < 0.05 * of_run.abs(), "{changed}: {of_parts} {of_run}");
        let latency = moved_run.mean_latency().unwrap().0 / whole.mean_latency().unwrap().0;
        assert!((after[0] / before[0] / latency - 1.0).abs() < 0.05);
    }

    #[test]
    fn what_only_a_run_depends_on_moves_its_intervals() {
        let profile = crate::hardware::Profile::load("edge_soc_example").unwrap();
        let point = profile.point(None).unwrap();
        let stacks = profile.stacks(None).unwrap();
        let records = profile.parameters();
        let only_in_runs: Vec<&str> = records
            .iter()
            .map(|record| record.path.as_str())
            .filter(|path| moves_in_runs(path) && !profile.is_in_use(path, &point, &stacks))
            .collect();
        assert!(only_in_runs.contains(&"domains[1].states[2].voltage"), "{only_in_runs:?}");
        assert!(moves_in_runs("regulators[0].modes[0].wake_energy"));
        assert!(!moves_in_runs("domains[0].nominal_voltage"));
    }

    #[test]
    fn the_parts_of_a_duty_cycle_are_the_run() {
        let scenario = shortened("keyword_node", "\"1 h\"", "\"30 s\"");
        hold(&scenario, "leakage", 2.0, 1e-3);
        hold(&scenario, "cycles_per_mac", 1.2, 1e-3);
        hold(&scenario, "wake_time", 100.0, 1e-3);
    }

    #[test]
    fn the_parts_of_a_cascade_are_the_run() {
        let scenario = shortened("wake_camera", "duration: \"1 day\"", "duration: \"1 min\"");
        hold(&scenario, "loads", 1.3, 0.01);
        hold(&scenario, "states", 1.5, 0.01);
    }

    #[test]
    fn streams_that_share_an_engine_change_as_the_run_does() {
        let scenario = shortened("shared_npu", "\"1 min\"", "\"1 s\"");
        hold(&scenario, "loads", 1.3, 0.05);
        hold(&scenario, "energy", 1.3, 0.05);
    }
}
