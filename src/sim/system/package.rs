//! The package of a run: the power that heats it, the leakage that follows it, sensors and limits.
//!
//! Power changes far more often than temperatures do. It is summed, and the network steps at the mean of a
//! stretch that is no longer than a twentieth of its fastest time constant, or over which power was
//! constant, which is exact for any length. A step ends before any place can have moved by a kelvin, or
//! any leakage by a hundredth of itself from what the accounts were told of it. They are told anew at the
//! end, and what they held too much or too little over the step is made good over the next.

mod close;
mod leakers;
mod watch;

pub(super) use leakers::Leaks;

use crate::cost::Setting;
use crate::evidence::{FieldPath, Kind, Parameters};
use crate::hardware::{CriticalAt, Heated};
use crate::physics::LawError;
use crate::physics::critical_trip::CriticalTrip;
use crate::physics::leaking_network::{
    HeatEnd, LeakingNetwork, LeakingState, Segment, SensorLag, Surroundings,
};
use crate::physics::temperature_reading::TemperatureReading;
use crate::physics::thermal_modes::Crossing;
use crate::sim::heat::{Runaway, Tripped};
use crate::sim::kernel::{Generation, Ticket};
use crate::sim::scenario::{Coupling, HeatStart};
use crate::trace::{ChannelKind, Counter};
use crate::units::{Celsius, CompensatedSum, Joules, Kelvins, Seconds, SimTime, Watts};
use leakers::{Leaker, leakers};
use serde::{Deserialize, Serialize};

/// Share of a time constant over which power is summed.
const SUMMED: f64 = 0.05;
/// Most share by which leakage differs from what the accounts were told of it.
const BAND: f64 = 0.01;
/// Share from which they are told anew.
const RETOLD: f64 = 0.005;
/// Most share that is put on top to make good what they held too little.
const MADE_GOOD: f64 = 0.004;
/// What they lack is made good from this share of a stretch's leakage on.
const OWED: f64 = 1e-3;
/// Most that a place moves within a step \[K\].
const STRIDE: f64 = 1.0;
/// Sinks are told of temperatures that have moved by this \[K\].
const TOLD: f64 = 0.05;
/// A limit is reached where no more than this is missing \[K\]: a first crossing is as exact as a step.
const REACHED: f64 = 1e-3;
/// Time constants after which all has settled.
const SETTLED: f64 = 40.0;

#[derive(Debug)]
struct Sensor<'a> {
    name: &'a str,
    reading: TemperatureReading,
    period: Option<SimTime>,
}

/// What the accounts hold of something that leaks.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
struct Leak {
    temperature: Celsius,
    power: Watts,
    /// The law that holds, and its power at the reference.
    law: usize,
    scale: Watts,
    /// What was booked since the last step.
    booked: Joules,
    /// What was leaked more than booked until then.
    owed: Joules,
}

#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
struct Read {
    highest: Option<Celsius>,
    last: Option<Celsius>,
    readings: u64,
}

/// What moves.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::sim) struct Moving {
    state: LeakingState,
    at_first: LeakingState,
    /// Power is summed up to here; the network stands there.
    summed: SimTime,
    stepped: SimTime,
    /// Power of each node, and as it was when the next step was planned.
    pub(super) power: Vec<Watts>,
    planned: Vec<Watts>,
    /// How far each place was then from leaving its step.
    limits: Vec<Kelvins>,
    /// Heat since the last step, leakage apart, and of each source as it would be at its reference.
    energy: Vec<Joules>,
    scaled: Vec<Joules>,
    leaks: Vec<Leak>,
    heat: Vec<CompensatedSum>,
    leaked: CompensatedSum,
    booked: CompensatedSum,
    plan: Option<SimTime>,
    generation: Generation,
    first: Vec<Celsius>,
    highest: Vec<(Celsius, SimTime)>,
    /// What sinks were told: nodes, then sensors.
    told: Vec<Option<Celsius>>,
    reads: Vec<Read>,
    steps: u64,
    /// At the last step no temperature was steady.
    unbounded: bool,
    tripped: Option<Tripped>,
    runaway: Option<Runaway>,
}

/// All of it.
#[derive(Debug)]
pub(super) struct Package<'a> {
    network: LeakingNetwork,
    names: Vec<&'a str>,
    leakers: Vec<Leaker>,
    of_domain: Vec<Option<usize>>,
    of_load: Vec<Option<usize>>,
    sensors: Vec<Sensor<'a>>,
    critical: Option<(CriticalTrip, CriticalAt)>,
    /// Power is summed for so long.
    least: SimTime,
    fastest: Seconds,
    slowest: Seconds,
    /// How fast a place warms at first by power in another \[K/J\], a row a place.
    kicks: Vec<f64>,
    /// What temperatures rest on.
    kind: Kind,
    start: HeatStart,
    pub(super) moving: Moving,
    /// The network is to step at this instant; these sensors are read.
    pub(super) due: bool,
    pub(super) asked: Vec<usize>,
    /// What leaks at another temperature since it was looked at.
    pub(super) fresh: Vec<usize>,
    /// Power of a step; power of each source at its reference.
    mean: Vec<Watts>,
    scales: Vec<Watts>,
}

impl<'a> Package<'a> {
    /// The package of a profile that has one.
    ///
    /// # Errors
    ///
    /// Numbers that no network can have.
    pub(super) fn new(setting: Setting<'a>, coupling: Coupling) -> Result<Option<Self>, LawError> {
        let (spec, heat) = (setting.profile.spec(), &setting.profile.links().heat);
        let Some(package) = &spec.package else { return Ok(None) };
        let modes = package.modes()?;
        let mut kind = package.ambient.kind();
        package.network.clone().walk(&mut FieldPath::root(), &mut |_, own| {
            kind = kind.weaker(own.kind);
        });
        let (leakers, sources) = leakers(setting);
        let sensors = package.sensors.iter().map(|own| Sensor {
            name: &own.name,
            reading: own.reading(),
            period: own.period().and_then(|own| SimTime::from_seconds(own).ok()),
        });
        let lags = package.sensors.iter().zip(&heat.sensor_node);
        let lags = lags.map(|(own, node)| SensorLag { place: *node, time: own.lag() });
        let rates = modes.rates().iter().copied();
        let fastest = Seconds(1.0 / rates.clone().fold(f64::MIN_POSITIVE, f64::max));
        let slowest = Seconds(1.0 / rates.fold(f64::MAX, f64::min));
        let places = modes.places();
        let pairs = (0..places).flat_map(|seen| (0..places).map(move |heated| (heated, seen)));
        let kicks = pairs.map(|(heated, seen)| modes.first_pace(heated, seen)).collect();
        let ambient = coupling.ambient.unwrap_or_else(|| package.ambient.get());
        let around =
            Surroundings { ambient, ceiling: package.ceiling(), sources, sensors: lags.collect() };
        let network = LeakingNetwork::new(modes, around)?;
        let find = |of: Leaks| leakers.iter().position(|own| own.of == of);
        let mut own = Self {
            names: package.node_names(),
            of_domain: (0..spec.domains.len()).map(|d| find(Leaks::Domain(d))).collect(),
            of_load: (0..spec.loads.len()).map(|l| find(Leaks::Load(l))).collect(),
            sensors: sensors.collect(),
            critical: package.critical.as_ref().map(|own| own.law()).zip(heat.critical),
            least: SimTime::from_seconds(fastest * SUMMED).unwrap_or(SimTime(1)).max(SimTime(1)),
            fastest,
            slowest,
            kicks,
            kind,
            start: coupling.start,
            moving: Moving::default(),
            due: false,
            asked: Vec::new(),
            fresh: Vec::new(),
            mean: vec![Watts::ZERO; places],
            scales: vec![Watts::ZERO; leakers.iter().map(|own| own.laws.len()).sum()],
            leakers,
            network,
        };
        own.moving = own.cold()?;
        Ok(Some(own))
    }

    /// The state before anything has happened.
    fn cold(&self) -> Result<Moving, LawError> {
        let (places, ambient) = (self.names.len(), self.network.ambient());
        let (state, temperature) = match self.start {
            HeatStart::At(own) => {
                let rise = Kelvins(own.0 - ambient.0);
                (self.network.settled_at(rise).ok_or(LawError::Unresolved)?, own)
            }
            HeatStart::Ambient | HeatStart::Settled => (self.network.at_rest(), ambient),
        };
        let leak = Leak { temperature, ..Leak::default() };
        Ok(Moving {
            at_first: state.clone(),
            state,
            power: vec![Watts::ZERO; places],
            planned: vec![Watts::ZERO; places],
            limits: vec![Kelvins(STRIDE); places],
            energy: vec![Joules::ZERO; places],
            scaled: vec![Joules::ZERO; self.scales.len()],
            leaks: vec![leak; self.leakers.len()],
            heat: vec![CompensatedSum::default(); places],
            first: vec![temperature; places],
            highest: vec![(temperature, SimTime::ZERO); places],
            told: vec![None; places + self.sensors.len()],
            reads: vec![Read::default(); self.sensors.len()],
            ..Moving::default()
        })
    }

    /// Whether what was saved can be of this package.
    pub(super) fn fits(&self, saved: &Moving) -> bool {
        let shape = |own: &Moving| {
            let power = [own.power.len(), own.planned.len(), own.energy.len()];
            let nodes = [own.limits.len(), own.heat.len()];
            let told = [own.first.len(), own.highest.len(), own.told.len(), own.reads.len()];
            (power, nodes, told, own.scaled.len(), own.leaks.len())
        };
        let law = |(own, leak): (&Leaker, &Leak)| leak.law < own.laws.len();
        shape(&self.moving) == shape(saved) && self.leakers.iter().zip(&saved.leaks).all(law)
    }

    pub(super) fn nodes(&self) -> usize {
        self.names.len()
    }

    /// What sinks are told of: the temperature of each node, and what each sensor says.
    pub(super) fn counters(&self) -> Vec<Counter> {
        let nodes = self.names.iter().map(|name| format!("{name} temperature"));
        let sensors = self.sensors.iter().map(|own| format!("{} reading", own.name));
        let kind = ChannelKind::Temperature;
        nodes.chain(sensors).map(|name| Counter { name, kind }).collect()
    }

    /// Temperatures that all leaks at.
    pub(super) fn heated(&self, domains: usize, loads: usize) -> Heated {
        let mut all = Heated { domains: vec![None; domains], loads: vec![None; loads] };
        (0..self.leakers.len()).for_each(|own| self.heat_up(own, &mut all));
        all
    }

    /// Puts the temperature of one that leaks among those of all; tells which one it is.
    pub(super) fn heat_up(&self, leaker: usize, all: &mut Heated) {
        let temperature = (self.moving.leaks[leaker].temperature, self.kind);
        match self.leakers[leaker].of {
            Leaks::Domain(domain) => all.domains[domain] = Some(temperature),
            Leaks::Load(load) => all.loads[load] = Some(temperature),
        }
    }

    pub(super) fn leaks(&self, leaker: usize) -> Leaks {
        self.leakers[leaker].of
    }

    pub(super) fn of_domain(&self, domain: usize) -> Option<usize> {
        self.of_domain.get(domain).copied().flatten()
    }

    pub(super) fn of_load(&self, load: usize) -> Option<usize> {
        self.of_load.get(load).copied().flatten()
    }

    /// Something leaks `power` from `now` on, by its law of that number.
    pub(super) fn leak(&mut self, now: SimTime, leaker: usize, law: usize, power: Watts) {
        self.sum(now);
        let leak = &mut self.moving.leaks[leaker];
        let (reference, growth) = self.leakers[leaker].laws[law];
        let above = leak.temperature.0 - reference;
        (leak.law, leak.power) = (law, power);
        leak.scale = power * (-growth * above).exp();
    }

    /// Sums powers up to `now`.
    pub(super) fn sum(&mut self, now: SimTime) {
        let own = &mut self.moving;
        let elapsed = now.since(own.summed).seconds();
        if elapsed.0 <= 0.0 {
            return;
        }
        own.summed = now;
        for (energy, power) in own.energy.iter_mut().zip(&own.power) {
            *energy += *power * elapsed;
        }
        for (leaker, leak) in self.leakers.iter().zip(&mut own.leaks) {
            own.energy[leaker.place].0 -= leak.power.0 * elapsed.0;
            own.scaled[leaker.first + leak.law] += leak.scale * elapsed;
            leak.booked += leak.power * elapsed;
        }
    }

    /// True where power has been summed for long enough.
    pub(super) fn is_time(&self, now: SimTime) -> bool {
        now.since(self.moving.stepped) >= self.least
    }

    /// Brings the network up to `now`. Returns how long the step was.
    pub(super) fn step(&mut self, now: SimTime) -> Result<Seconds, LawError> {
        self.sum(now);
        let own = &mut self.moving;
        let time = now.since(own.stepped).seconds();
        if time.0 <= 0.0 {
            return Ok(Seconds::ZERO);
        }
        self.mean.iter_mut().zip(&own.energy).for_each(|(mean, energy)| *mean = *energy / time);
        self.scales.iter_mut().zip(&own.scaled).for_each(|(scale, sum)| *scale = *sum / time);
        let segment = Segment { power: &self.mean, leakage: &self.scales, duration: time };
        let end = self.network.advance(&mut own.state, segment)?;
        let mut passed = 1.0;
        if let HeatEnd::Ceiling { after, place } = end {
            let at = SimTime::from_seconds(after).and_then(|after| own.stepped.after(after));
            let at = at.unwrap_or(now).min(now);
            own.runaway = Some(Runaway { at, node: place, unbounded: own.unbounded });
            passed = after / time;
        }
        own.unbounded = end == HeatEnd::RunningAway;
        (own.stepped, own.plan) = (now, None);
        own.steps += 1;
        for (heat, energy) in own.heat.iter_mut().zip(&mut own.energy) {
            heat.add(std::mem::take(energy).0 * passed);
        }
        own.scaled.fill(Joules::ZERO);
        for (leaker, leak) in self.leakers.iter().zip(&mut own.leaks) {
            let sources = own.state.leaked().iter().skip(leaker.first).take(leaker.laws.len());
            let leaked: Joules = sources.copied().sum();
            let booked = std::mem::take(&mut leak.booked);
            leak.owed += leaked - booked;
            own.heat[leaker.place].add(leaked.0);
            own.leaked.add(leaked.0);
            own.booked.add(booked.0);
        }
        self.look(now);
        Ok(time)
    }

    /// What of leakage the accounts are to be told anew after a step of that length; into `fresh`.
    pub(super) fn retell(&mut self, step: Seconds) {
        let own = &mut self.moving;
        let over = step.max(self.fastest);
        for (number, (leaker, leak)) in self.leakers.iter().zip(&mut own.leaks).enumerate() {
            let now = self.network.temperature(&mut own.state, leaker.place);
            let growth = leaker.laws[leak.law].1;
            let off = leaker.growth * (now.0 - leak.temperature.0).abs();
            let whole = leak.power * over;
            let owed = if whole.0 > 0.0 && growth != 0.0 { leak.owed / whole } else { 0.0 };
            if off < RETOLD && owed.abs() < OWED {
                continue;
            }
            let more = if growth != 0.0 { owed.clamp(-MADE_GOOD, MADE_GOOD) / growth } else { 0.0 };
            let temperature = Celsius(now.0 + more);
            if temperature != leak.temperature {
                leak.temperature = temperature;
                self.fresh.push(number);
            }
        }
    }

    /// Lets all settle at the powers of now; into `fresh` what leaks otherwise then. How far they moved.
    pub(super) fn settle(&mut self) -> Result<Kelvins, LawError> {
        self.present();
        let time = self.slowest * SETTLED;
        let segment = Segment { power: &self.mean, leakage: &self.scales, duration: time };
        let own = &mut self.moving;
        if let HeatEnd::Ceiling { place, .. } = self.network.advance(&mut own.state, segment)? {
            own.runaway = Some(Runaway { at: SimTime::ZERO, node: place, unbounded: true });
        }
        let mut moved = 0f64;
        for (number, (leaker, leak)) in self.leakers.iter().zip(&mut own.leaks).enumerate() {
            let now = self.network.temperature(&mut own.state, leaker.place);
            moved = moved.max((now.0 - leak.temperature.0).abs());
            leak.temperature = now;
            self.fresh.push(number);
        }
        Ok(Kelvins(moved))
    }

    pub(super) fn is_to_settle(&self) -> bool {
        self.start == HeatStart::Settled
    }

    /// The run begins here.
    pub(super) fn begin(&mut self) {
        let own = &mut self.moving;
        own.at_first = own.state.clone();
        for (place, first) in own.first.iter_mut().enumerate() {
            *first = self.network.temperature(&mut own.state, place);
            own.highest[place] = (*first, SimTime::ZERO);
        }
        self.asked = (0..self.sensors.len()).collect();
        self.read(SimTime::ZERO);
        self.look(SimTime::ZERO);
    }

    /// Power apart from leakage and leakage at the references, as they are now.
    fn present(&mut self) {
        let own = &self.moving;
        self.mean.copy_from_slice(&own.power);
        self.scales.fill(Watts::ZERO);
        for (leaker, leak) in self.leakers.iter().zip(&own.leaks) {
            self.mean[leaker.place].0 -= leak.power.0;
            self.scales[leaker.first + leak.law] = leak.scale;
        }
    }

    /// When the network is to step next if power stays as it is, after a step of that length.
    pub(super) fn plan(
        &mut self,
        now: SimTime,
        step: Seconds,
    ) -> Result<Option<SimTime>, LawError> {
        self.present();
        let own = &mut self.moving;
        own.limits.fill(Kelvins(STRIDE));
        for (leaker, leak) in self.leakers.iter().zip(&own.leaks).filter(|(l, _)| l.growth > 0.0) {
            let at = self.network.temperature(&mut own.state, leaker.place);
            let off = (at.0 - leak.temperature.0).abs();
            let room = (BAND / leaker.growth - off).max(0.1 * BAND / leaker.growth);
            let limit = &mut own.limits[leaker.place];
            *limit = limit.min(Kelvins(room));
        }
        // Longer and longer while nothing moves, so that what the accounts lack is made good.
        let duration = (step * 2.0).max(self.least.seconds());
        let mut segment = Segment { power: &self.mean, leakage: &self.scales, duration };
        segment.duration = self.network.still(&mut own.state, segment, &own.limits)?;
        let mut time = segment.duration;
        if let Some((trip, CriticalAt::Node(node))) = self.critical {
            let (limit, up) = (trip.temperature, Crossing::Upward);
            let reached = self.network.next_crossing(&mut own.state, segment, node, limit, up)?;
            time = reached.unwrap_or(time);
        }
        own.planned.copy_from_slice(&own.power);
        own.plan = later(now, time);
        Ok(own.plan)
    }

    /// When the network is to step now that power has changed, where that is sooner than planned.
    pub(super) fn hasten(&mut self, now: SimTime) -> Option<SimTime> {
        let own = &mut self.moving;
        let mut at = own.stepped.after(self.least).ok();
        let places = own.power.len();
        for (row, limit) in self.kicks.chunks_exact(places.max(1)).zip(&own.limits) {
            let changes = own.power.iter().zip(&own.planned);
            let pace: f64 =
                row.iter().zip(changes).map(|(kick, (is, was))| kick * (is.0 - was.0).abs()).sum();
            if pace > 0.0 {
                at = sooner(at, later(now, Seconds(limit.0 / pace)));
            }
        }
        let at = at.map(|at| at.max(SimTime(now.0.saturating_add(1))));
        let is_sooner = match (at, own.plan) {
            (Some(at), Some(plan)) => at < plan,
            (at, None) => at.is_some(),
            (None, _) => false,
        };
        if is_sooner {
            own.plan = at;
        }
        at.filter(|_| is_sooner)
    }

    /// The ticket of a step that is planned anew.
    pub(super) fn renew(&mut self) -> Ticket {
        self.moving.generation.renew()
    }

    pub(super) fn overtook(&self, ticket: Ticket) -> bool {
        self.moving.generation.overtook(ticket)
    }

    /// Counters that sinks are to be told of, and their values; all of them at the start and the end.
    pub(super) fn news(&mut self, all: bool) -> Vec<(usize, Celsius)> {
        let own = &mut self.moving;
        let mut news = Vec::new();
        let nodes = self.names.len();
        for (counter, told) in own.told.iter_mut().enumerate() {
            let (now, by) = match counter.checked_sub(nodes) {
                None => (Some(self.network.temperature(&mut own.state, counter)), TOLD),
                Some(sensor) => (own.reads[sensor].last, 0.0),
            };
            let Some(now) = now else { continue };
            let moved = told.is_none_or(|told| (now.0 - told.0).abs() > by);
            if moved || (all && *told != Some(now)) {
                *told = Some(now);
                news.push((counter, now));
            }
        }
        news
    }

    /// What sinks were told of each counter.
    pub(super) fn told(&self) -> &[Option<Celsius>] {
        &self.moving.told
    }

    /// True where a limit has ended the run.
    pub(super) fn has_ended(&self) -> bool {
        self.moving.tripped.is_some() || self.moving.runaway.is_some()
    }
}

/// The picosecond that `time` is over by, and not now; nothing past the end of time.
fn later(now: SimTime, time: Seconds) -> Option<SimTime> {
    let ticks = (time.0 * SimTime::TICKS_PER_SECOND).ceil().max(1.0);
    let after = SimTime::from_seconds(Seconds(ticks / SimTime::TICKS_PER_SECOND)).ok()?;
    now.after(after.max(SimTime(1))).ok()
}

fn sooner(one: Option<SimTime>, other: Option<SimTime>) -> Option<SimTime> {
    [one, other].into_iter().flatten().min()
}
