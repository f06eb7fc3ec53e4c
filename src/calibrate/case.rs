//! A case: measurements of one board and runtime, as figures with their source.

use super::captured::{Accuracy, CaptureObservation, Captured, MeterAccuracy, take};
use crate::diagnostic::{Fault, Report, nearest, parse_ron, resolve_sources, source_kinds};
use crate::evidence::{Kind, Parameter, Sources, Valued, described, no_parameters};
use crate::units::{Joules, Ratio, RelativeError, Seconds, Spread, Watts};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

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

no_parameters!(Split, Option<RestOf>);

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
        /// Meters that took captures, by name.
        #[serde(default)]
        pub meters: BTreeMap<String, MeterAccuracy>,
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

/// The capture of networks that a power at rest was taken from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RestOf {
    /// As the case calls it.
    pub file: String,
    /// Where it is.
    pub place: String,
    /// The networks that run in it.
    pub networks: Vec<String>,
}

described! {
    /// Power at the supply in a state of rest.
    pub struct IdleObservation {
        /// The state, as the profile's domains call it.
        pub state: String,
        /// The power.
        pub power: Valued<Watts>,
        /// What the meter may be off by, where it is from a capture.
        #[serde(skip)]
        pub accuracy: Option<Accuracy>,
        /// The capture that it is from, where it is from one.
        #[serde(skip)]
        pub from: Option<RestOf>,
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
        /// Mean power at the supply while an inference is asked for once in each `period`.
        #[serde(default)]
        pub mean_power: Option<Valued<Watts>>,
        /// The time from one inference to the next.
        #[serde(default)]
        pub period: Option<Valued<Seconds>>,
        /// The state between inferences, as the profile's domains call it.
        #[serde(default)]
        pub rest: Option<String>,
        /// A capture that tells what is not stated here: latency, energy, power at rest where `rest` names the
        /// state, and layers where it says how; with a `period` the mean power of all of it instead.
        #[serde(default)]
        pub capture: Option<CaptureObservation>,
        /// What the capture gave.
        #[serde(skip)]
        pub captured: Option<Captured>,
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
        /// Further layers that its figures are of too.
        #[serde(default)]
        pub with: Vec<String>,
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
    /// Mean power of inferences at a period, with the rest between them.
    MeanPower,
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
            Self::MeanPower => "mean_power",
        }
    }

    /// With its unit as suffix (`latency_s`).
    pub fn with_unit(self) -> &'static str {
        match self {
            Self::Latency => "latency_s",
            Self::Energy => "energy_j",
            Self::IdlePower => "idle_power_w",
            Self::MeanPower => "mean_power_w",
        }
    }
}

/// A figure of a case: where it stands, and what it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measured<'a> {
    /// The layer among the observation's, by index and name; the whole network otherwise.
    pub layer: Option<(usize, &'a str)>,
    /// Further layers that it is of too.
    pub with: &'a [String],
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
    /// What the meter may be off by, where it is from a capture.
    pub accuracy: Option<&'a Accuracy>,
    /// True where it is from a capture.
    pub captured: bool,
    /// Why it says nothing new, where it does not: what makes it up is measured in the same capture.
    pub again: Option<&'static str>,
}

impl Measured<'_> {
    /// The layer, or those that it is of, as one name.
    pub fn layer_name(&self) -> Option<String> {
        let (_, name) = self.layer?;
        let with = self.with.iter().map(String::as_str);
        Some(std::iter::once(name).chain(with).collect::<Vec<_>>().join(" + "))
    }
}

/// Why a figure of a whole network is not counted beside those of all its layers.
const ITS_LAYERS: &str = "all its layers are measured in the same capture";

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
        let mut figures: Vec<Measured<'_>> = Vec::new();
        let captured = self.captured.as_ref();
        let is = |which: fn(&Captured) -> bool| captured.is_some_and(which);
        let layers = captured.filter(|own| own.layers_are_all).map(|_| ITS_LAYERS);
        let parts = captured.and_then(|own| own.made_up);
        let (latency, energy) = (self.latency.as_ref(), self.energy.as_ref());
        let (time_error, energy_error) =
            (self.recorded_latency_error.as_ref(), self.recorded_energy_error.as_ref());
        let mean = self.mean_power.as_ref();
        let whole = [
            (measured(Quantity::Latency, latency), time_error, is(|own| own.latency), layers),
            (measured(Quantity::Energy, energy), energy_error, is(|own| own.energy), layers),
            (measured(Quantity::MeanPower, mean), None, is(|own| own.mean_power), parts),
        ];
        for (figure, recorded, captured, again) in whole {
            figures.extend(figure.map(|own| Measured {
                recorded: recorded.map(|error| error.get().0),
                again: again.filter(|_| captured),
                ..self.told(own, captured)
            }));
        }
        let first = self.layers.len().saturating_sub(captured.map_or(0, |own| own.layers));
        for (at, own) in self.layers.iter().enumerate() {
            let pair = [
                (measured(Quantity::Latency, own.latency.as_ref()), &own.recorded_latency_error),
                (measured(Quantity::Energy, own.energy.as_ref()), &own.recorded_energy_error),
            ];
            for (figure, recorded) in pair {
                figures.extend(figure.map(|figure| Measured {
                    layer: Some((at, own.layer.as_str())),
                    with: &own.with,
                    recorded: recorded.as_ref().map(|error| error.get().0),
                    ..self.told(figure, captured.is_some() && at >= first)
                }));
            }
        }
        figures
    }

    /// The same figure, of the observation's capture or not.
    fn told<'a>(&'a self, figure: Measured<'a>, captured: bool) -> Measured<'a> {
        let accuracy = self.captured.as_ref().and_then(|own| own.accuracy.as_ref());
        Measured { accuracy: accuracy.filter(|_| captured), captured, ..figure }
    }
}

/// A figure of a whole network that nothing else is known of.
fn measured<'a, Q: crate::units::Quantity>(
    quantity: Quantity,
    value: Option<&Valued<Q>>,
) -> Option<Measured<'a>> {
    let own = value?.parameter();
    Some(Measured {
        layer: None,
        with: &[],
        quantity,
        value: own.value,
        sigma: sigma(own),
        kind: own.kind,
        recorded: None,
        accuracy: None,
        captured: false,
        again: None,
    })
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
    /// Reads a case file, and the captures that it names.
    pub fn load(path: &str) -> Result<Self, CaseError> {
        Self::load_on(path, None)
    }

    /// The same for another profile than the one that it names, where one is given: captures are read as that
    /// profile executes their networks.
    ///
    /// # Errors
    /// The file, or a capture that it names, cannot be read or has a fault.
    pub fn load_on(path: &str, hardware: Option<&str>) -> Result<Self, CaseError> {
        let text = std::fs::read_to_string(path)
            .map_err(|source| CaseError::Read { path: path.to_owned(), source })?;
        Self::read_on(path, &text, hardware)
    }

    /// Reads a case from the text of a file, and the captures that it names from the file's folder.
    pub fn read(path: &str, text: &str) -> Result<Self, CaseError> {
        Self::read_on(path, text, None)
    }

    fn read_on(path: &str, text: &str, hardware: Option<&str>) -> Result<Self, CaseError> {
        let mut case = Self::parse(path, text)?;
        if let Some(hardware) = hardware {
            case.hardware = hardware.to_owned();
        }
        let faults = take(&mut case, Path::new(path).parent().unwrap_or(Path::new("")));
        if faults.is_empty() {
            return Ok(case);
        }
        Err(Report::located(path, text, faults).into())
    }

    /// What a reader should know of its captures, in words.
    pub fn notes(&self) -> Vec<&str> {
        let captured = self.observations.iter().filter_map(|own| own.captured.as_ref());
        captured.flat_map(|own| own.notes.iter().map(String::as_str)).collect()
    }

    /// Reads a case from `text`, called `file` in errors. Captures that it names stay unread.
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
        faults.extend(case.parts_that_miss());
        if faults.is_empty() {
            return Ok(case);
        }
        Err(Report::located(file, text, faults).into())
    }

    /// What is there without what it needs.
    fn parts_that_miss(&self) -> Vec<Fault> {
        let mut faults = Vec::new();
        for (i, own) in self.observations.iter().enumerate() {
            let place = |field: &str| format!("observations[{i}].{field}");
            let from_all = own.capture.is_some() && own.period.is_some();
            if own.mean_power.is_some() || from_all {
                let field = if own.mean_power.is_some() { "mean_power" } else { "period" };
                let mut missing = Vec::new();
                missing.extend(own.period.is_none().then_some("`period`"));
                missing.extend(own.rest.is_none().then_some("`rest`"));
                if !missing.is_empty() {
                    let message = format!("a mean power needs {} too", missing.join(" and "));
                    let help = "`period: \"1 s\"` is the time from one inference to the next, `rest` the state between \
                                them, as the profile calls it (`on` for none)";
                    faults.push(Fault::at(place(field), message).with_help(help));
                }
                if !self.rails.is_empty() {
                    let message = "a mean power is that of all sources, and the meter of this case sees `rails`";
                    faults.push(Fault::at(place(field), message));
                }
            } else {
                let alone = [
                    ("period", own.period.is_some()),
                    ("rest", own.rest.is_some() && own.capture.is_none()),
                ];
                for (field, _) in alone.into_iter().filter(|(_, is_there)| *is_there) {
                    let message =
                        format!("a `{field}` without `mean_power` or a `capture` says nothing");
                    faults.push(Fault::at(place(field), message));
                }
            }
            if let Some(capture) = &own.capture {
                faults.extend(self.faults_of(capture, &place("capture")));
            }
        }
        faults
    }

    fn faults_of(&self, capture: &CaptureObservation, place: &str) -> Vec<Fault> {
        let mut faults = Vec::new();
        if !self.meters.contains_key(&capture.meter) {
            let message = format!("`{}` is no meter of this case", capture.meter);
            let near = nearest(&capture.meter, self.meters.keys().map(String::as_str));
            let help = match near {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!(
                    "what it may be off by is in its manual: meters: {{\"{}\": (gain: \"±1%\")}}",
                    capture.meter
                ),
            };
            faults.push(Fault::at(format!("{place}.meter"), message).with_help(help));
        }
        if capture.inferences == Some(0) {
            faults.push(Fault::at(
                format!("{place}.inferences"),
                "a mark holds one inference at least",
            ));
        }
        let above = [
            ("voltage", capture.voltage.as_ref().map(|own| own.get().0)),
            ("rate", capture.rate.as_ref().map(|own| own.get().0)),
        ];
        for (field, value) in above {
            if value.is_some_and(|value| value <= 0.0) {
                faults.push(Fault::at(format!("{place}.{field}"), "must be above zero"));
            }
        }
        faults
    }

    /// What is measured beside the figures that are compared.
    fn not_above_zero(&self) -> Vec<Fault> {
        let times = self.observations.iter().enumerate().filter_map(|(i, own)| {
            let time = own.energy_latency.as_ref()?.get().0;
            Some((format!("observations[{i}].energy_latency"), time))
        });
        let periods = self.observations.iter().enumerate().filter_map(|(i, own)| {
            Some((format!("observations[{i}].period"), own.period.as_ref()?.get().0))
        });
        let idle = self.idle.iter().enumerate();
        let powers = idle.map(|(i, own)| (format!("idle[{i}].power"), own.power.get().0));
        let wrong = times.chain(periods).chain(powers).filter(|(_, value)| *value <= 0.0);
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
