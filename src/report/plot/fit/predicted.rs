//! Predicted against measured, after the fit with intervals and before it: a panel a quantity.

use super::super::called::{self, counted, quantities, stem, worded};
use super::super::font;
use super::super::legend::Legend;
use super::super::names;
use super::super::parity::{self, Panel, Point, sample_interval};
use super::super::scene::Scene;
use super::super::sheet::Sheet;
use super::super::signs::Sign;
use super::super::theme::Theme;
use crate::calibrate::{FitReport, FittedSight, Quantity};

/// Worst measurements that are named in a panel, and the least error of one.
const NAMED: usize = 5;
const WORTH: f64 = 0.05;
const LONGEST_NAME: f64 = 230.0;
/// Profiles that the legend names.
const KEYS: usize = 14;

pub(super) fn compose(report: &FitReport, theme: &Theme) -> (Scene, (u32, u32)) {
    let title = format!(
        "{}: predicted against {}",
        report.name,
        counted(report.sights.len(), "measurement")
    );
    let said = "filled: after the fit, with the interval that 90 of 100 such measurements lie in; grey outline: before; \
                median of the absolute errors before → after";
    let sheet = Sheet::new(&title, &[said.to_owned()], theme);
    let boards = boards(report);
    let panels: Vec<Panel> =
        quantities(report).into_iter().map(|of| panel(report, of, &boards, theme)).collect();
    parity::page(sheet, &panels, ("nothing is measured", theme), |legend| {
        explain(legend, report, &boards, theme);
    })
}

/// Profiles in the order of the measurements.
fn boards(report: &FitReport) -> Vec<&str> {
    let mut boards: Vec<&str> = Vec::new();
    for sight in &report.sights {
        if !boards.contains(&sight.hardware.as_str()) {
            boards.push(&sight.hardware);
        }
    }
    boards
}

fn panel(report: &FitReport, quantity: Quantity, boards: &[&str], theme: &Theme) -> Panel {
    let own: Vec<&FittedSight> =
        report.sights.iter().filter(|sight| sight.quantity == quantity).collect();
    let error = |sight: &FittedSight| (sight.predicted / sight.measured).ln().abs();
    let mut worst: Vec<&FittedSight> =
        own.iter().copied().filter(|sight| error(sight) > WORTH).collect();
    worst.sort_by(|one, other| error(other).total_cmp(&error(one)));
    worst.truncate(NAMED);
    let several = called::several_cases(report);
    let points = own.iter().map(|sight| Point {
        measured: sight.measured,
        predicted: sight.predicted,
        interval: (sight.interval.low, sight.interval.high),
        before: Some(sight.before),
        sign: sign(&sight.hardware, boards, theme),
        filled: sight.given,
        name: worst.iter().any(|bad| std::ptr::eq(*bad, *sight)).then(|| named(sight, several)),
    });
    let (name, unit) = worded(quantity);
    let median = |of: fn(&FittedSight) -> f64| median(own.iter().map(|sight| of(sight)).collect());
    let after = median(|sight| (sight.predicted / sight.measured - 1.0).abs());
    let before = median(|sight| (sight.before / sight.measured - 1.0).abs());
    let figures = format!("median {before} → {after}");
    Panel { title: name.to_owned(), figures, unit, points: points.collect() }
}

fn sign(hardware: &str, boards: &[&str], theme: &Theme) -> Sign {
    Sign::of(boards.iter().position(|board| *board == hardware).unwrap_or(0), theme)
}

/// What a measurement is called, with its error.
fn named(sight: &FittedSight, several_cases: bool) -> String {
    let error = format!(" {:+.0} %", (sight.predicted / sight.measured - 1.0) * 100.0);
    let room = LONGEST_NAME - font::width(&error, names::SIZE, false);
    let called = called::sight(sight, several_cases);
    called.line(names::SIZE, room) + &error.replace('-', "−")
}

/// The middle of sizes, in per cent.
fn median(mut sizes: Vec<f64>) -> String {
    sizes.sort_by(f64::total_cmp);
    let middle = sizes.len() / 2;
    let upper = sizes.get(middle).copied().unwrap_or(0.0);
    let lower =
        if sizes.len().is_multiple_of(2) { sizes.get(middle.wrapping_sub(1)) } else { None };
    super::super::held_out::percent((upper + lower.copied().unwrap_or(upper)) / 2.0)
}

fn explain(legend: &mut Legend<'_>, report: &FitReport, boards: &[&str], theme: &Theme) {
    let keys: Vec<(String, Sign)> =
        boards.iter().map(|board| (stem(board), sign(board, boards, theme))).collect();
    parity::explain_signs(legend, "profile", &keys, KEYS, theme);
    legend.heading("marks");
    let first = Sign::of(0, theme);
    legend.sample("predicted, with its 90 % interval", |scene, at| {
        sample_interval(scene, at, first, theme);
    });
    let was = Sign { ink: theme.quiet.faded(0.6), ..first };
    legend.sample("predicted before the fit", |scene, at| was.outline(scene, at, 3.2, theme));
    if report.sights.iter().any(|sight| !sight.given) {
        let text = "not given to the fit";
        legend.sample(text, |scene, at| first.outline(scene, at, 4.2, theme));
    }
    parity::explain_lines(legend, theme);
}
