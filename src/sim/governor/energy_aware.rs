//! Energy-aware scheduling: a task is put where power rises least, and schedutil chooses the points.
//!
//! `P = sum_d P_d(s) sum_i u_i / c_d(s)`, `s` the lowest point with `c_d(s) >= 1.25 max_i u_i`
//!
//! Symbols: `u_i` \[1\] utilisation of unit `i` of domain `d`; `P_d(s)` \[W\] power and `c_d(s)` \[1\]
//! capacity of one unit at point `s`; the mean power is the energy of a second. With capacity in proportion
//! to frequency it is the energy model of Linux, `cost(s) sum_i u_i / c_max` with
//! `cost(s) = P(s) f_max / f(s)` (`include/linux/energy_model.h`). In each domain the unit with most capacity
//! to spare is looked at. Where no unit has room for the task with a quarter to spare there is no placement:
//! the system is in full use, and spreading comes before saving. Neglected: power of idle units, what moving
//! a task costs.

use super::Schedutil;
use crate::physics::opp_table::OppTable;
use crate::units::{Ratio, Watts};

/// Energy-aware scheduling over schedutil.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EnergyAware {
    schedutil: Schedutil,
}

/// Units that share their operating point.
#[derive(Debug, Clone, Copy)]
pub struct PerformanceDomain<'a> {
    /// Their points, with the power of one unit.
    pub table: &'a OppTable,
    /// Utilisation of each \[1\].
    pub units: &'a [Ratio],
    /// The highest point that heat and rails allow.
    pub highest: usize,
}

/// Where a task is put.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Placement {
    /// The domain.
    pub domain: usize,
    /// The unit in it.
    pub unit: usize,
    /// What mean power rises by \[W\].
    pub rise: Watts,
}

/// Mean power of a domain above idle, at the point that its busiest unit asks for.
pub fn domain_power(domain: &PerformanceDomain<'_>, headroom: Ratio) -> Watts {
    let busiest = domain.units.iter().fold(0.0f64, |most, unit| most.max(unit.0));
    let sum: f64 = domain.units.iter().map(|unit| unit.0).sum();
    power(domain, busiest, sum, headroom)
}

fn power(domain: &PerformanceDomain<'_>, busiest: f64, sum: f64, headroom: Ratio) -> Watts {
    let asked = domain.table.at_least_capacity(Ratio(busiest * headroom.0));
    let point = domain.table.at(asked.min(domain.highest));
    point.power * (sum / point.capacity.0)
}

impl EnergyAware {
    /// Over a schedutil, whose headroom also decides what fits.
    pub fn new(schedutil: Schedutil) -> Self {
        Self { schedutil }
    }

    /// What chooses the points.
    pub fn frequency(&self) -> &Schedutil {
        &self.schedutil
    }

    /// Where a task of this utilisation raises power least. `domains` are those without the task;
    /// `before` is where it ran last, by domain and unit: of equals it stays there. Nothing where it fits
    /// nowhere.
    pub fn place(
        &self,
        task: Ratio,
        domains: &[PerformanceDomain<'_>],
        before: Option<(usize, usize)>,
    ) -> Option<Placement> {
        let mut best = before.and_then(|(domain, unit)| self.at(task, domains, domain, unit));
        for (index, domain) in domains.iter().enumerate() {
            let idlest = domain.units.iter().enumerate().min_by(|a, b| a.1.0.total_cmp(&b.1.0));
            let Some((unit, _)) = idlest else { continue };
            let Some(found) = self.at(task, domains, index, unit) else { continue };
            if best.is_none_or(|best| found.rise < best.rise) {
                best = Some(found);
            }
        }
        best
    }

    /// The task at a unit, where it fits.
    fn at(
        &self,
        task: Ratio,
        domains: &[PerformanceDomain<'_>],
        index: usize,
        unit: usize,
    ) -> Option<Placement> {
        let (domain, headroom) = (domains.get(index)?, self.schedutil.headroom());
        let with = domain.units.get(unit)?.0 + task.0;
        let allowed = domain.table.at(domain.highest.min(domain.table.fastest()));
        if with * headroom.0 > allowed.capacity.0 {
            return None;
        }
        let others = domain.units.iter().enumerate().filter(|(place, _)| *place != unit);
        let busiest = others.fold(with, |most, (_, other)| most.max(other.0));
        let sum = domain.units.iter().map(|unit| unit.0).sum::<f64>() + task.0;
        let rise = power(domain, busiest, sum, headroom) - domain_power(domain, headroom);
        Some(Placement { domain: index, unit, rise })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::physics::opp_table::tables::{big, little};
    use crate::units::Seconds;
    use proptest::prelude::*;

    fn aware() -> EnergyAware {
        EnergyAware::new(Schedutil::new(Seconds(1e-3), Seconds::ZERO).unwrap())
    }

    fn domain<'a>(table: &'a OppTable, units: &'a [Ratio]) -> PerformanceDomain<'a> {
        PerformanceDomain { table, units, highest: usize::MAX }
    }

    /// RK3588, all idle. A task of 0.1: a little core at 1008 MHz (capacity 0.217) draws 104.7 mW x 0.1 /
    /// 0.217 = 48.1 mW, a big one at 1200 MHz (0.5) 227.4 mW x 0.1 / 0.5 = 45.5 mW.
    #[test]
    fn where_a_cycle_costs_less_decides_and_not_the_size_of_the_core() {
        let (little, big) = (little(), big());
        let idle = [Ratio(0.0); 4];
        let domains = [domain(&little, &idle), domain(&big, &idle)];
        let placed = aware().place(Ratio(0.1), &domains, None).unwrap();
        assert_eq!(placed.domain, 1);
        let expected = 416e-6 * 1200.0 * 0.675 * 0.675 * 0.1 / 0.5;
        assert!((placed.rise.0 - expected).abs() < 1e-12);
        // Once the big cores run at 2400 MHz for another task, the little ones are cheaper.
        let busy = [Ratio(0.75), Ratio(0.0), Ratio(0.0), Ratio(0.0)];
        let domains = [domain(&little, &idle), domain(&big, &busy)];
        let placed = aware().place(Ratio(0.1), &domains, None).unwrap();
        assert_eq!((placed.domain, placed.unit), (0, 0));
        let slow = 228e-6 * 1008.0 * 0.675 * 0.675 * 0.1 / little.at(0).capacity.0;
        assert!((placed.rise.0 - slow).abs() < 1e-12);
    }

    /// A task that drives a whole cluster to a higher voltage raises what its other tasks cost.
    #[test]
    fn what_others_in_the_domain_come_to_cost_counts() {
        let (little, big) = (little(), big());
        // Little cores at 0.16 each ask for 1008 MHz; with 0.2 more for 1800 MHz, all four of them.
        let at_work = [Ratio(0.16), Ratio(0.1), Ratio(0.1), Ratio(0.1)];
        let idle = [Ratio(0.0)];
        let domains = [domain(&little, &at_work), domain(&big, &idle)];
        let placed = aware().place(Ratio(0.2), &domains, None).unwrap();
        assert_eq!(placed.domain, 1);
        let stays = aware().place(Ratio(0.2), &domains[..1], None).unwrap();
        let fast = little.at(4);
        let before = little.at(0);
        let expected =
            fast.power * (0.66 / fast.capacity.0) - before.power * (0.46 / before.capacity.0);
        assert!((stays.rise - expected).0.abs() < 1e-12 && stays.rise > placed.rise);
    }

    #[test]
    fn a_task_stays_among_equals_and_goes_nowhere_it_does_not_fit() {
        let big = big();
        let idle = [Ratio(0.0); 4];
        let domains = [domain(&big, &idle)];
        let place = |task, before| aware().place(Ratio(task), &domains, before);
        assert_eq!(place(0.1, Some((0, 2))).unwrap().unit, 2);
        assert_eq!(place(0.1, None).unwrap().unit, 0);
        assert!(place(0.8, None).is_some() && place(0.801, None).is_none());
        let capped = [PerformanceDomain { highest: 0, ..domains[0] }];
        assert!(aware().place(Ratio(0.41), &capped, None).is_none());
        assert!(aware().place(Ratio(0.1), &[], Some((3, 1))).is_none());
    }

    proptest! {
        /// With room for it in several places, no other costs less, as summed anew over all domains.
        #[test]
        fn no_other_place_raises_power_less(
            one in prop::collection::vec(0.0f64..0.3, 4),
            other in prop::collection::vec(0.0f64..0.8, 4),
            task in 0.01f64..0.4,
        ) {
            let (little, big) = (little(), big());
            let ratios = |units: &[f64]| units.iter().map(|unit| Ratio(*unit)).collect::<Vec<_>>();
            let all = [ratios(&one), ratios(&other)];
            let total = |all: &[Vec<Ratio>; 2]| {
                let headroom = Schedutil::HEADROOM;
                domain_power(&domain(&little, &all[0]), headroom)
                    + domain_power(&domain(&big, &all[1]), headroom)
            };
            let domains = [domain(&little, &all[0]), domain(&big, &all[1])];
            let placed = aware().place(Ratio(task), &domains, None);
            for index in 0..2 {
                let idlest = (0..4).min_by(|a, b| all[index][*a].0.total_cmp(&all[index][*b].0)).unwrap();
                let mut with = all.clone();
                with[index][idlest].0 += task;
                let most = domains[index].table.at(9).capacity.0;
                if with[index][idlest].0 * 1.25 > most { continue; }
                let rise = total(&with) - total(&all);
                prop_assert!(placed.unwrap().rise.0 <= rise.0 + 1e-12);
                if placed.unwrap().domain == index {
                    prop_assert!((placed.unwrap().rise - rise).0.abs() < 1e-12);
                }
            }
        }
    }
}
