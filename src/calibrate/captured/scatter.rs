//! A mean of repeats with its standard error.

use crate::capture::Repeats;

/// A measured mean, and the deviation of its logarithm.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Told {
    pub value: f64,
    pub sigma: f64,
}

/// Student's t at 68.27 % for 1 to 10 degrees of freedom: a standard error from few repeats is itself unsure
/// (JCGM 100:2008, table G.2).
const STUDENT_68: [f64; 10] = [1.84, 1.32, 1.20, 1.14, 1.11, 1.09, 1.08, 1.07, 1.06, 1.05];

impl Told {
    /// The mean of repeats, none of none or of what is not above zero. Each repeat is told to a step of the
    /// meter's clock, with a deviation of `resolution`: where all fall on the same one, their agreement says nothing
    /// of it, and it does not average out. Of a single repeat the scatter is not known.
    pub(super) fn of(values: &[f64], resolution: f64) -> Option<Self> {
        let count = values.len();
        let value = values.iter().sum::<f64>() / count as f64;
        if !(value > 0.0 && value.is_finite()) {
            return None;
        }
        let scatter = Repeats::of(values).map_or(0.0, |repeats| {
            let factor = STUDENT_68.get(count.saturating_sub(2)).copied().unwrap_or(1.0);
            repeats.standard_error * factor
        });
        // The scatter of repeats on several steps holds that of the steps already.
        let error = scatter.max(coarse(values, resolution));
        Some(Self { value, sigma: error / value })
    }

    /// The same, at least as unsure as something else.
    pub(super) fn at_least(self, sigma: f64) -> Self {
        Self { sigma: self.sigma.max(sigma), ..self }
    }

    /// The same with another part of its error.
    pub(super) fn and(self, sigma: f64) -> Self {
        Self { sigma: self.sigma.hypot(sigma), ..self }
    }
}

/// What a mean of repeats is off by for being told in steps with a deviation of `resolution`.
pub(super) fn coarse(values: &[f64], resolution: f64) -> f64 {
    let first = values.first().copied().unwrap_or(f64::NAN);
    let alike = values.iter().all(|own| (own - first).abs() < 1e-9 * first.abs());
    if alike { resolution } else { resolution / (values.len() as f64).sqrt() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_repeats_are_less_sure_than_their_scatter() {
        let two = Told::of(&[1.0, 1.02], 0.0).unwrap();
        assert!((two.value - 1.01).abs() < 1e-12);
        assert!((two.sigma - 1.84 * 0.01 / 1.01).abs() < 1e-9);
        let many: Vec<f64> = (0..50).map(|k| 1.0 + 0.01 * f64::from(k % 2)).collect();
        assert!((Told::of(&many, 0.0).unwrap().sigma - 0.000_711).abs() < 1e-5);
    }

    #[test]
    fn repeats_on_one_step_of_the_clock_do_not_make_it_finer() {
        assert!((Told::of(&[2.0; 9], 0.02).unwrap().sigma - 0.01).abs() < 1e-12);
        let apart = Told::of(&[2.0, 2.001, 1.999, 2.0], 0.02).unwrap();
        assert!((apart.sigma - 0.005).abs() < 1e-9);
        assert_eq!(Told::of(&[3.0], 0.0).unwrap().sigma, 0.0);
        assert_eq!(Told::of(&[], 0.1), None);
        assert_eq!(Told::of(&[0.0, 0.0], 0.1), None);
        assert_eq!(Told::of(&[f64::NAN], 0.1), None);
    }
}
