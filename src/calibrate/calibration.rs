//! A calibration file: what is fitted, to which measurements, and what is shared.

use super::case::CaseError;
use super::fit::FitError;
use super::validation::ValidationError;
use crate::diagnostic::{Fault, Report, parse_ron};
use crate::evidence::CommonSpread;
use serde::Deserialize;

/// A calibration: which numbers of profiles are fitted to which cases.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Calibration {
    /// Version of the format.
    pub schema: String,
    /// Its name, by which fitted numbers cite it.
    pub name: String,
    /// Cases: paths from the folder of the file, or names of shipped ones.
    pub cases: Vec<String>,
    /// True where cases have nothing in common: each is fitted by itself, with a scale of its own.
    #[serde(default)]
    pub apart: bool,
    /// Numbers that are fitted, by paths with names of list items (`domains.core.clock_tree.Charge`); a `*`
    /// stands for any part of a path. The spread of a number in its profile is its prior.
    pub fit: Vec<String>,
    /// Factors that numbers of several profiles share, in the place of the spreads of their own.
    #[serde(default)]
    pub shared: Vec<Shared>,
    /// Numbers that count as one where each has a factor of its own, by paths beyond the software stack
    /// (`cycles_per_output.*`).
    #[serde(default)]
    pub alike: Vec<Vec<String>>,
    /// Versions of runtimes in the order of their release, series by series.
    #[serde(default)]
    pub releases: Vec<Vec<String>>,
    /// What the model itself is off by, beside its numbers.
    #[serde(default)]
    pub discrepancy: Vec<Discrepancy>,
    /// What measurements scatter by, beside the spread that a case states for each.
    pub noise: Noise,
    /// How many measurements the stated noise and discrepancy are worth: their common scale, one for times and
    /// one for powers, is estimated with the fit. Left out, they hold as stated.
    #[serde(default)]
    pub stated_worth: Option<f64>,
    /// How residuals count.
    #[serde(default)]
    pub loss: StatedLoss,
}

/// A factor on numbers of profiles: one for each combination of what it goes over.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shared {
    /// The numbers, by path.
    pub paths: Vec<String>,
    /// What has a factor of its own; nothing means that all have one.
    pub over: Vec<Axis>,
    /// Spread of the factor of all these numbers together.
    #[serde(default)]
    pub common: Option<CommonSpread>,
    /// Spread of the factor of each number by itself.
    #[serde(default)]
    pub each: Option<CommonSpread>,
    /// Factors of releases of one series go together: `exp(-n / so many)` is the correlation of two that stand
    /// `n` places apart. Left out, they have nothing to do with one another.
    #[serde(default)]
    pub memory: Option<f64>,
}

/// A factor on predictions: one for each combination of what it goes over.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Discrepancy {
    /// What is off.
    pub of: Off,
    /// What has a factor of its own.
    pub over: Vec<Axis>,
    /// Its spread.
    pub spread: CommonSpread,
    /// Its spread for a single layer, where that is another: what a model misses of layers is partly made up for
    /// by others of the network.
    #[serde(default)]
    pub of_layer: Option<CommonSpread>,
    /// As that of [`Shared`].
    #[serde(default)]
    pub memory: Option<f64>,
}

/// What a discrepancy is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub enum Off {
    /// Time, and with it energy.
    Time,
    /// Power, and with it energy.
    Power,
}

/// What a factor is shared over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
pub enum Axis {
    /// Class of core.
    Core,
    /// Family of runtimes.
    Runtime,
    /// Library of kernels that a runtime calls.
    Kernels,
    /// Version of a runtime.
    Version,
    /// Profile.
    Hardware,
    /// Operating point of a profile.
    OperatingPoint,
    /// Case.
    Case,
    /// Network.
    Network,
    /// Family of networks: the name of one before its extents (`mobilenet_v1_int8(width=0.5)`).
    NetworkFamily,
}

/// Scatter of measurements.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Noise {
    /// Of times.
    pub latency: CommonSpread,
    /// Of energies and powers.
    pub energy: CommonSpread,
}

/// How residuals count.
#[derive(Debug, Clone, Copy, PartialEq, Default, Deserialize)]
pub enum StatedLoss {
    /// By their squares.
    #[default]
    Squares,
    /// By their squares up to so many standard deviations, and in proportion beyond.
    Huber(f64),
}

/// Why a calibration file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CalibrationError {
    /// The file could not be read.
    #[error("cannot read calibration {path}: {source}")]
    Read {
        /// The path as given.
        path: String,
        /// The system's word.
        source: std::io::Error,
    },
    /// Faults in the text.
    #[error(transparent)]
    Faults(#[from] Box<Report>),
    /// A fit.
    #[error(transparent)]
    Fit(#[from] FitError),
    /// A case.
    #[error(transparent)]
    Case(#[from] CaseError),
    /// What a case asks for.
    #[error(transparent)]
    Prediction(#[from] ValidationError),
}

const SCHEMA: &str = "joulecast.calibration/1";

impl Calibration {
    /// Reads a calibration from `text`, called `file` in errors.
    pub fn parse(file: &str, text: &str) -> Result<Self, CalibrationError> {
        let calibration: Self = parse_ron(file, text)?;
        let faults = calibration.faults();
        if faults.is_empty() {
            return Ok(calibration);
        }
        Err(Report::located(file, text, faults).into())
    }

    /// All spreads with their places.
    fn spreads(&self) -> Vec<(String, CommonSpread)> {
        let mut all = vec![
            ("noise.latency".to_owned(), self.noise.latency),
            ("noise.energy".to_owned(), self.noise.energy),
        ];
        for (i, shared) in self.shared.iter().enumerate() {
            all.extend(shared.common.map(|own| (format!("shared[{i}].common"), own)));
            all.extend(shared.each.map(|own| (format!("shared[{i}].each"), own)));
        }
        let off = self.discrepancy.iter().enumerate();
        all.extend(off.map(|(i, own)| (format!("discrepancy[{i}].spread"), own.spread)));
        all
    }

    fn faults(&self) -> Vec<Fault> {
        let mut faults = Vec::new();
        if self.schema != SCHEMA {
            let message = format!("schema `{}` is not `{SCHEMA}`", self.schema);
            faults.push(Fault::at("schema", message));
        }
        let named = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        if self.name.is_empty() || !self.name.chars().all(named) {
            let message = "a name of letters, digits and -_. is needed";
            faults.push(Fault::at("name", message));
        }
        if self.cases.is_empty() {
            faults.push(Fault::at("cases", "no case is named: there is nothing to fit to"));
        }
        if self.fit.is_empty() {
            let help = "\"*\" fits every uncertain number that a prediction depends on";
            faults.push(Fault::at("fit", "nothing is fitted").with_help(help));
        }
        for (place, spread) in self.spreads() {
            if spread.0 <= 0.0 {
                faults.push(Fault::at(
                    place,
                    "this spread must be above zero: what is exact needs no entry",
                ));
            }
        }
        for (i, shared) in self.shared.iter().enumerate() {
            if shared.common.is_none() && shared.each.is_none() {
                let message = "a factor needs `common`, `each`, or both";
                faults.push(Fault::at(format!("shared[{i}]"), message));
            }
            if shared.over.iter().any(|axis| matches!(axis, Axis::Network | Axis::NetworkFamily)) {
                let message = "numbers of a profile are the same for all networks";
                let help = "what differs by network is a `discrepancy`";
                faults.push(Fault::at(format!("shared[{i}].over"), message).with_help(help));
            }
        }
        let memories = self.shared.iter().map(|shared| (shared.memory, &shared.over));
        let memories = memories.enumerate().map(|(i, own)| (format!("shared[{i}]"), own));
        let off = self.discrepancy.iter().map(|d| (d.memory, &d.over)).enumerate();
        let off = off.map(|(i, own)| (format!("discrepancy[{i}]"), own));
        for (place, (memory, over)) in memories.chain(off) {
            let Some(memory) = memory else { continue };
            if !(memory > 0.0 && memory.is_finite()) {
                faults.push(Fault::at(format!("{place}.memory"), "a count of releases above zero"));
            }
            if !over.contains(&Axis::Version) {
                let message = "a memory over releases needs `Version` in `over`";
                faults.push(Fault::at(format!("{place}.memory"), message));
            }
        }
        if self.stated_worth.is_some_and(|worth| !(worth > 0.0 && worth.is_finite())) {
            faults.push(Fault::at("stated_worth", "a count of measurements above zero"));
        }
        if let StatedLoss::Huber(delta) = self.loss
            && !(delta > 0.0 && delta.is_finite())
        {
            faults.push(Fault::at("loss", "so many standard deviations above zero"));
        }
        faults
    }
}

/// True where a path is one of a pattern, in which `*` stands for any part.
pub(super) fn matches(pattern: &str, path: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else { return pattern == path };
    let Some(mut left) = path.strip_prefix(head) else { return false };
    let mut parts = rest.split('*').peekable();
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return left.ends_with(part);
        }
        let Some(at) = left.find(part) else { return false };
        left = left.get(at + part.len()..).unwrap_or("");
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_part_of_a_path() {
        for (pattern, path, expected) in [
            ("software.a-8.1.x", "software.a-8.1.x", true),
            ("software.*.x", "software.a-8.1.x", true),
            ("software.*.x", "software.a.x.y", false),
            ("software.*", "software.a.x.y", true),
            ("*", "anything.at.all", true),
            ("*.x.*", "a.x.b", true),
            ("*.x.*", "a.y.b", false),
            ("a*a", "a", false),
            ("a*b*c", "a1b2b3c", true),
        ] {
            assert_eq!(matches(pattern, path), expected, "{pattern} {path}");
        }
    }

    #[test]
    fn faults_are_reported_together() {
        let text = r#"(schema: "joulecast.calibration/2", name: "a b", cases: [], fit: [],
            shared: [(paths: ["*"], over: [Network])], loss: Huber(0.0),
            discrepancy: [(of: Time, over: [Network], spread: "±0%")],
            noise: (latency: "±0%", energy: "±1%"))"#;
        let shown = Calibration::parse("c.ron", text).unwrap_err().to_string();
        for part in [
            "is not `joulecast.calibration/1`",
            "letters, digits",
            "nothing to fit to",
            "nothing is fitted",
            "needs `common`",
            "the same for all networks",
            "standard deviations above zero",
            "noise.latency",
            "discrepancy[0].spread",
        ] {
            assert!(shown.contains(part), "{part}\n{shown}");
        }
    }
}
