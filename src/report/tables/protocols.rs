//! `validate`: how far predictions are off by what they had.

use super::{percent, table};
use crate::calibrate::{Missed, Protocol, ProtocolErrors, Scored, errors_by_protocol};
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
    for protocol in Protocol::ALL {
        let mut own: Vec<&Scored> = predictions
            .iter()
            .filter(|p| p.protocol == protocol && p.counts && !p.of_layer)
            .collect();
        own.sort_by(|one, other| {
            other.relative_error().abs().total_cmp(&one.relative_error().abs())
        });
        for p in own.iter().take(WORST) {
            let _ = writeln!(
                text,
                "{:<16} {:+5.0} % {:<8} {}{}",
                protocol.name(),
                p.relative_error() * 100.0,
                p.quantity.name(),
                p.id,
                if p.is_covered() { "" } else { " (outside its interval)" },
            );
        }
    }
    text
}
