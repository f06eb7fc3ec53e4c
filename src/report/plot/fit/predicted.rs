//! Predicted against measured, after the fit with intervals and before it: a panel a quantity.

use super::super::called::{self, counted, quantities, stem, worded};
use super::super::font;
use super::super::frame::MARGIN;
use super::super::legend::Legend;
use super::super::names;
use super::super::parity::{self, Panel, Point, sample_equal, sample_interval, sample_off};
use super::super::scene::{Area, Scene};
use super::super::sheet::{Sheet, data_right, nothing, size};
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
    let page = Area { left: MARGIN - 10.0, right: data_right(), top: sheet.top, bottom: 0.0 };
    let page = Area { bottom: page.top + parity::height(page.width(), panels.len()), ..page };
    let height = page.bottom + 12.0;
    let column = sheet.column(height - MARGIN);
    let mut scene = sheet.on_paper(height, theme);
    if panels.is_empty() {
        nothing(&mut scene, &page, "nothing is measured", theme);
        return (scene, size(height));
    }
    parity::side_by_side(&mut scene, &page, &panels, theme);
    explain(&mut Legend::new(&mut scene, theme, column), report, &boards, theme);
    (scene, size(height))
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
    legend.heading("profile");
    for board in boards.iter().take(KEYS) {
        let sign = sign(board, boards, theme);
        legend.sample(&stem(board), |scene, at| sign.draw(scene, at, 5.0, theme));
    }
    if let Some(rest) = boards.len().checked_sub(KEYS).filter(|rest| *rest > 0) {
        legend.note(&format!("and {rest} more"));
    }
    legend.space();
    legend.heading("marks");
    let first = Sign::of(0, theme);
    legend.sample("predicted, with its 90 % interval", |scene, at| {
        sample_interval(scene, at, first, theme);
    });
    let was = Sign { ink: theme.quiet.faded(0.6), ..first };
    legend.sample("predicted before the fit", |scene, at| was.outline(scene, at, 3.2, theme));
    if report.sights.iter().any(|sight| !sight.given) {
        let text = "not given to the fit: a fault";
        legend.sample(text, |scene, at| first.outline(scene, at, 4.2, theme));
    }
    legend.sample("predicted as measured", |scene, at| sample_equal(scene, at, theme));
    legend.sample("10 % off", |scene, at| sample_off(scene, at, theme));
}
