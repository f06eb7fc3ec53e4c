//! What a fit looks for.

/// An unknown: the logarithm of a factor or of a value.
#[derive(Debug, Clone, PartialEq)]
pub struct Unknown {
    /// Its name in reports.
    pub name: String,
    /// What is known of it before; `None` where nothing is.
    pub prior: Option<Prior>,
    /// Lowest and highest value it may take.
    pub bounds: Option<(f64, f64)>,
}

/// A normal distribution.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prior {
    /// Its mean.
    pub mean: f64,
    /// Its standard deviation, above zero.
    pub deviation: f64,
}

impl Unknown {
    /// Of which only a prior is known.
    pub fn with_prior(name: impl Into<String>, mean: f64, deviation: f64) -> Self {
        Self { name: name.into(), prior: Some(Prior { mean, deviation }), bounds: None }
    }

    /// Of which nothing is known.
    pub fn free(name: impl Into<String>) -> Self {
        Self { name: name.into(), prior: None, bounds: None }
    }

    /// The unit in which steps are measured: its prior deviation, or one.
    pub(super) fn scale(&self) -> f64 {
        self.prior.map_or(1.0, |prior| prior.deviation)
    }

    /// Deviations from the prior mean.
    pub(super) fn off_prior(&self, x: f64) -> f64 {
        self.prior.map_or(0.0, |prior| (x - prior.mean) / prior.deviation)
    }

    /// The nearest value that it may take.
    pub(super) fn clamped(&self, x: f64) -> f64 {
        self.bounds.map_or(x, |(low, high)| x.max(low).min(high))
    }

    /// True at a bound that the descent would cross.
    pub(super) fn is_held(&self, x: f64, gradient: f64) -> bool {
        self.bounds.is_some_and(|(low, high)| {
            (x <= low && gradient > 0.0) || (x >= high && gradient < 0.0)
        })
    }
}
