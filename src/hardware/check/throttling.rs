//! Temperature sensors, and what acts by them.

use super::{Checker, names};
use crate::evidence::Valued;
use crate::hardware::spec::{AllocatorTrip, Package, StepWiseTrip, Throttle};
use crate::hardware::{CriticalAt, HeatLinks};
use crate::units::Celsius;

impl Checker<'_> {
    pub(super) fn heat_control(&mut self, package: &Package) {
        self.sensors(package);
        for (i, throttle) in package.throttling.iter().enumerate() {
            let path = |kind: &str| format!("package.throttling[{i}].{kind}");
            match throttle {
                Throttle::StepWise(trip) => self.step_wise(package, &path("StepWise"), trip),
                Throttle::PowerAllocator(trip) => {
                    self.allocator(package, &path("PowerAllocator"), trip);
                }
            }
        }
        self.critical(package);
        if let Some(ceiling) = &package.ceiling {
            self.above_air(package, "package.ceiling".to_owned(), "a ceiling", ceiling);
        }
    }

    fn sensors(&mut self, package: &Package) {
        let nodes = package.node_names();
        self.once("package.sensors", &names!(package.sensors));
        for (i, sensor) in package.sensors.iter().enumerate() {
            let at = |field: &str| format!("package.sensors[{i}].{field}");
            let node = sensor.node.as_ref();
            let node = node.map_or(0, |node| self.resolve(at("node"), "node", node, &nodes));
            self.heat().sensor_node.push(node);
            if let Some(lag) = &sensor.lag {
                self.not_negative(at("lag"), lag);
            }
            if let Some(resolution) = &sensor.resolution {
                self.not_negative(at("resolution"), resolution);
            }
            if let Some(period) = &sensor.period {
                self.positive(at("period"), period);
            }
        }
    }

    fn step_wise(&mut self, package: &Package, path: &str, trip: &StepWiseTrip) {
        let at = |field: &str| format!("{path}.{field}");
        self.looks_at(package, path, trip.sensor.as_deref());
        self.above_air(package, at("trip"), "a trip", &trip.trip);
        self.not_negative(at("hysteresis"), &trip.hysteresis);
        if let Some(poll) = &trip.poll {
            self.positive(at("poll"), poll);
        }
        let (trip_at, air) = (trip.trip.get().0, package.ambient.get().0);
        let below = trip.hysteresis.get().0;
        if trip_at > air && below >= 0.0 && trip_at - below <= air {
            let message = format!(
                "{below} K below the trip is not above the air of {}: no clock would ever go up again",
                package.ambient.get()
            );
            self.fault(at("hysteresis"), message);
        }
        let caps = trip.caps.iter().map(|name| (at("caps"), name.as_str()));
        self.capped(
            path,
            "caps",
            caps.enumerate().map(|(j, (list, n))| (format!("{list}[{j}]"), n)),
        );
    }

    fn allocator(&mut self, package: &Package, path: &str, trip: &AllocatorTrip) {
        let at = |field: &str| format!("{path}.{field}");
        self.looks_at(package, path, trip.sensor.as_deref());
        self.above_air(package, at("switch_on"), "a temperature to switch on at", &trip.switch_on);
        self.above_air(package, at("target"), "a target", &trip.target);
        if trip.target.get() <= trip.switch_on.get() {
            let message =
                format!("a target lies above the {} it switches on at", trip.switch_on.get());
            self.fault(at("target"), message);
        }
        self.positive(at("sustainable"), &trip.sustainable);
        if let Some(poll) = &trip.poll {
            self.positive(at("poll"), poll);
        }
        if let Some(hold) = &trip.hold {
            self.not_negative(at("hold"), hold);
        }
        for (field, gain) in [
            ("gain_over", &trip.gain_over),
            ("gain_under", &trip.gain_under),
            ("gain_integral", &trip.gain_integral),
            ("gain_change", &trip.gain_change),
        ] {
            if let Some(gain) = gain {
                self.not_negative(at(field), gain);
            }
        }
        for (j, actor) in trip.actors.iter().enumerate() {
            if let Some(weight) = &actor.weight {
                self.positive(at(&format!("actors[{j}].weight")), weight);
            }
        }
        let caps = trip.actors.iter().enumerate();
        let caps = caps.map(|(j, actor)| (at(&format!("actors[{j}].caps")), actor.caps.as_str()));
        self.capped(path, "actors", caps);
    }

    fn critical(&mut self, package: &Package) {
        let Some(critical) = &package.critical else { return };
        let at = |field: &str| format!("package.critical.{field}");
        self.above_air(package, at("temperature"), "a critical trip", &critical.temperature);
        let limit = critical.temperature.get();
        for throttle in &package.throttling {
            let trip = match throttle {
                Throttle::StepWise(trip) => trip.trip.get(),
                Throttle::PowerAllocator(trip) => trip.target.get(),
            };
            if limit <= trip {
                let message = format!("it shuts down before throttling at {trip} can help");
                self.fault(at("temperature"), message);
            }
        }
        let place = match (&critical.sensor, &critical.node) {
            (Some(_), Some(_)) => {
                self.fault(at("node"), "it looks at a node or at a sensor, not at both");
                return;
            }
            (Some(sensor), None) => {
                let sensors = names!(package.sensors);
                CriticalAt::Sensor(self.resolve(at("sensor"), "sensor", sensor, &sensors))
            }
            (None, node) => {
                let nodes = package.node_names();
                let node = node.as_ref().map(|n| self.resolve(at("node"), "node", n, &nodes));
                CriticalAt::Node(node.unwrap_or(0))
            }
        };
        self.heat().critical = Some(place);
    }

    /// A temperature that the air alone does not reach.
    fn above_air(&mut self, package: &Package, path: String, what: &str, at: &Valued<Celsius>) {
        let air = &package.ambient;
        let read = at.parameter().fault.is_none() && air.parameter().fault.is_none();
        if read && at.get() <= air.get() {
            let message = format!("{what} of {} is not above the air of {}", at.get(), air.get());
            self.fault(path, message);
        }
    }

    fn looks_at(&mut self, package: &Package, path: &str, sensor: Option<&str>) {
        let sensors = names!(package.sensors);
        let index = match sensor {
            Some(name) => self.resolve(format!("{path}.sensor"), "sensor", name, &sensors),
            None if sensors.is_empty() => {
                let message = "throttling looks at a temperature sensor: `sensors` has none";
                self.fault(path, message);
                0
            }
            None => 0,
        };
        self.heat().throttle_sensor.push(index);
    }

    /// Clocks by their own names or those of their engines, each once.
    fn capped<'n>(
        &mut self,
        path: &str,
        list: &str,
        wanted: impl Iterator<Item = (String, &'n str)>,
    ) {
        let spec = self.spec;
        let clocks: Vec<&str> = spec.domains.iter().map(|domain| domain.clock.as_str()).collect();
        let engines = names!(spec.engines);
        let all: Vec<&str> = clocks.iter().chain(&engines).copied().collect();
        let mut capped: Vec<String> = Vec::new();
        for (path, name) in wanted {
            let Some(found) = self.find(path.clone(), "clock or engine", name, &all) else {
                continue;
            };
            let of_engine = found.checked_sub(clocks.len());
            let domain = of_engine
                .map_or(Some(found), |engine| self.links.engine_domain.get(engine).copied());
            let Some(clock) = domain.and_then(|domain| clocks.get(domain)) else { continue };
            if capped.iter().any(|earlier| earlier == clock) {
                self.fault(path, format!("clock `{clock}` is capped here already"));
                continue;
            }
            capped.push((*clock).to_owned());
        }
        if capped.is_empty() {
            self.fault(format!("{path}.{list}"), "it caps at least one clock");
        }
        self.heat().throttle_clocks.push(capped);
    }

    fn heat(&mut self) -> &mut HeatLinks {
        &mut self.links.heat
    }
}
