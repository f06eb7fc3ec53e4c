//! A profile whose numbers are moved again and again.

use super::profile::Profile;

/// A copy of a profile for its numbers to be moved in. A copy for each step would take longer than most
/// figures that are taken from it.
#[derive(Debug)]
pub struct Movable<'a> {
    before: &'a Profile,
    values: Vec<f64>,
    copy: Profile,
}

impl<'a> Movable<'a> {
    /// The copy, as the profile is.
    pub fn of(profile: &'a Profile) -> Self {
        Self { before: profile, values: profile.values(), copy: profile.clone() }
    }

    /// [`Profile::perturbed`] of the profile, whatever was moved before.
    pub fn perturbed(&mut self, change: impl FnMut(usize, f64) -> f64) -> &Profile {
        self.copy.move_from(self.before, &self.values, change);
        &self.copy
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(profile: &Profile) -> Vec<(f64, crate::evidence::Kind)> {
        let records = profile.parameters().into_iter();
        records.map(|record| (record.parameter.value, record.parameter.kind)).collect()
    }

    /// At a corner too, whose factors take others with them.
    #[test]
    fn a_copy_that_is_moved_again_is_the_profile_moved_once() {
        let plain = Profile::load("edge_soc_example").unwrap();
        let corner = Profile::load("edge_soc_example").unwrap().at_corner("FF_hot", None).unwrap();
        for profile in [plain, corner] {
            let mut movable = Movable::of(&profile);
            for index in 0..profile.parameters().len() {
                let change = |i: usize, value: f64| if i == index { value * 1.25 } else { value };
                let moved = movable.perturbed(change);
                assert_eq!(values(moved), values(&profile.perturbed(change)), "{index}");
            }
            assert_eq!(values(movable.perturbed(|_, value| value)), values(&profile));
        }
    }
}
