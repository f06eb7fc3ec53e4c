//! A prediction: layers, totals with intervals, where joules go, what it rests on.

use super::layers::{LayerView, layers_table};
use super::limits::{lifetimes_text, limits_text};
use super::{listed, percent, plain, shortened, without_header};
use crate::evidence::Coverage;
use crate::hardware::components;
use crate::mapping::Plan;
use crate::report::Prediction;
use crate::sim::Outcome;
use crate::trace::{Cause, Ledger, Residuals, WINDOWS};
use crate::uncertainty::{Figure, Sampled};
use crate::units::{JouleSeconds, Joules, Quantity, Seconds, SimTime, Watts, engineering};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// `estimate`: layers, totals with intervals, what was left out.
pub fn estimate_text(
    p: &Prediction<'_>,
    view: LayerView,
    sampled: Option<&BTreeMap<Figure, Sampled>>,
) -> String {
    let mut text = headed(p, view);
    let mut totals = plain(4, 1);
    for (name, figure, unit) in [
        ("latency", Figure::Latency, "s"),
        ("energy", Figure::Energy, "J"),
        ("mean power", Figure::MeanPower, "W"),
        ("energy-delay product", Figure::Edp, "J s"),
        ("energy-delay-squared product", Figure::Ed2p, "J s^2"),
    ] {
        let value = figure.of(p.estimate);
        let second = sampled.and_then(|s| s.get(&figure)).map_or(String::new(), |s| {
            let shown = |value| engineering(value, unit);
            let (low, high) = (shown(s.interval.low), shown(s.interval.high));
            format!("sampled {low} to {high}, median {}", shown(s.median))
        });
        totals.add_row(vec![
            name.to_owned(),
            engineering(value, unit),
            interval(p, figure, value, unit),
            second,
        ]);
    }
    text.push_str(&without_header(&totals));
    let names = components(p.setting.profile);
    let parts = p.estimate.by_component.iter().map(|c| {
        let name = names.iter().find(|n| n.0 == c.role).map_or("", |n| n.1.as_str());
        (name, c.energy)
    });
    text.push_str(&listed("joules by component", &shares(parts, p.estimate.energy)));
    text.push_str(&levels_text(p));
    text.push_str(&limits_text(p));
    text.push_str(&lifetimes_text(&p.lifetimes(), "back to back"));
    text.push_str(&evidence_text(p));
    text.push_str(&fell_back(p));
    text.push_str(&left_out(p.plan));
    text
}

/// `run`: the layer table and the metrics of the simulated run.
pub fn run_text(p: &Prediction<'_>, outcome: &Outcome) -> String {
    let m = &outcome.metrics;
    let mut text = headed(p, LayerView::default());
    let mut totals = plain(3, 1);
    let mut row = |name: &str, value: String, note: String| {
        totals.add_row(vec![name.to_owned(), value, note]);
    };
    let none = String::new;
    let per_inference = outcome.energy_per_inference();
    let latency = outcome.latency.mean();
    row("inferences", m.inferences.to_string(), format!("in {}", m.duration));
    row("latency", latency.to_string(), interval(p, Figure::Latency, latency.0, Seconds::UNIT));
    if outcome.response.longest() > outcome.latency.longest() {
        let longest = format!("longest {}", outcome.response.longest());
        row("response, with waking and waiting", outcome.response.mean().to_string(), longest);
    }
    row("energy", m.energy.to_string(), interval(p, Figure::Energy, m.energy.0, Joules::UNIT));
    let each = interval(p, Figure::Energy, per_inference.0, Joules::UNIT);
    row("joule per inference", per_inference.to_string(), each);
    row("mean power", m.mean.to_string(), interval(p, Figure::MeanPower, m.mean.0, Watts::UNIT));
    row("peak power", m.peak.to_string(), none());
    for (width, peak) in WINDOWS.iter().zip(&m.window_peaks) {
        row(&format!("  highest mean over {}", window_name(*width)), peak.to_string(), none());
    }
    let edp = outcome.edp();
    row(
        "energy-delay product",
        edp.to_string(),
        interval(p, Figure::Edp, edp.0, JouleSeconds::UNIT),
    );
    text.push_str(&without_header(&totals));
    text.push_str(&joules_text(outcome));
    text.push_str(&limits_text(p));
    let load = "under the load of this run";
    text.push_str(&lifetimes_text(&p.lifetimes_of_run(outcome), load));
    text.push_str(&evidence_text(p));
    text.push_str(&fell_back(p));
    text.push_str(&left_out(p.plan));
    text
}

/// `1 µs`, `10 µs`, `100 µs`, `1 ms`.
pub(in crate::report) fn window_name(width: SimTime) -> String {
    match width.0 / 1_000_000 {
        us if us.is_multiple_of(1000) => format!("{} ms", us / 1000),
        us => format!("{us} µs"),
    }
}

fn interval(p: &Prediction<'_>, figure: Figure, value: f64, unit: &str) -> String {
    let i = p.uncertainty.interval(figure, value);
    format!("90 %: {} to {}", engineering(i.low, unit), engineering(i.high, unit))
}

/// Subject, what limits the whole, layers.
fn headed(p: &Prediction<'_>, view: LayerView) -> String {
    let mut text = format!("{}\n", p.subject());
    let flags: Vec<_> = p.network.transforms.iter().map(|r| r.transform.to_string()).collect();
    if !flags.is_empty() {
        let _ = writeln!(text, "changed by {}", flags.join(" "));
    }
    if let Some(fused) = &p.network.fused {
        let _ = writeln!(text, "fused by the software: {}", fused.changed.join("; "));
    }
    if let Some(quality) = &p.network.quality {
        let _ = writeln!(text, "quality: {quality}");
    }
    for caveat in &p.caveats {
        let _ = writeln!(text, "! {caveat}");
    }
    let _ = writeln!(text, "{}", layers_table(p, view));
    text
}

/// What passes each memory, cache and link.
fn levels_text(p: &Prediction<'_>) -> String {
    let macs = p.estimate.layers.iter().map(|l| l.macs).fold(0, u64::saturating_add);
    let levels = p.estimate.levels();
    let mut rows = plain(5, 1);
    for level in &levels {
        let intensity = level.intensity(macs).filter(|_| macs > 0);
        rows.add_row(vec![
            format!("{}:", p.setting.profile.channel_name(level.channel)),
            format!("{} read,", level.read),
            format!("{} written", level.write),
            level.energy.to_string(),
            intensity.map_or_else(String::new, |i| format!("{} MAC/B", rounded(i))),
        ]);
    }
    if levels.is_empty() { String::new() } else { without_header(&rows) }
}

/// Three digits of a number.
fn rounded(value: f64) -> String {
    match value {
        v if v >= 100.0 => format!("{v:.0}"),
        v if v >= 10.0 => format!("{v:.1}"),
        v => format!("{v:.2}"),
    }
}

/// Named energies that a list shows.
const LISTED_SHARES: usize = 14;

/// Named energies, largest first, with their share of the whole; the small ones of many as one.
pub(super) fn shares<'a>(
    parts: impl Iterator<Item = (&'a str, Joules)>,
    whole: Joules,
) -> Vec<String> {
    let mut parts: Vec<_> = parts.filter(|(_, energy)| energy.0 != 0.0).collect();
    parts.sort_by(|a, b| b.1.0.total_cmp(&a.1.0));
    let share = |energy: Joules| if whole.0 != 0.0 { energy / whole } else { 0.0 };
    let shown = |name: &str, energy| format!("{name} {energy} ({})", percent(share(energy)));
    let many = parts.len() > LISTED_SHARES + 1;
    let rest = parts.split_off(if many { LISTED_SHARES } else { parts.len() });
    let mut list: Vec<_> = parts.into_iter().map(|(name, energy)| shown(name, energy)).collect();
    if many {
        let sum: Joules = rest.iter().map(|(_, energy)| *energy).sum();
        list.push(shown(&format!("{} others", rest.len()), sum));
    }
    list
}

fn joules_text(outcome: &Outcome) -> String {
    let ledger = &outcome.ledger;
    let whole = outcome.metrics.energy;
    let mut layers = Joules::ZERO;
    for cause in ledger.by_cause.keys().filter(|c| matches!(c, Cause::Layer { .. })) {
        layers += ledger.of(cause);
    }
    let causes = [
        ("layers", layers),
        ("idle", ledger.of(&Cause::Idle)),
        ("transitions", ledger.of(&Cause::Transition)),
    ];
    let named = |map: &BTreeMap<String, Joules>| -> Vec<String> {
        shares(map.iter().map(|(n, e)| (n.as_str(), *e)), whole)
    };
    let loads = ledger.by_component.iter().map(|(name, energy)| (name.clone(), *energy));
    let losses = ledger.losses.iter().map(|(name, energy)| (format!("{name}_loss"), *energy));
    let all: BTreeMap<String, Joules> = loads.chain(losses).collect();
    let mut text = String::new();
    text.push_str(&listed("joules by cause", &shares(causes.into_iter(), whole)));
    text.push_str(&listed("joules by component", &named(&all)));
    text.push_str(&listed("joules by rail, at the loads", &named(&ledger.by_rail)));
    text.push_str(&identity(ledger));
    text
}

/// A relative gap as it is told: the power of ten above it, and 1e-15 for whatever rounding makes of equal
/// sums, which is another number on each machine.
fn beyond_rounding(gap: f64) -> f64 {
    match gap {
        gap if gap <= 1e-15 => 1e-15,
        gap if gap.is_finite() => 10f64.powf(gap.log10().ceil()),
        gap => gap,
    }
}

/// What the sources gave, and how well the sums of joules agree.
pub(super) fn identity(ledger: &Ledger) -> String {
    let mut text = format!("joules from the sources: {}\n", ledger.source);
    let r = ledger.residuals();
    let [largest, cause, component, rail, source] =
        [r.largest(), r.cause, r.component, r.rail, r.source].map(beyond_rounding);
    let _ = writeln!(
        text,
        "identity of joules holds to {largest:.0e} (cause {cause:.0e}, component {component:.0e}, rail {rail:.0e}, source {source:.0e}; limit {:.0e})",
        Residuals::LIMIT
    );
    text
}

/// What the figures rest on, and what to measure first.
fn evidence_text(p: &Prediction<'_>) -> String {
    let mut text = String::new();
    let line = |what: &str, coverage: &Coverage| {
        let kinds: Vec<_> =
            coverage.shares().map(|(k, s)| format!("{} {}", k.name(), percent(s))).collect();
        format!("{what} rests on evidence: {} ({})", percent(coverage.share()), kinds.join(", "))
    };
    let _ = writeln!(text, "{}", line("time", p.time_evidence));
    let _ = writeln!(text, "{}", line("energy", p.energy_evidence));
    let top = p.uncertainty.energy_contributions.iter().take(3);
    let top: Vec<_> = top.map(|c| format!("{} ({})", c.name, percent(c.share))).collect();
    if !top.is_empty() {
        text.push_str(&listed("most uncertain in energy", &top));
    }
    text
}

/// Layers that fell back to one engine.
#[derive(Default)]
struct FellBack<'a> {
    names: Vec<&'a str>,
    time: f64,
    energy: Joules,
    reasons: BTreeSet<String>,
}

/// Layers that a later engine runs, because those before it do not, by engine and reason.
fn fell_back(p: &Prediction<'_>) -> String {
    let engines = &p.setting.profile.spec().engines;
    let mut by_engine: BTreeMap<usize, FellBack<'_>> = BTreeMap::new();
    for fallback in &p.plan.fallbacks {
        let layer = p.estimate.layers.iter().find(|l| l.layer == fallback.layer);
        let Some(layer) = layer else { continue };
        let own = by_engine.entry(fallback.engine).or_default();
        own.names.push(&layer.name);
        own.time += layer.time.0;
        own.energy += layer.energy;
        own.reasons.extend(fallback.refused.iter().map(|(_, refusal)| refusal.to_string()));
    }
    let mut text = String::new();
    for (engine, own) in by_engine {
        let whole = p.estimate.latency.0;
        let share = if whole > 0.0 { own.time / whole } else { 0.0 };
        let shown: Vec<_> = own.names.iter().take(4).map(|name| shortened(name, 32)).collect();
        let more = if own.names.len() > 4 { ", …" } else { "" };
        let layers = if own.names.len() == 1 { "layer falls" } else { "layers fall" };
        let _ = writeln!(
            text,
            "{} {layers} back to {}, {} of the time and {}: {}{more}",
            own.names.len(),
            engines[engine].name,
            percent(share),
            own.energy,
            shown.join(", ")
        );
        for reason in own.reasons.iter().take(4) {
            let _ = writeln!(text, "  {reason}");
        }
    }
    text
}

fn left_out(plan: &Plan) -> String {
    let mut text = String::new();
    if !plan.uncosted.is_empty() {
        let _ = writeln!(
            text,
            "NOT COSTED: {} of {} layers, {} of all known operations, are in no sum above:",
            plan.uncosted.len(),
            plan.uncosted.len() + plan.steps.len(),
            percent(1.0 - plan.costed_share)
        );
        for u in plan.uncosted.iter().take(12) {
            let _ = writeln!(text, "  {} ({}): {}", u.name, u.kind, u.reasons.join("; "));
        }
        if plan.uncosted.len() > 12 {
            let _ = writeln!(text, "  and {} more (--json lists all)", plan.uncosted.len() - 12);
        }
    }
    for note in &plan.notes {
        let _ = writeln!(text, "note: {note}");
    }
    text
}
