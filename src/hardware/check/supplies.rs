//! Supplies: rails that exist, batteries and storages that make sense.

use super::{Checker, names};
use crate::hardware::spec::{Storage, Supply};
use crate::units::{Ratio, Volts};

impl Checker<'_> {
    pub(super) fn supplies(&mut self) {
        let spec = self.spec;
        let rails = names!(spec.rails);
        for (i, supply) in spec.supplies.iter().enumerate() {
            let at = |field: &str| format!("supplies[{i}].{field}");
            let rail = self.resolve(at("rail"), "rail", &supply.rail, &rails);
            self.links.supply_rail.push(rail);
            if spec.supplies[..i].iter().any(|s| s.rail == supply.rail) {
                self.fault(at("rail"), format!("rail `{}` has two supplies", supply.rail));
            }
            let behind = spec.regulators.iter().find(|r| r.output == supply.rail);
            if let Some(regulator) = behind {
                let (rail, name) = (&supply.rail, &regulator.name);
                self.fault(at("rail"), format!("rail `{rail}` is fed by regulator `{name}`"));
            }
            if let Some(capacity) = &supply.capacity {
                self.positive(at("capacity"), capacity);
            }
            if let Some(limit) = &supply.max_current {
                self.positive(at("max_current"), limit);
            }
            if let Some(resistance) = &supply.resistance {
                self.not_negative(at("resistance"), resistance);
            }
            self.open_circuit(i, supply);
            if let Some(storage) = &supply.storage {
                self.storage(i, supply, storage);
            }
        }
    }

    /// The curve of a battery rises in its charge and does not fall in voltage.
    fn open_circuit(&mut self, i: usize, supply: &Supply) {
        let mut before: Option<(Ratio, Volts)> = None;
        for (j, point) in supply.open_circuit.iter().enumerate() {
            let at = |field: &str| format!("supplies[{i}].open_circuit[{j}].{field}");
            self.share(at("charge"), &point.charge);
            self.positive(at("voltage"), &point.voltage);
            let (charge, voltage) = (point.charge.get(), point.voltage.get());
            if before.is_some_and(|(earlier, _)| charge <= earlier) {
                self.fault(at("charge"), "charges stand in rising order");
            }
            if before.is_some_and(|(_, lower)| voltage < lower) {
                self.fault(at("voltage"), "a fuller battery has no lower voltage");
            }
            before = Some((charge, voltage));
        }
        if let Some(charge) = &supply.charge {
            let path = format!("supplies[{i}].charge");
            self.share(path.clone(), charge);
            if supply.open_circuit.is_empty() {
                self.fault(path, "a charge says something only with an `open_circuit` curve");
            }
        }
    }

    fn storage(&mut self, i: usize, supply: &Supply, storage: &Storage) {
        let at = |field: &str| format!("supplies[{i}].storage.{field}");
        self.positive(at("capacitance"), &storage.capacitance);
        self.positive(at("maximum"), &storage.maximum);
        self.not_negative(at("minimum"), &storage.minimum);
        if let Some(leakage) = &storage.leakage {
            self.positive(at("leakage"), leakage);
        }
        if storage.minimum.get() >= storage.maximum.get() {
            self.fault(at("minimum"), "what is stored lies between minimum and maximum");
        }
        if !supply.open_circuit.is_empty() || supply.capacity.is_some() {
            let message = "a storage is no battery: it has neither `capacity` nor `open_circuit`";
            self.fault(format!("supplies[{i}].storage"), message);
        }
    }
}
