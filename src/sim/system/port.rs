//! A memory port that active transfers share max-min fairly.
//!
//! Each transfer asks for a rate. While the port can serve all, each gets what it asks for. Otherwise
//! small demands are served whole and the rest is split evenly among the others (water filling; D.
//! Bertsekas and R. Gallager, Data Networks, 2nd edition, section 6.5.2). When a transfer joins or
//! leaves a port that is overbooked, the others are advanced and their ends move.

use crate::units::{BytesPerSecond, Joules, Seconds, SimTime, TimeError, Watts};
use serde::{Deserialize, Serialize};

/// Whose transfer it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Owner {
    pub(super) job: usize,
    /// The transfer, by its place in the job's segment.
    pub(super) part: usize,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Active {
    owner: Owner,
    demand: BytesPerSecond,
    /// Time left at the full demand, as of `since`.
    left: Seconds,
    /// Granted rate over demand, above 0 and at most 1.
    speed: f64,
    /// Energy left as of `since`.
    energy: Joules,
    power: Watts,
    since: SimTime,
}

/// One memory port.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Port {
    rate: BytesPerSecond,
    active: Vec<Active>,
    overbooked: bool,
    /// Time that it was overbooked for.
    pub(super) contended: SimTime,
    overbooked_since: SimTime,
}

/// A demand of the whole rate that was rounded is no more than that.
const ROUNDED: f64 = 1.0 + 1e-9;

impl Port {
    pub(super) fn new(rate: BytesPerSecond) -> Self {
        Self {
            rate,
            active: Vec::new(),
            overbooked: false,
            contended: SimTime::ZERO,
            overbooked_since: SimTime::ZERO,
        }
    }

    /// Power of all accesses under way.
    pub(super) fn power(&self) -> Watts {
        self.active.iter().map(|own| own.power).sum()
    }

    /// Adds a transfer at `now` that takes `time` when it gets the rate it asks for; `end` is told of
    /// its end, and of those of others that move.
    pub(super) fn start(
        &mut self,
        now: SimTime,
        owner: Owner,
        (time, demand, energy): (SimTime, BytesPerSecond, Joules),
        mut end: impl FnMut(Owner, SimTime),
    ) -> Result<(), TimeError> {
        let left = time.seconds();
        let (speed, power) = (1.0, energy / left);
        self.active.push(Active { owner, demand, left, speed, energy, power, since: now });
        if self.overbooked || self.asked() > self.rate.0 * ROUNDED {
            return self.share(now, end);
        }
        end(owner, now.after(time)?);
        Ok(())
    }

    /// Takes out a transfer that is done.
    pub(super) fn finish(
        &mut self,
        now: SimTime,
        owner: Owner,
        end: impl FnMut(Owner, SimTime),
    ) -> Result<(), TimeError> {
        if let Some(place) = self.active.iter().position(|own| own.owner == owner) {
            self.active.swap_remove(place);
        }
        if self.overbooked { self.share(now, end) } else { Ok(()) }
    }

    /// Energy that a transfer has yet to take at `now`.
    pub(super) fn energy_left(&self, now: SimTime, owner: Owner) -> Joules {
        let own = self.active.iter().find(|own| own.owner == owner);
        own.map_or(Joules::ZERO, |own| own.energy - own.power * now.since(own.since).seconds())
    }

    /// The time that it was overbooked until `now`.
    pub(super) fn contended_until(&self, now: SimTime) -> SimTime {
        let since = if self.overbooked { now.since(self.overbooked_since) } else { SimTime::ZERO };
        SimTime(self.contended.0.saturating_add(since.0))
    }

    /// Time that a transfer has yet to take at `now` at the rate that it asks for.
    pub(super) fn time_left(&self, now: SimTime, owner: Owner) -> Seconds {
        let own = self.active.iter().find(|own| own.owner == owner);
        own.map_or(Seconds::ZERO, |own| own.left - now.since(own.since).seconds() * own.speed)
    }

    /// Takes out all transfers of jobs, which are those below a number.
    pub(super) fn clear_jobs(&mut self, now: SimTime, jobs: usize) {
        for own in &mut self.active {
            let elapsed = now.since(own.since).seconds();
            own.left = own.left - elapsed * own.speed;
            own.energy = own.energy - own.power * elapsed;
            own.since = now;
        }
        self.active.retain(|own| own.owner.job >= jobs);
        if self.overbooked {
            let lasted = now.since(self.overbooked_since);
            self.contended = SimTime(self.contended.0.saturating_add(lasted.0));
            self.overbooked = false;
        }
    }

    /// The port gives another rate from now on; what a transfer asks for stays.
    pub(super) fn set_rate(
        &mut self,
        now: SimTime,
        rate: BytesPerSecond,
        end: impl FnMut(Owner, SimTime),
    ) -> Result<(), TimeError> {
        self.rate = rate;
        self.share(now, end)
    }

    fn asked(&self) -> f64 {
        self.active.iter().map(|own| own.demand.0).sum()
    }

    /// New speeds, ends and powers. What is left of the energy is spread over what is left of the
    /// time, so rounding to picoseconds loses none of it.
    fn share(
        &mut self,
        now: SimTime,
        mut end: impl FnMut(Owner, SimTime),
    ) -> Result<(), TimeError> {
        for own in &mut self.active {
            let elapsed = now.since(own.since).seconds();
            own.left = own.left - elapsed * own.speed;
            own.energy = own.energy - own.power * elapsed;
            own.since = now;
        }
        self.grant(now);
        for own in &mut self.active {
            let left = SimTime::from_seconds(Seconds(own.left.0.max(0.0) / own.speed))?;
            let left = left.max(SimTime(1));
            own.power = own.energy / left.seconds();
            end(own.owner, now.after(left)?);
        }
        Ok(())
    }

    fn grant(&mut self, now: SimTime) {
        let overbooked = self.asked() > self.rate.0 * ROUNDED;
        let was = std::mem::replace(&mut self.overbooked, overbooked);
        match (was, self.overbooked) {
            (false, true) => self.overbooked_since = now,
            (true, false) => {
                let lasted = now.since(self.overbooked_since);
                self.contended = SimTime(self.contended.0.saturating_add(lasted.0));
            }
            _ => {}
        }
        if !self.overbooked {
            self.active.iter_mut().for_each(|own| own.speed = 1.0);
            return;
        }
        // Few share a port: the smallest demand that was not served is found anew each time, and no
        // list of them is kept.
        let mut free = self.rate.0;
        let mut served = 0;
        self.active.iter_mut().for_each(|own| own.speed = 0.0);
        while served < self.active.len() {
            let fair = free / (self.active.len() - served) as f64;
            let waiting = self.active.iter_mut().filter(|own| own.speed == 0.0);
            let Some(least) = waiting.min_by(|a, b| a.demand.0.total_cmp(&b.demand.0)) else {
                break;
            };
            let granted = least.demand.0.min(fair);
            // Demands are above zero: what moves nothing is no transfer.
            least.speed = (granted / least.demand.0).max(f64::MIN_POSITIVE);
            free -= granted;
            served += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    const fn owner(job: usize) -> Owner {
        Owner { job, part: 0 }
    }

    fn asking(gbps: f64, us: f64, uj: f64) -> (SimTime, BytesPerSecond, Joules) {
        let time = SimTime((us * 1e6) as u64);
        (time, BytesPerSecond(gbps * 1e9), Joules(uj * 1e-6))
    }

    #[test]
    fn a_transfer_alone_takes_its_time_to_the_picosecond() {
        let mut port = Port::new(BytesPerSecond(1e9));
        let mut ends = Vec::new();
        let asked = (SimTime(333_333), BytesPerSecond(3e8), Joules(1e-6));
        port.start(SimTime(7), owner(0), asked, |_, end| ends.push(end)).unwrap();
        assert_eq!(ends, [SimTime(333_340)]);
        assert_eq!(port.contended_until(SimTime(333_340)), SimTime::ZERO);
    }

    #[test]
    fn an_overbooked_port_serves_small_demands_whole_and_splits_the_rest() {
        let mut port = Port::new(BytesPerSecond(1e9));
        let mut ends = BTreeMap::new();
        // Alone the first would take 1 us at the full rate.
        port.start(SimTime(0), owner(0), asking(1.0, 1.0, 1.0), |own, end| {
            ends.insert(own.job, end);
        })
        .unwrap();
        assert_eq!(ends[&0], SimTime(1_000_000));
        // At half time one joins that asks for a fifth of the port during 0.5 us, ...
        port.start(SimTime(500_000), owner(1), asking(0.2, 0.5, 0.1), |own, end| {
            ends.insert(own.job, end);
        })
        .unwrap();
        // ... so the first goes on at 0.8 and the small one is not slowed down.
        assert_eq!((ends[&0], ends[&1]), (SimTime(1_125_000), SimTime(1_000_000)));
        let mut spent = 0.5e-6 + port.power().0 * 0.5e-6;
        port.finish(SimTime(1_000_000), owner(1), |own, end| {
            ends.insert(own.job, end);
        })
        .unwrap();
        // 0.1 us of the first are left, at the full rate again.
        assert_eq!(ends[&0], SimTime(1_100_000));
        let left = port.energy_left(SimTime(1_050_000), owner(0));
        assert!((left.0 - port.power().0 * 0.05e-6).abs() < 1e-18);
        spent += port.power().0 * 0.1e-6;
        assert!((spent - 1.1e-6).abs() < 1e-18, "{spent}");
        assert_eq!(port.contended_until(SimTime(2_000_000)), SimTime(500_000));
    }

    #[test]
    fn three_that_ask_for_all_get_a_third_each() {
        let mut port = Port::new(BytesPerSecond(3e9));
        let mut ends = BTreeMap::new();
        for job in 0..3 {
            port.start(SimTime(0), owner(job), asking(3.0, 1.0, 1.0), |own, end| {
                ends.insert(own.job, end);
            })
            .unwrap();
        }
        assert!(ends.values().all(|end| *end == SimTime(3_000_000)), "{ends:?}");
    }
}
