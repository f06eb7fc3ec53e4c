//! Integrals of the exponential that exact steps of linear systems are made of.
//!
//! `phi_0(x) = e^x`, `phi_(k+1)(x) = (phi_k(x) - 1/k!) / x`, `phi_k(0) = 1/k!`
//!
//! `z' = -mu z + c t^j / j!` from `z = 0` has `z(h) = c h^(j+1) phi_(j+1)(-mu h)` (Hochbruck and
//! Ostermann, Acta Numerica 19, 2010, section 2). Close to zero, where the recurrence would take the
//! difference of like numbers, the series of the last one and the recurrence backwards.

/// Below this distance from zero the series is taken.
const NEAR_ZERO: f64 = 0.5;
/// `4! / (j + 4)!`, j from 0: enough for 1e-16 at [`NEAR_ZERO`].
const SERIES: [f64; 13] = {
    let mut terms = [1.0; 13];
    let mut j = 1;
    while j < terms.len() {
        terms[j] = terms[j - 1] / (j + 4) as f64;
        j += 1;
    }
    terms
};

/// `phi_0` to `phi_4` at one argument.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Phi {
    pub zero: f64,
    pub one: f64,
    pub two: f64,
    pub three: f64,
    pub four: f64,
}

impl Phi {
    #[inline]
    pub(super) fn at(x: f64) -> Self {
        if x.abs() < NEAR_ZERO {
            let series = SERIES.iter().rev().fold(0.0, |sum, term| sum * x + term);
            let four = series / 24.0;
            let three = 1.0 / 6.0 + x * four;
            let two = 0.5 + x * three;
            let one = 1.0 + x * two;
            return Self { zero: 1.0 + x * one, one, two, three, four };
        }
        let (zero, inverse) = (x.exp(), 1.0 / x);
        let one = (zero - 1.0) * inverse;
        let two = (one - 1.0) * inverse;
        let three = (two - 0.5) * inverse;
        let four = (three - 1.0 / 6.0) * inverse;
        Self { zero, one, two, three, four }
    }
}

/// `(e^x - 1) / x`.
#[inline]
pub(super) fn phi_one(x: f64) -> f64 {
    if x == 0.0 { 1.0 } else { x.exp_m1() / x }
}

/// The second divided difference of the exponential at `a`, `b` and 0:
/// `integral over 0 < s < t < 1 of exp(a (1 - t) + b (t - s))`.
pub(super) fn second_difference(a: f64, b: f64) -> f64 {
    if a.abs().max(b.abs()) < NEAR_ZERO {
        return symmetric_series(a, b);
    }
    // The two that lie farthest apart are divided by.
    let first = |p: f64, q: f64| p.min(q).exp() * phi_one((p - q).abs());
    let first = |p: f64, q: f64| if p.max(q) < 700.0 { first(p, q) } else { f64::INFINITY };
    let apart = [a.abs(), b.abs(), (a - b).abs()];
    if apart[0] >= apart[1] && apart[0] >= apart[2] {
        (first(a, b) - first(b, 0.0)) / a
    } else if apart[1] >= apart[2] {
        (first(a, b) - first(a, 0.0)) / b
    } else {
        (first(a, 0.0) - first(b, 0.0)) / (a - b)
    }
}

/// The same by `sum h_n(a, b) / (n + 2)!`, `h_n` the sum of all products of n of them.
fn symmetric_series(a: f64, b: f64) -> f64 {
    let (mut complete, mut power, mut factorial, mut sum) = (1.0, 1.0, 2.0, 0.5);
    for n in 1..18 {
        power *= b;
        complete = complete * a + power;
        factorial *= f64::from(n + 2);
        sum += complete / factorial;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Simpson's rule over many pieces.
    fn integral(of: impl Fn(f64) -> f64) -> f64 {
        let pieces = 2000;
        let at = |i: i32| of(f64::from(i) / f64::from(2 * pieces));
        let odd: f64 = (0..pieces).map(|i| at(2 * i + 1)).sum();
        let even: f64 = (1..pieces).map(|i| at(2 * i)).sum();
        (at(0) + 4.0 * odd + 2.0 * even + at(2 * pieces)) / f64::from(6 * pieces)
    }

    #[test]
    fn each_is_its_integral_on_both_sides_of_the_seam() {
        for x in [-30.0, -3.0, -0.5001, -0.4999, -1e-9, 0.0, 1e-4, 0.4999, 0.5001, 2.0] {
            let phi = Phi::at(x);
            let by = |power: i32, factorial: f64| {
                integral(|t| ((1.0 - t) * x).exp() * t.powi(power)) / factorial
            };
            let known = [x.exp(), by(0, 1.0), by(1, 1.0), by(2, 2.0), by(3, 6.0)];
            let found = [phi.zero, phi.one, phi.two, phi.three, phi.four];
            for (found, known) in found.iter().zip(known) {
                assert!((found / known - 1.0).abs() < 1e-10, "{x}: {found} {known}");
            }
            assert!((phi_one(x) / phi.one - 1.0).abs() < 1e-14);
        }
    }

    #[test]
    fn the_second_difference_is_its_integral_wherever_its_arguments_meet() {
        for a in [-40.0, -3.0, -0.3, -1e-8, 0.0, 0.6] {
            for b in [-40.0, -3.0, -2.999_999, -0.3, 0.0, 0.6, 1.5] {
                let inner = |t: f64| t * phi_one(b * t);
                let known = integral(|t| (a * (1.0 - t)).exp() * inner(t));
                let found = second_difference(a, b);
                assert!((found / known - 1.0).abs() < 1e-9, "{a} {b}: {found} {known}");
            }
        }
    }
}
