//! The rail tree at one instant: from what loads draw to what sources give.

use super::Setting;
use crate::hardware::RegulatorKind;
use crate::physics::linear_regulator::LinearRegulator;
use crate::physics::switching_regulator::SwitchingRegulator;
use crate::units::{Amperes, Ohms, Watts};

/// Currents and losses of the rail tree.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SupplyState {
    /// Current of each rail: its loads and the regulators that draw from it.
    pub rail_current: Vec<Amperes>,
    /// Loss of each regulator of the profile; zero for one that is not in use.
    pub regulator_loss: Vec<Watts>,
    /// What all sources give.
    pub source_power: Watts,
}

/// Solves the rail tree for the power that loads draw on each rail. Exact at one instant: a
/// regulator's loss depends on its current, so a mean power gives the mean loss only where the loss
/// is linear.
pub fn supply(loads: &[Watts], setting: Setting<'_>, state: &mut SupplyState) {
    let spec = setting.profile.spec();
    let links = setting.profile.links();
    let point = setting.point;
    state.rail_current.clear();
    let on_rails = loads.iter().zip(&point.voltages);
    state.rail_current.extend(on_rails.map(|(load, (voltage, _))| *load / *voltage));
    state.regulator_loss.clear();
    state.regulator_loss.resize(spec.regulators.len(), Watts::ZERO);
    for &index in &point.regulators {
        let (input, output) = links.regulator_rails[index];
        let (input_voltage, output_voltage) = (point.voltages[input].0, point.voltages[output].0);
        let load = state.rail_current[output];
        let (current, loss) = match &spec.regulators[index].kind {
            RegulatorKind::Ldo { quiescent, ground_share, dropout } => {
                let law = LinearRegulator {
                    quiescent: quiescent.as_ref().map_or(Amperes::ZERO, |q| q.get()),
                    ground_share: ground_share.as_ref().map_or(0.0, |k| k.get().0),
                    dropout: dropout.as_ref().map_or(Ohms::ZERO, |r| r.get()),
                };
                (law.input_current(load), law.loss(input_voltage, output_voltage, load))
            }
            RegulatorKind::Switching { efficiency, quiescent } => {
                let law = SwitchingRegulator {
                    efficiency: efficiency.get().0,
                    quiescent: quiescent.get(),
                };
                (
                    law.input_current(input_voltage, output_voltage, load),
                    law.loss(input_voltage, output_voltage, load),
                )
            }
        };
        state.rail_current[input] += current;
        state.regulator_loss[index] = loss;
    }
    let fed = |rail: usize| point.regulators.iter().any(|r| links.regulator_rails[*r].1 == rail);
    state.source_power = state
        .rail_current
        .iter()
        .enumerate()
        .filter(|(rail, _)| !fed(*rail))
        .map(|(rail, current)| point.voltages[rail].0 * *current)
        .sum();
}
