//! The tables of `validation/README.md`.

use super::protocols::protocols_markdown;
use super::validation::{Row, rows, signed_percent, summed};
use crate::calibrate::{Case, Comparison, Scored, summaries};
use crate::units::engineering;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Rows from which on a case is not printed figure by figure.
const MANY: usize = 36;

/// The line that the tables of a page follow.
const MARK: &str = "<!-- What follows is written by `joulecast validate --record`. -->";

/// `validate --markdown`: errors by what predictions had and by board, sources of cases, and each figure beside
/// the prediction of the profile as it stands.
pub fn comparison_markdown(
    cases: &[Case],
    comparisons: &[Comparison],
    predictions: &[Scored],
) -> String {
    let mut text = match predictions {
        [] => String::new(),
        some => protocols_markdown(some) + "\n",
    };
    text.push_str(&by_board(comparisons));
    text.push_str(&sources(cases));
    text.push_str("\n## Figures\n");
    for case in cases {
        text.push_str(&figures(case, comparisons));
    }
    text
}

/// A page with the tables in the place of what follows its mark; `None` for a page without one.
pub fn with_tables(page: &str, tables: &str) -> Option<String> {
    let (before, _) = page.split_once(MARK)?;
    Some(format!("{before}{MARK}\n\n{tables}"))
}

fn by_board(comparisons: &[Comparison]) -> String {
    let mut text = "## By board\n\nErrors are absolute and relative; `in 90 %` counts the measurements that lie \
                    in the 90 % interval of their prediction. Figures with a fault of their source are left out.\n\n\
                    | board | of | split | latency: median | worst | in 90 % | energy: median | worst | in 90 % |\n\
                    |---|---|---|---|---|---|---|---|---|\n"
        .to_owned();
    for s in summaries(comparisons) {
        let board = s.hardware.unwrap_or("all".to_owned());
        let mut cells = vec![board, s.grain.name().to_owned(), s.split.name().to_owned()];
        cells.extend(summed(s.latency));
        cells.extend(summed(s.energy));
        text.push_str(&row(&cells));
    }
    text
}

fn sources(cases: &[Case]) -> String {
    let mut text =
        "\n## Cases\n\n| case | runtime | point | figures from |\n|---|---|---|---|\n".to_owned();
    for case in cases {
        let from = case.sources.iter().filter(|(key, _)| *key != "recorded");
        let from: Vec<_> = from.map(|(_, source)| source.citation.as_str()).collect();
        let (id, point) = (case.id.clone(), case.operating_point.clone());
        text.push_str(&row(&[id, case.runtime.to_string(), point, from.join("; ")]));
    }
    text
}

fn figures(case: &Case, comparisons: &[Comparison]) -> String {
    let own: Vec<Comparison> = comparisons.iter().filter(|c| c.case == case.id).cloned().collect();
    let rows = rows(&own);
    let mut text = format!("\n### {}\n\n", case.id);
    if rows.len() > MANY {
        let (count, id) = (rows.len(), &case.id);
        let _ =
            writeln!(text, "{count} rows: `joulecast validate validation/{id}.ron` prints them.");
        return text;
    }
    let printed = own.iter().any(|c| c.printed_macs.is_some());
    let counted = if printed { "MACs, counted / printed | " } else { "" };
    let rule = if printed { "---|" } else { "" };
    let _ = writeln!(
        text,
        "| network or layer | {counted}latency: measured, predicted | 90 % | error | energy: measured, predicted | 90 % | error |"
    );
    let _ = writeln!(text, "|---|{rule}---|---|---|---|---|---|");
    for own in &rows {
        text.push_str(&row(&cells(own, printed)));
    }
    let faults: BTreeSet<String> = rows
        .iter()
        .filter_map(|row| Some(format!("`{}`: {}", row.of.model, row.of.fault.as_ref()?)))
        .collect();
    for fault in faults {
        let _ = writeln!(text, "\n\\* {fault}.");
    }
    text
}

fn cells(row: &Row<'_>, printed: bool) -> Vec<String> {
    let of = row.of;
    let mark = if of.fault.is_some() { " \\*" } else { "" };
    let name = of.layer.as_ref().map_or(format!("`{}`", of.model), |l| format!("· {l}"));
    let mut cells = vec![format!("{name}{mark}")];
    if printed {
        cells.push(match (of.printed_macs, &of.layer) {
            (Some(macs), None) => format!("{} / {} M", millions(of.macs), millions(macs)),
            _ => String::new(),
        });
    }
    for (figure, unit) in [(row.latency, "s"), (row.energy, "J")] {
        cells.extend(match figure {
            None => ["", "", ""].map(str::to_owned),
            Some(c) => [
                format!("{}, {}", engineering(c.measured, unit), engineering(c.predicted, unit)),
                format!(
                    "{} to {}{}",
                    engineering(c.interval.low, unit),
                    engineering(c.interval.high, unit),
                    if c.covered() { "" } else { ": out" }
                ),
                signed_percent(c.relative_error),
            ],
        });
    }
    cells
}

fn millions(count: u64) -> String {
    format!("{:.1}", count as f64 / 1e6)
}

fn row(cells: &[String]) -> String {
    let cells: Vec<_> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
    format!("| {} |\n", cells.join(" | "))
}
