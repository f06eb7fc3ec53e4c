//! A case: measurements of one board and runtime, as figures with their source.

use crate::diagnostic::{Fault, Report, parse_ron, resolve_sources, source_kinds};
use crate::evidence::{Kind, Parameter, Sources, Valued, described, no_parameters};
use crate::units::{Joules, Ratio, RelativeError, Seconds, Spread, Watts};
use serde::{Deserialize, Serialize};
use std::fmt;

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
        pub runtime: RuntimeVersion,
        /// What else is known of how it was built (`flash in two banks`).
        #[serde(default)]
        pub build: Option<String>,
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
        /// Rails that the meter saw; without them the energy is that of all sources.
        #[serde(default)]
        pub rails: Vec<String>,
        /// How much an error may grow over the recorded one before the case fails.
        pub tolerance: Valued<Ratio>,
        /// The figures.
        pub observations: Vec<Observation>,
        /// Power while the firmware waits, with no network running.
        #[serde(default)]
        pub idle: Vec<IdleObservation>,
    }
}

described! {
    /// A release of an inference runtime.
    pub struct RuntimeVersion {
        /// Its family (`X-CUBE-AI`).
        pub family: String,
        /// The release, as software stacks name it.
        pub version: String,
    }
}

impl fmt::Display for RuntimeVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.family, self.version)
    }
}

described! {
    /// Power at the supply in a state of rest.
    pub struct IdleObservation {
        /// The state, as the profile's domains call it.
        pub state: String,
        /// The power.
        pub power: Valued<Watts>,
    }
}

described! {
    /// Figures of one network.
    pub struct Observation {
        /// The network, by the name of a shipped model, one of a family
        /// (`mobilenet_v1_int8(width=0.5)`) or a path.
        pub model: String,
        /// Samples at once, which the figures are for; one as the network has it.
        #[serde(default)]
        pub batch: Option<u64>,
        /// Multiply-accumulates of all samples as the source prints them.
        #[serde(default)]
        pub printed_macs: Option<u64>,
        /// Why its figures stay out of summaries: what is wrong with the source.
        #[serde(default)]
        pub fault: Option<String>,
        /// Time of an inference.
        #[serde(default)]
        pub latency: Option<Valued<Seconds>>,
        /// Energy of an inference at the supply.
        #[serde(default)]
        pub energy: Option<Valued<Joules>>,
        /// Time of an inference in the run that the energy is of, where it is another one than that of
        /// `latency`.
        #[serde(default)]
        pub energy_latency: Option<Valued<Seconds>>,
        /// Relative error of latency when the case was last looked at.
        #[serde(default)]
        pub recorded_latency_error: Option<Valued<RelativeError>>,
        /// Relative error of energy when the case was last looked at.
        #[serde(default)]
        pub recorded_energy_error: Option<Valued<RelativeError>>,
        /// Figures of single layers.
        #[serde(default)]
        pub layers: Vec<LayerObservation>,
    }
}

described! {
    /// Figures of one layer of a network.
    pub struct LayerObservation {
        /// The layer, as the network calls it.
        pub layer: String,
        /// Its time.
        #[serde(default)]
        pub latency: Option<Valued<Seconds>>,
        /// Its energy at the supply.
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

/// A quantity that is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    /// Time of an inference.
    Latency,
    /// Energy of an inference.
    Energy,
    /// Power at rest.
    IdlePower,
}

impl Quantity {
    /// Those of a network.
    pub const OF_NETWORKS: [Self; 2] = [Self::Latency, Self::Energy];

    /// In lower case, as fields of a case are called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Latency => "latency",
            Self::Energy => "energy",
            Self::IdlePower => "idle_power",
        }
    }

    /// With its unit as suffix (`latency_s`).
    pub fn with_unit(self) -> &'static str {
        match self {
            Self::Latency => "latency_s",
            Self::Energy => "energy_j",
            Self::IdlePower => "idle_power_w",
        }
    }
}

/// A figure of a case: where it stands, and what it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measured<'a> {
    /// The layer among the observation's, by index and name; the whole network otherwise.
    pub layer: Option<(usize, &'a str)>,
    /// What is measured.
    pub quantity: Quantity,
    /// The measurement, in SI.
    pub value: f64,
    /// Deviation of its logarithm, as the case states it.
    pub sigma: f64,
    /// What kind of source it has.
    pub kind: Kind,
    /// The relative error of its prediction when the case was last looked at.
    pub recorded: Option<f64>,
}

/// Deviation of the logarithm of a measurement.
pub(super) fn sigma(parameter: &Parameter) -> f64 {
    match parameter.spread {
        Some(Spread::LogNormal(sigma)) => sigma,
        Some(Spread::Normal(sigma)) if parameter.value > 0.0 => sigma / parameter.value,
        _ => 0.0,
    }
}

impl Observation {
    /// All its figures, those of the whole network first.
    pub fn figures(&self) -> Vec<Measured<'_>> {
        let pair = |latency: &Option<Valued<Seconds>>, energy: &Option<Valued<Joules>>| {
            let latency = latency.as_ref().map(|v| (v.get().0, sigma(v.parameter()), v.kind()));
            [latency, energy.as_ref().map(|v| (v.get().0, sigma(v.parameter()), v.kind()))]
        };
        type Recorded = Option<Valued<RelativeError>>;
        let errors = |latency: &Recorded, energy: &Recorded| {
            [latency, energy].map(|error| error.as_ref().map(|e| e.get().0))
        };
        let mut figures = Vec::new();
        let mut add = |layer, values: [Option<(f64, f64, Kind)>; 2], recorded: [Option<f64>; 2]| {
            for ((quantity, value), recorded) in
                Quantity::OF_NETWORKS.into_iter().zip(values).zip(recorded)
            {
                figures.extend(value.map(|(value, sigma, kind)| Measured {
                    layer,
                    quantity,
                    value,
                    sigma,
                    kind,
                    recorded,
                }));
            }
        };
        add(
            None,
            pair(&self.latency, &self.energy),
            errors(&self.recorded_latency_error, &self.recorded_energy_error),
        );
        for (at, own) in self.layers.iter().enumerate() {
            add(
                Some((at, own.layer.as_str())),
                pair(&own.latency, &own.energy),
                errors(&own.recorded_latency_error, &own.recorded_energy_error),
            );
        }
        figures
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
            for figure in observation.figures() {
                // What is no number has a fault of its own.
                if !figure.value.is_nan() && figure.value <= 0.0 {
                    let layer =
                        figure.layer.map_or(String::new(), |(at, _)| format!(".layers[{at}]"));
                    let path = format!("observations[{i}]{layer}.{}", figure.quantity.name());
                    faults.push(Fault::at(path, "a measurement must be above zero"));
                }
            }
        }
        faults.extend(case.not_above_zero());
        if faults.is_empty() {
            return Ok(case);
        }
        Err(Report::located(file, text, faults).into())
    }

    /// What is measured beside the figures that are compared.
    fn not_above_zero(&self) -> Vec<Fault> {
        let times = self.observations.iter().enumerate().filter_map(|(i, own)| {
            let time = own.energy_latency.as_ref()?.get().0;
            Some((format!("observations[{i}].energy_latency"), time))
        });
        let idle = self.idle.iter().enumerate();
        let powers = idle.map(|(i, own)| (format!("idle[{i}].power"), own.power.get().0));
        let wrong = times.chain(powers).filter(|(_, value)| *value <= 0.0);
        wrong.map(|(path, _)| Fault::at(path, "a measurement must be above zero")).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_of_a_case_are_reported_together() {
        let text = r#"(schema: "joulecast.case/1", id: "x", board: "b", runtime: (family: "r", version: "1"), hardware: "h",
            operating_point: "p", split: HoldOut, sources: {}, tolerance: "2",
            idle: [(state: "waiting", power: "0 mW")],
            observations: [(model: "m", latency: "1 ms @nowhere", energy: "0 uJ", energy_latency: "0 ms",
                layers: [(layer: "l", latency: "0 ms")])])"#;
        let shown = Case::parse("case.ron", text).unwrap_err().to_string();
        assert!(shown.contains("needs a unit"), "{shown}");
        assert!(shown.contains("no source is called `nowhere`"), "{shown}");
        assert_eq!(shown.matches("must be above zero").count(), 4, "{shown}");
    }
}
