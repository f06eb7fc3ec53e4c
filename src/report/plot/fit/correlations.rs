//! Which numbers go together: a matrix of correlations, and the strongest of them as a list.
//!
//! Numbers that share one factor are one row.

use super::super::called::{self, Called, NAME_SIZE, counted};
use super::super::font;
use super::super::frame::{LEGEND, MARGIN, TICK_SIZE};
use super::super::scene::{Anchor, Area, Ink, Label, Scene};
use super::super::sheet::{Sheet, nothing, size};
use super::super::theme::Theme;
use crate::calibrate::FitReport;

/// Rows of the matrix.
const ROWS: usize = 40;
/// Right end of the names at the left, and height of those above.
const NAMES: f64 = 366.0;
const ABOVE: f64 = 226.0;
/// Side of a cell, least and most, and of one that has room for its figure.
const CELL: (f64, f64) = (17.0, 46.0);
const FIGURE: f64 = 29.0;
const FIGURE_SIZE: f64 = 11.0;
/// Correlation of numbers that are one and the same factor.
const SAME: f64 = 1.0 - 1e-6;
/// Pairs that are listed, and the least correlation of one.
const PAIRS: usize = 12;
const WORTH: f64 = 0.3;
const BELOW: f64 = 70.0;

/// Numbers that move as one.
struct Factor {
    /// The first of them, by index.
    first: usize,
    count: usize,
}

pub(super) fn compose(report: &FitReport, theme: &Theme) -> (Scene, (u32, u32)) {
    let factors = factors(report);
    let of = |one: &Factor, other: &Factor| {
        report.correlations.get((one.first, other.first)).copied().unwrap_or(0.0)
    };
    let (shown, chosen) = shown(&factors, of);
    let title = format!(
        "{}: correlations of {} after the fit",
        report.name,
        counted(report.numbers.len(), "number")
    );
    let mut subtitle = vec![
        "of their logarithms: near −1 only the sum of two effects is known, near +1 only the difference; the measurements do not tell them apart"
            .to_owned(),
    ];
    if factors.len() < report.numbers.len() {
        let alike = report.numbers.len() - factors.len();
        subtitle.push(format!("{alike} share the factor of another and are in its row (+)"));
    }
    subtitle.extend(chosen);
    let sheet = Sheet::new(&title, &subtitle, theme);
    let right = f64::from(super::super::SIZE.0) - MARGIN - LEGEND - 66.0;
    let room = right - NAMES - 10.0;
    let cell = (room / shown.len().max(1) as f64).clamp(CELL.0, CELL.1);
    let side = cell * shown.len() as f64;
    let top = sheet.top + ABOVE;
    let data = Area { left: NAMES + 10.0, right: NAMES + 10.0 + side, top, bottom: top + side };
    let height = (data.bottom + BELOW).max(720.0);
    let column = sheet.column(height - MARGIN);
    let mut scene = sheet.on_paper(height, theme);
    if shown.is_empty() {
        nothing(&mut scene, &Area { right, bottom: 600.0, ..data }, "no number is fitted", theme);
        return (scene, size(height));
    }
    let names = called::numbers(report);
    let named = |factor: &Factor| {
        let mut called = names
            .get(factor.first)
            .cloned()
            .unwrap_or(Called { name: String::new(), of: String::new() });
        if factor.count > 1 {
            called.name.push_str(&format!(" +{}", factor.count - 1));
        }
        called
    };
    let own: Vec<Called> = shown.iter().map(|factor| named(factor)).collect();
    let matrix = Matrix { data, cell, theme };
    matrix.names(&mut scene, &own);
    matrix.cells(&mut scene, &shown, of);
    matrix.scale(&mut scene);
    let pairs = pairs(&factors, of);
    list(&mut scene, &column, &pairs, |factor| named(factor), theme);
    (scene, size(height))
}

/// Numbers by the factor that they share, in their order.
fn factors(report: &FitReport) -> Vec<Factor> {
    let mut factors: Vec<Factor> = Vec::new();
    for at in 0..report.numbers.len() {
        let same = |factor: &&mut Factor| {
            report.correlations.get((factor.first, at)).is_some_and(|own| *own >= SAME)
        };
        match factors.iter_mut().find(same) {
            Some(factor) => factor.count += 1,
            None => factors.push(Factor { first: at, count: 1 }),
        }
    }
    factors
}

/// Pairs of factors by the strength of their correlation, the strongest first.
fn pairs<'a>(
    factors: &'a [Factor],
    of: impl Fn(&Factor, &Factor) -> f64,
) -> Vec<(&'a Factor, &'a Factor, f64)> {
    let mut pairs = Vec::new();
    for (at, one) in factors.iter().enumerate() {
        for other in factors.iter().skip(at + 1) {
            let own = of(one, other);
            if own.abs() >= WORTH {
                pairs.push((one, other, own));
            }
        }
    }
    // A stable sort: equal ones stay in the order of the numbers.
    pairs.sort_by(|one, other| other.2.abs().total_cmp(&one.2.abs()));
    pairs
}

/// Factors that are drawn, in their order, and how they were chosen where there are more.
fn shown(
    factors: &[Factor],
    of: impl Fn(&Factor, &Factor) -> f64,
) -> (Vec<&Factor>, Option<String>) {
    if factors.len() <= ROWS {
        return (factors.iter().collect(), None);
    }
    let mut chosen: Vec<&Factor> = Vec::new();
    for (one, other, _) in pairs(factors, of) {
        for factor in [one, other] {
            let is_new = chosen.iter().all(|known| known.first != factor.first);
            if chosen.len() < ROWS && is_new {
                chosen.push(factor);
            }
        }
        if chosen.len() == ROWS {
            break;
        }
    }
    chosen.sort_by_key(|factor| factor.first);
    let text = format!(
        "the {} of {} factors with the strongest correlations are drawn",
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

    fn cells(&self, scene: &mut Scene, shown: &[&Factor], of: impl Fn(&Factor, &Factor) -> f64) {
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
    pairs: &[(&Factor, &Factor, f64)],
    named: impl Fn(&Factor) -> Called,
    theme: &Theme,
) {
    let (left, line) = (column.left - 30.0, 18.0);
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
        scene.text(Label::new(text, at, 12.5, ink).anchored(Anchor::Middle));
        for (drop, factor) in [(0.0, one), (line, other)] {
            let room = column.right - left - 54.0;
            let text = named(factor).line(NAME_SIZE, room);
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
