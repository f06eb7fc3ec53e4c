//! What a file says before its samples.

use crate::units::{Joules, SimTime, Volts};
use serde::{Deserialize, Serialize};

/// What a channel measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum ChannelKind {
    /// Power \[W\].
    Power,
    /// Current \[A\].
    Current,
    /// Voltage \[V\].
    Voltage,
    /// Temperature \[degC\].
    Temperature,
    /// Clock frequency \[Hz\].
    Frequency,
    /// A share of one: load, duty, power factor.
    Share,
    /// A count, or anything else that the file names.
    Other,
}

impl ChannelKind {
    /// The unit its values are in; empty for a bare number.
    pub fn unit(self) -> &'static str {
        match self {
            Self::Power => "W",
            Self::Current => "A",
            Self::Voltage => "V",
            Self::Temperature => "degC",
            Self::Frequency => "Hz",
            Self::Share | Self::Other => "",
        }
    }

    /// In words, for tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Power => "power",
            Self::Current => "current",
            Self::Voltage => "voltage",
            Self::Temperature => "temperature",
            Self::Frequency => "frequency",
            Self::Share => "share",
            Self::Other => "other",
        }
    }
}

/// One stream of samples.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Channel {
    /// Its name in the file.
    pub name: String,
    /// What it measures.
    pub kind: ChannelKind,
    /// The supply line it is taken from; channels of one line share the name. Empty for what is no
    /// electrical quantity.
    pub rail: String,
    /// The supply line that feeds this one and is measured too, so that the two must not be added.
    pub part_of: Option<String>,
}

impl Channel {
    /// A channel on a supply line of its own.
    pub fn new(name: impl Into<String>, kind: ChannelKind, rail: impl Into<String>) -> Self {
        Self { name: name.into(), kind, rail: rail.into(), part_of: None }
    }
}

/// What time zero of a capture is.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Origin {
    /// The first sample, and nothing else is known.
    #[default]
    FirstSample,
    /// This reading of the file's own clock \[s\].
    OwnClock(f64),
    /// A wall clock, in nanoseconds since 1970 of the zone that the file is in; `utc` where that
    /// zone is known to be UTC.
    Wall {
        /// Nanoseconds since 1970-01-01 00:00:00.
        unix_ns: i64,
        /// True where the zone is UTC, false where the file does not say.
        utc: bool,
    },
}

/// What a benchmark's own result file states.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StatedRun {
    /// Inferences in each measured window, back to back.
    pub inferences_per_window: Option<u64>,
    /// The published energy of an inference.
    pub energy_per_inference: Option<Joules>,
    /// The energy of an inference in each window, as published.
    pub by_window: Vec<Joules>,
}

/// All that is known of a capture before its samples.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Layout {
    /// Name of the format that was read.
    pub format: String,
    /// Channels, in the order of the file.
    pub channels: Vec<Channel>,
    /// Names of digital lines.
    pub lines: Vec<String>,
    /// What time zero is.
    pub origin: Origin,
    /// The supply voltage, where a file states it apart from the samples.
    pub supply: Option<Volts>,
    /// Instants of edges, and from which instant the publisher counts there, where it is another: it
    /// may take whole samples only.
    pub counted: Vec<(SimTime, SimTime)>,
    /// What a benchmark says of the run.
    pub run: Option<StatedRun>,
    /// What a reader of the figures should know: an assumption, something left out.
    pub remarks: Vec<String>,
}

impl Layout {
    /// The instant from which sums count at an edge.
    pub fn counted_at(&self, edge: SimTime) -> SimTime {
        self.counted.iter().find(|(at, _)| *at == edge).map_or(edge, |(_, counted)| *counted)
    }
}
