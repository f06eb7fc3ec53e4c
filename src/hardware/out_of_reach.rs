//! What an operating point asks for and cannot have: of its rails, its memories and its regulators.

use super::spec::{Bandwidth, OperatingPoint, ProfileSpec, Regulator, RegulatorKind, WaitStates};
use crate::units::{Hertz, Volts};

/// What is equal as written is equal, scaled by a corner too.
const SLACK: f64 = 1e-9;

/// Why an operating point cannot be.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum OutOfReach {
    /// A rail below its lowest voltage.
    #[error("{voltage} is below the {least} of rail `{rail}`")]
    BelowRail {
        /// The rail.
        rail: String,
        /// Its voltage at the point.
        voltage: Volts,
        /// The lowest it may have.
        least: Volts,
    },
    /// A rail above its highest voltage.
    #[error("{voltage} is above the {most} of rail `{rail}`")]
    AboveRail {
        /// The rail.
        rail: String,
        /// Its voltage at the point.
        voltage: Volts,
        /// The highest it may have.
        most: Volts,
    },
    /// A rail below what a domain asks of it.
    #[error("{voltage} is below the {asked} that domain `{domain}` asks")]
    BelowAsked {
        /// The domain.
        domain: String,
        /// Voltage of its rail at the point.
        voltage: Volts,
        /// What it asks.
        asked: Volts,
    },
    /// A clock above all wait states.
    #[error("at {voltage} the wait states of `{memory}` end at {highest}, below the {clock} here")]
    BeyondWaitStates {
        /// The memory, cache or link.
        memory: String,
        /// Voltage of its rail.
        voltage: Volts,
        /// Its clock.
        clock: Hertz,
        /// The highest clock with wait states at this voltage.
        highest: Hertz,
    },
    /// A voltage below all ranges of wait states.
    #[error("the wait states of `{memory}` begin at {lowest}, above the {voltage} here")]
    BelowWaitStates {
        /// The memory, cache or link.
        memory: String,
        /// Voltage of its rail.
        voltage: Volts,
        /// The lowest voltage with wait states.
        lowest: Volts,
    },
    /// A regulator that only steps down and would have to step up.
    #[error("{what} `{regulator}` cannot make {output} out of {input}")]
    NoHeadroom {
        /// What it is (`linear regulator`).
        what: &'static str,
        /// The regulator.
        regulator: String,
        /// Voltage that it is given.
        input: Volts,
        /// Voltage that it has to make.
        output: Volts,
    },
}

/// All that a point asks for beyond what there is, each with the field of the point.
pub(super) fn out_of_reach(
    spec: &ProfileSpec,
    point: &OperatingPoint,
) -> Vec<(String, OutOfReach)> {
    let mut found = rails(spec, point);
    found.extend(asks(spec, point));
    for (name, domain, law) in wait_states(spec, point) {
        found.extend(beyond_wait_states(spec, point, name, domain, law));
    }
    let regulators = spec.regulators.iter().filter(|r| r.in_use_at(&point.name));
    found.extend(regulators.filter_map(|regulator| headroom(spec, point, regulator)));
    found
}

fn voltage_of(spec: &ProfileSpec, point: &OperatingPoint, rail: &str) -> Option<Volts> {
    // What could not be read has been told.
    spec.rail_voltage(point, rail).filter(|v| v.parameter().fault.is_none()).map(|v| v.get())
}

fn rails(spec: &ProfileSpec, point: &OperatingPoint) -> Vec<(String, OutOfReach)> {
    let mut found = Vec::new();
    for rail in &spec.rails {
        let Some(voltage) = voltage_of(spec, point, &rail.name) else { continue };
        let field = format!("voltages.{}", rail.name);
        let least = rail.minimum.as_ref().map(|v| v.get());
        let most = rail.maximum.as_ref().map(|v| v.get());
        let name = rail.name.clone();
        if let Some(least) = least.filter(|least| voltage.0 < least.0 * (1.0 - SLACK)) {
            found.push((field, OutOfReach::BelowRail { rail: name, voltage, least }));
        } else if let Some(most) = most.filter(|most| voltage.0 > most.0 * (1.0 + SLACK)) {
            found.push((field, OutOfReach::AboveRail { rail: name, voltage, most }));
        }
    }
    found
}

/// Rails below what their domains that are awake ask.
fn asks(spec: &ProfileSpec, point: &OperatingPoint) -> Vec<(String, OutOfReach)> {
    let awake = spec.domains.iter().filter(|d| !point.asleep.contains_key(&d.name));
    let below = awake.filter_map(|domain| {
        let asked = point.domain_voltages.get(&domain.name)?;
        let asked = Some(asked.get()).filter(|_| asked.parameter().fault.is_none())?;
        let voltage = voltage_of(spec, point, &domain.rail)?;
        (voltage.0 < asked.0 * (1.0 - SLACK)).then(|| {
            let domain_name = domain.name.clone();
            let below = OutOfReach::BelowAsked { domain: domain_name, voltage, asked };
            (format!("voltages.{}", domain.rail), below)
        })
    });
    below.collect()
}

/// Every law of wait states in use at a point, with whose it is and the name of its domain.
fn wait_states<'a>(
    spec: &'a ProfileSpec,
    point: &'a OperatingPoint,
) -> impl Iterator<Item = (&'a str, &'a str, &'a WaitStates)> {
    let memories = spec.memories.iter().map(|m| {
        let set = point.set_points.get(&m.name).and_then(|name| m.set_points.get(name));
        let bandwidth = set.map_or(&m.bandwidth, |set| &set.bandwidth);
        (m.name.as_str(), m.domain.as_str(), bandwidth)
    });
    let caches = spec.caches.iter().map(|c| (c.name.as_str(), c.domain.as_str(), &c.bandwidth));
    let links = spec.links.iter().map(|l| (l.name.as_str(), l.domain.as_str(), &l.bandwidth));
    let all = memories.chain(caches).chain(links);
    all.filter_map(|(name, domain, bandwidth)| match bandwidth {
        Bandwidth::WaitStates(law) => Some((name, domain, law)),
        _ => None,
    })
}

fn beyond_wait_states(
    spec: &ProfileSpec,
    point: &OperatingPoint,
    name: &str,
    domain: &str,
    law: &WaitStates,
) -> Option<(String, OutOfReach)> {
    let domain = spec.domains.iter().find(|d| d.name == domain)?;
    let clock = point.clocks.get(&domain.clock).filter(|c| c.parameter().fault.is_none())?.get();
    let (voltage, memory) = (voltage_of(spec, point, &domain.rail)?, name.to_owned());
    if let Some(lowest) = law.above(voltage) {
        let beyond = OutOfReach::BelowWaitStates { memory, voltage, lowest };
        return Some((format!("voltages.{}", domain.rail), beyond));
    }
    let highest = law.range_at(voltage)?.limits.last()?.get();
    (clock.0 > highest.0 * (1.0 + SLACK)).then(|| {
        let beyond = OutOfReach::BeyondWaitStates { memory, voltage, clock, highest };
        (format!("clocks.{}", domain.clock), beyond)
    })
}

fn headroom(
    spec: &ProfileSpec,
    point: &OperatingPoint,
    regulator: &Regulator,
) -> Option<(String, OutOfReach)> {
    let what = match regulator.kind {
        RegulatorKind::Ldo(_) => "linear regulator",
        RegulatorKind::Buck(_) | RegulatorKind::BuckFit(_) => "step-down regulator",
        RegulatorKind::LoadSwitch(_) => "load switch",
        // A boost converter is either of these.
        RegulatorKind::Switching(_) | RegulatorKind::Table(_) => return None,
    };
    let input = voltage_of(spec, point, &regulator.input)?;
    let output = voltage_of(spec, point, &regulator.output)?;
    (output.0 > input.0 * (1.0 + SLACK)).then(|| {
        let regulator_name = regulator.name.clone();
        let beyond = OutOfReach::NoHeadroom { what, regulator: regulator_name, input, output };
        (format!("voltages.{}", regulator.output), beyond)
    })
}
