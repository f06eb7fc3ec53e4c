//! The pace of least energy for a job whose work and deadline are known.
//!
//! The work left and the time left give a mean rate; the lower convex hull of power over frequency says
//! which two points to mix for it (`physics::opp_hull`). The faster comes first: should work turn out longer,
//! less is missing. It is asked when jobs come and end, and when the faster stretch is over; it samples
//! nothing. A job without a deadline runs where a cycle costs the least. What cannot be done in time runs as
//! fast as it may.

use super::{GovernorState, JobLeft, Observed};
use crate::physics::LawError;
use crate::physics::opp_hull::OppHull;
use crate::physics::opp_table::OppTable;
use crate::units::{Seconds, Watts};

/// A rate this little below a point of the hull, as a share of it, is run at that point alone. A stretch
/// that short is not worth a change, and what remains of a pace after its first stretch, whose end is
/// rounded to a picosecond, needs none.
const AS_GOOD: f64 = 1e-6;

/// The pace of least energy.
#[derive(Debug, Clone, PartialEq)]
pub struct HullPace {
    hull: OppHull,
    /// The point of least energy per cycle.
    cheapest: usize,
}

impl HullPace {
    /// For a table whose powers are above `idle`, what is drawn while nothing is to be done.
    ///
    /// # Errors
    /// As [`OppHull::of`].
    pub fn new(table: &OppTable, idle: Watts) -> Result<Self, LawError> {
        let hull = OppHull::of(table, idle)?;
        let (cheapest, _) = hull.least_energy_per_cycle();
        Ok(Self { hull, cheapest })
    }

    /// The hull that it goes by.
    pub fn hull(&self) -> &OppHull {
        &self.hull
    }

    pub(super) fn decide(&self, state: &mut GovernorState, seen: &Observed) -> usize {
        state.next_stretch = None;
        match seen.job {
            Some(job) if job.work.0 > 0.0 => {
                let (point, then) = self.stretch(job);
                state.next_stretch = then;
                point
            }
            _ => 0,
        }
    }

    /// The point to run at, and for how long where another comes before the job ends.
    fn stretch(&self, job: JobLeft) -> (usize, Option<Seconds>) {
        let Some(time) = job.time else { return (self.cheapest, None) };
        let fastest = self.hull.points().last().and_then(|point| point.point).unwrap_or(0);
        let Ok(pace) = self.hull.pace(job.work, time) else { return (fastest, None) };
        let rate = job.work / time;
        // The first vertex that does the rate, or as good as does it.
        let near = self.hull.points().iter().find(|point| {
            point.frequency.0 >= rate.0 && point.frequency.0 * (1.0 - AS_GOOD) <= rate.0
                || point.frequency.0 < rate.0 && rate.0 <= point.frequency.0 * (1.0 + 1e-12)
        });
        if let Some(point) = near.and_then(|point| point.point) {
            return (point, None);
        }
        let fast = pace.fast.point.unwrap_or(0);
        // Idling needs no change of point: the job is over by then.
        let then = pace.slow.point.map(|_| pace.fast.time);
        (fast, then)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::physics::opp_table::tables::big;
    use crate::units::{Cycles, Joules, SimTime};

    /// A job as it is run: at what the governor says until it ends or wants to be asked again, with
    /// picoseconds that round up.
    fn run(pace: &HullPace, work: f64, deadline: f64) -> (Vec<(usize, f64)>, f64, Joules) {
        let (table, mut state) = (big(), GovernorState::default());
        let (mut left, mut now, mut current) = (work, 0.0, 0);
        let (mut ran, mut energy) = (Vec::new(), Joules::ZERO);
        let idle = pace.hull.points()[0].power;
        while left > 1e-3 {
            let job = JobLeft { work: Cycles(left), time: Some(Seconds(deadline - now)) };
            let seen = Observed::job(SimTime::ZERO, Some(job), current);
            current = pace.decide(&mut state, &seen);
            let point = table.at(current);
            let end = left / point.frequency.0;
            let until =
                state.next_stretch.map_or(end, |next| end.min((next.0 * 1e12).ceil() * 1e-12));
            left -= until * point.frequency.0;
            now += until;
            energy += (idle + point.power) * Seconds(until);
            ran.push((current, until));
            assert!(ran.len() < 5, "{ran:?}");
        }
        energy += idle * Seconds((deadline - now).max(0.0));
        (ran, now, energy)
    }

    #[test]
    fn a_job_takes_the_energy_of_the_hull_and_keeps_its_deadline() {
        let pace = HullPace::new(&big(), Watts(0.05)).unwrap();
        for (work, deadline) in
            [(20e6, 0.010), (15e6, 0.010), (1.3e6, 0.001), (2.39e9, 1.0), (1e6, 0.1)]
        {
            let best = pace.hull.pace(Cycles(work), Seconds(deadline)).unwrap();
            let (ran, ended, energy) = run(&pace, work, deadline);
            assert!(ended <= deadline + 1e-12, "{ended} {deadline}");
            assert!((energy / best.energy - 1.0).abs() < 2e-6, "{ran:?} {energy} {}", best.energy);
            assert!(ran.len() <= 2 && ran[0].0 == best.fast.point.unwrap());
        }
    }

    #[test]
    fn a_rate_at_a_point_is_run_there_alone() {
        let pace = HullPace::new(&big(), Watts(0.0)).unwrap();
        let point = pace.hull.points()[2];
        let (ran, ..) = run(&pace, point.frequency.0 * 0.01, 0.01);
        assert_eq!(ran.iter().map(|stretch| stretch.0).collect::<Vec<_>>(), [point.point.unwrap()]);
    }

    #[test]
    fn what_has_no_deadline_runs_where_a_cycle_costs_least_and_what_is_late_at_full_speed() {
        let pace = HullPace::new(&big(), Watts(0.3)).unwrap();
        let (state, table) = (&mut GovernorState::default(), big());
        let mut asked = |work, time: Option<f64>| {
            let job = JobLeft { work: Cycles(work), time: time.map(Seconds) };
            pace.decide(state, &Observed::job(SimTime::ZERO, Some(job), 0))
        };
        assert_eq!(asked(1e9, None), pace.hull.least_energy_per_cycle().0);
        assert_eq!(asked(1e9, Some(0.1)), table.fastest());
        assert_eq!(asked(1e9, Some(-0.1)), table.fastest());
        assert_eq!(asked(1e9, Some(0.0)), table.fastest());
        assert_eq!(asked(0.0, Some(1.0)), 0);
    }
}
