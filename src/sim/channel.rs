//! A memory port that active transfers share fairly.
//!
//! Every transfer uses this one port only, so the max-min fair share of `n` is the rate over `n`.
//! When a transfer joins or leaves, the others are advanced and their ends move; the generation tells
//! events of old ends from the current one.

use crate::units::{BytesPerSecond, Joules, Seconds, SimTime, TimeError, Watts};

#[derive(Debug, Clone)]
struct Active {
    bytes: f64,
    energy: Joules,
    power: Watts,
    /// Its end at the present share.
    end: SimTime,
}

/// One memory port.
#[derive(Debug, Clone)]
pub(super) struct Channel {
    rate: BytesPerSecond,
    active: Vec<Active>,
    since: SimTime,
    generation: u64,
}

impl Channel {
    pub(super) fn new(rate: BytesPerSecond) -> Self {
        Self { rate, active: Vec::new(), since: SimTime::ZERO, generation: 0 }
    }

    pub(super) fn generation(&self) -> u64 {
        self.generation
    }

    /// Power of all accesses under way.
    pub(super) fn power(&self) -> Watts {
        self.active.iter().map(|a| a.power).sum()
    }

    /// Adds a transfer at `now`.
    pub(super) fn start(
        &mut self,
        now: SimTime,
        bytes: f64,
        energy: Joules,
    ) -> Result<(), TimeError> {
        self.advance(now);
        self.active.push(Active { bytes, energy, power: Watts::ZERO, end: now });
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
        let each = self.rate.0 / self.active.len().max(1) as f64;
        for transfer in &mut self.active {
            transfer.bytes -= each * elapsed.0;
            transfer.energy = transfer.energy - transfer.power * elapsed;
        }
        self.since = now;
    }

    /// New ends and powers at the present number of transfers. What is left of the energy is spread
    /// over what is left of the time, so rounding to picoseconds loses none of it.
    fn share(&mut self, now: SimTime) -> Result<(), TimeError> {
        self.generation += 1;
        let each = self.rate.0 / self.active.len().max(1) as f64;
        for transfer in &mut self.active {
            let left = SimTime::from_seconds(Seconds(transfer.bytes.max(0.0) / each))?;
            let left = SimTime(left.0.max(1));
            transfer.end = now.after(left)?;
            transfer.power = transfer.energy / left.seconds();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_transfers_share_the_port_and_spend_their_own_energy() {
        let mut port = Channel::new(BytesPerSecond(1e9));
        port.start(SimTime(0), 1000.0, Joules(1e-6)).unwrap();
        assert_eq!(port.next_end(), Some(SimTime(1_000_000)), "1000 B at 1 GB/s");
        // At half time a second one of 250 B joins: both get half the rate.
        port.start(SimTime(500_000), 250.0, Joules(1e-7)).unwrap();
        assert_eq!(port.next_end(), Some(SimTime(1_000_000)));
        let first_half = 0.5e-6;
        let mut spent = first_half + port.power().0 * 0.5e-6;
        assert_eq!(port.finish(SimTime(1_000_000)).unwrap(), 1);
        // 250 B of the first are left, at the full rate again.
        assert_eq!(port.next_end(), Some(SimTime(1_250_000)));
        spent += port.power().0 * 0.25e-6;
        assert_eq!(port.finish(SimTime(1_250_000)).unwrap(), 1);
        assert!((spent - 1.1e-6).abs() < 1e-18, "{spent}");
        assert_eq!(port.next_end(), None);
    }
}
