//! The table as part of a profile.

use super::{Block, BlockMode, BlockTable, Reading};
use crate::diagnostic::quoted;
use crate::evidence::Kind;
use crate::units::{Spread, Watts};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

/// What the numbers of a table rest on.
#[derive(Debug, Clone, PartialEq)]
pub struct Founding {
    /// Kind of the table as a source.
    pub kind: Kind,
    /// How far its powers may be off; left out, what that kind has.
    pub spread: Option<Spread>,
}

/// Key of the assumed growth of leakage.
const GROWTH: &str = "leakage_growth";

/// What the growth of leakage is taken from: a reference temperature says that leakage grows, and not how.
const GROWTH_CITATION: &str = "the table states a temperature and no growth: CMOS leakage grows by 2 to 6 1/V, and doubles every 17 to 40 K";

/// The table as rails, sources and loads, to be put into a profile.
pub fn profile_fragment(table: &BlockTable, name: Option<&str>, founding: &Founding) -> String {
    let mut text = format!(
        "// {} blocks of {}, as state loads: a part of a profile, not one of its own.\n(\n",
        table.blocks.len(),
        file_name(table)
    );
    if let Some(name) = name {
        let _ = writeln!(text, "  name: {},", quoted(name));
    }
    let rails: Vec<String> =
        table.rails().into_iter().map(|rail| format!("(name: {})", quoted(rail))).collect();
    let _ = writeln!(text, "  rails: [{}],", rails.join(", "));
    let keys = Keys::beside(std::iter::empty());
    text.push_str(&sources(table, founding, &keys));
    text.push_str(&loads(table, founding, &keys));
    text.push_str(")\n");
    text
}

/// A profile that extends `base` by the loads of the table. `taken` are keys of sources that `base` has.
pub fn profile_onto<'a>(
    table: &BlockTable,
    name: &str,
    base: &str,
    taken: impl Iterator<Item = &'a str>,
    founding: &Founding,
) -> String {
    let file = file_name(table);
    let described = format!("{base} with the blocks of {file} as state loads.");
    let mut text = format!(
        "(\n  extends: {},\n  name: {},\n  description: {},\n",
        quoted(base),
        quoted(name),
        quoted(&described)
    );
    let keys = Keys::beside(taken);
    text.push_str(&sources(table, founding, &keys));
    text.push_str(&loads(table, founding, &keys));
    text.push_str(")\n");
    text
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

fn sources(table: &BlockTable, founding: &Founding, keys: &Keys) -> String {
    let said = match founding.kind {
        Kind::Assumed => "; how its numbers came about is not said",
        _ => "",
    };
    let citation = format!(
        "power table {}: {} blocks, {} modes{said}",
        file_name(table),
        table.blocks.len(),
        table.modes()
    );
    let mut text = format!(
        "  sources: {{\n    {}: (kind: {:?}, citation: {}),\n",
        quoted(&keys.table),
        founding.kind,
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

fn loads(table: &BlockTable, founding: &Founding, keys: &Keys) -> String {
    let mut text = "  loads: [\n".to_owned();
    for block in &table.blocks {
        text.push_str(&load(block, founding, keys));
    }
    text.push_str("  ],\n");
    text
}

fn load(block: &Block, founding: &Founding, keys: &Keys) -> String {
    let (name, rail) = (quoted(&block.name), quoted(&block.rail));
    let mut text = format!("    (\n      name: {name},\n      rail: {rail},\n      states: [\n");
    for mode in &block.modes {
        let power = |reading: &Reading<Watts>| power(reading, founding, &keys.table);
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
                    ", leakage: Growing((power: {}, temperature: {}, per_volt: \"4 1/V ±50% @{growth}\", per_kelvin: \"0.03 1/K ±35% @{growth}\"))",
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

fn power(reading: &Reading<Watts>, founding: &Founding, key: &str) -> String {
    // A value of zero has no spread.
    let spread =
        founding.spread.filter(|_| reading.value.0 > 0.0).map_or_else(String::new, |spread| {
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
