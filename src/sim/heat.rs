//! How hot it got in a run, at its end.

use crate::units::{Celsius, Joules, SimTime};
use serde::{Deserialize, Serialize};

/// A node of the package in a run.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeHeat {
    /// Its name.
    pub name: String,
    /// Temperature at the start.
    pub first: Celsius,
    /// The highest.
    pub highest: Celsius,
    /// When it was that.
    pub highest_at: SimTime,
    /// The mean over time.
    pub mean: Celsius,
    /// At the end.
    pub last: Celsius,
    /// Heat that came into it from what it is heated by.
    pub heat: Joules,
}

/// A temperature sensor in a run.
#[derive(Debug, Clone, PartialEq)]
pub struct SensorHeat {
    /// Its name.
    pub name: String,
    /// Its highest reading; nothing of one that has not been read.
    pub highest: Option<Celsius>,
    /// Its last reading.
    pub last: Option<Celsius>,
    /// How often it was read.
    pub readings: u64,
}

/// What shut a run down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum TrippedBy {
    /// A node, by number.
    Node(usize),
    /// A sensor's reading, by number.
    Sensor(usize),
}

/// A critical trip.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Tripped {
    /// When.
    pub at: SimTime,
    /// At what.
    pub by: TrippedBy,
    /// Its temperature.
    pub temperature: Celsius,
}

/// A temperature that nothing held.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Runaway {
    /// When the ceiling was reached.
    pub at: SimTime,
    /// The node, by number.
    pub node: usize,
    /// True where no temperature is steady at the power of that moment, since leakage grows faster than
    /// heat leaves; false where it is just too much power.
    pub unbounded: bool,
}

/// Heat in a run.
#[derive(Debug, Clone, PartialEq)]
pub struct HeatUse {
    /// Temperature of the air.
    pub ambient: Celsius,
    /// Nodes of the package.
    pub nodes: Vec<NodeHeat>,
    /// Its sensors.
    pub sensors: Vec<SensorHeat>,
    /// Leakage by its law, at the temperatures that there were.
    pub leaked: Joules,
    /// What of it the accounts hold, whose temperatures move in steps.
    pub booked: Joules,
    /// Steps of the network.
    pub steps: u64,
    /// The critical trip that ended the run.
    pub tripped: Option<Tripped>,
    /// The ceiling that ended it.
    pub runaway: Option<Runaway>,
}

impl HeatUse {
    /// The highest temperature of all nodes.
    pub fn highest(&self) -> Option<Celsius> {
        self.nodes.iter().map(|own| own.highest).max_by(|a, b| a.0.total_cmp(&b.0))
    }
}
