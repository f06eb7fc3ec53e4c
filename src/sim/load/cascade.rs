//! Wake on inference: a detector that always looks, and stages behind it that it wakes.
//!
//! Each look is over the time since the one before, and there is an event in that time or there is not.
//! A stage that is asked passes a look on with its hit rate where there is one, else with its rate of
//! false alarms; both hold for the looks that it is given, so that they multiply along the cascade.

use super::dice::uniform;
use super::process::positive;
use super::{LoadError, Process, Source, stream};
use crate::sim::kernel::Stream;
use crate::units::{Hertz, Ratio, Seconds, SimTime, TimeError};
use serde::{Deserialize, Serialize};

/// Whether there is an event, in truth.
#[derive(Debug, Clone, PartialEq)]
pub enum Events {
    /// In each look with this probability, independent of the others.
    Prevalence(Ratio),
    /// Events come and last so long each. A look holds one where any part of one lies in its time.
    Process {
        /// When they come.
        process: Process,
        /// How long each lasts.
        lasts: Seconds,
    },
}

/// A stage: what it passes on to the next one. The last passes on what the cascade reports.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Stage {
    /// Its name.
    pub name: String,
    /// Share that it passes on of looks with an event.
    pub hit: Ratio,
    /// Share that it passes on of looks without.
    pub false_alarm: Ratio,
}

/// Stages, the one that always looks first.
#[derive(Debug, Clone, PartialEq)]
pub struct Cascade {
    every: Seconds,
    events: Events,
    stages: Vec<Stage>,
}

impl Cascade {
    /// By the time between two looks, what there is to be seen, and the stages.
    ///
    /// # Errors
    /// No stage, a rate beyond 0 to 1, or a time that is none.
    pub fn new(every: Seconds, events: Events, stages: Vec<Stage>) -> Result<Self, LoadError> {
        positive("the time between looks", every)?;
        if stages.is_empty() {
            return Err(LoadError::parameter("a cascade", "needs at least one stage"));
        }
        for stage in &stages {
            share("a hit rate", stage.hit)?;
            share("a rate of false alarms", stage.false_alarm)?;
        }
        match &events {
            Events::Prevalence(prevalence) => share("a prevalence", *prevalence)?,
            Events::Process { lasts, .. } => {
                SimTime::from_seconds(*lasts)?;
            }
        }
        Ok(Self { every, events, stages })
    }

    /// The stages.
    pub fn stages(&self) -> &[Stage] {
        &self.stages
    }

    /// Looks of the first stage, a second.
    pub fn look_rate(&self) -> Hertz {
        Hertz(1.0 / self.every.0)
    }

    /// Share of looks that hold an event. Of a process it is 1 - P(no event begins in w + d), w the time
    /// between looks and d the time an event lasts; nothing where that has no closed form.
    pub fn prevalence(&self) -> Option<Ratio> {
        match &self.events {
            Events::Prevalence(prevalence) => Some(*prevalence),
            Events::Process { process, lasts } => {
                process.silence(self.every + *lasts).map(|silence| Ratio(1.0 - silence))
            }
        }
    }

    /// One run of it under a seed. Truth and each stage have streams of their own under `purpose`, each
    /// with one draw a look, so that a stage with other rates changes nothing before it.
    ///
    /// # Errors
    /// Events come from a file that cannot be opened.
    pub fn looks(&self, seed: u64, purpose: &str) -> Result<Looks, LoadError> {
        let truth = stream(seed, &format!("{purpose}.events"));
        let truth = match &self.events {
            Events::Prevalence(prevalence) => Truth::Drawn(*prevalence, Box::new(truth)),
            Events::Process { process, lasts } => Truth::Coming {
                source: process.source(truth)?,
                lasts: SimTime::from_seconds(*lasts)?,
                next: None,
                until: SimTime::ZERO,
                ended: false,
            },
        };
        let draws = self
            .stages
            .iter()
            .map(|stage| stream(seed, &format!("{purpose}.stages.{}", stage.name)));
        Ok(Looks {
            draws: draws.collect(),
            every: self.every,
            stages: self.stages.clone(),
            truth,
            number: 0,
        })
    }
}

fn share(what: &'static str, share: Ratio) -> Result<(), LoadError> {
    if (0.0..=1.0).contains(&share.0) {
        return Ok(());
    }
    Err(LoadError::parameter(
        what,
        format!("lies between 0 and 100 %, not at {} %", share.0 * 100.0),
    ))
}

/// One look of the first stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Look {
    /// Its number, from 0.
    pub number: u64,
    /// When it is taken: at the end of the time that it is over.
    pub at: SimTime,
    /// True where there is an event in its time.
    pub event: bool,
    /// How many stages pass it on, one after the other. Stage `s` is asked where this is `s` or more.
    pub passed: usize,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
enum Truth {
    Drawn(Ratio, Box<Stream>),
    Coming {
        source: Source,
        lasts: SimTime,
        /// The event after this look.
        next: Option<SimTime>,
        /// When the last of those that came ends; zero before any came.
        until: SimTime,
        ended: bool,
    },
}

impl Truth {
    /// True where an event lies in the time from `since` (not in it) to `at`.
    fn look(&mut self, since: SimTime, at: SimTime) -> Result<bool, LoadError> {
        match self {
            Self::Drawn(prevalence, generator) => Ok(uniform(generator.as_mut()) < prevalence.0),
            Self::Coming { source, lasts, next, until, ended } => {
                while !*ended {
                    let event = match next.take() {
                        Some(event) => event,
                        None => match following(source)? {
                            Some(event) => event,
                            None => {
                                *ended = true;
                                break;
                            }
                        },
                    };
                    if event > at {
                        *next = Some(event);
                        break;
                    }
                    let end = event.after(*lasts).unwrap_or(SimTime(u64::MAX));
                    *until = (*until).max(end);
                }
                Ok(*until > since)
            }
        }
    }
}

/// The next event; none past the end of time.
fn following(source: &mut Source) -> Result<Option<SimTime>, LoadError> {
    match source.coming() {
        Err(LoadError::Time(TimeError::PastEnd)) => Ok(None),
        other => other,
    }
}

/// Looks as a run goes on; they go on until time ends.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Looks {
    every: Seconds,
    stages: Vec<Stage>,
    truth: Truth,
    /// One for each stage.
    draws: Vec<Stream>,
    number: u64,
}

impl Looks {
    fn look(&mut self, number: u64) -> Result<Look, LoadError> {
        let time = |n: u64| SimTime::from_seconds(self.every * n as f64);
        let (since, at) = (time(number)?, time(number + 1)?);
        let event = self.truth.look(since, at)?;
        let mut passed = 0;
        for (place, (stage, draw)) in self.stages.iter().zip(&mut self.draws).enumerate() {
            let rate = if event { stage.hit } else { stage.false_alarm };
            // All draw, whether asked or not.
            let passes = uniform(draw) < rate.0;
            if passes && passed == place {
                passed += 1;
            }
        }
        Ok(Look { number, at, event, passed })
    }
}

impl Iterator for Looks {
    type Item = Result<Look, LoadError>;

    fn next(&mut self) -> Option<Self::Item> {
        let number = self.number;
        // The one after the last number there is has no end.
        self.number = number.checked_add(1).filter(|next| *next < u64::MAX)?;
        let look = self.look(number);
        if look.is_err() {
            self.number = u64::MAX - 1;
        }
        Some(look)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Bursts, Level, Periodic, Poisson, Tally};
    use super::*;

    fn stage(name: &str, hit: f64, false_alarm: f64) -> Stage {
        Stage { name: name.to_owned(), hit: Ratio(hit), false_alarm: Ratio(false_alarm) }
    }

    fn three(events: Events) -> Cascade {
        let stages =
            vec![stage("motion", 0.98, 0.2), stage("person", 0.9, 0.05), stage("face", 0.8, 0.01)];
        Cascade::new(Seconds(0.1), events, stages).unwrap()
    }

    fn tally(cascade: &Cascade, seed: u64, count: usize) -> Tally {
        let mut tally = Tally::of(cascade);
        for look in cascade.looks(seed, "test").unwrap().take(count) {
            tally.add(&look.unwrap());
        }
        tally
    }

    /// Within four standard deviations of a binomial.
    fn binomial(found: u64, of: u64, share: f64, what: &str) {
        let (of, found) = (of as f64, found as f64);
        let sigma = (of * share * (1.0 - share)).sqrt();
        assert!(
            (found - of * share).abs() <= 4.0 * sigma + 0.5,
            "{what}: {found} of {of}, {share}"
        );
    }

    #[test]
    fn every_stage_thins_by_its_rates_within_the_bounds_of_a_binomial() {
        let cascade = three(Events::Prevalence(Ratio(0.05)));
        let tally = tally(&cascade, 17, 200_000);
        binomial(tally.events(), 200_000, 0.05, "events");
        let (mut events, mut others) = (tally.events(), tally.looks() - tally.events());
        for (place, stage) in cascade.stages().iter().enumerate() {
            binomial(tally.true_passed(place), events, stage.hit.0, &stage.name);
            binomial(tally.false_passed(place), others, stage.false_alarm.0, &stage.name);
            (events, others) = (tally.true_passed(place), tally.false_passed(place));
        }
    }

    #[test]
    fn counted_precision_recall_and_wakes_are_those_of_the_closed_form() {
        let cascade = three(Events::Prevalence(Ratio(0.05)));
        let tally = tally(&cascade, 4, 400_000);
        let expected = cascade.expected().unwrap();
        for (place, stage) in expected.stages.iter().enumerate() {
            let recall = tally.recall(place).unwrap();
            let precision = tally.precision(place).unwrap();
            assert!((recall - stage.recall).abs() < 0.015, "{recall} {stage:?}");
            assert!((precision - stage.precision.unwrap()).abs() < 0.02, "{precision} {stage:?}");
        }
        // 36 000 looks an hour, 5 % x 0.98 + 95 % x 0.2 of them.
        assert!((expected.wakes_per_hour() - 36_000.0 * 0.239).abs() < 1e-6);
        let wakes = tally.wakes_per_hour(cascade.look_rate());
        assert!((wakes / expected.wakes_per_hour() - 1.0).abs() < 0.02, "{wakes}");
    }

    #[test]
    fn a_stricter_stage_passes_a_part_of_what_a_laxer_one_does() {
        let with = |hit, false_alarm| {
            let stages = vec![stage("motion", 0.9, 0.3), stage("person", hit, false_alarm)];
            let cascade =
                Cascade::new(Seconds(0.1), Events::Prevalence(Ratio(0.3)), stages).unwrap();
            cascade.looks(9, "test").unwrap().take(2000).map(Result::unwrap).collect::<Vec<_>>()
        };
        let (strict, lax) = (with(0.5, 0.1), with(0.7, 0.2));
        assert!(strict.iter().zip(&lax).all(|(s, l)| s.event == l.event && s.passed <= l.passed));
        assert!(strict.iter().zip(&lax).any(|(s, l)| s.passed < l.passed));
        assert_eq!(strict, with(0.5, 0.1), "the seed decides");
    }

    #[test]
    fn looks_see_events_that_come_and_last() {
        let lasts = Seconds(0.25);
        let process =
            Process::Periodic(Periodic::new(Seconds(2.0), Seconds::ZERO, Seconds(0.95)).unwrap());
        let cascade = three(Events::Process { process, lasts });
        let looks: Vec<_> =
            cascade.looks(1, "test").unwrap().take(20).map(Result::unwrap).collect();
        let seen: Vec<u64> = looks.iter().filter(|l| l.event).map(|l| l.number).collect();
        // From 0.95 to 1.20 s: looks that end at 1.0, 1.1 and 1.2 s; then from 2.95 s on.
        assert_eq!(seen, [9, 10, 11]);
        assert_eq!(looks[0].at, SimTime(100_000_000_000));
        // (0.1 + 0.25) of 2 s.
        assert!((cascade.prevalence().unwrap().0 - 0.175).abs() < 1e-12);
    }

    #[test]
    fn the_share_of_looks_with_an_event_is_that_of_the_closed_form() {
        let poisson = Process::Poisson(Poisson::new(Hertz(0.2)).unwrap());
        let level = |rate, stay| Level { rate: Hertz(rate), stay: Seconds(stay) };
        let bursts = Process::Bursts(Bursts::new(level(0.02, 9.0), level(2.0, 1.0)).unwrap());
        for process in [poisson, bursts] {
            let cascade = three(Events::Process { process, lasts: Seconds(0.5) });
            let tally = tally(&cascade, 23, 400_000);
            let share = tally.events() as f64 / 400_000.0;
            let expected = cascade.prevalence().unwrap().0;
            // 40 000 s hold some 5000 independent stretches with events.
            assert!((share / expected - 1.0).abs() < 0.06, "{share} {expected}");
        }
    }

    #[test]
    fn rates_that_are_none_are_refused() {
        let new =
            |events, stages| Cascade::new(Seconds(0.1), events, stages).unwrap_err().to_string();
        let prevalence = |p| Events::Prevalence(Ratio(p));
        assert!(new(prevalence(0.1), vec![]).contains("at least one stage"));
        assert!(
            new(prevalence(1.5), vec![stage("a", 1.0, 0.0)]).contains("prevalence lies between")
        );
        assert!(new(prevalence(0.1), vec![stage("a", 1.0, f64::NAN)]).contains("false alarms"));
        assert!(new(prevalence(0.1), vec![stage("a", -0.1, 0.0)]).contains("a hit rate"));
    }

    #[test]
    fn looks_end_with_time() {
        let cascade =
            Cascade::new(Seconds(1e7), Events::Prevalence(Ratio(0.5)), vec![stage("a", 1.0, 0.0)]);
        let mut looks = cascade.unwrap().looks(1, "test").unwrap();
        assert!(looks.next().unwrap().is_ok());
        assert!(looks.next().unwrap().is_err());
        assert!(looks.next().is_none());
    }
}
