//! A run as it is written down between two instants, and taken up again.
//!
//! What moves is here; what is fixed (programs, laws, the profile) is made anew from the scenario.
//! Every struct is taken apart by name, so that a field which is added has to be thought of.

use super::job::Job;
use super::package::Moving;
use super::port::Port;
use super::rails::Standing;
use super::speed::SpeedState;
use super::stream::{Feed, Served, Stream};
use super::unit::{Doing, Unit};
use super::{Block, Cascade, EngineUse, Mood, System};
use crate::sim::SimError;
use crate::sim::accounts::SavedAccounts;
use crate::sim::kernel::Generation;
use crate::sim::load::{Look, Looks, Request, Source, Tally};
use crate::sim::snapshot::SnapshotError;
use crate::trace::{Sink, Tee};
use crate::units::{SimTime, Watts};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};

/// All that moves in a run.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::sim) struct SavedSystem {
    streams: Vec<SavedStream>,
    cascades: Vec<SavedCascade>,
    domains: Vec<Unit>,
    rails: Standing,
    ports: Vec<Port>,
    backgrounds: Vec<Watts>,
    engines: Vec<EngineUse>,
    blocks: Vec<Block>,
    accounts: SavedAccounts,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    heat: Option<Moving>,
    at_work: u32,
    mood: Mood,
    mood_since: SimTime,
    inferences: u64,
    speed: Option<SpeedState>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedStream {
    source: Option<Source>,
    next: Option<SimTime>,
    waiting: VecDeque<Request>,
    job: Job,
    timer: Generation,
    served: Served,
    looks: BTreeMap<u64, usize>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedCascade {
    looks: Looks,
    next: Option<Look>,
    tally: Tally,
}

impl Stream {
    fn save(&self) -> SavedStream {
        let Self { setup, next, waiting, job, timer, served, looks, uses_engines: _ } = self;
        let source = match &setup.feed {
            Feed::Source(source) => Some(source.clone()),
            Feed::Passed => None,
        };
        SavedStream {
            source,
            next: *next,
            waiting: waiting.clone(),
            job: job.clone(),
            timer: *timer,
            served: served.clone(),
            looks: looks.clone(),
        }
    }

    fn restore(&mut self, saved: SavedStream) {
        let SavedStream { source, next, waiting, job, timer, served, looks } = saved;
        if let Some(source) = source {
            self.setup.feed = Feed::Source(source);
        }
        (self.next, self.waiting, self.job) = (next, waiting, job);
        (self.timer, self.served, self.looks) = (timer, served, looks);
    }

    /// Whether what was saved can be of this stream.
    fn fits(&self, saved: &SavedStream) -> bool {
        let fed = matches!(self.setup.feed, Feed::Source(_)) == saved.source.is_some();
        let of_speed = self.setup.programs.get(saved.job.speed);
        let Some(program) = of_speed.and_then(|own| own.get(saved.job.program)) else {
            return false;
        };
        fed && (saved.job.requests.is_empty() || saved.job.task < program.tasks.len().max(1))
    }
}

impl Cascade {
    fn save(&self) -> SavedCascade {
        let Self { looks, next, stages: _, tally } = self;
        SavedCascade { looks: looks.clone(), next: *next, tally: tally.clone() }
    }

    fn restore(&mut self, saved: SavedCascade) {
        let SavedCascade { looks, next, tally } = saved;
        (self.looks, self.next, self.tally) = (looks, next, tally);
    }
}

impl<S: Sink> System<'_, '_, S> {
    /// All that moves, between two instants.
    pub(in crate::sim) fn save(&self) -> SavedSystem {
        // What is marked within an instant is done by its end.
        let Self {
            setting: _,
            streams,
            cascades,
            domains,
            rails,
            heat,
            ports,
            backgrounds,
            engines,
            blocks,
            accounts,
            sink: _,
            at_work,
            mood,
            mood_since,
            inferences,
            wanted: _,
            lasts: _,
            horizon: _,
            finished: _,
            serve: _,
            dispatch: _,
            ports_changed: _,
            moved: _,
            anew: _,
            stops: _,
            speeds,
            hears: _,
        } = self;
        SavedSystem {
            streams: streams.iter().map(Stream::save).collect(),
            cascades: cascades.iter().map(Cascade::save).collect(),
            domains: domains.units.clone(),
            rails: rails.save(),
            ports: ports.clone(),
            backgrounds: backgrounds.clone(),
            engines: engines.clone(),
            blocks: blocks.clone(),
            accounts: accounts.save(),
            heat: heat.as_ref().map(|heat| heat.moving.clone()),
            at_work: *at_work,
            mood: *mood,
            mood_since: *mood_since,
            inferences: *inferences,
            speed: speeds.as_ref().map(|own| own.state.clone()),
        }
    }

    /// Takes up what was saved.
    ///
    /// # Errors
    /// It is of another run.
    pub(in crate::sim) fn restore(&mut self, saved: SavedSystem) -> Result<(), SimError> {
        let fits = self.streams.len() == saved.streams.len()
            && self.streams.iter().zip(&saved.streams).all(|(own, saved)| own.fits(saved))
            && self.cascades.len() == saved.cascades.len()
            && self.domains.units.len() == saved.domains.len()
            && self.rails.fits(&saved.rails)
            && self.ports.len() == saved.ports.len()
            && self.backgrounds.len() == saved.backgrounds.len()
            && self.engines.len() == saved.engines.len()
            && self.blocks.len() == saved.blocks.len()
            && match (&self.heat, &saved.heat) {
                (Some(own), Some(saved)) => own.fits(saved),
                (own, saved) => own.is_none() && saved.is_none(),
            }
            && match (&self.speeds, &saved.speed) {
                (Some(own), Some(saved)) => own.fits(saved),
                (own, saved) => own.is_none() && saved.is_none(),
            }
            && self.accounts.fits(&saved.accounts);
        if !fits {
            return Err(SnapshotError::Unfit.into());
        }
        for (own, saved) in self.streams.iter_mut().zip(saved.streams) {
            own.restore(saved);
        }
        for (own, saved) in self.cascades.iter_mut().zip(saved.cascades) {
            own.restore(saved);
        }
        self.domains.units = saved.domains;
        self.rails.restore(saved.rails);
        (self.ports, self.backgrounds) = (saved.ports, saved.backgrounds);
        (self.engines, self.blocks) = (saved.engines, saved.blocks);
        self.accounts.restore(saved.accounts);
        if let Some((own, saved)) = self.heat.as_mut().zip(saved.heat) {
            own.moving = saved;
            if let Some(all) = self.rails.heated() {
                *all = own.heated(all.domains.len(), all.loads.len());
            }
        }
        (self.at_work, self.mood, self.mood_since) = (saved.at_work, saved.mood, saved.mood_since);
        self.inferences = saved.inferences;
        if let Some(speed) = saved.speed {
            self.restore_speed(speed);
        }
        let enough = self.wanted.is_some_and(|wanted| self.inferences >= wanted);
        self.finished = enough || self.browned_out() || self.overheated();
        Ok(())
    }

    /// The state that a domain is in or on its way from, where it is not on.
    pub(in crate::sim) fn is_resting(&self, domain: usize) -> bool {
        self.domains.units.get(domain).is_some_and(|unit| unit.doing != Doing::On)
    }

    /// What the policies of now are to be applied to when the run goes on.
    pub(in crate::sim) fn look_anew(&mut self, domains: Vec<usize>, batches: bool) {
        self.anew = Anew { domains, batches };
    }

    /// Domains that are idle begin to be so again, and batches that wait are looked at.
    pub(super) fn apply_policies(&mut self) {
        let Anew { domains, batches } = std::mem::take(&mut self.anew);
        for domain in domains {
            let Some(unit) = self.domains.units.get_mut(domain) else { continue };
            if unit.doing == Doing::On && unit.users == 0 {
                unit.generation.renew();
                unit.idle_since = None;
                self.domains.begins_idle(domain);
            }
        }
        self.serve |= batches;
    }
}

/// What policies that have changed are to be applied to.
#[derive(Debug, Default)]
pub(super) struct Anew {
    domains: Vec<usize>,
    batches: bool,
}

impl<A: Sink, B: Sink> System<'_, '_, Tee<'_, A, B>> {
    /// The first of two sinks.
    pub(in crate::sim) fn first_sink(&mut self) -> &mut A {
        self.sink.0
    }

    /// Tells the second of two sinks, which knows nothing of what was before, what holds from `now` on.
    pub(in crate::sim) fn tell_second(&mut self, now: SimTime) {
        self.accounts.tell_all(now, self.sink.1);
        self.tell_second_of_heat(now);
    }
}
