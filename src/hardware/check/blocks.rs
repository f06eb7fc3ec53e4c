//! Domains, blocks that run no network, corners.

use super::{Checker, names};
use crate::evidence::Valued;
use crate::hardware::spec::{Domain, DomainState, LeakageSpec, LoadLeakage};
use crate::units::Seconds;

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
            if let Some(capacitance) = &domain.capacitance {
                self.not_negative(at("capacitance"), capacitance);
            }
            for (j, state) in domain.states.iter().enumerate() {
                self.domain_state(&format!("domains[{i}].states[{j}]"), domain, state);
            }
        }
    }

    fn leakage(&mut self, path: &str, leakage: &LeakageSpec) {
        self.not_negative(format!("{path}.power"), &leakage.power);
    }

    fn domain_state(&mut self, path: &str, domain: &Domain, state: &DomainState) {
        let lasts = |time: &Option<Valued<Seconds>>| time.as_ref().is_some_and(|t| t.get().0 > 0.0);
        if state.wake_energy.is_some() && !lasts(&state.wake_time) {
            let message = "energy of waking needs a wake_time to be spent in";
            self.fault(format!("{path}.wake_energy"), message);
        }
        if state.entry_energy.is_some() && !lasts(&state.entry_time) {
            let message = "energy of entry needs an entry_time to be spent in";
            self.fault(format!("{path}.entry_energy"), message);
        }
        if let Some(time) = &state.ramp_time {
            self.positive(format!("{path}.ramp_time"), time);
            if domain.capacitance.is_none() {
                let message = "a ramp charges the domain's `capacitance`, which is not stated";
                self.fault(format!("{path}.ramp_time"), message);
            }
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
        let own: Vec<_> = spec.memories.iter().filter(|m| m.domain == domain.name).collect();
        for (j, name) in state.loses.iter().enumerate() {
            let known: Vec<&str> = own.iter().map(|m| m.name.as_str()).collect();
            let path = format!("{path}.loses[{j}]");
            self.resolve(path.clone(), &format!("memory of domain {}", domain.name), name, &known);
            if state.memories.contains_key(name) {
                let message = format!("`memories` says what is kept of `{name}`");
                self.fault(path, message);
            }
        }
        for (name, wanted) in &state.memories {
            let path = format!("{path}.memories.{name}");
            match own.iter().find(|m| m.name == *name) {
                Some(memory) => {
                    self.resolve(path, "state of this memory", wanted, &names!(memory.states));
                }
                None => {
                    let known: Vec<&str> = own.iter().map(|m| m.name.as_str()).collect();
                    self.resolve(path, &format!("memory of domain {}", domain.name), name, &known);
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
