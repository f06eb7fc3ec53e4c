//! A case: measurements of one board and runtime, as figures with their source.

use crate::diagnostic::{Fault, Report, parse_ron, resolve_sources, source_kinds};
use crate::evidence::{Sources, Valued, described, no_parameters};
use crate::units::{Joules, Ratio, RelativeError, Seconds};
use serde::{Deserialize, Serialize};

/// What a prediction of an observation was allowed to know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Split {
    /// The profile was not fitted to anything.
    Uncalibrated,
    /// The observation was part of the fit.
    Fit,
    /// The fit never saw it.
    HoldOut,
}

impl Split {
    /// In lower case, for tables and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Uncalibrated => "uncalibrated",
            Self::Fit => "fit",
            Self::HoldOut => "hold-out",
        }
    }
}

no_parameters!(Split);

described! {
    /// Measurements of one board and runtime.
    pub struct Case {
        /// Version of the format.
        pub schema: String,
        /// Unique name.
        pub id: String,
        /// The board.
        pub board: String,
        /// The runtime that ran.
        pub runtime: String,
        /// The profile that predicts it.
        pub hardware: String,
        /// The operating point.
        pub operating_point: String,
        /// The software stack of the profile that stands for the runtime.
        #[serde(default)]
        pub software: Option<String>,
        /// What the prediction was allowed to know.
        pub split: Split,
        /// Sources of the figures.
        pub sources: Sources,
        /// How much an error may grow over the recorded one before the case fails.
        pub tolerance: Valued<Ratio>,
        /// The figures.
        pub observations: Vec<Observation>,
    }
}

described! {
    /// Figures of one network.
    pub struct Observation {
        /// The network, by the name of a shipped model or a path.
        pub model: String,
        /// Time of an inference.
        #[serde(default)]
        pub latency: Option<Valued<Seconds>>,
        /// Energy of an inference at the supply.
        #[serde(default)]
        pub energy: Option<Valued<Joules>>,
        /// Relative error of latency when the case was last looked at.
        #[serde(default)]
        pub recorded_latency_error: Option<Valued<RelativeError>>,
        /// Relative error of energy when the case was last looked at.
        #[serde(default)]
        pub recorded_energy_error: Option<Valued<RelativeError>>,
    }
}

/// Why a case cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CaseError {
    /// The file could not be read.
    #[error("cannot read case {path}: {source}")]
    Read {
        /// The path as given.
        path: String,
        /// The system's word.
        source: std::io::Error,
    },
    /// Faults in the text.
    #[error(transparent)]
    Faults(#[from] Box<Report>),
}

const SCHEMA: &str = "joulecast.case/1";

impl Case {
    /// Reads a case file.
    pub fn load(path: &str) -> Result<Self, CaseError> {
        let text = std::fs::read_to_string(path)
            .map_err(|source| CaseError::Read { path: path.to_owned(), source })?;
        Self::parse(path, &text)
    }

    /// Reads a case from `text`, called `file` in errors.
    pub fn parse(file: &str, text: &str) -> Result<Self, CaseError> {
        let mut case: Self = parse_ron(file, text)?;
        let kinds = source_kinds(&case.sources);
        let mut faults = resolve_sources(&mut case, &kinds);
        if case.schema != SCHEMA {
            let message = format!("schema `{}` is not `{SCHEMA}`", case.schema);
            faults.push(Fault::at("schema", message));
        }
        for (i, observation) in case.observations.iter().enumerate() {
            let positive = |value: Option<f64>| value.is_none_or(|v| v.is_nan() || v > 0.0);
            let latency = observation.latency.as_ref().map(|v| v.get().0);
            let energy = observation.energy.as_ref().map(|v| v.get().0);
            for (field, value) in [("latency", latency), ("energy", energy)] {
                if !positive(value) {
                    let path = format!("observations[{i}].{field}");
                    faults.push(Fault::at(path, "a measurement must be above zero"));
                }
            }
        }
        if faults.is_empty() {
            return Ok(case);
        }
        Err(Report::located(file, text, faults).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_of_a_case_are_reported_together() {
        let text = r#"(schema: "joulecast.case/1", id: "x", board: "b", runtime: "r", hardware: "h",
            operating_point: "p", split: HoldOut, sources: {}, tolerance: "2",
            observations: [(model: "m", latency: "1 ms @nowhere", energy: "0 uJ")])"#;
        let shown = Case::parse("case.ron", text).unwrap_err().to_string();
        assert!(shown.contains("needs a unit"), "{shown}");
        assert!(shown.contains("no source is called `nowhere`"), "{shown}");
        assert!(shown.contains("must be above zero"), "{shown}");
    }
}
