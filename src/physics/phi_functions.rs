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

/// Arguments so close to zero that a few terms are enough.
const VERY_NEAR: f64 = 0.01;
/// How many.
const FEW: usize = 5;

/// `phi_1` to `phi_4` at the argument of each mode.
#[derive(Debug, Clone, Default)]
pub(super) struct Phis {
    pub one: Vec<f64>,
    pub two: Vec<f64>,
    pub three: Vec<f64>,
    pub four: Vec<f64>,
}

impl Phis {
    /// Room for a number of modes.
    pub(super) fn of(modes: usize) -> Self {
        let room = vec![0.0; modes];
        Self { one: room.clone(), two: room.clone(), three: room.clone(), four: room }
    }

    /// All of them at `-rate * length`; no rate lies farther from zero than `fastest`.
    pub(super) fn fill(&mut self, rates: &[f64], length: f64, fastest: f64) {
        // Without a branch by mode, a loop over modes runs on several at once.
        let farthest = fastest * length;
        if farthest < VERY_NEAR {
            self.fill_by(rates, length, by_series::<FEW>);
        } else if farthest < NEAR_ZERO {
            self.fill_by(rates, length, by_series::<{ SERIES.len() }>);
        } else {
            self.fill_by(rates, length, at);
        }
    }

    #[inline(always)]
    fn fill_by(&mut self, rates: &[f64], length: f64, phi: impl Fn(f64) -> [f64; 4]) {
        let Self { one, two, three, four } = self;
        let all = one.iter_mut().zip(two).zip(three).zip(four).zip(rates);
        for ((((one, two), three), four), rate) in all {
            [*one, *two, *three, *four] = phi(-rate * length);
        }
    }
}

/// `phi_1` to `phi_4` at one argument.
#[inline(always)]
fn at(x: f64) -> [f64; 4] {
    if x.abs() < NEAR_ZERO {
        return by_series::<{ SERIES.len() }>(x);
    }
    let inverse = 1.0 / x;
    let one = (x.exp() - 1.0) * inverse;
    let two = (one - 1.0) * inverse;
    let three = (two - 0.5) * inverse;
    [one, two, three, (three - 1.0 / 6.0) * inverse]
}

/// The same by so many terms of the last one.
#[inline(always)]
fn by_series<const TERMS: usize>(x: f64) -> [f64; 4] {
    let terms = SERIES.iter().take(TERMS).rev();
    let four = terms.fold(0.0, |sum, term| sum * x + term) / 24.0;
    let three = 1.0 / 6.0 + x * four;
    let two = 0.5 + x * three;
    [1.0 + x * two, two, three, four]
}

/// `(e^x - 1) / x`.
#[inline]
pub(super) fn phi_one(x: f64) -> f64 {
    if x == 0.0 { 1.0 } else { x.exp_m1() / x }
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
        for x in [-30.0, -3.0, -0.5001, -0.4999, -0.0099, -1e-9, 0.0, 1e-4, 0.4999, 0.5001, 2.0] {
            let mut phis = Phis::of(1);
            phis.fill(&[-x], 1.0, x.abs());
            let by = |power: i32, factorial: f64| {
                integral(|t| ((1.0 - t) * x).exp() * t.powi(power)) / factorial
            };
            let known = [by(0, 1.0), by(1, 1.0), by(2, 2.0), by(3, 6.0)];
            let found = [phis.one[0], phis.two[0], phis.three[0], phis.four[0]];
            for (found, known) in found.iter().zip(known) {
                assert!((found / known - 1.0).abs() < 1e-10, "{x}: {found} {known}");
            }
            assert!((phi_one(x) / phis.one[0] - 1.0).abs() < 1e-14);
        }
    }
}
