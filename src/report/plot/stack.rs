//! Power by component as a stack of bands, and the total as a line.

use super::axis::Axis;
use super::buckets::{Bucket, Grid};
use super::scene::{Area, Ink, Run, Scene, Shape};
use super::theme::{self, Theme};
use crate::trace::{Trace, Waveform};
use std::cmp::Ordering;

/// More loads than this cannot be told apart: the smallest are drawn as one.
const LOADS: usize = 14;
/// The same for losses, which are all grey.
const LOSSES: usize = 6;
const TOTAL_WIDTH: f64 = 1.5;
/// Opacity of the veil over the mean, and of the marks below it.
pub(super) const VEIL: f64 = 0.25;
pub(super) const LEAST: f64 = 0.6;
/// Distance of the strokes that mark losses.
const HATCH: f64 = 7.0;

/// One band.
#[derive(Debug, Clone)]
pub(super) struct Series {
    pub name: String,
    pub ink: Ink,
    /// True for what is lost on the way to the loads.
    pub is_loss: bool,
    /// Joules within the range.
    pub energy: f64,
    /// What is drawn of each pixel.
    levels: Vec<f64>,
}

/// All bands, from the lowest, and the total.
#[derive(Debug)]
pub(super) struct Stack {
    pub series: Vec<Series>,
    pub total: Vec<Bucket>,
    /// Joules within the range.
    pub energy: f64,
}

impl Stack {
    /// Loads in the order of the header, then losses.
    pub(super) fn of(trace: &Trace, grid: &Grid, theme: &Theme) -> Self {
        let seconds = grid.to.since(grid.from).seconds().0 / grid.count as f64;
        let energy = |buckets: &[Bucket]| buckets.iter().map(|b| b.mean).sum::<f64>() * seconds;
        let total = grid.buckets(&trace.total_power());
        let flat = Waveform::default();
        let (mut loads, mut losses) = (Vec::new(), Vec::new());
        let inks = inks(trace, theme);
        for (at, component) in trace.header.components.iter().enumerate() {
            let buckets = grid.buckets(trace.power.get(at).unwrap_or(&flat));
            // Where the total has one edge, every component has its own there.
            let level = |(own, all): (&Bucket, &Bucket)| match all.is_plain() {
                true => own.level,
                false => own.mean,
            };
            let into = if component.is_load() { &mut loads } else { &mut losses };
            if buckets.iter().all(|b| b.least == 0.0 && b.most == 0.0) {
                continue; // Nothing to see of it, and no room for it in the key.
            }
            into.push(Series {
                name: component.name.clone(),
                ink: inks.get(at).copied().unwrap_or(theme.frame),
                is_loss: !component.is_load(),
                energy: energy(&buckets),
                levels: buckets.iter().zip(&total).map(level).collect(),
            });
        }
        let loads = gathered(loads, LOADS, theme::others(theme));
        let losses = gathered(losses, LOSSES, theme::loss(0, theme));
        let energy = energy(&total);
        Self { series: loads.into_iter().chain(losses).collect(), total, energy }
    }

    /// The least and the largest power that must be on the axis.
    pub(super) fn limits(&self) -> (f64, f64) {
        let (mut low, mut high) = (0.0f64, 0.0f64);
        for (at, bucket) in self.total.iter().enumerate() {
            let at_bucket = |s: &Series| s.levels.get(at).copied().unwrap_or(0.0);
            let up: f64 = self.series.iter().map(at_bucket).filter(|v| *v > 0.0).sum();
            let down: f64 = self.series.iter().map(at_bucket).filter(|v| *v < 0.0).sum();
            low = low.min(down).min(bucket.least);
            high = high.max(up).max(bucket.most);
        }
        (low, high)
    }

    /// True when so many pixels hold several levels that the picture needs to tell them apart.
    pub(super) fn has_extremes(&self, axis: &Axis, height: f64) -> bool {
        let tall = |b: &Bucket| (axis.share(b.most) - axis.share(b.least)) * height > 2.0;
        // The edge between two levels lies within one pixel too; that explains itself.
        self.total.iter().filter(|b| !b.is_plain() && tall(b)).count() > self.total.len() / 50
    }

    pub(super) fn draw(&self, scene: &mut Scene, area: &Area, axis: &Axis, theme: &Theme) {
        let y = |value: f64| area.bottom - axis.share(value) * area.height();
        let (mut above, mut below) = (vec![0.0; self.total.len()], vec![0.0; self.total.len()]);
        for series in &self.series {
            let bounds = series.levels.iter().zip(above.iter_mut().zip(&mut below));
            let runs = bounds.enumerate().map(|(at, (value, (above, below)))| {
                let base = if *value >= 0.0 { above } else { below };
                let (from, to) = (*base, *base + value);
                *base = to;
                run(area, at, y(from.max(to)), y(from.min(to)))
            });
            let runs = merged(runs);
            if runs.iter().all(|r| r.bottom - r.top < 0.5) {
                continue;
            }
            if series.is_loss {
                let strokes = hatching(&runs);
                scene.shapes.push(Shape::Band(runs, series.ink));
                scene.shapes.push(Shape::Strokes(strokes, theme.frame));
            } else {
                scene.shapes.push(Shape::Band(runs, series.ink));
            }
        }
    }

    /// The mean of each pixel as a line, a veil from there up to its peak, a mark at its least.
    pub(super) fn draw_total(&self, scene: &mut Scene, area: &Area, axis: &Axis, ink: Ink) {
        let y = |value: f64| area.bottom - axis.share(value) * area.height();
        let columns = |edges: fn(&Bucket) -> (f64, f64)| {
            merged(self.total.iter().enumerate().map(|(at, bucket)| {
                let (top, bottom) = edges(bucket);
                run(area, at, y(top), y(bottom))
            }))
        };
        let veil = columns(|b| if b.is_plain() { (0.0, 0.0) } else { (b.most, b.mean) });
        for patch in veil.split(|run| run.bottom - run.top < 1.0).filter(|p| !p.is_empty()) {
            scene.shapes.push(Shape::Band(patch.to_vec(), ink.faded(VEIL)));
        }
        let least = if self.has_extremes(axis, area.height()) {
            columns(|b| (level(b), b.least))
        } else {
            Vec::new()
        };
        for run in least.iter().filter(|run| run.bottom - run.top > 2.0) {
            let (top, bottom) = (run.bottom - 0.5, run.bottom + 0.5);
            scene.fill(Area { left: run.left, right: run.right, top, bottom }, ink.faded(LEAST));
        }
        let levels = columns(|b| (level(b), level(b)));
        let points = levels.iter().flat_map(|run| [(run.left, run.top), (run.right, run.top)]);
        scene.shapes.push(Shape::Steps(points.collect(), TOTAL_WIDTH, ink));
    }
}

/// What is drawn of the total in one pixel.
fn level(bucket: &Bucket) -> f64 {
    if bucket.is_plain() { bucket.level } else { bucket.mean }
}

/// The largest series, and one for all the others when there are too many.
fn gathered(all: Vec<Series>, most: usize, ink: Ink) -> Vec<Series> {
    if all.len() <= most {
        return all;
    }
    let mut by_energy: Vec<usize> = (0..all.len()).collect();
    let energy = |at: &usize| all.get(*at).map_or(0.0, |s| s.energy.abs());
    by_energy.sort_by(|a, b| energy(b).partial_cmp(&energy(a)).unwrap_or(Ordering::Equal));
    let kept = by_energy.get(..most.saturating_sub(1)).unwrap_or_default();
    let (mut shown, mut rest): (Vec<Series>, Option<Series>) = (Vec::new(), None);
    let count = all.len() + 1 - most;
    for (at, series) in all.iter().enumerate() {
        if kept.contains(&at) {
            shown.push(series.clone());
        } else if let Some(rest) = &mut rest {
            rest.energy += series.energy;
            rest.levels.iter_mut().zip(&series.levels).for_each(|(a, b)| *a += b);
        } else {
            rest = Some(Series { name: format!("{count} others"), ink, ..series.clone() });
        }
    }
    shown.into_iter().chain(rest).collect()
}

/// A colour for each component of a trace, the same in every picture of it: those that take most of the
/// whole trace have the ones that are easiest told apart.
fn inks(trace: &Trace, theme: &Theme) -> Vec<Ink> {
    let components = &trace.header.components;
    let energy = |at: usize| trace.power.get(at).map_or(0.0, |w| w.integral(trace.end).abs());
    let mut ranked: Vec<(usize, f64)> = (0..components.len()).map(|at| (at, energy(at))).collect();
    ranked.sort_by(|a, b| b.1.total_cmp(&a.1));
    let mut inks = vec![theme.frame; components.len()];
    let (mut loads, mut losses) = (0, 0);
    for (at, _) in ranked {
        let is_load = components.get(at).is_some_and(|c| c.is_load());
        let (counted, ink): (_, fn(usize, &Theme) -> Ink) =
            if is_load { (&mut loads, theme::load) } else { (&mut losses, theme::loss) };
        if let Some(own) = inks.get_mut(at) {
            *own = ink(*counted, theme);
        }
        *counted += 1;
    }
    inks
}

/// The column of a bucket, on the half pixels of the painter.
fn run(area: &Area, at: usize, top: f64, bottom: f64) -> Run {
    let half = |length: f64| (length * 2.0).round() / 2.0;
    let left = area.left + at as f64;
    Run { left, right: left + 1.0, top: half(top), bottom: half(bottom) }
}

/// Neighbours of one height as one.
fn merged(runs: impl Iterator<Item = Run>) -> Vec<Run> {
    let mut out: Vec<Run> = Vec::new();
    for run in runs {
        match out.last_mut() {
            Some(last) if (last.top, last.bottom) == (run.top, run.bottom) => {
                last.right = run.right
            }
            _ => out.push(run),
        }
    }
    out
}

/// Strokes at 45 degrees within a band.
pub(super) fn hatching(runs: &[Run]) -> Vec<[(f64, f64); 2]> {
    let least = runs.iter().map(|r| r.left + r.top).fold(f64::INFINITY, f64::min);
    let most = runs.iter().map(|r| r.right + r.bottom).fold(f64::NEG_INFINITY, f64::max);
    let mut strokes: Vec<[(f64, f64); 2]> = Vec::new();
    let mut sum = (least / HATCH).ceil() * HATCH;
    while sum < most {
        let mut open: Option<(f64, f64)> = None;
        for run in runs {
            let (from, to) = (run.left.max(sum - run.bottom), run.right.min(sum - run.top));
            if to <= from {
                continue;
            }
            match &mut open {
                Some(piece) if piece.1 >= from => piece.1 = to,
                _ => {
                    strokes.extend(open.map(|(a, b)| [(a, sum - a), (b, sum - b)]));
                    open = Some((from, to));
                }
            }
        }
        strokes.extend(open.map(|(a, b)| [(a, sum - a), (b, sum - b)]));
        sum += HATCH;
    }
    strokes
}
