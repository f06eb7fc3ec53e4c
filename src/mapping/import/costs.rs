//! A table costed by itself: accesses times the cost of a word.
//!
//! `E = sum_l (r_l e_r,l + w_l e_w,l) + n_MAC e_MAC` over the levels `l` of memory.
//!
//! Symbols: `r`, `w` words read and written, `e` \[J\] of one, `n_MAC` multiply-accumulates.

use super::{ImportError, ImportedLayer, ImportedTable};
use crate::units::Joules;
use std::collections::BTreeMap;

/// Energy of an access of one word.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WordCost {
    /// Of a read.
    pub read: Joules,
    /// Of a write.
    pub write: Joules,
}

/// What accesses and multiply-accumulates cost.
#[derive(Debug, Clone, PartialEq)]
pub struct WordCosts {
    /// A multiply-accumulate.
    pub mac: Joules,
    /// A word of each level, by its name.
    pub levels: BTreeMap<String, WordCost>,
}

/// Energy of a layer.
#[derive(Debug, Clone, PartialEq)]
pub struct LayerEnergy {
    /// The layer.
    pub name: String,
    /// Its multiply-accumulates.
    pub macs: Joules,
    /// Its accesses, by level.
    pub levels: BTreeMap<String, Joules>,
}

impl LayerEnergy {
    /// Its accesses.
    pub fn memory(&self) -> Joules {
        self.levels.values().copied().sum()
    }

    /// All of it.
    pub fn total(&self) -> Joules {
        self.macs + self.memory()
    }
}

impl ImportedTable {
    /// Energy of each row.
    ///
    /// # Errors
    /// A level that is accessed has no cost.
    pub fn energy(&self, costs: &WordCosts) -> Result<Vec<LayerEnergy>, ImportError> {
        self.layers.iter().map(|layer| energy(layer, costs)).collect()
    }
}

fn energy(layer: &ImportedLayer, costs: &WordCosts) -> Result<LayerEnergy, ImportError> {
    let mut levels: BTreeMap<String, Joules> = BTreeMap::new();
    for access in layer.accesses.iter().filter(|access| access.read + access.write > 0.0) {
        let level = &access.level;
        let Some(cost) = costs.levels.get(level) else {
            return Err(ImportError::NoCost { level: level.clone() });
        };
        let own = cost.read * access.read + cost.write * access.write;
        *levels.entry(level.clone()).or_insert(Joules::ZERO) += own;
    }
    let macs = costs.mac * layer.macs.unwrap_or(0) as f64;
    Ok(LayerEnergy { name: layer.name.clone(), macs, levels })
}
