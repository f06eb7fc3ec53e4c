//! Predicted against measured.

use super::{percent, table};
use crate::calibrate::Comparison;
use crate::evidence::INDICATIVE_BELOW;
use crate::report::prediction::NEARLY_ALL;
use crate::units::engineering;
use std::fmt::Write as _;

/// `validate`: predicted, measured, error.
pub fn comparison_table(comparisons: &[Comparison]) -> String {
    let headers = [
        "case",
        "quantity",
        "measured",
        "predicted",
        "90 % interval",
        "error",
        "covered",
        "split",
        "evidence",
    ];
    let mut rows = table(&headers, 2);
    for c in comparisons {
        let (name, unit) = match c.quantity.rsplit_once('_') {
            Some((name, "s")) => (name, "s"),
            Some((name, "j")) => (name, "J"),
            _ => (c.quantity, ""),
        };
        rows.add_row(vec![
            c.id.clone(),
            name.to_owned(),
            engineering(c.measured, unit),
            engineering(c.predicted, unit),
            format!(
                "{} to {}",
                engineering(c.interval.low, unit),
                engineering(c.interval.high, unit)
            ),
            format!("{:+.1} %", c.relative_error * 100.0),
            if c.covered() { "yes".into() } else { "no".to_owned() },
            c.split.name().to_owned(),
            percent(c.coverage),
        ]);
    }
    let mut text = format!("{rows}\n");
    for quantity in ["latency_s", "energy_j"] {
        let mut errors: Vec<f64> = comparisons
            .iter()
            .filter(|c| c.quantity == quantity)
            .map(|c| c.relative_error.abs())
            .collect();
        errors.sort_by(f64::total_cmp);
        let (Some(worst), Some(median)) = (errors.last(), median(&errors)) else { continue };
        let name = quantity.split('_').next().unwrap_or(quantity);
        let _ = writeln!(
            text,
            "{name}: median of absolute errors {}, worst {}, {} figures",
            percent(median),
            percent(*worst),
            errors.len()
        );
    }
    for c in comparisons.iter().filter(|c| c.costed_share < NEARLY_ALL) {
        let share = percent(c.costed_share);
        let _ = writeln!(text, "PARTIAL: {} {} holds {share} of the operations", c.id, c.quantity);
    }
    for c in comparisons.iter().filter(|c| !c.fits) {
        let _ = writeln!(text, "DOES NOT FIT: {} {} is of a network too large", c.id, c.quantity);
    }
    if comparisons.iter().any(|c| c.coverage < INDICATIVE_BELOW) {
        let share = percent(INDICATIVE_BELOW);
        let _ = writeln!(text, "predictions with less than {share} evidence are indicative");
    }
    text
}

fn median(sorted: &[f64]) -> Option<f64> {
    let middle = sorted.len() / 2;
    let upper = *sorted.get(middle)?;
    if sorted.len() % 2 == 1 {
        return Some(upper);
    }
    Some((sorted.get(middle - 1)? + upper) / 2.0)
}
