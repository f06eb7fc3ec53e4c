//! Heat of a run, in words.

use super::ScenarioRun;
use crate::sim::TrippedBy;

impl ScenarioRun<'_> {
    /// The limit of the package that ended the run; nothing of one that none ended.
    pub fn overheated(&self) -> Option<String> {
        let heat = self.simulated.heat.as_ref()?;
        if let Some(runaway) = heat.runaway {
            let node = heat.nodes.get(runaway.node).map_or("", |own| own.name.as_str());
            let why = match runaway.unbounded {
                true => "leakage grows faster than heat leaves, and no temperature is steady",
                false => "more heat comes in than leaves",
            };
            let at = runaway.at.seconds();
            return Some(format!(
                "THERMAL RUNAWAY: node {node} reaches the ceiling after {at}: {why}; the run ends there"
            ));
        }
        let tripped = heat.tripped?;
        let what = match tripped.by {
            TrippedBy::Node(node) => heat.nodes.get(node).map(|own| format!("node {}", own.name)),
            TrippedBy::Sensor(own) => {
                heat.sensors.get(own).map(|own| format!("sensor {}", own.name))
            }
        };
        let (at, temperature) = (tripped.at.seconds(), degrees(tripped.temperature.0));
        Some(format!(
            "CRITICAL TEMPERATURE: {} at {temperature} after {at}: shut down; the run ends there",
            what.unwrap_or_default()
        ))
    }
}

/// To a tenth of a degree.
pub fn degrees(temperature: f64) -> String {
    format!("{temperature:.1} °C")
}
