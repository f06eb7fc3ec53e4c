//! Everything that happens in a run: requests come and wait, tasks hold engines and share ports,
//! domains rest and wake.
//!
//! Each event changes what it must and marks what follows from it; what follows is done once all
//! events of the instant are handled ([`System::settle`]), so that ties between them decide nothing:
//! streams begin to serve, engines take the most urgent task that waits, domains that nothing needs
//! go to rest, and rails are solved.

mod blocks;
mod close;
mod domains;
mod heat;
mod job;
mod package;
mod port;
mod rails;
mod reload;
mod requests;
mod saved;
mod speed;
mod stream;
mod supply;
mod tasks;
mod unit;
mod waking;

pub(super) use blocks::Block;
pub(super) use domains::Resting;
pub use heat::HeatEvent;
pub(super) use saved::SavedSystem;
pub use speed::OppUse;
pub use stream::{Feed, Onward, Served, StreamSetup};
pub use unit::{Residency, Transitions};

use super::SimError;
use super::accounts::{Accounts, Otherwise, SupplyEvent};
use super::kernel::{Class, Queue, System as Simulated, Ticket};
use super::load::{Look, Looks, Tally};
use super::scenario::{Coupling, Dvfs};
use super::supplied::SupplyStart;
use crate::cost::{Setting, bandwidth};
use crate::evidence::Kind;
use crate::hardware::Role;
use crate::trace::{Sink, Span, SpanKind};
use crate::units::{SimTime, Watts};
use domains::Domains;
use package::Package;
use port::{Owner, Port};
use rails::Rails;
use serde::{Deserialize, Serialize};
use speed::Speeds;
use stream::Stream;

/// What can happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// A request comes.
    Arrive {
        /// Of this stream.
        stream: usize,
        /// True of one that comes by itself: the one after it is then looked up.
        by_itself: bool,
    },
    /// A batch has waited long enough.
    Batch {
        /// Of this stream.
        stream: usize,
        /// The plan it comes from.
        ticket: Ticket,
    },
    /// A part of a task ends.
    Work {
        /// Of the job of this stream.
        stream: usize,
        /// The plan it comes from.
        ticket: Ticket,
    },
    /// A part of a domain's entry or waking is over.
    Awake {
        /// The domain.
        domain: usize,
        /// The plan it comes from.
        ticket: Ticket,
    },
    /// A domain has been idle long enough.
    Rest {
        /// The domain.
        domain: usize,
        /// The plan it comes from.
        ticket: Ticket,
    },
    /// Transfers of a domain's reload end.
    Reload {
        /// The domain.
        domain: usize,
        /// The plan it comes from.
        ticket: Ticket,
    },
    /// A cascade looks.
    Look {
        /// The cascade.
        cascade: usize,
    },
    /// A block goes into its next state.
    Block {
        /// The block.
        load: usize,
    },
    /// Policies change, where a run is taken up from a snapshot.
    PolicyChange,
    /// A supply does something by itself.
    Supply(SupplyEvent),
    /// The package of the chip asks for something.
    Heat(HeatEvent),
    /// A governor looks.
    Govern {
        /// The plan it comes from.
        ticket: Ticket,
    },
    /// A change of operating point goes on.
    Speed {
        /// The plan it comes from.
        ticket: Ticket,
    },
    /// The run is to last until here.
    End,
}

/// What a run starts from.
pub(super) struct Setup<'a> {
    pub(super) setting: Setting<'a>,
    pub(super) streams: Vec<StreamSetup>,
    /// Looks of each cascade, and the streams of its stages.
    pub(super) cascades: Vec<(Looks, Vec<usize>, Tally)>,
    /// How each domain rests.
    pub(super) rests: Vec<Resting>,
    /// True where all domains are on while anything is served.
    pub(super) together: bool,
    pub(super) blocks: Vec<Block>,
    /// After how many inferences it ends.
    pub(super) inferences: Option<u64>,
    /// The least time that it lasts.
    pub(super) lasts: Option<SimTime>,
    /// Nothing is asked for from here on.
    pub(super) horizon: Option<SimTime>,
    /// Supplies that run down, by their number, and what each starts with.
    pub(super) starts: Vec<(usize, SupplyStart)>,
    /// True of a run that ends with the first rail that cannot be held.
    pub(super) stops: bool,
    /// How leakage follows the heat that is made; nothing where it does not.
    pub(super) heat: Option<Coupling>,
    /// Operating points that it goes between.
    pub(super) dvfs: Option<&'a Dvfs>,
}

/// A cascade in a run.
struct Cascade {
    looks: Looks,
    next: Option<Look>,
    stages: Vec<usize>,
    tally: Tally,
}

/// An engine in a run.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
struct EngineUse {
    holder: Option<usize>,
    since: SimTime,
    busy: SimTime,
}

/// What nothing else is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Mood {
    Idle,
    Waking,
    AtWork,
}

/// All of a run.
pub(super) struct System<'a, 's, S: Sink> {
    setting: Setting<'a>,
    streams: Vec<Stream>,
    cascades: Vec<Cascade>,
    domains: Domains<'a>,
    rails: Rails,
    heat: Option<Package<'a>>,
    ports: Vec<Port>,
    /// Background power of each channel as it stands.
    backgrounds: Vec<Watts>,
    engines: Vec<EngineUse>,
    blocks: Vec<Block>,
    accounts: Accounts<'a>,
    sink: &'s mut S,
    /// Jobs whose task goes on.
    at_work: u32,
    mood: Mood,
    mood_since: SimTime,
    inferences: u64,
    wanted: Option<u64>,
    lasts: Option<SimTime>,
    horizon: Option<SimTime>,
    stops: bool,
    finished: bool,
    /// Somebody waits to be served, or for an engine.
    serve: bool,
    dispatch: bool,
    ports_changed: Vec<usize>,
    /// Ends that moved.
    moved: Vec<(Owner, SimTime)>,
    anew: saved::Anew,
    speeds: Option<Speeds<'a>>,
    hears: Hears,
}

/// What of spans the sink wants.
#[derive(Debug, Clone, Copy)]
struct Hears {
    layers: bool,
    phases: bool,
    inferences: bool,
    moods: bool,
    states: bool,
}

impl<'a, 's, S: Sink> System<'a, 's, S> {
    pub(super) fn new(mut setup: Setup<'a>, sink: &'s mut S) -> Result<Self, SimError> {
        let setting = setup.setting;
        let mut streams: Vec<Stream> = setup.streams.into_iter().map(Stream::new).collect();
        let layers =
            |stream: &Stream| stream.setup.programs.iter().flatten().map(|p| p.layers).max();
        let layers: Vec<usize> = streams.iter().map(|s| layers(s).unwrap_or(0)).collect();
        let channels = 0..setting.profile.channels();
        let mut accounts = Accounts::new(setting, &layers, &setup.starts);
        let heat = match setup.heat {
            Some(coupling) => Package::new(setting, coupling)?,
            None => None,
        };
        if let Some(heat) = &heat {
            accounts.count(heat.counters());
            accounts.watch_heat(heat.nodes());
        }
        sink.begin(accounts.header());
        let cascades = setup.cascades.into_iter();
        let cascades =
            cascades.map(|(looks, stages, tally)| Cascade { looks, next: None, stages, tally });
        let hears = Hears {
            layers: sink.hears(SpanKind::Layer),
            phases: sink.hears(SpanKind::Phase),
            inferences: sink.hears(SpanKind::Inference),
            moods: sink.hears(SpanKind::Idle),
            states: sink.hears(SpanKind::State) && !setup.together,
        };
        let speeds = match setup.dvfs {
            Some(dvfs) => Some(Speeds::new(dvfs, &setup.rests, setting)?),
            None => None,
        };
        let start = speeds.as_ref().map_or(0, Speeds::start);
        streams.iter_mut().for_each(|own| own.job.speed = start);
        let domains = Domains::new(&mut setup.rests, setup.together, setting)?;
        let spec = setting.profile.spec();
        let heated = heat.as_ref().map(|own| own.heated(spec.domains.len(), spec.loads.len()));
        let rails = Rails::new(&domains, &accounts, setting, heated);
        Ok(Self {
            setting,
            streams,
            cascades: cascades.collect(),
            domains,
            rails,
            heat,
            backgrounds: vec![Watts::ZERO; channels.len()],
            ports: channels.map(|c| Port::new(bandwidth(c, setting).0)).collect(),
            engines: vec![EngineUse::default(); setting.profile.spec().engines.len()],
            blocks: setup.blocks,
            accounts,
            sink,
            at_work: 0,
            mood: Mood::Idle,
            mood_since: SimTime::ZERO,
            inferences: 0,
            wanted: setup.inferences,
            lasts: setup.lasts,
            horizon: setup.horizon,
            stops: setup.stops,
            finished: false,
            serve: false,
            dispatch: false,
            ports_changed: Vec::new(),
            moved: Vec::new(),
            anew: saved::Anew::default(),
            speeds,
            hears,
        })
    }

    /// Powers at the start, and the first event of everything that happens by itself.
    pub(super) fn begin(&mut self, queue: &mut Queue<Event>) -> Result<(), SimError> {
        for domain in 0..self.domains.units.len() {
            self.follow_rail(SimTime::ZERO, domain)?;
        }
        for domain in 0..self.domains.units.len() {
            self.set_domain_power(SimTime::ZERO, domain);
        }
        for load in 0..self.blocks.len() {
            self.begin_block(load, queue)?;
        }
        for stream in 0..self.streams.len() {
            self.look_up(stream, queue)?;
        }
        for cascade in 0..self.cascades.len() {
            self.look_ahead(cascade, queue)?;
        }
        self.govern(queue)?;
        if let Some(lasts) = self.lasts {
            queue.schedule(lasts, Class::Flush, Event::End)?;
        }
        self.begin_heat(queue)?;
        // What happens at the very start is settled with it.
        if queue.next_at() == Some(SimTime::ZERO) { Ok(()) } else { self.settle(queue) }
    }

    /// Whether nothing is asked for any more.
    fn is_over(&self, now: SimTime) -> bool {
        self.horizon.is_some_and(|end| now >= end)
    }

    /// Tells of what went on from `start` to `now`.
    fn tell(
        &mut self,
        (kind, name, track): (SpanKind, &str, &str),
        inference: Option<u64>,
        (start, end): (SimTime, SimTime),
    ) {
        if end > start {
            let (name, track) = (name.to_owned(), track.to_owned());
            self.sink.span(Span { kind, name, track, inference, start, end });
        }
    }

    /// What all of it is doing, told when it changes.
    fn settle_mood(&mut self, now: SimTime) {
        let (waking, kind) = self.domains.waking();
        let mood = match (self.at_work, waking) {
            (0, false) => Mood::Idle,
            (0, true) => Mood::Waking,
            _ => Mood::AtWork,
        };
        let (otherwise, lasting) = match mood {
            Mood::Waking => (Otherwise::Transition, kind),
            _ => (Otherwise::Idle, Kind::STRONGEST),
        };
        self.accounts.set_at_work(self.at_work, otherwise, lasting);
        if mood != self.mood {
            self.tell_mood(now);
            (self.mood, self.mood_since) = (mood, now);
        }
    }

    fn tell_mood(&mut self, now: SimTime) {
        let span = match self.mood {
            Mood::AtWork => return,
            Mood::Idle => (SpanKind::Idle, "idle", "power"),
            Mood::Waking => (SpanKind::Transition, "wake", "power"),
        };
        if self.hears.moods {
            self.tell(span, None, (self.mood_since, now));
        }
    }

    /// Powers of ports whose transfers or background changed.
    fn settle_ports(&mut self, now: SimTime) {
        let mut changed = std::mem::take(&mut self.ports_changed);
        for channel in changed.drain(..) {
            let power = self.backgrounds[channel] + self.ports[channel].power();
            self.accounts.set(now, Role::Channel(channel), power);
        }
        self.ports_changed = changed;
    }

    fn port_changed(&mut self, channel: usize) {
        if !self.ports_changed.contains(&channel) {
            self.ports_changed.push(channel);
        }
    }
}

impl<S: Sink> Simulated for System<'_, '_, S> {
    type Event = Event;
    type Error = SimError;

    fn is_overtaken(&self, event: &Event) -> bool {
        if self.finished {
            return true;
        }
        match event {
            Event::Work { stream, ticket } => {
                self.streams[*stream].job.generation.overtook(*ticket)
            }
            Event::Batch { stream, ticket } => self.streams[*stream].timer.overtook(*ticket),
            Event::Awake { domain, ticket }
            | Event::Rest { domain, ticket }
            | Event::Reload { domain, ticket } => {
                self.domains.units[*domain].generation.overtook(*ticket)
            }
            Event::Supply(own) => self.accounts.is_overtaken(own),
            Event::Heat(HeatEvent::Step { ticket }) => {
                self.heat.as_ref().is_none_or(|heat| heat.overtook(*ticket))
            }
            Event::Govern { .. } | Event::Speed { .. } => self.is_speed_overtaken(event),
            _ => false,
        }
    }

    fn handle(&mut self, event: Event, queue: &mut Queue<Event>) -> Result<(), SimError> {
        let now = queue.now();
        self.accounts.book(now);
        match event {
            Event::Work { stream, .. } => self.work(stream, queue),
            Event::Arrive { .. } | Event::Look { .. } if self.is_over(now) => Ok(()),
            Event::Arrive { stream, by_itself } => {
                self.ask(stream, None, queue)?;
                if by_itself { self.look_up(stream, queue) } else { Ok(()) }
            }
            Event::Batch { .. } => {
                self.serve = true;
                Ok(())
            }
            Event::Awake { domain, .. } => self.awake(domain, queue),
            Event::Rest { domain, .. } => self.rest(domain, queue),
            Event::Reload { domain, .. } => self.reload(domain, queue),
            Event::Look { cascade } => self.look(cascade, queue),
            Event::Block { load } => self.next_block_state(load, queue),
            Event::PolicyChange => {
                self.apply_policies();
                Ok(())
            }
            Event::Supply(own) => {
                self.accounts.supply_event(now, own);
                Ok(())
            }
            Event::Heat(own) => self.heat_event(own, queue),
            Event::Govern { .. } => self.govern(queue),
            Event::Speed { .. } => self.speed_event(queue),
            Event::End => Ok(()),
        }
    }

    fn settle(&mut self, queue: &mut Queue<Event>) -> Result<(), SimError> {
        let now = queue.now();
        let jobs = std::mem::take(&mut self.serve);
        if jobs {
            self.serve_streams(queue)?;
        }
        if std::mem::take(&mut self.dispatch) {
            self.dispatch_tasks(queue)?;
        }
        if jobs && self.speeds.is_some() {
            self.govern_by_jobs(queue)?;
        }
        self.settle_idle(queue)?;
        self.settle_mood(now);
        self.settle_ports(now);
        self.accounts.commit(now, self.sink);
        self.settle_heat(queue)?;
        self.settle_supply(queue)
    }
}
