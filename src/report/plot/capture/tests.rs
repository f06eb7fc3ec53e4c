use super::super::scene::Shape;
use super::*;
use crate::capture::{Rails, Statistics, WindowOptions};
use crate::trace::{
    Block, Bounds, BucketSink, Channel, ChannelId, Edge, Layout, Level, LineId, Mark, Recorder,
    SampleClock, SampleSink, Tee, Trace,
};
use crate::units::Hertz;

const MS: u64 = 1_000_000_000;

fn mark(teller: Teller, at: u64, name: &str) -> Mark {
    Mark { teller, at: SimTime(at * MS), track: "dut".into(), name: name.into() }
}

/// Two seconds of `rails` supply lines and some temperatures at 10 kHz with a gap from 1.2 s to 1.5 s,
/// a digital line that is high from 0.3 s to 0.6 s and from 0.7 s to 1 s, and many marks.
fn told(sink: &mut impl SampleSink, rails: usize, temperatures: usize) {
    let power = |at: usize| Channel::new(format!("p{at}"), ChannelKind::Power, format!("VDD_{at}"));
    let heat = |at: usize| Channel::new(format!("sensor {at}"), ChannelKind::Temperature, "");
    sink.begin(&Layout {
        format: "a bench".into(),
        channels: (0..rails).map(power).chain((0..temperatures).map(heat)).collect(),
        lines: vec!["D0".into(), "still".into()],
        ..Layout::default()
    });
    let edges = [(0, Level::Low), (300, Level::High), (600, Level::Low), (700, Level::High)];
    for (at, to) in edges.into_iter().chain([(1000, Level::Low)]) {
        sink.edge(Edge { line: LineId(0), at: SimTime(at * MS), to });
    }
    sink.edge(Edge { line: LineId(1), at: SimTime(0), to: Level::High });
    for at in 0..300 {
        sink.mark(mark(Teller::Meter, at * 6, &format!("something with a name {at}")));
        sink.mark(mark(Teller::Host, at * 6, "never seen"));
    }
    let clock = SampleClock::new(SimTime::ZERO, Hertz(1e4)).unwrap();
    for (from, to) in [(0, 12_000u64), (15_000, 20_000)] {
        for channel in 0..rails + temperatures {
            let wave = |at: u64| 0.01 * (channel + 1) as f64 * (1.0 + (at % 7) as f64 / 7.0);
            let values: Vec<f64> = (from..to).map(wave).collect();
            sink.samples(ChannelId(channel), &Block::even(clock, from, &values));
        }
    }
    sink.end(SimTime(2000 * MS));
}

fn scene(rails: usize, temperatures: usize, from: u64, to: u64) -> Scene {
    let mut recorder = Recorder::default();
    let mut summed = Statistics::default();
    let mut both = Tee(&mut recorder, &mut summed);
    let mut full = Rails::full(&mut both, None);
    told(&mut full, rails, temperatures);
    let supply = full.supply().clone();
    let trace: Trace = recorder.into_trace();
    let mut measured = Measured::of_trace(&trace, &WindowOptions::default(), None, &[]);
    measured.layout.format = "a bench".into();
    measured.supply = supply;
    let summary = &measured.summary;
    let end = SimTime(2000 * MS);
    let options = WindowOptions::default();
    let lines = &trace.header.lines;
    measured.windows =
        crate::capture::find_windows(lines, &summary.edges, &summary.marks, &[], end, &options);
    let lines = measured.carried();
    assert_eq!(lines.len(), rails);
    let mut members: Vec<_> = (rails > 0).then(|| measured.everything()).into_iter().collect();
    members.extend(lines.iter().map(|line| line.members.clone()));
    let bounds = Bounds::new(SimTime(from * MS), SimTime(to * MS), COLUMNS).unwrap();
    let mut sink = BucketSink::new(bounds, members);
    trace.replay(&mut sink);
    let bucketed = sink.finish();
    let total = (rails > 0).then(|| "total".to_owned());
    let names = total.into_iter().chain(lines.into_iter().map(|line| line.name));
    compose(&CapturePicture {
        title: "a capture with a very long name ".repeat(8),
        measured: &measured,
        sums: names.collect(),
        bucketed: &bucketed,
        is_whole: true,
        dark: false,
    })
    .0
}

fn label(shape: &Shape) -> Option<&Label> {
    match shape {
        Shape::Text(label) => Some(label),
        _ => None,
    }
}

fn labels(scene: &Scene) -> Vec<&Label> {
    scene.shapes.iter().filter_map(label).collect()
}

fn says(scene: &Scene, text: &str) -> bool {
    labels(scene).iter().any(|label| label.text.contains(text))
}

#[test]
fn no_label_covers_another_or_leaves_the_paper() {
    for (rails, temperatures) in [(1, 0), (1, 1), (3, 4), (9, 12), (0, 2)] {
        for (from, to) in [(0, 2000), (250, 800), (1100, 1600)] {
            let scene = scene(rails, temperatures, from, to);
            let labels = labels(&scene);
            let Some(Shape::Fill(paper, _)) = scene.shapes.first() else { panic!() };
            let height = paper.bottom;
            let areas: Vec<Area> = labels.iter().map(|label| label.area()).collect();
            for (index, (label, area)) in labels.iter().zip(&areas).enumerate() {
                assert!(area.left >= 0.0 && area.right <= f64::from(SIZE.0), "{label:?}");
                assert!(area.top >= 0.0 && area.bottom <= height, "{label:?}");
                for (other, theirs) in labels.iter().zip(&areas).take(index) {
                    assert!(!area.meets(theirs), "{rails} {from}: {label:?}\n{other:?}");
                }
            }
        }
    }
}

#[test]
fn a_gap_is_named_and_no_line_runs_through_it() {
    let scene = scene(1, 0, 0, 2000);
    assert!(says(&scene, "not measured"));
    assert!(says(&scene, "300.0 ms"), "how long it is");
    let pixel = |ms: f64| LEFT + ms / 2000.0 * COLUMNS as f64;
    let (from, to) = (pixel(1200.0) + 1.0, pixel(1500.0) - 1.0);
    for shape in &scene.shapes {
        if let Shape::Steps(points, _, _) = shape {
            let pieces = points.windows(2).filter(|pair| pair[0].1 == pair[1].1);
            for pair in pieces {
                assert!(pair[1].0 <= from || pair[0].0 >= to, "{pair:?}");
            }
        }
    }
}

#[test]
fn windows_and_marks_of_the_meter_are_named_and_those_of_an_unknown_clock_are_not() {
    let scene = scene(2, 0, 0, 2000);
    for text in ["window 1", "window 2", "D0", "something with", "VDD_1", "not drawn"] {
        assert!(says(&scene, text), "{text}");
    }
    assert!(!says(&scene, "never seen"));
    assert!(!says(&scene, "still"), "a line that never changes says nothing beside one that does");
}

#[test]
fn shapes_follow_the_paper_and_not_the_capture() {
    let scene = scene(4, 7, 0, 2000);
    for shape in &scene.shapes {
        match shape {
            Shape::Band(runs, _) => assert!(runs.len() <= COLUMNS),
            Shape::Steps(points, _, _) => assert!(points.len() <= 2 * COLUMNS),
            _ => {}
        }
    }
    assert!(scene.shapes.len() < 8 * COLUMNS, "{}", scene.shapes.len());
}

#[test]
fn counters_without_any_power_have_their_panel_alone() {
    let scene = scene(0, 2, 0, 2000);
    assert!(says(&scene, "no power") && says(&scene, "temperature (°C)"));
    assert!(!says(&scene, "power (") && !says(&scene, "energy"));
}
