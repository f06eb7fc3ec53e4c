//! `validate`: how far predictions are off by what they had.

use super::{percent, table};
use crate::calibrate::{Missed, Protocol, ProtocolErrors, Quantity, Scored, errors_by_protocol};
use std::fmt::Write as _;

/// Worst predictions that are named for each protocol.
const WORST: usize = 4;

/// Errors by protocol and family, with the worst predictions of each protocol.
pub fn protocols_text(predictions: &[Scored]) -> String {
    let head = [
        "predicted from\n family",
        "latency\nn",
        "\nmedian",
        "\n90 %",
        "\nworst",
        "\nin",
        "energy\nn",
        "\nmedian",
        "\n90 %",
        "\nworst",
        "\nin",
    ];
    let mut rows = table(&head, 1);
    for own in errors_by_protocol(predictions) {
        let mut cells = vec![named(&own)];
        cells.extend(missed(own.latency));
        cells.extend(missed(own.energy));
        rows.add_row(cells);
    }
    let mut text = format!("{rows}\n");
    text.push_str(
        "errors of whole networks, absolute; 90 %: what nine of ten stay below; in: share of the measurements in \
         the 90 % interval\n",
    );
    text.push_str(&worst(predictions));
    text
}

fn named(own: &ProtocolErrors) -> String {
    match &own.family {
        None => format!("{}: {}", own.protocol.name(), own.protocol.had()),
        Some(family) => format!("  {family}"),
    }
}

fn missed(errors: Option<Missed>) -> [String; 5] {
    errors.map_or_else(Default::default, |own| {
        [
            own.figures.to_string(),
            percent(own.median),
            percent(own.p90),
            percent(own.worst),
            format!("{:.0} %", own.coverage * 100.0),
        ]
    })
}

fn worst(predictions: &[Scored]) -> String {
    let mut text = "\nworst predictions of whole networks\n".to_owned();
    for p in Protocol::ALL.into_iter().flat_map(|protocol| worst_of(predictions, protocol)) {
        let _ = writeln!(
            text,
            "{:<16} {:+5.0} % {:<8} {}{}",
            p.protocol.name(),
            p.relative_error() * 100.0,
            p.quantity.name(),
            p.id,
            if p.is_covered() { "" } else { " (outside its interval)" },
        );
    }
    text
}

fn worst_of(predictions: &[Scored], protocol: Protocol) -> Vec<&Scored> {
    let is_kept = |p: &&Scored| {
        p.protocol == protocol
            && p.counts
            && !p.of_layer
            && Quantity::OF_NETWORKS.contains(&p.quantity)
    };
    let own = predictions.iter().filter(is_kept);
    let mut own: Vec<&Scored> = own.collect();
    own.sort_by(|one, other| other.relative_error().abs().total_cmp(&one.relative_error().abs()));
    own.truncate(WORST);
    own
}

/// The same as a page of Markdown has it.
pub(super) fn protocols_markdown(predictions: &[Scored]) -> String {
    let mut text = "## By what predictions had\n\nErrors of whole networks, absolute and relative; 90 %: what nine of ten \
                    stay below; in: share of the measurements in the 90 % interval of their prediction.\n\n\
                    | predicted from | family | latency: n | median | 90 % | worst | in | energy: n | median | 90 % | worst | in |\n\
                    |---|---|---|---|---|---|---|---|---|---|---|---|\n"
        .to_owned();
    for own in errors_by_protocol(predictions) {
        let (from, family) = match &own.family {
            None => (format!("`{}`: {}", own.protocol.name(), own.protocol.had()), "all"),
            Some(family) => (String::new(), family.as_str()),
        };
        let mut cells = vec![from, family.to_owned()];
        cells.extend(missed(own.latency));
        cells.extend(missed(own.energy));
        let _ = writeln!(text, "| {} |", cells.join(" | "));
    }
    text.push_str("\nWorst predictions of each:\n\n| predicted from | network | quantity | error | interval |\n|---|---|---|---|---|\n");
    for p in Protocol::ALL.into_iter().flat_map(|protocol| worst_of(predictions, protocol)) {
        let _ = writeln!(
            text,
            "| `{}` | {} | {} | {:+.0} % | {} |",
            p.protocol.name(),
            p.id,
            p.quantity.name(),
            p.relative_error() * 100.0,
            if p.is_covered() { "in" } else { "out" },
        );
    }
    text
}
