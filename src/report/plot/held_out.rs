//! Pictures of predictions that never saw what they are held against.

mod curves;
mod scatter;

pub(super) use curves::compose as curves;
pub(super) use scatter::compose as scatter;

use crate::calibrate::{Quantity, Scored};

/// Quantities of whole networks, in a fixed order.
const QUANTITIES: [Quantity; 2] = [Quantity::Latency, Quantity::Energy];

/// Predictions that summaries count, of whole networks.
fn counting(scored: &[Scored]) -> impl Iterator<Item = &Scored> {
    scored.iter().filter(|own| own.counts && !own.of_layer)
}

/// A share in per cent, with a decimal where it is small.
pub(super) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    let decimals = usize::from(percent.abs() < 9.95);
    format!("{percent:.decimals$} %").replace('-', "−")
}

#[cfg(test)]
mod tests;
