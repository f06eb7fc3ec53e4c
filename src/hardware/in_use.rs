//! Which numbers of a profile a prediction can depend on.

use super::point::Point;
use super::profile::Profile;
use super::spec::{DomainState, OperatingPoint, ProfileSpec, RegulatorKind, Supply};
use crate::units::Volts;

/// The index behind `list[` at the start of a field path, and what follows it.
pub(super) fn item<'a>(path: &'a str, list: &str) -> Option<(usize, &'a str)> {
    let rest = path.strip_prefix(list)?.strip_prefix('[')?;
    let (index, rest) = rest.split_once(']')?;
    Some((index.parse().ok()?, rest))
}

impl Profile {
    /// False for a number that no figure at an operating point with these software stacks can depend
    /// on: other operating points, stacks, set points and states, what a domain that stays asleep has
    /// no share of, the package, and corners other than the one it stands at.
    pub fn is_in_use(&self, path: &str, point: &Point, stacks: &[Option<usize>]) -> bool {
        let spec = self.spec();
        if let Some((index, rest)) = item(path, "operating_points") {
            let own = spec.operating_points.get(index).filter(|p| p.name == point.name);
            let asking = rest.strip_prefix(".domain_voltages.");
            return own.is_some_and(|own| {
                asking.is_none_or(|domain| !is_stated(spec, own, domain.trim_matches('"')))
            });
        }
        if let Some((index, _)) = item(path, "software") {
            return stacks.contains(&Some(index));
        }
        if let Some((load, rest)) = item(path, "loads") {
            let state = item(rest.trim_start_matches('.'), "states");
            return state.is_none_or(|(s, _)| point.load_states.get(load) == Some(&s));
        }
        if path.starts_with("domains[") && path.contains("].states[") && path.ends_with(".voltage")
        {
            return false;
        }
        if let Some((domain, rest)) = item(path, "domains")
            && let Some(Some(state)) = point.asleep.get(domain)
        {
            let own = spec.domains.get(domain).and_then(|d| d.states.get(*state));
            return own.is_none_or(|own| counts_asleep(rest.trim_start_matches('.'), *state, own));
        }
        if let Some((regulator, rest)) = item(path, "regulators") {
            // What a regulator can give is no figure.
            let limits = rest.ends_with(".max_current") || rest.contains(".wake_");
            let holds = rest.ends_with(".dropout") && self.never_drops_out(regulator, point);
            return point.regulators.contains(&regulator) && !limits && !holds;
        }
        if let Some((supply, rest)) = item(path, "supplies") {
            let moves = [".resistance", ".open_circuit", ".charge", ".storage.maximum"];
            let moves = moves.iter().any(|field| rest.starts_with(field));
            return moves && spec.supplies.get(supply).is_some_and(Supply::is_followed);
        }
        if let Some((memory, rest)) = item(path, "memories")
            && let Some(rest) = rest.strip_prefix(".set_points.")
        {
            let set = point.set_points.get(memory).and_then(Option::as_ref);
            return set.is_some_and(|name| {
                rest.strip_prefix(name.as_str()).is_some_and(|rest| rest.starts_with('.'))
            });
        }
        let corner = self.standing_corner();
        if let Some((index, _)) = item(path, "corners") {
            return corner.is_some_and(|(standing, _)| standing == index);
        }
        if path == "temperature" {
            // The corner's takes its place.
            return corner.is_none_or(|(_, corner)| corner.temperature.is_none());
        }
        !path.starts_with("package.")
    }

    /// True for a regulator whose input leaves its output twice the dropout at the most that it can give.
    fn never_drops_out(&self, regulator: usize, point: &Point) -> bool {
        let links = self.links();
        let known = || {
            let own = self.spec().regulators.get(regulator)?;
            let (input, output) = *links.regulator_rails.get(regulator)?;
            let left = point.voltages.get(input)?.0 - point.voltages.get(output)?.0;
            let most = own.max_current.as_ref()?.get();
            let falls = own.kinds().filter_map(|kind| match kind {
                RegulatorKind::Ldo(ldo) => Some(ldo.dropout.as_ref()?.get() * most),
                _ => None,
            });
            let supplied = links.supply_rail.iter().position(|rail| *rail == input);
            let supply = supplied.and_then(|supply| self.spec().supplies.get(supply));
            let sags = supply.is_some_and(Supply::is_followed);
            Some(!sags && falls.fold(Volts::ZERO, Volts::max) * 2.0 <= left)
        };
        known().unwrap_or(false)
    }
}

/// True where the rail of a domain has a voltage of its own at a point, whatever the domain asks.
fn is_stated(spec: &ProfileSpec, point: &OperatingPoint, domain: &str) -> bool {
    let own = spec.domains.iter().find(|own| own.name == domain);
    own.is_some_and(|own| point.voltages.contains_key(&own.rail))
}

/// True for a number of a domain that counts while the domain stays in `state`, its own number
/// `index`: its states of rest are replaced by that one, and it neither works nor wakes.
fn counts_asleep(field: &str, index: usize, state: &DomainState) -> bool {
    if let Some((other, rest)) = item(field, "states") {
        return other == index && !rest.starts_with(".wake_");
    }
    match field {
        field if field.starts_with("clock_tree") => state.clock_share.is_some(),
        field if field.starts_with("leakage") => state.leakage_share.is_some(),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_other_points_stacks_and_regulators_are_not_in_use() {
        let profile = Profile::load("stm32l4r5").unwrap();
        let point = profile.point(None).unwrap();
        let stacks = profile.stacks(None).unwrap();
        let used = |path: &str| profile.is_in_use(path, &point, &stacks);
        assert!(used("operating_points[0].clocks.hclk"));
        assert!(!used("operating_points[1].clocks.hclk"));
        assert!(
            used("software[0].cycles_per_mac.Conv") && !used("software[1].cycles_per_mac.Conv")
        );
        assert!(!used("regulators[1].kind.Switching.efficiency"), "the SMPS is not in use there");
        assert!(used("domains[0].clock_tree.Charge") && used("temperature"));
    }

    #[test]
    fn what_is_not_in_use_moves_no_figure() {
        // Held against the whole: every number that is said to be idle is multiplied by two.
        let profile = Profile::load("stm32l4r5").unwrap();
        let point = profile.point(None).unwrap();
        let stacks = profile.stacks(None).unwrap();
        let records = profile.parameters();
        let moved = profile.perturbed(|i, value| {
            if profile.is_in_use(&records[i].path, &point, &stacks) { value } else { value * 2.0 }
        });
        assert_eq!(moved.point(None).unwrap(), point);
        let moved = moved.parameters();
        let changed = moved.iter().zip(&records).filter(|(a, b)| {
            a.parameter.value != b.parameter.value && a.parameter.value == b.parameter.value * 2.0
        });
        assert!(changed.count() > 20);
    }
}
