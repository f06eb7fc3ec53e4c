//! How a regulator converts, made of what the profile states.

use crate::evidence::Valued;
use crate::hardware::{EfficiencyPoint, EfficiencyPoints, RegulatorKind};
use crate::physics::buck_regulator::BuckRegulator;
use crate::physics::efficiency_surface::EfficiencySurface;
use crate::physics::efficiency_table::EfficiencyTable;
use crate::physics::linear_regulator::LinearRegulator;
use crate::physics::load_switch::LoadSwitch;
use crate::physics::switching_regulator::SwitchingRegulator;
use crate::units::{Amperes, Ohms, Volts};

/// The law of a regulator.
#[derive(Debug, Clone)]
pub(super) enum Law {
    Linear(LinearRegulator),
    Switching(SwitchingRegulator),
    Buck(BuckRegulator),
    Table(EfficiencySurface, Amperes),
    Switch(LoadSwitch),
    /// A table whose points, moved by their spreads, are none.
    Lost,
}

impl Law {
    pub(super) fn of(kind: &RegulatorKind) -> Self {
        match kind {
            RegulatorKind::Ldo(ldo) => Self::Linear(LinearRegulator {
                quiescent: current(&ldo.quiescent),
                ground_share: ldo.ground_share.as_ref().map_or(0.0, |k| k.get().0),
                dropout: ldo.dropout.as_ref().map_or(Ohms::ZERO, |r| r.get()),
            }),
            RegulatorKind::Switching(s) => Self::Switching(SwitchingRegulator {
                efficiency: s.efficiency.get().0.min(1.0),
                quiescent: s.quiescent.get(),
            }),
            RegulatorKind::Buck(buck) => Self::Buck(BuckRegulator {
                quiescent: buck.quiescent.get(),
                switching: buck.switching_loss.get(),
                knee: buck.skips_below.as_ref().map(|knee| knee.get()),
                proportional: buck.drop.get(),
                resistance: buck.resistance.get(),
            }),
            RegulatorKind::BuckFit(points) => {
                points.fitted().map_or(Self::Lost, |fit| Self::Buck(fit.law))
            }
            RegulatorKind::Table(stated) => surface(stated)
                .map_or(Self::Lost, |surface| Self::Table(surface, current(&stated.quiescent))),
            RegulatorKind::LoadSwitch(switch) => Self::Switch(LoadSwitch {
                resistance: switch.resistance.get(),
                quiescent: current(&switch.quiescent),
            }),
        }
    }

    pub(super) fn input_current(&self, input: Volts, output: Volts, load: Amperes) -> Amperes {
        match self {
            // Voltages moved by their spreads must not make it give more than it takes.
            Self::Linear(law) => law.input_current(load).max(output * load / input),
            Self::Switching(law) => law.input_current(input, output, load),
            Self::Buck(law) => law.input_current(input, output, load),
            Self::Table(law, quiescent) => law.input_current(input, output, load) + *quiescent,
            Self::Switch(law) => law.input_current(load),
            Self::Lost => Amperes(f64::NAN),
        }
    }

    /// The part of an input current that is the same at any input voltage, while the output stays.
    pub(super) fn constant_part(&self, current: Amperes) -> Amperes {
        match self {
            Self::Linear(_) => current,
            Self::Switching(law) => law.quiescent,
            Self::Buck(law) => law.quiescent,
            Self::Table(_, quiescent) => *quiescent,
            Self::Switch(law) => law.quiescent,
            Self::Lost => Amperes::ZERO,
        }
    }

    /// The resistance between input and output where the output can follow the input, and whether it does
    /// so only where it cannot be held.
    pub(super) fn series(&self) -> Option<(Ohms, bool)> {
        match self {
            Self::Linear(law) if law.dropout.0 > 0.0 => Some((law.dropout, true)),
            Self::Switch(law) => Some((law.resistance, false)),
            _ => None,
        }
    }
}

fn current(stated: &Option<Valued<Amperes>>) -> Amperes {
    stated.as_ref().map_or(Amperes::ZERO, |current| current.get())
}

/// A spread must not make a regulator give more than it takes, nor change the order of loads.
fn curve(mut points: Vec<(Amperes, f64)>) -> Option<EfficiencyTable> {
    points.sort_by(|a, b| a.0.0.total_cmp(&b.0.0));
    // Nor make two loads one.
    points.dedup_by(|next, kept| next.0.0 <= kept.0.0 * (1.0 + 1e-9));
    EfficiencyTable::new(&points).ok()
}

fn surface(stated: &EfficiencyPoints) -> Option<EfficiencySurface> {
    let point = |p: &EfficiencyPoint| (p.load.get(), p.efficiency.get().0.min(1.0));
    let inputs = stated.points.iter().filter_map(|p| p.input.as_ref().map(|v| v.get()));
    let mut inputs: Vec<Volts> = inputs.collect();
    inputs.sort_by(|a, b| a.0.total_cmp(&b.0));
    inputs.dedup();
    if inputs.is_empty() {
        return curve(stated.points.iter().map(point).collect()).map(EfficiencySurface::flat);
    }
    let at = |input: &Volts| {
        let own = |p: &&EfficiencyPoint| p.input.as_ref().is_some_and(|v| v.get() == *input);
        Some((*input, curve(stated.points.iter().filter(own).map(point).collect())?))
    };
    EfficiencySurface::new(inputs.iter().map(at).collect::<Option<_>>()?).ok()
}
