//! A thermal network whose places leak the more the hotter they are.
//!
//! `z' = -lambda z + U (P + sum L_j)`, `L_j = P_j exp(b_j (T_j - T0_j))`, `T - T_a = U^T z`
//!
//! Symbols: `z`, `lambda`, `U`, `P` as in [`super::thermal_modes`]; `P_j` \[W\] leakage of source `j` at its
//! reference temperature `T0_j` and the voltage of its rail, `b_j` \[1/K\] its growth, `T_j` the place it
//! is at. A step is an exponential Rosenbrock step of third order (exprb32 of Hochbruck, Ostermann and
//! Schweitzer, SIAM J. Numer. Anal. 47, 2009): the slopes `g_j = b_j L_j` join the rates,
//! `lambda - U diag(g) U^T = V diag(mu) V^T`, still symmetric, the law is solved exactly as linearised
//! there, and what it bends away over the step is put in by `phi_3`. Steps are no longer than
//! `b_j |dT_j| <= 0.05`. The matrix is made anew only when slopes have moved so far that the sum of
//! `|dg_j|` times the resistance from its place to the air, which bounds the change of the loop gain, is
//! over 0.05, or the step would bend, and a few are remembered; what slopes differ by until then is put
//! in by `phi_2`. The energy of the leakage is the
//! integral of exactly the power that heats the network, so that heat balances to rounding.
//!
//! Where the largest eigenvalue `-mu` is not below zero while heat comes into its mode, temperatures grow
//! without bound under this power, since leakage grows ever faster (thermal runaway): the segment ends
//! at a ceiling temperature, where the law would long have left its range. Valid as the exponential law
//! of [`super::leakage`]. Neglected: that other power changes with temperature.

mod ahead;
mod basis;
mod step;
mod still;

use super::law_error::LawError;
use super::thermal_modes::ThermalModes;
use crate::units::{Celsius, Joules, Kelvins, PerKelvin, Seconds, Watts};
use basis::Basis;
use serde::{Deserialize, Serialize};
use step::Work;

/// Most change of `b |dT|` over a step.
const LONGEST_STEP: f64 = 0.05;
/// Most change of the loop gain before the matrix is made anew.
const STALE: f64 = 0.05;
/// Most share of the slopes that differs, times the change of `b |dT|` over a step that is long against
/// the fastest mode.
const STALE_STEP: f64 = 5e-3;
/// Matrices that are kept for when their slopes come again, as those of a domain that is gated and woken.
const REMEMBERED: usize = 4;

/// Something that leaks at a place of the network.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LeakSource {
    /// The place that it heats.
    pub place: usize,
    /// Temperature that its power is stated for \[degC\].
    pub reference: Celsius,
    /// Growth with temperature \[1/K\].
    pub per_kelvin: PerKelvin,
}

/// The first-order lag of a sensor at a place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SensorLag {
    /// The place that it is at.
    pub place: usize,
    /// Its time constant; zero for one that follows at once.
    pub time: Seconds,
}

/// What the network is surrounded by, and what it carries.
#[derive(Debug, Clone, PartialEq)]
pub struct Surroundings {
    /// Temperature of the air \[degC\].
    pub ambient: Celsius,
    /// Temperature at which heating ends, whatever else \[degC\].
    pub ceiling: Celsius,
    /// What leaks.
    pub sources: Vec<LeakSource>,
    /// What looks at it.
    pub sensors: Vec<SensorLag>,
}

/// A thermal network with what leaks at its places and what looks at it.
#[derive(Debug, Clone, PartialEq)]
pub struct LeakingNetwork {
    modes: ThermalModes,
    ambient: f64,
    ceiling: f64,
    sources: Vec<Source>,
    /// Places that leak, each once: a slot each.
    leaking: Vec<usize>,
    sensors: Vec<SensorLag>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Source {
    slot: usize,
    reference: f64,
    growth: f64,
    /// From its place to the air \[K/W\].
    resistance: f64,
}

/// What a leaking network holds at an instant. It can be written down and goes on with the same bits.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct LeakingState {
    /// A number a mode, of the matrix with the slopes below.
    modes: Vec<f64>,
    /// Slopes of the sources that the matrix was made with \[W/K\].
    slopes: Vec<f64>,
    /// Slopes of matrices that were in use before, the oldest first.
    remembered: Vec<Vec<f64>>,
    /// Rise over ambient that each sensor has followed to \[K\].
    lagged: Vec<f64>,
    /// What follows from the above, and room to work in.
    #[serde(skip)]
    work: Work,
}

/// A stretch of time at constant power.
#[derive(Debug, Clone, Copy)]
pub struct Segment<'a> {
    /// Heat into each place apart from leakage; places beyond the list get none.
    pub power: &'a [Watts],
    /// Leakage of each source at its reference temperature; sources beyond the list leak nothing.
    pub leakage: &'a [Watts],
    /// How long it is.
    pub duration: Seconds,
}

/// How a segment ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum HeatEnd {
    /// It is over.
    Whole,
    /// It is over, and had it gone on, temperatures would have grown without bound.
    RunningAway,
    /// The ceiling was reached after a part of it, where the network stands now.
    Ceiling {
        /// Time from the start of the segment.
        after: Seconds,
        /// The place that is at the ceiling.
        place: usize,
    },
}

impl LeakingNetwork {
    /// A network in its surroundings.
    ///
    /// # Errors
    ///
    /// A source or sensor at a place that there is not; a growth, temperature or time constant that is no
    /// finite number; a time constant below zero; a ceiling that is not above ambient.
    pub fn new(modes: ThermalModes, around: Surroundings) -> Result<Self, LawError> {
        let Surroundings { ambient, ceiling, sources, sensors } = around;
        within("temperature of the air", 1, ambient.0, f64::MIN, "finite")?;
        within("ceiling", 1, ceiling.0, ambient.0.next_up(), "above the air")?;
        let mut own = Self {
            modes,
            ambient: ambient.0,
            ceiling: ceiling.0,
            sources: Vec::new(),
            leaking: Vec::new(),
            sensors,
        };
        for (i, source) in sources.iter().enumerate() {
            own.is_place("the place of a leaking source", i + 1, source.place)?;
            within("reference temperature", i + 1, source.reference.0, f64::MIN, "finite")?;
            within("growth of leakage", i + 1, source.per_kelvin.0, f64::MIN, "finite")?;
            own.add(source);
        }
        for (i, sensor) in own.sensors.iter().enumerate() {
            own.is_place("the place of a sensor", i + 1, sensor.place)?;
            within("time constant of a sensor", i + 1, sensor.time.0, 0.0, "not below zero")?;
        }
        Ok(own)
    }

    fn add(&mut self, source: &LeakSource) {
        let known = self.leaking.iter().position(|place| *place == source.place);
        let slot = known.unwrap_or(self.leaking.len());
        if known.is_none() {
            self.leaking.push(source.place);
        }
        let resistance = self.modes.steady_resistance(source.place, source.place).0;
        let (reference, growth) = (source.reference.0, source.per_kelvin.0);
        self.sources.push(Source { slot, reference, growth, resistance });
    }

    fn is_place(&self, what: &'static str, entry: usize, place: usize) -> Result<(), LawError> {
        if place < self.modes.places() {
            return Ok(());
        }
        let (value, range) = (place as f64, "a place of the network");
        Err(LawError::OutOfRange { what, entry, value, range })
    }

    /// The network without what leaks.
    pub fn modes(&self) -> &ThermalModes {
        &self.modes
    }

    /// Temperature of the air.
    pub fn ambient(&self) -> Celsius {
        Celsius(self.ambient)
    }

    /// Everything at the temperature of the air, sensors too.
    pub fn at_rest(&self) -> LeakingState {
        LeakingState {
            modes: self.modes.at_rest().modes,
            slopes: vec![0.0; self.sources.len()],
            remembered: Vec::new(),
            lagged: vec![0.0; self.sensors.len()],
            work: Work::default(),
        }
    }

    /// Temperature of a place; that of the air for one that there is not.
    pub fn temperature(&self, state: &mut LeakingState, place: usize) -> Celsius {
        state.prepare(self);
        Celsius(self.ambient + state.work.basis.rise(place, &state.modes))
    }

    /// Rise of every place over the air.
    pub fn rises(&self, state: &mut LeakingState) -> Vec<Kelvins> {
        state.prepare(self);
        let rise = |place| Kelvins(state.work.basis.rise(place, &state.modes));
        (0..self.modes.places()).map(rise).collect()
    }

    /// What a sensor has followed to, before it is quantised; that of the air for one there is not.
    pub fn sensed(&self, state: &mut LeakingState, sensor: usize) -> Celsius {
        match self.sensors.get(sensor) {
            Some(lag) if lag.time.0 == 0.0 => self.temperature(state, lag.place),
            _ => Celsius(self.ambient + state.lagged.get(sensor).copied().unwrap_or(0.0)),
        }
    }

    /// Leakage of a source at the temperature that its place has, `at_reference` at its reference
    /// temperature.
    pub fn leakage(&self, state: &mut LeakingState, source: usize, at_reference: Watts) -> Watts {
        let Some(own) = self.sources.get(source) else { return Watts::ZERO };
        let place = self.leaking.get(own.slot).copied().unwrap_or(0);
        let now = self.temperature(state, place).0;
        at_reference * (own.growth * (now - own.reference)).exp()
    }

    /// Goes on through a segment, or to the ceiling. What each source has burnt meanwhile is
    /// [`LeakingState::leaked`].
    ///
    /// # Errors
    ///
    /// A power that is no finite number, a duration that is not finite or below zero. Nothing has changed
    /// then.
    pub fn advance(
        &self,
        state: &mut LeakingState,
        segment: Segment<'_>,
    ) -> Result<HeatEnd, LawError> {
        segment.check()?;
        state.begin(self, segment);
        let (mut elapsed, whole) = (0.0, segment.duration.0);
        let (mut attempt, mut end) = (whole, HeatEnd::Whole);
        while elapsed < whole {
            end = state.linearise(self, segment);
            if let Some(place) = state.above_ceiling(self) {
                return Ok(HeatEnd::Ceiling { after: Seconds(elapsed), place });
            }
            let left = whole - elapsed;
            let least = elapsed.next_up() - elapsed;
            let (length, next) = state.fitting_step(self, segment, attempt.min(left), least);
            if let Some((length, place)) = state.step_to_ceiling(self, length) {
                state.commit(self, length);
                return Ok(HeatEnd::Ceiling { after: Seconds(elapsed + length), place });
            }
            state.commit(self, length);
            attempt = next;
            elapsed = if length >= left { whole } else { elapsed + length };
        }
        Ok(end)
    }
}

impl LeakingState {
    /// What each source has burnt over the last segment that was gone through; empty before the first.
    pub fn leaked(&self) -> &[Joules] {
        &self.work.leaked
    }

    /// Makes what follows from the state, where it has just been read.
    fn prepare(&mut self, network: &LeakingNetwork) {
        if !self.work.ready {
            self.modes.resize(network.modes.rates().len(), 0.0);
            self.slopes.resize(network.sources.len(), 0.0);
            self.lagged.resize(network.sensors.len(), 0.0);
            self.remembered.truncate(REMEMBERED);
            self.remembered.iter_mut().for_each(|own| own.resize(network.sources.len(), 0.0));
            let remembered = self.remembered.iter().map(|slopes| Basis::of(network, slopes));
            let remembered = remembered.collect();
            self.work = Work::of(network, Basis::of(network, &self.slopes), remembered);
        }
    }
}

impl Segment<'_> {
    fn check(&self) -> Result<(), LawError> {
        for powers in [self.power, self.leakage] {
            let odd = powers.iter().enumerate().find(|(_, power)| !power.0.is_finite());
            if let Some((i, power)) = odd {
                within("power", i + 1, power.0, f64::MIN, "finite")?;
            }
        }
        within("duration", 1, self.duration.0, 0.0, "not below zero")
    }
}

/// Checks that a value is finite and not below another.
fn within(
    what: &'static str,
    entry: usize,
    value: f64,
    least: f64,
    range: &'static str,
) -> Result<(), LawError> {
    if value.is_finite() && value >= least {
        return Ok(());
    }
    Err(LawError::OutOfRange { what, entry, value, range })
}

#[cfg(test)]
mod tests;
