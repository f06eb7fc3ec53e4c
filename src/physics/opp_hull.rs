//! Race or pace: the least energy in which an amount of work can be done in a given time.
//!
//! `E(W, T) = T P_hull(W / T)`, `P_hull` the lower convex hull of `(0, P_idle)` and the points `(f_k, P_k)`
//!
//! Symbols: `W` \[cycle\] work, `T` \[s\] the time it may take, `P_k` \[W\] power at full load at
//! frequency `f_k`, `P_idle` \[W\] power while nothing is to be done; both of all that stays awake for it.
//! Any schedule is a mixture of points, its mean rate and mean power lie in their convex hull, so the
//! cheapest of a mean rate lies on its lower edge and mixes the two neighbours there (T. Ishihara and
//! H. Yasuura, "Voltage scheduling problem for dynamically variable voltage processors", ISLPED 1998).
//! Below the first vertex, the point of least `(P - P_idle) / f`, it is best to run there and then idle.
//! Where the voltage stands still, power is linear in frequency: slower then saves nothing but idle power.
//! Points on a straight edge stay in the hull. Neglected: what it costs to change the point or to rest
//! (`opp_schedule` counts it), and work that does not go with the clock.

use super::law_error::{LawError, not_negative, positive};
use super::opp_table::OppTable;
use crate::units::{Cycles, Hertz, Joules, JoulesPerCycle, Seconds, Watts};

/// Points this much above an edge, as a share of their power, count as on it.
const ON_EDGE: f64 = 1e-12;

/// A point of the hull.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HullPoint {
    /// Its place in the table; none is idling.
    pub point: Option<usize>,
    /// Rate of work \[Hz\].
    pub frequency: Hertz,
    /// Power \[W\].
    pub power: Watts,
}

/// The lower convex hull of power over frequency, idling first.
#[derive(Debug, Clone, PartialEq)]
pub struct OppHull {
    hull: Vec<HullPoint>,
    /// All points, in their order.
    all: Vec<HullPoint>,
}

/// Part of a schedule.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stretch {
    /// The point, none for idling.
    pub point: Option<usize>,
    /// How long \[s\].
    pub time: Seconds,
}

/// Work done in a given time at two points.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pace {
    /// At the faster of both; it comes first, so that what is left can never come to need more than there
    /// is.
    pub fast: Stretch,
    /// At the slower.
    pub slow: Stretch,
    /// Energy of both \[J\].
    pub energy: Joules,
}

impl OppHull {
    /// The hull of points (frequency, power at full load) that rise in frequency, and of idling.
    ///
    /// # Errors
    ///
    /// No point, frequencies that do not rise, a power below that of idling or not finite.
    pub fn new(idle: Watts, points: &[(Hertz, Watts)]) -> Result<Self, LawError> {
        if points.is_empty() {
            return Err(LawError::Empty("operating point"));
        }
        not_negative("idle power", 1, idle.0)?;
        let mut all: Vec<HullPoint> = Vec::with_capacity(points.len());
        for (index, (frequency, power)) in points.iter().copied().enumerate() {
            let entry = index + 1;
            positive("frequency", entry, frequency.0)?;
            if !(power.0.is_finite() && power >= idle) {
                let range = "finite and not below idle power";
                return Err(LawError::OutOfRange { what: "power", entry, value: power.0, range });
            }
            if all.last().is_some_and(|before| before.frequency >= frequency) {
                return Err(LawError::NotRising { what: "frequency", entry });
            }
            all.push(HullPoint { point: Some(index), frequency, power });
        }
        let mut hull = vec![HullPoint { point: None, frequency: Hertz::ZERO, power: idle }];
        for point in &all {
            while let [.., before, last] = hull.as_slice() {
                if !above(*last, *before, *point) {
                    break;
                }
                hull.pop();
            }
            hull.push(*point);
        }
        Ok(Self { hull, all })
    }

    /// The hull of a table, of one unit that draws `idle` while nothing is to be done.
    ///
    /// # Errors
    ///
    /// As [`Self::new`].
    pub fn of(table: &OppTable, idle: Watts) -> Result<Self, LawError> {
        let points = table.points().iter().map(|point| (point.frequency, idle + point.power));
        Self::new(idle, &points.collect::<Vec<_>>())
    }

    /// Its points, idling first.
    pub fn points(&self) -> &[HullPoint] {
        &self.hull
    }

    /// The fastest frequency.
    pub fn fastest(&self) -> Hertz {
        self.all.last().map_or(Hertz::ZERO, |point| point.frequency)
    }

    /// The point of least energy per cycle above idle power, and that energy; of equals the slowest.
    pub fn least_energy_per_cycle(&self) -> (usize, JoulesPerCycle) {
        let idle = self.hull.first().map_or(Watts::ZERO, |point| point.power);
        let each = self.all.iter().enumerate();
        each.map(|(index, point)| (index, (point.power - idle) / point.frequency)).fold(
            (0, JoulesPerCycle(f64::INFINITY)),
            |best, next| {
                if next.1.0 < best.1.0 * (1.0 - ON_EDGE) { next } else { best }
            },
        )
    }

    /// Power at a mean rate of work, mixed at best; nothing where the rate is beyond the fastest point.
    pub fn power(&self, rate: Hertz) -> Option<Watts> {
        let (slow, fast) = self.neighbours(rate)?;
        let share = (rate - slow.frequency) / (fast.frequency - slow.frequency);
        Some(slow.power + (fast.power - slow.power) * share)
    }

    /// The best schedule of `work` in `time`.
    ///
    /// # Errors
    ///
    /// Work below zero, a time that is not above zero, more than the fastest point gets done.
    pub fn pace(&self, work: Cycles, time: Seconds) -> Result<Pace, LawError> {
        not_negative("work", 1, work.0)?;
        positive("time for the work", 1, time.0)?;
        let rate = work / time;
        let beyond =
            LawError::Beyond { what: "rate of work (Hz)", value: rate.0, limit: self.fastest().0 };
        let (slow, fast) = self.neighbours(rate).ok_or(beyond)?;
        let share = (rate - slow.frequency) / (fast.frequency - slow.frequency);
        let busy = time * share;
        let rest = time - busy;
        let energy = fast.power * busy + slow.power * rest;
        let stretch = |at: HullPoint, time| Stretch { point: at.point, time };
        Ok(Pace { fast: stretch(fast, busy), slow: stretch(slow, rest), energy })
    }

    /// Energy of `work` in `time` at one point of the table, and idling afterwards.
    ///
    /// # Errors
    ///
    /// No such point, more work than it gets done.
    pub fn run_then_idle(
        &self,
        point: usize,
        work: Cycles,
        time: Seconds,
    ) -> Result<Joules, LawError> {
        not_negative("work", 1, work.0)?;
        positive("time for the work", 1, time.0)?;
        let beyond = |limit: Hertz| {
            let (what, value) = ("rate of work (Hz)", (work / time).0);
            LawError::Beyond { what, value, limit: limit.0 }
        };
        let at = self.all.get(point).ok_or_else(|| beyond(Hertz::ZERO))?;
        let idle = self.hull.first().map_or(Watts::ZERO, |point| point.power);
        let busy = work / at.frequency;
        if busy.0 > time.0 * (1.0 + ON_EDGE) {
            return Err(beyond(at.frequency));
        }
        Ok(at.power * busy + idle * (time - busy).max(Seconds::ZERO))
    }

    /// Energy of racing: at the fastest point, and idling afterwards.
    ///
    /// # Errors
    ///
    /// As [`Self::run_then_idle`].
    pub fn race(&self, work: Cycles, time: Seconds) -> Result<Joules, LawError> {
        self.run_then_idle(self.all.len().saturating_sub(1), work, time)
    }

    /// The hull's points next to a rate, the slower first. A rate at a vertex lies at the upper end of the
    /// edge below it, and one beyond the fastest by no more than rounding counts as it.
    #[inline]
    fn neighbours(&self, rate: Hertz) -> Option<(HullPoint, HullPoint)> {
        if rate.0.is_nan() || rate.0 > self.fastest().0 * (1.0 + ON_EDGE) {
            return None;
        }
        let above = self.hull.partition_point(|point| point.frequency < rate);
        let upper = above.clamp(1, self.hull.len().saturating_sub(1));
        Some((*self.hull.get(upper - 1)?, *self.hull.get(upper)?))
    }
}

/// Whether `point` lies above the straight line between its neighbours.
fn above(point: HullPoint, before: HullPoint, after: HullPoint) -> bool {
    let share = (point.frequency - before.frequency) / (after.frequency - before.frequency);
    let line = before.power + (after.power - before.power) * share;
    point.power.0 > line.0 + ON_EDGE * point.power.0
}

#[cfg(test)]
mod tests {
    use super::super::opp_table::tables::big;
    use super::*;
    use proptest::prelude::*;

    fn hull(idle: f64, points: &[(f64, f64)]) -> OppHull {
        let points: Vec<_> = points.iter().map(|(f, p)| (Hertz(*f), Watts(*p))).collect();
        OppHull::new(Watts(idle), &points).unwrap()
    }

    fn corners(hull: &OppHull) -> Vec<Option<usize>> {
        hull.points().iter().map(|point| point.point).collect()
    }

    /// Idle at 1 W; 3 W at 1, 6 W at 2, 7 W at 3, 12 W at 4: the second lies above the line from 1 to 3.
    #[test]
    fn a_point_above_the_line_between_others_is_no_part_of_a_pace() {
        let hull = hull(1.0, &[(1.0, 3.0), (2.0, 6.0), (3.0, 7.0), (4.0, 12.0)]);
        assert_eq!(corners(&hull), [None, Some(0), Some(2), Some(3)]);
        let pace = hull.pace(Cycles(20.0), Seconds(10.0)).unwrap();
        assert_eq!((pace.slow.point, pace.fast.point), (Some(0), Some(2)));
        assert_eq!((pace.slow.time, pace.fast.time), (Seconds(5.0), Seconds(5.0)));
        assert_eq!(pace.energy, Joules(50.0));
        // All at the second costs 60 J, racing at the last 5 s x 12 W + 5 s x 1 W.
        assert_eq!(hull.run_then_idle(1, Cycles(20.0), Seconds(10.0)), Ok(Joules(60.0)));
        assert_eq!(hull.race(Cycles(20.0), Seconds(10.0)), Ok(Joules(65.0)));
    }

    #[test]
    fn below_the_first_vertex_it_runs_there_and_idles() {
        let hull = hull(1.0, &[(1.0, 4.0), (2.0, 5.0), (3.0, 9.0)]);
        // (4 - 1)/1, (5 - 1)/2, (9 - 1)/3.
        assert_eq!(hull.least_energy_per_cycle(), (1, JoulesPerCycle(2.0)));
        let pace = hull.pace(Cycles(4.0), Seconds(8.0)).unwrap();
        assert_eq!((pace.slow.point, pace.fast.point), (None, Some(1)));
        assert_eq!((pace.fast.time, pace.energy), (Seconds(2.0), Joules(16.0)));
    }

    /// Racing at the fastest point is best only where all that stays awake draws much.
    #[test]
    fn racing_pays_only_beside_a_large_idle_power() {
        let race_is_best = |awake: f64| {
            // Resting draws nothing, and running keeps the rest of the system awake.
            let points: Vec<_> =
                big().points().iter().map(|p| (p.frequency, p.power + Watts(awake))).collect();
            OppHull::new(Watts::ZERO, &points).unwrap().least_energy_per_cycle().0 == 6
        };
        // Against 1608 MHz at 0.7625 V: (0.9984 + a) / 2400 = (0.3889 + a) / 1608 at a = 0.848 W.
        assert!(!race_is_best(0.1) && !race_is_best(0.84) && race_is_best(0.86));
    }

    /// Amlogic S922X: one voltage from 100 to 1200 MHz. With leakage that idling avoids, the end of the
    /// plateau is the first vertex; without, every point of it costs the same per cycle and stays.
    #[test]
    fn on_a_plateau_of_voltage_slower_saves_nothing() {
        let mhz = [100.0, 250.0, 500.0, 667.0, 1000.0, 1200.0, 1398.0];
        let volts = [0.731, 0.731, 0.731, 0.731, 0.731, 0.731, 0.761];
        let points = |leakage: f64| -> Vec<(f64, f64)> {
            let power = |(f, v): (&f64, &f64)| (f * 1e6, leakage + 150e-6 * f * v * v);
            mhz.iter().zip(&volts).map(power).collect()
        };
        let gated = hull(0.0, &points(0.01));
        assert_eq!(corners(&gated), [None, Some(5), Some(6)]);
        assert_eq!(gated.least_energy_per_cycle().0, 5);
        let leaking = hull(0.01, &points(0.01));
        assert_eq!(corners(&leaking).len(), 8);
        assert_eq!(leaking.least_energy_per_cycle().0, 0);
        let work = Cycles(400e6);
        let pace = leaking.pace(work, Seconds(1.0)).unwrap();
        let race = leaking.run_then_idle(5, work, Seconds(1.0)).unwrap();
        assert!((pace.energy / race - 1.0).abs() < 1e-12);
    }

    #[test]
    fn more_than_the_fastest_point_gets_done_is_an_error() {
        let hull = hull(1.0, &[(1.0, 4.0), (2.0, 5.0)]);
        assert!(hull.pace(Cycles(2.0), Seconds(1.0)).is_ok());
        let refused = hull.pace(Cycles(2.1), Seconds(1.0)).unwrap_err();
        assert_eq!(refused, LawError::Beyond { what: "rate of work (Hz)", value: 2.1, limit: 2.0 });
        assert!(hull.run_then_idle(0, Cycles(1.1), Seconds(1.0)).is_err());
        assert!(hull.run_then_idle(2, Cycles(1.0), Seconds(1.0)).is_err());
        assert!(hull.pace(Cycles(1.0), Seconds(0.0)).is_err());
        assert!(hull.pace(Cycles(f64::NAN), Seconds(1.0)).is_err());
        let none = hull.pace(Cycles(0.0), Seconds(3.0)).unwrap();
        assert_eq!((none.slow.point, none.energy), (None, Joules(3.0)));
        assert_eq!(OppHull::new(Watts(1.0), &[]), Err(LawError::Empty("operating point")));
        let below = OppHull::new(Watts(1.0), &[(Hertz(1.0), Watts(0.9))]);
        assert!(matches!(below, Err(LawError::OutOfRange { .. })));
        let twice = OppHull::new(Watts(0.0), &[(Hertz(1.0), Watts(1.0)), (Hertz(1.0), Watts(2.0))]);
        assert_eq!(twice, Err(LawError::NotRising { what: "frequency", entry: 2 }));
    }

    proptest! {
        #[test]
        fn slopes_only_rise_and_no_pace_costs_more_than_any_other_way(
            idle in 0.0f64..1.0,
            steps in prop::collection::vec((0.05f64..1.0, 0.0f64..3.0), 1..9),
            load in 0.0f64..1.0,
            mixed in prop::collection::vec(0.0f64..1.0, 9),
        ) {
            let mut frequency = 0.0;
            let points: Vec<(f64, f64)> = steps.iter().map(|(df, dp)| {
                frequency += df;
                (frequency, idle + dp)
            }).collect();
            let hull = hull(idle, &points);
            let slopes: Vec<f64> = hull.points().windows(2).map(|pair| {
                (pair[1].power - pair[0].power) / (pair[1].frequency - pair[0].frequency)
            }.0).collect();
            for pair in slopes.windows(2) {
                prop_assert!(pair[1] >= pair[0] - 1e-9);
            }
            let time = Seconds(2.0);
            let work = hull.fastest() * time * load;
            let pace = hull.pace(work, time).unwrap();
            let done = pace.fast.point.map_or(0.0, |at| points[at].0 * pace.fast.time.0)
                + pace.slow.point.map_or(0.0, |at| points[at].0 * pace.slow.time.0);
            prop_assert!((done - work.0).abs() < 1e-12);
            prop_assert!((pace.fast.time + pace.slow.time - time).0.abs() < 1e-12);
            prop_assert!((hull.power(work / time).unwrap() * time - pace.energy).0.abs() < 1e-12);
            let best = pace.energy.0 * (1.0 - 1e-11);
            for at in 0..points.len() {
                if let Ok(energy) = hull.run_then_idle(at, work, time) {
                    prop_assert!(energy.0 >= best);
                }
            }
            // Any mixture of all points that gets as much done.
            let all: f64 = mixed.iter().take(points.len()).sum();
            let (rate, power) = points.iter().zip(&mixed).fold((0.0, 0.0), |sum, (point, weight)| {
                (sum.0 + point.0 * weight / all, sum.1 + point.1 * weight / all)
            });
            if all > 0.1 {
                prop_assert!(hull.power(Hertz(rate)).unwrap().0 <= power * (1.0 + 1e-11));
            }
        }
    }
}
