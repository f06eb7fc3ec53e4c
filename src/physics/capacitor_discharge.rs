//! A storage capacitor with a series resistance under a load of constant power.
//!
//! `C dv/dt = -i`, `w = v - r i`, `P = w i`, so `t = C ((w0^2 - w^2) / 2P - r ln(w0 / w))`
//!
//! Symbols: `C` \[F\], `r` \[ohm\] series resistance, `v` \[V\] its own voltage, `w` \[V\] that at its
//! terminals, `i` \[A\], `P` \[W\] the load. A load needs `v >= 2 sqrt(P r)`, where `w = sqrt(P r)`: below,
//! no current gives the power and the terminals collapse. A task of several steps is safe from the
//! voltage found backwards from its end (the quantity that Culpeo, ASPLOS 2022, estimates on a device).
//! Neglected: leakage, which is small beside a load, and that the series resistance of supercapacitors
//! depends on the length of the pulse: take that of the step's own duration.

use super::series_drop::behind;
use crate::units::{Amperes, Farads, Joules, Ohms, Seconds, Volts, Watts};

/// A capacitor with a series resistance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LoadedCapacitor {
    /// Capacitance \[F\].
    pub capacitance: Farads,
    /// Series resistance \[ohm\].
    pub resistance: Ohms,
}

/// Most steps of a root.
const STEPS: usize = 200;

/// Shares that terminals fall by and below which the current is that of the middle, to 1e-11.
const NEAR: f64 = 1e-5;

impl LoadedCapacitor {
    /// Voltage at the terminals under a load; nothing where it cannot be given.
    pub fn terminal(&self, own: Volts, load: Watts) -> Option<Volts> {
        behind(own, self.resistance, load, Amperes::ZERO)
    }

    /// Its own voltage where the terminals stand at one under a load.
    pub fn own(&self, terminal: Volts, load: Watts) -> Volts {
        terminal + self.resistance * (load / terminal)
    }

    /// Time for the terminals to fall from one voltage to another; the law above.
    fn between(&self, from: f64, to: f64, load: f64) -> f64 {
        let energy = (from - to) * (from + to) / (2.0 * load);
        self.capacitance.0 * (energy - self.resistance.0 * (from / to).ln())
    }

    /// Time from its own voltage until the terminals stand at `terminal` under a load; nothing where they
    /// never do, zero where they are below at once.
    pub fn next_crossing(&self, own: Volts, terminal: Volts, load: Watts) -> Option<Seconds> {
        if load.0 <= 0.0 {
            return (own <= terminal).then_some(Seconds::ZERO);
        }
        let start = self.terminal(own, load).map_or(0.0, |w| w.0);
        if start <= terminal.0 {
            return Some(Seconds::ZERO);
        }
        // What is below the last voltage that the load can be given at goes with the collapse.
        let end = terminal.0.max((load.0 * self.resistance.0).sqrt());
        (end > 0.0).then(|| Seconds(self.between(start, end, load.0)))
    }

    /// Its own voltage after a time under a load; nothing where the terminals collapse before.
    pub fn advance(&self, own: Volts, load: Watts, time: Seconds) -> Option<Volts> {
        if load.0 <= 0.0 || time.0 <= 0.0 {
            return Some(own);
        }
        let start = self.terminal(own, load)?.0;
        let least = (load.0 * self.resistance.0).sqrt();
        if least > 0.0 && self.between(start, least, load.0) < time.0 {
            return None;
        }
        if least == 0.0 {
            let square = start * start - 2.0 * load.0 * time.0 / self.capacitance.0;
            return (square >= 0.0).then(|| Volts(square.sqrt()));
        }
        let error = |w: f64| self.between(start, w, load.0) - time.0;
        let slope = |w: f64| self.capacitance.0 * (self.resistance.0 / w - w / load.0);
        let terminal = root((least, start), error, slope);
        Some(self.own(Volts(terminal), load))
    }

    /// Its own voltage after a time under a load, and what its resistance burnt meanwhile:
    /// `r ∫ i^2 dt = C (r P ln(w0 / w1) - (r P)^2 (1 / w1^2 - 1 / w0^2) / 2)`; nothing where the terminals
    /// collapse before.
    pub fn drained(&self, own: Volts, load: Watts, time: Seconds) -> Option<(Volts, Joules)> {
        let end = self.advance(own, load, time)?;
        if load.0 <= 0.0 {
            return Some((end, Joules::ZERO));
        }
        let (w0, w1) = (self.terminal(own, load)?.0, self.terminal(end, load)?.0);
        let (lost, r) = (self.resistance.0 * load.0, self.resistance.0);
        if w0 - w1 < NEAR * w0 {
            // Differences of like numbers say less than the middle does.
            let current = 2.0 * load.0 / (w0 + w1);
            return Some((end, Joules(r * current * current * time.0)));
        }
        let by_current = lost * lost * 0.5 * (w0 - w1) * (w0 + w1) / (w0 * w0 * w1 * w1);
        let burnt = self.capacitance.0 * (lost * ((w0 - w1) / w1).ln_1p() - by_current);
        Some((end, Joules(burnt)))
    }

    /// Its own voltage that a load for a time brings down to `end`.
    pub fn before(&self, end: Volts, load: Watts, time: Seconds) -> Option<Volts> {
        if load.0 <= 0.0 || time.0 <= 0.0 {
            return Some(end);
        }
        let end = self.terminal(end, load)?.0;
        let error = |w: f64| time.0 - self.between(w, end, load.0);
        let slope = |w: f64| self.capacitance.0 * (self.resistance.0 / w - w / load.0);
        let mut high = 2.0 * end;
        for _ in 0..STEPS {
            if error(high) <= 0.0 {
                let terminal = root((end, high), error, slope);
                return Some(self.own(Volts(terminal), load));
            }
            high *= 2.0;
        }
        None
    }

    /// Its own voltage from which steps of power and time, one after another, never bring the terminals
    /// below `off`.
    pub fn safe_start(&self, steps: &[(Watts, Seconds)], off: Volts) -> Option<Volts> {
        steps.iter().rev().try_fold(off, |need, (load, time)| {
            self.before(need.max(self.own(off, *load)), *load, *time)
        })
    }
}

/// The least capacitance that a load for a time brings from `start`, its own voltage, to no less than
/// `off` at the terminals; nothing where no capacitance does.
pub fn least_capacitance(
    resistance: Ohms,
    (load, time): (Watts, Seconds),
    start: Volts,
    off: Volts,
) -> Option<Farads> {
    let one = LoadedCapacitor { capacitance: Farads(1.0), resistance };
    let from = one.terminal(start, load)?;
    let lasts = one.between(from.0, off.0, load.0);
    (from > off && lasts > 0.0 && off.0 * off.0 >= load.0 * resistance.0)
        .then(|| Farads(time.0 / lasts))
}

/// Where a falling error is zero: Newton, kept in a bracket that shrinks.
fn root(
    (mut low, mut high): (f64, f64),
    error: impl Fn(f64) -> f64,
    slope: impl Fn(f64) -> f64,
) -> f64 {
    let mut at = high;
    for _ in 0..STEPS {
        let off = error(at);
        if off > 0.0 {
            low = at
        } else {
            high = at
        }
        let mut next = at - off / slope(at);
        if !(next > low && next < high) {
            next = 0.5 * (low + high);
        }
        if (next - at).abs() <= 2.0 * f64::EPSILON * at {
            return next;
        }
        at = next;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: LoadedCapacitor =
        LoadedCapacitor { capacitance: Farads(0.01), resistance: Ohms::ZERO };
    const BANK: LoadedCapacitor = LoadedCapacitor { resistance: Ohms(5.0), ..PLAIN };

    #[test]
    fn without_resistance_energy_alone_counts() {
        // 10 mF (9 - 4) / (2 x 50 mW) = 0.5 s.
        let time = PLAIN.next_crossing(Volts(3.0), Volts(2.0), Watts(0.05)).unwrap();
        assert!((time.0 - 0.5).abs() < 1e-14);
        let end = PLAIN.advance(Volts(3.0), Watts(0.05), time).unwrap();
        assert!((end.0 - 2.0).abs() < 1e-14);
        let least = least_capacitance(Ohms::ZERO, (Watts(0.05), time), Volts(3.0), Volts(2.0));
        assert!((least.unwrap().0 - 0.01).abs() < 1e-15);
    }

    #[test]
    fn below_twice_the_root_of_load_and_resistance_the_terminals_collapse() {
        // 2 sqrt(0.05 x 5) = 1 V.
        let collapses = Volts(1.0);
        assert!(BANK.terminal(collapses * 1.001, Watts(0.05)).is_some());
        assert_eq!(BANK.terminal(collapses * 0.999, Watts(0.05)), None);
        assert_eq!(BANK.advance(Volts(2.0), Watts(0.05), Seconds(1.0)), None);
        // The rest counts as passed at the collapse.
        let far = BANK.next_crossing(Volts(2.0), Volts(0.1), Watts(0.05)).unwrap();
        let last = BANK.next_crossing(Volts(2.0), Volts(0.5), Watts(0.05)).unwrap();
        assert_eq!(far, last);
    }

    #[test]
    fn forward_and_back_meet() {
        let (load, time) = (Watts(0.03), Seconds(0.2));
        let end = BANK.advance(Volts(2.5), load, time).unwrap();
        let start = BANK.before(end, load, time).unwrap();
        assert!((start.0 - 2.5).abs() < 1e-13, "{start}");
        let half = BANK.advance(Volts(2.5), load, Seconds(0.07)).unwrap();
        let rest = BANK.advance(half, load, Seconds(0.13)).unwrap();
        assert!((rest.0 - end.0).abs() < 1e-13);
        let terminal = BANK.terminal(end, load).unwrap();
        let crossing = BANK.next_crossing(Volts(2.5), terminal, load).unwrap();
        assert!((crossing.0 - 0.2).abs() < 1e-12);
    }

    #[test]
    fn what_leaves_the_capacitor_is_given_or_burnt() {
        for time in [1e-9, 1e-4, 3e-3, 0.2] {
            let (load, own) = (Watts(0.03), Volts(2.5));
            let (end, burnt) = BANK.drained(own, load, Seconds(time)).unwrap();
            let left = 0.5 * 0.01 * (own.0 - end.0) * (own.0 + end.0);
            let gone = load.0 * time + burnt.0;
            // The fall of a short time drowns in rounding.
            assert!((left - gone).abs() < 1e-12 * gone + 1e-16, "{time}: {left} {gone}");
            assert!(burnt.0 > 0.0);
        }
        // In steps or at once, it burns the same.
        let (mut own, mut sum) = (Volts(2.5), 0.0);
        for _ in 0..20_000 {
            let (end, burnt) = BANK.drained(own, Watts(0.03), Seconds(1e-5)).unwrap();
            (own, sum) = (end, sum + burnt.0);
        }
        let (_, whole) = BANK.drained(Volts(2.5), Watts(0.03), Seconds(0.2)).unwrap();
        assert!((sum / whole.0 - 1.0).abs() < 1e-9, "{sum} {whole}");
        assert_eq!(BANK.drained(Volts(2.0), Watts(0.05), Seconds(1.0)), None);
        let idle = BANK.drained(Volts(2.0), Watts::ZERO, Seconds(1.0));
        assert_eq!(idle, Some((Volts(2.0), Joules::ZERO)));
    }

    #[test]
    fn a_heavy_step_at_the_end_asks_for_more_than_the_energy() {
        let steps = [(Watts(1e-3), Seconds(0.1)), (Watts(0.09), Seconds(1e-3))];
        let safe = BANK.safe_start(&steps, Volts(1.8)).unwrap();
        // At least the drop of the last step on top of what is left: 1.8 V + 5 Ohm 0.05 A.
        assert!(safe.0 > 2.05 && safe.0 < 2.06, "{safe}");
    }
}
