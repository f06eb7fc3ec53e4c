//! The package at the end of a run.

use super::Package;
use crate::sim::heat::{HeatUse, NodeHeat, SensorHeat};
use crate::units::{Celsius, Joules, SimTime};

impl Package<'_> {
    /// What is known at the end, where the network has been brought.
    pub(in crate::sim::system) fn close(mut self, end: SimTime) -> HeatUse {
        let own = &mut self.moving;
        let (ambient, over) = (self.network.ambient(), end.seconds());
        let heat: Vec<Joules> = own.heat.iter().map(|sum| Joules(sum.value())).collect();
        let mut nodes = Vec::with_capacity(self.names.len());
        for (place, name) in self.names.iter().enumerate() {
            let last = self.network.temperature(&mut own.state, place);
            let ends = (&mut own.at_first, &mut own.state);
            let mean = match over.0 > 0.0 {
                true => Celsius(ambient.0 + self.network.mean_rise(ends, place, &heat, over).0),
                false => last,
            };
            let (highest, highest_at) = own.highest[place];
            let (name, first) = ((*name).to_owned(), own.first[place]);
            nodes.push(NodeHeat {
                name,
                first,
                highest,
                highest_at,
                mean,
                last,
                heat: heat[place],
            });
        }
        let sensors = self.sensors.iter().zip(&own.reads).map(|(sensor, read)| SensorHeat {
            name: sensor.name.to_owned(),
            highest: read.highest,
            last: read.last,
            readings: read.readings,
        });
        HeatUse {
            ambient,
            nodes,
            sensors: sensors.collect(),
            leaked: Joules(own.leaked.value()),
            booked: Joules(own.booked.value()),
            steps: own.steps,
            tripped: own.tripped,
            runaway: own.runaway,
        }
    }
}
