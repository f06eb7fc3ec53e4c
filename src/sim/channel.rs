//! A memory port that active transfers share max-min fairly.
//!
//! A transfer asks for a rate: within a phase engine and transfers keep pace with the slowest of
//! them, so each asks for its bytes over the time of the phase. While the port can serve all, each
//! gets what it asks for. Otherwise small demands are served whole and the rest is split evenly
//! among the others (water filling). When a transfer joins or leaves, the others are advanced and
//! their ends move; the generation tells events of old ends from the current one.

use super::kernel::Generation;
use crate::units::{BytesPerSecond, Joules, Seconds, SimTime, TimeError, Watts};

#[derive(Debug, Clone)]
struct Active {
    /// Time left at the full demand.
    left: Seconds,
    demand: BytesPerSecond,
    /// Granted rate over demand, 0 to 1.
    speed: f64,
    energy: Joules,
    power: Watts,
    /// Its end at the present speed.
    end: SimTime,
}

/// One memory port.
#[derive(Debug, Clone)]
pub(super) struct Channel {
    rate: BytesPerSecond,
    active: Vec<Active>,
    since: SimTime,
    generation: Generation,
}

impl Channel {
    pub(super) fn new(rate: BytesPerSecond) -> Self {
        Self { rate, active: Vec::new(), since: SimTime::ZERO, generation: Generation::default() }
    }

    pub(super) fn generation(&self) -> Generation {
        self.generation
    }

    /// Power of all accesses under way.
    pub(super) fn power(&self) -> Watts {
        self.active.iter().map(|a| a.power).sum()
    }

    /// Adds a transfer at `now` that takes `time` when it gets the rate it asks for.
    pub(super) fn start(
        &mut self,
        now: SimTime,
        time: SimTime,
        demand: BytesPerSecond,
        energy: Joules,
    ) -> Result<(), TimeError> {
        self.advance(now);
        let left = time.seconds();
        let (speed, power) = (1.0, Watts::ZERO);
        self.active.push(Active { left, demand, speed, energy, power, end: now });
        self.share(now)
    }

    /// Takes out the transfers that end at `now`; returns how many.
    pub(super) fn finish(&mut self, now: SimTime) -> Result<usize, TimeError> {
        let before = self.active.len();
        self.advance(now);
        self.active.retain(|a| a.end > now);
        self.share(now)?;
        Ok(before - self.active.len())
    }

    /// The next end.
    pub(super) fn next_end(&self) -> Option<SimTime> {
        self.active.iter().map(|a| a.end).min()
    }

    fn advance(&mut self, now: SimTime) {
        let elapsed = now.since(self.since).seconds();
        for transfer in &mut self.active {
            transfer.left = transfer.left - elapsed * transfer.speed;
            transfer.energy = transfer.energy - transfer.power * elapsed;
        }
        self.since = now;
    }

    /// New speeds, ends and powers. What is left of the energy is spread over what is left of the
    /// time, so rounding to picoseconds loses none of it.
    fn share(&mut self, now: SimTime) -> Result<(), TimeError> {
        self.generation.renew();
        self.grant();
        for transfer in &mut self.active {
            let left = Seconds(transfer.left.0.max(0.0) / transfer.speed);
            let left = SimTime(SimTime::from_seconds(left)?.0.max(1));
            transfer.end = now.after(left)?;
            transfer.power = transfer.energy / left.seconds();
        }
        Ok(())
    }

    fn grant(&mut self) {
        let asked: f64 = self.active.iter().map(|a| a.demand.0).sum();
        // A phase that this very port bounds asks for the whole rate, up to rounding.
        if asked <= self.rate.0 * (1.0 + 1e-9) {
            self.active.iter_mut().for_each(|a| a.speed = 1.0);
            return;
        }
        let mut order: Vec<usize> = (0..self.active.len()).collect();
        order.sort_by(|a, b| self.active[*a].demand.0.total_cmp(&self.active[*b].demand.0));
        let mut free = self.rate.0;
        for (served, index) in order.iter().enumerate() {
            let fair = free / (order.len() - served) as f64;
            let transfer = &mut self.active[*index];
            let granted = transfer.demand.0.min(fair);
            transfer.speed = granted / transfer.demand.0;
            free -= granted;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transfer_alone_takes_its_time_to_the_picosecond() {
        let mut port = Channel::new(BytesPerSecond(1e9));
        port.start(SimTime(7), SimTime(333_333), BytesPerSecond(3e8), Joules(1e-6)).unwrap();
        assert_eq!(port.next_end(), Some(SimTime(333_340)));
    }

    #[test]
    fn an_overbooked_port_serves_small_demands_whole_and_splits_the_rest() {
        let mut port = Channel::new(BytesPerSecond(1e9));
        let rate = |gbps: f64| BytesPerSecond(gbps * 1e9);
        // Alone the first would take 1 us at the full rate.
        port.start(SimTime(0), SimTime(1_000_000), rate(1.0), Joules(1e-6)).unwrap();
        // At half time one joins that asks for a fifth of the port during 0.5 us, ...
        port.start(SimTime(500_000), SimTime(500_000), rate(0.2), Joules(1e-7)).unwrap();
        // ... so the first goes on at 0.8 and the small one is not slowed down.
        assert_eq!(port.next_end(), Some(SimTime(1_000_000)));
        let mut spent = 0.5e-6 + port.power().0 * 0.5e-6;
        assert_eq!(port.finish(SimTime(1_000_000)).unwrap(), 1);
        // 0.1 us of the first are left, at the full rate again.
        assert_eq!(port.next_end(), Some(SimTime(1_100_000)));
        spent += port.power().0 * 0.1e-6;
        assert_eq!(port.finish(SimTime(1_100_000)).unwrap(), 1);
        assert!((spent - 1.1e-6).abs() < 1e-18, "{spent}");
        assert_eq!(port.next_end(), None);
    }
}
