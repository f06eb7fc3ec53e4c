//! Predicted against measured.

use super::{percent, shortened, table};
use crate::calibrate::{Comparison, Errors, Quantity, Split, Summary, summaries};
use crate::evidence::INDICATIVE_BELOW;
use crate::report::prediction::NEARLY_ALL;
use crate::units::engineering;
use std::fmt::Write as _;

/// Widest board and case, and widest network: the table stays within 110 columns.
const CASE_WIDTH: usize = 14;
const NETWORK_WIDTH: usize = 19;

/// Which rows of a case are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rows {
    /// Each network and layer.
    Each,
    /// None: boards alone are summed up.
    None,
}

/// The figures of one network, or of one of its layers, in one case.
pub(super) struct Row<'a> {
    pub(super) of: &'a Comparison,
    pub(super) latency: Option<&'a Comparison>,
    pub(super) energy: Option<&'a Comparison>,
}

/// `validate`: by board and case, a row for each network; a summary; what else must be known.
pub fn comparison_table(comparisons: &[Comparison], rows: Rows) -> String {
    let mut text = String::new();
    if rows != Rows::None {
        text.push_str(&figures(comparisons));
        text.push_str("90 %: the measurement lies in or out of the prediction's 90 % interval\n");
    }
    if rows != Rows::None && comparisons.iter().any(|c| c.fault.is_some()) {
        let _ = writeln!(text, "*: the source has a fault; the figure is in no summary");
    }
    text.push_str(&summary(comparisons));
    for c in comparisons.iter().filter(|c| c.layer.is_none() && c.costed_share < NEARLY_ALL) {
        let share = percent(c.costed_share);
        let _ = writeln!(text, "PARTIAL: {} {} holds {share} of the operations", c.id, c.quantity);
    }
    for c in comparisons.iter().filter(|c| c.layer.is_none() && !c.fits) {
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
    let all = rows(comparisons);
    let mut board: Option<(&str, Split)> = None;
    for case in all.chunk_by(|a, b| a.of.case == b.of.case) {
        let Some(of) = case.first().map(|row| row.of) else { continue };
        if board != Some((&of.hardware, of.split)) {
            figures.add_row(vec![shortened(&of.hardware, CASE_WIDTH), of.split.name().to_owned()]);
            board = Some((&of.hardware, of.split));
        }
        let mut name = case_name(of);
        for row in case {
            let mut cells = vec![std::mem::take(&mut name), called(row.of)];
            cells.extend(compared(row.latency, "s"));
            cells.extend(compared(row.energy, unit(row.energy)));
            figures.add_row(cells);
        }
    }
    format!("{figures}\n")
}

/// What a row is of: a network, or below it one of its layers.
fn called(of: &Comparison) -> String {
    let mark = if of.fault.is_some() { "*" } else { "" };
    match &of.layer {
        Some(layer) => format!("  {}{mark}", shortened(layer, NETWORK_WIDTH - 3)),
        None => format!("{}{mark}", shortened(&brief(&of.model), NETWORK_WIDTH - mark.len())),
    }
}

/// A network of a family without the names of its parameters: `mobilenet_v1_int8(0.5,160)`.
fn brief(model: &str) -> String {
    let Some((family, parameters)) = model.split_once('(') else { return model.to_owned() };
    let values =
        parameters.split(',').map(|own| own.split_once('=').map_or(own, |(_, value)| value));
    format!("{family}({}", values.collect::<Vec<_>>().join(","))
}

/// Latency and energy of a network or layer side by side.
pub(super) fn rows(comparisons: &[Comparison]) -> Vec<Row<'_>> {
    let mut rows: Vec<Row<'_>> = Vec::new();
    for c in comparisons {
        let latency = c.quantity == Quantity::Latency.with_unit();
        let free =
            |row: &Row<'_>| if latency { row.latency.is_none() } else { row.energy.is_none() };
        if rows.last().is_none_or(|row| row.of.id != c.id || row.of.place != c.place || !free(row))
        {
            rows.push(Row { of: c, latency: None, energy: None });
        }
        if let Some(row) = rows.last_mut() {
            *(if latency { &mut row.latency } else { &mut row.energy }) = Some(c);
        }
    }
    rows
}

/// The unit of what stands in the column of energies.
fn unit(figure: Option<&Comparison>) -> &'static str {
    match figure.map(|own| own.of) {
        Some(Quantity::MeanPower | Quantity::IdlePower) => "W",
        _ => "J",
    }
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

pub(super) fn signed_percent(share: f64) -> String {
    let sign = if share < 0.0 { '-' } else { '+' };
    format!("{sign}{}", percent(share.abs()))
}

fn summary(comparisons: &[Comparison]) -> String {
    let headers = [
        "board",
        "",
        "",
        "latency:\nmedian error",
        "\nworst",
        "\nin 90 %",
        "energy:\nmedian error",
        "\nworst",
        "\nin 90 %",
    ];
    let mut boards = table(&headers, 3);
    for s in summaries(comparisons) {
        let Summary { hardware, split, grain, latency, energy } = s;
        let board = hardware.map_or("all".to_owned(), |h| shortened(&h, CASE_WIDTH));
        let mut cells = vec![board, grain.name().to_owned(), split.name().to_owned()];
        cells.extend(summed(latency));
        cells.extend(summed(energy));
        boards.add_row(cells);
    }
    format!("{boards}\n")
}

pub(super) fn summed(errors: Option<Errors>) -> [String; 3] {
    let Some(e) = errors else { return ["-", "", ""].map(str::to_owned) };
    let covered = format!("{} of {}", e.covered, e.figures);
    [percent(e.median), percent(e.worst), covered]
}
