//! Regulators: rails that exist, losses that make sense.

use super::{Checker, names};
use crate::diagnostic::Fault;
use crate::hardware::spec::{
    Buck, BuckFit, EfficiencyPoint, EfficiencyPoints, Regulator, RegulatorKind,
};
use crate::units::Amperes;

/// A fit may be off by this efficiency.
const OFF: f64 = 0.03;

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
            if let Some(slew) = &regulator.slew {
                self.positive(at("slew"), slew);
            }
            if let Some(capacitance) = &regulator.output_capacitance {
                self.not_negative(at("output_capacitance"), capacitance);
                if regulator.slew.is_none() {
                    let message = "a capacitance is charged in time: give the `slew`";
                    self.fault(at("output_capacitance"), message);
                }
            }
            self.conversion(&at("kind"), &regulator.kind);
            self.modes(i, regulator);
        }
    }

    fn conversion(&mut self, path: &str, kind: &RegulatorKind) {
        let at = |field: &str| format!("{path}.{field}");
        match kind {
            RegulatorKind::Ldo(ldo) => {
                if let Some(dropout) = &ldo.dropout {
                    self.not_negative(at("Ldo.dropout"), dropout);
                }
            }
            RegulatorKind::Switching(s) => {
                self.efficiency(at("Switching.efficiency"), &s.efficiency)
            }
            RegulatorKind::Buck(buck) => self.buck(&at("Buck"), buck),
            RegulatorKind::BuckFit(fit) => self.buck_fit(&at("BuckFit"), fit),
            RegulatorKind::Table(table) => self.efficiencies(&at("Table"), table),
            RegulatorKind::LoadSwitch(switch) => {
                self.not_negative(at("LoadSwitch.resistance"), &switch.resistance);
                if let Some(quiescent) = &switch.quiescent {
                    self.not_negative(at("LoadSwitch.quiescent"), quiescent);
                }
            }
        }
    }

    /// Modes stand from the lightest to the heaviest, and each is left no lower than it is entered.
    fn modes(&mut self, i: usize, regulator: &Regulator) {
        let mut before: Option<Amperes> = None;
        for (j, mode) in regulator.modes.iter().enumerate() {
            let at = |field: &str| format!("regulators[{i}].modes[{j}].{field}");
            self.conversion(&at("kind"), &mode.kind);
            self.positive(at("enter_below"), &mode.enter_below);
            let enter = mode.enter_below.get();
            if mode.leave_above.as_ref().is_some_and(|leave| leave.get() < enter) {
                let message = format!("it is entered below {enter}, so it is not left below that");
                self.fault(at("leave_above"), message);
            }
            if before.is_some_and(|before| enter <= before) {
                let message = "modes stand in rising order of their loads, the lightest first";
                self.fault(at("enter_below"), message);
            }
            before = Some(enter);
            if let Some(energy) = &mode.wake_energy {
                self.not_negative(at("wake_energy"), energy);
                let timed = mode.wake_time.as_ref().is_some_and(|time| time.get().0 > 0.0);
                if energy.get().0 > 0.0 && !timed {
                    let message = "energy of waking needs a wake_time to be spent in";
                    self.fault(at("wake_energy"), message);
                }
            }
            if let Some(time) = &mode.wake_time {
                self.not_negative(at("wake_time"), time);
            }
        }
    }

    /// A fit that leaves a point by more than [`OFF`] says little of the part.
    fn buck_fit(&mut self, path: &str, fit: &BuckFit) {
        self.positive(format!("{path}.input"), &fit.input);
        self.positive(format!("{path}.output"), &fit.output);
        if fit.points.is_empty() {
            self.fault(format!("{path}.points"), "a fit has at least one point");
        }
        let before = self.faults.len();
        for (j, point) in fit.points.iter().enumerate() {
            let at = |field: &str| format!("{path}.points[{j}].{field}");
            self.positive(at("load"), &point.load);
            self.efficiency(at("efficiency"), &point.efficiency);
            for (field, voltage) in [("input", &point.input), ("output", &point.output)] {
                if let Some(voltage) = voltage {
                    self.positive(at(field), voltage);
                }
            }
        }
        if let Some(quiescent) = &fit.quiescent {
            self.not_negative(format!("{path}.quiescent"), quiescent);
        }
        if let Some(knee) = &fit.skips_below {
            self.positive(format!("{path}.skips_below"), knee);
        }
        // What could not be read has been told.
        let Ok(found) = fit.fitted() else { return };
        let Some((worst, error)) = found.worst() else { return };
        if self.faults.len() == before && error.abs() > OFF {
            let read = fit.points.get(worst).map_or(0.0, |p| p.efficiency.get().0);
            let message = format!(
                "the law of a buck that fits all points best has {:.1} % here, not {:.1} %",
                100.0 * (read + error),
                100.0 * read
            );
            let fault = Fault::at(format!("{path}.points[{worst}].efficiency"), message);
            let help = "is the point read right? a `Table` takes points as they are";
            self.faults.push(fault.with_help(help));
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
}
