//! The rail tree at one instant: from what loads draw to what sources give.

use super::Setting;
use crate::evidence::{Coverage, Kind};
use crate::hardware::RegulatorKind;
use crate::physics::linear_regulator::LinearRegulator;
use crate::physics::switching_regulator::SwitchingRegulator;
use crate::units::{Amperes, Joules, Ohms, Watts};

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
            RegulatorKind::Ldo { quiescent, ground_share } => {
                let law = LinearRegulator {
                    quiescent: quiescent.as_ref().map_or(Amperes::ZERO, |q| q.get()),
                    ground_share: ground_share.as_ref().map_or(0.0, |k| k.get().0),
                    dropout: Ohms::ZERO,
                };
                (law.input_current(load), law.loss(input_voltage, output_voltage, load))
            }
            RegulatorKind::Switching { efficiency, quiescent } => {
                let law = SwitchingRegulator {
                    // A spread must not make a regulator give more than it takes.
                    efficiency: efficiency.get().0.min(1.0),
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
    let currents = state.rail_current.iter().enumerate();
    state.source_power = currents
        .filter(|(rail, _)| !is_fed(*rail, setting))
        .map(|(rail, current)| point.voltages[rail].0 * *current)
        .sum();
}

/// True for a rail behind a regulator in use, false for one that a source feeds.
pub fn is_fed(rail: usize, setting: Setting<'_>) -> bool {
    let rails = &setting.profile.links().regulator_rails;
    setting.point.regulators.iter().any(|r| rails[*r].1 == rail)
}

/// What a regulator's conversion rests on.
fn regulator_kind(index: usize, setting: Setting<'_>) -> Kind {
    let (input, output) = setting.profile.links().regulator_rails[index];
    let voltages = &setting.point.voltages;
    let kind = voltages[input].1.weaker(voltages[output].1);
    match &setting.profile.spec().regulators[index].kind {
        RegulatorKind::Ldo { quiescent, ground_share } => kind
            .weaker(quiescent.as_ref().map_or(Kind::STRONGEST, |q| q.kind()))
            .weaker(ground_share.as_ref().map_or(Kind::STRONGEST, |k| k.kind())),
        RegulatorKind::Switching { efficiency, quiescent } => {
            kind.weaker(efficiency.kind()).weaker(quiescent.kind())
        }
    }
}

/// What energy at the sources rests on. `rails` holds the load energy of each rail by evidence, and
/// `losses` the energy that each regulator burnt for them. What a rail draws through a regulator
/// rests on what the rail's own load rests on, and on the regulator.
pub fn evidence_at_sources(
    rails: &mut [Coverage],
    losses: &[Joules],
    setting: Setting<'_>,
) -> Coverage {
    let links = setting.profile.links();
    for &index in &setting.point.regulators {
        let (input, output) = links.regulator_rails[index];
        let kind = regulator_kind(index, setting);
        let load = rails[output].total();
        let factor = if load > 0.0 { 1.0 + losses[index].0 / load } else { 0.0 };
        let through: Vec<(Kind, f64)> = rails[output].amounts().collect();
        for (own, amount) in through {
            rails[input].add(own.weaker(kind), amount * factor);
        }
        if load <= 0.0 {
            rails[input].add(kind, losses[index].0);
        }
    }
    let mut sum = Coverage::default();
    for (rail, coverage) in rails.iter().enumerate() {
        if !is_fed(rail, setting) {
            sum.merge(coverage);
        }
    }
    sum
}
