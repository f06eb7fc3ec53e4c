//! How long a leaking network surely stays near where it is, what it stands at after a long time, and
//! what it has been at on the mean.

use super::super::dense::dot;
use super::super::phi_functions::phi_one;
use super::{LawError, LeakingNetwork, LeakingState, Segment};
use crate::units::{Joules, Kelvins, Seconds, Watts};
use nalgebra::{DMatrix, DVector};

/// Steps towards the longest time.
const MOST_TRIALS: usize = 6;

impl LeakingNetwork {
    /// A time, as long as the segment at most, within which no place surely moves by more than its limit,
    /// with the leakage as linearised at its start: `|dT| <= sum |u z'| h phi_1(-mu h)`, every mode moving
    /// the place the same way. The law itself goes at most `b |dT| / 2` of the way farther. Places without a
    /// limit may move as they like.
    ///
    /// # Errors
    ///
    /// As [`Self::advance`].
    pub fn still(
        &self,
        state: &mut LeakingState,
        segment: Segment<'_>,
        limits: &[Kelvins],
    ) -> Result<Seconds, LawError> {
        segment.check()?;
        state.begin(self, segment);
        state.linearise(self, segment);
        let mut length = segment.duration.0;
        for (place, limit) in limits.iter().enumerate() {
            length = state.still_at(place, limit.0, length);
        }
        Ok(Seconds(length))
    }

    /// The steady state in which every place stands at one rise over the air, sensors too: of a network of
    /// nodes all of it at one temperature. Nothing where no power holds it so.
    pub fn settled_at(&self, rise: Kelvins) -> Option<LeakingState> {
        let places = self.modes.places();
        let entry = |i: usize, j: usize| self.modes.steady_resistance(j, i).0;
        let power = DMatrix::from_fn(places, places, entry).cholesky()?;
        let power = power.solve(&DVector::from_element(places, rise.0));
        let power: Vec<Watts> = power.iter().copied().map(Watts).collect();
        let lagged = vec![rise.0; self.sensors.len()];
        let modes = self.modes.settled(&power).modes;
        Some(LeakingState { modes, lagged, ..self.at_rest() })
    }

    /// Mean rise of a place from one state to another, `over` a time in which `heat` came into each
    /// place, leakage included: `sum R_ij E_j - sum u_ik dz_k / lambda_k` over the time, by the integral of
    /// the network's own law. Zero over no time.
    pub fn mean_rise(
        &self,
        (from, to): (&mut LeakingState, &mut LeakingState),
        place: usize,
        heat: &[Joules],
        over: Seconds,
    ) -> Kelvins {
        if over.0 <= 0.0 {
            return Kelvins::ZERO;
        }
        let warmed = heat.iter().enumerate();
        let warmed = warmed.map(|(i, heat)| self.modes.steady_resistance(i, place).0 * heat.0);
        let stored = self.yet_to_cool(to, place) - self.yet_to_cool(from, place);
        Kelvins((warmed.sum::<f64>() - stored) / over.0)
    }

    /// The integral of the rise of a place while the network cools with nothing to heat it \[K s\].
    fn yet_to_cool(&self, state: &mut LeakingState, place: usize) -> f64 {
        state.prepare(self);
        let LeakingState { modes, work, .. } = state;
        let base = &mut work.trial;
        work.basis.without_slopes(modes, base);
        base.iter_mut().zip(self.modes.rates()).for_each(|(entry, rate)| *entry /= rate);
        dot(self.modes.shape(place), base)
    }
}

impl LeakingState {
    /// The bound on how far a place moves over `length`, and its growth then.
    fn moved(&self, place: usize, length: f64) -> (f64, f64) {
        let work = &self.work;
        let parts = work.basis.shape(place).iter().zip(&work.speed).zip(&work.basis.rates);
        let mut sums = (0.0, 0.0);
        for ((shape, speed), rate) in parts {
            let pace = (shape * speed).abs();
            sums.0 += pace * length * phi_one(-rate * length);
            sums.1 += pace * (-rate * length).exp();
        }
        sums
    }

    /// A time up to `most` in which a place stays within `limit`. The bound rises ever less steeply where
    /// all modes decay, so that Newton's steps from below stay below; where one grows they are checked.
    fn still_at(&self, place: usize, limit: f64, most: f64) -> f64 {
        if self.moved(place, most).0 <= limit {
            return most;
        }
        let (mut low, mut high) = (0.0, most);
        for _ in 0..MOST_TRIALS {
            let (moved, pace) = self.moved(place, low);
            let next = low + (limit - moved) / pace;
            let next = if next < high { next } else { 0.5 * (low + high) };
            if self.moved(place, next).0 <= limit {
                let gained = next - low;
                low = next;
                if gained < 0.05 * low {
                    break;
                }
            } else {
                high = next;
            }
        }
        low
    }
}

#[cfg(test)]
mod tests {
    use super::super::{LeakSource, Surroundings};
    use super::*;
    use crate::physics::thermal_modes::ThermalModes;
    use crate::physics::thermal_network::{CauerLadder, CauerStage};
    use crate::units::{Celsius, JoulesPerKelvin, KelvinsPerWatt, PerKelvin};

    fn phone() -> LeakingNetwork {
        let stage = |capacity, resistance| CauerStage {
            capacity: JoulesPerKelvin(capacity),
            resistance: KelvinsPerWatt(resistance),
        };
        let ladder = CauerLadder::new(vec![stage(0.015, 1.2), stage(0.9, 4.0), stage(22.0, 9.0)]);
        let source = LeakSource { place: 0, reference: Celsius(50.0), per_kelvin: PerKelvin(0.02) };
        let around = Surroundings {
            ambient: Celsius(25.0),
            ceiling: Celsius(200.0),
            sources: vec![source],
            sensors: Vec::new(),
        };
        LeakingNetwork::new(ThermalModes::of_ladder(&ladder.unwrap()).unwrap(), around).unwrap()
    }

    fn segment(power: &[Watts], duration: f64) -> Segment<'_> {
        Segment { power, leakage: &[Watts(0.3)], duration: Seconds(duration) }
    }

    #[test]
    fn no_place_moves_farther_than_its_limit_within_the_time() {
        let network = phone();
        let limits = [Kelvins(0.4), Kelvins(1.0), Kelvins(1.0)];
        for (before, after) in [(0.0, 6.0), (6.0, 0.0), (3.0, 3.3), (5.0, 4.0)] {
            let mut state = network.at_rest();
            network.advance(&mut state, segment(&[Watts(before)], 7.0)).unwrap();
            for _ in 0..20 {
                let at = network.rises(&mut state);
                let power = [Watts(after)];
                let time = network.still(&mut state, segment(&power, 1e4), &limits).unwrap();
                assert!(time.0 > 0.0);
                for share in [0.5, 1.0] {
                    let mut there = state.clone();
                    network.advance(&mut there, segment(&power, time.0 * share)).unwrap();
                    for ((now, was), limit) in network.rises(&mut there).iter().zip(&at).zip(limits)
                    {
                        let moved = (now.0 - was.0).abs();
                        // Leakage rises by exp(b dT) - 1, which is b dT / 2 of itself more than as linearised.
                        let curved = 1.0 + 0.5 * 0.02 * limit.0;
                        assert!(moved <= limit.0 * curved, "{moved} K within {time}");
                    }
                }
                network.advance(&mut state, segment(&power, time.0)).unwrap();
            }
        }
    }

    #[test]
    fn what_stands_still_is_still_for_ever() {
        let network = phone();
        let mut state = network.at_rest();
        network.advance(&mut state, segment(&[Watts(3.0)], 1e5)).unwrap();
        let limits = [Kelvins(0.01); 3];
        let time = network.still(&mut state, segment(&[Watts(3.0)], 1e4), &limits).unwrap();
        assert_eq!(time.0, 1e4);
    }

    #[test]
    fn a_network_that_has_stood_long_enough_is_at_one_temperature_all_over() {
        let network = phone();
        let mut state = network.settled_at(Kelvins(20.0)).unwrap();
        for rise in network.rises(&mut state) {
            assert!((rise.0 - 20.0).abs() < 1e-10, "{rise}");
        }
    }

    #[test]
    fn the_mean_is_that_of_many_small_steps() {
        let network = phone();
        let mut state = network.settled_at(Kelvins(5.0)).unwrap();
        let mut from = state.clone();
        let (mut heat, mut sum, step) = (vec![Joules::ZERO; 3], 0.0, 1e-3);
        for i in 0..3000 {
            let power = [Watts(if i % 500 < 250 { 6.0 } else { 0.5 })];
            let before = network.rises(&mut state)[0].0;
            network.advance(&mut state, segment(&power, step)).unwrap();
            heat[0] += power[0] * Seconds(step) + state.leaked()[0];
            sum += step * 0.5 * (before + network.rises(&mut state)[0].0);
        }
        let mean = network.mean_rise((&mut from, &mut state), 0, &heat, Seconds(3.0));
        assert!((mean.0 / (sum / 3.0) - 1.0).abs() < 1e-4, "{mean} against {}", sum / 3.0);
    }
}
