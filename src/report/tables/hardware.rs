//! What ships, every number with its source, and the rail tree.

use super::{percent, table};
use crate::evidence::Kind;
use crate::hardware::{Profile, ShippedProfile};
use crate::units::{Spread, engineering};
use comfy_table::{CellAlignment, ContentArrangement};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// `hardware list`.
pub fn hardware_list_table(profiles: &[(ShippedProfile, Profile)]) -> String {
    let mut rows = table(&["profile", "kind", "on evidence", "description"], 4);
    rows.set_content_arrangement(ContentArrangement::Dynamic).set_width(100);
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
    if !profile.extends().is_empty() {
        let _ = writeln!(text, "extends {}\n", profile.extends().join(", which extends "));
    }
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
        branch(profile, rail, "          ", 0, &mut text);
    }
    text
}

/// More levels than any tree of rails has. Regulators of different operating points may point at each
/// other; each point by itself has been checked.
const DEEPEST: usize = 8;

fn branch(profile: &Profile, rail: usize, indent: &str, depth: usize, text: &mut String) {
    let spec = profile.spec();
    let links = profile.links();
    let in_rail = spec.domains.iter().enumerate().filter(|(d, _)| links.domain_rail[*d] == rail);
    for (d, domain) in in_rail {
        let engines = spec.engines.iter().zip(&links.engine_domain);
        let engines = engines.filter(|(_, of)| **of == d).map(|(engine, _)| &engine.name);
        let memories = spec.memories.iter().zip(&links.channel_domain);
        let memories = memories.filter(|(_, of)| **of == d).map(|(memory, _)| &memory.name);
        let inside: Vec<&str> = engines.chain(memories).map(String::as_str).collect();
        let (name, clock) = (&domain.name, &domain.clock);
        let _ = writeln!(text, "{indent}├─ domain {name} (clock {clock}): {}", inside.join(", "));
    }
    // Alternative regulators of one rail are drawn on one line, the rail once.
    let outputs: BTreeSet<usize> =
        links.regulator_rails.iter().filter(|r| r.0 == rail).map(|r| r.1).collect();
    for output in outputs.into_iter().filter(|_| depth < DEEPEST) {
        let names = spec.regulators.iter().zip(&links.regulator_rails);
        let names: Vec<_> =
            names.filter(|(_, r)| **r == (rail, output)).map(|(r, _)| r.name.as_str()).collect();
        let _ = writeln!(text, "{indent}└─ {} ── {}", names.join(" or "), spec.rails[output].name);
        branch(profile, output, &format!("{indent}          "), depth + 1, text);
    }
}
/// `hardware check`: what the numbers of a sound profile rest on, the weakest listed.
pub fn hardware_check_text(profile: &Profile) -> String {
    let mut text = format!("{}: sound\n", profile.spec().name);
    text.push_str(kinds_text(profile).trim_start());
    for note in profile.gaps() {
        let _ = writeln!(text, "  note: {note}");
    }
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
