//! `stats` and `capture info`: what a capture holds and comes to.

use super::{grouped, plain, shortened, table, without_header};
use crate::capture::{Electrical, Measured, MeasuredWindow};
use crate::formats::{Format, Shape};
use crate::trace::{ChannelId, Origin, SpanKind};
use crate::units::{Joules, Seconds};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// What is left of a line beside its parts by rounding alone.
const NOTHING_LEFT: f64 = 1e-9;
/// Layers shown, by the time they take.
const LAYERS: usize = 25;
/// Windows and gaps shown one by one.
const ROWS: usize = 40;

/// Sums, windows, gaps, and an inference beside what was published.
pub fn measured_text(m: &Measured) -> String {
    let s = &m.summary;
    let mut text = heading(m);
    let mut sums = plain(2, 1);
    let mut row = |name: &str, value: String| {
        sums.add_row([name.to_owned(), value]);
    };
    row("duration", s.duration.to_string());
    if s.header.components.is_empty() {
        row("energy", "not known: no supply line has a power".into());
    } else {
        row("energy", s.energy.to_string());
        row("mean power", s.mean.to_string());
        row("largest sample", s.peak.map_or("none".into(), |peak| peak.to_string()));
    }
    let gaps = match s.gap_count {
        0 => "none".into(),
        count => format!("{}, {} in all", grouped(count), s.unknown),
    };
    row("gaps", gaps);
    text.push_str(&without_header(&sums));
    if s.header.components.len() > 1 {
        let _ = writeln!(text, "\n{}", components(m));
    }
    if !m.measured.is_empty() {
        let _ = writeln!(text, "\n{}", windows(m));
    }
    layers(m, &mut text);
    inference(m, &mut text);
    agreement(m, &mut text);
    background(m, &mut text);
    remarks(m, &mut text);
    text
}

/// How well the windows agree.
fn agreement(m: &Measured, text: &mut String) {
    let Some(repeats) = &m.repeats else { return };
    let _ = write!(
        text,
        "windows agree within {:.3} % (standard deviation)",
        100.0 * repeats.relative()
    );
    let names: Vec<_> = repeats.outliers.iter().map(|at| (at + 1).to_string()).collect();
    let _ = match names.as_slice() {
        [] => Ok(()),
        [one] => write!(text, "; number {one} is an outlier"),
        several => write!(text, "; numbers {} are outliers", several.join(", ")),
    };
    if repeats.drifts() {
        let drift = 100.0 * repeats.drift / repeats.mean;
        let _ = write!(text, "; they drift by {drift:+.3} % from one to the next");
    }
    text.push('\n');
}

/// What the device draws outside of its windows.
fn background(m: &Measured, text: &mut String) {
    let (Some(between), Some(floor)) = (m.between_windows, m.summary.floor) else { return };
    let within: Vec<f64> = m.measured.iter().filter_map(|w| w.mean()).map(|mean| mean.0).collect();
    let within = within.iter().sum::<f64>() / within.len().max(1) as f64;
    let _ = write!(text, "between windows {between}, lowest 100 ms {floor}");
    // A tenth of what separates the floor from work is no noise.
    let busy = between.0 > floor.0 + 0.1 * (within - floor.0).abs();
    text.push_str(if busy { ": the device is not idle between windows\n" } else { "\n" });
}

fn heading(m: &Measured) -> String {
    match m.layout.supply {
        Some(volts) => format!("{}, {volts}\n", m.layout.format),
        None => format!("{}\n", m.layout.format),
    }
}

fn components(m: &Measured) -> String {
    let mut rows = table(&["supply line", "energy", "share"], 1);
    for (component, energy) in m.summary.header.components.iter().zip(&m.summary.by_component) {
        let share = *energy / m.summary.energy;
        if share.abs() < NOTHING_LEFT {
            continue;
        }
        let share = format!("{:.1} %", 100.0 * share);
        rows.add_row([component.name.clone(), energy.to_string(), share]);
    }
    rows.to_string()
}

fn windows(m: &Measured) -> String {
    let head = ["window", "start", "length", "energy", "mean", "unknown", "an inference"];
    let mut rows = table(&head, 1);
    for (number, w) in m.measured.iter().enumerate().take(ROWS) {
        let name = match w.window.name.as_str() {
            "" => (number + 1).to_string(),
            name => name.to_owned(),
        };
        rows.add_row([
            name,
            w.window.start.to_string(),
            w.length().to_string(),
            if w.known.0 > 0.0 { w.energy.to_string() } else { String::new() },
            w.mean().map_or_else(String::new, |mean| mean.to_string()),
            if w.unknown.0 > 0.0 { w.unknown.to_string() } else { String::new() },
            w.per_inference.map_or_else(String::new, |energy| energy.to_string()),
        ]);
    }
    let more = m.measured.len().saturating_sub(ROWS);
    let more = if more > 0 { format!("\n{more} more windows") } else { String::new() };
    format!("{rows}{more}")
}

fn inference(m: &Measured, text: &mut String) {
    let Some(energy) = m.energy_per_inference else { return };
    let with: Vec<&MeasuredWindow> =
        m.measured.iter().filter(|w| w.per_inference.is_some()).collect();
    let count = m.inferences_per_window.unwrap_or(1);
    let _ = writeln!(
        text,
        "\nan inference takes {energy}: {} of {}",
        match with.len() {
            1 => "one window".into(),
            several => format!("the median of {several} windows"),
        },
        if count == 1 { "one".into() } else { format!("{} each", grouped(count)) },
    );
    if let Some(published) = m.published() {
        let _ = writeln!(text, "published: {published}, {} apart", apart(energy, published));
    }
}

/// The layers of a profiler's table, by the time they take in an inference.
fn layers(m: &Measured, text: &mut String) {
    let mut by_name: BTreeMap<&str, (f64, usize)> = BTreeMap::new();
    let spans = m.summary.spans.iter().filter(|span| span.kind == SpanKind::Layer);
    let mut inferences = BTreeSet::new();
    for span in spans {
        let slot = by_name.entry(&span.name).or_default();
        slot.0 += span.end.since(span.start).seconds().0;
        slot.1 += 1;
        inferences.insert(span.inference);
    }
    if by_name.is_empty() {
        return;
    }
    let count = inferences.len() as f64;
    let total: f64 = by_name.values().map(|of| of.0).sum();
    let mut of: Vec<_> = by_name.into_iter().collect();
    of.sort_by(|a, b| b.1.0.total_cmp(&a.1.0).then(a.0.cmp(b.0)));
    let mut rows = table(&["layer", "time", "share"], 1);
    for (name, (time, _)) in of.iter().take(LAYERS) {
        rows.add_row([
            shortened(name, 60),
            Seconds(time / count).to_string(),
            format!("{:.1} %", 100.0 * time / total),
        ]);
    }
    let _ = writeln!(text, "\n{rows}");
    if of.len() > LAYERS {
        let rest: f64 = of.iter().skip(LAYERS).map(|layer| layer.1.0).sum();
        let share = 100.0 * rest / total;
        let _ = writeln!(text, "{} more layers, {share:.1} % of the time", of.len() - LAYERS);
    }
    if inferences.len() > 1 {
        let _ = writeln!(text, "times are means of {} inferences", inferences.len());
    }
}

fn apart(measured: Joules, published: Joules) -> String {
    let percent = format!("{:+.4} %", 100.0 * (measured / published - 1.0));
    match percent.strip_prefix(['+', '-']) {
        Some(nothing) if nothing.starts_with("0.0000") => "less than 0.0001 %".to_owned(),
        _ => percent,
    }
}

fn remarks(m: &Measured, text: &mut String) {
    for remark in m.layout.remarks.iter().chain(&m.windows.remarks) {
        let _ = writeln!(text, "note: {remark}");
    }
}

/// What a capture holds.
pub fn info_text(m: &Measured) -> String {
    let mut text = heading(m);
    let mut facts = plain(2, 2);
    let mut row = |name: &str, value: String| {
        facts.add_row([name.to_owned(), value]);
    };
    row("duration", m.summary.duration.to_string());
    row("time zero", origin(m.layout.origin));
    if !m.layout.lines.is_empty() {
        let edges = grouped(m.summary.edge_count);
        row("digital lines", format!("{}; {edges} edges", m.layout.lines.join(", ")));
    }
    if !m.summary.marks.is_empty() {
        row("marks", grouped(m.summary.marks.len() as u64));
    }
    row("gaps", format!("{} ({} in all)", grouped(m.summary.gap_count), m.summary.unknown));
    row("windows", grouped(m.measured.len() as u64));
    if let Some(count) = m.inferences_per_window {
        row("inferences in a window", grouped(count));
    }
    if let Some(matched) = &m.windows.matched {
        let fit = &matched.fit;
        row(
            "host clock",
            format!(
                "{:+.0} ppm against the meter; stop lines come {} after start lines; edges within {} of the fit",
                fit.drift * 1e6,
                fit.stop_lag,
                fit.worst
            ),
        );
    }
    text.push_str(&without_header(&facts));
    if !m.layout.channels.is_empty() {
        let _ = writeln!(text, "\n{}", channels(m));
    }
    if !m.supply.lines.is_empty() {
        let _ = writeln!(text, "\n{}", lines(m));
    }
    remarks(m, &mut text);
    text
}

fn origin(origin: Origin) -> String {
    match origin {
        Origin::FirstSample => "the first sample".into(),
        Origin::OwnClock(seconds) => format!("{seconds} s on the file's clock"),
        Origin::Wall { unix_ns, utc } => {
            let zone = if utc { "UTC" } else { "of the file's time zone" };
            format!("{} {zone}", wall(unix_ns))
        }
    }
}

/// Date and time of day from nanoseconds since 1970 (civil calendar from days, Hinnant 2013).
fn wall(unix_ns: i64) -> String {
    let (seconds, ns) = (unix_ns.div_euclid(1_000_000_000), unix_ns.rem_euclid(1_000_000_000));
    let (days, of_day) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let shifted = days + 719_468;
    let (era, of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_index = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month_index + 2) / 5 + 1;
    let month = if month_index < 10 { month_index + 3 } else { month_index - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}.{:03}", ns / 1_000_000)
}

fn channels(m: &Measured) -> String {
    let mut rows = table(&["channel", "measures", "unit", "supply line"], 4);
    for channel in &m.layout.channels {
        let part = channel.part_of.as_ref().map_or_else(String::new, |of| format!(", within {of}"));
        rows.add_row([
            channel.name.clone(),
            channel.kind.name().to_owned(),
            channel.kind.unit().to_owned(),
            format!("{}{part}", channel.rail),
        ]);
    }
    rows.to_string()
}

fn lines(m: &Measured) -> String {
    let mut rows = table(&["supply line", "power from"], 2);
    let name = |id: ChannelId| m.layout.channels.get(id.0).map_or("", |c| c.name.as_str());
    for line in &m.supply.lines {
        let from = match line.electrical {
            Electrical::Measured(power) => name(power).to_owned(),
            Electrical::Product { voltage, current } => {
                format!("{} times {}", name(voltage), name(current))
            }
            Electrical::Stated { voltage, current } => format!("{voltage} times {}", name(current)),
            Electrical::CurrentAlone(_) => "not known: `--voltage` gives it one".into(),
            Electrical::VoltageAlone(_) => "not known: no current is recorded".into(),
        };
        rows.add_row([line.name.clone(), from]);
    }
    rows.to_string()
}

/// Formats that can be read.
pub fn formats_table(formats: &[Format]) -> String {
    let mut rows = table(&["--format", "is", "written by"], 3);
    for format in formats {
        let shape = if matches!(format.shape, Shape::Folder { .. }) { "folder" } else { "file" };
        rows.add_row([format.name, shape, format.title]);
    }
    format!("{rows}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_agrees_to_every_digit_has_no_sign() {
        let apart = |energy: f64| apart(Joules(energy), Joules(1e-3));
        assert_eq!(apart(1.000_000_04e-3), "less than 0.0001 %");
        assert_eq!(apart(0.999_999_96e-3), "less than 0.0001 %");
        assert_eq!(apart(0.9999e-3), "-0.0100 %");
    }

    #[test]
    fn a_wall_clock_reads_as_date_and_time() {
        assert_eq!(wall(0), "1970-01-01 00:00:00.000");
        assert_eq!(wall(1_645_493_837_802_000_000), "2022-02-22 01:37:17.802");
        assert_eq!(wall(-1_000_000), "1969-12-31 23:59:59.999");
        assert_eq!(wall(951_782_400_000_000_000), "2000-02-29 00:00:00.000");
    }
}
