//! Hold-outs as they were when they were last looked at, which later ones are held against.

use super::case::Quantity;
use super::holdout::Protocol;
use super::protocols::{Missed, Scored, errors_by_protocol};
use crate::uncertainty::Interval90;
use std::collections::{BTreeMap, BTreeSet};

/// Where they stand in the repository.
pub const HELD_OUT_FILE: &str = "validation/held_out.csv";

const RECORDED: &str = include_str!("../../validation/held_out.csv");

const HEAD: &str = "protocols,family,hardware,id,of_layer,quantity,measured,predicted,low90,high90,\
                    relative_error,unexcited_share,counts";

/// How much the error of one figure may grow.
const OF_ONE: f64 = 0.02;

/// How much a median or a 90 % quantile may grow.
const OF_MANY: f64 = 0.003;

/// How much smaller the share of measurements in their interval may become.
const COVERAGE: f64 = 0.03;

/// Hold-outs as CSV in SI units, a line for each, with all protocols (`row+strict`) that left it the same to be
/// predicted from. Predictions of profiles as they stand are not among them: cases have their errors.
pub fn held_out_csv(predictions: &[Scored]) -> String {
    let mut lines: Vec<(String, String)> = Vec::new();
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    let is_kept = |own: &&Scored| {
        own.protocol != Protocol::Uncalibrated && Quantity::OF_NETWORKS.contains(&own.quantity)
    };
    for own in predictions.iter().filter(is_kept) {
        let (line, protocol) = (cells(own), own.protocol.name());
        let place = *places.entry(line.clone()).or_insert(lines.len());
        match lines.get_mut(place) {
            Some((protocols, _)) => {
                protocols.push('+');
                protocols.push_str(protocol);
            }
            None => lines.push((protocol.to_owned(), line)),
        }
    }
    let mut text = format!("{HEAD}\n");
    for (protocols, line) in lines {
        text.push_str(&format!("{protocols},{line}\n"));
    }
    text
}

fn cells(own: &Scored) -> String {
    let cells = [
        quoted(&own.family),
        quoted(&own.hardware),
        quoted(&own.id),
        own.of_layer.to_string(),
        own.quantity.name().to_owned(),
        format!("{:.5e}", own.measured),
        format!("{:.5e}", own.predicted),
        format!("{:.5e}", own.interval.low),
        format!("{:.5e}", own.interval.high),
        format!("{:.4}", own.relative_error()),
        format!("{:.3}", own.unexcited.abs()),
        own.counts.to_string(),
    ];
    cells.join(",")
}

/// A cell that may have a comma in it, as arguments of a family of networks have.
fn quoted(cell: &str) -> String {
    if cell.contains([',', '"']) {
        format!("\"{}\"", cell.replace('"', "\"\""))
    } else {
        cell.to_owned()
    }
}

/// Those that come with the program.
pub fn recorded_hold_outs() -> Vec<Scored> {
    parsed(RECORDED)
}

/// Hold-outs of a text as [`held_out_csv`] writes it, by protocol; lines of another form are left out.
pub fn parsed(text: &str) -> Vec<Scored> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let mut all: Vec<Scored> =
        reader.records().filter_map(|record| scored(&record.ok()?)).flatten().collect();
    all.sort_by_key(|own| own.protocol);
    all
}

fn scored(record: &csv::StringRecord) -> Option<Vec<Scored>> {
    let text = |at: usize| record.get(at);
    let number = |at: usize| -> Option<f64> { text(at)?.parse().ok() };
    let quantity = text(5)?;
    let own = Scored {
        protocol: Protocol::Row,
        family: text(1)?.to_owned(),
        hardware: text(2)?.to_owned(),
        id: text(3)?.to_owned(),
        of_layer: text(4)? == "true",
        quantity: Quantity::OF_NETWORKS.into_iter().find(|own| own.name() == quantity)?,
        measured: number(6)?,
        predicted: number(7)?,
        interval: Interval90 { low: number(8)?, high: number(9)? },
        unexcited: number(11)?,
        counts: text(12)? == "true",
    };
    let named = |name: &str| Protocol::ALL.into_iter().find(|own| own.name() == name);
    let of = |name: &str| Some(Scored { protocol: named(name)?, ..own.clone() });
    text(0)?.split('+').map(of).collect()
}

/// An error that has grown over the recorded one by more than is tolerated.
#[derive(Debug, Clone, PartialEq)]
pub struct Worsened {
    /// What it is of.
    pub what: String,
    /// The error as recorded.
    pub recorded: f64,
    /// The error now.
    pub now: f64,
}

/// What is worse than recorded: single figures, and medians and 90 % quantiles of families. What is not
/// recorded is held against nothing.
pub fn worsened(now: &[Scored], recorded: &[Scored]) -> Vec<Worsened> {
    let mut found = figures_worsened(now, recorded);
    let known = errors_by_protocol(recorded);
    for own in errors_by_protocol(now) {
        let same = |other: &&_| same_group(other, &own);
        let Some(known) = known.iter().find(same) else { continue };
        let pairs = [("latency", own.latency, known.latency), ("energy", own.energy, known.energy)];
        for (quantity, now, recorded) in pairs {
            let (Some(now), Some(recorded)) = (now, recorded) else { continue };
            let family = own.family.as_deref().unwrap_or("all");
            let what = format!("{} {family} {quantity}", own.protocol.name());
            found.extend(errors_worsened(&what, now, recorded));
        }
    }
    found
}

fn same_group(one: &super::ProtocolErrors, other: &super::ProtocolErrors) -> bool {
    (one.protocol, &one.family) == (other.protocol, &other.family)
}

fn errors_worsened(what: &str, now: Missed, recorded: Missed) -> Vec<Worsened> {
    let grown = [("median", now.median, recorded.median), ("90 %", now.p90, recorded.p90)];
    let grown = grown.into_iter().filter(|(_, now, recorded)| !is_within(*now, recorded + OF_MANY));
    let lost = now.coverage < recorded.coverage - COVERAGE;
    let lost = lost.then_some(("in their interval", now.coverage, recorded.coverage));
    let told = grown.chain(lost).map(|(name, now, recorded)| {
        let what = format!("{what}, {name}");
        Worsened { what, recorded, now }
    });
    told.collect()
}

fn figures_worsened(now: &[Scored], recorded: &[Scored]) -> Vec<Worsened> {
    fn key(own: &Scored) -> (Protocol, &str, &'static str) {
        (own.protocol, own.id.as_str(), own.quantity.name())
    }
    let made: BTreeMap<_, f64> = now.iter().map(|own| (key(own), own.relative_error())).collect();
    let asked: BTreeSet<_> = now.iter().map(|own| (own.protocol, own.family.as_str())).collect();
    let asked = |own: &&Scored| asked.contains(&(own.protocol, own.family.as_str()));
    let worse = recorded.iter().filter(|own| own.counts).filter(asked).filter_map(|own| {
        // What is predicted no more is no number.
        let now = made.get(&key(own)).copied().unwrap_or(f64::NAN);
        let recorded = own.relative_error();
        (!is_within(now.abs(), recorded.abs() + OF_ONE)).then(|| Worsened {
            what: format!("{} {} {}", own.protocol.name(), own.id, own.quantity.name()),
            recorded,
            now,
        })
    });
    worse.collect()
}

/// What is no number is within nothing.
fn is_within(error: f64, limit: f64) -> bool {
    error <= limit
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(id: &str, predicted: f64) -> Scored {
        Scored {
            protocol: Protocol::Row,
            family: "f".to_owned(),
            hardware: "h".to_owned(),
            id: id.to_owned(),
            of_layer: false,
            quantity: Quantity::Energy,
            measured: 1.0,
            predicted,
            interval: Interval90 { low: 0.9, high: 1.1 },
            unexcited: 0.25,
            counts: true,
        }
    }

    #[test]
    fn what_is_written_is_read_again() {
        let own = [one("a/b", 1.0625), one("a/net(width=0.5,resolution=96)", 0.5)];
        assert_eq!(parsed(&held_out_csv(&own)), own);
        let strict = Scored { protocol: Protocol::Strict, ..own[0].clone() };
        let both = [own[0].clone(), strict];
        assert_eq!(held_out_csv(&both).lines().count(), 2);
        assert_eq!(parsed(&held_out_csv(&both)), both);
        assert!(parsed("protocols\nrow\n").is_empty());
    }

    #[test]
    fn an_error_that_grows_is_told_and_one_that_falls_is_not() {
        let recorded = [one("a", 1.05), one("b", 0.95), one("c", 1.0)];
        assert!(worsened(&recorded, &recorded).is_empty());
        let now = [one("a", 1.08), one("b", 0.99), one("c", 1.01), one("new", 3.0)];
        let found = worsened(&now, &recorded);
        let told: Vec<&str> = found.iter().map(|own| own.what.as_str()).collect();
        assert_eq!(told[0], "row a energy");
        assert!((found[0].recorded - 0.05).abs() < 1e-12 && (found[0].now - 0.08).abs() < 1e-12);
        assert!(!told.iter().any(|what| what.contains("row b") || what.contains("new")));
        assert!(told.contains(&"row all energy, 90 %"), "{told:?}");
        let lost = worsened(&[one("a", f64::NAN), one("b", 0.95)], &recorded);
        let lost: Vec<&str> = lost.iter().map(|own| own.what.as_str()).collect();
        assert!(lost.contains(&"row a energy") && lost.contains(&"row c energy"), "{lost:?}");
    }

    #[test]
    fn all_that_is_recorded_is_of_this_version() {
        let recorded = recorded_hold_outs();
        assert!(!recorded.is_empty());
        assert_eq!(held_out_csv(&recorded), RECORDED);
    }
}
