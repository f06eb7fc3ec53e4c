//! Arguments that several verbs share: a model, and what it runs on.

use super::CliError;
use super::table::TableArguments;
use super::transformer::TransformerArguments;
use super::transforms::TransformArguments;
use crate::cost::Setting;
use crate::hardware::{Keeps, Point, Profile};
use crate::mapping::import::Imported;
use crate::mapping::{Directions, Network, Objective, Plan, plan};
use crate::model::{Bindings, ModelGraph, Options, load_with};
use clap::{Args, ValueEnum};

/// A model.
#[derive(Debug, Args)]
pub(super) struct ModelArgument {
    /// A .ron, .tflite or .onnx file, a transformer's .json configuration, or the name of a shipped
    /// model
    pub(super) model: String,
    /// Value of a symbolic dimension
    #[arg(long = "bind", value_name = "NAME=VALUE", value_parser = binding)]
    bind: Vec<(String, u64)>,
    #[command(flatten)]
    transformer: TransformerArguments,
    #[command(flatten)]
    transforms: TransformArguments,
}

fn binding(text: &str) -> Result<(String, u64), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE, for example N=1")?;
    let value = value.trim().parse().map_err(|_| format!("`{value}` is not a whole number"))?;
    Ok((name.trim().to_owned(), value))
}

fn load_state(text: &str) -> Result<(String, String), String> {
    let (load, state) =
        text.split_once('=').ok_or("expected BLOCK=STATE, for example modem=off")?;
    Ok((load.trim().to_owned(), state.trim().to_owned()))
}

fn pin(text: &str) -> Result<(String, String), String> {
    let (layer, engine) =
        text.rsplit_once('=').ok_or("expected LAYER=ENGINE, for example softmax*=cpu")?;
    Ok((layer.trim().to_owned(), engine.trim().to_owned()))
}

impl ModelArgument {
    pub(super) fn load(&self) -> Result<ModelGraph, CliError> {
        let bindings = Bindings(self.bind.iter().cloned().collect());
        let mut options = Options::from(bindings);
        self.transformer.ask(&mut options);
        self.transforms.apply(load_with(&self.model, &options)?)
    }
}

/// What the model runs on.
#[derive(Debug, Args)]
pub(super) struct Target {
    #[command(flatten)]
    pub(super) model: ModelArgument,
    /// Hardware profile: a shipped name or a .ron file
    #[arg(long, value_name = "HARDWARE", required = true)]
    pub(super) on: Option<String>,
    /// Operating point; the profile's first when left out
    #[arg(long, value_name = "NAME")]
    opp: Option<String>,
    /// Corner of silicon and conditions
    #[arg(long, value_name = "NAME")]
    corner: Option<String>,
    /// State of a block that runs no network, or of a domain that stays asleep (`on` wakes one)
    #[arg(long = "state", value_name = "BLOCK=STATE", value_parser = load_state)]
    states: Vec<(String, String)>,
    /// Software stack; the profile's first when left out
    #[arg(long, value_name = "NAME")]
    pub(super) software: Option<String>,
    /// What placement over several engines makes small: edp (time times energy), time, energy, or nothing
    /// (first: each layer runs on the first engine of the profile that takes it)
    #[arg(long, value_name = "AIM", default_value_t = Objective::Edp)]
    objective: Objective,
    /// Ties a layer, or layers by a pattern with * and ?, to an engine
    #[arg(long = "place", value_name = "LAYER=ENGINE", value_parser = pin)]
    pins: Vec<(String, String)>,
    /// What stays in buffers for the next layer, instead of what the engines' software does
    #[arg(long, value_name = "WHAT")]
    keep: Option<Keep>,
    #[command(flatten)]
    table: TableArguments,
}

/// What stays in buffers between layers.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Keep {
    /// Nothing: every result goes to its home
    Nothing,
    /// Results that fit whole
    Results,
    /// Those, or rows of layers that run depth first
    Rows,
}

impl From<Keep> for Keeps {
    fn from(keep: Keep) -> Self {
        match keep {
            Keep::Nothing => Self::Nothing,
            Keep::Results => Self::Results,
            Keep::Rows => Self::Rows,
        }
    }
}

/// A target that has been read.
pub(super) struct Prepared {
    pub(super) graph: ModelGraph,
    pub(super) network: Network,
    pub(super) profile: Profile,
    pub(super) point: Point,
    pub(super) stacks: Vec<Option<usize>>,
    /// A table of another tool, whose cycles and bytes are taken.
    pub(super) imported: Option<Imported>,
}

impl Target {
    pub(super) fn prepare(&self) -> Result<Prepared, CliError> {
        let on = self.on.as_deref();
        let on = on.ok_or_else(|| CliError::NoHardware { name: self.model.model.clone() })?;
        let mut profile = Profile::load(on)?;
        if let Some(corner) = &self.corner {
            profile = profile.at_corner(corner, self.opp.as_deref())?;
        }
        let point = profile.in_states(profile.point(self.opp.as_deref())?, &self.states)?;
        let stacks = profile.stacks(self.software.as_deref())?;
        // Tables list the operators of the file.
        let fused = profile.fuses(&stacks) && !self.table.is_given();
        let graph = self.model.load()?;
        let mut network = Network::executed(&graph, fused)?;
        let mut directions = Directions::new(self.objective, &self.pins, &network, &profile)?;
        let setting = Setting { profile: &profile, point: &point, stacks: &stacks };
        directions.check(&network, setting)?;
        directions.keeps = self.keep.map(Keeps::from);
        network.directions = directions;
        let imported = self.table.onto(&network, setting)?;
        Ok(Prepared { graph, network, profile, point, stacks, imported })
    }
}

impl Prepared {
    /// A model by name on a profile by name, each layer on the first engine that takes it.
    pub(super) fn named(
        model: &str,
        on: &str,
        opp: Option<&str>,
        software: Option<&str>,
    ) -> Result<Self, CliError> {
        let profile = Profile::load(on)?;
        let point = profile.point(opp)?;
        let stacks = profile.stacks(software)?;
        let graph = load_with(model, &Options::default())?;
        let mut network = Network::executed(&graph, profile.fuses(&stacks))?;
        network.directions = Directions::new(Objective::First, &[], &network, &profile)?;
        Ok(Self { graph, network, profile, point, stacks, imported: None })
    }

    pub(super) fn setting(&self) -> Setting<'_> {
        Setting { profile: &self.profile, point: &self.point, stacks: &self.stacks }
    }

    /// The plan at a setting: our own, or that of the table.
    pub(super) fn plan(&self, setting: Setting<'_>) -> Plan {
        match &self.imported {
            Some(imported) => imported.plan(&self.network, setting),
            None => plan(&self.network, setting),
        }
    }
}
