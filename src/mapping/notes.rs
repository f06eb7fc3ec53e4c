//! What the reader of a plan should know.

use super::memory::MemoryPlan;
use super::plan::Step;
use crate::cost::Setting;
use crate::hardware::Precision;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Says that software rates know no number format, where layers have several or wider ones.
fn paceless_note(steps: &[Step], setting: Setting<'_>) -> Option<String> {
    let by_software = steps.iter().filter(|step| setting.stack(step.engine).is_some());
    let known = |step: &&Step| {
        let stack = setting.stack(step.engine);
        stack.is_some_and(|s| s.relative_cycles.contains_key(&step.cost.precision))
    };
    let wider = by_software
        .filter(|step| step.macs > 0 && step.cost.precision.bits() > 8)
        .filter(|step| !known(step));
    let formats: BTreeSet<_> = wider.map(|step| step.cost.precision).collect();
    if formats.is_empty() {
        return None;
    }
    let names: Vec<_> = formats.iter().map(ToString::to_string).collect();
    Some(format!(
        "software rates go by kind of layer, whatever the number format: in {} they may differ",
        names.join(" and ")
    ))
}

/// Says how many multiply-accumulates of the graph are not done, and who leaves them out.
fn skipped_note(steps: &[Step], setting: Setting<'_>) -> Option<String> {
    let skipped = |step: &&Step| step.cost.macs < step.macs;
    let mut who = BTreeSet::new();
    for step in steps.iter().filter(skipped) {
        let dead = setting.stack(step.engine).filter(|s| s.removes_dead_channels);
        let engine = &setting.profile.spec().engines[step.engine].name;
        who.insert(match dead {
            Some(stack) => format!("dead channels, by software {}", stack.name),
            None => format!("zeros of weights, by {engine}"),
        });
    }
    if who.is_empty() {
        return None;
    }
    let sum = |of: fn(&Step) -> u64| steps.iter().map(of).fold(0, u64::saturating_add);
    let (all, done) = (sum(|s| s.macs), sum(|s| s.cost.macs));
    let who: Vec<_> = who.into_iter().collect();
    Some(format!("{} of {all} MACs are left out: {}", all - done.min(all), who.join("; ")))
}

/// What a reader should know of the engines in use, and whether everything fits their memories.
pub(super) fn notes(
    steps: &[Step],
    homes: &[Arc<MemoryPlan>],
    conversions: BTreeSet<(Precision, Precision, usize)>,
    setting: Setting<'_>,
) -> (Vec<String>, bool) {
    let engines: BTreeSet<usize> = steps.iter().map(|s| s.engine).collect();
    let name = |engine: usize| setting.profile.spec().engines[engine].name.as_str();
    let mut notes = Vec::new();
    for engine in &engines {
        let of_engine = homes[*engine].notes(setting.profile);
        notes.extend(of_engine.into_iter().map(|note| format!("{}: {note}", name(*engine))));
    }
    notes.extend(conversions.into_iter().map(|(from, to, engine)| {
        format!("{} runs {from} layers in {to}: the network counts as converted", name(engine))
    }));
    notes.extend(skipped_note(steps, setting));
    notes.extend(paceless_note(steps, setting));
    let fits = engines.iter().all(|e| homes[*e].fits);
    (notes, fits)
}
