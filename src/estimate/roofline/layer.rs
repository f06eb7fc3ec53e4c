//! A layer below the roofs.

use super::{ComputeRoof, Counted, EnergyRoof, Level};
use crate::cost::{Setting, bandwidth};
use crate::estimate::{Bound, LayerEstimate, phase_time};
use crate::hardware::Precision;
use crate::mapping::{PhaseKind, Step, Transfer};
use crate::model::OpKind;
use crate::units::{Bytes, Joules, Quantity, Seconds, Watts};

/// Work with the time and the energy that it takes, and those that its roofs ask for.
#[derive(Debug, Clone, PartialEq)]
pub struct Point<C: Counted> {
    /// Operations done.
    pub work: C,
    /// Bytes that pass each level, in the order of the engine's levels.
    pub bytes: Vec<Bytes>,
    /// Energy of those bytes.
    pub moving: Vec<Joules>,
    /// Time.
    pub time: Seconds,
    /// Energy at the sources.
    pub energy: Joules,
    /// Energy at the loads.
    pub load_energy: Joules,
    /// The least time that the roofs allow.
    pub ideal_time: Seconds,
    /// The least energy at the loads: full engine, the layer's own bytes, constant power for the least time.
    pub ideal_energy: Joules,
}

impl<C: Counted> Point<C> {
    /// Two as one, run one after the other.
    #[must_use]
    pub fn with(mut self, other: &Self) -> Self {
        self.work = self.work.plus(other.work);
        self.bytes.iter_mut().zip(&other.bytes).for_each(|(sum, own)| *sum += *own);
        self.moving.iter_mut().zip(&other.moving).for_each(|(sum, own)| *sum += *own);
        self.time += other.time;
        self.energy += other.energy;
        self.load_energy += other.load_energy;
        self.ideal_time += other.ideal_time;
        self.ideal_energy += other.ideal_energy;
        self
    }

    fn count(&self) -> f64 {
        self.work.count() as f64
    }

    /// Operations a byte at a level, by its place among the engine's; nothing where no byte passes.
    pub fn intensity(&self, level: usize) -> Option<C::PerByte> {
        let bytes = self.bytes.get(level).filter(|bytes| bytes.0 > 0.0)?;
        Some(C::PerByte::from_si(self.count() / bytes.0))
    }

    /// Operations a second.
    pub fn attained(&self) -> C::PerSecond {
        C::PerSecond::from_si(self.count() / self.time.0)
    }

    /// The most operations a second below the roofs.
    pub fn attainable(&self) -> C::PerSecond {
        C::PerSecond::from_si(self.count() / self.ideal_time.0)
    }

    /// Attained over attainable, 0 to 1.
    pub fn share(&self) -> f64 {
        self.ideal_time / self.time
    }

    /// Operations a joule at the loads.
    pub fn per_joule(&self) -> C::PerJoule {
        C::PerJoule::from_si(self.count() / self.load_energy.0)
    }

    /// Operations a joule at the sources.
    pub fn per_joule_at_sources(&self) -> C::PerJoule {
        C::PerJoule::from_si(self.count() / self.energy.0)
    }

    /// The most operations a joule at the loads below the roofs.
    pub fn attainable_per_joule(&self) -> C::PerJoule {
        C::PerJoule::from_si(self.count() / self.ideal_energy.0)
    }

    /// Attained over attainable operations a joule, 0 to 1.
    pub fn energy_share(&self) -> f64 {
        self.ideal_energy / self.load_energy
    }
}

/// Where the time goes that a layer takes beyond its roofs; with the least time they make all of it.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct LostTime {
    /// Shapes and software that leave the engine partly empty, past what bytes take.
    pub engine: Seconds,
    /// Starting the operator.
    pub dispatch: Seconds,
    /// Latency of requests.
    pub latency: Seconds,
    /// What runs one after the other: filling, draining, phases with different limits.
    pub serial: Seconds,
}

impl LostTime {
    /// Each part with its name.
    pub fn parts(&self) -> [(&'static str, Seconds); 4] {
        [
            ("engine", self.engine),
            ("dispatch", self.dispatch),
            ("latency", self.latency),
            ("fill, drain", self.serial),
        ]
    }

    /// The largest part that is more than `least`.
    pub fn largest(&self, least: Seconds) -> Option<(&'static str, Seconds)> {
        let parts = self.parts().into_iter().filter(|(_, time)| *time > least);
        // Of equals the first.
        parts.reduce(|most, own| if own.1 > most.1 { own } else { most })
    }
}

/// How a layer stands to the ridge that is nearest to bind it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ridge {
    /// The level, by its place among the engine's.
    pub level: usize,
    /// The layer's intensity there over that of the ridge: below 1 the level's bandwidth limits it.
    pub distance: f64,
}

/// One layer.
#[derive(Debug, Clone, PartialEq)]
pub struct LayerPoint<C: Counted> {
    /// The layer, by its place in the network.
    pub layer: usize,
    /// Name.
    pub name: String,
    /// Kind.
    pub kind: OpKind,
    /// Number format that it is computed in.
    pub precision: Precision,
    /// The compute roof above it, by its place among those of the engine.
    pub compute: usize,
    /// Work, time and energy.
    pub point: Point<C>,
    /// The lowest roof: what would bind with the engine full.
    pub roof: Bound,
    /// What takes longest by itself, with the cycles that shapes and software really take.
    pub longest: Bound,
    /// What the layer waits for most of its time, in the estimate.
    pub bound: Bound,
    /// The ridge that its intensity is furthest left of, or nearest right of; nothing without bytes.
    pub ridge: Option<Ridge>,
    /// The same of the energy balance points: below 1 bytes of the level take more than operations. Nothing
    /// where bytes cost nothing.
    pub balance: Option<Ridge>,
    /// Where the time beyond the roofs goes.
    pub lost: LostTime,
}

pub(super) fn point<C: Counted>(
    (step, layer, work): (&Step, &LayerEstimate, C),
    (compute, roof): (usize, &ComputeRoof<C>),
    levels: &[Level],
    constant: Watts,
    setting: Setting<'_>,
) -> LayerPoint<C> {
    let of = |level: &Level| {
        let channel = level.channel;
        step.traffic.iter().filter(move |t| t.channel == channel)
    };
    let bytes = levels.iter().map(|level| of(level).map(Transfer::bytes).sum());
    let moving = levels.iter().map(|level| of(level).map(|t| t.energy).sum());
    let loads = layer.by_component.iter().filter(|c| !c.role.is_loss());
    let point = Point {
        work,
        bytes: bytes.collect(),
        moving: moving.collect(),
        time: layer.time,
        energy: layer.energy,
        load_energy: loads.map(|c| c.energy).sum(),
        ideal_time: Seconds::ZERO,
        ideal_energy: Joules::ZERO,
    };
    let longest = slowest(&point, cycles_time(step, setting), levels);
    let mut found = LayerPoint {
        layer: step.layer,
        name: step.name.clone(),
        kind: step.kind,
        precision: roof.precision,
        compute,
        point,
        roof: Bound::Compute,
        longest: longest.1,
        bound: layer.bound,
        ridge: None,
        balance: None,
        lost: LostTime::default(),
    };
    found.place(roof, levels, constant);
    found.lost = lost(step, layer.time, (found.point.ideal_time, longest.0), setting);
    found
}

/// What takes longest of an engine's own time and the bytes of each level.
fn slowest<C: Counted>(point: &Point<C>, own: Seconds, levels: &[Level]) -> (Seconds, Bound) {
    let through = levels.iter().zip(&point.bytes).filter(|(_, bytes)| bytes.0 > 0.0);
    let through = through.map(|(l, bytes)| (*bytes / l.bandwidth, Bound::Channel(l.channel)));
    // Of equals the first.
    through.fold((own, Bound::Compute), |most, own| if own.0 > most.0 { own } else { most })
}

impl<C: Counted> LayerPoint<C> {
    /// Works out what the roofs ask for at the least, and which is the lowest.
    pub(super) fn place(&mut self, compute: &ComputeRoof<C>, levels: &[Level], constant: Watts) {
        let point = &mut self.point;
        let count = point.work.count() as f64;
        let full = Seconds(count / compute.peak.si());
        let (least, roof) = slowest(point, full, levels);
        let moving: Joules = point.moving.iter().copied().sum();
        point.ideal_time = least;
        point.ideal_energy = Joules(count * compute.energy.si()) + moving + constant * least;
        self.roof = roof;
        let nearest = |middle: &dyn Fn(&Level) -> f64| {
            let ridges = levels.iter().enumerate().filter_map(|(level, at)| {
                let distance = self.point.intensity(level)?.si() / middle(at);
                distance.is_finite().then_some(Ridge { level, distance })
            });
            ridges.reduce(|least, r| if r.distance < least.distance { r } else { least })
        };
        let ridge = nearest(&|level| compute.ridge(level).si());
        let balance = |level: &Level| EnergyRoof::of(compute, level, constant).balance().si();
        let balance = nearest(&balance);
        (self.ridge, self.balance) = (ridge, balance);
    }

    /// Only what passes one level, by its place.
    pub(super) fn keep(&mut self, level: usize) {
        self.point.bytes = self.point.bytes.get(level).into_iter().copied().collect();
        self.point.moving = self.point.moving.get(level).into_iter().copied().collect();
    }
}

/// Time of the cycles at work.
fn cycles_time(step: &Step, setting: Setting<'_>) -> Seconds {
    let clock = setting.point.clocks[setting.profile.links().engine_domain[step.engine]].0;
    step.cost.compute / clock
}

/// Where the time beyond the least goes, with what the longest part takes by itself.
fn lost(
    step: &Step,
    time: Seconds,
    (least, longest): (Seconds, Seconds),
    setting: Setting<'_>,
) -> LostTime {
    let mut lost = LostTime { engine: longest - least, ..LostTime::default() };
    let clock = setting.point.clocks[setting.profile.links().engine_domain[step.engine]].0;
    for phase in &step.phases {
        let whole = phase_time(phase, step.engine, setting).total;
        if phase.kind == PhaseKind::Dispatch {
            lost.dispatch += whole;
            continue;
        }
        let moving = phase.transfers.iter().map(|t| t.bytes() / bandwidth(t.channel, setting).0);
        lost.latency += whole - moving.fold(phase.compute / clock, Seconds::max);
    }
    let rest = time - longest - lost.dispatch - lost.latency;
    // What is left of a difference of equals is no time.
    lost.serial = if rest.0 > time.0 * 1e-12 { rest } else { Seconds::ZERO };
    lost
}
