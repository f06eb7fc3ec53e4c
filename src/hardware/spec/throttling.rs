//! Temperature sensors, and what slows clocks down or shuts down by them.

use crate::evidence::{FieldPath, Parameter, Parameters, Valued, described};
use crate::units::{Celsius, Kelvins, Ratio, Seconds, Watts, WattsPerKelvin};
use serde::Deserialize;

described! {
    /// A temperature sensor.
    pub struct HeatSensor {
        /// Its name.
        pub name: String,
        /// The node that it is at; the first when left out.
        #[serde(default)]
        pub node: Option<String>,
        /// Time constant that it follows with, 10 to 100 ms for sensors beside the blocks; at once when left out.
        #[serde(default)]
        pub lag: Option<Valued<Seconds>>,
        /// Step of its readings, to the nearest of which they are rounded; none when left out.
        #[serde(default)]
        pub resolution: Option<Valued<Kelvins>>,
        /// Time between readings; whenever it is asked when left out.
        #[serde(default)]
        pub period: Option<Valued<Seconds>>,
    }
}

/// What slows clocks down when it is hot.
#[derive(Debug, Clone, Deserialize)]
pub enum Throttle {
    /// One operating point at a time, with hysteresis.
    StepWise(Box<StepWiseTrip>),
    /// By a power budget, as Linux's power allocator.
    PowerAllocator(Box<AllocatorTrip>),
}

super::precision::either_parameter!(Throttle: StepWise, PowerAllocator);

described! {
    /// One operating point down at every poll above a trip, one up below its hysteresis.
    pub struct StepWiseTrip {
        /// The sensor that it looks at; the first when left out.
        #[serde(default)]
        pub sensor: Option<String>,
        /// Reading from which it goes down.
        pub trip: Valued<Celsius>,
        /// How far below the trip it goes up again.
        pub hysteresis: Valued<Kelvins>,
        /// Time between polls; 100 ms when left out.
        #[serde(default)]
        pub poll: Option<Valued<Seconds>>,
        /// Clocks that it caps, or engines, whose clocks it caps.
        pub caps: Vec<String>,
    }
}

described! {
    /// A power budget from the temperature, divided among clocks.
    pub struct AllocatorTrip {
        /// The sensor that it looks at; the first when left out.
        #[serde(default)]
        pub sensor: Option<String>,
        /// Temperature below which nothing is capped.
        pub switch_on: Valued<Celsius>,
        /// Temperature that it holds.
        pub target: Valued<Celsius>,
        /// Power that it can be held at.
        pub sustainable: Valued<Watts>,
        /// Time between polls; 100 ms when left out.
        #[serde(default)]
        pub poll: Option<Valued<Seconds>>,
        /// Gain above the target; the sustainable power over target less switch when left out.
        #[serde(default)]
        pub gain_over: Option<Valued<WattsPerKelvin>>,
        /// Gain below the target; twice that when left out.
        #[serde(default)]
        pub gain_under: Option<Valued<WattsPerKelvin>>,
        /// Gain of the sum of errors, a poll; a tenth of that below the target when left out.
        #[serde(default)]
        pub gain_integral: Option<Valued<WattsPerKelvin>>,
        /// Gain of the change of the error from poll to poll; none when left out.
        #[serde(default)]
        pub gain_change: Option<Valued<WattsPerKelvin>>,
        /// Time from when a cap fell until it may rise again; none when left out, as in Linux.
        #[serde(default)]
        pub hold: Option<Valued<Seconds>>,
        /// Who shares the budget.
        pub actors: Vec<AllocatorActor>,
    }
}

described! {
    /// Who shares a power budget.
    pub struct AllocatorActor {
        /// A clock, or an engine, whose clock it is.
        pub caps: String,
        /// Its weight; 1 when left out.
        #[serde(default)]
        pub weight: Option<Valued<Ratio>>,
    }
}

described! {
    /// The temperature at which hardware shuts down at once.
    pub struct Critical {
        /// The temperature.
        pub temperature: Valued<Celsius>,
        /// The node that it looks at; the first when left out, and none when it looks at a sensor.
        #[serde(default)]
        pub node: Option<String>,
        /// The sensor whose readings it looks at, when it is not a node.
        #[serde(default)]
        pub sensor: Option<String>,
    }
}
