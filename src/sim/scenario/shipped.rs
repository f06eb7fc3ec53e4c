//! The scenarios that come with the program, embedded in it.

use super::ScenarioError;
use crate::diagnostic::{nearest, parse_ron};
use std::borrow::Cow;
use std::path::Path;

/// A shipped scenario.
#[derive(Debug, Clone, Copy)]
pub struct ShippedScenario {
    /// The name it is found by.
    pub name: &'static str,
    /// Its place in the repository.
    pub path: &'static str,
    /// Its RON text.
    pub text: &'static str,
}

macro_rules! scenarios {
    ($($name:literal),* $(,)?) => {
        &[$(ShippedScenario {
            name: $name,
            path: concat!("scenarios/", $name, ".ron"),
            text: include_str!(concat!("../../../scenarios/", $name, ".ron")),
        }),*]
    };
}

/// All shipped scenarios, in the order they are listed.
pub fn shipped_scenarios() -> &'static [ShippedScenario] {
    scenarios!["keyword_node", "wake_camera", "shared_npu", "edge_decode", "phone_day",]
}

/// Name, hardware and description of each shipped scenario.
pub fn list() -> Vec<(&'static str, String, String)> {
    #[derive(serde::Deserialize)]
    struct Head {
        hardware: String,
        description: String,
    }
    let heads = shipped_scenarios().iter().filter_map(|shipped| {
        // They are read in full by a test.
        let head: Head = parse_ron(shipped.path, shipped.text).ok()?;
        Some((shipped.name, head.hardware, head.description))
    });
    heads.collect()
}

/// File and text of the scenario that `name` stands for: a path to a `.ron` file, or a shipped one.
///
/// # Errors
/// Nothing is called so, or the file cannot be read.
pub fn scenario_text(name: &str) -> Result<(String, Cow<'static, str>), ScenarioError> {
    if let Some(shipped) = shipped_scenarios().iter().find(|s| s.name == name) {
        return Ok((shipped.path.to_owned(), Cow::Borrowed(shipped.text)));
    }
    let path = Path::new(name);
    if path.components().count() <= 1 && path.extension().is_none() {
        let names = || shipped_scenarios().iter().map(|s| s.name);
        return Err(ScenarioError::Unknown {
            name: name.to_owned(),
            nearest: nearest(name, names()).map(str::to_owned),
            known: names().collect::<Vec<_>>().join(", "),
        });
    }
    let text = std::fs::read_to_string(path)
        .map_err(|source| ScenarioError::Read { path: name.to_owned(), source })?;
    Ok((name.to_owned(), Cow::Owned(text)))
}
