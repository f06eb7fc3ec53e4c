//! How residuals count.

/// The loss of a residual `r` in standard deviations.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Loss {
    /// `r²`.
    #[default]
    Squares,
    /// `r²` up to `δ`, `2 δ |r| - δ²` beyond (Huber): a stray observation pulls with a constant force.
    Huber(f64),
}

impl Loss {
    /// `ρ(r)`.
    pub fn of(self, residual: f64) -> f64 {
        match self {
            Self::Huber(delta) if residual.abs() > delta => delta * (2.0 * residual.abs() - delta),
            Self::Squares | Self::Huber(_) => residual * residual,
        }
    }

    /// Weight `ρ'(r) / 2r` of the square that touches the loss at `r`.
    pub fn weight(self, residual: f64) -> f64 {
        match self {
            Self::Huber(delta) if residual.abs() > delta => delta / residual.abs(),
            Self::Squares | Self::Huber(_) => 1.0,
        }
    }
}
