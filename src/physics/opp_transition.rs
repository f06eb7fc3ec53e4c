//! What it takes to go from one operating point to another.
//!
//! Voltage before frequency on the way up, frequency before voltage on the way down:
//!
//! `t_rail = |V2 - V1| / s + t_settle` a rail, then `t_relock`; `E = 1/2 C (V2^2 - V1^2) / eta` where a
//! rail rises, `-r 1/2 C (V1^2 - V2^2)` where it falls
//!
//! Symbols: `s` \[V/s\] slew rate of the regulator and `t_settle` \[s\] its settling; `t_relock` \[s\]
//! until the clock runs at its new frequency; `C` \[F\] output capacitance of the rail; `eta` \[1\]
//! efficiency of the regulator while it charges it; `r` \[1\] the share of what the capacitance gives up
//! that is used again: none by default, since most of it is burnt as the rail decays. A rail that rises
//! does so before the clock changes and one that falls does so afterwards, so at no moment a clock runs
//! faster than its voltage allows. Meanwhile work goes on at the lower of both frequencies, or halts
//! during the relock where the clock stops for it. Where only the latency of the whole is known
//! (`clock-latency-ns` of a device tree), it stands for waiting and relocking together. Coupled rails that
//! move in turn go in steps, each within the largest spread of the other. Neglected: what the domain draws
//! more while its rail stands above its need, which is the domain's own power at that voltage.

use super::law_error::{LawError, not_negative, positive};
use super::opp_table::{CoupledRails, OppPoint, OppTable};
use crate::units::{Farads, Hertz, Joules, Ratio, Seconds, Volts, VoltsPerSecond};

/// Most steps of coupled rails on their way.
const MOST_STEPS: usize = 10_000;

/// What a rail is like when its voltage is set anew.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RailSlew {
    /// Slew rate of its regulator \[V/s\]; infinite where it takes no time.
    pub slew: VoltsPerSecond,
    /// Time to settle after each step \[s\].
    pub settle: Seconds,
    /// Output capacitance \[F\].
    pub capacitance: Farads,
    /// Efficiency with which the capacitance is charged \[1\].
    pub efficiency: Ratio,
    /// Share of what the capacitance gives up that is used again \[1\].
    pub recovered: Ratio,
}

/// How the voltages of several rails are set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RailOrder {
    /// All at once, the slowest setting the pace of those that are coupled.
    Together,
    /// One after the other, as over a serial bus.
    InTurn,
}

/// How long a change takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ChangeTime {
    /// As the rails need it, and then the clock.
    Rails(RailOrder),
    /// Stated for the whole, whatever the points \[s\].
    Stated(Seconds),
}

/// How a domain changes its operating point.
#[derive(Debug, Clone, PartialEq)]
pub struct OppTransitions {
    rails: Vec<RailSlew>,
    coupled: Vec<CoupledRails>,
    time: ChangeTime,
    relock: Seconds,
    halts: bool,
}

/// Energy of one rail.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RailChange {
    /// Drawn at the input of the regulator; negative where some is used again \[J\].
    pub drawn: Joules,
    /// More in the capacitance than before \[J\].
    pub stored: Joules,
}

/// A change from one point to another.
#[derive(Debug, Clone, PartialEq)]
pub struct OppTransition {
    /// Until rails that rise stand at their new voltage; work goes on as before \[s\].
    pub rising: Seconds,
    /// Until the clock runs at the new frequency after that \[s\].
    pub relock: Seconds,
    /// True where nothing runs during the relock.
    pub halts: bool,
    /// Until rails that fall stand at their new voltage after that; work goes on at the new frequency \[s\].
    pub falling: Seconds,
    /// Energy of each rail.
    pub rails: Vec<RailChange>,
}

impl RailChange {
    /// What is burnt \[J\].
    pub fn lost(&self) -> Joules {
        self.drawn - self.stored
    }
}

impl OppTransition {
    /// From the request until the new frequency holds.
    pub fn until_new_frequency(&self) -> Seconds {
        self.rising + self.relock
    }

    /// Of that, the time in which nothing runs.
    pub fn halted(&self) -> Seconds {
        if self.halts { self.relock } else { Seconds::ZERO }
    }

    /// Of that, the time in which work goes on: at the old frequency while rails rise, which on the way up is the
    /// lower one, and at the lower of both during a relock that halts nothing.
    pub fn at_lower(&self) -> Seconds {
        self.until_new_frequency() - self.halted()
    }

    /// From the request until all voltages hold as well.
    pub fn settled(&self) -> Seconds {
        self.until_new_frequency() + self.falling
    }

    /// Drawn by all rails together.
    pub fn drawn(&self) -> Joules {
        self.rails.iter().map(|rail| rail.drawn).sum()
    }
}

impl OppTransitions {
    /// How a domain with these rails, in the order of its table, changes its point. `halts` where nothing
    /// runs while its clock relocks.
    ///
    /// # Errors
    ///
    /// A value out of range: slew rates are above zero, times and capacitances not below, efficiencies in
    /// (0, 1], what is recovered in \[0, 1\].
    pub fn new(
        rails: Vec<RailSlew>,
        time: ChangeTime,
        relock: Seconds,
        halts: bool,
    ) -> Result<Self, LawError> {
        for (index, rail) in rails.iter().enumerate() {
            rail.check(index + 1)?;
        }
        not_negative("relock time", 1, relock.0)?;
        if let ChangeTime::Stated(latency) = time {
            not_negative("transition latency", 1, latency.0)?;
        }
        Ok(Self { rails, coupled: Vec::new(), time, relock, halts })
    }

    /// The same with the coupled rails of a table, whose spread holds on the way too.
    pub fn coupled_as(mut self, table: &OppTable) -> Self {
        self.coupled = table.coupled().to_vec();
        self
    }

    /// The change from one point to another.
    ///
    /// # Errors
    ///
    /// Points with another number of rails; coupled rails that cannot move within their spread.
    pub fn between(&self, from: &OppPoint, to: &OppPoint) -> Result<OppTransition, LawError> {
        for (entry, point) in [from, to].into_iter().enumerate() {
            if point.voltages.len() != self.rails.len() {
                let (what, value) = ("number of voltages", point.voltages.len() as f64);
                let range = "the number of rails";
                return Err(LawError::OutOfRange { what, entry: entry + 1, value, range });
            }
        }
        let ways = || self.rails.iter().zip(from.voltages.iter().zip(&to.voltages));
        let rails = ways().map(|(rail, (old, new))| rail.change(*old, *new)).collect();
        let changes = from.frequency != to.frequency;
        let (rising, relock, falling) = match self.time {
            ChangeTime::Stated(latency) => self.stated(latency, from.frequency, to.frequency),
            ChangeTime::Rails(order) => {
                let relock = if changes { self.relock } else { Seconds::ZERO };
                let mut now = from.voltages.clone();
                let up = now.iter().zip(&to.voltages).map(|(old, new)| old.max(*new)).collect();
                let rising = self.way(order, &mut now, up)?;
                (rising, relock, self.way(order, &mut now, to.voltages.clone())?)
            }
        };
        Ok(OppTransition { rising, relock, halts: self.halts, falling, rails })
    }

    /// Changes between all points of a table, by the point before and then the one after.
    ///
    /// # Errors
    ///
    /// As [`Self::between`].
    pub fn all(&self, table: &OppTable) -> Result<Vec<Vec<OppTransition>>, LawError> {
        let points = table.points();
        let row = |from| points.iter().map(|to| self.between(from, to)).collect();
        points.iter().map(row).collect()
    }

    /// A stated latency with the relock as its last part on the way up; on the way down nothing is waited
    /// for but the relock.
    fn stated(&self, latency: Seconds, from: Hertz, to: Hertz) -> (Seconds, Seconds, Seconds) {
        let relock = self.relock.min(latency);
        if to > from {
            (latency - relock, relock, Seconds::ZERO)
        } else if to < from {
            (Seconds::ZERO, relock, latency - relock)
        } else {
            (Seconds::ZERO, Seconds::ZERO, Seconds::ZERO)
        }
    }

    /// The time of rails to other voltages.
    fn way(
        &self,
        order: RailOrder,
        now: &mut Vec<Volts>,
        to: Vec<Volts>,
    ) -> Result<Seconds, LawError> {
        for pair in &self.coupled {
            let apart = |at: &[Volts]| match (at.get(pair.first), at.get(pair.second)) {
                (Some(first), Some(second)) => !pair.allows(*first, *second),
                _ => true,
            };
            if apart(now) || apart(&to) {
                return Err(LawError::Blocked);
            }
        }
        if order == RailOrder::InTurn {
            return self.in_turn(now, &to);
        }
        // Ramps that begin and end together keep the spread between those at both ends.
        let each = self.rails.iter().zip(now.iter().zip(&to));
        let time = each.map(|(rail, (old, new))| rail.time(*old, *new));
        let longest = time.fold(Seconds::ZERO, Seconds::max);
        *now = to;
        Ok(longest)
    }

    fn in_turn(&self, now: &mut [Volts], to: &[Volts]) -> Result<Seconds, LawError> {
        let mut sum = Seconds::ZERO;
        for _ in 0..MOST_STEPS {
            let mut moved = false;
            for (index, rail) in self.rails.iter().enumerate() {
                let (Some(old), Some(new)) = (now.get(index).copied(), to.get(index).copied())
                else {
                    continue;
                };
                let next = self.reach(index, old, new, now);
                if next == old {
                    continue;
                }
                sum += rail.time(old, next);
                moved = true;
                if let Some(place) = now.get_mut(index) {
                    *place = next;
                }
            }
            if !moved {
                return if *now == *to { Ok(sum) } else { Err(LawError::Blocked) };
            }
        }
        Err(LawError::Blocked)
    }

    /// As far as a rail gets while those that it is coupled with stand still.
    fn reach(&self, index: usize, old: Volts, new: Volts, now: &[Volts]) -> Volts {
        self.coupled.iter().fold(new, |next, pair| {
            let other = match index {
                index if index == pair.first => pair.second,
                index if index == pair.second => pair.first,
                _ => return next,
            };
            match now.get(other) {
                Some(other) if pair.allows(next, *other) => next,
                Some(other) if new > old => next.min((*other + pair.max_spread).max(old)),
                Some(other) => next.max((*other - pair.max_spread).min(old)),
                None => next,
            }
        })
    }
}

impl RailSlew {
    /// One that takes no time and no energy.
    pub const IDEAL: Self = Self {
        slew: VoltsPerSecond(f64::INFINITY),
        settle: Seconds::ZERO,
        capacitance: Farads::ZERO,
        efficiency: Ratio(1.0),
        recovered: Ratio::ZERO,
    };

    fn check(&self, entry: usize) -> Result<(), LawError> {
        if self.slew.0 != f64::INFINITY {
            positive("slew rate", entry, self.slew.0)?;
        }
        not_negative("settling time", entry, self.settle.0)?;
        not_negative("output capacitance", entry, self.capacitance.0)?;
        positive("efficiency", entry, self.efficiency.0)?;
        not_negative("recovered share", entry, self.recovered.0)?;
        for (what, value) in [("efficiency", self.efficiency), ("recovered share", self.recovered)]
        {
            if value.0 > 1.0 {
                let range = "not above one";
                return Err(LawError::OutOfRange { what, entry, value: value.0, range });
            }
        }
        Ok(())
    }

    fn time(&self, old: Volts, new: Volts) -> Seconds {
        if old == new {
            return Seconds::ZERO;
        }
        Volts((new - old).0.abs()) / self.slew + self.settle
    }

    fn change(&self, old: Volts, new: Volts) -> RailChange {
        let stored = (self.capacitance * new * new - self.capacitance * old * old) * 0.5;
        let drawn = if stored > Joules::ZERO {
            stored / self.efficiency.0
        } else {
            stored * self.recovered.0
        };
        RailChange { drawn, stored }
    }
}

#[cfg(test)]
mod tests;
