//! Arguments that several verbs share: a model, and what it runs on.

use super::CliError;
use super::transformer::TransformerArguments;
use super::transforms::TransformArguments;
use crate::cost::Setting;
use crate::hardware::{Point, Profile};
use crate::mapping::{Directions, Network, Objective};
use crate::model::{Bindings, ModelGraph, Options, load_with};
use clap::Args;

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
    #[arg(long, value_name = "HARDWARE")]
    on: String,
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
    /// What placement over several engines makes small: time, energy, edp, or nothing (first: the
    /// first engine of the profile that takes a layer)
    #[arg(long, value_name = "AIM", default_value_t = Objective::Time)]
    objective: Objective,
    /// Ties a layer, or layers by a pattern with * and ?, to an engine
    #[arg(long = "place", value_name = "LAYER=ENGINE", value_parser = pin)]
    pins: Vec<(String, String)>,
}

/// A target that has been read.
pub(super) struct Prepared {
    pub(super) graph: ModelGraph,
    pub(super) network: Network,
    pub(super) profile: Profile,
    pub(super) point: Point,
    pub(super) stacks: Vec<Option<usize>>,
}

impl Target {
    pub(super) fn prepare(&self) -> Result<Prepared, CliError> {
        let mut profile = Profile::load(&self.on)?;
        if let Some(corner) = &self.corner {
            profile = profile.at_corner(corner, self.opp.as_deref())?;
        }
        let point = profile.in_states(profile.point(self.opp.as_deref())?, &self.states)?;
        let stacks = profile.stacks(self.software.as_deref())?;
        let fused = profile.fuses(&stacks);
        let graph = self.model.load()?;
        let mut network = Network::executed(&graph, fused)?;
        let directions = Directions::new(self.objective, &self.pins, &network, &profile)?;
        let setting = Setting { profile: &profile, point: &point, stacks: &stacks };
        directions.check(&network, setting)?;
        network.directions = directions;
        Ok(Prepared { graph, network, profile, point, stacks })
    }
}

impl Prepared {
    pub(super) fn setting(&self) -> Setting<'_> {
        Setting { profile: &self.profile, point: &self.point, stacks: &self.stacks }
    }
}
