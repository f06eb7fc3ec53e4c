//! A capture as an observation: what a case says of it, and what its figures rest on.
//!
//! A case names the file, the meter and the marks. What comes of it are figures like those that a source prints,
//! so that all that works on these works on a capture: time and energy of an inference, of layers, the power
//! between inferences, or the mean power of the whole. Their spread is the standard error of the repeats; what
//! the meter is off by is the same in all that it measured, and is one unknown of a fit.

mod files;
mod folded;
mod likeness;
mod marked;
mod problem;
mod scatter;
mod stretches;
mod taken;

pub(super) use taken::{take, takes_again};

use crate::capture::{EdgeRule, HostWords, Request, WindowOptions};
use crate::evidence::{CommonSpread, Valued, described, no_parameters};
use crate::formats::{Options, TableOptions};
use crate::units::{Hertz, Seconds, SimTime, Spread, Volts};
use serde::Deserialize;
use std::path::Path;

described! {
    /// What a meter may be off by in all that it measures.
    pub struct MeterAccuracy {
        /// What it reads of a power over what is there.
        pub gain: CommonSpread,
        /// Its seconds over true ones; exact where left out.
        #[serde(default)]
        pub clock: Option<CommonSpread>,
    }
}

described! {
    /// A capture of a board that runs the network of an observation.
    pub struct CaptureObservation {
        /// The file or folder, from the folder of the case.
        pub file: String,
        /// The meter, among those of the case.
        pub meter: String,
        /// The format, where its content does not tell it.
        #[serde(default)]
        pub format: Option<String>,
        /// Sample rate, for files that do not say it.
        #[serde(default)]
        pub rate: Option<Valued<Hertz>>,
        /// Supply voltage, for files that hold a current alone. A spread that it states counts as one of the
        /// meter's gain.
        #[serde(default)]
        pub voltage: Option<Valued<Volts>>,
        /// How a table of numbers is laid out.
        #[serde(default)]
        pub table: TableOptions,
        /// The digital line that marks inferences; the only one that moves where left out.
        #[serde(default)]
        pub line: Option<String>,
        /// How its edges mark them; found where left out.
        #[serde(default)]
        pub edges: Option<Edges>,
        /// Inferences in each mark; one where left out and no file says it.
        #[serde(default)]
        pub inferences: Option<u64>,
        /// Marks to leave out at the start.
        #[serde(default)]
        pub warm_up: u64,
        /// A log of the host that tells of windows.
        #[serde(default)]
        pub log: Option<HostLog>,
        /// Where layers are taken from; none are where left out.
        #[serde(default)]
        pub layers: Option<LayerSource>,
        /// How long behind a mark, and before the next, the board is not yet at rest.
        #[serde(default)]
        pub settling: Option<Valued<Seconds>>,
    }
}

/// What is measured this many times off a prediction is worth a word.
const FAR: f64 = 6.0;

/// How edges of a line mark inferences.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub enum Edges {
    /// Falls pair up: start, stop.
    Falls,
    /// Rises pair up.
    Rises,
    /// While the line is low.
    Low,
    /// While the line is high.
    High,
    /// No line: while power is high, between its change points.
    Power,
}

/// A log of the host.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostLog {
    /// The file, from the folder of the case.
    pub file: String,
    /// Lines that hold this tell of a start.
    #[serde(default)]
    pub start: Option<String>,
    /// Lines that hold this tell of a stop.
    #[serde(default)]
    pub stop: Option<String>,
}

/// Where the figures of layers come from.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub enum LayerSource {
    /// A second digital line.
    Marked {
        /// The line.
        line: String,
        /// How it marks layers.
        at: LayerMarks,
    },
    /// The profile of one inference, folded from all, where it shows an edge between two layers.
    Folded,
}

/// How a line marks layers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub enum LayerMarks {
    /// Each change of the line starts a layer, which lasts to the next or to the end of the inference.
    Changes,
    /// Each rise does.
    Rises,
    /// Each fall does.
    Falls,
    /// A layer runs while the line is high.
    High,
    /// A layer runs while the line is low.
    Low,
}

no_parameters!(CommonSpread, TableOptions, Edges, HostLog, LayerSource, Captured, Option<Accuracy>);

/// What a meter may be off by, as deviations of logarithms: the same in all that it measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Accuracy {
    /// The meter.
    pub meter: String,
    /// Of power.
    pub power: f64,
    /// Of time.
    pub time: f64,
    /// Where the capture is, whose voltage is its own.
    pub file: String,
    /// Of that voltage, where the meter does not measure it.
    pub voltage: f64,
}

/// Which figures of an observation a capture gave.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Captured {
    /// What its meter may be off by.
    pub accuracy: Option<Accuracy>,
    /// The time of an inference.
    pub latency: bool,
    /// Its energy.
    pub energy: bool,
    /// The mean power.
    pub mean_power: bool,
    /// How many of the layers, which stand behind those that the case states.
    pub layers: usize,
    /// True where the layers are all of the inference, so that the figures of the whole say nothing new.
    pub layers_are_all: bool,
    /// Why the mean power says nothing new, where it does not.
    pub made_up: Option<&'static str>,
    /// Where the file is.
    pub place: String,
    /// The windows that figures were taken from, in the order of time; none for a mean of all.
    pub windows: Vec<(SimTime, SimTime)>,
    /// What a reader should know, in words.
    pub notes: Vec<String>,
}

impl CaptureObservation {
    /// What is asked of the capture, with paths from a folder.
    fn request(&self, folder: &Path) -> Request {
        let words = HostWords::default();
        let log = self.log.as_ref();
        let said = |word: fn(&HostLog) -> &Option<String>| log.and_then(|log| word(log).clone());
        Request {
            path: folder.join(&self.file),
            format: self.format.clone(),
            options: Options {
                rate: self.rate.as_ref().map(Valued::get),
                voltage: self.voltage.as_ref().map(Valued::get),
                table: self.table.clone(),
            },
            windows: WindowOptions {
                line: self.line.clone(),
                rule: self.edges.map(Edges::rule),
                warm_up: usize::try_from(self.warm_up).unwrap_or(usize::MAX),
                words: HostWords {
                    start: said(|log| &log.start).unwrap_or(words.start),
                    stop: said(|log| &log.stop).unwrap_or(words.stop),
                },
            },
            inferences: self.inferences,
            log: log.map(|log| folder.join(&log.file)),
        }
    }

    /// What its meter may be off by.
    fn accuracy(&self, meter: &MeterAccuracy, place: String) -> Accuracy {
        let voltage = self.voltage.as_ref().map(Valued::parameter).filter(|own| own.stated);
        let voltage = match voltage.and_then(|own| own.spread) {
            Some(Spread::LogNormal(sigma)) => sigma,
            _ => 0.0,
        };
        let time = meter.clock.map_or(0.0, |clock| clock.0);
        let (meter, power) = (self.meter.clone(), meter.gain.0);
        Accuracy { meter, power, time, file: place, voltage }
    }
}

impl Edges {
    fn rule(self) -> EdgeRule {
        match self {
            Self::Falls => EdgeRule::Falls,
            Self::Rises => EdgeRule::Rises,
            Self::Low => EdgeRule::Low,
            Self::High => EdgeRule::High,
            Self::Power => EdgeRule::Power,
        }
    }
}
