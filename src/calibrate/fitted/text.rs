//! Numbers, sources and the block of a fit as a profile writes them.

use crate::diagnostic::quoted;
use crate::evidence::Parameter;
use crate::units::Literal;
use nalgebra::DMatrix;

/// Significant digits of a value, of its spread, and of an entry of the factor.
const VALUE_DIGITS: i32 = 5;
const SPREAD_DIGITS: i32 = 2;
const FACTOR_DIGITS: i32 = 6;

/// An entry of the factor below this share of its row is none.
const NOTHING: f64 = 1e-12;

/// A number times a factor, in its own unit, with the deviation of its logarithm.
pub(super) fn literal(parameter: &Parameter, factor: f64, sigma: f64, key: &str) -> String {
    let written = parameter.written.as_str();
    let unit = Literal::parse(written).map(|literal| literal.unit).unwrap_or_default();
    let number = written.strip_suffix(unit.as_str()).unwrap_or(written).trim().replace('_', "");
    let number: f64 = number.parse().unwrap_or(f64::NAN);
    let value = plain(number * factor, VALUE_DIGITS);
    let spread = plain(sigma.exp_m1() * 100.0, SPREAD_DIGITS);
    format!("{value} {unit} ±{spread}% @{key}")
}

/// An entry of `sources`, with what stood at each path before.
pub(super) fn source_text(name: &str, description: &str, before: &[(&str, String)]) -> String {
    let version = env!("CARGO_PKG_VERSION");
    let citation = format!("joulecast calibrate {name}, version {version}: {description}");
    let before: Vec<_> = before.iter().map(|(path, literal)| format!("{path} {literal}")).collect();
    let condition = format!("before: {}", before.join("; "));
    format!("(kind: Fitted, citation: {}, condition: {})", quoted(&citation), quoted(&condition))
}

/// The block `posterior`, a line for each number and each row.
pub(super) fn posterior_text(names: &[&str], factor: &DMatrix<f64>) -> String {
    let lines = |lines: Vec<String>| {
        lines.iter().map(|line| format!("\n      {line},")).collect::<String>()
    };
    let names = lines(names.iter().map(|name| quoted(name)).collect());
    let row = |i: usize| {
        let length = factor.row(i).norm();
        let entry = |j: usize| match factor[(i, j)] {
            small if small.abs() < NOTHING * length => "0".to_owned(),
            entry => plain(entry, FACTOR_DIGITS),
        };
        let entries: Vec<_> = (0..=i).map(entry).collect();
        format!("[{}]", entries.join(", "))
    };
    let rows = lines((0..factor.nrows()).map(row).collect());
    format!("(\n    numbers: [{names}\n    ],\n    factor: [{rows}\n    ],\n  )")
}

/// A number with so many significant digits, as people write it.
fn plain(number: f64, digits: i32) -> String {
    let places = usize::try_from(digits - 1).unwrap_or(0);
    let short = format!("{number:.places$e}");
    let rounded: f64 = short.parse().unwrap_or(number);
    if rounded == 0.0 || (1e-6..1e9).contains(&rounded.abs()) {
        format!("{rounded}")
    } else {
        format!("{rounded:e}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_their_digits_and_no_more() {
        for (number, digits, expected) in [
            (172.3649, 5, "172.36"),
            (172.4, 5, "172.4"),
            (1_234_567.0, 5, "1234600"),
            (0.000_123_456_7, 5, "0.00012346"),
            (1.234_567e-9, 5, "1.2346e-9"),
            (7.654_321e12, 5, "7.6543e12"),
            (3.149, 2, "3.1"),
            (123.0, 2, "120"),
            (0.0, 2, "0"),
            (-0.020_000_000_1, 6, "-0.02"),
        ] {
            assert_eq!(plain(number, digits), expected);
        }
    }
}
