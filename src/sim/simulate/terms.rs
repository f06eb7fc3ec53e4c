//! What a scenario fixes for a run that is taken up from a snapshot, and what it is free to change.

use super::{Origin, Prepared, Ready};
use crate::sim::SimError;
use crate::sim::kernel::{Class, Queue};
use crate::sim::scenario::{End, OnBrownOut, Rest};
use crate::sim::snapshot::{Snapshot, SnapshotError, Terms};
use crate::sim::system::{Event, System};
use crate::trace::Sink;

/// A policy that a run changes from a snapshot on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyChange {
    /// What it is (`rest of npu`).
    pub policy: String,
    /// How it was before, in words.
    pub was: String,
    /// How it is from the snapshot on.
    pub is: String,
}

impl Prepared<'_> {
    /// What of the scenario has to stay as it is, and what may change.
    pub(super) fn terms(&self) -> Terms {
        let scenario = self.scenario;
        let mut terms = Terms::default();
        terms.fix("hardware", scenario.profile().spec());
        terms.fix("operating point", scenario.point());
        terms.fix("supply", &scenario.power);
        terms.fix("heat", &scenario.heat);
        terms.fix("operating points", &scenario.dvfs.as_ref().map(|own| &own.points));
        terms.fix("fidelity", &self.fidelity);
        terms.fix("background", &scenario.background);
        terms.fix("streams", &self.streams.iter().map(|own| &own.name).collect::<Vec<_>>());
        for own in &self.streams {
            self.terms_of(own, &mut terms);
        }
        for wake in &scenario.cascades {
            terms.fix(format!("looks of {}", wake.name), &wake.cascade);
        }
        let domains = scenario.profile().spec().domains.iter().zip(&scenario.rest);
        for (domain, rest) in domains {
            let state = |rest: &Rest| domain.states.get(rest.state).map_or("", |s| s.name.as_str());
            let words = |rest: &Rest| format!("{}, {}", state(rest), rest.rule);
            let words = rest.as_ref().map_or_else(|| "stays on".to_owned(), words);
            terms.free(rest_of(&domain.name), words);
        }
        let stops = scenario.on_brown_out == OnBrownOut::Stop;
        terms.free("brown-out", if stops { "ends the run" } else { "the run goes on" });
        terms.free(
            "end",
            match scenario.end {
                End::After(time) => format!("after {time}"),
                End::Inferences(count) => format!("after {count} inferences"),
            },
        );
        terms
    }

    fn terms_of(&self, own: &Ready, terms: &mut Terms) {
        let name = &own.name;
        terms.fix(format!("work of {name}"), &(own.programs.first(), own.passes));
        match own.of {
            Origin::Workload(index) => {
                terms.fix(format!("arrivals of {name}"), &self.scenario.workloads[index].process);
            }
            Origin::Task(index) => {
                terms.fix(format!("arrivals of {name}"), &self.scenario.tasks[index].process);
            }
            Origin::Stage(_) => {}
        }
        terms.free(format!("priority of {name}"), own.priority.to_string());
        let deadline = own.deadline.map_or("none".to_owned(), |time| time.to_string());
        terms.free(format!("deadline of {name}"), deadline);
        let batch = format!("up to {}, for {}", own.batch.size(), own.batch.timeout());
        terms.free(batch_of(name), batch);
        terms.free(format!("queue of {name}"), own.admission.to_string());
    }

    /// Puts a system where a snapshot stands, under the policies of the scenario; what those change.
    ///
    /// # Errors
    /// It is a snapshot of another run, or one that the scenario cannot go on from.
    pub(super) fn take_up<S: Sink>(
        &self,
        snapshot: &Snapshot,
        system: &mut System<'_, '_, S>,
        queue: &mut Queue<Event>,
    ) -> Result<Vec<PolicyChange>, SimError> {
        let terms = self.terms();
        let changes = snapshot.changes(&terms)?;
        if let End::After(end) = self.scenario.end
            && end <= snapshot.at()
        {
            return Err(SnapshotError::Ended { at: snapshot.at(), end }.into());
        }
        system.restore(snapshot.system.clone())?;
        *queue = snapshot.queue.clone();
        let mut rests = Vec::new();
        for (index, domain) in self.scenario.profile().spec().domains.iter().enumerate() {
            let name = rest_of(&domain.name);
            if changes.contains(&name) {
                let state = |words: &str| words.split(',').next().unwrap_or("").to_owned();
                let was = snapshot.policy(&name).map(state);
                let is = terms.policies.get(&name).map(String::as_str).map(state);
                if system.is_resting(index) && was != is {
                    return Err(SnapshotError::Resting(domain.name.clone()).into());
                }
                rests.push(index);
            }
        }
        let batches = self.streams.iter().any(|own| changes.contains(&batch_of(&own.name)));
        if !rests.is_empty() || batches {
            system.look_anew(rests, batches);
            queue.schedule(snapshot.at(), Class::Crossing, Event::PolicyChange)?;
        }
        let change = |policy: String| PolicyChange {
            was: snapshot.policy(&policy).unwrap_or("none").to_owned(),
            is: terms.policies.get(&policy).cloned().unwrap_or_else(|| "none".to_owned()),
            policy,
        };
        Ok(changes.into_iter().map(change).collect())
    }
}

fn rest_of(domain: &str) -> String {
    format!("rest of {domain}")
}

fn batch_of(stream: &str) -> String {
    format!("batch of {stream}")
}
