//! Temperatures of a run.

use super::super::{duration, grouped, table};
use crate::report::scenario::{ScenarioRun, degrees};

/// Nodes and sensors of the package; empty where leakage followed no temperature.
pub(super) fn heat(run: &ScenarioRun<'_>) -> String {
    let Some(heat) = &run.simulated.heat else { return String::new() };
    let headers = ["node of the package", "start", "mean", "highest", "after", "end", "heat"];
    let mut rows = table(&headers, 1);
    for own in &heat.nodes {
        rows.add_row(vec![
            own.name.clone(),
            degrees(own.first.0),
            degrees(own.mean.0),
            degrees(own.highest.0),
            duration(own.highest_at.seconds()),
            degrees(own.last.0),
            own.heat.to_string(),
        ]);
    }
    let mut text = format!("{rows}\n");
    for own in &heat.sensors {
        if let Some((highest, last)) = own.highest.zip(own.last) {
            text.push_str(&format!(
                "sensor {}: highest reading {}, last {}, {} readings\n",
                own.name,
                degrees(highest.0),
                degrees(last.0),
                grouped(own.readings)
            ));
        }
    }
    let (air, steps) = (degrees(heat.ambient.0), grouped(heat.steps));
    text.push_str(&format!(
        "air {air}; leakage at these temperatures {}; {steps} steps\n",
        heat.leaked
    ));
    text
}
