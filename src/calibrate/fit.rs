//! Least squares in logarithms of parameters, with priors: the mathematics of a calibration, which knows
//! no networks and no boards.
//!
//! Of `p` unknowns `x` with priors `N(m_j, s_j²)` (or none) and `n` residuals `r_i(x)`, each over its
//! standard deviation, the fit minimises `Σ ρ(r_i) + Σ ((x_j - m_j) / s_j)²`. What is drawn from a
//! posterior is linear around that optimum (Laplace).

mod levenberg_marquardt;
mod loss;
mod posterior;
mod rows;
mod step;
mod unknown;

pub use levenberg_marquardt::{Fit, FitError, Limits, Model, Stop, fit};
pub use loss::Loss;
pub use posterior::{Direction, Posterior};
pub use rows::{Row, Rows};
pub use unknown::{Prior, Unknown};

#[cfg(test)]
mod tests;
