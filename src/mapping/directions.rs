//! What is asked of a mapping: the aim of placement, and layers that are tied to an engine.

use super::Network;
use crate::cost::{Refusal, Setting, cost};
use crate::diagnostic::nearest;
use crate::hardware::{Keeps, Profile};
use crate::model::name_fits;
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// What placement makes small.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Objective {
    /// Time of an inference.
    Time,
    /// Energy of an inference at the loads, standing power included.
    Energy,
    /// The product of both: no hundredth of the time for half of the energy.
    #[default]
    Edp,
    /// Nothing: each layer runs on the first engine of the profile that takes it, as runtimes do that
    /// hand an accelerator all it supports.
    First,
}

impl Objective {
    /// All of them, with their names.
    pub const NAMES: [(&'static str, Self); 4] = [
        ("time", Self::Time),
        ("energy", Self::Energy),
        ("edp", Self::Edp),
        ("first", Self::First),
    ];
}

impl fmt::Display for Objective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Self::NAMES.iter().find(|(_, own)| own == self).map_or("", |(name, _)| name);
        f.pad(name)
    }
}

impl FromStr for Objective {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::NAMES.iter().find(|(name, _)| *name == text);
        found.map(|(_, objective)| *objective).ok_or_else(|| {
            let names: Vec<_> = Self::NAMES.iter().map(|(name, _)| *name).collect();
            format!("`{text}` is none of {}", names.join(", "))
        })
    }
}

/// What is asked of the mapping of a network.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Directions {
    /// What placement makes small.
    pub objective: Objective,
    /// Engines that layers are tied to, both by number.
    pub pins: BTreeMap<usize, usize>,
    /// What stays in buffers between layers, where it is not what the engines' software does.
    pub keeps: Option<Keeps>,
}

/// Why a mapping cannot be what is asked of it.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum MappingError {
    /// No layer has the name, or fits the pattern.
    #[error(
        "--place {layer}={engine}: network `{network}` has no layer `{layer}`{}",
        hint(.nearest)
    )]
    NoLayer {
        /// The network.
        network: String,
        /// The name or pattern as given.
        layer: String,
        /// The engine as given.
        engine: String,
        /// The layer nearest to it.
        nearest: Option<String>,
    },
    /// No engine has the name.
    #[error(
        "--place {layer}={engine}: profile `{profile}` has no engine `{engine}`{}\nhelp: it has {known}",
        hint(.nearest)
    )]
    NoEngine {
        /// The profile.
        profile: String,
        /// The name or pattern as given.
        layer: String,
        /// The engine as given.
        engine: String,
        /// The engine nearest to it.
        nearest: Option<String>,
        /// The engines there are.
        known: String,
    },
    /// The engine cannot run the layer.
    #[error("layer `{layer}` cannot be placed there: {refusal}{}", instead(.others))]
    Refused {
        /// The layer.
        layer: String,
        /// Why not.
        refusal: Box<Refusal>,
        /// Engines that run it.
        others: Vec<String>,
    },
}

fn hint(nearest: &Option<String>) -> String {
    nearest.as_ref().map_or_else(String::new, |name| format!("; did you mean `{name}`?"))
}

fn instead(others: &[String]) -> String {
    match others {
        [] => "\nhelp: no engine of the profile runs it".to_owned(),
        others => format!("\nhelp: it runs on {}", others.join(", ")),
    }
}

impl Directions {
    /// Directions with layers, by name or by a pattern with `*` and `?`, tied to engines by name. Of
    /// two that mean the same layer the later one holds.
    pub fn new(
        objective: Objective,
        pins: &[(String, String)],
        network: &Network,
        profile: &Profile,
    ) -> Result<Self, MappingError> {
        let mut directions = Self { objective, ..Self::default() };
        for (layer, engine) in pins {
            let engines = &profile.spec().engines;
            let names = || engines.iter().map(|e| e.name.as_str());
            let Some(place) = names().position(|name| name == engine) else {
                return Err(MappingError::NoEngine {
                    profile: profile.spec().name.clone(),
                    layer: layer.clone(),
                    engine: engine.clone(),
                    nearest: nearest(engine, names()).map(str::to_owned),
                    known: names().collect::<Vec<_>>().join(", "),
                });
            };
            let meant = meant(layer, network);
            if meant.is_empty() {
                let names = network.layers.iter().map(|l| l.name.as_str());
                return Err(MappingError::NoLayer {
                    network: network.name.clone(),
                    layer: layer.clone(),
                    engine: engine.clone(),
                    nearest: nearest(layer, names).map(str::to_owned),
                });
            }
            directions.pins.extend(meant.into_iter().map(|layer| (layer, place)));
        }
        Ok(directions)
    }

    /// Checks that the engines run what is tied to them.
    pub fn check(&self, network: &Network, setting: Setting<'_>) -> Result<(), MappingError> {
        for (index, engine) in &self.pins {
            let Some(layer) = network.layers.get(*index) else { continue };
            let Err(refusal) = cost(&layer.work, *engine, setting) else { continue };
            let refusal = Box::new(refusal);
            let engines = setting.profile.spec().engines.iter().enumerate();
            let runs = engines.filter(|(e, _)| cost(&layer.work, *e, setting).is_ok());
            let others = runs.map(|(_, engine)| engine.name.clone()).collect();
            return Err(MappingError::Refused { layer: layer.name.clone(), refusal, others });
        }
        Ok(())
    }
}

/// The layers that a name or a pattern means: those of the name, or all that fit.
fn meant(layer: &str, network: &Network) -> Vec<usize> {
    let those = |is: &dyn Fn(&str) -> bool| -> Vec<usize> {
        let named = network.layers.iter().enumerate().filter(|(_, l)| is(&l.name));
        named.map(|(index, _)| index).collect()
    };
    let named = those(&|name| name == layer);
    if named.is_empty() { those(&|name| name_fits(layer, name)) } else { named }
}
