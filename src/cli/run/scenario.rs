//! A scenario.

use super::progress::Progress;
use super::{RunArguments, interrupt};
use crate::cli::{Answer, CliError};
use crate::report::{
    OutputFolder, Resumed, ScenarioRun, cut_text, json, scenario_text, write_scenario_run,
};
use crate::sim::kernel::Ending;
use crate::sim::scenario::{End, Scenario};
use crate::sim::{Limits, Prepared, Ran, SimError, Snapshot, SnapshotError, Start};
use crate::trace::{Deaf, Opening, Recorder, Trace};
use crate::uncertainty::of_scenario;
use crate::units::{Literal, Seconds, SimTime};
use std::path::Path;

impl RunArguments {
    pub(super) fn run_scenario(&self, name: &str) -> Result<Answer, CliError> {
        let trace_time = time_of("--trace-time", self.trace_time.as_deref())?;
        let keep = time_of("--snapshot-at", self.snapshot_at.as_deref())?;
        // A signal that cannot be caught is left to do what it does.
        let pressed = interrupt::flag().unwrap_or_default();
        let scenario = Scenario::load(name)?;
        if let Some(out) = &self.out {
            OutputFolder::check(out)?;
        }
        let from = self.resume.as_deref().map(snapshot).transpose()?;
        if let Some(at) = keep {
            unless_within(at, from.as_ref(), scenario.end)?;
        }
        let outlook = scenario.outlook()?;
        let fidelity = self.fidelity.map_or(scenario.fidelity(), Into::into);
        let start = match &from {
            Some(snapshot) => Start::From(snapshot),
            None => Start::Afresh(self.seed.unwrap_or(scenario.seed())),
        };
        let prepared = Prepared::new(&scenario, fidelity)?;
        let limits = Limits { max_events: self.max_events, interrupt: Some(&pressed) };
        let (ran, trace) =
            self.simulate_scenario(&prepared, (start, keep), limits, (trace_time, scenario.end))?;
        let Ran { simulated, changed, snapshot } = ran;
        // Who interrupts wants no more work done; and what is part one policy and part another is not
        // simulated anew from its start.
        let uncertainty = match simulated.ending {
            Ending::Interrupted => None,
            _ if !changed.is_empty() || scenario.dvfs.is_some() => None,
            _ => of_scenario(&scenario, &outlook, &simulated),
        };
        let seed = match start {
            Start::Afresh(seed) => seed,
            Start::From(snapshot) => snapshot.seed(),
        };
        let mut run = ScenarioRun::new(
            (&scenario, &outlook),
            &prepared,
            (seed, fidelity),
            &simulated,
            uncertainty,
        );
        if let Some(snapshot) = &from {
            run.resume(Resumed { at: snapshot.at(), changed });
        }
        if let Some(at) = keep.filter(|_| snapshot.is_none()) {
            run.caveats.push(format!("no snapshot: the run was over before {}", at.seconds()));
        }
        let mut written = String::new();
        if let (Some(out), Some((trace, cut))) = (&self.out, &trace) {
            if *cut {
                run.caveats.push(cut_text(trace.end.seconds(), simulated.metrics.duration));
            }
            write_scenario_run(&run, trace, snapshot.as_ref(), out)?;
            written = format!("trace, pictures and metrics are in {}\n", out.display());
        }
        let good = !simulated.ending.is_incomplete();
        Ok(if self.json {
            Answer::json(&json::scenario_run(&run), good)
        } else {
            Answer { text: scenario_text(&run) + &written, good }
        })
    }

    /// Runs, keeping a trace only where one is to be written; whether that is cut.
    fn simulate_scenario(
        &self,
        prepared: &Prepared<'_>,
        (start, keep): (Start<'_>, Option<SimTime>),
        limits: Limits<'_>,
        (trace_time, end): (Option<SimTime>, End),
    ) -> Result<(Ran, Option<(Trace, bool)>), CliError> {
        let lasts = match end {
            End::After(time) => Some(time),
            End::Inferences(_) => None,
        };
        if self.out.is_none() {
            let mut deaf = Deaf;
            let mut sink = Progress::new(&mut deaf, lasts);
            return Ok((prepared.run_from(start, keep, limits, &mut sink)?, None));
        }
        // Of a run that goes on from a snapshot, the trace begins there.
        let begins = match start {
            Start::Afresh(_) => SimTime::ZERO,
            Start::From(snapshot) => snapshot.at(),
        };
        let until = trace_time.map(|time| SimTime(begins.0.saturating_add(time.0)));
        let mut opening = Opening::until(Recorder::default(), until);
        let mut sink = Progress::new(&mut opening, lasts);
        let ran = prepared.run_from(start, keep, limits, &mut sink)?;
        drop(sink);
        let (recorder, cut) = opening.into_inner();
        Ok((ran, Some((recorder.into_trace(), cut))))
    }
}

/// The time of an argument.
fn time_of(argument: &'static str, text: Option<&str>) -> Result<Option<SimTime>, CliError> {
    let Some(text) = text else { return Ok(None) };
    let literal = Literal::parse_as::<Seconds>(text)
        .map_err(|error| CliError::Argument { argument, error })?;
    let time = SimTime::from_seconds(Seconds(literal.value))
        .ok()
        .filter(|time| *time > SimTime::ZERO)
        .ok_or_else(|| CliError::NoTime { argument, text: text.to_owned() })?;
    Ok(Some(time))
}

fn snapshot(path: &Path) -> Result<Snapshot, CliError> {
    let file = path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|error| CliError::ReadSnapshot {
        file: file.clone(),
        reason: error.to_string(),
    })?;
    Snapshot::from_json(&text).map_err(|error| CliError::Snapshot { file, error })
}

/// A snapshot is taken before the run ends, and after it begins.
fn unless_within(at: SimTime, from: Option<&Snapshot>, end: End) -> Result<(), SimError> {
    if let End::After(end) = end
        && at >= end
    {
        return Err(SnapshotError::PastEnd { at, end }.into());
    }
    match from {
        Some(snapshot) if at <= snapshot.at() => {
            Err(SnapshotError::BeforeStart { at, start: snapshot.at() }.into())
        }
        _ => Ok(()),
    }
}
