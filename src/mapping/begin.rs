//! What running a network takes whatever is in it, counted with the first operator of each engine.

use super::plan::{Phase, PhaseKind, Step};
use crate::cost::{Setting, Start, start};
use std::collections::BTreeSet;

/// Adds what software takes to run a network to the dispatch of the first step of each engine.
pub(super) fn begin(steps: &mut [Step], setting: Setting<'_>) {
    let mut begun = BTreeSet::new();
    for step in steps.iter_mut().filter(|step| begun.insert(step.engine)) {
        if let Some(start) = start(step.engine, setting) {
            begin_with(step, start);
        }
    }
}

fn begin_with(step: &mut Step, start: Start) {
    let cost = &mut step.cost;
    cost.dispatch += start.cycles;
    cost.dispatch_energy += start.energy;
    cost.dispatch_kind = cost.dispatch_kind.weaker(start.kind);
    cost.energy_kind = cost.energy_kind.weaker(start.energy_kind);
    if let Some(phase) = step.phases.iter_mut().find(|phase| phase.kind == PhaseKind::Dispatch) {
        phase.compute += start.cycles;
        phase.energy += start.energy;
        return;
    }
    let behind = step.phases.iter().take_while(|phase| phase.kind == PhaseKind::Handover).count();
    let phase = Phase {
        kind: PhaseKind::Dispatch,
        compute: start.cycles,
        energy: start.energy,
        transfers: Vec::new(),
        pieces: 1,
        stated: None,
    };
    step.phases.insert(behind, phase);
}
