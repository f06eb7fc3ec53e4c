//! A storage capacitor between two events: what flows in and out is constant.
//!
//! `C v dv/dt = q(v)`, `q = P - I v - v^2 / R`, so `t = C (F(v1) - F(v0))` with `F' = v / q`
//!
//! Symbols: `C` \[F\], `v` \[V\], `P` \[W\] net power into it, `I` \[A\] current drawn from it whatever
//! its voltage, `R` \[ohm\] its leakage. With `a = -1/R`, `b = -I`, `c = P`:
//! `F = ln|q| / 2a - b J / 2a`, and `J = ln|(2 a v + b - s) / (2 a v + b + s)| / s`, `s = sqrt(b^2 - 4 a c)`,
//! or for a negative square `J = (2 / s) atan((2 a v + b) / s)` with the root of its opposite. Roots of `q`
//! are equilibria: what lies beyond one is never reached. Where current and leakage are small beside the
//! power, the terms of `F` cancel and its expansion takes their place. Without a current the energy
//! `W = C v^2 / 2` has `W(t) = W_inf + (W_0 - W_inf) exp(-2 t / R C)`, `W_inf = P R C / 2`.
//! Neglected: series resistance (see [`super::capacitor_discharge`]), change of `C` with voltage, slow
//! redistribution of charge in supercapacitors.

use crate::units::{Amperes, Farads, Joules, Ohms, Seconds, Volts, Watts};

/// A storage capacitor.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Capacitor {
    /// Capacitance \[F\].
    pub capacitance: Farads,
    /// Leakage \[ohm\]; none for one that keeps its charge.
    pub leakage: Option<Ohms>,
}

/// What flows into a capacitor and out of it.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Flow {
    /// Net power into it \[W\]; negative where more is drawn.
    pub power: Watts,
    /// Current drawn from it whatever its voltage \[A\].
    pub current: Amperes,
}

/// The rate `q = a v^2 + b v + c` at which energy comes in.
#[derive(Debug, Clone, Copy)]
struct Rate {
    a: f64,
    b: f64,
    c: f64,
}

/// Below this share of the power, the rest of the rate is expanded.
const SMALL: f64 = 1e-2;
/// Terms of the expansion: 1e-2 to this power is below rounding.
const TERMS: i32 = 9;
/// Most steps of a root; each at least halves a bracket.
const STEPS: usize = 200;

impl Rate {
    fn at(self, v: f64) -> f64 {
        (self.a * v + self.b) * v + self.c
    }

    /// Roots above zero, rising.
    fn equilibria(self) -> Vec<f64> {
        let Self { a, b, c } = self;
        let mut roots = if a == 0.0 {
            vec![-c / b]
        } else {
            let square = b * b - 4.0 * a * c;
            // The root without a difference of like numbers, and the other by their product.
            let sum = -0.5 * (b + square.sqrt().copysign(b));
            vec![sum / a, c / sum]
        };
        roots.retain(|root| root.is_finite() && *root > 0.0);
        roots.sort_by(f64::total_cmp);
        roots
    }

    /// `F(v1) - F(v0)`.
    fn between(self, v0: f64, v1: f64) -> f64 {
        let Self { a, b, c } = self;
        let high = v0.max(v1);
        if c != 0.0 && (b.abs() + a.abs() * high) * high < SMALL * c.abs() {
            return self.expanded(v1) - self.expanded(v0);
        }
        if c == 0.0 {
            return if a == 0.0 { (v1 - v0) / b } else { ((a * v1 + b) / (a * v0 + b)).ln() / a };
        }
        let (q0, q1) = (self.at(v0), self.at(v1));
        if a == 0.0 {
            return (v1 - v0) / b - c / (b * b) * (q1 / q0).ln();
        }
        let square = b * b - 4.0 * a * c;
        let (n0, n1) = (2.0 * a * v0 + b, 2.0 * a * v1 + b);
        let s = square.abs().sqrt();
        let arc = if square > 0.0 {
            ((n1 - s) / (n1 + s) * ((n0 + s) / (n0 - s))).abs().ln() / s
        } else if square < 0.0 {
            2.0 / s * ((n1 / s).atan() - (n0 / s).atan())
        } else {
            2.0 / n0 - 2.0 / n1
        };
        ((q1 / q0).ln() - b * arc) / (2.0 * a)
    }

    /// `F` by powers of `(b v + a v^2) / c`.
    fn expanded(self, v: f64) -> f64 {
        let (b, a) = (self.b / self.c * v, self.a / self.c * v * v);
        let mut sum = 0.0;
        for n in 0..TERMS {
            // The binomial of (-b - a)^n, each power of v integrated.
            let mut choose = 1.0;
            for k in 0..=n {
                let term = choose * (-b).powi(n - k) * (-a).powi(k);
                sum += term / f64::from(n + k + 2);
                choose *= f64::from(n - k) / f64::from(k + 1);
            }
        }
        sum * v * v / self.c
    }
}

impl Capacitor {
    /// Energy at a voltage.
    pub fn energy(&self, voltage: Volts) -> Joules {
        voltage * (self.capacitance * voltage) * 0.5
    }

    /// Energy that leaves one that holds `held` in a time at a constant net power into it, what leaks away
    /// included: `(W_0 - W_inf) (1 - exp(-2 t / R C))`.
    pub fn lost(&self, held: Joules, power: Watts, time: Seconds) -> Joules {
        match self.leakage {
            None => Joules::ZERO - power * time,
            Some(leakage) => {
                let constant = leakage * self.capacitance;
                let end = power * (constant * 0.5);
                (end - held) * (-2.0 * (time / constant)).exp_m1()
            }
        }
    }

    fn rate(&self, flow: Flow) -> Rate {
        let a = self.leakage.map_or(0.0, |leakage| -1.0 / leakage.0);
        Rate { a, b: -flow.current.0, c: flow.power.0 }
    }

    /// Time until the voltage is `to`; nothing where it never is.
    pub fn next_crossing(&self, from: Volts, to: Volts, flow: Flow) -> Option<Seconds> {
        if from == to {
            return Some(Seconds::ZERO);
        }
        let rate = self.rate(flow);
        let up = to > from;
        let toward = if up { rate.at(from.0) > 0.0 } else { rate.at(from.0) < 0.0 };
        let (low, high) = (from.0.min(to.0), from.0.max(to.0));
        let stopped = rate.equilibria().iter().any(|root| (low..=high).contains(root));
        if !toward || stopped || low < 0.0 {
            return None;
        }
        let time = self.capacitance.0 * rate.between(from.0, to.0);
        time.is_finite().then_some(Seconds(time.max(0.0)))
    }

    /// The voltage after a time; zero where it is empty before.
    pub fn advance(&self, from: Volts, flow: Flow, time: Seconds) -> Volts {
        let rate = self.rate(flow);
        if rate.b == 0.0 {
            return self.by_energy(from, rate, time);
        }
        let start = rate.at(from.0);
        if start == 0.0 || time.0 <= 0.0 {
            return from;
        }
        let roots = rate.equilibria();
        let (low, high) = if start > 0.0 {
            let above = roots.iter().copied().find(|root| *root > from.0);
            (from.0, above.unwrap_or_else(|| self.beyond(from.0, rate, time.0)))
        } else {
            let below = roots.iter().copied().rev().find(|root| *root < from.0);
            let empty = self.next_crossing(from, Volts::ZERO, flow);
            if below.is_none() && empty.is_some_and(|empty| empty <= time) {
                return Volts::ZERO;
            }
            (below.unwrap_or(0.0), from.0)
        };
        Volts(self.reached(from.0, (low, high), rate, time.0))
    }

    /// A voltage that is not reached in a time, where nothing stops it.
    fn beyond(&self, from: f64, rate: Rate, time: f64) -> f64 {
        let mut high = from.max((2.0 * rate.c.abs() * time / self.capacitance.0).sqrt()) * 2.0;
        for _ in 0..STEPS {
            if self.capacitance.0 * rate.between(from, high) >= time {
                break;
            }
            high *= 2.0;
        }
        high
    }

    /// Where the time from `from` is `time`, between two voltages: Newton, kept in a bracket that shrinks.
    fn reached(&self, from: f64, (mut low, mut high): (f64, f64), rate: Rate, time: f64) -> f64 {
        let up = rate.at(from) > 0.0;
        let guess = from * from + 2.0 * rate.at(from) * time / self.capacitance.0;
        let mut v = guess.max(0.0).sqrt();
        for _ in 0..STEPS {
            if !(v > low && v < high) {
                v = 0.5 * (low + high);
            }
            let left = time - self.capacitance.0 * rate.between(from, v);
            if (left > 0.0) == up {
                low = v
            } else {
                high = v
            }
            let next = v + left * rate.at(v) / (self.capacitance.0 * v);
            if (next - v).abs() <= 2.0 * f64::EPSILON * v || (high - low) <= f64::EPSILON * high {
                return v;
            }
            v = next;
        }
        v
    }

    /// Without a current the law of energy is explicit.
    fn by_energy(&self, from: Volts, rate: Rate, time: Seconds) -> Volts {
        let (c, v) = (self.capacitance.0, from.0);
        let square = if rate.a == 0.0 {
            v * v + 2.0 * rate.c * time.0 / c
        } else {
            // expm1 keeps what a short time changes.
            let end = -rate.c / rate.a;
            v * v + (v * v - end) * (2.0 * rate.a * time.0 / c).exp_m1()
        };
        Volts(square.max(0.0).sqrt())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Capacitor = Capacitor { capacitance: Farads(100e-6), leakage: None };
    const LEAKY: Capacitor = Capacitor { leakage: Some(Ohms(1e5)), ..PLAIN };

    fn flow(power: f64, current: f64) -> Flow {
        Flow { power: Watts(power), current: Amperes(current) }
    }

    fn near(found: f64, known: f64, tolerance: f64) {
        assert!((found / known - 1.0).abs() < tolerance, "{found} against {known}");
    }

    #[test]
    fn power_alone_fills_by_energy() {
        // 1 mW into 100 uF from 2 V to 3 V: 100 uF (9 - 4) / 2 mW = 250 ms.
        let time = PLAIN.next_crossing(Volts(2.0), Volts(3.0), flow(1e-3, 0.0)).unwrap();
        near(time.0, 0.25, 1e-14);
        near(PLAIN.advance(Volts(2.0), flow(1e-3, 0.0), time).0, 3.0, 1e-14);
        near(PLAIN.energy(Volts(3.0)).0, 450e-6, 1e-14);
    }

    #[test]
    fn a_current_alone_empties_in_a_straight_line() {
        // 100 uF 1 V / 1 mA
        let time = PLAIN.next_crossing(Volts(3.0), Volts(2.0), flow(0.0, 1e-3)).unwrap();
        near(time.0, 0.1, 1e-14);
        near(PLAIN.advance(Volts(3.0), flow(0.0, 1e-3), Seconds(0.1)).0, 2.0, 1e-13);
        assert_eq!(PLAIN.advance(Volts(3.0), flow(0.0, 1e-3), Seconds(0.31)), Volts::ZERO);
    }

    #[test]
    fn leakage_alone_is_an_exponential() {
        // R C = 10 s.
        let time = LEAKY.next_crossing(Volts(2.0), Volts(1.0), Flow::default()).unwrap();
        near(time.0, 10.0 * 2f64.ln(), 1e-13);
        near(LEAKY.advance(Volts(2.0), Flow::default(), Seconds(10.0)).0, 2.0 / 1f64.exp(), 1e-14);
        assert_eq!(LEAKY.next_crossing(Volts(2.0), Volts::ZERO, Flow::default()), None);
    }

    #[test]
    fn what_is_lost_is_what_the_voltage_says() {
        for capacitor in [PLAIN, LEAKY] {
            let (from, time) = (Volts(2.5), Seconds(0.05));
            let end = capacitor.advance(from, flow(-1e-3, 0.0), time);
            let left = capacitor.energy(from) - capacitor.energy(end);
            let lost = capacitor.lost(capacitor.energy(from), Watts(-1e-3), time);
            near(lost.0, left.0, 1e-12);
        }
        // What 100 uF at 2.5 V lose over 100 kohm: v^2 / R.
        let lost = LEAKY.lost(LEAKY.energy(Volts(2.5)), Watts::ZERO, Seconds(1e-9));
        near(lost.0, 6.25e-14, 1e-9);
    }

    #[test]
    fn what_lies_beyond_an_equilibrium_is_never_reached() {
        // v^2 / R = P at 3 V: 90 uW.
        let at = |to| LEAKY.next_crossing(Volts(2.0), Volts(to), flow(90e-6, 0.0));
        assert!(at(2.9).is_some());
        assert_eq!((at(3.1), at(1.9)), (None, None));
        near(LEAKY.advance(Volts(2.0), flow(90e-6, 0.0), Seconds(1e4)).0, 3.0, 1e-14);
        // With a current the root of P - I v - v^2 / R: 90 uW = 20 uA v + 10 uS v^2 at 2.1623 V.
        let rest = 10f64.sqrt() - 1.0;
        near(LEAKY.advance(Volts(3.0), flow(90e-6, 20e-6), Seconds(1e4)).0, rest, 1e-12);
        near(LEAKY.advance(Volts(1.0), flow(90e-6, 20e-6), Seconds(1e4)).0, rest, 1e-12);
    }

    #[test]
    fn time_and_voltage_are_each_other_s_inverse() {
        for (power, current) in [
            (5e-5, 4.88e-7),
            (-5e-3, 4.88e-7),
            (1e-6, 2e-6),
            (-1e-3, 1e-3),
            (0.0, 3e-6),
            (1e-3, 1e-9),
        ] {
            for capacitor in [PLAIN, LEAKY] {
                let given = flow(power, current);
                let end = capacitor.advance(Volts(2.5), given, Seconds(0.02));
                let time = capacitor.next_crossing(Volts(2.5), end, given).unwrap();
                near(time.0, 0.02, 1e-8);
                // Cut in two, it comes out the same.
                let half = capacitor.advance(Volts(2.5), given, Seconds(0.008));
                let rest = capacitor.advance(half, given, Seconds(0.012));
                near(rest.0, end.0, 1e-12);
            }
        }
    }

    #[test]
    fn the_expansion_meets_the_closed_form() {
        let rate = Rate { a: -1e-5, b: -2e-5, c: 0.01 };
        let whole = |v0: f64, v1: f64| {
            let square = rate.b * rate.b - 4.0 * rate.a * rate.c;
            let s = square.sqrt();
            let f = |v: f64| {
                let n = 2.0 * rate.a * v + rate.b;
                let arc = ((n - s) / (n + s)).abs().ln() / s;
                (rate.at(v).ln() - rate.b * arc) / (2.0 * rate.a)
            };
            f(v1) - f(v0)
        };
        near(rate.between(2.0, 3.0), whole(2.0, 3.0), 1e-10);
    }
}
