//! The way of heat from what makes it to the air, and what looks at it and acts.

use super::throttling::{Critical, HeatSensor, Throttle};
use crate::evidence::{FieldPath, Parameter, Parameters, Valued, described};
use crate::units::{Celsius, JoulesPerKelvin, KelvinsPerWatt, Seconds};
use serde::Deserialize;
use std::collections::BTreeMap;

described! {
    /// The thermal network of package, board and heat sink.
    pub struct Package {
        /// Temperature of the air.
        pub ambient: Valued<Celsius>,
        /// The network.
        pub network: ThermalNetwork,
        /// The node that domains, engines, loads and regulators heat, by their names; the first where it
        /// says nothing. A domain takes along all that is in it, but for what is named itself.
        #[serde(default)]
        pub heats: BTreeMap<String, String>,
        /// What measures temperatures.
        #[serde(default)]
        pub sensors: Vec<HeatSensor>,
        /// What slows clocks down when it is hot.
        #[serde(default)]
        pub throttling: Vec<Throttle>,
        /// The temperature at which all is shut down.
        #[serde(default)]
        pub critical: Option<Critical>,
        /// The temperature at which a junction that runs away is given up; 200 degC when left out.
        #[serde(default)]
        pub ceiling: Option<Valued<Celsius>>,
    }
}

/// A thermal network from the junctions outwards.
#[derive(Debug, Clone, Deserialize)]
pub enum ThermalNetwork {
    /// A ladder of physical nodes: each has a capacity to ground and a resistance to the next; that of
    /// the last leads to the air.
    Cauer(Vec<CauerNode>),
    /// A sum of exponentials, as data sheets print it; its parts are no places. Its only node is called
    /// `junction`.
    Foster(Vec<FosterTerm>),
    /// Physical nodes, joined in any way.
    Nodes(NodeNetwork),
    /// Sums of exponentials between several blocks, as fits and finite-element tools give them.
    Responses(BlockResponses),
}

super::precision::either_parameter!(ThermalNetwork: Cauer, Foster, Nodes, Responses);

described! {
    /// A node of a ladder.
    pub struct CauerNode {
        /// What it is (`die`).
        pub name: String,
        /// Heat capacity.
        pub capacity: Valued<JoulesPerKelvin>,
        /// Resistance to the next node, or to the air.
        pub resistance: Valued<KelvinsPerWatt>,
    }
}

described! {
    /// A term of a step response.
    pub struct FosterTerm {
        /// Its resistance.
        pub resistance: Valued<KelvinsPerWatt>,
        /// Its time constant.
        pub time_constant: Valued<Seconds>,
    }
}

described! {
    /// Nodes and the ways of heat between them.
    pub struct NodeNetwork {
        /// The nodes; the first is heated by what names no other.
        pub nodes: Vec<HeatNode>,
        /// Ways between nodes.
        #[serde(default)]
        pub joins: Vec<HeatJoin>,
    }
}

described! {
    /// A node of a network.
    pub struct HeatNode {
        /// What it is (`npu`, `spreader`).
        pub name: String,
        /// Heat capacity.
        pub capacity: Valued<JoulesPerKelvin>,
        /// Resistance of its own way to the air, where it has one.
        #[serde(default)]
        pub to_air: Option<Valued<KelvinsPerWatt>>,
    }
}

described! {
    /// A way of heat between two nodes.
    pub struct HeatJoin {
        /// The nodes.
        pub between: (String, String),
        /// Resistance between them.
        pub resistance: Valued<KelvinsPerWatt>,
    }
}

described! {
    /// Step responses between blocks of one die.
    pub struct BlockResponses {
        /// The blocks, which are its nodes.
        pub blocks: Vec<String>,
        /// The responses by their time constants, which all blocks share.
        pub terms: Vec<BlockTerm>,
    }
}

described! {
    /// What decays with one time constant.
    pub struct BlockTerm {
        /// The time constant.
        pub time_constant: Valued<Seconds>,
        /// A row for each block, with its resistance to each block before it and to itself.
        pub resistances: Vec<Vec<Valued<KelvinsPerWatt>>>,
    }
}

impl Package {
    /// The names of the nodes, in their order.
    pub fn node_names(&self) -> Vec<&str> {
        match &self.network {
            ThermalNetwork::Cauer(nodes) => nodes.iter().map(|node| node.name.as_str()).collect(),
            ThermalNetwork::Foster(_) => vec!["junction"],
            ThermalNetwork::Nodes(network) => {
                network.nodes.iter().map(|node| node.name.as_str()).collect()
            }
            ThermalNetwork::Responses(responses) => {
                responses.blocks.iter().map(String::as_str).collect()
            }
        }
    }
}
