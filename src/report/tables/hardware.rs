//! What ships, every number with its source, and the tree of a profile.

mod context;
mod drawing;
mod engine;
mod headlines;
mod tree;

pub use context::software_check_text;
pub(in crate::report) use headlines::MOVERS;
pub use headlines::{CheckedModel, headlines_text};

use super::{percent, table};
use crate::evidence::{Kind, Parameter, Source};
use crate::hardware::{ParameterRecord, Profile, ShippedProfile};
use crate::units::{Spread, engineering};
use comfy_table::{CellAlignment, ContentArrangement};
use drawing::{WIDTH, wrapped};
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

/// `hardware show`: what it is, the tree of what feeds what, and what stands beside it.
pub fn hardware_tree_text(profile: &Profile) -> String {
    let spec = profile.spec();
    let mut text = format!("{} ({})\n", spec.name, spec.kind);
    lines(&mut text, &spec.description, "");
    if !profile.extends().is_empty() {
        lines(&mut text, &format!("laid over {}", profile.extends().join(", over ")), "");
    }
    text.push('\n');
    text.push_str(&tree::tree_text(profile));
    text.push_str(&context::context_text(profile));
    text
}

/// `hardware show`: every number with its spread, and its source.
pub fn hardware_numbers_text(profile: &Profile) -> String {
    let mut rows = table(&["number", "value", "spread", "kind", "source"], 1);
    for column in [3, 4] {
        if let Some(column) = rows.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Left);
        }
    }
    for ParameterRecord { name, parameter, .. } in profile.parameters() {
        let (spread, kind) = (spread(&parameter), parameter.kind.name().to_owned());
        let source = parameter.source.unwrap_or_else(|| "none".into());
        rows.add_row(vec![name, parameter.written, spread, kind, source]);
    }
    let mut text = format!("{rows}\n\nsources\n");
    for (key, source) in &profile.spec().sources {
        lines(&mut text, &source_text(key, source), "  ");
    }
    text.push_str(&kinds_text(profile));
    text
}

/// How far a number may be off.
fn spread(parameter: &Parameter) -> String {
    match parameter.spread {
        None => String::new(),
        Some(Spread::LogNormal(sigma)) => format!("±{:.0} %", sigma.exp_m1() * 100.0),
        // A difference of temperatures is in kelvin.
        Some(Spread::Normal(deviation)) if parameter.unit == "°C" => format!("±{deviation} K"),
        Some(Spread::Normal(deviation)) => format!("±{}", engineering(deviation, parameter.unit)),
    }
}

fn source_text(key: &str, source: &Source) -> String {
    let mut text = format!("{key} ({}): {}", source.kind.name(), source.citation);
    if let Some(condition) = &source.condition {
        let _ = write!(text, "; {condition}");
    }
    if let Some(common) = source.common {
        let _ = write!(text, "; its values share a factor of ±{:.0} %", common.0.exp_m1() * 100.0);
    }
    text
}

/// Adds lines, broken where they are too long.
fn lines(text: &mut String, line: &str, indent: &str) {
    for (i, line) in wrapped(line, WIDTH - indent.len()).into_iter().enumerate() {
        let _ = writeln!(text, "{indent}{}{line}", if i == 0 { "" } else { "  " });
    }
}

/// `hardware check`: that a profile is sound, and what its numbers rest on.
pub fn hardware_check_text(profile: &Profile) -> String {
    let mut text = format!("{}: sound\n", profile.spec().name);
    text.push_str(kinds_text(profile).trim_start());
    for note in profile.gaps() {
        lines(&mut text, &format!("note: {note}"), "  ");
    }
    text
}

/// `hardware check`: the numbers on no evidence. Conditions without a source belong to the number that
/// they are stated for.
pub fn weak_numbers_text(profile: &Profile) -> String {
    let mut text = String::new();
    let mut records = profile.parameters();
    records.retain(|r| r.parameter.is_statement());
    let unsourced = |r: &ParameterRecord| r.parameter.source.is_none();
    let of = |kind: Kind| move |r: &ParameterRecord| r.parameter.kind == kind && !unsourced(r);
    weak(&mut text, "unsourced, which counts as assumed", &records, unsourced);
    weak(&mut text, "assumed", &records, of(Kind::Assumed));
    weak(&mut text, "recalled", &records, of(Kind::Recalled));
    text
}

/// The numbers of a kind, each with its spread and its source.
fn weak(
    text: &mut String,
    heading: &str,
    records: &[ParameterRecord],
    belongs: impl Fn(&ParameterRecord) -> bool,
) {
    let found: Vec<_> = records.iter().filter(|record| belongs(record)).collect();
    if found.is_empty() {
        return;
    }
    let _ = writeln!(text, "\n{heading} ({})", found.len());
    for ParameterRecord { name, parameter, .. } in found {
        let source = parameter.source.as_ref().map_or(String::new(), |key| format!(" @{key}"));
        let spread = spread(parameter);
        let spread = if spread.is_empty() { spread } else { format!(" {spread}") };
        let _ = writeln!(text, "  {name} = {}{spread}{source}", parameter.written);
    }
}

fn kinds_text(profile: &Profile) -> String {
    let mut parameters = profile.parameters();
    parameters.retain(|r| r.parameter.is_statement());
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
