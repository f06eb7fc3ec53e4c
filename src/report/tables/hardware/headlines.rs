//! What the headline numbers of reference models rest on, and what moves them most.

use super::super::{percent, shortened, table};
use super::drawing::WIDTH;
use crate::evidence::{Coverage, Kind};
use crate::report::prediction::NEARLY_ALL;
use crate::uncertainty::{Contribution, Headline, Headlines};
use crate::units::engineering;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// How many movers of each headline number are named.
pub(in crate::report) const MOVERS: usize = 5;

/// A share that is not printed as nothing.
const SHOWN: f64 = 5e-4;

/// A reference model on the profile that is checked.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckedModel {
    /// Its name.
    pub model: String,
    /// Its headline numbers; `None` where nothing of it runs there.
    pub headlines: Option<Headlines>,
}

/// `hardware check`: by model, the share of energy and time that rests on each kind of source, and what
/// makes them uncertain. `setting` is where they hold: operating point and software.
pub fn headlines_text(setting: &str, models: &[CheckedModel]) -> String {
    let found: Vec<&Headlines> = models.iter().filter_map(|m| m.headlines.as_ref()).collect();
    let mut text = String::new();
    if !found.is_empty() {
        let _ = write!(text, "\nwhat headline numbers rest on, at {setting}\n{}", rests(&found));
        for (name, of) in headlines() {
            let _ = write!(
                text,
                "\nwhat makes {name} uncertain: shares of its variance, of the {MOVERS} largest of each model\n{}",
                movers(&found, of)
            );
        }
    }
    text + &left_out(models)
}

type Of = fn(&Headlines) -> &Headline;

fn headlines() -> [(&'static str, Of); 2] {
    [("energy", |h| &h.energy), ("time", |h| &h.time)]
}

fn rests(found: &[&Headlines]) -> String {
    let coverages = found.iter().flat_map(|h| [&h.energy.evidence, &h.time.evidence]);
    let kinds: BTreeSet<Kind> =
        coverages.flat_map(Coverage::shares).map(|(kind, _)| kind).collect();
    let mut headers = vec!["model", "", "value"];
    headers.extend(kinds.iter().map(|kind| kind.name()));
    headers.push("on\nevidence");
    let mut rows = table(&headers, 2);
    for headlines_of in found {
        for (i, (name, of)) in headlines().into_iter().enumerate() {
            let headline = of(headlines_of);
            let unit = if name == "energy" { "J" } else { "s" };
            let model = if i == 0 { shortened(&headlines_of.network, 22) } else { String::new() };
            let mut row = vec![model, name.to_owned(), engineering(headline.value, unit)];
            row.extend(kinds.iter().map(|kind| {
                let share = headline.evidence.shares().find(|(k, _)| k == kind);
                share.map_or(String::new(), |(_, share)| percent(share))
            }));
            row.push(percent(headline.evidence.share()));
            rows.add_row(row);
        }
    }
    format!("{rows}\n")
}

/// Numbers that are among the largest movers of any model, with their share for each.
fn movers(found: &[&Headlines], of: Of) -> String {
    let largest = |h: &Headlines| -> Vec<Contribution> {
        of(h).movers.iter().take(MOVERS).filter(|m| m.share >= SHOWN).cloned().collect()
    };
    let share =
        |h: &Headlines, name: &str| largest(h).iter().find(|m| m.name == name).map(|m| m.share);
    let names: BTreeSet<String> =
        found.iter().flat_map(|h| largest(h)).map(|mover| mover.name).collect();
    let sum = |name: &str| found.iter().filter_map(|h| share(h, name)).sum::<f64>();
    let mut names: Vec<(f64, String)> = names.into_iter().map(|n| (sum(&n), n)).collect();
    names.sort_by(|a, b| b.0.total_cmp(&a.0));
    let models: Vec<String> = found.iter().map(|h| column(&h.network)).collect();
    let mut headers = vec!["number"];
    headers.extend(models.iter().map(String::as_str));
    let mut rows = table(&headers, 1);
    // A column is as wide as the longer line of its head, or as `0.1 %`.
    let columns = models.iter().map(|m| m.lines().map(|l| l.chars().count()).max().unwrap_or(0));
    let taken: usize = columns.map(|width| width.max(5) + 2).sum();
    for (_, name) in &names {
        let mut row = vec![shortened(name, WIDTH.saturating_sub(taken + 3).max(20))];
        row.extend(found.iter().map(|h| share(h, name).map_or(String::new(), percent)));
        rows.add_row(row);
    }
    format!("{rows}\n")
}

/// A name over two lines.
fn column(name: &str) -> String {
    name.replacen('_', "_\n", 1)
}

fn left_out(models: &[CheckedModel]) -> String {
    let mut text = String::new();
    for CheckedModel { model, headlines } in models {
        let Some(headlines) = headlines else {
            let _ = writeln!(text, "{model}: nothing of it runs here");
            continue;
        };
        if headlines.costed_share < NEARLY_ALL {
            let share = percent(headlines.costed_share);
            let _ = writeln!(text, "PARTIAL: {model}: only {share} of its operations are costed");
        }
        if !headlines.fits {
            let _ = writeln!(text, "DOES NOT FIT: {model}: costed as if it did");
        }
    }
    text
}
