//! The rail tree at one instant: from what loads draw to what sources give.

use super::Setting;
use crate::evidence::{Coverage, Kind, Valued};
use crate::hardware::{EfficiencyPoint, RegulatorKind};
use crate::physics::buck_regulator::BuckRegulator;
use crate::physics::efficiency_table::EfficiencyTable;
use crate::physics::linear_regulator::LinearRegulator;
use crate::physics::switching_regulator::SwitchingRegulator;
use crate::units::{Amperes, Joules, Ohms, Quantity, Volts, Watts};

/// Currents and losses of the rail tree.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SupplyState {
    /// Current of each rail: its loads and the regulators that draw from it.
    pub rail_current: Vec<Amperes>,
    /// Loss of each regulator of the profile; zero for one that is not in use.
    pub regulator_loss: Vec<Watts>,
    /// What all sources give.
    pub source_power: Watts,
    /// Efficiency tables, made once.
    tables: Vec<Option<EfficiencyTable>>,
}

/// The law of a regulator.
enum Law<'a> {
    Linear(LinearRegulator),
    Switching(SwitchingRegulator),
    Buck(BuckRegulator),
    Table(&'a EfficiencyTable, Amperes),
    /// A table whose points, moved by their spreads, are none.
    Lost,
}

impl Law<'_> {
    fn input_current(&self, input: Volts, output: Volts, load: Amperes) -> Amperes {
        match self {
            // Voltages moved by their spreads must not make it give more than it takes.
            Self::Linear(law) => law.input_current(load).max(output * load / input),
            Self::Switching(law) => law.input_current(input, output, load),
            Self::Buck(law) => law.input_current(input, output, load),
            Self::Table(law, quiescent) => law.input_current(input, output, load) + *quiescent,
            Self::Lost => Amperes(f64::NAN),
        }
    }
}

fn table(kind: &RegulatorKind) -> Option<EfficiencyTable> {
    let RegulatorKind::Table(stated) = kind else { return None };
    // A spread must not make a regulator give more than it takes, nor change the order of loads.
    let point = |p: &EfficiencyPoint| (p.load.get(), p.efficiency.get().0.min(1.0));
    let mut points: Vec<(Amperes, f64)> = stated.points.iter().map(point).collect();
    points.sort_by(|a, b| a.0.0.total_cmp(&b.0.0));
    // Nor make two loads one.
    points.dedup_by(|next, kept| next.0.0 <= kept.0.0 * (1.0 + 1e-9));
    EfficiencyTable::new(&points).ok()
}

fn law<'a>(kind: &RegulatorKind, table: Option<&'a EfficiencyTable>) -> Law<'a> {
    let current = |q: &Option<Valued<Amperes>>| q.as_ref().map_or(Amperes::ZERO, |q| q.get());
    match kind {
        RegulatorKind::Ldo(ldo) => Law::Linear(LinearRegulator {
            quiescent: current(&ldo.quiescent),
            ground_share: ldo.ground_share.as_ref().map_or(0.0, |k| k.get().0),
            dropout: ldo.dropout.as_ref().map_or(Ohms::ZERO, |r| r.get()),
        }),
        RegulatorKind::Switching(s) => Law::Switching(SwitchingRegulator {
            efficiency: s.efficiency.get().0.min(1.0),
            quiescent: s.quiescent.get(),
        }),
        RegulatorKind::Buck(buck) => Law::Buck(BuckRegulator {
            quiescent: buck.quiescent.get(),
            switching: buck.switching_loss.get(),
            knee: buck.skips_below.as_ref().map(|knee| knee.get()),
            proportional: buck.drop.get(),
            resistance: buck.resistance.get(),
        }),
        RegulatorKind::Table(stated) => {
            table.map_or(Law::Lost, |table| Law::Table(table, current(&stated.quiescent)))
        }
    }
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
    if state.tables.len() != spec.regulators.len() {
        state.tables = spec.regulators.iter().map(|r| table(&r.kind)).collect();
    }
    for &index in &point.regulators {
        let (input, output) = links.regulator_rails[index];
        let (input_voltage, output_voltage) = (point.voltages[input].0, point.voltages[output].0);
        let load = state.rail_current[output];
        let table = state.tables[index].as_ref();
        let law = law(&spec.regulators[index].kind, table);
        let current = law.input_current(input_voltage, output_voltage, load);
        let loss = input_voltage * current - output_voltage * load;
        state.rail_current[input] += current;
        state.regulator_loss[index] = loss;
    }
    let currents = state.rail_current.iter().enumerate();
    state.source_power = currents
        .filter(|(rail, _)| !is_fed(*rail, setting))
        .map(|(rail, current)| point.voltages[rail].0 * *current)
        .sum();
}

/// What the input of a regulator stands above the least that makes its output at a load; nothing for
/// one that may step up.
pub fn headroom(
    regulator: usize,
    input: Volts,
    load: Amperes,
    setting: Setting<'_>,
) -> Option<Volts> {
    let (_, output) = *setting.profile.links().regulator_rails.get(regulator)?;
    let output = setting.point.voltages.get(output)?.0;
    match law(&setting.profile.spec().regulators.get(regulator)?.kind, None) {
        Law::Linear(law) => Some(law.headroom(input, output, load)),
        Law::Buck(_) => Some(input - output),
        _ => None,
    }
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
    kind.weaker(conversion_kind(&setting.profile.spec().regulators[index].kind))
}

/// The weakest number of a conversion: every one that is part of the loss.
fn conversion_kind(kind: &RegulatorKind) -> Kind {
    fn of<Q: Quantity>(value: &Option<Valued<Q>>) -> Kind {
        value.as_ref().map_or(Kind::STRONGEST, Valued::kind)
    }
    let weakest = |kinds: &[Kind]| kinds.iter().fold(Kind::STRONGEST, |weak, k| weak.weaker(*k));
    match kind {
        RegulatorKind::Ldo(ldo) => weakest(&[of(&ldo.quiescent), of(&ldo.ground_share)]),
        RegulatorKind::Switching(s) => weakest(&[s.efficiency.kind(), s.quiescent.kind()]),
        RegulatorKind::Buck(b) => weakest(&[
            b.quiescent.kind(),
            b.switching_loss.kind(),
            of(&b.skips_below),
            b.drop.kind(),
            b.resistance.kind(),
        ]),
        RegulatorKind::Table(table) => {
            let points = table.points.iter().map(|p| p.load.kind().weaker(p.efficiency.kind()));
            points.fold(of(&table.quiescent), Kind::weaker)
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
        let through = rails[output].clone();
        for (own, amount) in through.amounts() {
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
