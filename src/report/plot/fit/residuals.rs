//! How many deviations measurements are off by, before the fit and after it: a row each, or a row a case or a
//! profile where there are many.

use super::super::axis::Axis;
use super::super::called::{self, Called, counted, quantities, worded};
use super::super::font;
use super::super::frame::{LABEL_SIZE, MARGIN};
use super::super::legend::Legend;
use super::super::scene::{Anchor, Area, Label, Scene};
use super::super::sheet::{Sheet, across, data_right, nothing, size, striped};
use super::super::signs::{Sign, beyond};
use super::super::theme::Theme;
use crate::calibrate::{FitReport, FittedSight, Quantity};
use crate::uncertainty::Z90;
use std::collections::BTreeMap;

/// Rows that are told apart on a page.
const ROWS: usize = 64;
/// Height of a row, and of the data at least.
const ROW: (f64, f64) = (16.0, 30.0);
const LEAST: f64 = 640.0;
/// Right end of the names.
const NAMES: f64 = 350.0;
const BELOW: f64 = 68.0;
const RADIUS: f64 = 3.8;
/// Text at an edge that something lies beyond.
const BEYOND_SIZE: f64 = 12.0;
/// Room for it at both sides, where something lies beyond.
const EDGE: f64 = 52.0;

/// A row of the picture.
struct Row<'a> {
    called: Called,
    sights: Vec<&'a FittedSight>,
}

impl Row<'_> {
    fn has(&self, quantity: Quantity) -> bool {
        self.sights.iter().any(|sight| sight.quantity == quantity)
    }
}

/// Before or after.
#[derive(Clone, Copy)]
struct Side {
    name: &'static str,
    pull: fn(&FittedSight) -> f64,
}

const SIDES: [Side; 2] = [
    Side { name: "before the fit", pull: FittedSight::pull_before },
    Side { name: "after the fit", pull: |sight| sight.pull },
];

pub(super) fn compose(report: &FitReport, theme: &Theme) -> (Scene, (u32, u32)) {
    let (rows, grain) = rows(report);
    let title =
        format!("{}: residuals of {}", report.name, counted(report.sights.len(), "measurement"));
    let said = "ln(predicted / measured) in standard deviations: before, of what the priors allow; after, of what the \
                fit leaves; band: ±1.64, where 90 of 100 belong";
    let sheet = Sheet::new(&title, &[said.to_owned(), grain.to_owned()], theme);
    let wanted = rows.len() as f64 * ROW.0;
    let height = (sheet.top + 30.0 + wanted.max(LEAST) + BELOW).max(900.0);
    let tallest = (height - sheet.top - 30.0 - BELOW).min(rows.len() as f64 * ROW.1).max(120.0);
    let column = sheet.column(height - MARGIN);
    let top = sheet.top + 30.0;
    let page = Area { left: NAMES + 12.0, right: data_right(), top, bottom: top + tallest };
    let height = (page.bottom + BELOW).max(480.0);
    let mut scene = sheet.on_paper(height, theme);
    if rows.is_empty() {
        nothing(&mut scene, &page, "nothing is measured", theme);
        return (scene, size(height));
    }
    let limit = limit(report);
    let lane = tallest / rows.len() as f64;
    for (at, row) in rows.iter().enumerate() {
        let middle = page.top + (at as f64 + 0.5) * lane;
        row.called.write(&mut scene, (NAMES, middle), NAMES - MARGIN, theme);
    }
    let width = (page.width() - 24.0) / 2.0;
    let far = |sight: &FittedSight| SIDES.iter().any(|side| (side.pull)(sight).abs() > limit);
    let beyond_any = report.sights.iter().any(far);
    for (at, side) in SIDES.into_iter().enumerate() {
        let left = page.left + at as f64 * (width + 24.0);
        let data = Area { left, right: left + width, ..page };
        let panel = Panel { data, axis: axis(limit, data.width(), beyond_any), limit, side };
        panel.draw(&mut scene, &rows, &quantities(report), theme);
    }
    explain(
        &mut Legend::new(&mut scene, theme, Area { bottom: height - MARGIN, ..column }),
        report,
        theme,
    );
    (scene, size(height))
}

/// Rows as fine as the page allows, and what one is.
fn rows(report: &FitReport) -> (Vec<Row<'_>>, &'static str) {
    let several = called::several_cases(report);
    let plain = |name: &str| Called { name: name.to_owned(), of: String::new() };
    let by_id = grouped(report, |sight| sight.id.as_str(), |sight| called::sight(sight, several));
    if by_id.len() <= ROWS {
        return (by_id, "a row: what was measured together");
    }
    let by_case = grouped(report, |sight| sight.case.as_str(), |sight| plain(&sight.case));
    if by_case.len() <= ROWS {
        return (by_case, "a row: all measurements of a case");
    }
    let by_hardware = grouped(
        report,
        |sight| sight.hardware.as_str(),
        |sight| plain(&called::stem(&sight.hardware)),
    );
    if by_hardware.len() <= ROWS {
        return (by_hardware, "a row: all measurements on a profile");
    }
    let mut first = by_hardware;
    first.truncate(ROWS);
    (first, "a row: all measurements on a profile; the first 64 profiles are drawn")
}

fn grouped<'a>(
    report: &'a FitReport,
    key: impl Fn(&'a FittedSight) -> &'a str,
    called: impl Fn(&FittedSight) -> Called,
) -> Vec<Row<'a>> {
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    let mut rows: Vec<Row<'a>> = Vec::new();
    for sight in &report.sights {
        let at = *places.entry(key(sight)).or_insert(rows.len());
        match rows.get_mut(at) {
            Some(row) => row.sights.push(sight),
            None => rows.push(Row { called: called(sight), sights: vec![sight] }),
        }
    }
    rows
}

/// The end of both axes: nearly all residuals lie within.
fn limit(report: &FitReport) -> f64 {
    let given = report.sights.iter().filter(|sight| sight.given);
    let both = given.flat_map(|sight| [sight.pull, sight.pull_before()]);
    let mut sizes: Vec<f64> = both.map(f64::abs).filter(|size| size.is_finite()).collect();
    sizes.sort_by(f64::total_cmp);
    let most = sizes.get(sizes.len() * 99 / 100).or(sizes.last()).copied().unwrap_or(0.0);
    (most * 1.15).clamp(3.0, 8.0).ceil()
}

/// An axis to a limit on both sides, and past it where there is something to point at.
fn axis(limit: f64, width: f64, is_wider: bool) -> Axis {
    let ticks = Axis::bare(-limit, limit, 8, "");
    let past = if is_wider { limit * EDGE / (width / 2.0 - EDGE) } else { limit * 0.03 };
    Axis { low: -limit - past, high: limit + past, ..ticks }
}

/// One side of the picture.
struct Panel {
    data: Area,
    axis: Axis,
    /// The residual from which on there is only an arrow.
    limit: f64,
    side: Side,
}

impl Panel {
    fn draw(&self, scene: &mut Scene, rows: &[Row<'_>], quantities: &[Quantity], theme: &Theme) {
        let data = &self.data;
        striped(scene, data, rows.len(), theme);
        let x = |value: f64| data.left + self.axis.share(value) * data.width();
        let band = Area { left: x(-Z90), right: x(Z90), ..*data };
        scene.fill(band, theme.inference.faded(0.25));
        across(scene, data, &self.axis, "standard deviations", theme);
        scene.rule((x(0.0), data.top), (x(0.0), data.bottom), 1.0, theme.frame);
        let at = (data.center().0, data.top - 10.0);
        let label = Label::new(self.side.name, at, LABEL_SIZE, theme.text).bold();
        scene.text(label.anchored(Anchor::Middle));
        let lane = data.height() / rows.len().max(1) as f64;
        let apart = (lane / (quantities.len() + 1) as f64).min(9.0);
        for (at, row) in rows.iter().enumerate() {
            let middle = data.top + (at as f64 + 0.5) * lane;
            let mut beyond = [Vec::new(), Vec::new()];
            let own: Vec<Quantity> = quantities.iter().copied().filter(|of| row.has(*of)).collect();
            for sight in &row.sights {
                let place = own.iter().position(|of| *of == sight.quantity).unwrap_or(0);
                let y = middle + (place as f64 - (own.len() as f64 - 1.0) / 2.0) * apart;
                let own = quantities.iter().position(|of| *of == sight.quantity).unwrap_or(0);
                let pull = (self.side.pull)(sight);
                if !pull.is_finite() {
                    continue;
                }
                if pull.abs() <= self.limit {
                    let sign = Sign::of(own, theme);
                    match sight.given {
                        true => sign.draw(scene, (x(pull), y), RADIUS, theme),
                        false => sign.outline(scene, (x(pull), y), RADIUS + 0.6, theme),
                    }
                } else if let Some(side) = beyond.get_mut(usize::from(pull > 0.0)) {
                    side.push((pull, y, Sign::of(own, theme)));
                }
            }
            for own in beyond {
                self.write_beyond(scene, middle, &own, theme);
            }
        }
    }

    /// Arrows at an edge with how far away what they point to is.
    fn write_beyond(
        &self,
        scene: &mut Scene,
        middle: f64,
        own: &[(f64, f64, Sign)],
        theme: &Theme,
    ) {
        let Some((first, ..)) = own.first() else { return };
        let (edge, outwards, anchor) = match *first < 0.0 {
            true => (self.data.left + 7.0, -1.0, Anchor::Start),
            false => (self.data.right - 7.0, 1.0, Anchor::End),
        };
        for (_, y, sign) in own {
            beyond(scene, (edge, *y), (outwards, 0.0), sign.ink);
        }
        let far =
            own.iter().map(|(pull, ..)| *pull).reduce(|a, b| if a.abs() > b.abs() { a } else { b });
        let Some(far) = far else { return };
        let more = if own.len() > 1 { format!(" (of {})", own.len()) } else { String::new() };
        let text = format!("{far:.0}{more}").replace('-', "−");
        let at = (edge - outwards * 9.0, middle + BEYOND_SIZE * font::CAPITAL / 2.0);
        scene.text(Label::new(text, at, BEYOND_SIZE, theme.text).anchored(anchor));
    }
}

fn explain(legend: &mut Legend<'_>, report: &FitReport, theme: &Theme) {
    let told = |sight: &&FittedSight| {
        sight.given && sight.pull.is_finite() && sight.pull_before().is_finite()
    };
    let given: Vec<&FittedSight> = report.sights.iter().filter(told).collect();
    let within = |pull: fn(&FittedSight) -> f64| {
        let own = given.iter().filter(|sight| pull(sight).abs() <= Z90).count();
        format!("{own} of {}", given.len())
    };
    let rms = |pull: fn(&FittedSight) -> f64| {
        let sum: f64 = given.iter().map(|sight| pull(sight).powi(2)).sum();
        format!("{:.2} σ", (sum / given.len().max(1) as f64).sqrt())
    };
    let [before, after] = SIDES.map(|side| side.pull);
    legend.figures(&[
        ("measurements", report.sights.len().to_string()),
        ("numbers fitted", report.numbers.len().to_string()),
        ("within ±1.64 σ before", within(before)),
        ("within ±1.64 σ after", within(after)),
        ("root mean square before", rms(before)),
        ("root mean square after", rms(after)),
    ]);
    legend.heading("residual of");
    for (at, quantity) in quantities(report).into_iter().enumerate() {
        legend.sample(worded(quantity).0, |scene, place| {
            Sign::of(at, theme).draw(scene, place, 5.0, theme);
        });
    }
    legend.space();
    if report.sights.iter().any(|sight| !sight.given) {
        legend.sample("not given to the fit", |scene, place| {
            Sign::of(0, theme).outline(scene, place, 5.0, theme);
        });
    }
    legend.sample("beyond the edge, with how far", |scene, place| {
        beyond(scene, place, (1.0, 0.0), theme.frame);
    });
    legend.sample("90 of 100 belong here", |scene, (x, y)| {
        let area = Area { left: x - 12.0, right: x + 12.0, top: y - 7.0, bottom: y + 7.0 };
        scene.fill(area, theme.inference.faded(0.25));
    });
}
