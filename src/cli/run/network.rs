//! A model on hardware, one inference after another.

use super::RunArguments;
use crate::cli::{Answer, CliError};
use crate::cost::Setting;
use crate::estimate::{estimate, rail_peaks};
use crate::mapping::Plan;
use crate::mapping::import::Imported;
use crate::report::{OutputFolder, Prediction, json, run_text, write_run};
use crate::sim::{Arrivals, Outcome, Workload, run};
use crate::trace::{Deaf, Opening, Recorder, Trace};
use crate::uncertainty::simulated_of;
use crate::units::{Literal, Seconds};

impl RunArguments {
    pub(super) fn run_network(&self) -> Result<Answer, CliError> {
        let workload = self.workload()?;
        let prepared = self.target.prepare()?;
        if let Some(out) = &self.out {
            // A target that cannot be written is told before the work, not after.
            OutputFolder::check(out)?;
        }
        let (network, setting) = (&prepared.network, prepared.setting());
        let plan = prepared.plan(setting);
        let estimate = estimate(&plan, setting);
        let (outcome, trace, cut) = self.simulate(&plan, &workload, setting)?;
        let uncertainty =
            simulated_of(|setting| prepared.plan(setting), setting, &workload, &outcome);
        let evidence = outcome.energy_evidence(&estimate.energy_coverage);
        let mut prediction =
            Prediction::new(network, setting, &plan, &estimate, &uncertainty, &evidence)
                .with_software(self.target.software.as_deref())
                .with_limits(rail_peaks(&plan, setting), None)
                .of_run(&workload, &outcome);
        prediction.caveats.splice(0..0, prepared.imported.as_ref().map(Imported::caveat));
        if cut {
            let kept = trace.as_ref().map_or(0, Trace::inferences);
            prediction.caveats.push(format!(
                "the trace holds the first {kept} of {} inferences; totals are of all",
                workload.inferences
            ));
        }
        let mut written = String::new();
        if let (Some(out), Some(trace)) = (&self.out, &trace) {
            write_run(&prediction, &workload, &outcome, trace, out)?;
            written = format!("trace, pictures and metrics are in {}\n", out.display());
        }
        Ok(if self.json {
            Answer::json(&json::run(&prediction, &workload, &outcome), true)
        } else {
            Answer::yes(run_text(&prediction, &outcome) + &written)
        })
    }

    /// Runs, keeping a trace only where one is to be written.
    fn simulate(
        &self,
        plan: &Plan,
        workload: &Workload,
        setting: Setting<'_>,
    ) -> Result<(Outcome, Option<Trace>, bool), CliError> {
        if self.out.is_none() {
            return Ok((run(plan, workload, setting, &mut Deaf)?, None, false));
        }
        // All of a run that is short enough, its last rest included.
        let kept = if workload.inferences > self.trace_inferences {
            self.trace_inferences
        } else {
            u64::MAX
        };
        let mut opening = Opening::new(Recorder::default(), kept);
        let outcome = run(plan, workload, setting, &mut opening)?;
        let (recorder, cut) = opening.into_inner();
        Ok((outcome, Some(recorder.into_trace()), cut))
    }

    fn workload(&self) -> Result<Workload, CliError> {
        let arrivals = match &self.period {
            None => Arrivals::BackToBack,
            Some(text) => {
                let literal = Literal::parse_as::<Seconds>(text)
                    .map_err(|error| CliError::Argument { argument: "--period", error })?;
                Arrivals::Periodic(Seconds(literal.value))
            }
        };
        Ok(Workload { inferences: self.inferences, arrivals, rest: self.idle.clone() })
    }
}
