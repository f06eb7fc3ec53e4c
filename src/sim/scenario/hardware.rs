//! The hardware of a scenario.

use super::ScenarioSpec;
use super::read::Reader;
use crate::hardware::{HardwareError, Point, Profile};

/// Profile and operating point, at the corner and in the states that are asked for.
pub(super) fn hardware(reader: &mut Reader, spec: &ScenarioSpec) -> Option<(Profile, Point)> {
    if reader.is_alone() {
        return None;
    }
    let name = reader.found(&spec.hardware);
    let profile = match Profile::load(&name) {
        Err(HardwareError::Faults(report)) => {
            let count = report.faults().len();
            let help = format!("`joulecast hardware check {name}` shows them");
            let faults = if count == 1 { "a fault" } else { "faults" };
            let said = format!("hardware profile `{name}` has {faults}\nhelp: {help}");
            return reader.tried("hardware", Err(said));
        }
        other => reader.tried("hardware", other)?,
    };
    let opp = spec.operating_point.as_deref();
    // A point that is not there would be told at the corner otherwise.
    let path = if opp.is_some() { "operating_point" } else { "hardware" };
    reader.tried(path, profile.point(opp))?;
    let profile = match &spec.corner {
        Some(corner) => reader.tried("corner", profile.at_corner(corner, opp))?,
        None => profile,
    };
    let mut point = reader.tried(path, profile.point(opp))?;
    for (block, state) in &spec.states {
        let asked = [(block.clone(), state.clone())];
        let path = format!("states.{block}");
        if let Some(moved) = reader.tried(path, profile.in_states(point.clone(), &asked)) {
            point = moved;
        }
    }
    Some((profile, point))
}
