//! What all arrivals have in common.

use super::{Bursts, ClosedLoop, LoadError, Periodic, Poisson, Recorded, Source};
use crate::sim::kernel::Stream;
use crate::units::{Hertz, Seconds, SimTime};

/// What is known of the arrivals of a stream.
#[derive(Debug, Clone, PartialEq)]
pub enum Process {
    /// The next as soon as the one before is over.
    BackToBack,
    /// One each period.
    Periodic(Periodic),
    /// At random, independent of each other.
    Poisson(Poisson),
    /// At random, at one of two rates.
    Bursts(Bursts),
    /// As they were recorded.
    Recorded(Recorded),
    /// By clients that wait for an answer and think.
    ClosedLoop(ClosedLoop),
}

impl Process {
    /// Mean rate in the long run; none where it depends on how fast answers come, or where a record is
    /// too short to tell.
    pub fn mean_rate(&self) -> Option<Hertz> {
        match self {
            Self::BackToBack | Self::ClosedLoop(_) => None,
            Self::Periodic(process) => Some(process.mean_rate()),
            Self::Poisson(process) => Some(process.mean_rate()),
            Self::Bursts(process) => Some(process.mean_rate()),
            Self::Recorded(process) => process.mean_rate(),
        }
    }

    /// Index of dispersion: variance over mean of the number of arrivals in a long time. 1 is Poisson,
    /// 0 a clock, more than 1 bursts.
    pub fn dispersion(&self) -> Option<f64> {
        match self {
            Self::BackToBack | Self::ClosedLoop(_) | Self::Recorded(_) => None,
            Self::Periodic(process) => Some(process.dispersion()),
            Self::Poisson(process) => Some(process.dispersion()),
            Self::Bursts(process) => Some(process.dispersion()),
        }
    }

    /// Probability that nothing arrives in a stretch of time laid down at random; none where no closed
    /// form is known.
    pub fn silence(&self, stretch: Seconds) -> Option<f64> {
        match self {
            Self::BackToBack | Self::ClosedLoop(_) | Self::Recorded(_) => None,
            Self::Periodic(process) => process.silence(stretch),
            Self::Poisson(process) => Some(process.silence(stretch)),
            Self::Bursts(process) => Some(process.silence(stretch)),
        }
    }

    /// One run of it.
    ///
    /// # Errors
    /// A first request lies past the end of time.
    pub fn source(&self, generator: Stream) -> Result<Source, LoadError> {
        Source::of(self, generator)
    }
}

/// Checks that `time` is a duration of at least a picosecond that fits in time.
pub(super) fn positive(what: &'static str, time: Seconds) -> Result<(), LoadError> {
    if SimTime::from_seconds(time)? == SimTime::ZERO {
        return Err(LoadError::parameter(
            what,
            format!("must be at least a picosecond, not {time}"),
        ));
    }
    Ok(())
}

/// Checks that `rate` is a rate at which something comes within all of time, and not faster than its
/// ticks.
pub(super) fn sound_rate(what: &'static str, rate: Hertz) -> Result<(), LoadError> {
    if !(rate.0 > 0.0 && rate.0 <= 1e12) {
        return Err(LoadError::parameter(
            what,
            format!("must be above zero and at most 1 THz, not {rate}"),
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::{Level, stream};
    use super::*;
    use proptest::prelude::*;

    fn any_process() -> impl Strategy<Value = Process> {
        let rate = || (1e-6f64..1e9).prop_map(Hertz);
        let time = || (1e-9f64..1e5).prop_map(Seconds);
        let level = || (rate(), time()).prop_map(|(rate, stay)| Level { rate, stay });
        prop_oneof![
            (time(), 0.0f64..=1.0, time()).prop_map(|(period, late, offset)| {
                Process::Periodic(Periodic::new(period, period * late, offset).unwrap())
            }),
            rate().prop_map(|rate| Process::Poisson(Poisson::new(rate).unwrap())),
            (level(), level()).prop_filter_map("too few requests", |(quiet, burst)| {
                Bursts::new(quiet, burst).ok().map(Process::Bursts)
            }),
        ]
    }

    proptest! {
        #[test]
        fn times_never_go_back_and_a_seed_repeats_them(process in any_process(), seed: u64) {
            let times = |seed| {
                let mut source = process.source(stream(seed, "test")).unwrap();
                let next = || source.coming().ok().flatten();
                std::iter::from_fn(next).take(50).collect::<Vec<_>>()
            };
            let first = times(seed);
            prop_assert!(first.is_sorted());
            prop_assert_eq!(first, times(seed));
        }

        #[test]
        fn silence_falls_from_one_as_time_goes_on(process in any_process(), stretch in 1e-6f64..1e3) {
            let silence = |time| process.silence(Seconds(time));
            if let (Some(start), Some(sooner), Some(later)) = (silence(0.0), silence(stretch), silence(2.0 * stretch)) {
                prop_assert!((start - 1.0).abs() < 1e-9);
                prop_assert!((0.0..=1.0).contains(&later) && later <= sooner + 1e-12, "{} {}", sooner, later);
                // No memory of the past makes silence likelier than without.
                let poisson = (-process.mean_rate().unwrap().0 * stretch).exp();
                if !matches!(process, Process::Periodic(_)) {
                    prop_assert!(sooner >= poisson * (1.0 - 1e-9) - 1e-12, "{} {}", sooner, poisson);
                }
            }
        }
    }

    #[test]
    fn what_waits_for_answers_has_no_rate_of_its_own() {
        assert_eq!(Process::BackToBack.mean_rate(), None);
        assert_eq!(Process::BackToBack.dispersion(), None);
        let mut source = Process::BackToBack.source(stream(1, "test")).unwrap();
        assert_eq!(source.coming(), Ok(Some(SimTime::ZERO)));
        assert_eq!((source.coming(), source.over(SimTime(9))), (Ok(None), Ok(Some(SimTime(9)))));
    }
}
