//! A scenario with all that it names.

use super::dvfs::Dvfs;
use super::{Fidelity, OnBrownOut, ScenarioSpec};
use crate::cost::Setting;
use crate::diagnostic::{Fault, Report};
use crate::evidence::{FieldPath, Kind, Parameters};
use crate::hardware::{HardwareError, Point, Profile};
use crate::mapping::Network;
use crate::sim::load::{
    Admission, Cascade, LoadError, Looks, MicroBatch, Process, Request, RestRule, Source,
    StateSchedule, stream,
};
use crate::units::{Celsius, Cycles, Ratio, SimTime, Volts};

/// When a run ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// After this time.
    After(SimTime),
    /// Once so many inferences of all streams are done.
    Inferences(u64),
}

/// What feeds the system.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PowerSource {
    /// What the profile says, a battery full.
    AsProfile,
    /// Something that gives whatever is asked for.
    Bench,
    /// A supply of the profile, by number, with so much of its capacity.
    Battery {
        /// The supply.
        supply: usize,
        /// How full it is.
        charge: Ratio,
    },
    /// A storage capacitor of the profile, by number, at a voltage.
    Storage {
        /// The supply.
        supply: usize,
        /// Its voltage.
        voltage: Option<Volts>,
    },
}

/// How leakage is coupled to the heat that a run makes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Coupling {
    /// Temperature of the air, where it is not that of the package.
    pub ambient: Option<Celsius>,
    /// Where it starts.
    pub start: HeatStart,
}

/// How warm a package is at the start of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum HeatStart {
    /// As the air.
    Ambient,
    /// As it settles while nothing is asked for.
    Settled,
    /// All of it at a temperature.
    At(Celsius),
}

/// A network with the software that runs it and directions for its mapping.
#[derive(Debug, Clone)]
pub struct Placed {
    /// The network, with directions.
    pub network: Network,
    /// Software stack of each engine.
    pub stacks: Vec<Option<usize>>,
}

/// What a processor does for each pass of a workload.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Host {
    /// The engine.
    pub engine: usize,
    /// Before the first layer.
    pub before: Cycles,
    /// At each layer that runs on another engine.
    pub each_layer: Cycles,
    /// After the last layer.
    pub after: Cycles,
    /// The weakest that these rest on.
    pub kind: Kind,
}

/// Work that is no network.
#[derive(Debug, Clone)]
pub struct Task {
    /// Its name.
    pub name: String,
    /// The engine that does it.
    pub engine: usize,
    /// Cycles of that engine, each time.
    pub cycles: Cycles,
    /// What these rest on.
    pub kind: Kind,
    /// When it comes.
    pub process: Process,
    /// Time from coming to its end.
    pub deadline: Option<SimTime>,
    /// Higher goes first.
    pub priority: u32,
    /// Who is let in.
    pub admission: Admission,
}

/// A network that is asked for by itself.
#[derive(Debug, Clone)]
pub struct Workload {
    /// Its name.
    pub name: String,
    /// The network.
    pub placed: Placed,
    /// The same for two requests that are served together, for three, and so on; nothing where each has
    /// an inference of its own.
    pub together: Vec<Network>,
    /// What a processor does for each pass.
    pub host: Option<Host>,
    /// When requests come.
    pub process: Process,
    /// Inferences of one request.
    pub inferences_each: u64,
    /// Time from asking to the end.
    pub deadline: Option<SimTime>,
    /// Higher goes first.
    pub priority: u32,
    /// How many are served together.
    pub batch: MicroBatch,
    /// Who is let in.
    pub admission: Admission,
}

impl Workload {
    /// Request `number`, which comes at `arrived`. A deadline past the end of time is none.
    pub fn request(&self, number: u64, arrived: SimTime) -> Request {
        let due = self.deadline.and_then(|deadline| arrived.after(deadline).ok());
        Request { number, arrived, due }
    }
}

/// What a stage does with a look.
#[derive(Debug, Clone)]
pub enum Work {
    /// An inference.
    Network(Box<Placed>),
    /// It takes a time.
    Detector {
        /// How long.
        time: SimTime,
        /// What that rests on.
        kind: Kind,
        /// The block that is at work, and its state meanwhile, by number.
        block: Option<(usize, usize)>,
    },
}

/// A stage of a cascade at work; its rates are in the [`Cascade`].
#[derive(Debug, Clone)]
pub struct StageWork {
    /// What it does.
    pub work: Work,
    /// Time from being asked to its end.
    pub deadline: Option<SimTime>,
    /// Higher goes first.
    pub priority: u32,
}

/// A wake-on-inference cascade.
#[derive(Debug, Clone)]
pub struct WakeCascade {
    /// Its name.
    pub name: String,
    /// Looks, truth and rates.
    pub cascade: Cascade,
    /// What each stage does.
    pub stages: Vec<StageWork>,
}

/// How a domain rests.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rest {
    /// The state, by number among the domain's.
    pub state: usize,
    /// When it goes there.
    pub rule: RestRule,
}

/// All that names became.
pub(super) struct Parts {
    pub(super) profile: Profile,
    pub(super) point: Point,
    pub(super) end: End,
    pub(super) power: PowerSource,
    pub(super) heat: Option<Coupling>,
    pub(super) workloads: Vec<Workload>,
    pub(super) cascades: Vec<WakeCascade>,
    pub(super) tasks: Vec<Task>,
    pub(super) rest: Vec<Option<Rest>>,
    pub(super) dvfs: Option<Box<Dvfs>>,
    pub(super) background: Vec<Option<StateSchedule>>,
}

/// A scenario, sound in itself and with all that it names.
#[derive(Debug, Clone)]
pub struct Scenario {
    file: String,
    text: String,
    spec: ScenarioSpec,
    profile: Profile,
    point: Point,
    /// When a run ends.
    pub end: End,
    /// What feeds the system.
    pub power: PowerSource,
    /// What happens where a supply cannot hold a rail.
    pub on_brown_out: OnBrownOut,
    /// How leakage follows the heat that is made; nothing where it is that of the profile's temperature.
    pub heat: Option<Coupling>,
    /// Networks that are asked for by themselves.
    pub workloads: Vec<Workload>,
    /// Cascades.
    pub cascades: Vec<WakeCascade>,
    /// Work that is no network.
    pub tasks: Vec<Task>,
    /// How each domain of the profile rests; nothing of one that stays on.
    pub rest: Vec<Option<Rest>>,
    /// Operating points that a run goes between; nothing of one that stays at its own.
    pub dvfs: Option<Box<Dvfs>>,
    /// States that each block of the profile goes through; nothing of one that stays as the operating
    /// point has it.
    pub background: Vec<Option<StateSchedule>>,
}

impl Scenario {
    pub(super) fn of(file: &str, text: &str, spec: ScenarioSpec, parts: Parts) -> Self {
        let Parts {
            profile,
            point,
            end,
            power,
            heat,
            workloads,
            cascades,
            tasks,
            rest,
            dvfs,
            background,
        } = parts;
        let (file, text) = (file.to_owned(), text.to_owned());
        let on_brown_out = spec.on_brown_out;
        Self {
            file,
            text,
            spec,
            profile,
            point,
            end,
            power,
            on_brown_out,
            heat,
            workloads,
            cascades,
            tasks,
            rest,
            dvfs,
            background,
        }
    }

    /// The same on another profile of the same structure, at the same point of that.
    ///
    /// # Errors
    /// The profile has no operating point of that name.
    pub fn on(&self, profile: &Profile) -> Result<Self, HardwareError> {
        let point = profile.repoint(&self.point)?;
        Ok(Self {
            file: self.file.clone(),
            text: self.text.clone(),
            spec: self.spec.clone(),
            profile: profile.clone(),
            point,
            end: self.end,
            power: self.power,
            on_brown_out: self.on_brown_out,
            heat: self.heat,
            workloads: self.workloads.clone(),
            cascades: self.cascades.clone(),
            tasks: self.tasks.clone(),
            rest: self.rest.clone(),
            dvfs: self.dvfs.as_ref().and_then(|own| own.on(profile)).map(Box::new),
            background: self.background.clone(),
        })
    }

    /// The scenario as written.
    pub fn spec(&self) -> &ScenarioSpec {
        &self.spec
    }

    /// The hardware, at its corner.
    pub fn profile(&self) -> &Profile {
        &self.profile
    }

    /// The operating point, with the states that hold for the whole run.
    pub fn point(&self) -> &Point {
        &self.point
    }

    /// How finely inferences are simulated.
    pub fn fidelity(&self) -> Fidelity {
        self.spec.fidelity
    }

    /// What makes all that is random.
    pub fn seed(&self) -> u64 {
        self.spec.seed
    }

    /// The setting that a network is planned in.
    pub fn setting<'a>(&'a self, placed: &'a Placed) -> Setting<'a> {
        Setting { profile: &self.profile, point: &self.point, stacks: &placed.stacks }
    }

    /// One run of a workload's arrivals, under a seed: that of the scenario, or of one of many runs.
    ///
    /// # Errors
    /// Arrivals come from a file that cannot be opened.
    pub fn arrivals(&self, workload: &Workload, seed: u64) -> Result<Source, LoadError> {
        workload.process.source(stream(seed, &format!("workloads.{}.arrivals", workload.name)))
    }

    /// One run of when a task comes, likewise.
    ///
    /// # Errors
    /// Times come from a file that cannot be opened.
    pub fn comings(&self, task: &Task, seed: u64) -> Result<Source, LoadError> {
        task.process.source(stream(seed, &format!("tasks.{}.arrivals", task.name)))
    }

    /// One run of a cascade's looks, likewise.
    ///
    /// # Errors
    /// Events come from a file that cannot be opened.
    pub fn looks(&self, wake: &WakeCascade, seed: u64) -> Result<Looks, LoadError> {
        wake.cascade.looks(seed, &format!("cascades.{}", wake.name))
    }

    /// Numbers that rest on no source, by field path: they are assumed.
    pub fn assumed(&self) -> Vec<String> {
        let mut assumed = Vec::new();
        self.spec.clone().walk(&mut FieldPath::root(), &mut |path, parameter| {
            // A setting is no claim.
            if parameter.is_statement() && parameter.kind == Kind::Assumed {
                assumed.push(path.to_string());
            }
        });
        assumed
    }

    /// Line and column of a field.
    pub(super) fn place(&self, path: &str) -> Option<(usize, usize)> {
        let report = Report::located(&self.file, &self.text, vec![Fault::at(path, "")]);
        report.faults().first().and_then(|fault| report.place(fault).1)
    }

    /// The file that it was read from.
    pub fn file(&self) -> &str {
        &self.file
    }
}
