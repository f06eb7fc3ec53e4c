//! When a place of a leaking network first reaches a temperature.

use super::super::exponential_sum::{Part, first_reached};
use super::super::thermal_modes::Crossing;
use super::{LeakingNetwork, LeakingState, Segment};
use crate::units::{Celsius, Seconds};

/// Rates closer to zero than this share of a step are taken as this.
const LEAST_RATE: f64 = 1e-8;
/// Steps towards a crossing within one step.
const MOST_TRIALS: usize = 60;

impl LeakingNetwork {
    /// The first time within a segment at which a place reaches a temperature, zero when it has. Nothing
    /// when it does not. Where a bound says that nothing comes near it ([`Self::may_reach`]), that is all
    /// it costs; otherwise it goes through the segment on a copy, which costs as much as
    /// [`Self::advance`] and the copy. What it foresees agrees with what is then gone through to within
    /// the error of a step. The ceiling ends it, with nothing reached beyond.
    ///
    /// # Errors
    ///
    /// As [`Self::advance`].
    pub fn next_crossing(
        &self,
        state: &mut LeakingState,
        segment: Segment<'_>,
        place: usize,
        threshold: Celsius,
        from: Crossing,
    ) -> Result<Option<Seconds>, super::LawError> {
        segment.check()?;
        if from == Crossing::Upward && !self.may_reach(state, segment, place, threshold) {
            return Ok(None);
        }
        let mut state = state.clone();
        // Sensors are of no interest here.
        state.lagged.clear();
        state.begin(self, segment);
        let target = Target { place, threshold: threshold.0 - self.ambient, sign: from.sign() };
        let (mut elapsed, whole) = (0.0, segment.duration.0);
        let mut attempt = whole;
        if target.over(&state, &state.modes) >= 0.0 {
            return Ok(Some(Seconds::ZERO));
        }
        while elapsed < whole {
            state.linearise(self, segment);
            if state.above_ceiling(self).is_some() {
                return Ok(None);
            }
            let left = whole - elapsed;
            let least = elapsed.next_up() - elapsed;
            let (length, next) = state.fitting_step(self, segment, attempt.min(left), least);
            if let Some(within) = target.within(&mut state, self, length) {
                return Ok(Some(Seconds(elapsed + within)));
            }
            state.commit(self, length);
            attempt = next;
            elapsed = if length >= left { whole } else { elapsed + length };
        }
        Ok(None)
    }
}

impl LeakingNetwork {
    /// False where a place surely stays below a temperature over a segment: with all sources leaking as they
    /// would at that temperature, and every mode at the end of the segment at which it is warmer, none of
    /// them nor the place itself gets there. The shorter the segment, the closer the bound.
    pub fn may_reach(
        &self,
        state: &mut LeakingState,
        segment: Segment<'_>,
        place: usize,
        threshold: Celsius,
    ) -> bool {
        if self.sources.iter().any(|source| source.growth < 0.0) {
            return true;
        }
        state.prepare(self);
        let LeakingState { modes, work, .. } = state;
        let (base, steady) = (&mut work.trial, &mut work.by_linear);
        work.basis.without_slopes(modes, base);
        self.modes.drive(segment.power.iter().map(|power| power.0), steady);
        for (source, scale) in self.sources.iter().zip(segment.leakage) {
            let leak = scale.0 * (source.growth * (threshold.0 - source.reference)).exp();
            let shape = self.leaking.get(source.slot).map_or(&[][..], |at| self.modes.shape(*at));
            steady.iter_mut().zip(shape).for_each(|(sum, shape)| *sum += leak * shape);
        }
        for ((steady, base), rate) in steady.iter_mut().zip(base.iter_mut()).zip(self.modes.rates())
        {
            // From here on: the state at the end of the segment.
            *steady /= rate;
            *steady += (*base - *steady) * (-rate * segment.duration.0).exp();
        }
        let highest = |place: usize| {
            let ends = base.iter().zip(steady.iter()).zip(self.modes.shape(place));
            ends.map(|((start, end), shape)| (start * shape).max(end * shape)).sum::<f64>()
        };
        let limit = threshold.0 - self.ambient;
        let mut all = self.leaking.iter().copied().chain([place]);
        // What is no number may be anything.
        !all.all(|place| highest(place) < limit)
    }
}

/// What is to be reached: a rise of a place, and from which side.
struct Target {
    place: usize,
    threshold: f64,
    sign: f64,
}

impl Target {
    /// How far the place is over it with a state of the modes.
    fn over(&self, state: &LeakingState, modes: &[f64]) -> f64 {
        self.sign * (state.work.basis.rise(self.place, modes) - self.threshold)
    }

    /// The time within the step that was tried last.
    fn within(
        &self,
        state: &mut LeakingState,
        network: &LeakingNetwork,
        length: f64,
    ) -> Option<f64> {
        let end = self.over(state, &state.work.ahead);
        let foreseen = self.as_linearised(state, length);
        let (mut low, mut high) = match (foreseen, end >= 0.0) {
            (None, false) => return None,
            (None, true) => (0.0, length),
            (Some(near), ends_over) => {
                state.retry(network, near);
                let over = self.over(state, &state.work.ahead) >= 0.0;
                match (over, ends_over) {
                    (true, _) => (0.0, near),
                    (false, true) => (near, length),
                    // It touches as linearised and no more: within the error of the step.
                    (false, false) => return Some(near),
                }
            }
        };
        let (mut below, mut above) = (f64::NAN, f64::NAN);
        for _ in 0..MOST_TRIALS {
            let secant = low + (high - low) * below / (below - above);
            let middle = if secant > low && secant < high { secant } else { 0.5 * (low + high) };
            if high - low <= 1e-13 * high || middle <= low || middle >= high {
                break;
            }
            state.retry(network, middle);
            let now = self.over(state, &state.work.ahead);
            if now >= 0.0 {
                (high, above) = (middle, now);
                below *= 0.5;
            } else {
                (low, below) = (middle, now);
                above *= 0.5;
            }
        }
        Some(high)
    }

    /// The same under the linearised law.
    fn as_linearised(&self, state: &LeakingState, length: f64) -> Option<f64> {
        let work = &state.work;
        let mut constant = -self.threshold * self.sign;
        let mut parts = Vec::with_capacity(state.modes.len());
        let modes = state.modes.iter().zip(&work.speed).zip(&work.basis.rates);
        for (shape, ((mode, speed), rate)) in work.basis.shape(self.place).iter().zip(modes) {
            let least = LEAST_RATE / length;
            let rate = if rate.abs() < least { least } else { *rate };
            let seen = self.sign * shape;
            constant += seen * (mode + speed / rate);
            parts.push(Part { amplitude: -seen * speed / rate, rate });
        }
        first_reached(constant, &parts, length)
    }
}
