//! How many predictions are off by no more than how much: a curve a protocol, latency and energy side by side.

use super::super::called::worded;
use super::super::font;
use super::super::frame::{LABEL_SIZE, MARGIN, TICK_SIZE};
use super::super::log_axis::LogAxis;
use super::super::scene::{Anchor, Area, Ink, Label, Scene, Shape};
use super::super::sheet::{Sheet, nothing, size};
use super::super::signs::Sign;
use super::super::theme::Theme;
use super::{QUANTITIES, counting, percent};
use crate::calibrate::{Missed, Protocol, Quantity, Scored};

const LEFT: f64 = 70.0;
const BELOW: f64 = 60.0;
const ABOVE: f64 = 34.0;
const PLOT: f64 = 470.0;
/// Height of a line of the table below.
const LINE: f64 = 26.0;
/// Errors at the ends of the axis: less than the first is as good.
const ENDS: (f64, f64) = (0.002, 2.0);
/// Shares that are marked.
const MARKED: [f64; 2] = [0.5, 0.9];
const DASHES: (f64, f64) = (6.0, 4.0);
const TABLE_SIZE: f64 = 13.0;

/// One protocol and how it looks.
struct Course {
    protocol: Protocol,
    sign: Sign,
    dashes: Option<(f64, f64)>,
}

/// The picture and its size.
pub(in super::super) fn compose(scored: &[Scored], theme: &Theme) -> (Scene, (u32, u32)) {
    let there = |protocol: &Protocol| counting(scored).any(|p| p.protocol == *protocol);
    let courses: Vec<Course> =
        Protocol::ALL.into_iter().filter(there).map(|own| course(own, theme)).collect();
    let title = "how far predictions are off, by what they had".to_owned();
    let said = "share of the whole networks whose absolute error is at most so large; marks: half of them, and nine of ten; in 90 %: share of the measurements in the interval of their prediction";
    let sheet = Sheet::new(&title, &[said.to_owned()], theme);
    let top = sheet.top;
    let height = top + PLOT + 56.0 + LINE * (courses.len() + 1) as f64 + MARGIN;
    let right = f64::from(super::super::SIZE.0) - MARGIN;
    let page = Area { left: MARGIN, right, top, bottom: top + PLOT };
    let mut scene = sheet.on_paper(height, theme);
    if courses.is_empty() {
        nothing(&mut scene, &page, "nothing was predicted", theme);
        return (scene, size(height));
    }
    let half = page.width() / 2.0;
    for (at, quantity) in QUANTITIES.into_iter().enumerate() {
        let left = page.left + at as f64 * half;
        let area = Area { left, right: left + half, ..page };
        panel(&mut scene, &area, scored, &courses, quantity, theme);
    }
    let table = Area { top: page.bottom + 22.0, bottom: height, ..page };
    write_table(&mut scene, &table, scored, &courses, theme);
    (scene, size(height))
}

fn course(protocol: Protocol, theme: &Theme) -> Course {
    let at = Protocol::ALL.iter().position(|own| *own == protocol).unwrap_or(0);
    // As they stand, they are the ground that all others rise from.
    let sign = match at.checked_sub(1) {
        None => Sign { ink: theme.frame, ..Sign::of(0, theme) },
        Some(at) => Sign::of(at, theme),
    };
    Course { protocol, sign, dashes: (at == 0).then_some(DASHES) }
}

/// Absolute errors of a quantity under a protocol, in order.
fn errors(scored: &[Scored], protocol: Protocol, quantity: Quantity) -> Vec<f64> {
    let own = counting(scored).filter(|p| p.protocol == protocol && p.quantity == quantity);
    let mut errors: Vec<f64> =
        own.map(|p| p.relative_error().abs()).filter(|error| error.is_finite()).collect();
    errors.sort_by(f64::total_cmp);
    errors
}

fn panel(
    scene: &mut Scene,
    page: &Area,
    scored: &[Scored],
    courses: &[Course],
    quantity: Quantity,
    theme: &Theme,
) {
    let data = Area {
        left: page.left + LEFT,
        right: page.right - 12.0,
        top: page.top + ABOVE,
        bottom: page.bottom - BELOW,
    };
    let x = LogAxis { low: ENDS.0, high: ENDS.1, from: data.left, to: data.right };
    let title = Label::new(worded(quantity).0, (data.left, page.top + 20.0), 17.0, theme.text);
    scene.text(title.bold());
    frame(scene, &data, &x, theme);
    let y = |share: f64| data.bottom - share * data.height();
    for share in MARKED {
        scene.line(
            &[(data.left, y(share)), (data.right, y(share))],
            1.2,
            theme.frame,
            Some((3.0, 3.0)),
        );
    }
    let place = |error: f64| x.place(error.clamp(ENDS.0, ENDS.1));
    for course in courses {
        let errors = errors(scored, course.protocol, quantity);
        if errors.is_empty() {
            continue;
        }
        let points = steps(&errors, place, y);
        scene.line(&points, 2.2, course.sign.ink, course.dashes);
    }
    let mut any = false;
    for course in courses {
        let own = counting(scored).filter(|p| p.protocol == course.protocol);
        let Some(missed) = Missed::by(own, quantity) else { continue };
        any = true;
        for (share, error) in MARKED.into_iter().zip([missed.median, missed.p90]) {
            course.sign.draw(scene, (place(error), y(share)), 5.2, theme);
        }
    }
    if !any {
        nothing(scene, &data, "nothing was predicted", theme);
    }
}

/// The step function from none to all.
fn steps(errors: &[f64], place: impl Fn(f64) -> f64, y: impl Fn(f64) -> f64) -> Vec<(f64, f64)> {
    let mut points = Vec::with_capacity(2 * errors.len() + 2);
    let mut share = 0.0;
    for (at, error) in errors.iter().enumerate() {
        points.push((place(*error), y(share)));
        share = (at + 1) as f64 / errors.len() as f64;
        points.push((place(*error), y(share)));
    }
    points
}

/// Errors with a label.
const TICKS: [f64; 9] = [0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0];

fn frame(scene: &mut Scene, data: &Area, x: &LogAxis, theme: &Theme) {
    for error in TICKS.into_iter().chain([2.0]) {
        let at = x.place(error);
        scene.rule((at, data.top), (at, data.bottom), 1.0, theme.gridline);
        scene.rule((at, data.bottom), (at, data.bottom + 5.0), 1.0, theme.frame);
        let text = match error < 0.01 {
            true => format!("{:.1} %", error * 100.0),
            false => format!("{:.0} %", error * 100.0),
        };
        let at = (at, data.bottom + 10.0 + TICK_SIZE * font::CAPITAL);
        scene.text(Label::new(text, at, TICK_SIZE, theme.quiet).anchored(Anchor::Middle));
    }
    for share in [0.0, 0.25, 0.5, 0.75, 0.9, 1.0] {
        let y = data.bottom - share * data.height();
        scene.rule((data.left, y), (data.right, y), 1.0, theme.gridline);
        scene.rule((data.left - 5.0, y), (data.left, y), 1.0, theme.frame);
        let at = (data.left - 9.0, y + TICK_SIZE * font::CAPITAL / 2.0);
        let text = format!("{:.0} %", share * 100.0);
        scene.text(Label::new(text, at, TICK_SIZE, theme.quiet).anchored(Anchor::End));
    }
    scene.rule((data.left, data.top), (data.left, data.bottom), 1.0, theme.frame);
    scene.rule((data.left, data.bottom), (data.right, data.bottom), 1.0, theme.frame);
    let at = (data.center().0, data.bottom + 44.0);
    let label = Label::new("absolute error of the prediction", at, LABEL_SIZE, theme.text);
    scene.text(label.anchored(Anchor::Middle));
    let at = (data.left - LEFT + 14.0, data.center().1);
    let label = Label::new("share of predictions", at, LABEL_SIZE, theme.text);
    scene.text(label.anchored(Anchor::Middle).upright());
}

/// Right ends of the figures of a quantity, from where its columns start.
const FIGURES: [(&str, f64); 5] =
    [("n", 30.0), ("median", 100.0), ("90 %", 165.0), ("worst", 232.0), ("in 90 %", 304.0)];
/// Where the columns of each quantity start, from the right end.
const COLUMNS: [f64; 2] = [700.0, 324.0];

/// A line a protocol: how it is drawn, what it had, and its figures.
fn write_table(
    scene: &mut Scene,
    area: &Area,
    scored: &[Scored],
    courses: &[Course],
    theme: &Theme,
) {
    let columns = COLUMNS.map(|from| area.right - from);
    let mut baseline = area.top + 14.0;
    let text = |scene: &mut Scene, text: String, at: (f64, f64), ink: Ink, anchor: Anchor| {
        scene.text(Label::new(text, at, TABLE_SIZE, ink).anchored(anchor));
    };
    text(
        scene,
        "a prediction had".to_owned(),
        (area.left + 52.0, baseline),
        theme.quiet,
        Anchor::Start,
    );
    for (left, quantity) in columns.into_iter().zip(QUANTITIES) {
        for (at, (name, right)) in FIGURES.into_iter().enumerate() {
            let name =
                if at == 0 { format!("{} {name}", worded(quantity).0) } else { name.to_owned() };
            text(scene, name, (left + right, baseline), theme.quiet, Anchor::End);
        }
    }
    for course in courses {
        baseline += LINE;
        let middle = baseline - TABLE_SIZE * font::CAPITAL / 2.0;
        let line = [(area.left, middle), (area.left + 40.0, middle)];
        scene.line(&line, 2.2, course.sign.ink, course.dashes);
        course.sign.draw(scene, (area.left + 20.0, middle), 5.2, theme);
        let room = area.width() - COLUMNS[0] - 90.0;
        let had = format!("{}: {}", course.protocol.name(), course.protocol.had());
        let had = font::elided(&had, TABLE_SIZE, false, room);
        text(scene, had, (area.left + 52.0, baseline), theme.text, Anchor::Start);
        for (left, quantity) in columns.into_iter().zip(QUANTITIES) {
            let own = counting(scored).filter(|p| p.protocol == course.protocol);
            let Some(missed) = Missed::by(own, quantity) else { continue };
            let figures = [
                missed.figures.to_string(),
                percent(missed.median),
                percent(missed.p90),
                percent(missed.worst),
                format!("{:.0} %", missed.coverage * 100.0),
            ];
            for ((_, right), figure) in FIGURES.into_iter().zip(figures) {
                text(scene, figure, (left + right, baseline), theme.text, Anchor::End);
            }
        }
    }
    scene.shapes.push(Shape::Line(
        vec![(area.left, area.top + 21.0), (area.right, area.top + 21.0)],
        1.0,
        theme.gridline,
    ));
}
