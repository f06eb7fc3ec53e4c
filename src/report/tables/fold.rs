//! `capture fold`: the profile of one inference, and its layers.

use super::{plain, shortened, table, without_header};
use crate::capture::{Assigned, Folded, Measured, change_points};
use std::fmt::Write as _;

/// Width of the picture in characters.
const WIDTH: usize = 72;
const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// A confidence below this is worth a mark.
const SURE: f64 = 0.9;

/// What was folded, how it looks, and the layers where they are known.
pub fn fold_text(m: &Measured, folded: &Folded, layers: Option<&[Assigned]>) -> String {
    let mut facts = plain(2, 2);
    let mut row = |name: &str, value: String| {
        facts.add_row([name.to_owned(), value]);
    };
    row("period", format!("{} (± {})", folded.period, folded.period_error));
    row("energy of an inference", folded.energy().to_string());
    row("folded", format!("{} inferences in {} windows", folded.inferences, m.measured.len()));
    row("bins", format!("{} of {}, each to {}", folded.power.len(), folded.bin(), folded.noise()));
    row(
        "explained",
        format!("{:.1} % of the variance within windows", 100.0 * (1.0 - folded.unexplained)),
    );
    let mut text = format!("{}\n{}", m.layout.format, without_header(&facts));
    text.push_str(&picture(folded));
    match layers {
        Some(layers) => text.push_str(&layer_rows(layers)),
        None => text.push_str(&steps(folded)),
    }
    text
}

/// The profile as one line of blocks.
fn picture(folded: &Folded) -> String {
    let power: Vec<f64> = folded.power.iter().map(|power| power.0).collect();
    let low = power.iter().copied().fold(f64::INFINITY, f64::min);
    let high = power.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if high.partial_cmp(&low) != Some(std::cmp::Ordering::Greater) {
        return String::new();
    }
    let width = WIDTH.min(power.len());
    let block = |column: usize| {
        let (from, to) = (column * power.len() / width, (column + 1) * power.len() / width);
        let bins = power.get(from..to.max(from + 1)).unwrap_or_default();
        let known: Vec<f64> = bins.iter().copied().filter(|p| !p.is_nan()).collect();
        let mean = known.iter().sum::<f64>() / known.len().max(1) as f64;
        let level = (mean - low) / (high - low) * (LEVELS.len() - 1) as f64;
        LEVELS.get(level.round() as usize).copied().unwrap_or(' ')
    };
    let line: String = (0..width).map(block).collect();
    let (low, high) = (crate::units::Watts(low), crate::units::Watts(high));
    format!("\n{line}\n{low} to {high} over {}\n", folded.period)
}

/// Steps of the profile, for a capture whose model is not known.
fn steps(folded: &Folded) -> String {
    let power: Vec<f64> = folded.power.iter().map(|power| power.0).collect();
    if power.iter().any(|power| power.is_nan()) {
        return String::new();
    }
    let noise = folded.noise().0;
    let penalty = 2.0 * noise * noise * (power.len() as f64).ln();
    let pieces = change_points(&power, penalty, 2);
    format!(
        "\n{} steps at the noise of the bins; `--model MODEL --on HARDWARE` assigns layers to them\n",
        pieces.ends.len()
    )
}

fn layer_rows(layers: &[Assigned]) -> String {
    let head = ["layer", "start", "±", "length", "mean", "energy", "sure"];
    let mut rows = table(&head, 1);
    for layer in layers {
        rows.add_row([
            shortened(&layer.name, 44),
            layer.start.to_string(),
            layer.start_error.to_string(),
            (layer.end - layer.start).to_string(),
            layer.mean.to_string(),
            layer.energy.to_string(),
            format!("{:.0} %", 100.0 * layer.confidence),
        ]);
    }
    let mut text = format!("\n{rows}\n");
    let unsure = layers.iter().filter(|layer| layer.confidence < SURE).count();
    if unsure > 0 {
        let _ = writeln!(
            text,
            "{unsure} starts are less than {:.0} % sure to lie within one bin: the power does not change there, and \
             the predicted durations decide",
            100.0 * SURE
        );
    }
    let joined = layers.iter().filter(|layer| layer.layers.len() > 1).count();
    if joined > 0 {
        let _ = writeln!(text, "layers shorter than two bins stand with a neighbour");
    }
    text
}

/// The profile as CSV: start of each bin, mean, standard error, samples.
pub fn fold_csv(folded: &Folded) -> String {
    let mut text = "phase_s,power_w,standard_error_w,samples\n".to_owned();
    let bins = folded.power.iter().zip(&folded.error).zip(&folded.samples).enumerate();
    for (at, ((power, error), samples)) in bins {
        let number = |value: f64| if value.is_nan() { String::new() } else { value.to_string() };
        let start = folded.start_of(at).0;
        let _ = writeln!(text, "{start},{},{},{samples}", number(power.0), number(error.0));
    }
    text
}
