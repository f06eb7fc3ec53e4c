//! The principal branch of the Lambert function, `W e^W = x` with `W >= -1`.
//!
//! Halley's iteration (Corless et al., Adv. Comput. Math. 5, 1996), started below zero from the
//! expansion at the branch point `x = -1/e` and above zero from `ln(1 + x)`. Within rounding of the
//! branch point `W` has half the digits of `x`, as the square root there takes the other half.

/// `W0(x)`; none below the branch point, where it has no real value.
pub(super) fn lambert_w0(x: f64) -> Option<f64> {
    let above_branch = 1.0 + std::f64::consts::E * x;
    if above_branch.is_nan() || above_branch < 0.0 {
        return None;
    }
    let mut w = if x < 0.0 {
        let p = (2.0 * above_branch).sqrt();
        -1.0 + p * (1.0 - p * (1.0 / 3.0 - p * 11.0 / 72.0))
    } else {
        x.ln_1p()
    };
    for _ in 0..20 {
        let excess = w - x * (-w).exp();
        let slope = (w + 1.0) - (w + 2.0) * excess / (2.0 * w + 2.0);
        let step = excess / slope;
        // On the branch point both are zero.
        if !step.is_finite() {
            break;
        }
        w -= step;
        if step.abs() <= f64::EPSILON * w.abs() {
            break;
        }
    }
    Some(w)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_values_come_out() {
        // The omega constant, W(e) = 1, W(0) = 0, W(-ln 2 / 2) = -ln 2.
        let near = |x: f64, w: f64| {
            let found = lambert_w0(x).unwrap();
            assert!((found - w).abs() < 1e-14, "W({x}) = {found}");
        };
        near(1.0, 0.567_143_290_409_783_8);
        near(std::f64::consts::E, 1.0);
        near(0.0, 0.0);
        near(-std::f64::consts::LN_2 / 2.0, -std::f64::consts::LN_2);
        near(1e-300, 1e-300);
    }

    #[test]
    fn the_branch_ends_at_minus_one_over_e() {
        assert!((lambert_w0(-(-1f64).exp()).unwrap() + 1.0).abs() < 1e-7);
        assert_eq!(lambert_w0(-0.37), None);
        assert_eq!(lambert_w0(f64::NAN), None);
    }

    #[test]
    fn the_defining_equation_holds_along_the_branch() {
        for step in 1..400 {
            let w = -1.0 + f64::from(step) * 0.02;
            let found = lambert_w0(w * w.exp()).unwrap();
            assert!((found - w).abs() < 1e-13, "{w}: {found}");
        }
    }
}
