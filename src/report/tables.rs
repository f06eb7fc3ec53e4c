//! Tables and totals for the terminal, in a readable width.

use super::Prediction;
use crate::calibrate::Comparison;
use crate::evidence::{Coverage, Kind};
use crate::hardware::{Profile, ShippedProfile};
use crate::mapping::{Network, Plan};
use crate::model::ModelGraph;
use crate::sim::Outcome;
use crate::trace::{Cause, Residuals, WINDOWS};
use crate::uncertainty::{Figure, Sampled};
use crate::units::{Bytes, JouleSeconds, Joules, Quantity, Seconds, Spread, Watts, engineering};
use comfy_table::presets::{NOTHING, UTF8_HORIZONTAL_ONLY};
use comfy_table::{CellAlignment, LineStyle, Table, TableStyle};
use std::fmt::Write as _;

/// Rules above, below and under the header, none between rows.
const RULED: TableStyle = UTF8_HORIZONTAL_ONLY.row_separator(LineStyle::none());

fn table(headers: &[&str], left: usize) -> Table {
    let mut table = Table::new();
    table.load_style(RULED);
    table.set_header(headers.to_vec());
    align(&mut table, headers.len(), left);
    table
}

fn plain(columns: usize, left: usize) -> Table {
    let mut table = Table::new();
    table.load_style(NOTHING);
    // A header gives the table its columns before its first row.
    table.set_header(vec![""; columns]);
    align(&mut table, columns, left);
    table
}

fn align(table: &mut Table, columns: usize, left: usize) {
    for index in left..columns {
        if let Some(column) = table.column_mut(index) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
}

/// A count with thin groups: `12 501 632`.
fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(' ');
        }
        out.push(digit);
    }
    out
}

/// The end of a long name, which is where names differ.
fn shortened(name: &str, width: usize) -> String {
    let count = name.chars().count();
    if count <= width {
        return name.to_owned();
    }
    let tail: String = name.chars().skip(count - (width - 1)).collect();
    format!("…{tail}")
}

fn percent(share: f64) -> String {
    let value = share * 100.0;
    if value.abs() < 10.0 { format!("{value:.1} %") } else { format!("{value:.0} %") }
}

/// `inspect`: layers, totals, memory.
pub fn inspect_text(graph: &ModelGraph, network: &Network, live_bytes: &[u64]) -> String {
    let headers = [
        "layer",
        "kind",
        "type",
        "output",
        "MACs",
        "element ops",
        "parameters",
        "weights",
        "activations",
        "live",
    ];
    let mut rows = table(&headers, 4);
    for (layer, live) in network.layers.iter().zip(live_bytes) {
        let w = &layer.work;
        rows.add_row(vec![
            shortened(&layer.name, 28),
            w.kind.to_string(),
            w.element.to_string(),
            layer.output_shape.as_ref().map_or("?".into(), ToString::to_string),
            grouped(w.macs),
            grouped(w.element_ops),
            grouped(w.parameters),
            Bytes(w.weight_bytes as f64).to_string(),
            Bytes(w.output_bytes as f64).to_string(),
            Bytes(*live as f64).to_string(),
        ]);
    }
    let sum = |f: fn(&crate::model::Work) -> u64| -> u64 {
        network.layers.iter().map(|l| f(&l.work)).fold(0, u64::saturating_add)
    };
    let mut text = format!("{}\n{rows}\n", network.name);
    let mut totals = plain(2, 1);
    totals.add_row(vec!["layers".to_owned(), grouped(network.layers.len() as u64)]);
    totals.add_row(vec!["MACs".to_owned(), grouped(sum(|w| w.macs))]);
    totals.add_row(vec!["element operations".to_owned(), grouped(sum(|w| w.element_ops))]);
    totals.add_row(vec!["parameters".to_owned(), grouped(sum(|w| w.parameters))]);
    totals.add_row(vec!["weights".to_owned(), Bytes(network.weight_bytes as f64).to_string()]);
    let peak = Bytes(network.peak_activation_bytes as f64);
    totals.add_row(vec!["peak of live activations".to_owned(), peak.to_string()]);
    text.push_str(&without_header(&totals));
    if let Some(origin) = &graph.origin {
        let _ =
            writeln!(text, "from {} ({}), sha256 {}", origin.file, origin.format, origin.sha256);
    }
    for note in &graph.notes {
        let _ = writeln!(text, "note: {note}");
    }
    text
}

/// A plain table without its empty header line.
fn without_header(table: &Table) -> String {
    let text = table.to_string();
    let mut lines = text.lines();
    lines.next();
    let mut out = String::new();
    for line in lines {
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

/// `estimate`: layers, totals with intervals, what was left out.
pub fn estimate_text(
    p: &Prediction<'_>,
    sampled: Option<&std::collections::BTreeMap<Figure, Sampled>>,
) -> String {
    let mut text = format!("{}\n{}\n", p.subject(), layer_table(p));
    let e = p.estimate;
    let mut totals = plain(4, 1);
    for (name, figure, unit) in [
        ("latency", Figure::Latency, "s"),
        ("energy", Figure::Energy, "J"),
        ("mean power", Figure::MeanPower, "W"),
        ("energy-delay product", Figure::Edp, "J s"),
    ] {
        let value = figure.of(e);
        let i = p.uncertainty.interval(figure, value);
        let second = sampled.and_then(|s| s.get(&figure)).map_or(String::new(), |s| {
            format!(
                "sampled {} to {}, median {}",
                engineering(s.interval.low, unit),
                engineering(s.interval.high, unit),
                engineering(s.median, unit)
            )
        });
        totals.add_row(vec![
            name.to_owned(),
            engineering(value, unit),
            format!("90 %: {} to {}", engineering(i.low, unit), engineering(i.high, unit)),
            second,
        ]);
    }
    text.push_str(&without_header(&totals));
    text.push_str(&components_text(p));
    text.push_str(&standing_text(p));
    text
}

fn layer_table(p: &Prediction<'_>) -> Table {
    let headers = ["layer", "kind", "MACs", "use", "time", "energy", "power", "bound by"];
    let mut rows = table(&headers, 2);
    let last = headers.len() - 1;
    if let Some(column) = rows.column_mut(last) {
        column.set_cell_alignment(CellAlignment::Left);
    }
    for l in &p.estimate.layers {
        rows.add_row(vec![
            shortened(&l.name, 32),
            l.kind.to_string(),
            grouped(l.macs),
            if l.macs > 0 { percent(l.utilisation) } else { String::new() },
            l.time.to_string(),
            l.energy.to_string(),
            l.power().to_string(),
            p.bound_name(l.bound).to_owned(),
        ]);
    }
    rows
}

fn components_text(p: &Prediction<'_>) -> String {
    let names = crate::hardware::components(p.setting.profile);
    let total = p.estimate.energy.0;
    let mut parts: Vec<_> = p.estimate.by_component.iter().collect();
    parts.sort_by(|a, b| b.energy.0.total_cmp(&a.energy.0));
    let shares = parts.into_iter().filter(|_| total > 0.0).map(|c| {
        let name = names.iter().find(|n| n.0 == c.role).map_or("", |n| n.1.as_str());
        format!("{name} {}", percent(c.energy.0 / total))
    });
    format!("energy goes to: {}\n", shares.collect::<Vec<_>>().join(", "))
}

/// What the figures rest on, what is missing, what to know.
fn standing_text(p: &Prediction<'_>) -> String {
    let e = p.estimate;
    let mut text = String::new();
    let line = |what: &str, coverage: &Coverage| {
        let kinds: Vec<_> =
            coverage.shares().map(|(k, s)| format!("{} {}", k.name(), percent(s))).collect();
        format!("{what} rests on evidence: {} ({})", percent(coverage.share()), kinds.join(", "))
    };
    let _ = writeln!(text, "{}", line("time", &e.time_coverage));
    let _ = writeln!(text, "{}", line("energy", &e.energy_coverage));
    if e.time_coverage.is_indicative() || e.energy_coverage.is_indicative() {
        let _ = writeln!(
            text,
            "indicative: less than half of this rests on measured, datasheet, paper or fitted numbers"
        );
    }
    let top = p.uncertainty.energy_contributions.iter().take(3);
    let top: Vec<_> = top.map(|c| format!("{} ({})", c.name, percent(c.share))).collect();
    if !top.is_empty() {
        let _ = writeln!(text, "most uncertain in energy: {}", top.join(", "));
    }
    text.push_str(&left_out(p.plan));
    text
}

fn left_out(plan: &Plan) -> String {
    let mut text = String::new();
    if !plan.uncosted.is_empty() {
        let share: f64 = plan.uncosted.iter().map(|u| u.share).sum();
        let _ = writeln!(
            text,
            "NOT COSTED: {} of {} layers, {} of all operations, are in no sum above:",
            plan.uncosted.len(),
            plan.uncosted.len() + plan.steps.len(),
            percent(share)
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

/// `run`: the layer table and the metrics of the simulated run.
pub fn run_text(p: &Prediction<'_>, outcome: &Outcome) -> String {
    let m = &outcome.metrics;
    let count = m.inferences.max(1) as f64;
    let latency = outcome.latencies.iter().map(|l| l.0).sum::<f64>() / count;
    let per_inference = m.energy.0 / count;
    let mut text = format!("{}\n{}\n", p.subject(), layer_table(p));
    let mut totals = plain(3, 1);
    let mut row = |name: &str, value: String, note: String| {
        totals.add_row(vec![name.to_owned(), value, note]);
    };
    let around = |figure, value: f64, unit: &str| {
        let i = p.uncertainty.interval(figure, value);
        format!("90 %: {} to {}", engineering(i.low, unit), engineering(i.high, unit))
    };
    let none = String::new;
    row("inferences", m.inferences.to_string(), format!("in {}", m.duration));
    row("latency", Seconds(latency).to_string(), around(Figure::Latency, latency, Seconds::UNIT));
    row("energy", m.energy.to_string(), around(Figure::Energy, m.energy.0, Joules::UNIT));
    row(
        "joule per inference",
        Joules(per_inference).to_string(),
        around(Figure::Energy, per_inference, Joules::UNIT),
    );
    row("mean power", m.mean.to_string(), around(Figure::MeanPower, m.mean.0, Watts::UNIT));
    row("peak power", m.peak.to_string(), none());
    for (width, peak) in WINDOWS.iter().zip(&m.window_peaks) {
        let width = format!("{} µs", grouped(width.0 / 1_000_000));
        row(&format!("  mean over {width}"), peak.to_string(), none());
    }
    let edp = per_inference * latency;
    row(
        "energy-delay product",
        JouleSeconds(edp).to_string(),
        around(Figure::Edp, edp, JouleSeconds::UNIT),
    );
    text.push_str(&without_header(&totals));
    text.push_str(&joules_text(outcome));
    text.push_str(&standing_text(p));
    text
}

fn joules_text(outcome: &Outcome) -> String {
    let ledger = &outcome.ledger;
    let total = outcome.metrics.energy.0;
    let part = |energy: Joules| {
        let share = if total > 0.0 { energy.0 / total } else { 0.0 };
        format!("{energy} ({})", percent(share))
    };
    let mut layers = Joules::ZERO;
    for cause in ledger.by_cause.keys().filter(|c| matches!(c, Cause::Layer(_))) {
        layers += ledger.of(cause);
    }
    let named = |map: &std::collections::BTreeMap<String, Joules>| {
        let mut parts: Vec<_> = map.iter().filter(|(_, e)| e.0 != 0.0).collect();
        parts.sort_by(|a, b| b.1.0.total_cmp(&a.1.0));
        parts.iter().map(|(n, e)| format!("{n} {}", part(**e))).collect::<Vec<_>>().join(", ")
    };
    let mut text = String::new();
    let _ = writeln!(
        text,
        "joules by cause: layers {}, idle {}, transitions {}",
        part(layers),
        part(ledger.of(&Cause::Idle)),
        part(ledger.of(&Cause::Transition))
    );
    let _ = writeln!(text, "joules by component: {}", named(&ledger.by_component));
    let _ = writeln!(text, "joules by rail, at the loads: {}", named(&ledger.by_rail));
    if !ledger.losses.is_empty() {
        let _ = writeln!(text, "losses: {}", named(&ledger.losses));
    }
    let r = ledger.residuals();
    let _ = writeln!(
        text,
        "identity of joules holds to {:.0e} (cause {:.0e}, component {:.0e}, rail {:.0e}, source {:.0e}; limit {:.0e})",
        r.largest(),
        r.cause,
        r.component,
        r.rail,
        r.source,
        Residuals::LIMIT
    );
    text
}

/// `validate`: predicted, measured, error.
pub fn comparison_table(comparisons: &[Comparison]) -> String {
    let headers = [
        "case",
        "quantity",
        "measured",
        "predicted",
        "90 % interval",
        "error",
        "covered",
        "split",
        "evidence",
    ];
    let mut rows = table(&headers, 2);
    for c in comparisons {
        let (name, unit) = match c.quantity.rsplit_once('_') {
            Some((name, "s")) => (name, "s"),
            Some((name, "j")) => (name, "J"),
            _ => (c.quantity, ""),
        };
        rows.add_row(vec![
            c.id.clone(),
            name.to_owned(),
            engineering(c.measured, unit),
            engineering(c.predicted, unit),
            format!(
                "{} to {}",
                engineering(c.interval.low, unit),
                engineering(c.interval.high, unit)
            ),
            format!("{:+.1} %", c.relative_error * 100.0),
            if c.covered() { "yes".into() } else { "no".to_owned() },
            c.split.name().to_owned(),
            percent(c.coverage),
        ]);
    }
    let mut text = format!("{rows}\n");
    for quantity in ["latency_s", "energy_j"] {
        let mut errors: Vec<f64> = comparisons
            .iter()
            .filter(|c| c.quantity == quantity)
            .map(|c| c.relative_error.abs())
            .collect();
        errors.sort_by(f64::total_cmp);
        let (Some(worst), Some(median)) = (errors.last(), median(&errors)) else { continue };
        let name = quantity.split('_').next().unwrap_or(quantity);
        let _ = writeln!(
            text,
            "{name}: median of absolute errors {}, worst {}, {} figures",
            percent(median),
            percent(*worst),
            errors.len()
        );
    }
    if comparisons.iter().any(|c| c.coverage < 0.5) {
        text.push_str("predictions with less than 50 % evidence are indicative\n");
    }
    text
}

fn median(sorted: &[f64]) -> Option<f64> {
    let middle = sorted.len() / 2;
    let upper = *sorted.get(middle)?;
    if sorted.len() % 2 == 1 {
        return Some(upper);
    }
    Some((sorted.get(middle - 1)? + upper) / 2.0)
}

/// `hardware list`.
pub fn hardware_list_table(profiles: &[(ShippedProfile, Profile)]) -> String {
    let mut rows = table(&["profile", "kind", "on evidence", "description"], 4);
    for (_, profile) in profiles {
        let spec = profile.spec();
        rows.add_row(vec![
            spec.name.clone(),
            spec.kind.to_string(),
            percent(profile.sourced_share()),
            spec.description.clone(),
        ]);
    }
    format!("{rows}\n")
}

/// `hardware show`: the rail tree, then every number with its source.
pub fn hardware_text(profile: &Profile) -> String {
    let spec = profile.spec();
    let mut text = format!("{} ({}): {}\n\n", spec.name, spec.kind, spec.description);
    text.push_str(&rail_tree(profile));
    text.push('\n');
    let mut rows = table(&["parameter", "value", "spread", "kind", "source"], 1);
    for column in [3, 4] {
        if let Some(column) = rows.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Left);
        }
    }
    for record in profile.parameters() {
        let p = record.parameter;
        let spread = match p.spread {
            None => String::new(),
            Some(Spread::LogNormal(sigma)) => format!("±{:.0} %", sigma.exp_m1() * 100.0),
            Some(Spread::Normal(sd)) => format!("±{}", engineering(sd, "K")),
        };
        rows.add_row(vec![
            record.path,
            p.written,
            spread,
            p.kind.name().to_owned(),
            p.source.unwrap_or_else(|| "none".into()),
        ]);
    }
    let _ = writeln!(text, "{rows}\n\nsources");
    for (key, source) in &spec.sources {
        let _ = write!(text, "  {key} ({}): {}", source.kind.name(), source.citation);
        if let Some(condition) = &source.condition {
            let _ = write!(text, "; {condition}");
        }
        if let Some(common) = source.common {
            let _ =
                write!(text, "; its values share a factor of ±{:.0} %", common.0.exp_m1() * 100.0);
        }
        text.push('\n');
    }
    text.push_str(&kinds_text(profile));
    text
}

fn kinds_text(profile: &Profile) -> String {
    let parameters = profile.parameters();
    let count = |kind: Kind| parameters.iter().filter(|r| r.parameter.kind == kind).count();
    let parts: Vec<_> = Kind::ALL
        .into_iter()
        .filter(|k| count(*k) > 0)
        .map(|k| format!("{} {}", count(k), k.name()))
        .collect();
    format!(
        "\n{} numbers: {}; {} on evidence\n",
        parameters.len(),
        parts.join(", "),
        percent(profile.sourced_share())
    )
}

/// Rails, regulators, domains and what is in them, drawn as a tree.
fn rail_tree(profile: &Profile) -> String {
    let spec = profile.spec();
    let links = profile.links();
    let mut text = String::new();
    let fed: Vec<usize> = links.regulator_rails.iter().map(|r| r.1).collect();
    for rail in (0..spec.rails.len()).filter(|r| !fed.contains(r)) {
        let _ = writeln!(text, "source ── {}", spec.rails[rail].name);
        branch(profile, rail, "          ", &mut text);
    }
    text
}

fn branch(profile: &Profile, rail: usize, indent: &str, text: &mut String) {
    let spec = profile.spec();
    let links = profile.links();
    for (d, domain) in
        spec.domains.iter().enumerate().filter(|(d, _)| links.domain_rail[*d] == rail)
    {
        let engines = spec.engines.iter().enumerate();
        let engines = engines.filter(|(e, _)| links.engine_domain[*e] == d).map(|(_, e)| &e.name);
        let memories = spec.memories.iter().enumerate();
        let memories = memories.filter(|(m, _)| links.memory_domain[*m] == d).map(|(_, m)| &m.name);
        let inside: Vec<&str> = engines.chain(memories).map(String::as_str).collect();
        let _ = writeln!(
            text,
            "{indent}├─ domain {} (clock {}): {}",
            domain.name,
            domain.clock,
            inside.join(", ")
        );
    }
    // Alternative regulators of one rail are drawn one under another, the rail once.
    let mut outputs: Vec<usize> =
        links.regulator_rails.iter().filter(|r| r.0 == rail).map(|r| r.1).collect();
    outputs.dedup();
    for output in outputs {
        let names = spec.regulators.iter().zip(&links.regulator_rails);
        let names: Vec<_> =
            names.filter(|(_, r)| **r == (rail, output)).map(|(r, _)| r.name.as_str()).collect();
        let _ = writeln!(text, "{indent}└─ {} ── {}", names.join(" or "), spec.rails[output].name);
        branch(profile, output, &format!("{indent}          "), text);
    }
}

/// `hardware check`: what the numbers of a sound profile rest on, the weakest listed.
pub fn hardware_check_text(profile: &Profile) -> String {
    let mut text = format!("{}: sound\n", profile.spec().name);
    text.push_str(kinds_text(profile).trim_start());
    for record in profile.parameters() {
        let p = record.parameter;
        if matches!(p.kind, Kind::Assumed | Kind::Recalled) {
            let source = p.source.map_or("no source".to_owned(), |s| format!("@{s}"));
            let (kind, written) = (p.kind.name(), p.written);
            let _ = writeln!(text, "  {kind}: {} = {written} ({source})", record.path);
        }
    }
    text
}

/// `model list`.
pub fn model_list_table(rows: &[(&str, &str, u64, u64)]) -> String {
    let mut out = table(&["model", "MACs", "parameters", "file"], 1);
    if let Some(column) = out.column_mut(3) {
        column.set_cell_alignment(CellAlignment::Left);
    }
    for (name, path, macs, parameters) in rows {
        out.add_row(vec![
            (*name).to_owned(),
            grouped(*macs),
            grouped(*parameters),
            (*path).to_owned(),
        ]);
    }
    format!("{out}\n")
}
