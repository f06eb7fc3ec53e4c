//! What a run of a scenario leaves behind: trace, figures, tables.

use super::plot::{PowerOptions, power};
use super::run_folder::write_trace;
use super::scenario::ScenarioRun;
use super::{OutputFolder, RunFolderError, json, scenario_text};
use crate::sim::Snapshot;
use crate::trace::Trace;
use crate::units::{Seconds, SimTime};
use std::path::Path;

/// Writes trace (CSV, Perfetto), pictures (PNG, SVG), table, metrics and the snapshot of a run, if there is
/// one, to `target`.
pub fn write_scenario_run(
    run: &ScenarioRun<'_>,
    trace: &Trace,
    snapshot: Option<&Snapshot>,
    target: &Path,
) -> Result<(), RunFolderError> {
    let folder = OutputFolder::begin(target)?;
    write_trace(trace, &folder)?;
    let (title, subtitle) = (run.subject(), subtitle(run));
    let from = run.resumed.as_ref().map(|own| own.at).filter(|at| *at < trace.end);
    let options = PowerOptions { title, subtitle, from, ..PowerOptions::default() };
    for name in ["power.png", "power.svg"] {
        power(trace, &options, &folder.path().join(name))?;
    }
    if let Some((from, to, name)) = closer(trace) {
        let title = format!("{}: {name}, a closer look", options.title);
        let mut subtitle = options.subtitle.clone();
        if let Some(headline) = subtitle.first_mut() {
            *headline = "figures are of what is shown".to_owned();
        }
        let closer = PowerOptions { title, subtitle, from: Some(from), to: Some(to), ..options };
        for name in ["first_inference.png", "first_inference.svg"] {
            power(trace, &closer, &folder.path().join(name))?;
        }
    }
    if let Some(snapshot) = snapshot {
        folder.write("snapshot.json", snapshot.to_json().as_bytes())?;
    }
    folder.write("report.txt", scenario_text(run).as_bytes())?;
    let metrics = json::scenario_run(run);
    let pretty = serde_json::to_string_pretty(&metrics).unwrap_or_else(|_| metrics.to_string());
    folder.write("metrics.json", pretty.as_bytes())?;
    folder.complete()?;
    Ok(())
}

fn subtitle(run: &ScenarioRun<'_>) -> Vec<String> {
    let m = &run.simulated.metrics;
    let mut first = format!("the whole run: mean {}, peak {}", m.mean, m.peak);
    if let Some(each) = run.simulated.energy_per_inference() {
        first.push_str(&format!(", {each} an inference"));
    }
    let mut lines = vec![first];
    lines.extend(run.caveats.iter().cloned());
    lines
}

/// The first inference of a network, with as much before and behind it that waking and resting can be seen.
fn closer(trace: &Trace) -> Option<(SimTime, SimTime, String)> {
    let networks = trace.spans.iter().filter(|span| span.is_inference());
    let first = networks.min_by_key(|span| span.start)?;
    let lasts = first.end.since(first.start).0;
    let from = SimTime(first.start.0.saturating_sub(lasts / 4));
    let to = SimTime(first.end.0.saturating_add(lasts / 2).min(trace.end.0));
    // One that fills the picture has been seen.
    let narrow = (to.since(from).seconds()) * 2.0 < trace.end.seconds();
    (narrow && from < to).then(|| (from, to, first.track.clone()))
}

/// Text for a trace that does not hold all of a run.
pub(crate) fn cut_text(kept: Seconds, whole: Seconds) -> String {
    format!(
        "the trace holds the first {kept} of {whole}; totals are of all (--trace-time keeps more)"
    )
}
