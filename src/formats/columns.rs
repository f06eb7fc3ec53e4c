//! The columns of a trace as a wide table: time, components, their total, rails, counters.

use crate::trace::{ChannelKind, Header};
use std::collections::HashSet;

/// Names of columns, and which quantity of a [frame](super::FrameWriter) stands in which.
#[derive(Debug)]
pub(super) struct Columns {
    names: Vec<String>,
    components: usize,
}

impl Columns {
    /// With units as suffixes; a name that was there before gets a number behind it.
    pub(super) fn of(time: &str, header: &Header) -> Self {
        let mut names = vec![time.to_owned()];
        names.extend(header.components.iter().map(|c| format!("{}_w", c.name)));
        names.push("total_w".to_owned());
        for rail in &header.rails {
            names.extend([format!("{}_v", rail.name), format!("{}_a", rail.name)]);
        }
        names.extend(header.counters.iter().map(|c| format!("{}{}", c.name, suffix(c.kind))));
        let mut seen = HashSet::new();
        for name in &mut names {
            let mut unique = name.clone();
            let mut number = 1;
            while !seen.insert(unique.clone()) {
                number += 1;
                unique = format!("{name} ({number})");
            }
            *name = unique;
        }
        Self { names, components: header.components.len() }
    }

    /// All names, in order.
    pub(super) fn names(&self) -> &[String] {
        &self.names
    }

    /// The name of a column; empty behind the last.
    pub(super) fn name(&self, column: usize) -> &str {
        self.names.get(column).map_or("", String::as_str)
    }

    /// Quantities of a frame: all columns but time and total.
    pub(super) fn quantities(&self) -> usize {
        self.names.len() - 2
    }

    /// The column of a quantity.
    pub(super) fn of_quantity(&self, quantity: usize) -> usize {
        if quantity < self.components { 1 + quantity } else { 2 + quantity }
    }

    /// The total stands behind this many quantities.
    pub(super) fn components(&self) -> usize {
        self.components
    }

    /// The sum of the powers of a frame; not-a-number where one is unknown, or there is none.
    pub(super) fn total(&self, values: &[Option<f64>]) -> f64 {
        if self.components == 0 {
            return f64::NAN;
        }
        let total: f64 = values.iter().take(self.components).flatten().sum();
        // An empty sum is minus zero.
        total + 0.0
    }
}

/// The unit of a counter as a suffix of its column.
fn suffix(kind: ChannelKind) -> &'static str {
    match kind {
        ChannelKind::Power => "_w",
        ChannelKind::Current => "_a",
        ChannelKind::Voltage => "_v",
        ChannelKind::Temperature => "_degc",
        ChannelKind::Frequency => "_hz",
        ChannelKind::Share | ChannelKind::Other => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{Counter, Rail};

    #[test]
    fn units_are_suffixes_and_no_name_is_there_twice() {
        let counter = |name: &str, kind| Counter { name: name.into(), kind };
        let header = Header {
            rails: vec![Rail { name: "vdd".into(), is_source: true }],
            counters: vec![
                counter("gpu", ChannelKind::Temperature),
                counter("vdd", ChannelKind::Voltage),
                counter("load", ChannelKind::Share),
            ],
            ..Header::default()
        };
        let columns = Columns::of("time_s", &header);
        let expected = ["time_s", "total_w", "vdd_v", "vdd_a", "gpu_degc", "vdd_v (2)", "load"];
        assert_eq!(columns.names(), expected);
        assert_eq!((columns.quantities(), columns.of_quantity(0)), (5, 2));
    }
}
