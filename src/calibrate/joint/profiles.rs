//! What a joint fit says of each profile.

use super::JointFit;
use crate::calibrate::fitted::{Fitted, FittedFactor};
use nalgebra::DMatrix;

/// The numbers of one profile, as one version of a runtime has them.
#[derive(Debug, Clone, PartialEq)]
pub struct FittedProfile {
    /// The profile.
    pub hardware: String,
    /// The version of the runtime, where fitted numbers differ between versions.
    pub version: Option<String>,
    /// Its numbers with their covariance.
    pub fitted: Fitted,
}

impl JointFit<'_> {
    /// A profile for each that was fitted, and for each version of a runtime where its numbers differ. Numbers
    /// that no measurement depends on stay as they are.
    pub fn profiles(&self) -> Vec<FittedProfile> {
        let numbers = self.joint.numbers();
        let effects = self.joint.effects(&numbers, &self.joint.start(&self.fit.x, self.scales));
        let mut sets: Vec<(usize, Vec<usize>)> = Vec::new();
        for configuration in 0..self.joint.configurations.len() {
            let own = numbers.iter().zip(&effects).enumerate();
            let own = own.filter(|(_, (number, effect))| {
                let mut members = number.members.iter();
                **effect > 0.0 && members.any(|(member, _)| *member == configuration)
            });
            let own: Vec<usize> = own.map(|(at, _)| at).collect();
            if !own.is_empty() && sets.iter().all(|(_, other)| *other != own) {
                sets.push((configuration, own));
            }
        }
        let made = sets.iter().filter_map(|(configuration, own)| {
            let keys = &self.joint.configurations.get(*configuration)?.keys;
            let several = sets.iter().filter(|(other, _)| {
                let other = self.joint.configurations.get(*other);
                other.is_some_and(|other| other.keys.hardware == keys.hardware)
            });
            let own: Vec<_> = own.iter().filter_map(|at| numbers.get(*at)).collect();
            let along: Vec<Vec<f64>> =
                own.iter().map(|number| self.posterior.along(&number.row)).collect();
            let covariance = DMatrix::from_fn(own.len(), own.len(), |i, j| {
                (own[i].row.times(&along[j]) + own[j].row.times(&along[i])) / 2.0
            });
            let numbers = own.iter().map(|number| FittedFactor {
                path: number.name.clone(),
                factor: number.row.times(&self.fit.x).exp(),
            });
            Some(FittedProfile {
                hardware: keys.hardware.clone(),
                version: (several.count() > 1).then(|| keys.version.clone()),
                fitted: Fitted { numbers: numbers.collect(), covariance },
            })
        });
        made.collect()
    }
}
