//! What `run` is asked to run: a scenario, or a model on hardware.

use crate::cli::CliError;
use crate::diagnostic::nearest;
use crate::model::shipped_models;
use crate::sim::scenario::shipped_scenarios;
use std::path::Path;

/// What a name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Subject {
    Scenario,
    Model,
}

/// What a scenario's file says of itself, sound or not.
const MARK: &str = "\"joulecast.scenario/";

/// What `name` stands for, given what it is to run on. A model is taken as one only together with hardware.
pub(super) fn of(name: &str, on: Option<&str>) -> Result<Subject, CliError> {
    let ships = shipped_scenarios().iter().any(|own| own.name == name);
    let path = Path::new(name);
    let text = || std::fs::read_to_string(path).unwrap_or_default();
    let is_scenario =
        ships || path.extension().is_some_and(|e| e == "ron") && text().contains(MARK);
    let is_model = shipped_models().iter().any(|own| own.name == name);
    match (is_scenario, on) {
        (true, None) if is_model => Err(CliError::BothKinds { name: name.to_owned() }),
        (true, None) => Ok(Subject::Scenario),
        (true, Some(_)) if is_model => Ok(Subject::Model),
        (true, Some(on)) => Err(CliError::ScenarioOn { name: name.to_owned(), on: on.to_owned() }),
        (false, Some(_)) => Ok(Subject::Model),
        (false, None) if is_model || path.is_file() => {
            Err(CliError::NoHardware { name: name.to_owned() })
        }
        (false, None) if path.components().count() > 1 || path.extension().is_some() => {
            Err(CliError::NoFileToRun { name: name.to_owned() })
        }
        (false, None) => Err(unknown(name)),
    }
}

fn unknown(name: &str) -> CliError {
    let scenarios = shipped_scenarios().iter().map(|own| own.name);
    let models = shipped_models().iter().map(|own| own.name);
    CliError::NothingToRun {
        name: name.to_owned(),
        scenario: nearest(name, scenarios).map(str::to_owned),
        model: nearest(name, models).map(str::to_owned),
    }
}

/// An error for the first option that is of the other kind of run.
pub(super) fn refuse(
    given: &[(String, String)],
    instead: fn(&str) -> Option<(&'static str, &'static str)>,
) -> Result<(), CliError> {
    let found = given.iter().find_map(|(id, option)| Some((option, instead(id)?)));
    match found {
        Some((option, (kind, instead))) => {
            Err(CliError::OtherKind { option: option.clone(), kind, instead })
        }
        None => Ok(()),
    }
}

/// What to do instead of an option that means nothing to a scenario.
pub(super) fn of_models_alone(id: &str) -> Option<(&'static str, &'static str)> {
    let instead = match id {
        "model" | "on" | "out" | "json" | "seed" | "fidelity" | "max_events" | "trace_time"
        | "snapshot_at" | "resume" | "help" | "version" => return None,
        "opp" => "write `operating_point: \"…\"` in the scenario",
        "corner" => "write `corner: \"…\"` in the scenario",
        "states" => "write `states: {\"BLOCK\": \"STATE\"}` in the scenario",
        "software" => "write `software: \"…\"` in the scenario, or in a workload of it",
        "inferences" => "write `inferences: N` in the place of `duration` in the scenario",
        "period" => "write `arrivals: Periodic(period: \"…\")` in a workload of the scenario",
        "idle" => "write `rest: {\"DOMAIN\": (state: \"…\")}` in the scenario",
        "trace_inferences" => "--trace-time says how much of the run the trace holds",
        "objective" => "write `objective: …` in a workload of the scenario",
        "pins" => "write `place: [(\"LAYER\", \"ENGINE\")]` in a workload of the scenario",
        "keep" => "write `keep: …` in a workload of the scenario",
        "bind" => "write `bind: {\"N\": 1}` in a workload of the scenario",
        "prefill" | "decode" | "weights" | "weight_group" => {
            "write `pass: …` in a workload of the scenario"
        }
        "tables" | "levels" | "words" | "engine" => "a scenario plans its networks by itself",
        _ => {
            "`joulecast model import` writes the changed network to a file, which a workload of the scenario then names"
        }
    };
    Some(("a scenario", instead))
}

/// What to do instead of an option that means nothing to a model.
pub(super) fn of_scenarios_alone(id: &str) -> Option<(&'static str, &'static str)> {
    let instead = match id {
        "seed" => "nothing in a run of a model is random",
        "fidelity" => "a model is run by phases; a scenario can be run by layers or tiles",
        "max_events" => "--inferences says how long it goes on",
        "trace_time" => "--trace-inferences says how much of the run the trace holds",
        "snapshot_at" | "resume" => "a run of a model is over in a moment: run it again",
        _ => return None,
    };
    Some(("a model", instead))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_shipped_name_is_a_scenario_and_a_model() {
        for own in shipped_scenarios() {
            assert!(shipped_models().iter().all(|model| model.name != own.name), "{}", own.name);
        }
    }
}
