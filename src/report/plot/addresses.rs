//! A memory plan: a panel for each memory, layers from left to right, addresses upwards, and each tensor
//! a rectangle from the first to the last layer that it is alive at.

use super::SIZE;
use super::axis::Axis;
use super::font;
use super::frame::{LABEL_SIZE, LEFT, LEGEND, MARGIN, gridlines, heading, height_of, value_labels};
use super::legend::Legend;
use super::live::{layer_axis, names_height, short_names};
use super::scene::{Anchor, Area, Ink, Label, Scene};
use super::theme::{self, Theme};
use crate::mapping::{MemoryInUse, MemoryUse, Network, Placed};
use crate::units::Bytes;

/// Memories that are drawn, the nearest to the engine.
const PANELS: usize = 4;
/// Between two panels, where the upper one's name of layers would be.
const GAP: f64 = 46.0;
/// A panel of weights alone needs less of the height.
const WEIGHTS_SHARE: f64 = 0.35;
/// Capacity is drawn where it is at most so many times what is in use.
const CAPACITY_SHOWN: f64 = 2.5;
const NAME_SIZE: f64 = 12.0;
const PADDING: f64 = 4.0;
const NOTE_SIZE: f64 = 13.0;
/// Series whose colours tensors take in turn: all but that of the peak.
const COLOURS: [usize; 6] = [0, 1, 2, 3, 4, 6];

/// What is drawn: a network, where its tensors live, and names for both.
#[derive(Debug, Clone, Copy)]
pub struct MemoryPicture<'a> {
    /// The network.
    pub network: &'a Network,
    /// Where its tensors live.
    pub memory: &'a MemoryInUse,
    /// Names of the profile's memories.
    pub memories: &'a [&'a str],
    /// The headline.
    pub title: &'a str,
    /// Lines below it.
    pub subtitle: &'a [String],
}

pub(super) fn compose(picture: &MemoryPicture<'_>, theme: &Theme) -> Scene {
    let (width, height) = (f64::from(SIZE.0), f64::from(SIZE.1));
    let mut scene = Scene::default();
    scene.fill(Area { left: 0.0, top: 0.0, right: width, bottom: height }, theme.paper);
    let top = heading(&mut scene, picture.title, picture.subtitle, theme) + 8.0;
    let names = picture.network.layers.iter().map(|layer| layer.name.clone()).collect();
    let names = short_names(names);
    let right = width - MARGIN - LEGEND - 30.0;
    let page = Area { left: LEFT, right, top, bottom: height - 62.0 - names_height(&names) };
    let shown = shown(picture);
    let count = picture.network.layers.len();
    let mut panels = Vec::new();
    for (memory, area) in shown.iter().zip(areas(&shown, &page)) {
        panels.push(Panel::new(picture, memory, area, count));
    }
    for panel in &panels {
        panel.draw(&mut scene, theme);
    }
    let last = panels.last().map_or(page, |panel| panel.data);
    layer_axis(&mut scene, &last, count, &names, theme);
    let area = Area { left: width - MARGIN - LEGEND, right: width - MARGIN, top, bottom: height };
    let mut legend = Legend::new(&mut scene, theme, Area { bottom: height - MARGIN, ..area });
    explain(&mut legend, &panels, area.width(), theme);
    scene
}

/// Memories with something in them or without room for something, in the engine's order.
fn shown<'a>(picture: &MemoryPicture<'a>) -> Vec<&'a MemoryUse> {
    let memories = picture.memory.plan.memories.iter();
    let used = memories.filter(|own| own.top_bytes() > 0 || !own.overflow.is_empty());
    used.take(PANELS).collect()
}

/// The page cut into panels from top to bottom.
fn areas(shown: &[&MemoryUse], page: &Area) -> Vec<Area> {
    let share = |own: &&MemoryUse| if own.activations.is_empty() { WEIGHTS_SHARE } else { 1.0 };
    let shares: f64 = shown.iter().map(share).sum();
    let room = page.height() - GAP * shown.len() as f64;
    let mut top = page.top;
    let mut areas = Vec::with_capacity(shown.len());
    for own in shown {
        let (head, height) = (top + GAP, room * share(own) / shares.max(1e-9));
        areas.push(Area { top: head, bottom: head + height, ..*page });
        top = head + height;
    }
    areas
}

struct Panel<'a> {
    picture: &'a MemoryPicture<'a>,
    memory: &'a MemoryUse,
    name: &'a str,
    data: Area,
    axis: Axis,
    steps: usize,
}

impl<'a> Panel<'a> {
    fn new(
        picture: &'a MemoryPicture<'a>,
        memory: &'a MemoryUse,
        data: Area,
        steps: usize,
    ) -> Self {
        let name = picture.memories.get(memory.memory).copied().unwrap_or_default();
        let (top, capacity) = (memory.top_bytes() as f64, memory.capacity_bytes as f64);
        let high = if capacity <= CAPACITY_SHOWN * top { capacity.max(top) } else { top };
        let wanted = ((data.height() / 45.0) as usize).clamp(2, 8);
        let axis = Axis::bytes(high * 1.02, wanted);
        Self { picture, memory, name, data, axis, steps: steps.max(1) }
    }

    fn draw(&self, scene: &mut Scene, theme: &Theme) {
        gridlines(scene, &self.data, &self.axis, theme);
        for placed in &self.memory.activations {
            self.draw_tensor(scene, placed, theme);
        }
        self.draw_weights(scene, theme);
        let room = self.data.height() - 50.0;
        let name = font::squeezed(self.name, LABEL_SIZE, false, room);
        value_labels(scene, &self.data, &self.axis, &name, theme);
        self.draw_capacity(scene, theme);
        self.draw_peak(scene, theme);
    }

    fn height_of(&self, bytes: u64) -> f64 {
        height_of(&self.axis, bytes as f64, &self.data)
    }

    fn left_of(&self, step: usize) -> f64 {
        self.data.left + self.data.width() * step as f64 / self.steps as f64
    }

    fn area(&self, placed: &Placed) -> Area {
        let (first, last) = placed.lifetime.unwrap_or((0, self.steps.saturating_sub(1)));
        Area {
            left: self.left_of(first),
            right: self.left_of(last.saturating_add(1).min(self.steps)),
            top: self.height_of(placed.offset.saturating_add(placed.bytes)),
            bottom: self.height_of(placed.offset),
        }
    }

    fn draw_tensor(&self, scene: &mut Scene, placed: &Placed, theme: &Theme) {
        let area = self.area(placed);
        let tensors = self.picture.memory.plan.buffers().tensors();
        let tensor = tensors.get(placed.buffer);
        let ink = match tensor.is_some_and(|tensor| tensor.is_state) {
            true => state_ink(theme),
            false => activation_ink(placed.buffer, theme),
        };
        outlined(scene, &area, ink, theme);
        let name = tensor.map_or("", |tensor| tensor.name.as_str());
        let size = Bytes(placed.bytes as f64);
        write_inside(scene, &area, &[format!("{name}  {size}"), name.to_owned()], theme.text);
    }

    /// All weights as one.
    fn draw_weights(&self, scene: &mut Scene, theme: &Theme) {
        let (Some(first), Some(last)) = (self.memory.weights.first(), self.memory.weights.last())
        else {
            return;
        };
        let (top, bottom) = (self.area(last).top, self.area(first).bottom);
        let area = Area { top, bottom, ..self.data };
        outlined(scene, &area, weights_ink(theme), theme);
        let size = Bytes(self.memory.weight_bytes as f64);
        let count = self.memory.weights.len();
        let text = format!("weights  {size}  in {count} tensors");
        write_inside(scene, &area, &[text, format!("weights  {size}")], theme.text);
    }

    fn draw_capacity(&self, scene: &mut Scene, theme: &Theme) {
        let capacity = Bytes(self.memory.capacity_bytes as f64);
        let y = self.height_of(self.memory.capacity_bytes);
        let seen = capacity.0 <= self.axis.high;
        if seen {
            scene.rule((self.data.left, y), (self.data.right, y), 2.0, theme.total);
        }
        let name = font::squeezed(self.name, NOTE_SIZE, false, 90.0);
        let text = match seen {
            true => format!("{name}: capacity {capacity}, the line"),
            false => format!("{name}: capacity {capacity}"),
        };
        let at = (self.data.right, self.data.top - 9.0);
        scene.text(Label::new(text, at, NOTE_SIZE, theme.quiet).anchored(Anchor::End));
    }

    /// Where most is alive, and up to where activations reach.
    fn draw_peak(&self, scene: &mut Scene, theme: &Theme) {
        let Some(at) = self.memory.peak_at else { return };
        let ink = theme.transition;
        let (left, right) = (self.left_of(at), self.left_of(at.saturating_add(1)));
        let (x, y) = ((left + right) / 2.0, self.height_of(self.memory.peak_bytes));
        scene.fill(Area { left, right, ..self.data }, ink.faded(0.12));
        scene.rule((x, self.data.top - 5.0), (x, y), 1.5, ink);
        scene.rule((self.data.left, y), (self.data.right, y), 1.0, ink);
        let layer = self.picture.network.layers.get(at).map_or("", |layer| layer.name.as_str());
        let room = self.data.width() / 3.0;
        let name = font::squeezed(layer, NOTE_SIZE, true, room);
        let text = format!("peak {} in {name}", Bytes(self.memory.peak_bytes as f64));
        let half = font::width(&text, NOTE_SIZE, true) / 2.0;
        let right = self.data.right - self.data.width() / 4.0 - half;
        let middle = x.min(right).max(self.data.left + half);
        let label = Label::new(text, (middle, self.data.top - 9.0), NOTE_SIZE, ink);
        scene.text(label.bold().anchored(Anchor::Middle));
    }
}

/// The colour of a tensor, by its number: tensors are numbered as they are made.
fn activation_ink(buffer: usize, theme: &Theme) -> Ink {
    let series = COLOURS.get(buffer % COLOURS.len()).copied().unwrap_or(0);
    theme::load(series, theme).mixed(theme.paper, 0.45)
}

fn state_ink(theme: &Theme) -> Ink {
    theme.quiet.mixed(theme.paper, 0.5)
}

fn weights_ink(theme: &Theme) -> Ink {
    theme.layer.mixed(theme.paper, 0.35)
}

/// A rectangle with a thin edge where there is room for one.
fn outlined(scene: &mut Scene, area: &Area, ink: Ink, theme: &Theme) {
    scene.fill(*area, ink);
    if area.width() < 3.0 || area.height() < 3.0 {
        return;
    }
    let edge = theme.paper;
    let Area { left, top, right, bottom } = *area;
    scene.rule((left, top), (right, top), 1.0, edge);
    scene.rule((left, bottom), (right, bottom), 1.0, edge);
    scene.rule((left, top), (left, bottom), 1.0, edge);
    scene.rule((right, top), (right, bottom), 1.0, edge);
}

/// The first text that an area has room for, lying or upright; nothing where it has room for none.
fn write_inside(scene: &mut Scene, area: &Area, texts: &[String], ink: Ink) {
    let (x, y) = area.center();
    let drop = NAME_SIZE * font::CAPITAL / 2.0;
    let line = NAME_SIZE + 2.0;
    if area.height().min(area.width()) < line {
        return;
    }
    let fits =
        |text: &&String, room: f64| font::width(text, NAME_SIZE, false) + 2.0 * PADDING <= room;
    if let Some(text) = texts.iter().find(|text| fits(text, area.width())) {
        scene.text(Label::new(text, (x, y + drop), NAME_SIZE, ink).anchored(Anchor::Middle));
    } else if let Some(text) = texts.iter().find(|text| fits(text, area.height())) {
        let half = font::width(text, NAME_SIZE, false) / 2.0;
        scene.text(Label::new(text, (x + drop, y + half), NAME_SIZE, ink).upright());
    } else if area.width() > 7.0 * line
        && let Some(text) = texts.last()
    {
        let text = font::squeezed(text, NAME_SIZE, false, area.width() - 2.0 * PADDING);
        scene.text(Label::new(text, (x, y + drop), NAME_SIZE, ink).anchored(Anchor::Middle));
    }
}

fn explain(legend: &mut Legend<'_>, panels: &[Panel<'_>], width: f64, theme: &Theme) {
    let bytes = |count: u64| Bytes(count as f64).to_string();
    for panel in panels {
        let (own, plan) = (panel.memory, &panel.picture.memory.plan);
        legend.heading(&font::elided(panel.name, LABEL_SIZE, true, width));
        let mut figures = vec![("capacity", bytes(own.capacity_bytes))];
        if !own.activations.is_empty() {
            figures.push(("activations reach", bytes(own.peak_bytes)));
            figures.push(("most alive at once", bytes(own.alive_bytes)));
        }
        if own.weight_bytes > 0 {
            figures.push(("weights", bytes(own.weight_bytes)));
        }
        figures.push(("free", bytes(own.free_bytes())));
        if !own.spilled.is_empty() {
            figures.push(("no room here for", plan.sum(&own.spilled).to_string()));
        }
        if !own.overflow.is_empty() {
            figures.push(("no room in any memory", plan.sum(&own.overflow).to_string()));
        }
        legend.figures(&figures);
    }
    let all = || {
        panels.iter().flat_map(|panel| {
            let tensors = panel.picture.memory.plan.buffers().tensors();
            panel.memory.activations.iter().filter_map(|placed| tensors.get(placed.buffer))
        })
    };
    let mut key = Vec::new();
    if panels.iter().any(|panel| panel.memory.weight_bytes > 0) {
        key.push(("weights, which stay".to_owned(), weights_ink(theme)));
    }
    if all().any(|tensor| tensor.is_state) {
        key.push(("kept between runs".to_owned(), state_ink(theme)));
    }
    if all().any(|tensor| !tensor.is_state) {
        key.push(("an activation, any other colour".to_owned(), activation_ink(0, theme)));
    }
    legend.key("while a layer runs", &key);
}

#[cfg(test)]
mod tests;
