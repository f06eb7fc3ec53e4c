//! Domains, blocks that run no network, corners.

use super::{Checker, names};
use crate::hardware::spec::{DomainState, LeakageSpec, LoadLeakage};

impl Checker<'_> {
    pub(super) fn domains(&mut self) {
        let spec = self.spec;
        let rails = names!(spec.rails);
        self.links.tap_rail = (0..rails.len()).collect();
        for (i, domain) in spec.domains.iter().enumerate() {
            let at = |field: &str| format!("domains[{i}].{field}");
            let rail = self.resolve(at("rail"), "rail", &domain.rail, &rails);
            self.links.domain_rail.push(rail);
            let mut tap = rail;
            if let Some(resistance) = &domain.ir_drop {
                self.not_negative(at("ir_drop"), resistance);
                tap = self.links.tap_rail.len();
                self.links.tap_rail.push(rail);
            }
            self.links.domain_tap.push(tap);
            self.clocked(i);
            self.positive(at("nominal_voltage"), &domain.nominal_voltage);
            if let Some(leakage) = &domain.leakage {
                self.leakage(&at("leakage"), leakage);
            }
            for (j, state) in domain.states.iter().enumerate() {
                self.domain_state(&format!("domains[{i}].states[{j}]"), &domain.name, state);
            }
        }
    }

    fn leakage(&mut self, path: &str, leakage: &LeakageSpec) {
        self.not_negative(format!("{path}.power"), &leakage.power);
    }

    fn domain_state(&mut self, path: &str, domain: &str, state: &DomainState) {
        let timed = state.wake_time.as_ref().is_some_and(|t| t.get().0 > 0.0);
        if state.wake_energy.is_some() && !timed {
            let message = "energy of waking needs a wake_time to be spent in";
            self.fault(format!("{path}.wake_energy"), message);
        }
        for (field, share) in
            [("clock_share", &state.clock_share), ("leakage_share", &state.leakage_share)]
        {
            if let Some(share) = share {
                self.share(format!("{path}.{field}"), share);
            }
        }
        if let Some(voltage) = &state.voltage {
            self.positive(format!("{path}.voltage"), voltage);
        }
        let spec = self.spec;
        let own: Vec<_> = spec.memories.iter().filter(|m| m.domain == domain).collect();
        for (name, wanted) in &state.memories {
            let path = format!("{path}.memories.{name}");
            match own.iter().find(|m| m.name == *name) {
                Some(memory) => {
                    self.resolve(path, "state of this memory", wanted, &names!(memory.states));
                }
                None => {
                    let known: Vec<&str> = own.iter().map(|m| m.name.as_str()).collect();
                    self.resolve(path, &format!("memory of domain {domain}"), name, &known);
                }
            }
        }
    }

    pub(super) fn loads(&mut self) {
        let spec = self.spec;
        let rails = names!(spec.rails);
        for (i, load) in spec.loads.iter().enumerate() {
            let at = |field: &str| format!("loads[{i}].{field}");
            let rail = self.resolve(at("rail"), "rail", &load.rail, &rails);
            self.links.load_rail.push(rail);
            if load.states.is_empty() {
                self.fault(at("states"), "a block is in one of its states: give at least one");
            }
            if let Some(initial) = &load.initial {
                self.resolve(at("initial"), "state of this load", initial, &names!(load.states));
            }
            for (j, state) in load.states.iter().enumerate() {
                let at = |field: &str| format!("loads[{i}].states[{j}].{field}");
                self.positive(at("voltage"), &state.voltage);
                self.not_negative(at("dynamic"), &state.dynamic);
                match &state.leakage {
                    Some(LoadLeakage::Growing(law)) => self.leakage(&at("leakage.Growing"), law),
                    Some(LoadLeakage::Constant(power)) => {
                        self.not_negative(at("leakage.Constant"), power);
                    }
                    None => {}
                }
            }
        }
    }

    pub(super) fn corners(&mut self) {
        let spec = self.spec;
        for (i, corner) in spec.corners.iter().enumerate() {
            let factors = [
                ("leakage", &corner.leakage),
                ("dynamic", &corner.dynamic),
                ("frequency", &corner.frequency),
                ("voltage", &corner.voltage),
            ];
            for (field, factor) in factors {
                if let Some(factor) = factor {
                    self.positive(format!("corners[{i}].{field}"), factor);
                }
            }
        }
    }
}
