//! What a run leaves behind: trace, figures, tables.

use super::plot::{PlotError, PowerOptions, power};
use super::{FolderError, OutputFolder, Prediction, json, run_text};
use crate::formats::{FormatError, csv, perfetto};
use crate::sim::Outcome;
use crate::trace::Trace;
use crate::uncertainty::Figure;
use crate::units::{Joules, Seconds, engineering};
use std::path::Path;

/// Why a run's folder could not be written.
#[derive(Debug, thiserror::Error)]
pub enum RunFolderError {
    /// The folder.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// The trace.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// The pictures.
    #[error(transparent)]
    Plot(#[from] PlotError),
}

/// Writes trace (CSV, Perfetto), pictures (PNG, SVG), table and metrics of a run to `target`.
pub fn write_run(
    prediction: &Prediction<'_>,
    outcome: &Outcome,
    trace: &Trace,
    target: &Path,
) -> Result<(), RunFolderError> {
    let folder = OutputFolder::begin(target)?;
    csv::write_folder(trace, folder.path())?;
    let path = folder.path().join("trace.perfetto-trace");
    let file = std::fs::File::create(&path).map_err(|source| FolderError::Io { path, source })?;
    perfetto::write(trace, &mut std::io::BufWriter::new(file))?;
    let options = PowerOptions {
        title: prediction.subject(),
        subtitle: subtitle(prediction, outcome),
        ..PowerOptions::default()
    };
    for name in ["power.png", "power.svg"] {
        power(trace, &options, &folder.path().join(name))?;
    }
    folder.write("report.txt", run_text(prediction, outcome).as_bytes())?;
    let metrics = json::run(prediction, outcome);
    let pretty = serde_json::to_string_pretty(&metrics).unwrap_or_else(|_| metrics.to_string());
    folder.write("metrics.json", pretty.as_bytes())?;
    let marker = format!(
        "{{\"schema\": \"joulecast.folder/1\", \"version\": \"{}\"}}\n",
        env!("CARGO_PKG_VERSION")
    );
    folder.complete(&marker)?;
    Ok(())
}

fn subtitle(p: &Prediction<'_>, outcome: &Outcome) -> Vec<String> {
    let m = &outcome.metrics;
    let count = m.inferences.max(1) as f64;
    let latency = outcome.latencies.iter().map(|l| l.0).sum::<f64>() / count;
    let energy = m.energy.0 / count;
    let span = |figure, value: f64, unit| {
        let i = p.uncertainty.interval(figure, value);
        format!("{} to {}", engineering(i.low, unit), engineering(i.high, unit))
    };
    let first = format!(
        "{} an inference (90 %: {}), {} (90 %: {}), mean {}, peak {}",
        Joules(energy),
        span(Figure::Energy, energy, "J"),
        Seconds(latency),
        span(Figure::Latency, latency, "s"),
        m.mean,
        m.peak
    );
    let (energy, time) = (p.coverage(Figure::Energy) * 100.0, p.coverage(Figure::Latency) * 100.0);
    let mut second =
        format!("rests on evidence: {energy:.0} % of the energy, {time:.0} % of the time");
    if energy < 50.0 || time < 50.0 {
        second.push_str("; indicative, not calibrated");
    }
    vec![first, second]
}
