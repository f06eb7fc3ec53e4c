//! A scenario.

use super::progress::Progress;
use super::{RunArguments, interrupt};
use crate::cli::{Answer, CliError};
use crate::report::{OutputFolder, ScenarioRun, cut_text, json, scenario_text, write_scenario_run};
use crate::sim::kernel::Ending;
use crate::sim::scenario::{End, Scenario};
use crate::sim::{Limits, Prepared, Simulated};
use crate::trace::{Deaf, Opening, Recorder, Trace};
use crate::uncertainty::of_scenario;
use crate::units::{Literal, Seconds, SimTime};

impl RunArguments {
    pub(super) fn run_scenario(&self, name: &str) -> Result<Answer, CliError> {
        let until = self.trace_time()?;
        // A signal that cannot be caught is left to do what it does.
        let pressed = interrupt::flag().unwrap_or_default();
        let scenario = Scenario::load(name)?;
        if let Some(out) = &self.out {
            OutputFolder::check(out)?;
        }
        let outlook = scenario.outlook()?;
        let fidelity = self.fidelity.map_or(scenario.fidelity(), Into::into);
        let seed = self.seed.unwrap_or(scenario.seed());
        let prepared = Prepared::new(&scenario, fidelity)?;
        let lasts = match scenario.end {
            End::After(time) => Some(time),
            End::Inferences(_) => None,
        };
        let limits = Limits { max_events: self.max_events, interrupt: Some(&pressed) };
        let (simulated, trace) = self.simulate_scenario(&prepared, seed, limits, (until, lasts))?;
        // Who interrupts wants no more work done.
        let uncertainty = match simulated.ending {
            Ending::Interrupted => None,
            _ => of_scenario(&scenario, &outlook, &simulated),
        };
        let mut run = ScenarioRun::new(
            (&scenario, &outlook),
            &prepared,
            (seed, fidelity),
            &simulated,
            uncertainty,
        );
        let mut written = String::new();
        if let (Some(out), Some((trace, cut))) = (&self.out, &trace) {
            if *cut {
                run.caveats.push(cut_text(trace.end.seconds(), simulated.metrics.duration));
            }
            write_scenario_run(&run, trace, out)?;
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
        seed: u64,
        limits: Limits<'_>,
        (until, lasts): (Option<SimTime>, Option<SimTime>),
    ) -> Result<(Simulated, Option<(Trace, bool)>), CliError> {
        if self.out.is_none() {
            let mut deaf = Deaf;
            let mut sink = Progress::new(&mut deaf, lasts);
            return Ok((prepared.run(seed, limits, &mut sink)?, None));
        }
        let mut opening = Opening::until(Recorder::default(), until);
        let mut sink = Progress::new(&mut opening, lasts);
        let simulated = prepared.run(seed, limits, &mut sink)?;
        drop(sink);
        let (recorder, cut) = opening.into_inner();
        Ok((simulated, Some((recorder.into_trace(), cut))))
    }

    fn trace_time(&self) -> Result<Option<SimTime>, CliError> {
        let Some(text) = &self.trace_time else { return Ok(None) };
        let literal = Literal::parse_as::<Seconds>(text)
            .map_err(|error| CliError::Argument { argument: "--trace-time", error })?;
        let time = SimTime::from_seconds(Seconds(literal.value))
            .ok()
            .filter(|time| *time > SimTime::ZERO)
            .ok_or_else(|| CliError::TraceTime { text: text.clone() })?;
        Ok(Some(time))
    }
}
