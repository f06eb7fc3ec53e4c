//! The parts of a buck regulator's loss from points of its efficiency curve.
//!
//! `V I (1 / eta - 1) = V_in I_q + p_sw min(1, I / I_pfm) + d I + R I^2`, each part not below zero
//!
//! Symbols: those of [`super::buck_regulator`], `eta` \[1\] the efficiency read at a load. For a given
//! `I_pfm` the law is linear in the rest. Each point is weighed by `eta^2 / (V I)`, the change of
//! efficiency with loss, so that what is least in the sum of squares is the error in efficiency. With
//! four parts, the best fit without a negative one is the best of the fits by some of them (Lawson and
//! Hanson, Solving Least Squares Problems, 1974, ch. 23: at the solution the parts above zero are the
//! plain least-squares fit of their own). Parts that the points cannot tell apart are left out. `I_pfm`,
//! where it is not known, is looked for between the first and the last load. Valid between the loads of
//! the points, at their voltages.

use super::buck_regulator::BuckRegulator;
use super::law_error::{LawError, positive};
use crate::units::{Amperes, Ohms, Volts, Watts};

/// An efficiency that was read.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EfficiencyAt {
    /// Load current \[A\].
    pub load: Amperes,
    /// Efficiency \[1\].
    pub efficiency: f64,
    /// Input voltage \[V\].
    pub input: Volts,
    /// Output voltage \[V\].
    pub output: Volts,
}

/// A fitted law.
#[derive(Debug, Clone, PartialEq)]
pub struct BuckFit {
    /// The law.
    pub law: BuckRegulator,
    /// Efficiency of the law less the one read, at each point.
    pub errors: Vec<f64>,
}

impl BuckFit {
    /// The point with the largest error, and that error; none without points.
    pub fn worst(&self) -> Option<(usize, f64)> {
        let errors = self.errors.iter().copied().enumerate();
        errors.max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()))
    }
}

/// Most points that a data sheet's curve is read at.
const MOST: usize = 1000;
/// Loads between two points at which the knee is tried.
const TRIED: usize = 8;
/// Steps that narrow the knee down: 0.618^60 is below rounding.
const NARROWED: usize = 60;
/// Below this share of its length a column is the sum of others.
const DEPENDENT: f64 = 1e-9;
/// A fit with more parts has to be better by this.
const BETTER: f64 = 1.0 - 1e-9;

/// Fits the law to points, with the quiescent current and the knee where they are known.
///
/// # Errors
///
/// No point or too many, a load or voltage that is not above zero, an efficiency outside of (0, 1].
pub fn fit(
    points: &[EfficiencyAt],
    quiescent: Option<Amperes>,
    knee: Option<Amperes>,
) -> Result<BuckFit, LawError> {
    check(points)?;
    let (quiet, law) = match knee {
        Some(knee) => (quiescent, best(points, quiescent, Some(knee.0)).1),
        None => (quiescent, with_sought_knee(points, quiescent)),
    };
    let law = BuckRegulator { quiescent: quiet.unwrap_or(law.quiescent), ..law };
    let error = |p: &EfficiencyAt| law.efficiency(p.input, p.output, p.load) - p.efficiency;
    Ok(BuckFit { law, errors: points.iter().map(error).collect() })
}

fn check(points: &[EfficiencyAt]) -> Result<(), LawError> {
    if points.is_empty() {
        return Err(LawError::Empty("point of efficiency"));
    }
    if points.len() > MOST {
        let what = "points of efficiency";
        return Err(LawError::TooMany { what, count: points.len(), limit: MOST });
    }
    for (index, point) in points.iter().enumerate() {
        let entry = index + 1;
        positive("current", entry, point.load.0)?;
        positive("input voltage", entry, point.input.0)?;
        positive("output voltage", entry, point.output.0)?;
        let value = point.efficiency;
        if !(value > 0.0 && value <= 1.0) {
            let range = "above 0 and at most 1";
            return Err(LawError::OutOfRange { what: "efficiency", entry, value, range });
        }
    }
    Ok(())
}

/// The best law over all knees between the loads of the points, or without one.
fn with_sought_knee(points: &[EfficiencyAt], quiescent: Option<Amperes>) -> BuckRegulator {
    let mut loads: Vec<f64> = points.iter().map(|p| p.load.0.ln()).collect();
    loads.sort_by(f64::total_cmp);
    let tried = loads.windows(2).flat_map(|pair| {
        let (from, to) =
            (pair.first().copied().unwrap_or(0.0), pair.last().copied().unwrap_or(0.0));
        (1..=TRIED).map(move |step| from + (to - from) * step as f64 / TRIED as f64)
    });
    let tried: Vec<f64> = tried.collect();
    let error = |knee: f64| best(points, quiescent, Some(knee.exp())).0;
    let (mut least, mut law) = best(points, quiescent, None);
    let errors: Vec<f64> = tried.iter().map(|knee| error(*knee)).collect();
    let lowest = errors.iter().enumerate().min_by(|a, b| a.1.total_cmp(b.1));
    let Some((at, _)) = lowest else { return law };
    let before = at.checked_sub(1).and_then(|i| tried.get(i)).or(loads.first());
    let after = tried.get(at + 1).or(loads.last());
    let (Some(&before), Some(&after), Some(&middle)) = (before, after, tried.get(at)) else {
        return law;
    };
    for knee in [middle, narrowed(before, middle, &error), narrowed(middle, after, &error)] {
        let (own, found) = best(points, quiescent, Some(knee.exp()));
        if own < least * BETTER {
            (least, law) = (own, found);
        }
    }
    law
}

/// Where a function is least between two places, by golden section.
fn narrowed(mut low: f64, mut high: f64, error: &impl Fn(f64) -> f64) -> f64 {
    let golden = 0.5 * (5f64.sqrt() - 1.0);
    let inner = |low: f64, high: f64| (high - golden * (high - low), low + golden * (high - low));
    let (mut a, mut b) = inner(low, high);
    let (mut at_a, mut at_b) = (error(a), error(b));
    for _ in 0..NARROWED {
        if at_a <= at_b {
            (high, b, at_b) = (b, a, at_a);
            a = inner(low, high).0;
            at_a = error(a);
        } else {
            (low, a, at_a) = (a, b, at_b);
            b = inner(low, high).1;
            at_b = error(b);
        }
    }
    0.5 * (low + high)
}

/// The sum of squared errors, and the law, of the best fit at a knee.
fn best(
    points: &[EfficiencyAt],
    quiescent: Option<Amperes>,
    knee: Option<f64>,
) -> (f64, BuckRegulator) {
    let weight = |p: &EfficiencyAt| p.efficiency * p.efficiency / (p.output.0 * p.load.0);
    let known = quiescent.map_or(0.0, |q| q.0);
    let goal = points.iter().map(|p| {
        let loss = p.output.0 * p.load.0 * (1.0 / p.efficiency - 1.0);
        weight(p) * (loss - p.input.0 * known)
    });
    let goal: Vec<f64> = goal.collect();
    let column = |part: usize| -> Vec<f64> {
        let value = |p: &EfficiencyAt| match part {
            0 => knee.map_or(1.0, |knee| (p.load.0 / knee).min(1.0)),
            1 => p.load.0,
            2 => p.load.0 * p.load.0,
            _ => p.input.0,
        };
        points.iter().map(|p| weight(p) * value(p)).collect()
    };
    let columns: Vec<Vec<f64>> = (0..if quiescent.is_some() { 3 } else { 4 }).map(column).collect();
    let (error, [switching, drop, resistance, idle]) = not_negative(&columns, &goal);
    let law = BuckRegulator {
        quiescent: Amperes(idle),
        switching: Watts(switching),
        knee: knee.map(Amperes),
        proportional: Volts(drop),
        resistance: Ohms(resistance),
    };
    (error, law)
}

/// The least sum of squares without a negative share: the best of all fits by some of the columns.
fn not_negative(columns: &[Vec<f64>], goal: &[f64]) -> (f64, [f64; 4]) {
    let mut sets: Vec<u32> = (1..1u32 << columns.len()).collect();
    sets.sort_by_key(|set| (set.count_ones(), *set));
    let mut least = (goal.iter().map(|g| g * g).sum(), [0.0; 4]);
    for set in sets {
        let chosen = (0..columns.len()).filter(|i| set & 1 << i != 0).collect::<Vec<_>>();
        let Some((error, shares)) = least_squares(columns, &chosen, goal) else { continue };
        if error < least.0 * BETTER && shares.iter().all(|share| *share >= 0.0) {
            let mut all = [0.0; 4];
            for (place, share) in chosen.iter().zip(&shares) {
                if let Some(own) = all.get_mut(*place) {
                    *own = *share;
                }
            }
            least = (error, all);
        }
    }
    least
}

/// Plain least squares by some columns, by orthogonalisation; none where they depend on each other.
fn least_squares(columns: &[Vec<f64>], chosen: &[usize], goal: &[f64]) -> Option<(f64, Vec<f64>)> {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let mut left = goal.to_vec();
    // Each direction with its share of the goal and, before it, of its own column.
    let mut directions: Vec<Vec<f64>> = Vec::new();
    let mut upper: Vec<Vec<f64>> = Vec::new();
    let mut along: Vec<f64> = Vec::new();
    for &place in chosen {
        let mut own = columns.get(place)?.clone();
        let length = dot(&own, &own).sqrt();
        let mut row = Vec::new();
        for direction in &directions {
            let share = dot(direction, &own);
            own.iter_mut().zip(direction).for_each(|(own, d)| *own -= share * d);
            row.push(share);
        }
        let rest = dot(&own, &own).sqrt();
        if rest.is_nan() || rest <= DEPENDENT * length {
            return None;
        }
        own.iter_mut().for_each(|own| *own /= rest);
        row.push(rest);
        let share = dot(&own, &left);
        left.iter_mut().zip(&own).for_each(|(left, d)| *left -= share * d);
        along.push(share);
        upper.push(row);
        directions.push(own);
    }
    let mut shares = vec![0.0; chosen.len()];
    for at in (0..chosen.len()).rev() {
        let later =
            (at + 1..chosen.len()).map(|later| Some(upper.get(later)?.get(at)? * shares[later]));
        let later: f64 = later.collect::<Option<Vec<f64>>>()?.iter().sum();
        shares[at] = (along.get(at)? - later) / upper.get(at)?.get(at)?;
    }
    Some((dot(&left, &left), shares))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAW: BuckRegulator = BuckRegulator {
        quiescent: Amperes(12e-6),
        switching: Watts(4e-3),
        knee: Some(Amperes(0.03)),
        proportional: Volts(0.04),
        resistance: Ohms(0.15),
    };

    fn points(law: &BuckRegulator) -> Vec<EfficiencyAt> {
        let loads = [1e-4, 1e-3, 5e-3, 0.02, 0.05, 0.1, 0.2, 0.4, 0.8];
        let point = |load: f64| {
            let (load, input, output) = (Amperes(load), Volts(3.6), Volts(1.2));
            let efficiency = law.efficiency(input, output, load);
            EfficiencyAt { load, efficiency, input, output }
        };
        loads.map(point).to_vec()
    }

    fn near(found: f64, known: f64, tolerance: f64) {
        assert!((found / known - 1.0).abs() < tolerance, "{found} against {known}");
    }

    #[test]
    fn points_made_of_a_law_give_it_back() {
        for (quiescent, knee) in [
            (None, LAW.knee),
            (Some(LAW.quiescent), LAW.knee),
            (None, None),
            (Some(LAW.quiescent), None),
        ] {
            let fit = fit(&points(&LAW), quiescent, knee).unwrap();
            near(fit.law.quiescent.0, 12e-6, 1e-5);
            near(fit.law.switching.0, 4e-3, 1e-5);
            near(fit.law.knee.unwrap().0, 0.03, 1e-5);
            near(fit.law.proportional.0, 0.04, 1e-5);
            near(fit.law.resistance.0, 0.15, 1e-5);
            assert!(fit.worst().unwrap().1.abs() < 1e-7, "{fit:?}");
        }
    }

    #[test]
    fn a_part_that_is_not_there_comes_out_as_none() {
        let law = BuckRegulator { proportional: Volts::ZERO, knee: None, ..LAW };
        let fit = fit(&points(&law), Some(law.quiescent), None).unwrap();
        assert!(fit.law.proportional.0 < 1e-9, "{fit:?}");
        near(fit.law.switching.0, 4e-3, 1e-6);
        near(fit.law.resistance.0, 0.15, 1e-6);
    }

    #[test]
    fn no_part_is_below_zero_and_what_does_not_fit_is_told() {
        // Efficiency that rises with the load for ever, then one point that is far off.
        let mut points = points(&LAW);
        points[6].efficiency -= 0.1;
        let fit = fit(&points, Some(LAW.quiescent), LAW.knee).unwrap();
        let law = fit.law;
        assert!(law.switching.0 >= 0.0 && law.proportional.0 >= 0.0 && law.resistance.0 >= 0.0);
        let (worst, error) = fit.worst().unwrap();
        assert_eq!(worst, 6);
        assert!(error > 0.03, "{error}");
    }

    #[test]
    fn one_point_is_met_by_one_part() {
        let one = points(&LAW)[5];
        let fit = fit(&[one], Some(Amperes::ZERO), None).unwrap();
        assert!(fit.worst().unwrap().1.abs() < 1e-12);
        assert_eq!(super::fit(&[], None, None), Err(LawError::Empty("point of efficiency")));
        let over = EfficiencyAt { efficiency: 1.2, ..one };
        assert!(super::fit(&[over], None, None).is_err());
    }
}
