//! The fitted numbers of all configurations, each once.

use super::{Joint, Start};
use crate::calibrate::fit::Row;

/// A number of a profile that is fitted.
#[derive(Debug, Clone, PartialEq)]
pub struct JointNumber {
    /// The profile.
    pub hardware: String,
    /// The version of the runtime that it holds for; none where it is the same for all of the profile.
    pub version: Option<String>,
    /// Its path with names.
    pub name: String,
    /// Value and unit as the profile has them.
    pub written: String,
    /// Its value in the profile, in SI.
    pub value: f64,
    /// The unknowns whose sum is the logarithm of its factor.
    pub row: Row,
    /// Configurations that have it, with its place among what is fitted of each.
    pub(super) members: Vec<(usize, usize)>,
}

impl Joint {
    /// The fitted numbers, in the order of configurations and of their profiles.
    pub fn numbers(&self) -> Vec<JointNumber> {
        let mut numbers: Vec<JointNumber> = Vec::new();
        for (at, configuration) in self.configurations.iter().enumerate() {
            let (keys, records) = (&configuration.keys, configuration.bench.profile.parameters());
            for (place, tuned) in configuration.tuned.iter().enumerate() {
                let row = Row::of(tuned.unknowns.iter().copied());
                let is_it = |number: &&mut JointNumber| {
                    number.hardware == keys.hardware
                        && number.name == tuned.name
                        && number.row == row
                };
                let Some(record) = records.get(tuned.index) else { continue };
                match numbers.iter_mut().find(is_it) {
                    Some(number) => number.members.push((at, place)),
                    None => numbers.push(JointNumber {
                        hardware: keys.hardware.clone(),
                        version: Some(keys.version.clone()),
                        name: tuned.name.clone(),
                        written: record.parameter.written.clone(),
                        value: record.parameter.value,
                        row,
                        members: vec![(at, place)],
                    }),
                }
            }
        }
        let several = |number: &JointNumber| {
            let same = |other: &&JointNumber| {
                (&other.hardware, &other.name) == (&number.hardware, &number.name)
            };
            numbers.iter().filter(same).count() > 1
        };
        let apart: Vec<bool> = numbers.iter().map(several).collect();
        for (number, apart) in numbers.iter_mut().zip(apart) {
            if !apart {
                number.version = None;
            }
        }
        numbers
    }

    /// Mean size of the slopes of all figures with each of the numbers, at a point: how much of a prediction it
    /// makes.
    pub fn effects(&self, numbers: &[JointNumber], at: &Start) -> Vec<f64> {
        let effect = |number: &JointNumber| {
            let (mut sum, mut figures) = (0.0, 0usize);
            for (configuration, place) in &number.members {
                let own = self.runs.iter().enumerate();
                let own = own.filter(|(_, run)| run.configuration == *configuration);
                for local in own.filter_map(|(index, run)| at.local(run, index)) {
                    let slopes = local.slopes.get(*place).map_or(&[] as &[f64], Vec::as_slice);
                    sum += slopes.iter().map(|slope| slope.abs()).sum::<f64>();
                    figures += slopes.len();
                }
            }
            if figures > 0 { sum / figures as f64 } else { 0.0 }
        };
        numbers.iter().map(effect).collect()
    }
}
