//! What closed forms say of a scenario before it runs: how long an inference takes by itself, how busy
//! each engine is asked to be, and what can never be held.

use super::ScenarioError;
use super::resolved::{End, Host, Placed, Scenario, Work, Workload};
use super::resting::RestOutlook;
use crate::estimate::estimate;
use crate::mapping::plan;
use crate::sim::SimError;
use crate::sim::load::{Expected, Process, RestRule};
use crate::units::{Hertz, Ratio, Seconds};
use std::fmt;

/// Something that will not go as it is asked, with figures. It is no fault: a run shows what happens.
#[derive(Debug, Clone, PartialEq)]
pub struct Warning {
    /// The field it concerns.
    pub path: String,
    /// The file, and line and column of the field.
    pub place: (String, Option<(usize, usize)>),
    /// What happens.
    pub message: String,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (file, place) = &self.place;
        write!(f, "warning: {}\n  --> {file}", self.message)?;
        if let Some((line, column)) = place {
            write!(f, ":{line}:{column}")?;
        }
        write!(f, " {}", self.path)
    }
}

/// A workload, or a stage of a cascade.
#[derive(Debug, Clone, PartialEq)]
pub struct StreamOutlook {
    /// Its name (`camera.person` of a stage).
    pub name: String,
    /// Its field.
    pub path: String,
    /// Mean rate of its inferences; nothing where it depends on answers, or has no closed form.
    pub rate: Option<Hertz>,
    /// Bounds of the rate of inferences where it depends on answers, with nothing else to do.
    pub rate_between: Option<(Hertz, Hertz)>,
    /// Time of an inference by itself: nothing else runs and nothing has to wake.
    pub latency: Seconds,
    /// That of a request, which may be several inferences.
    pub request: Seconds,
    /// Time of each engine in an inference.
    pub engines: Vec<Seconds>,
}

/// How busy an engine is asked to be.
#[derive(Debug, Clone, PartialEq)]
pub struct EngineLoad {
    /// The engine.
    pub engine: String,
    /// Share of all time that streams with a known rate ask for; above 1 it cannot keep up.
    pub share: Ratio,
    /// The part of each stream, by its place in [`Outlook::streams`].
    pub by_stream: Vec<(usize, Ratio)>,
}

/// A scenario before it runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Outlook {
    /// Workloads, then the stages of cascades.
    pub streams: Vec<StreamOutlook>,
    /// Engines that anything runs on.
    pub engines: Vec<EngineLoad>,
    /// Each cascade in the long run; nothing where its events have no closed form.
    pub cascades: Vec<Option<Expected>>,
    /// What rest saves, by domain that rests.
    pub rests: Vec<RestOutlook>,
    /// What will not go as it is asked.
    pub warnings: Vec<Warning>,
}

impl Scenario {
    /// What closed forms say of it.
    ///
    /// # Errors
    /// A network takes no time on the hardware, or out of this world.
    pub fn outlook(&self) -> Result<Outlook, ScenarioError> {
        let mut looker = Looker { scenario: self, streams: Vec::new(), warnings: Vec::new() };
        looker.workloads()?;
        let cascades = looker.cascades()?;
        looker.tasks();
        let engines = looker.engines();
        let rests = looker.rests();
        let Looker { streams, warnings, .. } = looker;
        Ok(Outlook { streams, engines, cascades, rests, warnings })
    }
}

struct Looker<'a> {
    scenario: &'a Scenario,
    streams: Vec<StreamOutlook>,
    warnings: Vec<Warning>,
}

impl Looker<'_> {
    fn warn(&mut self, path: impl Into<String>, message: String) {
        let path = path.into();
        let place = (self.scenario.file().to_owned(), self.scenario.place(&path));
        self.warnings.push(Warning { path, place, message });
    }

    fn workloads(&mut self) -> Result<(), ScenarioError> {
        let scenario = self.scenario;
        for (i, workload) in scenario.workloads.iter().enumerate() {
            let path = format!("workloads[{i}]");
            let each = workload.inferences_each as f64;
            let rate = workload.process.mean_rate().map(|rate| rate * each);
            let own = (&workload.placed, workload.host);
            let request = self.network(&workload.name, &path, own, rate, each)?;
            if let Some(stream) = self.streams.last_mut() {
                stream.rate_between = answered(&workload.process, request, each);
            }
            self.deadline(&path, workload.deadline.map(|t| t.seconds()), request);
            self.batch(&path, workload, request);
            self.seldom(&path, workload.process.mean_rate());
        }
        Ok(())
    }

    /// Tells of batches that make requests late, or that never fill.
    fn batch(&mut self, path: &str, workload: &Workload, request: Seconds) {
        let timeout = workload.batch.timeout().seconds();
        if let Some(deadline) = workload.deadline.map(|t| t.seconds())
            && request <= deadline
            && timeout + request > deadline
        {
            let message = format!(
                "a request that waits the whole {timeout} for others ends after {}, past its deadline of {deadline}",
                timeout + request
            );
            self.warn(format!("{path}.batch.timeout"), message);
        }
        let size = workload.batch.size();
        if let Some(limit) = workload.admission.limit.filter(|limit| *limit < size) {
            let message = format!(
                "a batch of {size} never fills where only {limit} may wait: each waits for the timeout of {timeout}"
            );
            self.warn(format!("{path}.queue.limit"), message);
        }
    }

    /// Tells of a run that is too short for its workload.
    fn seldom(&mut self, path: &str, rate: Option<Hertz>) {
        let (Some(rate), End::After(end)) = (rate, self.scenario.end) else { return };
        // A product of two rounded numbers that is meant to be one.
        if rate.0 * end.seconds().0 < 1.0 - 1e-9 {
            let message = format!("at {} it is asked for less than once in the run", often(rate));
            self.warn(format!("{path}.arrivals"), message);
        }
    }

    fn cascades(&mut self) -> Result<Vec<Option<Expected>>, ScenarioError> {
        let scenario = self.scenario;
        let mut all = Vec::new();
        for (i, wake) in scenario.cascades.iter().enumerate() {
            let expected = wake.cascade.expected();
            for (j, stage) in wake.stages.iter().enumerate() {
                let path = format!("cascades[{i}].stages[{j}]");
                let first = (j == 0).then(|| wake.cascade.look_rate());
                let asked = expected.as_ref().and_then(|e| e.stages.get(j)).map(|s| s.asked);
                let rate = first.or(asked);
                let own = wake.cascade.stages().get(j).map_or("", |stage| stage.name.as_str());
                let name = format!("{}.{own}", wake.name);
                let time = match &stage.work {
                    Work::Network(placed) => {
                        self.network(&name, &path, (placed, None), rate, 1.0)?
                    }
                    Work::Detector { time, .. } => self.detector(name, &path, time.seconds(), rate),
                };
                self.deadline(&path, stage.deadline.map(|t| t.seconds()), time);
            }
            all.push(expected);
        }
        Ok(all)
    }

    /// Looks at a network of a stream; the time of a request.
    fn network(
        &mut self,
        name: &str,
        path: &str,
        (placed, host): (&Placed, Option<Host>),
        rate: Option<Hertz>,
        each: f64,
    ) -> Result<Seconds, ScenarioError> {
        let setting = self.scenario.setting(placed);
        let planned = plan(&placed.network, setting);
        let failed = |error| ScenarioError::Nothing { stream: name.to_owned(), error };
        if planned.steps.iter().all(|step| step.phases.is_empty()) {
            return Err(failed(SimError::nothing(&planned)));
        }
        let estimate = estimate(&planned, setting);
        SimError::unless_finite(&planned, estimate.latency, estimate.energy).map_err(failed)?;
        let mut engines = vec![Seconds::ZERO; setting.profile.spec().engines.len()];
        for layer in &estimate.layers {
            if let Some(time) = engines.get_mut(layer.engine) {
                *time += layer.time;
            }
        }
        let hosted = host.map_or(Seconds::ZERO, |host| {
            let domain = setting.profile.links().engine_domain[host.engine];
            let others = estimate.layers.iter().filter(|layer| layer.time.0 > 0.0);
            let others = others.filter(|layer| layer.engine != host.engine).count();
            let cycles = host.before + host.each_layer * others as f64 + host.after;
            let time = cycles / setting.point.clocks[domain].0;
            engines[host.engine] += time;
            time
        });
        let lost: f64 = planned.uncosted.iter().map(|layer| layer.share).sum();
        if !planned.uncosted.is_empty() {
            let message = format!(
                "{} layers with {:.1} % of the operations run on no engine, and are left out",
                planned.uncosted.len(),
                lost * 100.0
            );
            self.warn(path, message);
        }
        let latency = estimate.latency + hosted;
        let request = latency * each;
        let (name, path) = (name.to_owned(), path.to_owned());
        self.streams.push(StreamOutlook {
            name,
            path,
            rate,
            rate_between: None,
            latency,
            request,
            engines,
        });
        Ok(request)
    }

    /// Looks at the work that is no network.
    fn tasks(&mut self) {
        let scenario = self.scenario;
        let engine_domain = &scenario.profile().links().engine_domain;
        for (i, task) in scenario.tasks.iter().enumerate() {
            let clock =
                engine_domain.get(task.engine).and_then(|d| scenario.point().clocks.get(*d));
            let time = clock.map_or(Seconds::ZERO, |(clock, _)| task.cycles / *clock);
            let mut engines = vec![Seconds::ZERO; engine_domain.len()];
            if let Some(own) = engines.get_mut(task.engine) {
                *own = time;
            }
            let path = format!("tasks[{i}]");
            let rate_between = answered(&task.process, time, 1.0);
            self.streams.push(StreamOutlook {
                name: task.name.clone(),
                path: path.clone(),
                rate: task.process.mean_rate(),
                rate_between,
                latency: time,
                request: time,
                engines,
            });
            self.deadline(&path, task.deadline.map(|t| t.seconds()), time);
            self.seldom(&path, task.process.mean_rate());
        }
    }

    fn detector(
        &mut self,
        name: String,
        path: &str,
        time: Seconds,
        rate: Option<Hertz>,
    ) -> Seconds {
        let busy = rate.map_or(0.0, |rate| rate.0 * time.0);
        if busy >= 1.0 {
            let rate = rate.unwrap_or_default();
            let message = format!(
                "a look takes {time} and comes at {}: it would be busy for {:.0} % of the time",
                often(rate),
                busy * 100.0
            );
            self.warn(path, message);
        }
        let path = path.to_owned();
        let (latency, request, engines) = (time, time, Vec::new());
        self.streams.push(StreamOutlook {
            name,
            path,
            rate,
            rate_between: None,
            latency,
            request,
            engines,
        });
        time
    }

    fn deadline(&mut self, path: &str, deadline: Option<Seconds>, fastest: Seconds) {
        let Some(deadline) = deadline.filter(|deadline| fastest > *deadline) else { return };
        let point = &self.scenario.point().name;
        let message = format!(
            "a request takes {fastest} at `{point}` with nothing else to do, longer than its deadline of {deadline}: every one is late"
        );
        self.warn(format!("{path}.deadline"), message);
    }

    /// Sums the shares of each engine and tells of those that cannot keep up.
    fn engines(&mut self) -> Vec<EngineLoad> {
        let names = self.scenario.profile().spec().engines.iter().map(|e| e.name.clone());
        let mut loads = Vec::new();
        for (engine, name) in names.enumerate() {
            let used = self.streams.iter().enumerate().filter_map(|(place, stream)| {
                let time = *stream.engines.get(engine)?;
                let share = stream.rate.map_or(0.0, |rate| rate.0 * time.0);
                (time.0 > 0.0).then_some((place, Ratio(share)))
            });
            let by_stream: Vec<_> = used.collect();
            if by_stream.is_empty() {
                continue;
            }
            let share: Ratio = by_stream.iter().map(|(_, share)| *share).sum();
            if share.0 >= 1.0 {
                let (path, message) = self.saturated(&name, share, &by_stream);
                self.warn(path, message);
            }
            loads.push(EngineLoad { engine: name, share, by_stream });
        }
        loads
    }

    /// Tells of domains whose rule asks for a break-even time that they have not.
    fn rests(&mut self) -> Vec<RestOutlook> {
        let rests = self.scenario.resting();
        let rules = self.scenario.rest.iter().flatten().map(|rest| rest.rule);
        for rest in &rests {
            self.inrush(rest);
        }
        for (rest, rule) in rests.iter().zip(rules) {
            let asks = !matches!(rule, RestRule::Immediately | RestRule::Timeout(_));
            if rest.break_even.is_some() || !asks {
                continue;
            }
            let RestOutlook { domain, state, on, rest, .. } = rest;
            let message = format!(
                "domain `{domain}` draws {rest} in `{state}` and {on} while on: it has no break-even time of its own, and its policy never lets it rest"
            );
            self.warn(format!("rest.{domain}"), message);
        }
        rests
    }

    /// Tells of a domain that is charged faster than its rail gives.
    fn inrush(&mut self, rest: &RestOutlook) {
        let Some((current, Some(most))) = rest.inrush else { return };
        if current > most {
            let RestOutlook { domain, state, .. } = rest;
            let message = format!(
                "domain `{domain}` takes {current} while it is charged after `{state}`, and the regulator before it gives {most} at most: its rail breaks in, or the ramp takes longer"
            );
            self.warn(format!("rest.{domain}"), message);
        }
    }

    fn saturated(&self, engine: &str, share: Ratio, by: &[(usize, Ratio)]) -> (String, String) {
        let percent = |share: Ratio| format!("{:.0} %", share.0 * 100.0);
        let mut by: Vec<_> = by.iter().filter(|(_, own)| own.0 > 0.0).collect();
        by.sort_by(|a, b| b.1.0.total_cmp(&a.1.0));
        let parts: Vec<_> = by
            .iter()
            .map(|(place, own)| format!("`{}` {}", self.streams[*place].name, percent(*own)))
            .collect();
        let largest = by.first().map_or(String::new(), |(place, _)| {
            let stream = &self.streams[*place];
            let field = if stream.path.starts_with("workloads") { ".arrivals" } else { "" };
            format!("{}{field}", stream.path)
        });
        let message = format!(
            "engine `{engine}` is asked for {} of its time ({}): it cannot keep up, and what waits grows until it is dropped",
            percent(share),
            parts.join(", ")
        );
        (largest, message)
    }
}

/// Bounds of the rate of inferences that clients ask for who wait for their answers.
fn answered(process: &Process, request: Seconds, each: f64) -> Option<(Hertz, Hertz)> {
    let (least, most) = match process {
        Process::ClosedLoop(clients) => clients.rate_between(request),
        Process::BackToBack => (Hertz(1.0 / request.0), Hertz(1.0 / request.0)),
        _ => return None,
    };
    Some((least * each, most * each))
}

/// A rate as people say it.
fn often(rate: Hertz) -> String {
    if rate.0 >= 0.1 {
        format!("{:.4} a second", rate.0)
    } else {
        format!("{:.4} an hour", rate.0 * 3600.0)
    }
}
