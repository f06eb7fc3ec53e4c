//! `calibrate`: the numbers after the fit, what they rest on, and the measurements.

use super::{listed, percent, shortened, table};
use crate::calibrate::{FitReport, FittedNumber, FittedSight, Quantity};
use crate::units::{Joules, Seconds, Watts};
use std::fmt::Write as _;

/// Condition from which on a fit is said to be ill conditioned.
const ILL: f64 = 30.0;

/// Share of a deviation from which on it is said to be the meter's.
const METER: f64 = 0.3;

/// Rows of a table before only the first are shown.
const ROWS: usize = 60;

/// The report of a fit.
pub fn calibration_text(outcome: &FitReport) -> String {
    let mut text = numbers(outcome);
    text.push_str(&sights(outcome));
    let _ = writeln!(
        text,
        "{}: {} measurements, {} unknowns, {} steps; sum of squares {:.2} a measurement{}",
        outcome.name,
        outcome.sights.len(),
        outcome.unknowns,
        outcome.iterations,
        outcome.chi_squared_per_measurement,
        outcome.condition.map_or(String::new(), |c| format!("; condition {c:.1}")),
    );
    text.push_str(&warnings(outcome));
    text
}

/// What a reader should know beside it.
pub fn notes_text(notes: &[&str]) -> String {
    notes.iter().map(|note| format!("note: {note}\n")).collect()
}

fn numbers(outcome: &FitReport) -> String {
    let head = ["profile", "number", "before", "±", "after", "±", "moved", "prior"];
    let mut rows = table(&head, 2);
    for number in outcome.numbers.iter().take(ROWS) {
        let version = number.version.as_ref().map_or(String::new(), |v| format!(" {v}"));
        rows.add_row([
            format!("{}{version}", number.hardware),
            shortened(&number.name, 46),
            number.written.clone(),
            spread(number.sigma_before),
            after(number),
            spread(number.sigma),
            format!("{:+.1} σ", number.moved()),
            percent(number.prior_share),
        ]);
    }
    let mut text = format!("{rows}\n{}", more(outcome.numbers.len(), "numbers"));
    text.push_str("moved: in deviations before; prior: share of what the number rests on that is not measured\n");
    text
}

fn more(count: usize, what: &str) -> String {
    match count.checked_sub(ROWS) {
        Some(rest) if rest > 0 => format!("and {rest} {what} more: --json has all\n"),
        _ => String::new(),
    }
}

/// `±12 %` of the deviation of a logarithm.
fn spread(sigma: f64) -> String {
    percent(sigma.exp_m1())
}

/// The value after, in the unit it is written in.
fn after(number: &FittedNumber) -> String {
    let (value, unit) = number.written.split_once(' ').unwrap_or((&number.written, ""));
    value.parse::<f64>().map_or_else(
        |_| format!("{:.3} x", number.factor),
        |value| format!("{} {unit}", four(value * number.factor)),
    )
}

/// Four significant digits.
fn four(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return value.to_string();
    }
    let digits = 3 - value.abs().log10().floor() as i32;
    format!("{value:.*}", digits.max(0) as usize)
}

fn sights(outcome: &FitReport) -> String {
    let head = ["measurement", "", "measured", "before", "after", "pull", "own", "told most about"];
    let mut rows = table(&head, 2);
    for sight in outcome.sights.iter().take(ROWS) {
        rows.add_row([
            format!(
                "{}{}",
                shortened(&sight.id, 52),
                if sight.fault.is_some() { " *" } else { "" }
            ),
            sight.quantity.name().to_owned(),
            value(sight, sight.measured),
            error(sight.before / sight.measured),
            error(sight.predicted / sight.measured),
            format!("{:+.1}", sight.pull),
            percent(sight.leverage),
            sight.tells.as_ref().map_or("nothing".to_owned(), |(name, share)| {
                format!("{} {}", shortened(name, 36), percent(*share))
            }),
        ]);
    }
    let legend = "pull: residual in deviations of what the fit leaves of it; own: share of the fitted prediction that is \
                  the measurement itself\n";
    let mut faults: Vec<&str> =
        outcome.sights.iter().filter_map(|sight| sight.fault.as_deref()).collect();
    faults.sort_unstable();
    faults.dedup();
    let left_out = match faults.as_slice() {
        [] => String::new(),
        faults => format!("*: not in the fit: {}\n", faults.join("; ")),
    };
    format!("\n{rows}\n{}{legend}{left_out}\n", more(outcome.sights.len(), "measurements"))
}

fn value(sight: &FittedSight, value: f64) -> String {
    match sight.quantity {
        Quantity::Latency => Seconds(value).to_string(),
        Quantity::Energy => Joules(value).to_string(),
        Quantity::IdlePower | Quantity::MeanPower => Watts(value).to_string(),
    }
}

fn error(ratio: f64) -> String {
    let percent = (ratio - 1.0) * 100.0;
    if percent.abs() < 10.0 { format!("{percent:+.1} %") } else { format!("{percent:+.0} %") }
}

fn warnings(outcome: &FitReport) -> String {
    let mut text = String::new();
    let (numbers, sights) = (outcome.numbers.len(), outcome.sights.len());
    if !outcome.converged {
        text.push_str(
            "NOT CONVERGED: the fit ran out of steps, and its numbers are where it stood\n",
        );
    }
    if sights < numbers {
        let _ = writeln!(
            text,
            "{sights} measurements for {numbers} numbers: priors decide the rest (column `prior`)"
        );
    }
    if let Some(condition) = outcome.condition.filter(|c| *c > ILL) {
        let _ = writeln!(
            text,
            "ill conditioned ({condition:.0} > {ILL:.0}): some numbers are hardly told apart"
        );
    }
    for pair in &outcome.confused {
        let _ = writeln!(
            text,
            "{} and {} go together (correlation {:+.2}): only their sum is known",
            pair.one, pair.other, pair.correlation
        );
    }
    if let Some(weakest) = &outcome.weakest {
        let parts: Vec<String> = weakest
            .parts
            .iter()
            .map(|(name, part)| format!("{:+.1} % by {name}", part.exp_m1() * 100.0))
            .collect();
        text.push_str(&listed("least known, of a prediction", &parts));
        let _ = writeln!(text, "to settle it: {}", weakest.experiment);
    }
    let meter = outcome.numbers.iter().filter(|number| number.meter_share > METER);
    let meter: Vec<String> =
        meter.map(|number| format!("{} {}", number.name, percent(number.meter_share))).collect();
    if !meter.is_empty() {
        text.push_str(&listed("deviation that is what the meter may be off by", &meter));
    }
    for c in &outcome.contradictions {
        let _ = writeln!(text, "{} and {} disagree by {:.1} σ", c.one, c.other, c.sigmas);
    }
    for (name, pull) in &outcome.strained {
        let _ = writeln!(
            text,
            "{name} is off by {pull:+.1} σ: more than its scatter and the discrepancy allow"
        );
    }
    if !outcome.idle.is_empty() {
        text.push_str(&listed("no measurement depends on", &outcome.idle));
    }
    if !outcome.untouched.is_empty() {
        text.push_str(&listed("no fitted number touches", &outcome.untouched));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_four_digits() {
        assert_eq!(
            [1.23456, 12345.6, 0.00123456, 172.04].map(four),
            ["1.235", "12346", "0.001235", "172.0"]
        );
    }
}
