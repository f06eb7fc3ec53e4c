//! A regulator known by the efficiency curve of its data sheet.
//!
//! `P_in = V I / eta(I)`, `eta` a monotone cubic in `x = ln I` through the given points
//!
//! Symbols: `V` \[V\] output, `I` \[A\] load current, `eta` \[1\] efficiency at one input and output
//! voltage. Between points `x_k` and `x_(k+1)` the curve is the cubic Hermite polynomial with slopes
//! `m_k`: the weighted harmonic mean of the secants on both sides, 0 where they change sign
//! (Fritsch and Butland, SIAM J. Sci. Stat. Comput. 5, 1984), and at both ends the three-point
//! slope, cut so that the sufficient condition of Fritsch and Carlson (SIAM J. Numer. Anal. 17, 1980)
//! holds. So the curve passes through the points and nowhere leaves the span of its two neighbours.
//! Beyond the first and last point the efficiency stays at theirs. Neglected: the input voltage (one
//! table holds for one), and below the first point the quiescent current, which a constant
//! efficiency takes to zero with the load: the table has to reach down to the lightest load that
//! matters.

use super::law_error::{LawError, positive};
use crate::units::{Amperes, Volts, Watts};

/// Efficiency against load current.
#[derive(Debug, Clone, PartialEq)]
pub struct EfficiencyTable {
    first: Knot,
    rest: Vec<Knot>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Knot {
    current: f64,
    efficiency: f64,
    /// Slope of the efficiency in ln(current).
    slope: f64,
}

impl EfficiencyTable {
    /// A table through points of load current and efficiency.
    ///
    /// # Errors
    ///
    /// No point at all, a current that is not above zero and above the one before it, an efficiency
    /// outside of (0, 1].
    pub fn new(points: &[(Amperes, f64)]) -> Result<Self, LawError> {
        let mut knots = Vec::with_capacity(points.len());
        let mut before = 0.0;
        for (index, (current, efficiency)) in points.iter().enumerate() {
            let (entry, value) = (index + 1, *efficiency);
            positive("current", entry, current.0)?;
            if current.0 <= before {
                return Err(LawError::NotRising { what: "current", entry });
            }
            if !(value > 0.0 && value <= 1.0) {
                let range = "above 0 and at most 1";
                return Err(LawError::OutOfRange { what: "efficiency", entry, value, range });
            }
            before = current.0;
            knots.push(Knot { current: current.0, efficiency: value, slope: 0.0 });
        }
        let slopes = slopes(&knots);
        knots.iter_mut().zip(slopes).for_each(|(knot, slope)| knot.slope = slope);
        match knots.split_first() {
            Some((first, rest)) => Ok(Self { first: *first, rest: rest.to_vec() }),
            None => Err(LawError::Empty("point of efficiency")),
        }
    }

    /// Efficiency at a load current \[1\], above 0 and at most 1.
    pub fn efficiency(&self, load: Amperes) -> f64 {
        let mut left = self.first;
        if load.0 <= left.current || load.0.is_nan() {
            return left.efficiency;
        }
        for right in &self.rest {
            if load.0 < right.current {
                return between(left, *right, load.0);
            }
            left = *right;
        }
        left.efficiency
    }

    /// Input current at a load current.
    pub fn input_current(&self, input: Volts, output: Volts, load: Amperes) -> Amperes {
        output * load / self.efficiency(load) / input
    }

    /// What the regulator burns.
    pub fn loss(&self, output: Volts, load: Amperes) -> Watts {
        output * load * (1.0 / self.efficiency(load) - 1.0)
    }
}

/// The cubic Hermite polynomial between two knots.
fn between(left: Knot, right: Knot, current: f64) -> f64 {
    let width = (right.current / left.current).ln();
    let t = (current / left.current).ln() / width;
    let (s, rise) = (1.0 - t, right.efficiency - left.efficiency);
    let bow = t * s * width * (s * left.slope - t * right.slope);
    let value = left.efficiency + rise * t * t * (3.0 - 2.0 * t) + bow;
    // Monotone in exact arithmetic; rounding must not step over a neighbour either.
    let (low, high) =
        (left.efficiency.min(right.efficiency), left.efficiency.max(right.efficiency));
    value.clamp(low, high)
}

/// The slope at each knot that keeps every piece monotone.
fn slopes(knots: &[Knot]) -> Vec<f64> {
    let pieces: Vec<(f64, f64)> = knots
        .windows(2)
        .filter_map(|pair| match pair {
            [a, b] => {
                let width = (b.current / a.current).ln();
                Some((width, (b.efficiency - a.efficiency) / width))
            }
            _ => None,
        })
        .collect();
    match pieces.as_slice() {
        [] => vec![0.0; knots.len()],
        [(_, secant)] => vec![*secant; 2],
        [first, second, ..] => {
            let inner = pieces.windows(2).filter_map(|pair| match pair {
                [left, right] => Some(inner_slope(*left, *right)),
                _ => None,
            });
            let mut slopes = vec![end_slope(*first, *second)];
            slopes.extend(inner);
            if let [.., before, last] = pieces.as_slice() {
                slopes.push(end_slope(*last, *before));
            }
            slopes
        }
    }
}

fn inner_slope((left, a): (f64, f64), (right, b): (f64, f64)) -> f64 {
    if a * b <= 0.0 {
        return 0.0;
    }
    let (toward_left, toward_right) = (2.0 * right + left, right + 2.0 * left);
    (toward_left + toward_right) / (toward_left / a + toward_right / b)
}

/// `near` is the piece at the end, `next` the one behind it.
fn end_slope((near, a): (f64, f64), (next, b): (f64, f64)) -> f64 {
    let slope = ((2.0 * near + next) * a - near * b) / (near + next);
    if slope * a <= 0.0 {
        0.0
    } else if a * b <= 0.0 && slope.abs() > 3.0 * a.abs() {
        3.0 * a
    } else {
        slope
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Output converter of a BQ25570 (shepherd-tools, virtual_source_fixture.yaml), in uA.
    const HARVESTER: [(f64, f64); 10] = [
        (1.0, 0.50),
        (2.0, 0.60),
        (4.0, 0.73),
        (8.0, 0.82),
        (16.0, 0.86),
        (32.0, 0.88),
        (64.0, 0.90),
        (128.0, 0.91),
        (256.0, 0.92),
        (512.0, 0.93),
    ];

    fn table(points: &[(f64, f64)]) -> Result<EfficiencyTable, LawError> {
        let points: Vec<_> = points.iter().map(|(i, e)| (Amperes(i * 1e-6), *e)).collect();
        EfficiencyTable::new(&points)
    }

    #[test]
    fn the_points_are_met_exactly_and_the_ends_hold() {
        let curve = table(&HARVESTER).unwrap();
        for (current, efficiency) in HARVESTER {
            assert_eq!(curve.efficiency(Amperes(current * 1e-6)), efficiency);
        }
        assert_eq!(curve.efficiency(Amperes(0.0)), 0.50);
        assert_eq!(curve.efficiency(Amperes(1.0)), 0.93);
        assert_eq!(table(&[(5.0, 0.7)]).unwrap().efficiency(Amperes(1.0)), 0.7);
    }

    #[test]
    fn halfway_in_the_logarithm_lies_the_hermite_value() {
        // Slopes per decade 0.4, 0.15 and 0; at the middle y = mean + (m_left - m_right) / 8.
        let curve = table(&[(1.0, 0.5), (10.0, 0.8), (100.0, 0.9)]).unwrap();
        let at = |decades: f64| curve.efficiency(Amperes(1e-6 * 10f64.powf(decades)));
        assert!((at(0.5) - 0.68125).abs() < 1e-12);
        assert!((at(1.5) - 0.86875).abs() < 1e-12);
        let line = table(&[(1.0, 0.5), (100.0, 0.9)]).unwrap();
        assert!((line.efficiency(Amperes(1e-5)) - 0.7).abs() < 1e-12);
    }

    #[test]
    fn input_power_is_output_power_over_efficiency() {
        let curve = table(&HARVESTER).unwrap();
        let load = Amperes(8e-6);
        let input = Volts(3.0) * curve.input_current(Volts(3.0), Volts(1.8), load);
        assert!((input.0 - 14.4e-6 / 0.82).abs() < 1e-18);
        let loss = curve.loss(Volts(1.8), load);
        assert!((loss.0 - (input.0 - 14.4e-6)).abs() < 1e-18);
    }

    #[test]
    fn points_that_make_no_curve_are_refused() {
        assert_eq!(table(&[]), Err(LawError::Empty("point of efficiency")));
        let twice = table(&[(1.0, 0.5), (1.0, 0.6)]);
        assert_eq!(twice, Err(LawError::NotRising { what: "current", entry: 2 }));
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(table(&[(bad, 0.5)]).is_err(), "a current of {bad}");
        }
        for bad in [0.0, -0.1, 1.1, f64::NAN] {
            assert!(table(&[(1.0, bad)]).is_err(), "an efficiency of {bad}");
        }
    }

    proptest! {
        #[test]
        fn no_value_leaves_the_span_of_its_neighbours(
            steps in prop::collection::vec((0.05f64..3.0, 0.01f64..=1.0), 2..8),
            share in 0.0f64..=1.0,
        ) {
            let mut current = 1.0;
            let points: Vec<_> = steps
                .iter()
                .map(|(step, efficiency)| {
                    current *= step.exp();
                    (current, *efficiency)
                })
                .collect();
            let curve = table(&points).unwrap();
            for pair in points.windows(2) {
                let at = |share: f64| {
                    let current = pair[0].0 * (pair[1].0 / pair[0].0).powf(share);
                    curve.efficiency(Amperes(current * 1e-6))
                };
                let (a, b) = (pair[0].1, pair[1].1);
                let value = at(share);
                prop_assert!(value >= a.min(b) && value <= a.max(b));
                // Monotone: no value steps back on the way from one point to the next.
                let later = at((share + 0.1).min(1.0));
                prop_assert!((later - value) * (b - a) >= -1e-12);
            }
        }
    }
}
