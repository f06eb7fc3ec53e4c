//! What a cascade does: counted, and in closed form.

use super::{Cascade, Look};
use crate::units::Hertz;
use serde::{Deserialize, Serialize};

const SECONDS_AN_HOUR: f64 = 3600.0;

/// Looks that were counted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    looks: u64,
    events: u64,
    /// Looks that each stage passed on, with an event and without.
    passed: Vec<(u64, u64)>,
}

impl Tally {
    /// Of no looks yet.
    pub fn of(cascade: &Cascade) -> Self {
        Self { looks: 0, events: 0, passed: vec![(0, 0); cascade.stages().len()] }
    }

    /// Counts a look.
    pub fn add(&mut self, look: &Look) {
        self.looks += 1;
        self.events += u64::from(look.event);
        for (with, without) in self.passed.iter_mut().take(look.passed) {
            *if look.event { with } else { without } += 1;
        }
    }

    /// All looks.
    pub fn looks(&self) -> u64 {
        self.looks
    }

    /// Looks with an event.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// Looks with an event that a stage passed on.
    pub fn true_passed(&self, stage: usize) -> u64 {
        self.passed.get(stage).map_or(0, |(with, _)| *with)
    }

    /// Looks without one that a stage passed on.
    pub fn false_passed(&self, stage: usize) -> u64 {
        self.passed.get(stage).map_or(0, |(_, without)| *without)
    }

    /// Share of what a stage passed on that holds an event; nothing where it passed nothing on.
    pub fn precision(&self, stage: usize) -> Option<f64> {
        share(self.true_passed(stage), self.true_passed(stage) + self.false_passed(stage))
    }

    /// Share of all looks with an event that came through a stage; nothing where there was none.
    pub fn recall(&self, stage: usize) -> Option<f64> {
        share(self.true_passed(stage), self.events)
    }

    /// Looks that the first stage passed on, an hour of looks at this rate.
    pub fn wakes_per_hour(&self, look_rate: Hertz) -> f64 {
        let wakes = self.true_passed(0) + self.false_passed(0);
        share(wakes, self.looks).unwrap_or(0.0) * look_rate.0 * SECONDS_AN_HOUR
    }
}

fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// What a stage does in the long run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ExpectedStage {
    /// How often it is asked.
    pub asked: Hertz,
    /// How often it passes on.
    pub passes: Hertz,
    /// Share of what it passes on that holds an event; nothing where it passes nothing on.
    pub precision: Option<f64>,
    /// Share of all looks with an event that come through it.
    pub recall: f64,
}

/// What a cascade does in the long run.
#[derive(Debug, Clone, PartialEq)]
pub struct Expected {
    /// By stage.
    pub stages: Vec<ExpectedStage>,
}

impl Expected {
    /// How often the first stage wakes what is behind it, an hour.
    pub fn wakes_per_hour(&self) -> f64 {
        self.stages.first().map_or(0.0, |stage| stage.passes.0 * SECONDS_AN_HOUR)
    }
}

impl Cascade {
    /// The cascade in closed form: with prevalence p and look rate r, stage s passes on
    /// r (p Π h + (1-p) Π f), products over the stages up to it, of which r p Π h hold an event. Nothing
    /// where the prevalence has no closed form.
    pub fn expected(&self) -> Option<Expected> {
        let prevalence = self.prevalence()?.0;
        let rate = self.look_rate();
        let (mut hits, mut alarms) = (1.0, 1.0);
        let stages = self.stages().iter().map(|stage| {
            let asked = prevalence * hits + (1.0 - prevalence) * alarms;
            hits *= stage.hit.0;
            alarms *= stage.false_alarm.0;
            let passes = prevalence * hits + (1.0 - prevalence) * alarms;
            ExpectedStage {
                asked: rate * asked,
                passes: rate * passes,
                precision: (passes > 0.0).then(|| prevalence * hits / passes),
                recall: hits,
            }
        });
        Some(Expected { stages: stages.collect() })
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Events, Stage};
    use super::*;
    use crate::units::{Ratio, Seconds};

    #[test]
    fn a_rare_event_makes_a_poor_precision_however_good_the_detector() {
        let stage =
            |hit, alarm| Stage { name: "a".into(), hit: Ratio(hit), false_alarm: Ratio(alarm) };
        let cascade = |p, stages| Cascade::new(Seconds(1.0), Events::Prevalence(Ratio(p)), stages);
        // Bayes by hand: 0.001 x 0.99 of 0.001 x 0.99 + 0.999 x 0.01.
        let rare = cascade(0.001, vec![stage(0.99, 0.01)]).unwrap().expected().unwrap();
        let precision = rare.stages[0].precision.unwrap();
        assert!((precision - 0.000_99 / 0.010_98).abs() < 1e-12, "{precision}");
        assert!((rare.wakes_per_hour() - 39.528).abs() < 1e-9, "{}", rare.wakes_per_hour());
        let never =
            cascade(0.0, vec![stage(0.99, 0.0), stage(1.0, 1.0)]).unwrap().expected().unwrap();
        assert_eq!((never.stages[0].precision, never.stages[1].asked), (None, Hertz(0.0)));
    }

    #[test]
    fn nothing_counted_is_no_share() {
        let stage = Stage { name: "a".into(), hit: Ratio(1.0), false_alarm: Ratio(0.0) };
        let cascade =
            Cascade::new(Seconds(1.0), Events::Prevalence(Ratio(0.5)), vec![stage]).unwrap();
        let tally = Tally::of(&cascade);
        assert_eq!((tally.precision(0), tally.recall(0), tally.recall(7)), (None, None, None));
        assert_eq!(tally.wakes_per_hour(Hertz(1.0)), 0.0);
    }
}
