//! What a fit says of numbers together.

use crate::evidence::no_parameters;
use serde::Deserialize;

/// What a fit says of numbers together. Each has its value and its spread where it stands; here is how they
/// go together, as energies that only their sum was measured of do.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Posterior {
    /// The numbers, as paths with the names of list items (`domains.core.clock_tree.Charge`).
    pub numbers: Vec<String>,
    /// Rows of the lower Cholesky factor of the covariance of their logarithms, each up to the diagonal.
    pub factor: Vec<Vec<f64>>,
}

no_parameters!(Posterior);
