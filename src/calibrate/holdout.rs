//! Measurements predicted by fits that never saw them.

use super::calibration::{Axis, StatedLoss};
use super::case::Quantity;
use super::fit::{FitError, Limits, Loss};
use super::joint::{Forecast, Joint, Sight, Start};
use crate::uncertainty::threads;
use std::collections::{BTreeMap, BTreeSet};

/// What a prediction was left to work from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Protocol {
    /// The profile as it stands: no measurement at all.
    Uncalibrated,
    /// All but one network under one version of a runtime on one chip: other versions on the chip may have it.
    Row,
    /// All but one network under one family of runtimes on one chip.
    Strict,
    /// All but one version of a runtime on one chip.
    Version,
    /// All but one chip: others with its core and its runtimes remain.
    Board,
    /// All but one network, on every chip.
    Network,
    /// All but one operating point of a chip: others of the same version remain.
    OperatingPoint,
}

impl Protocol {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Uncalibrated,
        Self::Row,
        Self::Strict,
        Self::Version,
        Self::Board,
        Self::Network,
        Self::OperatingPoint,
    ];

    /// As `--protocol` takes it, and as JSON has it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Uncalibrated => "uncalibrated",
            Self::Row => "row",
            Self::Strict => "strict",
            Self::Version => "version",
            Self::Board => "board",
            Self::Network => "network",
            Self::OperatingPoint => "operating_point",
        }
    }

    /// What a prediction had, in words.
    pub fn had(self) -> &'static str {
        match self {
            Self::Uncalibrated => "the profile as it stands, no measurement",
            Self::Row => "all but this network under this version of the runtime on this chip",
            Self::Strict => "all but this network under this family of runtimes on this chip",
            Self::Version => "all but this version of the runtime on this chip",
            Self::Board => "all but this chip; others have its core and kernels",
            Self::Network => "all but this network, on whatever chip",
            Self::OperatingPoint => "all but this operating point; the chip at others",
        }
    }

    /// What is left out together.
    fn axes(self) -> &'static [Axis] {
        match self {
            Self::Uncalibrated => &[],
            Self::Row => &[Axis::Hardware, Axis::Version, Axis::Network],
            Self::Strict => &[Axis::Hardware, Axis::Runtime, Axis::Network],
            Self::Version => &[Axis::Hardware, Axis::Version],
            Self::Board => &[Axis::Hardware],
            Self::Network => &[Axis::Network],
            Self::OperatingPoint => &[Axis::OperatingPoint, Axis::Version],
        }
    }

    /// What another measurement must have in common with one that is left out, for it to be a question that
    /// the rest can answer.
    fn anchored(self) -> &'static [Axis] {
        match self {
            Self::Uncalibrated | Self::Row | Self::Strict | Self::Network => &[],
            Self::Version | Self::Board => &[Axis::Core, Axis::Kernels],
            Self::OperatingPoint => &[Axis::Hardware, Axis::Version],
        }
    }

    /// The groups that a measurement is left out with; none where the protocol does not concern it. What a
    /// board draws at rest is given where it was measured apart: it costs one capture without any network. Between
    /// inferences of a network it is left out with each network of that capture.
    fn groups(self, sight: &Sight) -> Vec<String> {
        let along = |network: Option<&str>| sight.keys.along_all(self.axes(), network);
        match sight.quantity {
            Quantity::IdlePower => {
                sight.of_capture.iter().filter_map(|network| along(Some(network))).collect()
            }
            _ => along(sight.network.as_deref()).into_iter().collect(),
        }
    }
}

/// A prediction under a protocol.
#[derive(Debug, Clone, PartialEq)]
pub struct HeldOut {
    /// What it had.
    pub protocol: Protocol,
    /// The prediction.
    pub forecast: Forecast,
}

/// Predictions of all measurements under protocols, in the order of protocols. What several of them leave out
/// together is left out once for all.
///
/// # Errors
/// A fit has nothing to work from.
pub fn hold_out(
    joint: &Joint,
    protocols: &[Protocol],
    loss: StatedLoss,
    start: &Start,
) -> Result<Vec<HeldOut>, FitError> {
    let mut folds: BTreeMap<Vec<usize>, Vec<Asked>> = BTreeMap::new();
    let asked: BTreeSet<Protocol> = protocols.iter().copied().collect();
    for protocol in asked.iter().filter(|own| **own != Protocol::Uncalibrated) {
        for out in left_out(joint, *protocol) {
            let is_out = |at: usize| out.binary_search(&at).is_ok();
            // What a board draws at rest is no prediction of a network.
            let asked_for = |at: usize| {
                joint.sights().get(at).is_some_and(|own| own.quantity != Quantity::IdlePower)
            };
            let answerable =
                |at: &usize| asked_for(*at) && is_anchored(joint, *protocol, *at, is_out);
            let answerable: Vec<usize> = out.iter().copied().filter(answerable).collect();
            if !answerable.is_empty() {
                let asked = Asked { protocol: *protocol, answerable };
                folds.entry(out).or_default().push(asked);
            }
        }
    }
    let folds: Vec<_> = folds.into_iter().collect();
    let predicted = threads::mapped(&folds, |(out, asked)| {
        let tells = |at: usize| joint.sights().get(at).is_some_and(Sight::tells);
        let is_out = |at: usize| out.binary_search(&at).is_ok();
        let given = joint.given(|at| tells(at) && !is_out(at)).starting_at(start);
        let fitted = given.fitted(loss.into(), Limits::coarse())?;
        let forecasts = fitted.forecasts(|at| asked.iter().any(|asked| asked.has(at)));
        Ok(asked.iter().flat_map(|asked| asked.of(&forecasts)).collect::<Vec<_>>())
    });
    let predicted: Vec<Vec<HeldOut>> = predicted.into_iter().collect::<Result<_, FitError>>()?;
    let uncalibrated = match protocols.contains(&Protocol::Uncalibrated) {
        true => joint.prior_forecasts(|_| true),
        false => Vec::new(),
    };
    let uncalibrated = uncalibrated
        .into_iter()
        .map(|forecast| HeldOut { protocol: Protocol::Uncalibrated, forecast });
    let mut all: Vec<HeldOut> = uncalibrated.chain(predicted.into_iter().flatten()).collect();
    all.sort_by_key(|held| (held.protocol, held.forecast.sight));
    Ok(all)
}

/// What a protocol asks of a fit.
struct Asked {
    protocol: Protocol,
    /// Measurements, rising, that what is left can answer for.
    answerable: Vec<usize>,
}

impl Asked {
    fn has(&self, sight: usize) -> bool {
        self.answerable.binary_search(&sight).is_ok()
    }

    fn of(&self, forecasts: &[Forecast]) -> Vec<HeldOut> {
        let own = forecasts.iter().filter(|forecast| self.has(forecast.sight)).cloned();
        own.map(|forecast| HeldOut { protocol: self.protocol, forecast }).collect()
    }
}

/// Measurements, rising, that a protocol leaves out together, for each time that it leaves some out.
fn left_out(joint: &Joint, protocol: Protocol) -> Vec<Vec<usize>> {
    let mut groups: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (at, sight) in joint.sights().iter().enumerate() {
        for group in protocol.groups(sight) {
            let own = groups.entry(group).or_default();
            // A network may run twice in one capture.
            if own.last() != Some(&at) {
                own.push(at);
            }
        }
    }
    groups.into_values().collect()
}

fn is_anchored(
    joint: &Joint,
    protocol: Protocol,
    at: usize,
    is_out: impl Fn(usize) -> bool,
) -> bool {
    let axes = protocol.anchored();
    if axes.is_empty() {
        return true;
    }
    let key = |sight: &Sight| sight.keys.along_all(axes, None);
    let own = joint.sights().get(at).and_then(key);
    let ran = |sight: &Sight| sight.quantity != Quantity::IdlePower;
    let others = joint.sights().iter().enumerate();
    let others = others.filter(|(other, sight)| ran(sight) && sight.tells() && !is_out(*other));
    own.is_some() && others.into_iter().any(|(_, sight)| key(sight) == own)
}

impl From<StatedLoss> for Loss {
    fn from(stated: StatedLoss) -> Self {
        match stated {
            StatedLoss::Squares => Self::Squares,
            StatedLoss::Huber(delta) => Self::Huber(delta),
        }
    }
}
