//! Each number before the fit and after it: how far it moved, and how much better it is known.

use super::super::called::{Called, NAME_SIZE, counted};
use super::super::font;
use super::super::frame::{LABEL_SIZE, MARGIN, TICK_SIZE};
use super::super::legend::Legend;
use super::super::log_axis::LogAxis;
use super::super::scene::{Anchor, Area, Label, Scene};
use super::super::sheet::{Sheet, data_right, nothing, size, striped};
use super::super::signs::{Form, Sign};
use super::super::theme::{self, Theme};
use super::factors::{Factor, Names, factors, in_turns, said};
use crate::calibrate::{FitReport, FittedNumber};
use crate::uncertainty::Z90;

/// Numbers on a page.
const ROWS: usize = 48;
const ROW: (f64, f64) = (18.0, 30.0);
/// Right end of the names, and the room of the figures beside the data.
const NAMES: f64 = 430.0;
const FIGURES: f64 = 220.0;
/// Right end of the values among them.
const VALUES: f64 = 142.0;
const BELOW: f64 = 62.0;
/// Room of the label of a tick.
const TICK_ROOM: f64 = 52.0;
/// The widest scale: a factor of so much to both sides.
const WIDEST: f64 = 30.0;

pub(super) fn compose(report: &FitReport, theme: &Theme) -> (Scene, (u32, u32)) {
    let factors = factors(report);
    let (shown, chosen) = shown(report, &factors);
    let title =
        format!("{}: {} before and after", report.name, counted(report.numbers.len(), "number"));
    let mut subtitle = vec![
        "factor on the value of the profile; bars: 90 % intervals of the prior (grey) and after the fit (blue)"
            .to_owned(),
    ];
    subtitle.extend(said(report, &factors));
    subtitle.extend(chosen);
    let sheet = Sheet::new(&title, &subtitle, theme);
    let top = sheet.top + 26.0;
    let tall =
        (shown.len() as f64 * ROW.1).min((900.0 - top - BELOW).max(shown.len() as f64 * ROW.0));
    let right = data_right() - FIGURES;
    let data = Area { left: NAMES + 12.0, right, top, bottom: top + tall.max(60.0) };
    let height = (data.bottom + BELOW).max(520.0);
    let column = sheet.column(height - MARGIN);
    let mut scene = sheet.on_paper(height, theme);
    if shown.is_empty() {
        nothing(&mut scene, &data, "no number is fitted", theme);
        return (scene, size(height));
    }
    let axis = axis(report, &shown, &data);
    striped(&mut scene, &Area { right: data.right + FIGURES, ..data }, shown.len(), theme);
    frame(&mut scene, &data, &axis, theme);
    let names = Names::of(report);
    for (row, factor) in shown.iter().enumerate() {
        let Some(number) = factor.number(report) else { continue };
        let lane = data.height() / shown.len() as f64;
        let middle = data.top + (row as f64 + 0.5) * lane;
        draw(&mut scene, number, &names.of_factor(factor), (&data, &axis, middle), lane, theme);
    }
    explain(&mut Legend::new(&mut scene, theme, column), report, theme);
    (scene, size(height))
}

/// Factors that are drawn, in their order, and how they were chosen where there are more.
fn shown(report: &FitReport, factors: &[Factor]) -> (Vec<Factor>, Option<String>) {
    if factors.len() <= ROWS {
        return (factors.to_vec(), None);
    }
    let chosen = in_turns(report, factors, ROWS, |number| told(number) * number.effect);
    let text = format!(
        "{ROWS} of {} factors are drawn: in turns of each kind, those whose narrowing tells predictions most; --json has all",
        factors.len()
    );
    (chosen, Some(text))
}

/// By how much the deviation of a number fell, in logarithms.
fn told(number: &FittedNumber) -> f64 {
    if number.sigma > 0.0 && number.sigma_before > 0.0 {
        (number.sigma_before - number.sigma).max(0.0)
    } else {
        0.0
    }
}

/// A scale of factors that holds nearly all, the same to both sides.
fn axis(report: &FitReport, shown: &[Factor], data: &Area) -> LogAxis {
    let numbers = shown.iter().filter_map(|factor| factor.number(report));
    let reach = numbers.map(|number| {
        let (before, after) = (Z90 * number.sigma_before, Z90 * number.sigma);
        before.max(number.factor.ln().abs() + after)
    });
    let most = reach.filter(|reach| reach.is_finite()).fold(0.0, f64::max);
    let most = (most * 1.05).clamp(1.2f64.ln(), WIDEST.ln()).exp();
    LogAxis { low: 1.0 / most, high: most, from: data.left, to: data.right }
}

/// Factors that may have a tick, the most wanted first.
const FACTORS: [f64; 17] =
    [1.0, 0.1, 10.0, 0.5, 2.0, 0.2, 5.0, 0.3, 3.0, 0.03, 30.0, 0.7, 1.5, 0.8, 1.2, 0.9, 1.1];

fn frame(scene: &mut Scene, data: &Area, axis: &LogAxis, theme: &Theme) {
    let mut taken: Vec<f64> = Vec::new();
    for factor in FACTORS {
        let x = axis.place(factor);
        let meets = taken.iter().any(|other| (other - x).abs() < TICK_ROOM);
        if factor < axis.low || factor > axis.high || meets {
            continue;
        }
        taken.push(x);
        scene.rule((x, data.top), (x, data.bottom), 1.0, theme.gridline);
        scene.rule((x, data.bottom), (x, data.bottom + 5.0), 1.0, theme.frame);
        let at = (x, data.bottom + 10.0 + TICK_SIZE * font::CAPITAL);
        let text = format!("× {factor}");
        scene.text(Label::new(text, at, TICK_SIZE, theme.quiet).anchored(Anchor::Middle));
    }
    let one = axis.place(1.0);
    scene.rule((one, data.top), (one, data.bottom), 1.0, theme.frame);
    scene.rule((data.left, data.bottom), (data.right, data.bottom), 1.0, theme.frame);
    let at = (data.center().0, data.bottom + 44.0);
    let label = Label::new("factor on the value of the profile", at, LABEL_SIZE, theme.text);
    scene.text(label.anchored(Anchor::Middle));
    let heads = [(data.right + VALUES, "value after"), (data.right + FIGURES - 8.0, "σ left")];
    for (right, head) in heads {
        let at = (right, data.top - 9.0);
        scene.text(Label::new(head, at, NAME_SIZE, theme.quiet).anchored(Anchor::End));
    }
}

fn draw(
    scene: &mut Scene,
    number: &FittedNumber,
    name: &Called,
    (data, axis, middle): (&Area, &LogAxis, f64),
    lane: f64,
    theme: &Theme,
) {
    name.write(scene, (NAMES, middle), NAMES - MARGIN, theme);
    let x = |log: f64| axis.place(log.exp().clamp(axis.low, axis.high));
    let bar = |from: f64, to: f64, half: f64| Area {
        left: x(from),
        right: x(to).max(x(from) + 1.0),
        top: middle - half,
        bottom: middle + half,
    };
    let (tall, slim) = ((lane * 0.32).min(7.0), (lane * 0.16).min(3.2));
    let wide = Z90 * number.sigma_before;
    scene.fill(bar(-wide, wide, tall), theme.frame.mixed(theme.paper, 0.62));
    let (moved, narrow) = (number.factor.ln(), Z90 * number.sigma);
    if !(moved.is_finite() && narrow.is_finite()) {
        return;
    }
    let ink = theme::load(0, theme);
    scene.fill(bar(moved - narrow, moved + narrow, slim), ink);
    Sign { form: Form::Disc, ink }.draw(scene, (x(moved), middle), (lane * 0.24).min(4.6), theme);
    let baseline = middle + NAME_SIZE * font::CAPITAL / 2.0;
    let at = (data.right + VALUES, baseline);
    let value = font::elided(&value(number), NAME_SIZE, false, VALUES - 8.0);
    scene.text(Label::new(value, at, NAME_SIZE, theme.text).anchored(Anchor::End));
    let share = match number.sigma_before > 0.0 {
        true => format!("{:.0} %", 100.0 * number.sigma / number.sigma_before),
        false => String::new(),
    };
    let at = (data.right + FIGURES - 8.0, baseline);
    scene.text(Label::new(share, at, NAME_SIZE, theme.text).anchored(Anchor::End));
}

/// The value after, in the unit that it is written in.
fn value(number: &FittedNumber) -> String {
    let (value, unit) = number.written.split_once(' ').unwrap_or((&number.written, ""));
    let Ok(value) = value.parse::<f64>() else { return format!("× {:.3}", number.factor) };
    let after = value * number.factor;
    let digits = if after == 0.0 || !after.is_finite() {
        0
    } else {
        (2 - after.abs().log10().floor() as i32).clamp(0, 9) as usize
    };
    format!("{after:.digits$} {unit}").trim_end().to_owned()
}

fn explain(legend: &mut Legend<'_>, report: &FitReport, theme: &Theme) {
    let halved = report.numbers.iter().filter(|n| n.sigma < 0.5 * n.sigma_before).count();
    let still = report.numbers.iter().filter(|n| n.sigma > 0.95 * n.sigma_before).count();
    legend.figures(&[
        ("numbers", report.numbers.len().to_string()),
        ("of half their σ or less", halved.to_string()),
        ("of 95 % of their σ or more", still.to_string()),
    ]);
    legend.note("σ left: share of the prior's deviation");
    legend.heading("marks");
    let grey = theme.frame.mixed(theme.paper, 0.62);
    legend.sample("prior, 90 %", |scene, (x, y)| {
        let area = Area { left: x - 14.0, right: x + 14.0, top: y - 6.0, bottom: y + 6.0 };
        scene.fill(area, grey);
    });
    let ink = theme::load(0, theme);
    legend.sample("after the fit, 90 %", |scene, (x, y)| {
        let area = Area { left: x - 14.0, right: x + 14.0, top: y - 3.0, bottom: y + 3.0 };
        scene.fill(area, ink);
        Sign { form: Form::Disc, ink }.draw(scene, (x, y), 4.6, theme);
    });
}
