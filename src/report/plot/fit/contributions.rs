//! What each measurement told: how much wider the number would be that it tells most about, without it.

use super::super::axis::Axis;
use super::super::called::{self, NAME_SIZE, counted, quantities, worded};
use super::super::font;
use super::super::frame::MARGIN;
use super::super::legend::Legend;
use super::super::scene::{Anchor, Area, Ink, Label, Scene};
use super::super::sheet::{Sheet, across, data_right, nothing, size, striped};
use super::super::signs::Sign;
use super::super::theme::Theme;
use crate::calibrate::{FitReport, FittedSight, Quantity};
use std::collections::BTreeMap;

/// Measurements on a page.
const ROWS: usize = 40;
const ROW: (f64, f64) = (18.0, 30.0);
/// Right end of the names.
const NAMES: f64 = 372.0;
/// Room behind the longest bar, for what it is about.
const ABOUT: f64 = 390.0;
const BELOW: f64 = 62.0;

pub(super) fn compose(report: &FitReport, theme: &Theme) -> (Scene, (u32, u32)) {
    let (shown, chosen) = shown(report);
    let title = format!(
        "{}: what each of {} told",
        report.name,
        counted(report.sights.len(), "measurement")
    );
    let mut subtitle = vec![
        "how much wider the deviation of the number named behind its bar would be if the fit had gone without the measurement"
            .to_owned(),
    ];
    subtitle.extend(chosen);
    let sheet = Sheet::new(&title, &subtitle, theme);
    let top = sheet.top + 26.0;
    let rows = shown.len() as f64;
    let tall = (rows * ROW.1).min((900.0 - top - BELOW).max(rows * ROW.0)).max(60.0);
    let data = Area { left: NAMES + 12.0, right: data_right(), top, bottom: top + tall };
    let height = (data.bottom + BELOW).max(520.0);
    let column = sheet.column(height - MARGIN);
    let mut scene = sheet.on_paper(height, theme);
    if shown.is_empty() {
        nothing(&mut scene, &data, "no measurement told anything about a number", theme);
        return (scene, size(height));
    }
    let most = shown.iter().map(|sight| sight.sharpens() - 1.0).fold(0.0, f64::max).max(0.01);
    let bars = Area { right: data.right - ABOUT, ..data };
    let reach = most * 1.04;
    striped(&mut scene, &data, shown.len(), theme);
    let axis = Axis::percent(0.0, reach, 6);
    across(&mut scene, &bars, &axis, "wider without the measurement (%)", theme);
    scene.rule((bars.left, bars.top), (bars.left, bars.bottom), 1.0, theme.frame);
    let at = (data.right - 6.0, data.top - 8.0);
    let head = Label::new("leverage", at, NAME_SIZE, theme.quiet);
    scene.text(head.anchored(Anchor::End));
    let rows = Rows {
        names: names(report),
        several: called::several_cases(report),
        kinds: quantities(report),
        lane: data.height() / rows,
        data,
        bars,
        axis,
    };
    for (row, sight) in shown.iter().enumerate() {
        rows.draw(&mut scene, row, sight, theme);
    }
    explain(&mut Legend::new(&mut scene, theme, column), report, theme);
    (scene, size(height))
}

/// Rows of measurements.
struct Rows<'a> {
    /// Short names of numbers by their paths.
    names: BTreeMap<&'a str, String>,
    /// True where they are of several cases.
    several: bool,
    kinds: Vec<Quantity>,
    /// Height of a row.
    lane: f64,
    data: Area,
    /// Where bars lie.
    bars: Area,
    axis: Axis,
}

impl Rows<'_> {
    /// A measurement: its name, a bar, what that is about and its leverage.
    fn draw(&self, scene: &mut Scene, row: usize, sight: &FittedSight, theme: &Theme) {
        let Self { data, bars, lane, .. } = self;
        let middle = data.top + (row as f64 + 0.5) * lane;
        let called = called::sight(sight, self.several);
        called.write(scene, (NAMES, middle), NAMES - MARGIN, theme);
        let kind = self.kinds.iter().position(|of| *of == sight.quantity).unwrap_or(0);
        let share = self.axis.share(sight.sharpens() - 1.0).clamp(0.0, 1.0);
        let end = bars.left + share * bars.width();
        let band = |left: f64, right: f64, half: f64| Area {
            left,
            right,
            top: middle - half,
            bottom: middle + half,
        };
        let bar = band(bars.left, end.max(bars.left + 1.0), (lane * 0.3).min(7.0));
        scene.fill(bar, Sign::of(kind, theme).ink);
        let ground = if row % 2 == 1 { theme.shade } else { theme.paper };
        let room = band(end + 8.0, data.right - 64.0, 7.0);
        about(scene, sight, &self.names, (room, ground), theme);
        let at = (data.right - 6.0, middle + NAME_SIZE * font::CAPITAL / 2.0);
        let leverage = format!("{:.0} %", 100.0 * sight.leverage);
        let leverage = Label::new(leverage, at, NAME_SIZE, theme.text);
        scene.text(leverage.anchored(Anchor::End));
    }
}

/// Measurements by what they told, the most first, and how they were chosen where there are more.
fn shown(report: &FitReport) -> (Vec<&FittedSight>, Option<String>) {
    let told = |sight: &&FittedSight| sight.given && sight.tells.is_some();
    let mut all: Vec<&FittedSight> = report.sights.iter().filter(told).collect();
    all.sort_by(|one, other| other.sharpens().total_cmp(&one.sharpens()));
    let rest = all.split_off(ROWS.min(all.len()));
    let next = rest.first().map(|sight| {
        let (most, count) = (100.0 * (sight.sharpens() - 1.0), rest.len());
        format!("the {ROWS} that told most are drawn; the {count} others told {most:.1} % or less")
    });
    (all, next)
}

/// Short names of numbers by their paths.
fn names(report: &FitReport) -> BTreeMap<&str, String> {
    let short = called::numbers(report).into_iter();
    report.numbers.iter().map(|number| number.name.as_str()).zip(short.map(|c| c.name)).collect()
}

/// By how much, and which number, behind a bar.
fn about(
    scene: &mut Scene,
    sight: &FittedSight,
    names: &BTreeMap<&str, String>,
    (room, ground): (Area, Ink),
    theme: &Theme,
) {
    let baseline = room.center().1 + NAME_SIZE * font::CAPITAL / 2.0;
    let figure = format!("{} ", super::super::held_out::percent(sight.sharpens() - 1.0));
    let left = room.left + font::width(&figure, NAME_SIZE, false) + 4.0;
    let path = sight.tells.as_ref().map_or("", |(path, _)| path.as_str());
    let name = names.get(path).map_or(path, String::as_str);
    let name = font::squeezed(name, NAME_SIZE, false, room.right - left);
    // Lines of the axis do not run through the text.
    let right = left + font::width(&name, NAME_SIZE, false) + 3.0;
    scene.fill(Area { left: room.left - 3.0, right, ..room }, ground);
    scene.text(Label::new(figure, (room.left, baseline), NAME_SIZE, theme.text));
    scene.text(Label::new(name, (left, baseline), NAME_SIZE, theme.quiet));
}

fn explain(legend: &mut Legend<'_>, report: &FitReport, theme: &Theme) {
    let given = report.sights.iter().filter(|sight| sight.given).count();
    legend.figures(&[
        ("measurements", report.sights.len().to_string()),
        ("given to the fit", given.to_string()),
        ("no fitted number touches", report.untouched.len().to_string()),
        ("numbers that none touches", report.idle.len().to_string()),
    ]);
    let key: Vec<(String, _)> = quantities(report)
        .into_iter()
        .enumerate()
        .map(|(at, of)| (worded(of).0.to_owned(), Sign::of(at, theme).ink))
        .collect();
    legend.key("measurement of", &key);
    legend.note("leverage: its share of its own prediction");
}
