//! Predictions held against the estimates of Arm's compiler for Ethos-U.
//!
//! Vela's estimates are no silicon: they are an anchor for structure. Each saved run is predicted twice: with
//! weights of the bytes that Vela encoded them to, and with weights of the entropy of their values, which no
//! code of single weights goes below. Vela has no cycles for starting an operator; ours are left out.

mod cycles;
mod error;
mod saved;
mod systems;

pub use cycles::{BusyCycles, HeldLayer};
pub use error::AgainstError;
pub use saved::LeftOut;
pub use systems::{SYSTEMS, ShippedSystem};

use crate::cost::Setting;
use crate::hardware::Profile;
use crate::mapping::import::ImportedTable;
use crate::mapping::{Directions, Network, Objective, Plan, plan};
use crate::model::{Encoded, Layer, ModelGraph, Operand, OperandRole};
use crate::units::{Bytes, Cycles, Ratio};
use cycles::held_layers;
use saved::{Models, SavedRun, encoded_like, saved_runs};
use std::path::{Path, PathBuf};

/// Bytes of bias and scale of a channel in what Vela encodes, and what they are padded to.
const RECORD: (u64, u64) = (10, 16);

/// All runs of a folder beside their predictions.
#[derive(Debug, Clone, PartialEq)]
pub struct Against {
    /// Those that a shipped profile stands for, by system and network.
    pub runs: Vec<HeldRun>,
    /// The others.
    pub left_out: Vec<LeftOut>,
}

/// A run beside its predictions.
#[derive(Debug, Clone, PartialEq)]
pub struct HeldRun {
    /// Its name.
    pub name: String,
    /// The network, as Vela calls it.
    pub network: String,
    /// The model file.
    pub model: PathBuf,
    /// The profile and the operating point that predict.
    pub system: ShippedSystem,
    /// With weights as Vela encoded them, where a schedule of the network is kept.
    pub given: Option<Held>,
    /// With weights of the entropy of their values, where the model has values.
    pub entropy: Option<Held>,
}

/// A prediction beside the estimate.
#[derive(Debug, Clone, PartialEq)]
pub struct Held {
    /// Bytes of the weights as predicted, biases and scales apart.
    pub weights: Bytes,
    /// Bytes that Vela encoded them to, where a schedule is kept.
    pub weights_estimated: Option<Bytes>,
    /// The layers.
    pub layers: Vec<HeldLayer>,
}

impl Held {
    /// Cycles of the datapath: predicted, estimated.
    pub fn npu(&self) -> (Cycles, Cycles) {
        self.sums(BusyCycles::npu)
    }

    /// Cycles of all layers: predicted, estimated.
    pub fn total(&self) -> (Cycles, Cycles) {
        self.sums(|busy| busy.total)
    }

    /// Layers whose slowest part is the same, and layers that are compared: those with cycles of Vela's.
    pub fn classes(&self) -> (usize, usize) {
        let costed = || self.layers.iter().filter(|layer| layer.estimated.total.0 > 0.0);
        (costed().filter(|layer| layer.is_of_one_class()).count(), costed().count())
    }

    fn sums(&self, of: impl Fn(&BusyCycles) -> Cycles) -> (Cycles, Cycles) {
        let all = || self.layers.iter();
        (all().map(|l| of(&l.predicted)).sum(), all().map(|l| of(&l.estimated)).sum())
    }
}

/// Holds the saved runs of Vela in a folder against what shipped profiles predict of their models.
///
/// # Errors
/// There is no run that a profile stands for, a table has a fault or is of another network, a model is
/// missing.
pub fn against_vela(runs: &Path, models: &Path) -> Result<Against, AgainstError> {
    let (saved, left_out) = saved_runs(runs)?;
    let mut models = Models::of(models)?;
    let held = saved.iter().map(|run| held_run(run, &saved, models.of_run(run)?));
    Ok(Against { runs: held.collect::<Result<_, _>>()?, left_out })
}

fn held_run(
    run: &SavedRun,
    all: &[SavedRun],
    (model, graph): &(PathBuf, ModelGraph),
) -> Result<HeldRun, AgainstError> {
    let profile = Profile::load(run.system.hardware)?;
    let point = profile.point(Some(run.system.operating_point))?;
    let stacks = profile.stacks(None)?;
    let setting = Setting { profile: &profile, point: &point, stacks: &stacks };
    let network = executed(graph, profile.fuses(&stacks))?;
    let given = encoded_like(run, all)
        .map(|(schedule, share)| as_encoded(&network, schedule, share))
        .transpose()?;
    let weights_estimated = given.as_ref().and_then(weight_bytes);
    let held = |network: &Network| -> Result<Option<Held>, AgainstError> {
        let Some(weights) = weight_bytes(network) else { return Ok(None) };
        let plan = costed(network, run, setting)?;
        let layers = held_layers(&plan, network, &run.table, setting)?;
        Ok(Some(Held { weights, weights_estimated, layers }))
    };
    let entropy = held(&network)?;
    let given = given.as_ref().map(held).transpose()?.flatten();
    let (name, network) = (run.name.clone(), run.compiled.network.clone());
    let (model, system) = (model.clone(), *run.system);
    Ok(HeldRun { name, network, model, system, given, entropy })
}

/// The network as Vela executes it: the NPU gets all that it supports.
fn executed(graph: &ModelGraph, fuses: bool) -> Result<Network, AgainstError> {
    let objective = Objective::First;
    let directions = Directions { objective, ..Directions::default() };
    Ok(Network { directions, ..Network::executed(graph, fuses)? })
}

fn costed(network: &Network, run: &SavedRun, setting: Setting<'_>) -> Result<Plan, AgainstError> {
    let plan = plan(network, setting);
    let Some(first) = plan.uncosted.first() else { return Ok(plan) };
    let (run, hardware) = (run.name.clone(), run.system.hardware);
    let (layer, reason) = (first.name.clone(), first.reasons.join("; "));
    Err(AgainstError::Uncosted { run, hardware, layer, reason })
}

fn is_weights(operand: &&Operand) -> bool {
    operand.constant && operand.role == OperandRole::Filter
}

/// Bytes of all weights as they travel; nothing where nothing is known of some.
fn weight_bytes(network: &Network) -> Option<Bytes> {
    let operands = network.layers.iter().flat_map(|layer| &layer.work.operands);
    operands.filter(is_weights).map(|own| own.encoded_bytes(1.0).map(Bytes)).sum()
}

/// The network with weights of the bytes of a schedule, times a share.
fn as_encoded(
    network: &Network,
    schedule: &ImportedTable,
    share: Ratio,
) -> Result<Network, AgainstError> {
    let mut network = network.clone();
    for own in schedule.matched(&network)? {
        let rows = own.rows.iter().filter_map(|row| schedule.layers.get(*row));
        let bytes: u64 = rows.filter_map(|row| Some(row.weights.as_ref()?.bytes)).sum();
        let Some(layer) = network.layers.get_mut(own.layer) else { continue };
        let records = records(layer);
        let bytes = (bytes.saturating_sub(records) as f64 * share.0).round();
        let mut weights = layer.work.operands.iter_mut().filter(|own| is_weights(&&**own));
        if let Some(weights) = weights.next().filter(|own| own.elements > 0) {
            let bits = 8.0 * bytes / weights.elements as f64;
            weights.encoded = Some(Encoded { bits, stated: true });
        }
    }
    // Layers with weights of one entropy may be encoded to different bytes.
    network.alike.clear();
    Ok(network)
}

/// Bytes of biases and scales that Vela encodes with the weights of a layer.
fn records(layer: &Layer) -> u64 {
    let window = layer.work.window.map(|window| window.output_channels);
    let channels = window.or_else(|| Some(layer.work.gemm?.n)).unwrap_or(0);
    let (record, padded) = RECORD;
    channels.saturating_mul(record).div_ceil(padded).saturating_mul(padded)
}
