//! Predicted against measured.

use super::{percent, shortened, table};
use crate::calibrate::{Comparison, Errors, Split, Summary, summaries};
use crate::evidence::INDICATIVE_BELOW;
use crate::report::prediction::NEARLY_ALL;
use crate::units::engineering;
use std::fmt::Write as _;

/// Widest board and case, and widest network: the table stays within 110 columns.
const CASE_WIDTH: usize = 17;
const NETWORK_WIDTH: usize = 19;

/// The figures of one network in one case.
struct Row<'a> {
    of: &'a Comparison,
    latency: Option<&'a Comparison>,
    energy: Option<&'a Comparison>,
}

/// `validate`: by board and case, a row for each network; a summary; what else must be known.
pub fn comparison_table(comparisons: &[Comparison]) -> String {
    let mut text = figures(comparisons);
    let _ =
        writeln!(text, "90 %: the measurement lies in or out of the prediction's 90 % interval");
    text.push_str(&summary(comparisons));
    for c in comparisons.iter().filter(|c| c.costed_share < NEARLY_ALL) {
        let share = percent(c.costed_share);
        let _ = writeln!(text, "PARTIAL: {} {} holds {share} of the operations", c.id, c.quantity);
    }
    for c in comparisons.iter().filter(|c| !c.fits) {
        let _ = writeln!(text, "DOES NOT FIT: {} {} is of a network too large", c.id, c.quantity);
    }
    let indicative = comparisons.iter().filter(|c| c.coverage < INDICATIVE_BELOW).count();
    if indicative > 0 {
        let (share, of) = (percent(INDICATIVE_BELOW), comparisons.len());
        let _ = writeln!(
            text,
            "{indicative} of {of} predictions rest on less than {share} evidence: indicative"
        );
    }
    text
}

fn figures(comparisons: &[Comparison]) -> String {
    let headers = [
        "board\n case",
        "\nnetwork",
        "latency\nmeasured",
        "\npredicted",
        "\nerror",
        "\n90 %",
        "energy\nmeasured",
        "\npredicted",
        "\nerror",
        "\n90 %",
    ];
    let mut figures = table(&headers, 2);
    let (mut board, mut case): (Option<(&str, Split)>, Option<&str>) = (None, None);
    for row in rows(comparisons) {
        let of = row.of;
        if board != Some((&of.hardware, of.split)) {
            figures.add_row(vec![shortened(&of.hardware, CASE_WIDTH), of.split.name().to_owned()]);
            board = Some((&of.hardware, of.split));
            case = None;
        }
        let name = if case == Some(of.case.as_str()) { String::new() } else { case_name(of) };
        case = Some(&of.case);
        let mut cells = vec![name, shortened(&of.model, NETWORK_WIDTH)];
        cells.extend(compared(row.latency, "s"));
        cells.extend(compared(row.energy, "J"));
        figures.add_row(cells);
    }
    format!("{figures}\n")
}

fn rows(comparisons: &[Comparison]) -> Vec<Row<'_>> {
    let mut rows: Vec<Row<'_>> = Vec::new();
    for c in comparisons {
        let latency = c.quantity == "latency_s";
        let free =
            |row: &Row<'_>| if latency { row.latency.is_none() } else { row.energy.is_none() };
        if rows.last().is_none_or(|row| row.of.id != c.id || !free(row)) {
            rows.push(Row { of: c, latency: None, energy: None });
        }
        if let Some(row) = rows.last_mut() {
            *(if latency { &mut row.latency } else { &mut row.energy }) = Some(c);
        }
    }
    rows
}

/// The case without its board, which stands above it.
fn case_name(of: &Comparison) -> String {
    let board = of.case.strip_prefix(of.hardware.as_str());
    let name = board.and_then(|rest| rest.strip_prefix('/')).unwrap_or(&of.case);
    format!(" {}", shortened(name, CASE_WIDTH))
}

fn compared(figure: Option<&Comparison>, unit: &str) -> [String; 4] {
    let Some(c) = figure else { return ["-", "", "", ""].map(str::to_owned) };
    [
        engineering(c.measured, unit),
        engineering(c.predicted, unit),
        signed_percent(c.relative_error),
        if c.covered() { "in" } else { "out" }.to_owned(),
    ]
}

fn signed_percent(share: f64) -> String {
    let sign = if share < 0.0 { '-' } else { '+' };
    format!("{sign}{}", percent(share.abs()))
}

fn summary(comparisons: &[Comparison]) -> String {
    let headers = [
        "board",
        "",
        "latency: median error",
        "worst",
        "in 90 %",
        "energy: median error",
        "worst",
        "in 90 %",
    ];
    let mut boards = table(&headers, 2);
    for s in summaries(comparisons) {
        let Summary { hardware, split, latency, energy } = s;
        let board = hardware.map_or("all".to_owned(), |h| shortened(&h, CASE_WIDTH));
        let mut cells = vec![board, split.name().to_owned()];
        cells.extend(summed(latency));
        cells.extend(summed(energy));
        boards.add_row(cells);
    }
    format!("{boards}\n")
}

fn summed(errors: Option<Errors>) -> [String; 3] {
    let Some(e) = errors else { return ["-", "", ""].map(str::to_owned) };
    let covered = format!("{} of {}", e.covered, e.figures);
    [percent(e.median), percent(e.worst), covered]
}
