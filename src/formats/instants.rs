//! The instants at which a trace changes, in the order of time, without collecting them.

use crate::trace::{Trace, Waveform};
use crate::units::SimTime;

/// Walks several waveforms side by side.
pub(super) struct Instants<'a> {
    waves: Vec<&'a [(SimTime, f64)]>,
    next: Vec<usize>,
    /// The value of each wave at the instant last visited; nothing before its first point.
    values: Vec<Option<f64>>,
}

impl<'a> Instants<'a> {
    /// Power of every component of the header, then voltage and current of every rail in turn. A
    /// component without a waveform stands for one that never changes.
    pub(super) fn of(trace: &'a Trace) -> Self {
        let points =
            |waves: &'a [Waveform], at: usize| waves.get(at).map_or(&[][..], |w| w.points());
        let powers = (0..trace.header.components.len()).map(|c| points(&trace.power, c));
        let rails = (0..trace.header.rails.len())
            .flat_map(|r| [points(&trace.voltage, r), points(&trace.current, r)]);
        let waves: Vec<_> = powers.chain(rails).collect();
        Self { next: vec![0; waves.len()], values: vec![None; waves.len()], waves }
    }

    /// The next instant at which any wave has a point.
    pub(super) fn peek(&self) -> Option<SimTime> {
        let heads = self.waves.iter().zip(&self.next).filter_map(|(wave, at)| wave.get(*at));
        heads.map(|point| point.0).min()
    }

    /// Takes in every point at or before `until`.
    pub(super) fn advance(&mut self, until: SimTime) {
        for ((wave, next), value) in self.waves.iter().zip(&mut self.next).zip(&mut self.values) {
            while let Some(point) = wave.get(*next).filter(|p| p.0 <= until) {
                *value = Some(point.1);
                *next += 1;
            }
        }
    }

    /// The values at the instant last visited.
    pub(super) fn values(&self) -> &[Option<f64>] {
        &self.values
    }
}
