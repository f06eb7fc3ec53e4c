//! The numbers that a scenario itself claims, as quantities that may be off.
//!
//! Each of them that has a spread is moved like a number of the hardware, and so is the factor that all
//! values of one of the scenario's sources share. How long a run lasts, deadlines and how long batches wait
//! are settings, and are not moved.

use super::linearised::{Move, common_sigma, own_sigma};
use crate::hardware::ParameterRecord;
use crate::sim::scenario::Scenario;
use crate::units::Spread;
use std::collections::BTreeMap;

/// The quantities of a scenario, by place in [`Scenario::claims`].
pub(super) fn moves(scenario: &Scenario) -> Vec<Move> {
    let records = scenario.claims();
    let mut moves = Vec::new();
    let mut shared: BTreeMap<String, (f64, Vec<usize>)> = BTreeMap::new();
    for (place, record) in records.iter().enumerate().filter(|(_, record)| !is_setting(record)) {
        if let Some(spread) = record.parameter.spread.filter(|_| own_sigma(record) > 0.0) {
            let name = format!("scenario {}", record.name);
            moves.push(Move { name, parameters: vec![(place, spread)] });
        }
        if let Some((key, sigma)) = common_sigma(record, &scenario.spec().sources) {
            shared.entry(key).or_insert((sigma, Vec::new())).1.push(place);
        }
    }
    let shared = shared.into_iter().filter(|(_, (sigma, _))| *sigma > 0.0);
    moves.extend(shared.map(|(key, (sigma, places))| Move {
        name: format!("scenario source {key}"),
        parameters: places.into_iter().map(|place| (place, Spread::LogNormal(sigma))).collect(),
    }));
    moves
}

fn is_setting(record: &ParameterRecord) -> bool {
    let path = record.path.as_str();
    path == "duration" || path.ends_with(".deadline") || path.ends_with(".batch.timeout")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claims_with_spreads_and_their_sources_are_moved_and_settings_are_not() {
        let moves = moves(&Scenario::load("wake_camera").unwrap());
        let names: Vec<&str> = moves.iter().map(|own| own.name.as_str()).collect();
        let of_all = |name: &str| names.iter().filter(|own| **own == name).count();
        assert_eq!(of_all("scenario cascades.door.stages.motion.runs.Detector.time"), 1);
        assert_eq!(of_all("scenario cascades.door.events.Process.arrivals.Poisson.rate"), 1);
        assert_eq!(of_all("scenario source door"), 1, "{names:?}");
        // Periods and the length of the run are exact.
        assert_eq!(of_all("scenario cascades.door.every") + of_all("scenario duration"), 0);
        let door = moves.last().unwrap();
        // Who comes to a door, and how long they stay, are off together: the rate twofold.
        assert_eq!((door.name.as_str(), door.parameters.len()), ("scenario source door", 2));
    }
}
