//! Voltages that rails stand at: their own, or the highest that their domains ask.

use super::spec::{Domain, DomainState, OperatingPoint, ProfileSpec};
use super::{Point, Profile};
use crate::evidence::{Kind, Valued};
use crate::units::Volts;

impl ProfileSpec {
    /// The voltage of a rail at an operating point: its own, or where it has none the highest that its
    /// domains ask there; those that stay asleep ask what their state says.
    pub fn rail_voltage<'a>(
        &'a self,
        point: &'a OperatingPoint,
        rail: &str,
    ) -> Option<&'a Valued<Volts>> {
        if let Some(own) = point.voltages.get(rail) {
            return Some(own);
        }
        let domains = self.domains.iter().filter(|domain| domain.rail == rail);
        let asked = domains.filter_map(|domain| match point.asleep.get(&domain.name) {
            None => Some(&**point.domain_voltages.get(&domain.name)?),
            Some(state) => retention(domain, state),
        });
        asked.max_by(|a, b| a.get().0.total_cmp(&b.get().0))
    }
}

/// Voltage that a domain asks in a state.
fn retention<'a>(domain: &'a Domain, state: &str) -> Option<&'a Valued<Volts>> {
    domain.states.iter().find(|own| own.name == state)?.voltage.as_ref()
}

impl Profile {
    /// The voltage that is asked of each rail while the domains in `on` are awake and the others asleep:
    /// the highest of what the domains ask that are awake (what the point says of the domain, or else the
    /// rail's own voltage), what the states of the others ask (the state that the point has a domain stay
    /// in, or else its first), and the rail's own voltage where blocks that run no network hang on it.
    /// A rail of which nobody asks anything stands as at the point.
    pub fn rail_voltage_asked(&self, point: &Point, on: &[bool]) -> Vec<Volts> {
        let (spec, links) = (self.spec(), self.links());
        let stated = spec.operating_points.iter().find(|p| p.name == point.name);
        let mut asked: Vec<Option<Volts>> = vec![None; point.voltages.len()];
        let mut ask = |rail: usize, voltage: Volts| {
            if let Some(so_far) = asked.get_mut(rail) {
                *so_far = Some(so_far.map_or(voltage, |so_far| so_far.max(voltage)));
            }
        };
        for (index, (domain, &rail)) in spec.domains.iter().zip(&links.domain_rail).enumerate() {
            if on.get(index).copied().unwrap_or(false) {
                let own = stated.and_then(|p| p.domain_voltages.get(&domain.name));
                let own = own.map(|v| v.get()).or(point.voltages.get(rail).map(|v| v.0));
                own.into_iter().for_each(|voltage| ask(rail, voltage));
            } else {
                let state = point.asleep.get(index).copied().flatten().unwrap_or(0);
                let kept = domain.states.get(state).and_then(|state| state.voltage.as_ref());
                kept.into_iter().for_each(|voltage| ask(rail, voltage.get()));
            }
        }
        for &rail in &links.load_rail {
            point.voltages.get(rail).into_iter().for_each(|(voltage, _)| ask(rail, *voltage));
        }
        let standing = point.voltages.iter().map(|(voltage, _)| *voltage);
        asked.into_iter().zip(standing).map(|(asked, standing)| asked.unwrap_or(standing)).collect()
    }
}

impl Profile {
    /// The voltage that a rail stands at in a run, where `resting` gives the state of each domain that is
    /// at rest, and what it rests on. While a domain of the rail is awake, or in a state that does not say
    /// how little is enough for it, that is the voltage of the point; as long as all are at rest the
    /// highest that their states ask. A state that cuts the power (`ramp_time`) asks nothing. A rail that blocks or further regulators hang on does not move.
    pub fn rail_voltage_at_rest<'a>(
        &self,
        point: &Point,
        rail: usize,
        resting: impl Fn(usize) -> Option<&'a DomainState>,
    ) -> Option<(Volts, Kind)> {
        let (links, standing) = (self.links(), *point.voltages.get(rail)?);
        let draws = |regulator: &usize| links.regulator_rails[*regulator].0 == rail;
        if links.load_rail.contains(&rail) || point.regulators.iter().any(draws) {
            return Some(standing);
        }
        let mut asked: Option<(Volts, Kind)> = None;
        for (domain, _) in links.domain_rail.iter().enumerate().filter(|(_, own)| **own == rail) {
            match resting(domain).map(|state| (&state.voltage, &state.ramp_time)) {
                Some((Some(own), _)) => {
                    if asked.is_none_or(|(so_far, _)| own.get() > so_far) {
                        asked = Some((own.get(), own.kind()));
                    }
                }
                Some((None, Some(_))) => {}
                _ => return Some(standing),
            }
        }
        let Some((voltage, kind)) = asked else { return Some(standing) };
        Some(if voltage < standing.0 { (voltage, kind) } else { standing })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hardware::HardwareError;

    fn text(voltages: &str, asks: &str, more: &str) -> String {
        format!(
            r#"(schema: "joulecast.profile/1", name: "two", kind: Accelerator, description: "made up",
  sources: {{}}, temperature: "25 degC",
  operating_points: [(name: "only", clocks: {{"c": "1 MHz"}}, voltages: {{{voltages}}}, domain_voltages: {{{asks}}}, {more})],
  rails: [(name: "rail"), (name: "other")],
  domains: [(name: "core", rail: "rail", clock: "c", nominal_voltage: "1 V"),
    (name: "side", rail: "rail", clock: "c", nominal_voltage: "1 V", states: [(name: "kept", voltage: "0.6 V"), (name: "off")])],
  memories: [(name: "ram", domain: "core", capacity: "1 MiB", holds: [Weights, Activations], bandwidth: PerCycle("4 B/cycle"))],
  engines: [(name: "unit", domain: "core", array: Lanes(macs: {{Int8: "1 MAC/cycle"}}), energy: (per_mac: {{Int8: "1 pJ"}}),
    supports: [Conv], memories: ["ram"], transfers: Inline)])"#
        )
    }

    fn parsed(voltages: &str, asks: &str, more: &str) -> Result<Profile, HardwareError> {
        Profile::parse("two.ron", &text(voltages, asks, more))
    }

    #[test]
    fn a_rail_without_a_voltage_stands_at_the_highest_that_its_domains_ask() {
        let at = |more: &str| {
            let asks = r#""core": "0.7 V", "side": "0.9 V""#;
            let profile = parsed(r#""other": "1 V""#, asks, more).unwrap();
            profile.point(None).unwrap().voltages[0].0
        };
        assert_eq!(at(""), Volts(0.9));
        assert_eq!(at(r#"asleep: {"side": "kept"}"#), Volts(0.7));
        let asks = r#""core": "0.5 V", "side": "0.9 V""#;
        let profile = parsed(r#""other": "1 V""#, asks, r#"asleep: {"side": "kept"}"#).unwrap();
        assert_eq!(profile.point(None).unwrap().voltages[0].0, Volts(0.6), "what is kept asks too");
    }

    #[test]
    fn what_is_asked_of_a_rail_falls_with_those_that_sleep() {
        let asks = r#""side": "0.9 V", "core": "0.7 V""#;
        let profile = parsed(r#""rail": "1 V", "other": "1.2 V""#, asks, "").unwrap();
        let point = profile.point(None).unwrap();
        let asked = |core, side| profile.rail_voltage_asked(&point, &[core, side]);
        assert_eq!(asked(true, true), [Volts(0.9), Volts(1.2)]);
        assert_eq!(asked(true, false)[0], Volts(0.7));
        assert_eq!(asked(false, true)[0], Volts(0.9));
        assert_eq!(asked(false, false)[0], Volts(0.6));
        let plain = parsed(r#""rail": "1 V", "other": "1.2 V""#, "", "").unwrap();
        assert_eq!(plain.rail_voltage_asked(&point, &[true, false])[0], Volts(1.0));
    }

    #[test]
    fn a_rail_falls_once_all_of_its_domains_rest_in_states_that_ask_for_less() {
        let profile = parsed(r#""rail": "1 V", "other": "1.2 V""#, "", "").unwrap();
        let point = profile.point(None).unwrap();
        let states = &profile.spec().domains[1].states;
        let (kept, off) = (&states[0], &states[1]);
        let cut: DomainState = ron::from_str(r#"(name: "cut", ramp_time: Some("1 us"))"#).unwrap();
        let at = |core: Option<&DomainState>, side: Option<&DomainState>| {
            let resting = |domain| if domain == 0 { core } else { side };
            profile.rail_voltage_at_rest(&point, 0, resting).unwrap().0
        };
        assert_eq!(at(None, Some(kept)), Volts(1.0), "one is awake");
        assert_eq!(at(Some(kept), Some(kept)), Volts(0.6));
        assert_eq!(at(Some(off), Some(kept)), Volts(1.0), "nobody says what is enough for it");
        assert_eq!(at(Some(&cut), Some(kept)), Volts(0.6));
    }

    #[test]
    fn a_rail_below_what_is_asked_of_it_is_a_fault() {
        let voltages = r#""rail": "0.8 V", "other": "1 V""#;
        let wrong = parsed(voltages, r#""side": "0.9 V""#, "").unwrap_err().to_string();
        assert!(
            wrong.contains("800.0 mV is below the 900.0 mV that domain `side` asks"),
            "{wrong}"
        );
        assert!(parsed(voltages, r#""side": "0.9 V""#, r#"asleep: {"side": "off"}"#).is_ok());
        let unknown = parsed(voltages, r#""sde": "0.7 V""#, "").unwrap_err().to_string();
        assert!(unknown.contains("did you mean `side`?"), "{unknown}");
        let nothing = parsed(r#""other": "1 V""#, "", "").unwrap_err().to_string();
        assert!(nothing.contains("rail `rail` has no voltage"), "{nothing}");
    }
}
