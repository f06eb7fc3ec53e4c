//! Operating points that change in a run, out of a scenario.

use super::checked::named;
use super::read::{Reader, known_or};
use super::{DvfsSpec, GovernorSpec, OndemandSpec, SchedutilSpec, SimpleOndemandSpec};
use crate::cost::Setting;
use crate::hardware::{Point, Profile};
use crate::physics::LawError;
use crate::physics::opp_table::{OppPoint, OppTable};
use crate::physics::opp_transition::{ChangeTime, OppTransitions, RailOrder, RailSlew};
use crate::sim::governor::{
    Fixed, Governor, Ondemand, OndemandSlope, RaceToIdle, Schedutil, SimpleOndemand,
};
use crate::units::{Farads, Ratio, Seconds, VoltsPerSecond, Watts};

/// Operating points that a run goes between.
#[derive(Debug, Clone)]
pub struct Dvfs {
    /// The points, the slowest first.
    pub points: Vec<Point>,
    /// That a run starts at.
    pub start: usize,
    /// The points as a governor knows them: frequency is that of the clock of the profile's first engine.
    pub table: OppTable,
    /// How it goes from one to the other.
    pub transitions: OppTransitions,
    /// Who chooses.
    pub governor: Governor,
}

/// The points and who chooses, or faults.
pub(super) fn dvfs(
    reader: &mut Reader,
    spec: &DvfsSpec,
    hardware: Option<&(Profile, Point)>,
) -> Option<Dvfs> {
    let (profile, at) = hardware?;
    let names = || profile.spec().operating_points.iter().map(|point| point.name.as_str());
    let mut points = Vec::with_capacity(spec.points.len());
    for (place, name) in spec.points.iter().enumerate() {
        let path = format!("dvfs.points[{place}]");
        named(reader, path.clone(), "operating point", name, names())?;
        if spec.points.iter().take(place).any(|own| own == name) {
            reader.fault(path, format!("`{name}` is there twice"));
            return None;
        }
        let mut point = reader.tried(path, profile.point(Some(name)))?;
        // States that hold for the whole run do so at every point.
        (point.load_states, point.asleep) = (at.load_states.clone(), at.asleep.clone());
        points.push(point);
    }
    let clock = *profile.links().engine_domain.first()?;
    points.sort_by(|a, b| a.clocks[clock].0.0.total_cmp(&b.clocks[clock].0.0));
    let Some(start) = points.iter().position(|point| point.name == at.name) else {
        let message = format!("a run starts at `{}`, which is none of the points", at.name);
        reader.fault("dvfs.points", message);
        return None;
    };
    same_regulators(reader, profile, &points)?;
    let table = reader.tried("dvfs.points", table(&points, clock))?;
    let transitions = reader.tried("dvfs.points", transitions(profile, &points))?;
    let governor = governor(reader, spec, profile, &table, (&transitions, clock))?;
    Some(Dvfs { points, start, table, transitions, governor })
}

/// A rail is fed by the same regulator at every point: who switches between two is not simulated.
fn same_regulators(reader: &mut Reader, profile: &Profile, points: &[Point]) -> Option<()> {
    for pair in points.windows(2) {
        let [slower, faster] = pair else { continue };
        let (mut a, mut b) = (slower.regulators.clone(), faster.regulators.clone());
        a.sort_unstable();
        b.sort_unstable();
        if a != b {
            let name = |own: &usize| profile.spec().regulators[*own].name.clone();
            let of = |own: &[usize]| own.iter().map(name).collect::<Vec<_>>().join(", ");
            let message = format!(
                "`{}` is fed by {} and `{}` by {}: a run does not change regulators",
                slower.name,
                of(&a),
                faster.name,
                of(&b)
            );
            reader.fault("dvfs.points", message);
            return None;
        }
    }
    Some(())
}

fn table(points: &[Point], clock: usize) -> Result<OppTable, LawError> {
    let fastest = points.last().map_or(1.0, |point| point.clocks[clock].0.0);
    let point = |point: &Point| OppPoint {
        frequency: point.clocks[clock].0,
        capacity: Ratio(point.clocks[clock].0.0 / fastest),
        // Governors of this kind go by load and ask nothing of power.
        power: Watts::ZERO,
        voltages: point.voltages.iter().map(|(voltage, _)| *voltage).collect(),
    };
    OppTable::new(points.iter().map(point).collect(), Vec::new())
}

fn transitions(profile: &Profile, points: &[Point]) -> Result<OppTransitions, LawError> {
    let (spec, links) = (profile.spec(), profile.links());
    let change = spec.speed_change.as_ref();
    let time = |of: Option<&Option<crate::evidence::Valued<Seconds>>>| {
        of.and_then(|own| own.as_ref()).map_or(Seconds::ZERO, |own| own.get())
    };
    let settle = time(change.map(|own| &own.settle));
    let regulators = points.first().map_or(&[][..], |point| &point.regulators);
    let rail = |rail: usize| {
        let feeding = regulators.iter().find(|own| links.regulator_rails[**own].1 == rail);
        let stated = feeding.and_then(|own| spec.regulators.get(*own));
        let slew = stated.and_then(|own| own.slew.as_ref());
        let capacitance = stated.and_then(|own| own.output_capacitance.as_ref());
        RailSlew {
            slew: slew.map_or(VoltsPerSecond(f64::INFINITY), |own| own.get()),
            settle,
            capacitance: capacitance.map_or(Farads::ZERO, |own| own.get()),
            // The regulator's own loss comes on top by its law.
            efficiency: Ratio(1.0),
            recovered: Ratio::ZERO,
        }
    };
    let rails = (0..spec.rails.len()).map(rail).collect();
    let latency = change.and_then(|own| own.latency.as_ref());
    let time_of =
        latency.map_or(ChangeTime::Rails(RailOrder::Together), |own| ChangeTime::Stated(own.get()));
    let halts = change.is_some_and(|own| own.halts);
    OppTransitions::new(rails, time_of, time(change.map(|own| &own.relock)), halts)
}

fn governor(
    reader: &mut Reader,
    spec: &DvfsSpec,
    profile: &Profile,
    table: &OppTable,
    (transitions, clock): (&OppTransitions, usize),
) -> Option<Governor> {
    let path = "dvfs.governor";
    match &spec.governor {
        GovernorSpec::Performance => Some(Governor::Performance),
        GovernorSpec::Powersave => Some(Governor::Powersave),
        GovernorSpec::RaceToIdle => Some(Governor::RaceToIdle(RaceToIdle)),
        GovernorSpec::Fixed(name) => {
            let names = spec.points.iter().map(String::as_str);
            named(reader, format!("{path}.Fixed"), "operating point of the list", name, names)?;
            let point = profile.point(Some(name)).ok()?;
            Some(Governor::Fixed(Fixed { frequency: point.clocks[clock].0 }))
        }
        GovernorSpec::Ondemand(OndemandSpec { period, up_threshold }) => {
            let longest = longest(table, transitions);
            let period = known_or(period.as_deref(), Ondemand::default_period(longest))?;
            let threshold = known_or(up_threshold.as_deref(), Ratio(0.8))?;
            let made = Ondemand::new(period, threshold, OndemandSlope::Range, 1);
            reader.tried(format!("{path}.Ondemand"), made).map(Governor::Ondemand)
        }
        GovernorSpec::Schedutil(SchedutilSpec { tick, rate_limit }) => {
            let tick = known_or(tick.as_deref(), Seconds(4e-3))?;
            let limit = known_or(rate_limit.as_deref(), Seconds(10e-3))?;
            let made = Schedutil::new(tick, limit);
            reader.tried(format!("{path}.Schedutil"), made).map(Governor::Schedutil)
        }
        GovernorSpec::SimpleOndemand(SimpleOndemandSpec { period }) => {
            let period = known_or(period.as_deref(), Seconds(50e-3))?;
            let (up, down) = (SimpleOndemand::UP_THRESHOLD, SimpleOndemand::DOWN_DIFFERENTIAL);
            let made = SimpleOndemand::new(period, up, down);
            reader.tried(format!("{path}.SimpleOndemand"), made).map(Governor::SimpleOndemand)
        }
    }
}

fn longest(table: &OppTable, transitions: &OppTransitions) -> Seconds {
    let all = transitions.all(table).unwrap_or_default();
    let times = all.iter().flatten().map(|own| own.until_new_frequency());
    times.fold(Seconds::ZERO, Seconds::max)
}

impl Dvfs {
    /// The same on another profile of the same structure.
    ///
    /// # Errors
    /// The profile lacks one of the points, or its numbers make no table.
    pub(super) fn on(&self, profile: &Profile) -> Option<Self> {
        let points: Option<Vec<Point>> =
            self.points.iter().map(|point| profile.repoint(point).ok()).collect();
        let points = points?;
        let clock = *profile.links().engine_domain.first()?;
        let table = table(&points, clock).ok()?;
        let transitions = transitions(profile, &points).ok()?;
        Some(Self { points, table, transitions, ..self.clone() })
    }

    /// The setting at one of the points.
    pub fn setting<'a>(&'a self, speed: usize, base: Setting<'a>) -> Setting<'a> {
        Setting { point: self.points.get(speed).unwrap_or(base.point), ..base }
    }
}
