//! Regulators and supplies: rails that exist, losses that make sense.

use super::{Checker, names};
use crate::hardware::spec::{Buck, EfficiencyPoint, EfficiencyPoints, RegulatorKind};

impl Checker<'_> {
    pub(super) fn regulators(&mut self) {
        let spec = self.spec;
        let (rails, points) = (names!(spec.rails), names!(spec.operating_points));
        for (i, regulator) in spec.regulators.iter().enumerate() {
            let at = |field: &str| format!("regulators[{i}].{field}");
            let input = self.resolve(at("input"), "rail", &regulator.input, &rails);
            let output = self.resolve(at("output"), "rail", &regulator.output, &rails);
            self.links.regulator_rails.push((input, output));
            let used_at = &regulator.operating_points;
            self.resolve_all(&at("operating_points"), "operating point", used_at, &points);
            if let Some(limit) = &regulator.max_current {
                self.positive(at("max_current"), limit);
            }
            match &regulator.kind {
                RegulatorKind::Ldo(_) => {}
                RegulatorKind::Switching(s) => {
                    self.efficiency(at("kind.Switching.efficiency"), &s.efficiency);
                }
                RegulatorKind::Buck(buck) => self.buck(&at("kind.Buck"), buck),
                RegulatorKind::Table(table) => self.efficiencies(&at("kind.Table"), table),
                RegulatorKind::BuckFit(_) | RegulatorKind::LoadSwitch(_) => {}
            }
        }
    }

    fn buck(&mut self, path: &str, buck: &Buck) {
        self.not_negative(format!("{path}.quiescent"), &buck.quiescent);
        self.not_negative(format!("{path}.switching_loss"), &buck.switching_loss);
        self.not_negative(format!("{path}.drop"), &buck.drop);
        self.not_negative(format!("{path}.resistance"), &buck.resistance);
        if let Some(knee) = &buck.skips_below {
            self.positive(format!("{path}.skips_below"), knee);
        }
    }

    fn efficiencies(&mut self, path: &str, table: &EfficiencyPoints) {
        if table.points.is_empty() {
            self.fault(format!("{path}.points"), "a table has at least one point");
        }
        for (j, point) in table.points.iter().enumerate() {
            let at = |field: &str| format!("{path}.points[{j}].{field}");
            self.positive(at("load"), &point.load);
            self.efficiency(at("efficiency"), &point.efficiency);
            let input = |p: &EfficiencyPoint| p.input.as_ref().map(|v| v.get());
            let before = table.points[..j].iter().rev();
            let earlier = before.clone().find(|p| input(p) == input(point));
            if earlier.is_some_and(|e| e.load.get() >= point.load.get()) {
                self.fault(at("load"), "loads stand in rising order");
            }
            if let Some(input) = &point.input {
                self.positive(at("input"), input);
            }
            if before.clone().next().is_some_and(|e| e.input.is_some() != point.input.is_some()) {
                self.fault(at("load"), "all points of a table name their input, or none does");
            }
        }
    }

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
        }
    }
}
