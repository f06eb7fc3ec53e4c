//! What a run leaves behind: trace, figures, tables.

use super::plot::{PlotError, PowerOptions, power};
use super::{FolderError, OutputFolder, Prediction, json, run_text};
use crate::formats::{FormatError, csv, perfetto};
use crate::sim::{Outcome, Workload};
use crate::trace::{SpanKind, Trace};
use crate::uncertainty::Figure;
use crate::units::engineering;
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
    workload: &Workload,
    outcome: &Outcome,
    trace: &Trace,
    target: &Path,
) -> Result<(), RunFolderError> {
    let folder = OutputFolder::begin(target)?;
    write_trace(trace, &folder)?;
    let options = PowerOptions {
        title: prediction.subject(),
        subtitle: subtitle(prediction, outcome),
        ..PowerOptions::default()
    };
    for name in ["power.png", "power.svg"] {
        power(trace, &options, &folder.path().join(name))?;
    }
    let inferences = trace.spans.iter().filter(|s| s.kind == SpanKind::Inference);
    if let Some(first) = inferences.min_by_key(|s| s.start).filter(|s| s.end < trace.end) {
        // Among many, or with rest behind it, one inference is too narrow to read.
        let title = format!("{}, first inference", options.title);
        let (from, to) = (Some(first.start), Some(first.end));
        let mut subtitle = options.subtitle.clone();
        if let Some(headline) = subtitle.first_mut() {
            let (own, all) = (first.end.since(first.start).seconds(), outcome.metrics.inferences);
            *headline = format!("the first of {all}, {own}; figures are of what is shown");
        }
        let closer = PowerOptions { title, subtitle, from, to, ..options };
        for name in ["first_inference.png", "first_inference.svg"] {
            power(trace, &closer, &folder.path().join(name))?;
        }
    }
    folder.write("report.txt", run_text(prediction, outcome).as_bytes())?;
    let metrics = json::run(prediction, workload, outcome);
    let pretty = serde_json::to_string_pretty(&metrics).unwrap_or_else(|_| metrics.to_string());
    folder.write("metrics.json", pretty.as_bytes())?;
    folder.complete()?;
    Ok(())
}

/// The trace as CSV and for Perfetto.
pub(super) fn write_trace(trace: &Trace, folder: &OutputFolder) -> Result<(), RunFolderError> {
    csv::write_folder(trace, folder.path())?;
    let path = folder.path().join("trace.perfetto-trace");
    let file = std::fs::File::create(&path).map_err(|source| FolderError::Io { path, source })?;
    perfetto::write(trace, &mut std::io::BufWriter::new(file))?;
    Ok(())
}

fn subtitle(p: &Prediction<'_>, outcome: &Outcome) -> Vec<String> {
    let m = &outcome.metrics;
    let (energy, latency) = (outcome.energy_per_inference(), outcome.latency.mean());
    let span = |figure, value: f64, unit| {
        let i = p.uncertainty.interval(figure, value);
        format!("{} to {}", engineering(i.low, unit), engineering(i.high, unit))
    };
    let mut lines = vec![format!(
        "{energy} an inference (90 %: {}), {latency} (90 %: {}), mean {}, peak {}",
        span(Figure::Energy, energy.0, "J"),
        span(Figure::Latency, latency.0, "s"),
        m.mean,
        m.peak
    )];
    let flags: Vec<_> = p.network.transforms.iter().map(|t| t.transform.to_string()).collect();
    if !flags.is_empty() {
        lines.push(format!("the network is changed by {}", flags.join(" ")));
    }
    lines.extend(p.caveats.iter().cloned());
    lines
}
