//! What looks at temperatures: the highest of each node, sensors, the critical limit.

use super::{Package, REACHED};
use crate::hardware::CriticalAt;
use crate::sim::heat::{Tripped, TrippedBy};
use crate::units::{Celsius, SimTime};

impl Package<'_> {
    /// Takes note of the temperatures of now.
    pub(super) fn look(&mut self, now: SimTime) {
        let own = &mut self.moving;
        for (place, highest) in own.highest.iter_mut().enumerate() {
            let temperature = self.network.temperature(&mut own.state, place);
            if temperature > highest.0 {
                *highest = (temperature, now);
            }
        }
        if let Some((trip, CriticalAt::Node(node))) = self.critical {
            let temperature = self.network.temperature(&mut own.state, node);
            if trip.is_reached(Celsius(temperature.0 + REACHED)) {
                self.trip(now, TrippedBy::Node(node), temperature);
            }
        }
    }

    fn trip(&mut self, at: SimTime, by: TrippedBy, temperature: Celsius) {
        self.moving.tripped.get_or_insert(Tripped { at, by, temperature });
    }

    /// Reads the sensors that are asked, and those that read whenever they are.
    pub(in crate::sim::system) fn read(&mut self, now: SimTime) {
        let asked = std::mem::take(&mut self.asked);
        for sensor in 0..self.sensors.len() {
            let unit = &self.sensors[sensor];
            if unit.period.is_some() && !asked.contains(&sensor) {
                continue;
            }
            let sensed = self.network.sensed(&mut self.moving.state, sensor);
            let reading = unit.reading.of(sensed);
            let read = &mut self.moving.reads[sensor];
            read.highest = Some(read.highest.map_or(reading, |highest| highest.max(reading)));
            (read.last, read.readings) = (Some(reading), read.readings + 1);
            if let Some((trip, CriticalAt::Sensor(own))) = self.critical
                && own == sensor
                && trip.is_reached(reading)
            {
                self.trip(now, TrippedBy::Sensor(sensor), reading);
            }
        }
        self.asked = asked;
        self.asked.clear();
    }

    /// Sensors that are read by the clock, with their periods.
    pub(in crate::sim::system) fn periods(&self) -> Vec<(usize, SimTime)> {
        let sensors = self.sensors.iter().enumerate();
        sensors.filter_map(|(sensor, own)| Some((sensor, own.period?.max(SimTime(1))))).collect()
    }

    pub(in crate::sim::system) fn period(&self, sensor: usize) -> Option<SimTime> {
        self.sensors.get(sensor)?.period.map(|own| own.max(SimTime(1)))
    }
}
