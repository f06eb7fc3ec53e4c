//! A capture against time: power, supply lines and counters in panels over one time axis, windows and
//! the lines of logs above them, digital lines below.

mod bands;
mod panel;

use super::SIZE;
use super::buckets::Grid;
use super::font;
use super::frame::{LABEL_SIZE, LEFT, LEGEND, MARGIN, heading, time_axis};
use super::legend::Legend;
use super::scene::{Anchor, Area, Ink, Label, Scene};
use super::stack::{VEIL, hatching};
use super::strip::{GAP, Strip};
use super::theme::{self, DARK, LIGHT, Theme};
use crate::capture::Measured;
use crate::trace::{Bucket, Bucketed, ChannelKind, Teller};
use crate::units::{Seconds, SimTime, engineering};
use bands::{Digital, Ticks};
use panel::{Drawn, Panel};

/// Buckets that a picture of a capture shows: one a pixel of its width.
pub const COLUMNS: usize = SIZE.0 as usize - (MARGIN + LEGEND + 30.0 + LEFT) as usize;

/// Supply lines with a panel of their own; of more, those that carry most.
const MOST_RAILS: usize = 4;
/// Counters in one panel.
const MOST_COUNTERS: usize = 7;
/// Room between panels, and for the name of one.
const BETWEEN: f64 = 14.0;
const NAME: f64 = 18.0;
/// Panels that the usual height has room for, and how much higher each further one makes the picture.
const FITTING: usize = 4;
const PANEL: u32 = 120;
/// Windows listed beside the data.
const LISTED: usize = 8;

/// What to draw of a capture.
#[derive(Debug, Clone)]
pub struct CapturePicture<'a> {
    /// The headline.
    pub title: String,
    /// The capture.
    pub measured: &'a Measured,
    /// The sums in `bucketed`: the first is the main one, the others are drawn below it.
    pub sums: Vec<String>,
    /// Its power and its counters in [`COLUMNS`] buckets.
    pub bucketed: &'a Bucketed,
    /// True where the main sum is all that the capture measures, so that its figures are too.
    pub is_whole: bool,
    /// Light text on dark paper.
    pub dark: bool,
}

/// The picture and its size, which grows with the number of panels.
pub(super) fn compose(picture: &CapturePicture<'_>) -> (Scene, (u32, u32)) {
    let theme = if picture.dark { &DARK } else { &LIGHT };
    let panels = panels(picture, theme);
    let more = panels.len().saturating_sub(FITTING) as u32;
    let size = (SIZE.0, SIZE.1 + more * PANEL);
    let (width, height) = (f64::from(size.0), f64::from(size.1));
    let mut scene = Scene::default();
    scene.fill(Area { left: 0.0, top: 0.0, right: width, bottom: height }, theme.paper);
    let top = heading(&mut scene, &picture.title, &subtitle(picture), theme);
    let bounds = picture.bucketed.bounds;
    let (from, to, count) = (bounds.from(), bounds.to(), bounds.count());
    let grid = Grid { from, to, count };
    let page = Area { left: LEFT, right: LEFT + count as f64, top, bottom: height - 68.0 };

    let measured = picture.measured;
    let ticks = Ticks::of(&measured.summary.marks, measured.windows.matched.as_ref(), &grid);
    let windows = bands::windows(measured, &grid);
    let strip = Strip::of(&windows, &grid, LEFT, None, theme);
    let digital = Digital::of(&measured.summary.header.lines, &measured.summary, &grid);
    ticks.draw(&mut scene, &page, theme);
    let band = Area { top: page.top + ticks.height(), ..page };
    strip.draw(&mut scene, &band, theme);
    let data = Area {
        top: band.top + strip.height() + GAP,
        bottom: page.bottom - digital.height(),
        ..page
    };
    for (panel, area) in panels.iter().zip(areas(&panels, &data)) {
        bands::shade(&mut scene, &windows, &grid, &area, theme);
        panel.draw(&mut scene, &area, theme);
    }
    digital.draw(&mut scene, &Area { top: data.bottom, ..page }, theme);
    time_axis(&mut scene, &page, from, to, theme);

    let column = Area { left: width - MARGIN - LEGEND, right: width - MARGIN, ..page };
    let column = Area { bottom: height - MARGIN, ..column };
    explain(&mut Legend::new(&mut scene, theme, column), picture, &panels, theme);
    (scene, size)
}

/// What a person should know first, in at most four lines.
fn subtitle(picture: &CapturePicture<'_>) -> Vec<String> {
    let measured = picture.measured;
    let mut lines = Vec::new();
    let supply = measured.layout.supply.map_or_else(String::new, |v| format!(" at {v}"));
    let format = &measured.layout.format;
    let what = match picture.sums.first() {
        None => "no power".to_owned(),
        Some(_) if picture.is_whole => "total power".to_owned(),
        Some(line) => format!("supply line {line}"),
    };
    lines.push(format!("{format}, {what}{supply}, {} in all", measured.summary.duration));
    if let Some(energy) = measured.energy_per_inference.filter(|_| picture.is_whole) {
        let windows = measured.measured.len();
        let published =
            measured.published().map_or_else(String::new, |p| format!("; published {p}"));
        let of = match windows {
            1 => "in one window".to_owned(),
            many => format!("the median of {many} windows"),
        };
        lines.push(format!("{energy} an inference, {of}{published}"));
    }
    let on_host = measured.summary.marks.iter().filter(|m| m.teller == Teller::Host).count();
    match &measured.windows.matched {
        Some(matched) if on_host > 0 => lines.push(format!(
            "the host's log is moved onto the meter's clock: {} edges, {} off at most",
            matched.fit.edges, matched.fit.worst
        )),
        None if on_host > 0 => lines.push(format!(
            "{on_host} lines of the host's log are not drawn: how its clock reads on the meter's is not known"
        )),
        _ => {}
    }
    lines.extend(measured.windows.remarks.first().cloned());
    lines
}

/// The main sum, the supply lines, and a panel for each kind of counter.
fn panels<'a>(picture: &CapturePicture<'a>, theme: &Theme) -> Vec<Panel<'a>> {
    let sums = &picture.bucketed.sums;
    let mut shown: Vec<usize> = (1..sums.len().min(picture.sums.len())).collect();
    let energy = |at: &usize| sums.get(*at).map_or(0.0, |of| integral(of).abs());
    shown.sort_by(|a, b| energy(b).total_cmp(&energy(a)));
    shown.truncate(MOST_RAILS);
    shown.sort_unstable();
    let mut panels = Vec::new();
    for (number, at) in std::iter::once(0).chain(shown).enumerate() {
        let (Some(buckets), Some(name)) = (sums.get(at), picture.sums.get(at)) else { continue };
        let ink = if number == 0 { theme.total } else { theme::load(number - 1, theme) };
        let series = vec![Drawn { name: name.clone(), ink, buckets }];
        panels.push(Panel::new("power", ChannelKind::Power, series));
    }
    panels.extend(counter_panels(picture, theme));
    if let [only] = &mut panels[..] {
        only.name.clear();
    }
    panels
}

fn counter_panels<'a>(picture: &CapturePicture<'a>, theme: &Theme) -> Vec<Panel<'a>> {
    let counters = &picture.measured.summary.header.counters;
    let kinds =
        [ChannelKind::Temperature, ChannelKind::Frequency, ChannelKind::Share, ChannelKind::Other];
    let mut panels = Vec::new();
    for kind in kinds {
        let of_kind = counters.iter().zip(&picture.bucketed.counters).filter(|c| c.0.kind == kind);
        let known = of_kind.filter(|c| c.1.iter().any(|bucket| bucket.known > SimTime::ZERO));
        let drawn = known.take(MOST_COUNTERS).enumerate();
        let series: Vec<_> = drawn
            .map(|(at, (counter, buckets))| Drawn {
                name: counter.name.clone(),
                ink: theme::load(at, theme),
                buckets,
            })
            .collect();
        if !series.is_empty() {
            panels.push(Panel::new(kind.name(), kind, series));
        }
    }
    panels
}

/// The main panel twice as high as the others.
fn areas(panels: &[Panel<'_>], data: &Area) -> Vec<Area> {
    let heading = |panel: &Panel<'_>| if panel.name.is_empty() { 0.0 } else { NAME };
    let taken: f64 =
        panels.iter().map(heading).sum::<f64>() + BETWEEN * panels.len().saturating_sub(1) as f64;
    let unit = (data.height() - taken) / (panels.len() + 1) as f64;
    let mut top = data.top;
    let area = |(at, panel): (usize, &Panel<'_>)| {
        let height = unit * if at == 0 { 2.0 } else { 1.0 };
        let from = top + heading(panel);
        top = from + height + BETWEEN;
        Area { top: from, bottom: from + height, ..*data }
    };
    panels.iter().enumerate().map(area).collect()
}

fn integral(buckets: &[Bucket]) -> f64 {
    buckets.iter().map(Bucket::integral).sum()
}

fn known(buckets: &[Bucket]) -> f64 {
    buckets.iter().map(|bucket| bucket.known.seconds().0).sum()
}

/// The column beside the data.
fn explain(
    legend: &mut Legend<'_>,
    picture: &CapturePicture<'_>,
    panels: &[Panel<'_>],
    theme: &Theme,
) {
    let text = |value: f64, unit: &str| engineering(value, unit).replace('-', "−");
    let bounds = picture.bucketed.bounds;
    let Seconds(span) = bounds.to().since(bounds.from()).seconds();
    if let Some(main) = picture.bucketed.sums.first() {
        let (energy, over) = (integral(main), known(main));
        let range = |of: fn(&Bucket) -> f64| main.iter().map(of).filter(|v| !v.is_nan());
        let mut figures = vec![("time shown", text(span, "s"))];
        if over > 0.0 {
            figures.push(("energy", text(energy, "J")));
            figures.push(("mean power", text(energy / over, "W")));
            figures
                .push(("largest", text(range(|b| b.most).fold(f64::NEG_INFINITY, f64::max), "W")));
            figures.push(("least", text(range(|b| b.least).fold(f64::INFINITY, f64::min), "W")));
        }
        // Below a picosecond a bucket it is a rounding error of the sum.
        if span - over > span * 1e-9 {
            figures.push(("not measured", text(span - over, "s")));
        }
        legend.figures(&figures);
    }
    key(legend, panels, theme);
    lines(legend, picture);
    counters(legend, picture, panels);
    windows(legend, picture);
}

/// What lines, veils and hatching mean.
fn key(legend: &mut Legend<'_>, panels: &[Panel<'_>], theme: &Theme) {
    let has_veil = panels.iter().any(Panel::has_veil);
    let text = if has_veil { "mean of a pixel; least to largest" } else { "sample and hold" };
    legend.sample(text, |scene, (x, y)| {
        if has_veil {
            let veil = Area { left: x - 15.0, right: x + 7.0, top: y - 7.0, bottom: y + 7.0 };
            scene.fill(veil, theme.total.faded(VEIL));
        }
        scene.rule((x - 15.0, y), (x + 7.0, y), 1.5, theme.total);
    });
    if panels.iter().any(Panel::has_gap) {
        legend.sample("not measured", |scene, (x, y)| {
            panel::hatch(scene, x - 15.0, x + 7.0, y - 7.0, y + 7.0, theme);
        });
    }
    legend.space();
}

/// Supply lines with what they carry.
fn lines(legend: &mut Legend<'_>, picture: &CapturePicture<'_>) {
    let sums = picture.sums.iter().zip(&picture.bucketed.sums).skip(1);
    let rows: Vec<(String, String)> = sums
        .map(|(name, buckets)| {
            let (energy, over) = (integral(buckets), known(buckets));
            let mean = if over > 0.0 { engineering(energy / over, "W") } else { "—".to_owned() };
            let value = format!("{}   {mean}", engineering(energy, "J")).replace('-', "−");
            (fitted(name, &value), value)
        })
        .collect();
    if !rows.is_empty() {
        legend.heading("supply lines: energy, mean power");
        legend.figures(&rows.iter().map(|r| (r.0.as_str(), r.1.clone())).collect::<Vec<_>>());
    }
    let left_out = rows.len().saturating_sub(MOST_RAILS);
    if left_out > 0 {
        legend.note(&format!("{left_out} of them have no panel: --rail NAME draws one"));
    }
}

fn counters(legend: &mut Legend<'_>, picture: &CapturePicture<'_>, panels: &[Panel<'_>]) {
    // A panel of one is named by its heading.
    let several = |panel: &&Panel<'_>| panel.kind != ChannelKind::Power && panel.series.len() > 1;
    for panel in panels.iter().filter(several) {
        let key: Vec<(String, Ink)> =
            panel.series.iter().map(|series| (series.name.clone(), series.ink)).collect();
        legend.key(panel.what, &key);
        let all = &picture.measured.summary.header.counters;
        let of_kind = all.iter().filter(|counter| counter.kind == panel.kind).count();
        if of_kind > MOST_COUNTERS {
            legend.note(&format!("and {} more", of_kind - MOST_COUNTERS));
        }
    }
}

/// Windows with their mean power and, where it is known, the energy of one inference.
fn windows(legend: &mut Legend<'_>, picture: &CapturePicture<'_>) {
    let bounds = picture.bucketed.bounds;
    let inside = |w: &&crate::capture::MeasuredWindow| {
        w.window.stop > bounds.from() && w.window.start < bounds.to()
    };
    let all: Vec<_> = picture.measured.measured.iter().filter(inside).collect();
    if all.is_empty() || !picture.is_whole {
        return;
    }
    let rows: Vec<(String, String)> = all
        .iter()
        .take(LISTED)
        .enumerate()
        .map(|(number, w)| {
            let mean = w.mean().map_or_else(|| "—".to_owned(), |mean| mean.to_string());
            let each = w.per_inference.map_or_else(String::new, |each| format!("   {each}"));
            let value = format!("{mean}{each}").replace('-', "−");
            (fitted(&bands::name(&w.window, number), &value), value)
        })
        .collect();
    let has_each = all.iter().any(|window| window.per_inference.is_some());
    legend.heading(if has_each { "windows: mean, an inference" } else { "windows: mean power" });
    legend.figures(&rows.iter().map(|r| (r.0.as_str(), r.1.clone())).collect::<Vec<_>>());
    if all.len() > LISTED {
        legend.note(&format!("and {} more", all.len() - LISTED));
    }
}

/// A name with room left for its value.
fn fitted(name: &str, value: &str) -> String {
    let room = LEGEND - font::width(value, LABEL_SIZE, false) - 14.0;
    font::squeezed(name, LABEL_SIZE, false, room)
}

#[cfg(test)]
mod tests;
