//! Pictures of a fit: how far measurements are off, and what they told about which numbers.

mod contributions;
mod correlations;
mod factors;
mod numbers;
mod predicted;
mod residuals;

use super::scene::Scene;
use super::theme::Theme;
use crate::calibrate::FitReport;

/// What a picture of a fit shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FitView {
    /// How many deviations each measurement is off by, before and after.
    Residuals,
    /// Predicted against measured, before and after.
    Predicted,
    /// Each number before and after.
    Numbers,
    /// Which numbers go together.
    Correlations,
    /// What each measurement told.
    Contributions,
}

impl FitView {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::Residuals, Self::Predicted, Self::Numbers, Self::Correlations, Self::Contributions];

    /// What its file is called, without an extension.
    pub fn name(self) -> &'static str {
        match self {
            Self::Residuals => "residuals",
            Self::Predicted => "predicted",
            Self::Numbers => "numbers",
            Self::Correlations => "correlations",
            Self::Contributions => "contributions",
        }
    }
}

/// The picture and its size.
pub(super) fn compose(view: FitView, report: &FitReport, theme: &Theme) -> (Scene, (u32, u32)) {
    match view {
        FitView::Residuals => residuals::compose(report, theme),
        FitView::Predicted => predicted::compose(report, theme),
        FitView::Numbers => numbers::compose(report, theme),
        FitView::Correlations => correlations::compose(report, theme),
        FitView::Contributions => contributions::compose(report, theme),
    }
}

#[cfg(test)]
mod tests;
