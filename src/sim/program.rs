//! A plan made ready to run: integer times, powers and demands of everything that a run does again and
//! again, at one of three fidelities.
//!
//! - `Layer`: each layer is one segment, as long as its phases together.
//! - `Phase`: each phase is one segment, in which engine and transfers keep pace with the slowest of them.
//! - `Tile`: the steady phase goes slot by slot. In slot `i` the engine computes on the pieces that came in
//!   slot `i - 1`, while those of the next slot are loaded and those of the last one stored; the next slot
//!   begins once both are done (two buffers are two tokens). A transfer asks for all that its channel gives
//!   rather than for the pace of the engine.
//!
//! Where nothing contends all three take the same time to the picosecond, and they always cost the same:
//! with `n` slots, ticks `T = q n + r` are dealt as `q + 1` to the first `r` slots and `q` to the others, for
//! engine and transfers alike, so that the slower of the two is the slower one in every slot and
//! `sum_i max(t_i, m_i) = max(T, M)`.

use super::scenario::{Fidelity, Host};
use crate::cost::{Setting, bandwidth, busy_energy};
use crate::estimate::phase_time;
use crate::mapping::{Phase, PhaseKind, Plan, Step, Transfer};
use crate::units::{BytesPerSecond, Cycles, Joules, Seconds, SimTime, TimeError, Watts};
use std::collections::BTreeSet;

/// The engine's part of a segment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EngineWork {
    /// How long it is at work.
    pub time: SimTime,
    /// Its switching energy.
    pub energy: Joules,
}

impl EngineWork {
    /// Power while it is at work.
    pub fn power(&self) -> Watts {
        self.energy / self.time.seconds()
    }
}

/// The part of a channel in a segment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Move {
    /// The channel, by number.
    pub channel: usize,
    /// The rate that is asked for.
    pub demand: BytesPerSecond,
    /// Energy of all bytes.
    pub energy: Joules,
}

/// A stretch in which engine and transfers go on side by side.
#[derive(Debug, Clone, PartialEq)]
pub struct Segment {
    /// What happens.
    pub kind: PhaseKind,
    /// How many slots it goes through.
    pub slots: u64,
    /// What the engine does, if anything.
    pub work: Option<EngineWork>,
    /// What moves.
    pub moves: Vec<Move>,
    /// How long that takes at the rates that are asked for.
    pub moving: SimTime,
}

impl Segment {
    /// The part of `whole` that slot `slot` takes.
    pub fn share(&self, whole: SimTime, slot: u64) -> SimTime {
        if self.slots <= 1 {
            return whole;
        }
        let longer = u64::from(slot < whole.0 % self.slots);
        SimTime(whole.0 / self.slots + longer)
    }

    /// The same as a share of `whole`, which is not nothing.
    pub fn part(&self, whole: SimTime, slot: u64) -> f64 {
        if self.slots <= 1 { 1.0 } else { self.share(whole, slot).0 as f64 / whole.0 as f64 }
    }

    /// How long it takes with nothing else to do.
    pub fn alone(&self) -> SimTime {
        self.work.map_or(SimTime::ZERO, |work| work.time).max(self.moving)
    }
}

/// What a task holds while it goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holds {
    /// An engine, by number.
    Engine(usize),
    /// A block that runs no network, in one of its states, by number.
    Block(usize, usize),
    /// Nothing that others could want.
    Nothing,
}

/// A step of a network, or whatever else is asked of the hardware.
#[derive(Debug, Clone, PartialEq)]
pub struct Task {
    /// The layer it belongs to, by its place in the network.
    pub layer: usize,
    /// Its name.
    pub name: String,
    /// What it holds.
    pub holds: Holds,
    /// Domains that have to be on.
    pub domains: Vec<usize>,
    /// Those of them that stay on until the next task takes them over: what it reads would be lost there.
    pub held: Vec<usize>,
    /// What it goes through.
    pub segments: Vec<Segment>,
}

/// What one pass does, task after task.
#[derive(Debug, Clone, PartialEq)]
pub struct Program {
    /// The network, or what else it is.
    pub name: String,
    /// Inferences of one pass.
    pub samples: u64,
    /// The tasks.
    pub tasks: Vec<Task>,
    /// When each task begins with nothing else to do, and when the last one ends.
    begins: Vec<SimTime>,
    /// Layers that its tasks belong to.
    pub layers: usize,
}

impl Program {
    /// The program of a plan whose pass holds so many samples, with what a processor does beside it.
    ///
    /// # Errors
    /// A time past the end of time.
    pub fn of(
        plan: &Plan,
        samples: u64,
        fidelity: Fidelity,
        host: Option<Host>,
        setting: Setting<'_>,
    ) -> Result<Self, TimeError> {
        // What the host does is told as one layer behind those of the network.
        let layer = plan.steps.iter().map(|step| step.layer + 1).max().unwrap_or(0);
        let mut tasks = Vec::new();
        let host_works = |tasks: &mut Vec<Task>, cycles: fn(Host) -> Cycles| {
            let Some(host) = host.filter(|host| cycles(*host).0 > 0.0) else { return Ok(()) };
            tasks.push(busy((layer, "host"), host.engine, cycles(host), setting)?);
            Ok::<(), TimeError>(())
        };
        host_works(&mut tasks, |host| host.before)?;
        let steps = plan.steps_of_a_pass();
        for _ in 0..plan.passes {
            for step in steps.iter().filter(|step| !step.phases.is_empty()) {
                if host.is_some_and(|host| host.engine != step.engine) {
                    host_works(&mut tasks, |host| host.each_layer)?;
                }
                tasks.push(task(step, fidelity, setting)?);
            }
        }
        host_works(&mut tasks, |host| host.after)?;
        Self::new(plan.network.clone(), samples, tasks)
    }

    /// A program of so many cycles of an engine, and nothing else.
    ///
    /// # Errors
    /// A time past the end of time.
    pub fn of_cycles(
        name: &str,
        engine: usize,
        cycles: Cycles,
        setting: Setting<'_>,
    ) -> Result<Self, TimeError> {
        Self::new(name.to_owned(), 1, vec![busy((0, name), engine, cycles, setting)?])
    }

    /// A program of tasks.
    ///
    /// # Errors
    /// All of it lasts past the end of time.
    pub fn new(name: String, samples: u64, tasks: Vec<Task>) -> Result<Self, TimeError> {
        let mut begins = vec![SimTime::ZERO];
        let mut now = SimTime::ZERO;
        for task in &tasks {
            for segment in &task.segments {
                now = now.after(segment.alone())?;
            }
            begins.push(now);
        }
        let layers = tasks.iter().map(|task| task.layer + 1).max().unwrap_or(0);
        Ok(Self { name, samples, tasks, begins, layers })
    }

    /// Time of a pass with nothing else to do.
    pub fn alone(&self) -> SimTime {
        self.begins.last().copied().unwrap_or_default()
    }

    /// From the start of a pass to that of a task with nothing else to do.
    pub fn begin(&self, task: usize) -> SimTime {
        self.begins.get(task).copied().unwrap_or_else(|| self.alone())
    }

    /// Has a domain stay on from the first of some layers to the last.
    pub fn hold(&mut self, domain: usize, layers: (usize, usize)) {
        let own = self.tasks.iter().enumerate();
        let mut own = own.filter(|(_, task)| (layers.0..=layers.1).contains(&task.layer));
        let Some((first, _)) = own.next() else { return };
        let last = own.next_back().map_or(first, |(last, _)| last);
        for (at, task) in self.tasks.iter_mut().enumerate().take(last + 1).skip(first) {
            if let Err(place) = task.domains.binary_search(&domain) {
                task.domains.insert(place, domain);
            }
            if at < last && !task.held.contains(&domain) {
                task.held.push(domain);
            }
        }
    }

    /// True where anything runs on an engine.
    pub fn uses_engines(&self) -> bool {
        self.tasks.iter().any(|task| matches!(task.holds, Holds::Engine(_)))
    }
}

/// More slots than this are put together: fewer events, the same time and energy.
pub const MOST_SLOTS: u64 = 64;

/// Cycles of an engine with no network.
fn busy(
    (layer, name): (usize, &str),
    engine: usize,
    cycles: Cycles,
    setting: Setting<'_>,
) -> Result<Task, TimeError> {
    let domain = setting.profile.links().engine_domain[engine];
    let time = ticks(cycles / setting.point.clocks[domain].0)?;
    let energy = busy_energy(engine, cycles, setting).map_or(Joules::ZERO, |(energy, _)| energy);
    let work = Some(EngineWork { time, energy });
    let segment =
        Segment { kind: PhaseKind::Steady, slots: 1, work, moves: Vec::new(), moving: time };
    Ok(Task {
        layer,
        name: name.to_owned(),
        holds: Holds::Engine(engine),
        domains: vec![domain],
        held: Vec::new(),
        segments: vec![segment],
    })
}

fn task(step: &Step, fidelity: Fidelity, setting: Setting<'_>) -> Result<Task, TimeError> {
    let phases: Vec<Segment> = step
        .phases
        .iter()
        .map(|phase| segment(phase, step.engine, fidelity, setting))
        .collect::<Result<_, _>>()?;
    let segments = match fidelity {
        Fidelity::Layer => vec![whole(step, &phases, setting)?],
        Fidelity::Phase | Fidelity::Tile => phases,
    };
    let links = setting.profile.links();
    let mut domains = BTreeSet::from([links.engine_domain[step.engine]]);
    let moves = segments.iter().flat_map(|segment| &segment.moves);
    domains.extend(moves.map(|own| links.channel_domain[own.channel]));
    Ok(Task {
        layer: step.layer,
        name: step.name.clone(),
        holds: Holds::Engine(step.engine),
        domains: domains.into_iter().collect(),
        held: Vec::new(),
        segments,
    })
}

/// At least a picosecond, so that whatever happens takes time.
fn ticks(time: Seconds) -> Result<SimTime, TimeError> {
    Ok(SimTime::from_seconds(time)?.max(SimTime(1)))
}

fn segment(
    phase: &Phase,
    engine: usize,
    fidelity: Fidelity,
    setting: Setting<'_>,
) -> Result<Segment, TimeError> {
    let times = phase_time(phase, engine, setting);
    let total = ticks(times.total)?;
    let works = phase.compute.0 > 0.0 || phase.energy.0 > 0.0;
    let tiled = fidelity == Fidelity::Tile && works && !phase.transfers.is_empty();
    let slots = if tiled { phase.pieces.clamp(1, MOST_SLOTS) } else { 1 };
    let longest = times.transfers.iter().fold(Seconds::ZERO, |most, own| most.max(*own));
    // Where another tool sets the pace, all keep it.
    let (work_time, moving) = if slots > 1 && phase.stated.is_none() {
        (ticks(times.compute)?.min(total), ticks(longest)?.min(total))
    } else {
        (total, total)
    };
    let slots = slots.min(work_time.0).min(moving.0);
    let moves = phase.transfers.iter().map(|own| moved(own, moving, setting)).collect();
    let work = works.then_some(EngineWork { time: work_time, energy: phase.energy });
    Ok(Segment { kind: phase.kind, slots, work, moves, moving })
}

fn moved(transfer: &Transfer, time: SimTime, setting: Setting<'_>) -> Move {
    let asked = transfer.bytes() / time.seconds();
    // A port cannot give more: a time that another tool states, or that was rounded, may ask for it.
    let demand = asked.min(bandwidth(transfer.channel, setting).0);
    Move { channel: transfer.channel, demand, energy: transfer.energy }
}

/// All phases of a step as one segment.
fn whole(step: &Step, phases: &[Segment], setting: Setting<'_>) -> Result<Segment, TimeError> {
    let mut time = SimTime::ZERO;
    for phase in phases {
        time = time.after(phase.alone())?;
    }
    let works = phases.iter().filter_map(|phase| phase.work);
    let work = works
        .map(|work| work.energy)
        .reduce(|sum, energy| sum + energy)
        .map(|energy| EngineWork { time, energy });
    let mut sums: Vec<Transfer> = Vec::new();
    for transfer in step.phases.iter().flat_map(|phase| &phase.transfers) {
        match sums.iter_mut().find(|sum| sum.channel == transfer.channel) {
            Some(sum) => {
                sum.read += transfer.read;
                sum.write += transfer.write;
                sum.energy += transfer.energy;
            }
            None => sums.push(*transfer),
        }
    }
    let moves = sums.iter().map(|sum| moved(sum, time, setting)).collect();
    Ok(Segment { kind: PhaseKind::Steady, slots: 1, work, moves, moving: time })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(layer: usize, domains: &[usize]) -> Task {
        let time = SimTime(10);
        let work = Some(EngineWork { time, energy: Joules::ZERO });
        let segment =
            Segment { kind: PhaseKind::Steady, slots: 1, work, moves: Vec::new(), moving: time };
        Task {
            layer,
            name: String::new(),
            holds: Holds::Nothing,
            domains: domains.to_vec(),
            held: Vec::new(),
            segments: vec![segment],
        }
    }

    #[test]
    fn a_domain_is_held_from_the_first_layer_that_needs_it_to_the_last() {
        // The host, on a layer of its own, between the layers.
        let tasks = [task(0, &[1]), task(9, &[3]), task(1, &[2]), task(2, &[1]), task(3, &[1])];
        let mut program = Program::new("net".to_owned(), 1, tasks.to_vec()).unwrap();
        program.hold(1, (0, 2));
        program.hold(1, (1, 2));
        program.hold(7, (5, 6));
        let domains: Vec<&[usize]> = program.tasks.iter().map(|t| t.domains.as_slice()).collect();
        assert_eq!(domains, [&[1][..], &[1, 3], &[1, 2], &[1], &[1]]);
        let held: Vec<bool> = program.tasks.iter().map(|task| !task.held.is_empty()).collect();
        assert_eq!(held, [true, true, true, false, false], "the last one lets it go");
    }
}
