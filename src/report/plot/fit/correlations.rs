//! Which numbers go together: a matrix of correlations, and the strongest of them as a list.
//!
//! Numbers that share one factor are one row.

use super::super::called::{Called, NAME_SIZE, counted, software};
use super::super::font;
use super::super::frame::{LEGEND, MARGIN, TICK_SIZE};
use super::super::scene::{Anchor, Area, Ink, Label, Scene};
use super::super::sheet::{Sheet, nothing, size};
use super::super::theme::Theme;
use super::factors::{Factor, Names, factors, said};
use crate::calibrate::FitReport;

/// Rows of the matrix.
const ROWS: usize = 40;
/// Right end of the names at the left, and height of those above.
const NAMES: f64 = 440.0;
const ABOVE: f64 = 226.0;
/// Side of a cell, least and most, and of one that has room for its figure.
const CELL: (f64, f64) = (17.0, 46.0);
const FIGURE: f64 = 31.0;
const FIGURE_SIZE: f64 = 12.0;
/// Pairs that are listed, and the least correlation of one.
const PAIRS: usize = 12;
const WORTH: f64 = 0.3;
const BELOW: f64 = 70.0;

pub(super) fn compose(report: &FitReport, theme: &Theme) -> (Scene, (u32, u32)) {
    let factors = factors(report);
    let of = |one: &Factor, other: &Factor| {
        report
            .correlations
            .get((one.first, other.first))
            .copied()
            .filter(|own| own.is_finite())
            .unwrap_or(0.0)
    };
    let (shown, chosen) = shown(report, &factors, of);
    let title = format!(
        "{}: correlations of {} after the fit",
        report.name,
        counted(report.numbers.len(), "number")
    );
    let mut subtitle = vec![
        "of their logarithms: near −1 only the sum of two effects is known, near +1 only the difference; the measurements do not tell them apart"
            .to_owned(),
    ];
    subtitle.extend(said(report, &factors));
    subtitle.extend(chosen);
    let sheet = Sheet::new(&title, &subtitle, theme);
    let right = f64::from(super::super::SIZE.0) - MARGIN - LEGEND - 66.0;
    let room = right - NAMES - 10.0;
    let cell = (room / shown.len().max(1) as f64).clamp(CELL.0, CELL.1);
    let side = cell * shown.len() as f64;
    let top = sheet.top + ABOVE;
    let data = Area { left: NAMES + 10.0, right: NAMES + 10.0 + side, top, bottom: top + side };
    let height = (data.bottom + BELOW).max(720.0);
    // The list stands beside the matrix, wherever that ends.
    let column = sheet.column(height - MARGIN);
    let column = Area { left: (data.right + 56.0).max(NAMES + 220.0), ..column };
    let mut scene = sheet.on_paper(height, theme);
    if shown.is_empty() {
        nothing(&mut scene, &Area { right, bottom: 600.0, ..data }, "no number is fitted", theme);
        return (scene, size(height));
    }
    let names = Names::of(report);
    let own: Vec<Called> = shown.iter().map(|factor| names.of_factor(factor)).collect();
    let matrix = Matrix { data, cell, theme };
    matrix.names(&mut scene, &own);
    matrix.cells(&mut scene, &shown, of);
    matrix.scale(&mut scene);
    let mut pairs = pairs(report, &shown, of);
    pairs.retain(|(_, _, own)| own.abs() >= WORTH);
    pairs.sort_by(|one, other| other.2.abs().total_cmp(&one.2.abs()));
    list(&mut scene, &column, &pairs, &names, theme);
    (scene, size(height))
}

/// Pairs of factors that a prediction may have both of: of one profile, version and software. Others go together
/// because they share what they start from.
fn pairs(
    report: &FitReport,
    factors: &[Factor],
    of: impl Fn(&Factor, &Factor) -> f64,
) -> Vec<(Factor, Factor, f64)> {
    let of_one = |one: &Factor, other: &Factor| {
        let (Some(one), Some(other)) = (one.number(report), other.number(report)) else {
            return false;
        };
        let versions = one.version.as_ref().zip(other.version.as_ref());
        let both = software(&one.name).zip(software(&other.name));
        one.hardware == other.hardware
            && versions.is_none_or(|(one, other)| one == other)
            && both.is_none_or(|(one, other)| one == other)
    };
    let mut pairs = Vec::new();
    for (at, one) in factors.iter().enumerate() {
        let others = factors.iter().skip(at + 1).filter(|other| of_one(one, other));
        pairs.extend(others.map(|other| (*one, *other, of(one, other))));
    }
    pairs
}

/// Factors that are drawn, in their order, and how they were chosen where there are more: pair by pair, by how much
/// of the spread of predictions the two have in common.
fn shown(
    report: &FitReport,
    factors: &[Factor],
    of: impl Fn(&Factor, &Factor) -> f64,
) -> (Vec<Factor>, Option<String>) {
    if factors.len() <= ROWS {
        return (factors.to_vec(), None);
    }
    let spread =
        |factor: &Factor| factor.number(report).map_or(0.0, |number| number.effect * number.sigma);
    let mut ranked: Vec<(f64, Factor, Factor)> = pairs(report, factors, of)
        .into_iter()
        .map(|(one, other, own)| (own.abs() * (spread(&one) * spread(&other)).sqrt(), one, other))
        .collect();
    ranked.sort_by(|one, other| other.0.total_cmp(&one.0));
    let mut chosen: Vec<Factor> = Vec::new();
    for (_, one, other) in ranked {
        for factor in [one, other] {
            if chosen.len() < ROWS && !chosen.contains(&factor) {
                chosen.push(factor);
            }
        }
    }
    chosen.sort_by_key(|factor| factor.first);
    let text = format!(
        "{} of {} factors are drawn: those whose correlations make most of the spread of predictions; listed: what one profile and software have both of",
        chosen.len(),
        factors.len()
    );
    (chosen, Some(text))
}

/// Blue below zero, paper at it, vermilion above: told apart with any colour vision.
fn ink(correlation: f64, theme: &Theme) -> Ink {
    let end = match correlation < 0.0 {
        true => Ink::solid((0, 92, 158)),
        false => Ink::solid((200, 76, 0)),
    };
    theme.paper.mixed(end, correlation.abs().min(1.0))
}

/// Where the matrix goes.
struct Matrix<'a> {
    data: Area,
    cell: f64,
    theme: &'a Theme,
}

impl Matrix<'_> {
    fn names(&self, scene: &mut Scene, names: &[Called]) {
        let (data, theme) = (&self.data, self.theme);
        for (at, name) in names.iter().enumerate() {
            let middle = (at as f64 + 0.5) * self.cell;
            name.write(scene, (NAMES, data.top + middle), NAMES - MARGIN, theme);
            let text = name.line(NAME_SIZE, ABOVE - 14.0);
            let x = data.left + middle + NAME_SIZE * font::CAPITAL / 2.0;
            scene.text(Label::new(text, (x, data.top - 7.0), NAME_SIZE, theme.text).upright());
        }
    }

    fn cells(&self, scene: &mut Scene, shown: &[Factor], of: impl Fn(&Factor, &Factor) -> f64) {
        let (data, theme) = (&self.data, self.theme);
        let end = |at: usize| at as f64 * self.cell;
        for (row, one) in shown.iter().enumerate() {
            for (column, other) in shown.iter().enumerate() {
                let own = if row == column { 1.0 } else { of(one, other) };
                let area = Area {
                    left: data.left + end(column),
                    right: data.left + end(column + 1),
                    top: data.top + end(row),
                    bottom: data.top + end(row + 1),
                };
                let ink = if row == column { theme.gridline } else { ink(own, theme) };
                scene.fill(area, ink);
                if row != column && self.cell >= FIGURE && own.abs() >= 0.05 {
                    self.figure(scene, &area, own);
                }
            }
        }
        for at in 0..=shown.len() {
            let (x, y) = (data.left + end(at), data.top + end(at));
            scene.rule((x, data.top), (x, data.bottom), 1.0, theme.gridline);
            scene.rule((data.left, y), (data.right, y), 1.0, theme.gridline);
        }
    }

    /// A correlation in its cell, without the zero before its point.
    fn figure(&self, scene: &mut Scene, area: &Area, own: f64) {
        let text = format!("{own:.2}").replacen("0.", ".", 1).replace('-', "−");
        let strong = own.abs() > 0.55;
        let ink = if strong { Ink::solid((255, 255, 255)) } else { self.theme.text };
        let (x, y) = area.center();
        let at = (x, y + FIGURE_SIZE * font::CAPITAL / 2.0);
        scene.text(Label::new(text, at, FIGURE_SIZE, ink).anchored(Anchor::Middle));
    }

    /// What colours mean, below.
    fn scale(&self, scene: &mut Scene) {
        let (data, theme) = (&self.data, self.theme);
        let (steps, width) = (60, 300.0);
        let (left, top) = (data.left, data.bottom + 18.0);
        for step in 0..steps {
            let share = (step as f64 + 0.5) / f64::from(steps);
            let x = left + width * f64::from(step) / f64::from(steps);
            let area =
                Area { left: x, right: x + width / f64::from(steps), top, bottom: top + 12.0 };
            scene.fill(area, ink(2.0 * share - 1.0, theme));
        }
        for (share, text) in [(0.0, "−1"), (0.25, "−0.5"), (0.5, "0"), (0.75, "0.5"), (1.0, "1")]
        {
            let x = left + width * share;
            scene.rule((x, top + 12.0), (x, top + 17.0), 1.0, theme.frame);
            let at = (x, top + 21.0 + TICK_SIZE * font::CAPITAL);
            scene.text(Label::new(text, at, TICK_SIZE, theme.quiet).anchored(Anchor::Middle));
        }
    }
}

/// The strongest pairs, two lines each.
fn list(
    scene: &mut Scene,
    column: &Area,
    pairs: &[(Factor, Factor, f64)],
    names: &Names,
    theme: &Theme,
) {
    let (left, line) = (column.left, 18.0);
    let mut baseline = column.top + 14.0;
    let head = if pairs.is_empty() {
        "no two go together by 0.3 or more"
    } else {
        "strongest correlations"
    };
    scene.text(Label::new(head, (left, baseline), 14.0, theme.quiet).bold());
    baseline += 26.0;
    for (one, other, own) in pairs.iter().take(PAIRS) {
        if baseline + 2.0 * line > column.bottom {
            return;
        }
        let swatch =
            Area { left, right: left + 46.0, top: baseline - 12.0, bottom: baseline + 6.0 };
        scene.fill(swatch, ink(*own, theme));
        let ink = if own.abs() > 0.55 { Ink::solid((255, 255, 255)) } else { theme.text };
        let text = format!("{own:+.2}").replace('-', "−");
        let at = (swatch.center().0, baseline + 1.5);
        scene.text(Label::new(text, at, NAME_SIZE, ink).anchored(Anchor::Middle));
        for (drop, factor) in [(0.0, one), (line, other)] {
            let room = column.right - left - 54.0;
            let text = names.of_factor(factor).line(NAME_SIZE, room);
            let at = (left + 54.0, baseline + drop);
            scene.text(Label::new(text, at, NAME_SIZE, theme.text));
        }
        baseline += 2.0 * line + 10.0;
    }
    if let Some(rest) = pairs.len().checked_sub(PAIRS).filter(|rest| *rest > 0) {
        let text = format!("and {rest} more of 0.3 or above");
        scene.text(Label::new(text, (left, baseline), NAME_SIZE, theme.quiet));
    }
}
