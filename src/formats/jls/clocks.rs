//! One time for all signals.
//!
//! Signals of one source count samples from one zero, so that sample n of a signal is at n / rate.
//! Sources know nothing of each other but UTC: where all of them have a map, theirs put them side
//! by side; otherwise their counters are taken as one.

use super::super::{FormatError, Input, Place, ReadFault};
use super::definitions::Signal;
use super::survey::Survey;
use crate::trace::{Origin, SampleClock};
use crate::units::{Hertz, SimTime};
use std::collections::BTreeMap;

const PS: i128 = 1_000_000_000_000;
/// UTC counts seconds of 2^30 from 2018.
const TICKS: i128 = 1 << 30;
const YEAR_2018: i64 = 1_514_764_800;

/// The clocks of the signals, in their order; none for a signal without samples.
#[derive(Debug)]
pub(super) struct Clocks {
    pub(super) clocks: Vec<Option<SampleClock>>,
    /// The end of the last sample.
    pub(super) end: SimTime,
    /// UTC of time zero \[ps since 2018\], where a map says it.
    utc: Option<i128>,
}

fn picoseconds(samples: i64, rate: u32) -> i128 {
    i128::from(samples) * PS / i128::from(rate.max(1))
}

fn of_utc(ticks: i64) -> i128 {
    i128::from(ticks) * PS / TICKS
}

/// UTC of a signal's sample zero \[ps since 2018\].
fn zero(signal: &Signal) -> Option<i128> {
    let (sample, utc) = signal.utc?;
    Some(of_utc(utc) - picoseconds(sample, signal.rate))
}

impl Clocks {
    pub(super) fn of(input: &Input<'_>, survey: &mut Survey) -> Result<Self, FormatError> {
        let signals: Vec<_> = survey.signals.values().filter(|s| s.has_samples()).collect();
        let mut zeros: BTreeMap<u16, Option<i128>> = BTreeMap::new();
        for signal in &signals {
            let of_source = zeros.entry(signal.source).or_default();
            *of_source = of_source.or(zero(signal));
        }
        let by_utc = zeros.values().all(Option::is_some);
        if zeros.len() > 1 && !by_utc {
            survey.remarks.push(
                "not every source has a UTC map: their sample counters are taken as one".into(),
            );
        }
        let at = |signal: &Signal, sample: i64| {
            let of_source = zeros.get(&signal.source).copied().flatten().filter(|_| by_utc);
            of_source.unwrap_or(0) + picoseconds(sample, signal.rate)
        };
        let starts = || signals.iter().filter_map(|s| Some(at(s, s.first_data?.1)));
        let start = starts().min().unwrap_or_default();
        let mut end = SimTime::ZERO;
        let mut clock = |signal: &Signal| {
            let (_, first) = signal.first_data?;
            let from = u64::try_from(at(signal, first) - start).ok()?;
            let clock = SampleClock::new(SimTime(from), Hertz(signal.rate.into()))?;
            let last = clock.reaches(signal.end.abs_diff(first)).ok()?;
            end = end.max(last);
            Some(clock)
        };
        let mut clocks = Vec::new();
        for signal in survey.signals.values() {
            let of_signal = if signal.has_samples() { Some(clock(signal)) } else { None };
            if of_signal == Some(None) {
                let seconds = signal.end as f64 / f64::from(signal.rate);
                let fault = ReadFault::PastEnd { at: seconds.to_string() };
                return Err(input.fault(Place::Whole, fault));
            }
            clocks.push(of_signal.flatten());
        }
        // Without UTC for all, the source that starts first says what time it is, if any does.
        let utc = match by_utc {
            true => Some(start),
            false => signals
                .iter()
                .find_map(|signal| Some(zeros.get(&signal.source).copied().flatten()? + start)),
        };
        Ok(Self { clocks, end, utc })
    }

    pub(super) fn origin(&self) -> Origin {
        let wall = self.utc.and_then(|ps| {
            let ns = ps / 1000 + i128::from(YEAR_2018) * 1_000_000_000;
            Some(Origin::Wall { unix_ns: i64::try_from(ns).ok()?, utc: true })
        });
        wall.unwrap_or_default()
    }

    /// The time of an instant of UTC, where it is not before the first sample.
    pub(super) fn at_utc(&self, ticks: i64) -> Option<SimTime> {
        u64::try_from(of_utc(ticks) - self.utc?).ok().map(SimTime)
    }
}

/// The time of a sample, where it is not before the first of its signal.
pub(super) fn at_sample(signal: &Signal, clock: SampleClock, sample: i64) -> Option<SimTime> {
    let (_, first) = signal.first_data?;
    let number = u64::try_from(sample.checked_sub(first)?).ok()?;
    clock.reaches(number).ok()
}
