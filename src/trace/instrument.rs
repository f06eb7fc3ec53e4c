//! A virtual instrument: what a meter would have written of a trace.
//!
//! It integrates over each sample, as meters with a fast converter and a filter do: sample `k` is the mean
//! current between `k / rate` and `(k + 1) / rate` of its own clock, times its gain, plus its offset, plus white
//! noise, rounded to its step. Digital lines are read at the start of each sample.

use super::{Bounds, BucketSink, ComponentId, SpanKind, Trace};
use crate::units::{Amperes, Hertz, Ratio, SimTime, Volts};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

/// A meter of current at one voltage.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Instrument {
    /// Samples a second, on its own clock.
    pub rate: Hertz,
    /// The voltage it supplies.
    pub voltage: Volts,
    /// What it reads over what flows.
    pub gain: Ratio,
    /// How many of its seconds go by in a second.
    pub clock: Ratio,
    /// What it reads where nothing flows.
    pub offset: Amperes,
    /// Standard deviation of a sample.
    pub noise: Amperes,
    /// The step that its readings are multiples of; none where it is zero.
    pub step: Amperes,
    /// Which noise it is.
    pub seed: u64,
}

impl Instrument {
    /// One that reads what is there.
    pub fn exact(rate: Hertz, voltage: Volts) -> Self {
        let (one, zero) = (Ratio(1.0), Amperes(0.0));
        let (noise, step) = (zero, zero);
        Self { rate, voltage, gain: one, clock: one, offset: zero, noise, step, seed: 0 }
    }
}

/// What an instrument wrote.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// Samples a second.
    pub rate: Hertz,
    /// The current of each sample.
    pub current: Vec<Amperes>,
    /// Its digital lines at the start of each sample, the first in the lowest bit: the first is high while an
    /// inference runs, the second changes where a layer starts.
    pub lines: Vec<u8>,
}

/// Why an instrument reads nothing.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum InstrumentFault {
    /// It has no rate, voltage, gain or clock.
    #[error("the {what} of a meter is above zero, not {value}")]
    NotAboveZero {
        /// Which.
        what: &'static str,
        /// What it is.
        value: f64,
    },
    /// A scatter below zero.
    #[error("the {what} of a meter is zero or above, not {value}")]
    BelowZero {
        /// Which.
        what: &'static str,
        /// What it is.
        value: f64,
    },
    /// The trace is shorter than a sample.
    #[error("the trace ends at {end}, before the first sample of a meter at {rate} does")]
    Nothing {
        /// The end of the trace.
        end: SimTime,
        /// The rate.
        rate: Hertz,
    },
    /// Too many samples.
    #[error(
        "{samples:.3e} samples are more than the {MOST} that are made: a lower rate, or a shorter run"
    )]
    TooMany {
        /// How many.
        samples: f64,
    },
}

/// Samples of one reading.
const MOST: usize = 1 << 26;

impl Instrument {
    /// Reads a trace: the current that makes the total of its components at the meter's voltage.
    ///
    /// # Errors
    /// A property makes no sense, or the samples are none or too many.
    pub fn read(&self, trace: &Trace) -> Result<Reading, InstrumentFault> {
        let count = self.samples(trace)?;
        let period = 1e12 / (self.rate.0 * self.clock.0);
        let until = SimTime((period * count as f64).round() as u64).min(trace.end);
        let nothing = InstrumentFault::Nothing { end: trace.end, rate: self.rate };
        let bounds = Bounds::new(SimTime::ZERO, until, count).ok_or(nothing)?;
        let all = (0..trace.header.components.len()).map(ComponentId).collect();
        let mut buckets = BucketSink::new(bounds, vec![all]);
        trace.replay(&mut buckets);
        let sums = buckets.finish().sums;
        let mut generator = ChaCha8Rng::seed_from_u64(self.seed);
        let powers = sums.first().map_or(&[][..], Vec::as_slice).iter().map(|bucket| bucket.mean);
        let current = powers.map(|power| {
            let noise: f64 = StandardNormal.sample(&mut generator);
            self.shown(power / self.voltage.0, noise)
        });
        let current = current.collect();
        Ok(Reading { rate: self.rate, current, lines: lines(trace, bounds) })
    }

    /// What it shows of a current.
    fn shown(&self, current: f64, noise: f64) -> Amperes {
        let read = current * self.gain.0 + self.offset.0 + noise * self.noise.0;
        if self.step.0 > 0.0 {
            return Amperes((read / self.step.0).round() * self.step.0);
        }
        Amperes(read)
    }

    fn samples(&self, trace: &Trace) -> Result<usize, InstrumentFault> {
        let above = [
            ("rate", self.rate.0),
            ("voltage", self.voltage.0),
            ("gain", self.gain.0),
            ("clock", self.clock.0),
        ];
        if let Some((what, value)) = above.into_iter().find(|(_, v)| !(*v > 0.0 && v.is_finite())) {
            return Err(InstrumentFault::NotAboveZero { what, value });
        }
        let scatter = [("noise", self.noise.0), ("step", self.step.0)];
        if let Some((what, value)) = scatter.into_iter().find(|(_, v)| v.is_nan() || *v < 0.0) {
            return Err(InstrumentFault::BelowZero { what, value });
        }
        let samples = (trace.end.seconds().0 * self.rate.0 * self.clock.0).floor();
        if samples > MOST as f64 {
            return Err(InstrumentFault::TooMany { samples });
        }
        Ok(samples as usize)
    }
}

/// Levels of the lines at the start of each sample.
fn lines(trace: &Trace, bounds: Bounds) -> Vec<u8> {
    let of = |kind| trace.spans.iter().filter(move |span| span.kind == kind);
    let mut changes: Vec<(SimTime, u8)> =
        of(SpanKind::Inference).flat_map(|span| [(span.start, 1), (span.end, 1)]).collect();
    changes.extend(of(SpanKind::Layer).map(|span| (span.start, 2)));
    changes.sort_unstable();
    let (mut next, mut level) = (changes.into_iter().peekable(), 0u8);
    (0..bounds.count())
        .map(|k| {
            while let Some((_, line)) = next.next_if(|(at, _)| *at <= bounds.edge(k)) {
                level ^= line;
            }
            level
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{Component, ComponentKind, Header, Recorder, Sink, Span};
    use crate::units::Watts;

    const MS: u64 = 1_000_000_000;

    /// 10 mW, 30 mW in an inference of two layers from 2.5 to 6 ms, 10 mW to 10 ms.
    fn trace() -> Trace {
        let component = Component {
            name: "c".into(),
            kind: ComponentKind::Measured,
            domain: String::new(),
            rail: "r".into(),
        };
        let mut recorder = Recorder::default();
        recorder.begin(&Header { components: vec![component], ..Header::default() });
        for (at, power) in [(0, 0.01), (5 * MS / 2, 0.03), (6 * MS, 0.01)] {
            recorder.power(SimTime(at), ComponentId(0), Watts(power));
        }
        let span = |kind, start: u64, end: u64| Span {
            kind,
            name: String::new(),
            track: String::new(),
            inference: None,
            start: SimTime(start),
            end: SimTime(end),
        };
        recorder.span(span(SpanKind::Layer, 5 * MS / 2, 4 * MS));
        recorder.span(span(SpanKind::Layer, 4 * MS, 6 * MS));
        recorder.span(span(SpanKind::Inference, 5 * MS / 2, 6 * MS));
        recorder.end(SimTime(10 * MS));
        recorder.into_trace()
    }

    #[test]
    fn a_sample_is_the_mean_over_it_and_lines_are_read_at_its_start() {
        let read = Instrument::exact(Hertz(1000.0), Volts(2.0)).read(&trace()).unwrap();
        let shown: Vec<f64> = read.current.iter().map(|c| (c.0 * 1e6).round() / 1e3).collect();
        assert_eq!(shown, [5.0, 5.0, 10.0, 15.0, 15.0, 15.0, 5.0, 5.0, 5.0, 5.0]);
        assert_eq!(read.lines, [0, 0, 0, 3, 1, 1, 0, 0, 0, 0]);
    }

    #[test]
    fn gain_offset_step_and_clock_are_those_of_the_meter() {
        let exact = Instrument::exact(Hertz(1000.0), Volts(2.0));
        let off = Instrument { gain: Ratio(1.1), offset: Amperes(1e-4), ..exact };
        let read = off.read(&trace()).unwrap();
        assert!((read.current[0].0 - 5.6e-3).abs() < 1e-12);
        let coarse = Instrument { step: Amperes(2e-3), ..exact };
        assert!(
            (coarse.read(&trace()).unwrap().current[0].0 - 6e-3).abs() < 1e-12,
            "5 mA halves up"
        );
        let slow = Instrument { clock: Ratio(0.5), ..exact };
        assert_eq!(slow.read(&trace()).unwrap().current.len(), 5);
    }

    #[test]
    fn noise_has_its_deviation_and_its_seed() {
        let exact = Instrument::exact(Hertz(1e6), Volts(2.0));
        let noisy = |seed| {
            let meter = Instrument { noise: Amperes(1e-4), seed, ..exact };
            meter.read(&trace()).unwrap().current
        };
        let known = exact.read(&trace()).unwrap().current;
        let squares: f64 =
            noisy(1).iter().zip(&known).map(|(a, b)| ((a.0 - b.0) / 1e-4).powi(2)).sum();
        assert!((squares / known.len() as f64 - 1.0).abs() < 0.05);
        assert_eq!(noisy(1), noisy(1));
        assert_ne!(noisy(1), noisy(2));
    }

    #[test]
    fn what_cannot_be_read_is_told() {
        let exact = Instrument::exact(Hertz(1000.0), Volts(2.0));
        for meter in [
            Instrument { rate: Hertz(0.0), ..exact },
            Instrument { rate: Hertz(f64::NAN), ..exact },
            Instrument { rate: Hertz(10.0), ..exact },
            Instrument { rate: Hertz(1e15), ..exact },
            Instrument { noise: Amperes(-1.0), ..exact },
        ] {
            assert!(meter.read(&trace()).is_err(), "{meter:?}");
        }
        assert!(exact.read(&Trace::default()).is_err());
    }
}
