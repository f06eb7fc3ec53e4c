//! The table as part of a profile.

use super::{Block, BlockMode, BlockTable, Reading};
use crate::diagnostic::quoted;
use crate::evidence::Kind;
use crate::hardware::Profile;
use crate::units::{Spread, Watts};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

/// What the table itself does not say.
#[derive(Debug, Clone, PartialEq)]
pub struct Terms {
    /// Kind of the table as a source.
    pub kind: Kind,
    /// How far its powers may be off; left out, what that kind has.
    pub spread: Option<Spread>,
    /// The mode that blocks are in unless told otherwise, where they have it; their first when left out.
    pub initial: Option<String>,
}

/// Key of the assumed growth of leakage.
const GROWTH: &str = "leakage_growth";

/// What the growth of leakage is taken from: a reference temperature says that leakage grows, and not how.
const GROWTH_CITATION: &str = "the table states a temperature and no growth: CMOS leakage grows by 2 to 6 1/V, and doubles every 17 to 40 K";

/// The table as rails, sources and loads, to be put into a profile.
pub fn profile_fragment(table: &BlockTable, name: Option<&str>, terms: &Terms) -> String {
    let what = "A part of a profile, not one of its own";
    let mut text = format!("{}(\n", heading(table, what, terms));
    if let Some(name) = name {
        let _ = writeln!(text, "  name: {},", quoted(name));
    }
    let keys = Keys::beside(std::iter::empty());
    let _ = writeln!(text, "  rails: [{}],", rails(&table.rails()));
    text.push_str(&sources(table, terms, &keys));
    text.push_str(&loads(table, terms, &keys));
    text.push_str(")\n");
    text
}

/// A profile called `name` that extends `profile`, by the name of `base`, by the loads of the table. Rails
/// that it lacks come with them, and stand at the highest voltage that the table states for them.
pub fn profile_onto(
    table: &BlockTable,
    name: &str,
    base: &str,
    profile: &Profile,
    terms: &Terms,
) -> String {
    let spec = profile.spec();
    let described =
        format!("{} with the blocks of {} as state loads.", spec.name, file_name(table));
    let mut text = format!(
        "{}(\n  extends: {},\n  name: {},\n  description: {},\n",
        heading(table, "What is not here is that of the profile it extends", terms),
        quoted(base),
        quoted(name),
        quoted(&described)
    );
    let keys = Keys::beside(spec.sources.keys().map(String::as_str));
    let new = table.new_rails(profile);
    if !new.is_empty() {
        let _ = writeln!(text, "  rails: [{}],", rails(&new));
        let voltages = new.iter().filter_map(|rail| {
            let highest = table.highest_voltage(rail)?;
            let literal = quoted(&format!("{} @{}", highest.written, keys.table));
            Some(format!("{}: {literal}", quoted(rail)))
        });
        let voltages = voltages.collect::<Vec<_>>().join(", ");
        text.push_str("  operating_points: [\n");
        for point in &spec.operating_points {
            let name = quoted(&point.name);
            let _ = writeln!(text, "    (name: {name}, voltages: {{{voltages}}}),");
        }
        text.push_str("  ],\n");
    }
    text.push_str(&sources(table, terms, &keys));
    text.push_str(&loads(table, terms, &keys));
    text.push_str(")\n");
    text
}

/// What a reader of the file has to know.
fn heading(table: &BlockTable, what: &str, terms: &Terms) -> String {
    let (blocks, modes) = (counted(table.blocks.len(), "block"), counted(table.modes(), "mode"));
    let mut text = format!("// {blocks} in {modes} from {}. {what}.\n", file_name(table));
    let unless = "unless an operating point or --state names another";
    let _ = match &terms.initial {
        None => writeln!(text, "// Each is in its first state {unless}."),
        Some(mode) => writeln!(text, "// Each is in `{mode}`, or its first state, {unless}."),
    };
    for remark in table.remarks() {
        let _ = writeln!(text, "// {remark}");
    }
    text
}

/// `1 block`, `2 blocks`.
pub(super) fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

fn rails(names: &[&str]) -> String {
    let rails: Vec<String> = names.iter().map(|rail| format!("(name: {})", quoted(rail))).collect();
    rails.join(", ")
}

/// Keys of the sources.
struct Keys {
    table: String,
    growth: String,
}

impl Keys {
    /// Keys that are free beside those taken: a source of the same key would be replaced.
    fn beside<'a>(taken: impl Iterator<Item = &'a str>) -> Self {
        let taken: BTreeSet<&str> = taken.collect();
        let free = |wanted: &str| {
            let numbered = (2..).map(|n| format!("{wanted}_{n}"));
            let mut keys = std::iter::once(wanted.to_owned()).chain(numbered);
            keys.find(|key| !taken.contains(key.as_str())).unwrap_or_default()
        };
        Self { table: free("table"), growth: free(GROWTH) }
    }
}

/// The file without its folders, which mean nothing elsewhere.
fn file_name(table: &BlockTable) -> String {
    let name = Path::new(&table.file).file_name();
    name.map_or_else(|| table.file.clone(), |n| n.to_string_lossy().into_owned())
}

fn sources(table: &BlockTable, terms: &Terms, keys: &Keys) -> String {
    let said = match terms.kind {
        Kind::Assumed => "; how its numbers came about is not said",
        _ => "",
    };
    let citation = format!(
        "power table {}: {}, {}{said}",
        file_name(table),
        counted(table.blocks.len(), "block"),
        counted(table.modes(), "mode")
    );
    let mut text = format!(
        "  sources: {{\n    {}: (kind: {:?}, citation: {}),\n",
        quoted(&keys.table),
        terms.kind,
        quoted(&citation)
    );
    if table.blocks.iter().flat_map(|b| &b.modes).any(|m| growing(m).is_some()) {
        let _ = writeln!(
            text,
            "    {}: (kind: Assumed, citation: {}),",
            quoted(&keys.growth),
            quoted(GROWTH_CITATION)
        );
    }
    text.push_str("  },\n");
    text
}

fn loads(table: &BlockTable, terms: &Terms, keys: &Keys) -> String {
    let mut text = "  loads: [\n".to_owned();
    for block in &table.blocks {
        text.push_str(&load(block, terms, keys));
    }
    text.push_str("  ],\n");
    text
}

fn load(block: &Block, terms: &Terms, keys: &Keys) -> String {
    let (name, rail) = (quoted(&block.name), quoted(&block.rail));
    let mut text = format!("    (\n      name: {name},\n      rail: {rail},\n");
    let initial = terms.initial.as_ref().filter(|i| block.modes.iter().any(|m| m.name == **i));
    if let Some(initial) = initial {
        let _ = writeln!(text, "      initial: {},", quoted(initial));
    }
    text.push_str("      states: [\n");
    for mode in &block.modes {
        let power = |reading: &Reading<Watts>| power(reading, terms, &keys.table);
        let _ = write!(
            text,
            "        (name: {}, voltage: {}, dynamic: {}",
            quoted(&mode.name),
            quoted(&format!("{} @{}", mode.voltage.written, keys.table)),
            power(&mode.dynamic)
        );
        match (growing(mode), &mode.leakage) {
            (Some(temperature), Some(leakage)) => {
                let growth = &keys.growth;
                let _ = write!(
                    text,
                    ", leakage: Growing(power: {}, temperature: {}, per_volt: \"4 1/V ±50% @{growth}\", per_kelvin: \"0.03 1/K ±35% @{growth}\")",
                    power(leakage),
                    quoted(&format!("{} @{}", temperature, keys.table)),
                );
            }
            (None, Some(leakage)) => {
                let _ = write!(text, ", leakage: Constant({})", power(leakage));
            }
            (_, None) => {}
        }
        text.push_str("),");
        if let Some(frequency) = &mode.frequency {
            let _ = write!(text, " // at {}", frequency.written);
        }
        text.push('\n');
    }
    text.push_str("      ],\n    ),\n");
    text
}

/// The reference temperature of a leakage that there is one for.
fn growing(mode: &BlockMode) -> Option<&str> {
    let leaks = mode.leakage.as_ref().is_some_and(|l| l.value.0 > 0.0);
    mode.temperature.as_ref().filter(|_| leaks).map(|t| t.written.as_str())
}

fn power(reading: &Reading<Watts>, terms: &Terms, key: &str) -> String {
    // A value of zero has no spread.
    let spread =
        terms.spread.filter(|_| reading.value.0 > 0.0).map_or_else(String::new, |spread| {
            match spread {
                Spread::LogNormal(sigma) => format!(" ±{}%", rounded(sigma.exp_m1() * 100.0)),
                Spread::Normal(deviation) => format!(" ±{deviation} W"),
            }
        });
    quoted(&format!("{}{spread} @{key}", reading.written))
}

/// Six digits: what a fraction of a percent was before it went through a logarithm.
fn rounded(percent: f64) -> f64 {
    (percent * 1e6).round() / 1e6
}
