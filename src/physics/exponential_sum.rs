//! When a sum of exponentials first reaches a value.
//!
//! `f(t) = c + sum a_k exp(-mu_k t)`, the first `t` in `[0, h]` with `f(t) >= 0`.
//!
//! Where all parts move one way, `f` is monotone; where they do not, it may come near the value and go
//! away again, or pass it twice. Each part is monotone for itself, so that the ends of an interval
//! bound `f` and `f'` within it: an interval whose bound lies below the value is left out, one whose
//! slope has one sign is solved by a Newton iteration kept in its bracket, any other is halved, the
//! earlier half first (interval Newton, Moore, Interval Analysis, 1966). No crossing is jumped over. A
//! maximum that touches the value to within rounding counts as not reached.

/// Halvings after which an interval is a point.
const MOST_HALVINGS: u32 = 60;
/// Time constants after which an exponential is zero in doubles.
const LEFT: f64 = 800.0;
/// Most steps of a root in its bracket.
const MOST_STEPS: usize = 100;

/// One part of the sum.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Part {
    pub amplitude: f64,
    pub rate: f64,
}

/// The first time within `horizon` at which the sum is not below zero.
pub(super) fn first_reached(constant: f64, parts: &[Part], horizon: f64) -> Option<f64> {
    // Behind this time nothing of what decays is left in doubles, whatever the horizon.
    let slowest = parts.iter().map(|part| part.rate).fold(f64::INFINITY, f64::min);
    let horizon = if slowest > 0.0 { horizon.min(LEFT / slowest) } else { horizon };
    Sum { constant, parts }.search(0.0, horizon, MOST_HALVINGS)
}

struct Sum<'a> {
    constant: f64,
    parts: &'a [Part],
}

/// Values at both ends of an interval, and the least and greatest value and slope within it.
struct Bounds {
    start: f64,
    end: f64,
    greatest: f64,
    least_slope: f64,
    greatest_slope: f64,
}

impl Sum<'_> {
    /// Value and slope.
    fn at(&self, time: f64) -> (f64, f64) {
        self.parts.iter().fold((self.constant, 0.0), |(value, slope), part| {
            let now = part.amplitude * (-part.rate * time).exp();
            (value + now, slope - part.rate * now)
        })
    }

    fn bounds(&self, from: f64, to: f64) -> Bounds {
        let c = self.constant;
        let (mut start, mut end, mut greatest) = (c, c, c);
        let (mut least_slope, mut greatest_slope) = (0.0, 0.0);
        for part in self.parts {
            let one = part.amplitude * (-part.rate * from).exp();
            let other = part.amplitude * (-part.rate * to).exp();
            start += one;
            end += other;
            greatest += one.max(other);
            let slopes = (-part.rate * one, -part.rate * other);
            least_slope += slopes.0.min(slopes.1);
            greatest_slope += slopes.0.max(slopes.1);
        }
        let width = to - from;
        let by_slope = (start + greatest_slope.max(0.0) * width)
            .min(end - least_slope.min(0.0) * width)
            .max(start.max(end));
        Bounds { start, end, greatest: greatest.min(by_slope), least_slope, greatest_slope }
    }

    fn search(&self, from: f64, to: f64, halvings: u32) -> Option<f64> {
        let bounds = self.bounds(from, to);
        if bounds.start >= 0.0 {
            return Some(from);
        }
        // What is no number reaches nothing.
        let reaches = bounds.greatest >= 0.0 && to > from;
        if !reaches || bounds.greatest_slope <= 0.0 {
            return None;
        }
        if bounds.least_slope >= 0.0 || halvings == 0 {
            return (bounds.end >= 0.0).then(|| self.bracketed(from, to));
        }
        let middle = from + 0.5 * (to - from);
        if middle <= from || middle >= to {
            return (bounds.end >= 0.0).then_some(to);
        }
        self.search(from, middle, halvings - 1).or_else(|| self.search(middle, to, halvings - 1))
    }

    /// The root between a value below zero and one that is not, from above.
    fn bracketed(&self, mut low: f64, mut high: f64) -> f64 {
        let mut guess = high;
        for _ in 0..MOST_STEPS {
            let (value, slope) = self.at(guess);
            if value >= 0.0 {
                high = guess;
            } else {
                low = guess;
            }
            let next = guess - value / slope;
            let inside = next > low && next < high;
            let next = if inside { next } else { low + 0.5 * (high - low) };
            if high - low <= 2.0 * f64::EPSILON * high || next == guess {
                break;
            }
            guess = next;
        }
        high
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parts(of: &[(f64, f64)]) -> Vec<Part> {
        of.iter().map(|(amplitude, rate)| Part { amplitude: *amplitude, rate: *rate }).collect()
    }

    #[test]
    fn one_exponential_has_its_logarithm() {
        let warming = parts(&[(-2.0, 4.0)]);
        let found = first_reached(1.0, &warming, 10.0).unwrap();
        assert!((found - 2f64.ln() / 4.0).abs() < 1e-15);
        let endless = first_reached(1.0, &warming, f64::INFINITY).unwrap();
        assert!((endless - found).abs() < 1e-15);
        assert_eq!(first_reached(-1e-9, &warming, f64::INFINITY), None);
        assert_eq!(first_reached(1.0, &warming, 0.1), None, "not yet");
        assert_eq!(first_reached(-1e-9, &warming, 1e9), None, "never");
        assert_eq!(first_reached(3.0, &warming, 1.0), Some(0.0), "already");
        let growing = parts(&[(0.5, -1.0)]);
        assert!((first_reached(-1.0, &growing, 9.0).unwrap() - 2f64.ln()).abs() < 1e-15);
    }

    #[test]
    fn a_bump_that_comes_and_goes_is_found_on_its_way_up() {
        // e^-t - e^-2t: its maximum of 1/4 stands at ln 2.
        let bump = parts(&[(1.0, 1.0), (-1.0, 2.0)]);
        let found = first_reached(-0.21, &bump, 1e6).unwrap();
        // x - x^2 = 0.21 at x = 0.7.
        assert!((found + 0.7f64.ln()).abs() < 1e-14, "{found}");
        assert_eq!(first_reached(-0.25 - 1e-12, &bump, 1e6), None);
        let near = first_reached(-0.25 + 1e-10, &bump, 1e6).unwrap();
        assert!((near - 2f64.ln()).abs() < 3e-5, "{near}");
    }

    proptest! {
        #[test]
        fn no_crossing_is_jumped_over(
            drawn in prop::collection::vec((-5.0f64..5.0, -4.0f64..4.0), 1..8),
            constant in -4.0f64..1.0,
        ) {
            let parts: Vec<_> = drawn
                .iter()
                .map(|(amplitude, exponent)| Part { amplitude: *amplitude, rate: 10f64.powf(*exponent) })
                .collect();
            let (horizon, sum) = (20.0, Sum { constant, parts: &parts });
            let found = first_reached(constant, &parts, horizon);
            let until = found.unwrap_or(horizon);
            for i in 0..4000 {
                let time = horizon * 10f64.powf(-6.0 * (1.0 - f64::from(i) / 3999.0));
                let before = time < until * (1.0 - 1e-9);
                prop_assert!(!before || sum.at(time).0 < 1e-9, "{time} before {found:?}");
            }
            if let Some(found) = found.filter(|f| *f > 0.0) {
                prop_assert!(sum.at(found).0.abs() < 1e-6, "{:?}", sum.at(found));
            }
        }
    }
}
