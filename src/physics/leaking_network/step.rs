//! One step of a leaking network.

use super::super::dense::{add_combined, combine, dot};
use super::super::phi_functions::{Phis, phi_one};
use super::basis::Basis;
use super::{
    HeatEnd, LONGEST_STEP, LeakingNetwork, LeakingState, REMEMBERED, STALE, STALE_STEP, Segment,
};
use crate::units::Joules;

/// Times that a step is shortened before it is taken as it is.
const MOST_CUTS: usize = 60;
/// Steps towards the ceiling.
const MOST_TRIALS: usize = 60;

/// What follows from a state, and room to work in.
#[derive(Debug, Clone, Default)]
pub(super) struct Work {
    pub ready: bool,
    pub basis: Basis,
    /// Those of the slopes that are remembered.
    remembered: Vec<Basis>,
    /// What each source has burnt over the segment.
    pub leaked: Vec<Joules>,
    sources: Vec<SourceWork>,
    /// Rise of each slot, at the start of the step and as foreseen for its end.
    start: Vec<f64>,
    /// Behind a step, its integral over it.
    pub foreseen: Vec<f64>,
    /// Power of each slot that the matrix does not hold, at the start, and what it changes by: in
    /// proportion to time, and to its square.
    apart: Vec<f64>,
    linear: Vec<f64>,
    square: Vec<f64>,
    /// A number a mode: the heat of the segment, the speed at the start, what is foreseen, the parts of
    /// the change, the integral and the state at the end.
    heat: Vec<f64>,
    pub speed: Vec<f64>,
    pub trial: Vec<f64>,
    pub by_linear: Vec<f64>,
    by_square: Vec<f64>,
    phis: Phis,
    pub ahead: Vec<f64>,
}

/// A source over a step.
#[derive(Debug, Clone, Copy, Default)]
struct SourceWork {
    /// Leakage at the reference temperature.
    scale: f64,
    /// Leakage and slope at the start of the step.
    leak: f64,
    slope: f64,
    linear: f64,
    square: f64,
}

impl Work {
    pub fn of(network: &LeakingNetwork, basis: Basis, remembered: Vec<Basis>) -> Self {
        let (modes, slots) = (basis.rates.len(), network.leaking.len());
        let (by_mode, by_slot) = (vec![0.0; modes], vec![0.0; slots]);
        Self {
            ready: true,
            basis,
            remembered,
            leaked: Vec::with_capacity(network.sources.len()),
            sources: vec![SourceWork::default(); network.sources.len()],
            start: by_slot.clone(),
            foreseen: by_slot.clone(),
            apart: by_slot.clone(),
            linear: by_slot.clone(),
            square: by_slot,
            heat: by_mode.clone(),
            speed: by_mode.clone(),
            trial: by_mode.clone(),
            by_linear: by_mode.clone(),
            by_square: by_mode.clone(),
            phis: Phis::of(modes),
            ahead: by_mode,
        }
    }
}

impl Work {
    /// True where slopes are so close to those of now that no step would bend.
    fn is_close(&self, network: &LeakingNetwork, slopes: &[f64]) -> bool {
        let (mut all, mut apart, mut gain) = (0.0, 0.0, 0.0);
        for ((source, law), slope) in self.sources.iter().zip(&network.sources).zip(slopes) {
            let moved = (source.slope - slope).abs();
            all += source.slope.abs();
            apart += moved;
            gain += moved * law.resistance;
        }
        gain <= 0.5 * STALE && apart * LONGEST_STEP <= STALE_STEP * all
    }
}

impl LeakingState {
    /// Prepares a segment.
    pub(super) fn begin(&mut self, network: &LeakingNetwork, segment: Segment<'_>) {
        self.prepare(network);
        let work = &mut self.work;
        work.leaked.clear();
        work.leaked.resize(network.sources.len(), Joules::ZERO);
        let scales = segment.leakage.iter().map(|leakage| leakage.0).chain(std::iter::repeat(0.0));
        work.sources.iter_mut().zip(scales).for_each(|(source, scale)| source.scale = scale);
        work.basis.drive(segment.power.iter().map(|power| power.0), &mut work.heat);
    }

    /// Leakage, slopes and speed at the start of a step; the matrix is made anew where they have moved.
    /// Tells whether temperatures grow without bound.
    pub(super) fn linearise(&mut self, network: &LeakingNetwork, segment: Segment<'_>) -> HeatEnd {
        combine(&self.work.basis.by_mode, &self.modes, &mut self.work.start);
        let mut moved = 0.0;
        let sources = self.work.sources.iter_mut().zip(&network.sources);
        for ((source, law), slope) in sources.zip(&self.slopes) {
            let rise = self.work.start.get(law.slot).copied().unwrap_or(0.0);
            let above = network.ambient + rise - law.reference;
            source.leak = source.scale * (law.growth * above).exp();
            source.slope = law.growth * source.leak;
            moved += (source.slope - slope).abs() * law.resistance;
        }
        if moved > STALE {
            self.turn(network, segment);
        }
        self.set_off(network);
        let work = &self.work;
        let grows = work.basis.slowest.is_some_and(|(mode, warm)| {
            let rate = work.basis.rates.get(mode).is_some_and(|rate| *rate <= 0.0);
            rate && work.speed.get(mode).is_some_and(|speed| speed * warm > 0.0)
        });
        if grows { HeatEnd::RunningAway } else { HeatEnd::Whole }
    }

    /// What the matrix does not hold at the start of a step, and the speed there.
    fn set_off(&mut self, network: &LeakingNetwork) {
        let Self { modes, slopes, work, .. } = self;
        work.apart.fill(0.0);
        for ((source, law), slope) in work.sources.iter().zip(&network.sources).zip(slopes.iter()) {
            let rise = work.start.get(law.slot).copied().unwrap_or(0.0);
            if let Some(apart) = work.apart.get_mut(law.slot) {
                *apart += source.leak - slope * rise;
            }
        }
        work.speed.copy_from_slice(&work.heat);
        add_combined(&work.basis.by_slot, &work.apart, &mut work.speed);
        for ((speed, rate), mode) in work.speed.iter_mut().zip(&work.basis.rates).zip(modes.iter())
        {
            *speed -= rate * mode;
        }
    }

    /// Modes with the slopes of now, or with those remembered that are close to them.
    fn turn(&mut self, network: &LeakingNetwork, segment: Segment<'_>) {
        let Self { modes, slopes, remembered, work, .. } = self;
        let known = remembered.iter().position(|slopes| work.is_close(network, slopes));
        let known = known.and_then(|i| remembered.get_mut(i).zip(work.remembered.get_mut(i)));
        if let Some((own, basis)) = known {
            basis.take(&work.basis, modes);
            std::mem::swap(basis, &mut work.basis);
            std::mem::swap(own, slopes);
        } else {
            let now: Vec<f64> = work.sources.iter().map(|source| source.slope).collect();
            let basis = Basis::of(network, &now);
            basis.take(&work.basis, modes);
            if remembered.len() >= REMEMBERED {
                remembered.remove(0);
                work.remembered.remove(0);
            }
            remembered.push(std::mem::replace(slopes, now));
            work.remembered.push(std::mem::replace(&mut work.basis, basis));
        }
        work.basis.drive(segment.power.iter().map(|power| power.0), &mut work.heat);
    }

    /// The place that is at the ceiling and still warms.
    pub(super) fn above_ceiling(&self, network: &LeakingNetwork) -> Option<usize> {
        let limit = network.ceiling - network.ambient;
        let warm = network.leaking.iter().zip(&self.work.start);
        let mut warm = warm.filter(|(_, rise)| **rise >= limit).map(|(place, _)| *place);
        warm.find(|place| self.work.basis.rise(*place, &self.work.speed) > 0.0)
    }

    /// Tries a step of `length`, or a shorter one over which no leakage moves too far. Its length, and
    /// that of the next to try. A step of `least`, below which time does not go on, is
    /// taken as it is.
    pub(super) fn fitting_step(
        &mut self,
        network: &LeakingNetwork,
        segment: Segment<'_>,
        length: f64,
        least: f64,
    ) -> (f64, f64) {
        let mut length = length;
        for _ in 0..MOST_CUTS {
            let moved = self.foresee(network, length);
            if moved <= LONGEST_STEP {
                if self.is_stale(network, length) {
                    self.turn(network, segment);
                    self.set_off(network);
                    self.foresee(network, length);
                }
                let next = length * (0.9 * LONGEST_STEP / moved).clamp(1.0, 50.0);
                self.correct(network, length);
                return (length, next);
            }
            if length <= least {
                break;
            }
            let share = 0.8 * LONGEST_STEP / moved;
            length *= if share.is_finite() { share.clamp(0.02, 0.7) } else { 0.02 };
            length = length.max(least);
        }
        self.correct(network, length);
        (length, length)
    }

    /// True where the slopes that the matrix does not hold would bend a step that is long against the
    /// fastest mode: within a short one, what they add is nearly in proportion to time.
    fn is_stale(&self, network: &LeakingNetwork, length: f64) -> bool {
        let (mut bent, mut slopes) = (0.0, 0.0);
        let sources = self.work.sources.iter().zip(&network.sources).zip(&self.slopes);
        for ((source, law), slope) in sources {
            let rise = self.work.foreseen.get(law.slot).zip(self.work.start.get(law.slot));
            let moved = law.growth * rise.map_or(0.0, |(end, start)| end - start);
            bent += ((source.slope - slope) * moved).abs();
            slopes += source.slope.abs();
        }
        bent * (length * self.work.basis.fastest).min(1.0) > STALE_STEP * slopes
    }

    /// Solves the linearised law over `length`. Returns the largest `b |dT|`.
    fn foresee(&mut self, network: &LeakingNetwork, length: f64) -> f64 {
        let Self { modes, work, .. } = self;
        work.phis.fill(&work.basis.rates, length, work.basis.fastest);
        let now = modes.iter().zip(&work.speed).zip(&work.phis.one);
        for (trial, ((mode, speed), one)) in work.trial.iter_mut().zip(now) {
            *trial = mode + length * one * speed;
        }
        combine(&work.basis.by_mode, &work.trial, &mut work.foreseen);
        let moved = |law: &super::Source| {
            let (start, end) = (work.start.get(law.slot), work.foreseen.get(law.slot));
            law.growth.abs() * start.zip(end).map_or(0.0, |(start, end)| (end - start).abs())
        };
        // What is no number is too far.
        network
            .sources
            .iter()
            .map(moved)
            .fold(0.0, |most, moved| if most.is_nan() || moved <= most { most } else { moved })
    }

    /// Puts in what the law bends away from its linearisation over `length`.
    fn correct(&mut self, network: &LeakingNetwork, length: f64) {
        let Self { slopes, work, .. } = self;
        work.linear.fill(0.0);
        work.square.fill(0.0);
        let sources = work.sources.iter_mut().zip(&network.sources).zip(slopes.iter());
        for ((source, law), slope) in sources {
            let (slot, growth) = (law.slot, law.growth);
            let rise = work.foreseen.get(slot).zip(work.start.get(slot));
            let rise = rise.map_or(0.0, |(end, start)| end - start);
            source.linear = (source.slope - slope) * rise;
            source.square = source.leak * bend(growth * rise);
            if let Some((linear, square)) = work.linear.get_mut(slot).zip(work.square.get_mut(slot))
            {
                *linear += source.linear;
                *square += source.square;
            }
        }
        combine(&work.basis.by_slot, &work.linear, &mut work.by_linear);
        combine(&work.basis.by_slot, &work.square, &mut work.by_square);
        let phis = work.phis.two.iter().zip(&work.phis.three);
        let parts = work.trial.iter().zip(phis).zip(work.by_linear.iter().zip(&work.by_square));
        for (ahead, ((trial, (two, three)), (linear, square))) in work.ahead.iter_mut().zip(parts) {
            *ahead = trial + length * (two * linear + 2.0 * three * square);
        }
    }

    /// A step of another length from the same start.
    pub(super) fn retry(&mut self, network: &LeakingNetwork, length: f64) {
        self.foresee(network, length);
        self.correct(network, length);
    }

    /// Where the step passes the ceiling: the step to it, and the place.
    pub(super) fn step_to_ceiling(
        &mut self,
        network: &LeakingNetwork,
        length: f64,
    ) -> Option<(f64, usize)> {
        let limit = network.ceiling - network.ambient;
        // What is put in behind what was foreseen is less than a kelvin, by the length of the step.
        if self.work.foreseen.iter().all(|rise| *rise < limit - 1.0) {
            return None;
        }
        let hottest = |work: &Work| {
            let rises = network.leaking.iter().zip(&work.start);
            let over = |(place, start): (&usize, &f64)| {
                (work.basis.rise(*place, &work.ahead) - limit.max(*start), *place)
            };
            rises.map(over).max_by(|a, b| a.0.total_cmp(&b.0))
        };
        let (mut over, place) = hottest(&self.work).filter(|(over, _)| *over >= 0.0)?;
        let (mut low, mut high, mut below) = (0.0, length, f64::NAN);
        for _ in 0..MOST_TRIALS {
            let secant = low + (high - low) * below / (below - over);
            let middle = if secant > low && secant < high { secant } else { 0.5 * (low + high) };
            if high - low <= 1e-13 * high || middle <= low || middle >= high {
                break;
            }
            self.retry(network, middle);
            let now = hottest(&self.work).map_or(0.0, |(over, _)| over);
            if now >= 0.0 {
                (high, over) = (middle, now);
                below *= 0.5;
            } else {
                (low, below) = (middle, now);
            }
        }
        self.retry(network, high);
        Some((high, place))
    }

    /// Takes the step that was tried last.
    pub(super) fn commit(&mut self, network: &LeakingNetwork, length: f64) {
        self.follow(length);
        let Self { modes, slopes, work, .. } = self;
        // The integral of the modes, in the place of what has been foreseen.
        let phis = work.phis.two.iter().zip(&work.phis.three).zip(&work.phis.four);
        let parts = phis.zip(work.by_linear.iter().zip(&work.by_square));
        let now = modes.iter().zip(&work.speed).zip(parts);
        for (integral, ((mode, speed), (((two, three), four), (linear, square)))) in
            work.trial.iter_mut().zip(now)
        {
            let change = two * speed + three * linear + 2.0 * four * square;
            *integral = length * (mode + length * change);
        }
        combine(&work.basis.by_mode, &work.trial, &mut work.foreseen);
        let sources = work.sources.iter().zip(&network.sources).zip(slopes.iter());
        for (leaked, ((source, law), slope)) in work.leaked.iter_mut().zip(sources) {
            let slot = law.slot;
            let integral = work.foreseen.get(slot).copied().unwrap_or(0.0);
            let start = work.start.get(slot).copied().unwrap_or(0.0);
            let apart = source.leak - slope * start;
            leaked.0 +=
                slope * integral + length * (apart + 0.5 * source.linear + source.square / 3.0);
        }
        modes.copy_from_slice(&work.ahead);
    }

    /// Brings the sensors through the step that was tried last: exactly as linearised, and what was put
    /// in besides as a ramp.
    fn follow(&mut self, length: f64) {
        let Self { modes, lagged, work, .. } = self;
        for follower in &work.basis.followers {
            let Some(lagged) = lagged.get_mut(follower.sensor) else { continue };
            let shares = &follower.shares;
            // c f, with f = z' + mu z.
            let drives = shares.iter().zip(&work.speed).zip(modes.iter().zip(&work.basis.rates));
            let driven: f64 = drives.map(|((c, speed), (z, rate))| c * (speed + rate * z)).sum();
            let apart = *lagged - dot(shares, modes);
            let end = -driven / follower.rate;
            let decay = -follower.rate * length;
            let shape = work.basis.shape(follower.place);
            let added = dot(shape, &work.ahead) - dot(shape, &work.trial);
            *lagged = dot(shares, &work.trial)
                + apart
                + (end - apart) * -decay.exp_m1()
                + added * (1.0 - phi_one(decay));
        }
    }
}

/// `e^x - 1 - x`.
fn bend(x: f64) -> f64 {
    if x.abs() > 0.1 {
        return x.exp_m1() - x;
    }
    // Terms to the eighth: 0.1 to the seventh over 8! is 1e-12 of the first.
    const TERMS: [f64; 7] =
        [0.5, 1.0 / 6.0, 1.0 / 24.0, 1.0 / 120.0, 1.0 / 720.0, 1.0 / 5040.0, 1.0 / 40320.0];
    x * x * TERMS.iter().rev().fold(0.0, |sum, term| sum * x + term)
}
