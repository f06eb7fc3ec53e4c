//! Voltage follows the clock.

use super::Checker;
use crate::diagnostic::Fault;
use crate::hardware::spec::Domain;
use crate::units::{Hertz, Volts};
use std::collections::BTreeSet;

/// A clock that is this many times that of every other point is a slip of the unit, where it is out of
/// order besides.
const SLIP: f64 = 20.0;

/// A point by its place, with clock and voltage of a domain.
type Stated = (usize, Hertz, Volts);

impl Checker<'_> {
    /// A faster clock never stands at a lower voltage, where voltage follows the clock: not on a rail
    /// that a named supply feeds, whose voltage is given, nor where energy does not go with voltage.
    pub(super) fn rising_voltages(&mut self) {
        let spec = self.spec;
        let given = |rail: &str| spec.supplies.iter().any(|s| s.rail == rail);
        let follows = |d: &&Domain| {
            !given(&d.rail) && d.voltage_exponent.as_ref().is_none_or(|e| e.get().0 != 0.0)
        };
        let mut seen = BTreeSet::new();
        for domain in spec.domains.iter().filter(follows) {
            if !seen.insert((&domain.rail, &domain.clock)) {
                continue;
            }
            let points = spec.operating_points.iter().enumerate().filter(|(_, p)| !p.above_need);
            let stated = points.filter_map(|(i, point)| {
                let v = spec.rail_voltage(point, &domain.rail)?;
                let f = point.clocks.get(&domain.clock)?;
                Some((i, f.get(), v.get()))
            });
            let mut stated: Vec<Stated> = stated.collect();
            if let Some(fault) = self.slip(domain, &stated) {
                // The others are held against each other without it.
                stated.retain(|(i, ..)| *i != fault.0);
                self.faults.push(fault.1);
            }
            self.in_order(domain, &stated);
        }
    }

    fn in_order(&mut self, domain: &Domain, stated: &[Stated]) {
        let spec = self.spec;
        for (i, f, v) in stated {
            let Some((j, slower, needs)) = slower_on_more(stated, *f, *v) else { continue };
            let message = format!(
                "clock `{}` runs at {f} on {v} here, and at only {slower} on {needs} at `{}`: voltages are out of order",
                domain.clock, spec.operating_points[j].name
            );
            let path = format!("operating_points[{i}].voltages.{}", domain.rail);
            let help = "a point that stands above the voltage it needs says `above_need: true`";
            self.faults.push(Fault::at(path, message).with_help(help));
        }
    }

    /// A clock out of order that is far above, or far below, those of all other points: its point, and the
    /// fault.
    fn slip(&self, domain: &Domain, stated: &[Stated]) -> Option<(usize, Fault)> {
        let disordered = |(_, f, v): &Stated| slower_on_more(stated, *f, *v).is_some();
        if stated.len() < 2 || !stated.iter().any(disordered) {
            return None;
        }
        let mut sorted: Vec<&Stated> = stated.iter().collect();
        sorted.sort_by(|a, b| a.1.0.total_cmp(&b.1.0));
        let [slowest, second, ..] = sorted.as_slice() else { return None };
        let [.., before, fastest] = sorted.as_slice() else { return None };
        let above = fastest.1.0 > SLIP * before.1.0 && disordered(fastest);
        let below = slowest.1.0 * SLIP < second.1.0 && sorted.len() > 2;
        let below = below && sorted.iter().any(|(_, f, v)| f > &slowest.1 && v < &slowest.2);
        let (odd, times, other) = match (above, below) {
            (true, _) => (fastest, fastest.1.0 / before.1.0, before),
            (false, true) => (slowest, second.1.0 / slowest.1.0, second),
            (false, false) => return None,
        };
        let (word, name) = (if above { "above" } else { "below" }, &domain.clock);
        let point = self.spec.operating_points.get(other.0).map_or("", |p| p.name.as_str());
        let message = format!(
            "clock `{name}` runs at {} here, a factor of {times:.0} {word} the next, {} at `{point}`: is the unit right?",
            odd.1, other.1
        );
        let help = format!(
            "if it is, its {} are out of order with those of other points: a point that stands above the voltage it needs says `above_need: true`",
            odd.2
        );
        let path = format!("operating_points[{}].clocks.{name}", odd.0);
        Some((odd.0, Fault::at(path, message).with_help(help)))
    }
}

/// Of the points that are slower and stand on more voltage, the nearest, which says it best.
fn slower_on_more(stated: &[Stated], f: Hertz, v: Volts) -> Option<Stated> {
    let lower = stated.iter().filter(|(_, slower, needs)| *slower < f && *needs > v);
    lower.max_by(|a, b| a.1.0.total_cmp(&b.1.0)).copied()
}
