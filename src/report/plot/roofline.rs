//! Roofs and the layers below them: a panel an engine, with what its marks mean beside it.
//!
//! A layer is a circle whose area goes with its energy, at the level that limits it most (in time, the one
//! whose ridge it is furthest left of; in energy, the one whose bytes cost most), and a faint dot at each
//! other level. Layers of one kind at one place are one mark.

mod chart;
mod panel;

use super::SIZE;
use super::frame::{LEFT, LEGEND, MARGIN, heading};
use super::legend::Legend;
use super::scene::{Area, Ink, Label, Scene, Shape};
use super::theme::{self, Theme};
use crate::model::OpKind;
use crate::report::Roofs;
use crate::units::engineering;
use chart::{Chart, Role};
use panel::{BAND, DASHES, DOT, DOTS, Drawn, ELSEWHERE, diamond, draw, mark};

/// Panels of a picture, and the share of the energy that is worth one; the rest is in the table.
const PANELS: usize = 4;
const LEAST: f64 = 0.02;
/// Height of a panel where there are several.
const PANEL: f64 = 700.0;
/// Above the panel of an engine: its name.
const NAME: f64 = 30.0;

/// The picture and its size.
pub(super) fn compose(roofs: &Roofs<'_>, theme: &Theme) -> (Scene, (u32, u32)) {
    let (charts, left_out) = charts(roofs);
    let mut scene = Scene::default();
    let mut subtitle = vec![explained(roofs)];
    subtitle.extend(roofs.energy.then(|| roofs.race()));
    subtitle.extend(roofs.prediction.caveats.iter().cloned());
    subtitle.truncate(if left_out.is_some() { 3 } else { 4 });
    subtitle.extend(left_out);
    let mut head = Scene::default();
    let top = heading(&mut head, &roofs.title(), &subtitle, theme);
    let size = match charts.len() {
        0 | 1 => SIZE,
        panels => (SIZE.0, (top + panels as f64 * PANEL + MARGIN).ceil() as u32),
    };
    let (width, height) = (f64::from(size.0), f64::from(size.1));
    scene.fill(Area { left: 0.0, top: 0.0, right: width, bottom: height }, theme.paper);
    scene.shapes.extend(head.shapes);
    let inks = inks(&charts, theme);
    let several = charts.len() > 1;
    let each = if several { PANEL } else { height - top - 12.0 };
    for (at, chart) in charts.iter().enumerate() {
        let top = top + at as f64 * each;
        let page =
            Area { left: LEFT, right: width - MARGIN - LEGEND - 30.0, top, bottom: top + each };
        let page = if several {
            let baseline = top + 20.0;
            let label = Label::new(&chart.engine, (MARGIN, baseline), 17.0, theme.text).bold();
            scene.text(label);
            Area { top: top + NAME, ..page }
        } else {
            page
        };
        let drawn = draw(&mut scene, &page, chart, &inks, roofs.energy, theme);
        let column = Area { left: width - MARGIN - LEGEND, right: width - MARGIN, ..drawn.data };
        let column = Area { bottom: page.bottom, ..column };
        explain(&mut scene, &column, chart, (&inks, &drawn), roofs.energy, theme);
    }
    (scene, size)
}

/// What the picture shows, in a line.
fn explained(roofs: &Roofs<'_>) -> String {
    let stands = match (roofs.level, roofs.energy) {
        (Some(_), _) => "each layer at this level alone",
        (None, true) => "each layer at the level whose bytes cost most",
        (None, false) => "each layer at the level that limits it most",
    };
    if roofs.energy {
        format!("operations a joule at the loads, before losses of regulators; {stands}")
    } else {
        format!("operations a second against operations a byte; {stands}")
    }
}

/// The panels of the engines that take most energy, in the order of the profile, and what is left out.
fn charts(roofs: &Roofs<'_>) -> (Vec<Chart>, Option<String>) {
    let engines = roofs.roofline.engines.iter().zip(&roofs.bands.engines);
    let all = engines.map(|(engine, bands)| Chart::of(roofs, engine, bands));
    let mut charts: Vec<Chart> = all.filter(|chart| !chart.marks.is_empty()).collect();
    let energy = |chart: &Chart| chart.marks.iter().map(|m| m.energy).sum::<f64>();
    let mut ranked: Vec<(String, f64)> =
        charts.iter().map(|chart| (chart.engine.clone(), energy(chart))).collect();
    ranked.sort_by(|a, b| b.1.total_cmp(&a.1));
    let all: f64 = ranked.iter().map(|(_, energy)| energy).sum();
    let worth = ranked.iter().take(PANELS).take_while(|(_, own)| *own >= all * LEAST).count();
    let rest = ranked.split_off(worth.max(1).min(ranked.len()));
    let names: Vec<&str> = rest.iter().map(|(name, _)| name.as_str()).collect();
    charts.retain(|chart| !names.contains(&chart.engine.as_str()));
    let said = (!names.is_empty())
        .then(|| format!("takes little energy and is not drawn: {}", names.join(", ")));
    (charts, said)
}

/// Colours of the kinds: those that take most energy have the ones that are easiest told apart.
fn inks(charts: &[Chart], theme: &Theme) -> Vec<(OpKind, Ink)> {
    let mut kinds: Vec<(OpKind, f64)> = Vec::new();
    for mark in charts.iter().flat_map(|chart| &chart.marks) {
        match kinds.iter_mut().find(|(kind, _)| *kind == mark.kind) {
            Some((_, energy)) => *energy += mark.energy,
            None => kinds.push((mark.kind, mark.energy)),
        }
    }
    kinds.sort_by(|a, b| b.1.total_cmp(&a.1));
    kinds.into_iter().enumerate().map(|(at, (kind, _))| (kind, theme::load(at, theme))).collect()
}

/// The column beside a panel.
fn explain(
    scene: &mut Scene,
    column: &Area,
    chart: &Chart,
    (inks, drawn): (&[(OpKind, Ink)], &Drawn),
    energy: bool,
    theme: &Theme,
) {
    let mut legend = Legend::new(scene, theme, *column);
    let figures: Vec<(&str, String)> =
        chart.figures.iter().map(|(name, value)| (*name, value.clone())).collect();
    legend.figures(&figures);
    legend.key("kind, with its energy", &kinds(chart, inks));
    legend.heading("marks");
    let (radius, most) = drawn.largest;
    let shown = radius.min(10.0);
    // Areas go with energies.
    let worth = most * (shown / radius).powi(2);
    let squares = chart.marks.iter().any(|m| m.square) && chart.has_macs;
    let text = format!("area goes with energy: {}", engineering(worth, "J"));
    let square = !chart.has_macs;
    legend.sample(&text, |scene, at| mark(scene, at, shown, square, theme.frame, theme));
    if squares {
        let text = "without MACs, by element operations";
        legend.sample(text, |scene, at| mark(scene, at, 7.0, true, theme.frame, theme));
    }
    if chart.marks.iter().any(|m| !m.others.is_empty()) {
        legend.sample("the same layers at other levels", |scene, at| {
            for by in [-10.0, 0.0, 10.0] {
                let ink = theme.frame.faded(ELSEWHERE * 1.6);
                scene.shapes.push(Shape::Disc((at.0 + by, at.1), DOT, ink));
            }
        });
    }
    let line = |at: (f64, f64)| [(at.0 - 15.0, at.1), (at.0 + 15.0, at.1)];
    let founded = |of: bool| {
        let slopes = chart.slopes.iter().map(|s| s.unfounded);
        let roofs = chart.ceilings.iter().filter(|c| c.role == Role::Roof);
        roofs.map(|c| c.unfounded).chain(slopes).any(|unfounded| unfounded == of)
    };
    if founded(false) {
        legend.sample("roof", |scene, at| scene.line(&line(at), 2.0, theme.text, None));
    }
    if founded(true) {
        legend.sample("roof on assumed or recalled numbers", |scene, at| {
            scene.line(&line(at), 2.0, theme.text, Some(DASHES));
        });
    }
    let banded = chart.slopes.iter().any(|slope| !slope.band.is_empty());
    if banded || chart.ceilings.iter().any(|c| c.band.is_some_and(|(low, high)| low < high)) {
        legend.sample("its 90 % interval", |scene, at| {
            let (left, right) = (at.0 - 15.0, at.0 + 15.0);
            let area = Area { left, right, top: at.1 - 6.0, bottom: at.1 + 6.0 };
            scene.fill(area, theme.frame.faded(BAND));
        });
    }
    let knee = if energy { "a byte takes as much as its MACs" } else { "ridge" };
    if chart.slopes.iter().any(|slope| !slope.knees.is_empty()) {
        legend.sample(knee, |scene, at| diamond(scene, at, theme));
    }
    if chart.ceilings.iter().any(|c| c.role == Role::Part) || !chart.dotted.is_empty() {
        let text = "switching, or constant power, alone";
        legend.sample(text, |scene, at| scene.line(&line(at), 1.6, theme.quiet, Some(DOTS)));
    }
    if drawn.merged {
        legend.sample("name +3: with three more at one place", |_, _| {});
    }
    if chart.moving > 0 {
        let layers = if chart.moving == 1 { "layer only moves" } else { "layers only move" };
        let text = format!("{} {layers} data: not drawn", chart.moving);
        legend.sample(&text, |_, _| {});
    }
}

/// Kinds in the panel with their energy.
fn kinds(chart: &Chart, inks: &[(OpKind, Ink)]) -> Vec<(String, Ink)> {
    let all: f64 = chart.marks.iter().map(|m| m.energy).sum();
    let of = |kind: OpKind| {
        let own = chart.marks.iter().filter(|m| m.kind == kind);
        own.fold((0usize, 0.0), |(count, energy), m| (count + 1, energy + m.energy))
    };
    let kinds = inks.iter().filter_map(|(kind, ink)| {
        let (count, energy) = of(*kind);
        let share = if all > 0.0 { 100.0 * energy / all } else { 0.0 };
        let text = format!("{kind}: {count}, {} ({share:.0} %)", engineering(energy, "J"));
        (count > 0).then_some((text, *ink))
    });
    kinds.collect()
}

#[cfg(test)]
mod tests;
