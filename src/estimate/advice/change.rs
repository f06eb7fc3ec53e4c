//! A change of a network, of a profile or of a mapping.

use crate::cost::Setting;
use crate::hardware::Keeps;
use crate::mapping::Network;
use crate::model::Transform;
use crate::units::Bytes;

/// What could be otherwise.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// The network.
    Model(Transform),
    /// The engine of a layer, both by number.
    Place {
        /// The layer.
        layer: usize,
        /// The engine.
        engine: usize,
    },
    /// The operating point.
    OperatingPoint {
        /// Its name.
        name: String,
    },
    /// The capacity of a memory.
    Capacity {
        /// The memory, by index.
        memory: usize,
        /// How many times as large.
        factor: f64,
    },
    /// What stays in buffers between layers.
    Keeps(Keeps),
    /// Transfers beside the engine instead of by it: a DMA controller with two buffers.
    Transfers {
        /// The engine, by index.
        engine: usize,
    },
}

impl Change {
    /// True where the network computes something else, so that its accuracy is no longer known.
    pub fn changes_answers(&self) -> bool {
        matches!(self, Self::Model(transform) if transform.changes_answers())
    }

    /// True where other hardware is needed.
    pub fn needs_hardware(&self) -> bool {
        matches!(self, Self::Capacity { .. } | Self::Transfers { .. })
    }

    /// In words.
    pub fn words(&self, network: &Network, setting: Setting<'_>) -> String {
        let spec = setting.profile.spec();
        let layer = |index: usize| network.layers.get(index).map_or("", |l| l.name.as_str());
        match self {
            Self::Model(transform) => words(transform),
            Self::Place { layer: index, engine } => {
                format!("run {} on {}", layer(*index), spec.engines[*engine].name)
            }
            Self::OperatingPoint { name } => format!("run at {name}"),
            Self::Keeps(Keeps::Rows) => {
                "keep results in buffers, depth first where they do not fit".to_owned()
            }
            Self::Keeps(_) => "keep results that fit in buffers for the next layer".to_owned(),
            Self::Capacity { memory, factor } => {
                let unit = &spec.memories[*memory];
                let larger: Bytes = unit.room().get() * *factor;
                format!("make {} {factor} times as large ({larger})", unit.name)
            }
            Self::Transfers { engine } => {
                format!("move data of {} beside its work (DMA)", spec.engines[*engine].name)
            }
        }
    }

    /// The flag that asks for it, where there is one.
    pub fn flag(&self, network: &Network, setting: Setting<'_>) -> Option<String> {
        match self {
            Self::Model(transform) => Some(transform.to_string()),
            Self::Place { layer, engine } => {
                let name = &network.layers.get(*layer)?.name;
                Some(format!("--place {name}={}", setting.profile.spec().engines[*engine].name))
            }
            Self::OperatingPoint { name } => Some(format!("--opp {name}")),
            Self::Keeps(Keeps::Nothing) => Some("--keep nothing".to_owned()),
            Self::Keeps(Keeps::Results) => Some("--keep results".to_owned()),
            Self::Keeps(Keeps::Rows) => Some("--keep rows".to_owned()),
            Self::Capacity { .. } | Self::Transfers { .. } => None,
        }
    }
}

fn words(transform: &Transform) -> String {
    let those = |layers: &Option<String>| match layers {
        Some(layers) => layers.clone(),
        None => "all layers".to_owned(),
    };
    match transform {
        Transform::Precision { to, weights_only: true, layers } => {
            format!("store the weights of {} in {to}", those(layers))
        }
        Transform::Precision { to, layers, .. } => format!("run {} in {to}", those(layers)),
        Transform::Fuse => "fuse normalisation, residual addition and activation".to_owned(),
        Transform::Batch(samples) => format!("take {samples} samples at once"),
        Transform::Separable(layers) => format!("make {layers} depthwise separable"),
        other => other.to_string(),
    }
}
