//! The laws of heat that a package states.

use super::heat_links::HeatLinks;
use super::spec::{
    AllocatorTrip, BlockResponses, Critical, HeatSensor, NodeNetwork, Package, StepWiseTrip,
    ThermalNetwork,
};
use crate::evidence::Valued;
use crate::physics::LawError;
use crate::physics::cap_hold::CapHold;
use crate::physics::critical_trip::CriticalTrip;
use crate::physics::leaking_network::SensorLag;
use crate::physics::power_allocator::{AllocatorGains, PowerAllocator};
use crate::physics::step_wise::StepWise;
use crate::physics::temperature_reading::TemperatureReading;
use crate::physics::thermal_modes::ThermalModes;
use crate::physics::thermal_network::{CauerLadder, CauerStage, FosterForm, FosterTerm};
use crate::physics::thermal_nodes::{ThermalJoin, ThermalNode, ThermalNodes};
use crate::physics::thermal_responses::{ResponseTerm, ThermalResponses};
use crate::units::{Celsius, Kelvins, KelvinsPerWatt, Quantity, Seconds};

/// Time between polls that state none.
const POLL: Seconds = Seconds(0.1);
/// Temperature at which a junction that runs away is given up where none is stated.
const CEILING: Celsius = Celsius(200.0);

fn stated<Q: Quantity>(value: Option<&Valued<Q>>, otherwise: Q) -> Q {
    value.map_or(otherwise, Valued::get)
}

impl Package {
    /// The network by its modes; its places are those of [`Self::node_names`].
    ///
    /// # Errors
    ///
    /// Numbers that no network can have, which a checked profile has not, or that lie too far apart for
    /// double precision.
    pub fn modes(&self) -> Result<ThermalModes, LawError> {
        match &self.network {
            ThermalNetwork::Cauer(nodes) => {
                let stage = |node: &super::spec::CauerNode| CauerStage {
                    resistance: node.resistance.get(),
                    capacity: node.capacity.get(),
                };
                ThermalModes::of_ladder(&CauerLadder::new(nodes.iter().map(stage).collect())?)
            }
            ThermalNetwork::Foster(terms) => {
                let term = |term: &super::spec::FosterTerm| FosterTerm {
                    resistance: term.resistance.get(),
                    time: term.time_constant.get(),
                };
                ThermalModes::of_foster(&FosterForm::new(terms.iter().map(term).collect())?)
            }
            ThermalNetwork::Nodes(network) => ThermalModes::of_nodes(&network.law()?),
            ThermalNetwork::Responses(responses) => ThermalModes::of_responses(&responses.law()?),
        }
    }

    /// The places and lags of the sensors, by the resolved names of the profile.
    pub fn sensor_lags(&self, links: &HeatLinks) -> Vec<SensorLag> {
        let sensors = self.sensors.iter().zip(&links.sensor_node);
        sensors.map(|(sensor, place)| SensorLag { place: *place, time: sensor.lag() }).collect()
    }

    /// The temperature at which a junction that runs away is given up.
    pub fn ceiling(&self) -> Celsius {
        stated(self.ceiling.as_ref(), CEILING)
    }
}

impl NodeNetwork {
    fn law(&self) -> Result<ThermalNodes, LawError> {
        let node = |node: &super::spec::HeatNode| ThermalNode {
            capacity: node.capacity.get(),
            to_air: node.to_air.as_ref().map(Valued::get),
        };
        // A name that there is not stands for a node that there is not.
        let place =
            |name: &str| self.nodes.iter().position(|node| node.name == name).unwrap_or(usize::MAX);
        let join = |join: &super::spec::HeatJoin| ThermalJoin {
            between: (place(&join.between.0), place(&join.between.1)),
            resistance: join.resistance.get(),
        };
        let nodes = self.nodes.iter().map(node).collect();
        ThermalNodes::new(nodes, self.joins.iter().map(join).collect())
    }
}

impl BlockResponses {
    fn law(&self) -> Result<ThermalResponses, LawError> {
        let count = self.blocks.len();
        let term = |term: &super::spec::BlockTerm| {
            let below = |i: usize, j: usize| {
                let row = term.resistances.get(i.max(j));
                let entry = row.and_then(|row| row.get(i.min(j)));
                entry.map_or(KelvinsPerWatt(f64::NAN), Valued::get)
            };
            let row = |i: usize| (0..count).map(|j| below(i, j)).collect();
            let resistances = (0..count).map(row).collect();
            ResponseTerm { time: term.time_constant.get(), resistances }
        };
        ThermalResponses::new(count, self.terms.iter().map(term).collect())
    }
}

impl HeatSensor {
    /// Time constant that it follows with; zero for one that follows at once.
    pub fn lag(&self) -> Seconds {
        stated(self.lag.as_ref(), Seconds::ZERO)
    }

    /// How finely it tells temperatures.
    pub fn reading(&self) -> TemperatureReading {
        TemperatureReading { resolution: stated(self.resolution.as_ref(), Kelvins::ZERO) }
    }

    /// Time between readings; nothing for one that reads whenever it is asked.
    pub fn period(&self) -> Option<Seconds> {
        self.period.as_ref().map(Valued::get)
    }
}

impl StepWiseTrip {
    /// The law, for clocks that have `deepest` points below their fastest.
    pub fn law(&self, deepest: usize) -> StepWise {
        StepWise { trip: self.trip.get(), hysteresis: self.hysteresis.get(), deepest }
    }

    /// Time between polls.
    pub fn poll(&self) -> Seconds {
        stated(self.poll.as_ref(), POLL)
    }
}

impl AllocatorTrip {
    /// The law.
    pub fn law(&self) -> PowerAllocator {
        let (on, target) = (self.switch_on.get(), self.target.get());
        let sustainable = self.sustainable.get();
        let period = self.poll();
        let estimated = AllocatorGains::estimated(sustainable, on, target);
        let gain = |own: Option<&Valued<_>>, otherwise: f64| {
            own.map_or(otherwise, |gain: &Valued<crate::units::WattsPerKelvin>| gain.get().0)
        };
        let over = gain(self.gain_over.as_ref(), estimated.over);
        let under = gain(self.gain_under.as_ref(), 2.0 * over);
        let gains = AllocatorGains {
            over,
            under,
            integral: gain(self.gain_integral.as_ref(), under / 10.0),
            derivative: gain(self.gain_change.as_ref(), 0.0) * period.0,
        };
        PowerAllocator { gains, ..PowerAllocator::new(on, target, sustainable, period) }
    }

    /// Time between polls.
    pub fn poll(&self) -> Seconds {
        stated(self.poll.as_ref(), POLL)
    }

    /// How long a cap that has fallen stays.
    pub fn hold(&self) -> CapHold {
        CapHold { hold: stated(self.hold.as_ref(), Seconds::ZERO) }
    }
}

impl Critical {
    /// The law.
    pub fn law(&self) -> CriticalTrip {
        CriticalTrip { temperature: self.temperature.get() }
    }
}
