//! Draws that take one number of the stream each, so that two runs that differ in a rate alone stay
//! draw for draw beside each other.

use crate::units::Seconds;
use rand::Rng;

/// Uniform on \[0, 1): 53 bits.
pub(super) fn uniform(generator: &mut impl Rng) -> f64 {
    const SCALE: f64 = 1.0 / (1u64 << 53) as f64;
    (generator.next_u64() >> 11) as f64 * SCALE
}

/// Exponential with a mean, by the inverse of its distribution.
pub(super) fn exponential(mean: Seconds, generator: &mut impl Rng) -> Seconds {
    // 1 - u is above zero.
    mean * -(1.0 - uniform(generator)).ln()
}
