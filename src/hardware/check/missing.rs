//! Clocks without a frequency and rails without a voltage: told once, with the points that lack them.

use super::Checker;
use crate::diagnostic::{Fault, nearest};
use crate::evidence::Condition;
use crate::hardware::spec::OperatingPoint;
use crate::units::Quantity;
use std::collections::{BTreeMap, BTreeSet};

/// Points named; more are counted.
const NAMED: usize = 8;

impl Checker<'_> {
    /// The clock of a domain has a frequency at every point. Of domains that share a clock, the first says
    /// so.
    pub(super) fn clocked(&mut self, i: usize) {
        let spec = self.spec;
        let Some(domain) = spec.domains.get(i) else { return };
        if spec.domains[..i].iter().any(|earlier| earlier.clock == domain.clock) {
            return;
        }
        let path = format!("domains[{i}].clock");
        // A clock of another domain is no slip of this one.
        let others = spec.domains.iter().map(|d| d.clock.as_str()).collect();
        self.stands(path, ("clock", &domain.clock, "frequency"), &others, |point| &point.clocks);
    }

    /// Every rail has a voltage at every point.
    pub(super) fn stand_at_points(&mut self) {
        let spec = self.spec;
        let others: BTreeSet<&str> = spec.rails.iter().map(|r| r.name.as_str()).collect();
        for (i, rail) in spec.rails.iter().enumerate() {
            if spec.rails[..i].iter().any(|earlier| earlier.name == rail.name) {
                continue;
            }
            let path = format!("rails[{i}].name");
            self.stands(path, ("rail", &rail.name, "voltage"), &others, |point| &point.voltages);
        }
    }

    fn stands<Q: Quantity>(
        &mut self,
        path: String,
        (what, name, quantity): (&str, &str, &str),
        others: &BTreeSet<&str>,
        of: fn(&OperatingPoint) -> &BTreeMap<String, Condition<Q>>,
    ) {
        let spec = self.spec;
        let points = &spec.operating_points;
        // A rail may stand at what its domains ask.
        let asked =
            |point: &OperatingPoint| what == "rail" && spec.rail_voltage(point, name).is_some();
        let stated = |point: &OperatingPoint| of(point).contains_key(name) || asked(point);
        let lacking: Vec<&OperatingPoint> = points.iter().filter(|point| !stated(point)).collect();
        if lacking.is_empty() {
            return;
        }
        let nowhere = lacking.len() == points.len();
        let stated = || lacking.iter().flat_map(|point| of(point).keys()).map(String::as_str);
        let unused = nearest(name, stated().filter(|key| !others.contains(key)));
        let message = if nowhere {
            format!("{what} `{name}` has no {quantity} at any operating point")
        } else {
            format!("{what} `{name}` has no {quantity} at {}", listed(&lacking))
        };
        // Where no point knows it, the name itself may be wrong.
        let near = unused.or_else(|| nearest(name, stated()).filter(|_| nowhere));
        let known: BTreeSet<&str> = stated().collect();
        let help = match near {
            Some(near) => format!("did you mean `{near}`?"),
            None if nowhere && !known.is_empty() => {
                let known: Vec<&str> = known.into_iter().collect();
                format!("the operating points have {}", known.join(", "))
            }
            None => format!("each operating point states the {quantity} of every {what}"),
        };
        self.faults.push(Fault::at(path, message).with_help(help));
    }
}

/// Names of points.
fn listed(points: &[&OperatingPoint]) -> String {
    let names: Vec<String> =
        points.iter().take(NAMED).map(|point| format!("`{}`", point.name)).collect();
    match points.len().saturating_sub(NAMED) {
        0 => names.join(", "),
        more => format!("{} and {more} more", names.join(", ")),
    }
}
