//! Power against time, put together: where everything goes on the paper.

use super::axis::Axis;
use super::buckets::Grid;
use super::frame::{LEFT, LEGEND, MARGIN, gridlines, heading, time_axis, value_labels};
use super::legend::Legend;
use super::regions::Regions;
use super::scene::{Anchor, Area, Label, Scene};
use super::stack::Stack;
use super::strip::{GAP, Strip, row_label};
use super::theme::{DARK, LIGHT, Theme};
use super::{PowerOptions, SIZE};
use crate::trace::Trace;
use crate::units::{Seconds, SimTime, Watts, engineering};

/// Draws `from` to `to` of a trace.
pub(super) fn compose(trace: &Trace, options: &PowerOptions, from: SimTime, to: SimTime) -> Scene {
    let theme = if options.dark { &DARK } else { &LIGHT };
    let (width, height) = (f64::from(SIZE.0), f64::from(SIZE.1));
    let mut scene = Scene::default();
    scene.fill(Area { left: 0.0, top: 0.0, right: width, bottom: height }, theme.paper);
    let top = heading(&mut scene, &options.title, &options.subtitle, theme);
    let right = width - MARGIN - LEGEND - 30.0;
    let grid = Grid { from, to, count: (right - LEFT) as usize };
    let page = Area { left: LEFT, right, top, bottom: height - 68.0 };

    let regions = Regions::of(trace, &grid, LEFT);
    let strip = Strip::of(trace, &grid, LEFT, regions.as_ref().map(|r| r.kind), theme);
    strip.draw(&mut scene, &page, theme);
    let band_top = page.top + strip.height();
    let data_top = band_top + regions.as_ref().map_or(6.0, |r| r.height + GAP);
    let data = Area { top: data_top, ..page };

    let stack = Stack::of(trace, &grid, theme);
    let (low, high) = stack.limits();
    let axis = power_axis(low, high, data.height());
    if let Some(regions) = &regions {
        let band = Area { top: band_top, bottom: band_top + regions.height, ..page };
        row_label(&mut scene, regions.kind.name(), &band, theme);
        regions.draw_shade(&mut scene, &data, theme);
        regions.draw_names(&mut scene, &band, theme);
    }
    gridlines(&mut scene, &data, &axis, theme);
    stack.draw(&mut scene, &data, &axis, theme);
    if let Some(regions) = &regions {
        regions.draw_edges(&mut scene, &data, theme);
    }
    stack.draw_total(&mut scene, &data, &axis, theme.total);
    value_labels(&mut scene, &data, &axis, "power", theme);
    time_axis(&mut scene, &data, from, to, theme);
    note(&mut scene, &data, trace, low == high, theme);

    let column = Area { left: width - MARGIN - LEGEND, right: width - MARGIN, ..page };
    let mut legend = Legend::new(&mut scene, theme, Area { bottom: height - MARGIN, ..column });
    legend.energies(&stack);
    legend.figures(&figures(&stack, from, to));
    legend.lines(stack.has_extremes(&axis, data.height()));
    legend.key("activity", &strip.key);
    scene
}

/// The axis of power always shows zero; without any power it still has a scale.
fn power_axis(low: f64, high: f64, height: f64) -> Axis {
    let high = if low == high { 1e-3 } else { high };
    // Room above the highest point, so that the line is not on the frame.
    let reach = (high - low) * 0.04;
    let low = if low < 0.0 { low - reach } else { low };
    let high = if high > 0.0 { high + reach } else { high };
    let wanted = ((height / 70.0) as usize).clamp(3, 9);
    let ticks = Axis::around(low, high, wanted, "W");
    Axis { low, high, ..ticks }
}

/// Says why there is nothing to see.
fn note(scene: &mut Scene, data: &Area, trace: &Trace, is_flat: bool, theme: &Theme) {
    let text = match (trace.end == SimTime::ZERO, is_flat) {
        (true, _) => "the trace is empty",
        (false, true) => "no power anywhere in this range",
        (false, false) => return,
    };
    let label = Label::new(text, data.center(), 16.0, theme.quiet);
    scene.text(label.anchored(Anchor::Middle));
}

fn figures(stack: &Stack, from: SimTime, to: SimTime) -> Vec<(&'static str, String)> {
    let Seconds(span) = to.since(from).seconds();
    if span == 0.0 {
        return Vec::new();
    }
    let peak = stack.total.iter().map(|b| b.most).fold(f64::NEG_INFINITY, f64::max);
    let text = |value: f64, unit: &str| engineering(value, unit).replace('-', "−");
    vec![
        ("time shown", text(span, "s")),
        ("mean power", text(Watts(stack.energy / span).0, "W")),
        ("peak power", text(peak, "W")),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::scene::Shape;
    use super::*;
    use crate::trace::{
        Component, ComponentId, ComponentKind, Header, Recorder, Sink, Span, SpanKind,
    };

    /// Deterministic noise in 0..1.
    fn noise(at: usize) -> f64 {
        let mixed = (at as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) as f64 / u64::MAX as f64
    }

    /// Layers of very different lengths on several engines, with idle time between inferences.
    fn trace(components: usize, engines: usize, layers: usize, inferences: usize) -> Trace {
        let mut recorder = Recorder::default();
        let component = |at: usize| Component {
            name: format!("component_{at}"),
            kind: if at % 5 == 4 { ComponentKind::RegulatorLoss } else { ComponentKind::Engine },
            domain: "core".into(),
            rail: "vdd".into(),
        };
        let components: Vec<_> = (0..components).map(component).collect();
        recorder.begin(&Header { components: components.clone(), ..Header::default() });
        let mut now = 0;
        let mut add = |recorder: &mut Recorder, kind, name: String, track: String, length: f64| {
            let start = SimTime(now);
            for at in 0..components.len() {
                let power = if kind == SpanKind::Idle { 1e-6 } else { noise(now as usize + at) };
                recorder.power(start, ComponentId(at), Watts(power));
            }
            now += length as u64;
            recorder.span(Span { kind, name, track, inference: None, start, end: SimTime(now) });
            SimTime(now)
        };
        let mut end = SimTime::ZERO;
        for inference in 0..inferences {
            let start = end;
            for layer in 0..layers {
                let length = 10f64.powf(6.0 + 2.5 * noise(layer));
                let (name, track) = (format!("block/conv_{layer}"), layer % engines);
                let track = format!("engine_{track}");
                end = add(&mut recorder, SpanKind::Layer, name, track, length);
            }
            let (name, track) = (format!("inference {inference}"), "network".into());
            recorder.span(Span {
                kind: SpanKind::Inference,
                name,
                track,
                inference: None,
                start,
                end,
            });
            end = add(&mut recorder, SpanKind::Idle, "sleep".into(), "core".into(), 1e9);
        }
        recorder.end(end);
        recorder.into_trace()
    }

    fn options() -> PowerOptions {
        PowerOptions {
            title: "a network with a very long name ".repeat(8),
            subtitle: vec!["a line that says much ".repeat(20); 6],
            ..PowerOptions::default()
        }
    }

    fn labels(scene: &Scene) -> Vec<&Label> {
        let labels = scene.shapes.iter().filter_map(|shape| match shape {
            Shape::Text(label) => Some(label),
            _ => None,
        });
        labels.collect()
    }

    #[test]
    fn no_label_covers_another_or_leaves_the_paper() {
        let shapes = [(1, 1, 1, 1), (6, 1, 13, 3), (9, 2, 30, 1), (40, 12, 30, 2), (3, 1, 40, 200)];
        for (components, engines, layers, inferences) in shapes {
            let trace = trace(components, engines, layers, inferences);
            for (from, to) in [(0.0, 1.0), (0.3, 0.31), (0.5, 0.500001)] {
                let at = |share: f64| SimTime((trace.end.0 as f64 * share) as u64);
                let scene = compose(&trace, &options(), at(from), at(to));
                let labels = labels(&scene);
                assert!(labels.len() > 10);
                let areas: Vec<Area> = labels.iter().map(|label| label.area()).collect();
                for (index, (label, area)) in labels.iter().zip(&areas).enumerate() {
                    assert!(area.left >= 0.0 && area.right <= f64::from(SIZE.0), "{label:?}");
                    assert!(area.top >= 0.0 && area.bottom <= f64::from(SIZE.1), "{label:?}");
                    for (other, theirs) in labels.iter().zip(&areas).take(index) {
                        let apart = area.right <= theirs.left
                            || theirs.right <= area.left
                            || area.bottom <= theirs.top
                            || theirs.bottom <= area.top;
                        assert!(apart, "{label:?}\n{other:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn the_number_of_points_follows_the_paper_and_not_the_trace() {
        let trace = trace(3, 1, 50, 400);
        let scene = compose(&trace, &options(), SimTime::ZERO, trace.end);
        for shape in &scene.shapes {
            match shape {
                Shape::Band(runs, _) => assert!(runs.len() <= SIZE.0 as usize),
                Shape::Steps(points, _, _) => assert!(points.len() <= 2 * SIZE.0 as usize),
                _ => {}
            }
        }
        assert!(scene.shapes.len() < 10 * SIZE.0 as usize, "{}", scene.shapes.len());
    }

    #[test]
    fn what_has_nothing_to_show_says_so() {
        let empty = Trace::default();
        let scene = compose(&empty, &options(), SimTime::ZERO, SimTime::ZERO);
        assert!(labels(&scene).iter().any(|l| l.text == "the trace is empty"));
        let flat = Trace { end: SimTime(5), ..Trace::default() };
        let scene = compose(&flat, &options(), SimTime::ZERO, flat.end);
        assert!(labels(&scene).iter().any(|l| l.text.starts_with("no power")));
    }

    #[test]
    fn the_legend_adds_up() {
        let trace = trace(40, 1, 5, 1);
        let grid = Grid { from: SimTime::ZERO, to: trace.end, count: 777 };
        let stack = Stack::of(&trace, &grid, &LIGHT);
        assert_eq!(stack.series.len(), 14 + 6);
        let sum: f64 = stack.series.iter().map(|s| s.energy).sum();
        let exact: f64 = trace.power.iter().map(|wave| wave.integral(trace.end)).sum();
        assert!((sum / exact - 1.0).abs() < 1e-9 && (stack.energy / exact - 1.0).abs() < 1e-9);
    }
}
