//! What other tools say of a network, in terms of none of them.

use super::Place;
use crate::mapping::PhaseKind;
use crate::units::{Bytes, Cycles, Hertz};
use std::collections::BTreeMap;
use std::fmt;

/// A tool whose tables are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tool {
    /// Arm's compiler for Ethos-U, with its estimates.
    Vela,
    /// KU Leuven's design space exploration.
    ZigZag,
    /// The systolic array simulator.
    ScaleSim,
}

impl fmt::Display for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Vela => "Vela",
            Self::ZigZag => "ZigZag",
            Self::ScaleSim => "SCALE-Sim",
        })
    }
}

/// What accesses are counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccessUnit {
    /// Bytes.
    Bytes,
    /// Words as wide as the port of the memory.
    PortWords,
    /// Words as wide as an element of the network.
    Elements,
}

/// Traffic of one level of memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Access {
    /// The level, as the tool calls it.
    pub level: String,
    /// The operand, where the tool tells them apart.
    pub operand: Option<String>,
    /// Read from it.
    pub read: f64,
    /// Written to it.
    pub write: f64,
    /// What both are counted in.
    pub unit: AccessUnit,
    /// What the tool calls the memory of this level, where it says.
    pub memory: Option<String>,
    /// Bytes of a word that is read and of one that is written, where the tool says.
    pub word: Option<(f64, f64)>,
}

/// Weights as the tool stores them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EncodedWeights {
    /// Bytes, scales and biases included.
    pub bytes: u64,
    /// How they are buffered, in the tool's word; empty where it says nothing.
    pub buffering: String,
    /// Blocks that the layer is worked on in, in the tool's words.
    pub block: String,
}

/// Energy that the tool itself gives, in its own unit.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StatedEnergy {
    /// All of it.
    pub total: f64,
    /// Of the multiply-accumulates.
    pub operations: f64,
    /// By level of memory.
    pub levels: BTreeMap<String, f64>,
}

/// One row of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct ImportedLayer {
    /// Its name there.
    pub name: String,
    /// What the tool calls the operator, where it says.
    pub operator: Option<String>,
    /// What it calls this part of the operator, where it takes operators apart.
    pub step: Option<String>,
    /// Where it stands.
    pub place: Place,
    /// True for a part of the layer of the row above: an activation fused into it, a step of what the
    /// tool took apart.
    pub continues: bool,
    /// True for what does not run on the accelerator; the tool gives it no cycles.
    pub apart: bool,
    /// Cycles from its start to its end, part by part; nothing where the table has none.
    pub parts: Vec<(PhaseKind, Cycles)>,
    /// Cycles that the datapath is at work.
    pub compute: Cycles,
    /// Cycles that each level of memory is at work, where the tool says.
    pub busy: BTreeMap<String, Cycles>,
    /// What is moved.
    pub accesses: Vec<Access>,
    /// Multiply-accumulates as the tool counts them.
    pub macs: Option<u64>,
    /// Its weights as they are stored.
    pub weights: Option<EncodedWeights>,
    /// What the tool says of its energy.
    pub stated: Option<StatedEnergy>,
}

impl ImportedLayer {
    /// A row with nothing said but its name.
    pub(super) fn named(name: String, place: Place) -> Self {
        Self {
            name,
            operator: None,
            step: None,
            place,
            continues: false,
            apart: false,
            parts: Vec::new(),
            compute: Cycles::ZERO,
            busy: BTreeMap::new(),
            accesses: Vec::new(),
            macs: None,
            weights: None,
            stated: None,
        }
    }

    /// Cycles from its start to its end.
    pub fn cycles(&self) -> Cycles {
        self.parts.iter().map(|(_, cycles)| *cycles).sum()
    }
}

/// What a run of a compiler was of, in its words.
#[derive(Debug, Clone, PartialEq)]
pub struct Compiled {
    /// The network.
    pub network: String,
    /// The accelerator.
    pub accelerator: String,
    /// The system around it: clock and memories.
    pub system: String,
    /// All weights as the accelerator reads them, scales and biases included; nothing where the tool does
    /// not say.
    pub encoded: Option<Bytes>,
}

/// A table of another tool.
#[derive(Debug, Clone, PartialEq)]
pub struct ImportedTable {
    /// The tool.
    pub tool: Tool,
    /// The files that it was read from.
    pub files: Vec<String>,
    /// What the run was of, where the tool says.
    pub compiled: Option<Compiled>,
    /// Its rows.
    pub layers: Vec<ImportedLayer>,
    /// The clock that the tool assumed.
    pub clock: Option<Hertz>,
    /// False where the order of the rows is not that of the network: layers go by their names.
    pub ordered: bool,
    /// True where the tool counts half of the multiply-accumulates of weights that it stores two of four.
    pub halves_macs: bool,
    /// The file that has the cycles, where the table has none.
    pub lacks_cycles: Option<&'static str>,
    /// What a reader should know of how it was read.
    pub notes: Vec<String>,
}

impl ImportedTable {
    /// Cycles of all rows, one after the other.
    pub fn cycles(&self) -> Cycles {
        self.layers.iter().map(ImportedLayer::cycles).sum()
    }

    /// Reads and writes of a level by all rows, in the tool's unit.
    pub fn accesses(&self, level: &str) -> (f64, f64) {
        let all = self.layers.iter().flat_map(|layer| &layer.accesses);
        let own = all.filter(|access| access.level == level);
        own.fold((0.0, 0.0), |(read, write), access| (read + access.read, write + access.write))
    }
}
