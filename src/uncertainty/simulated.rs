//! The linearised interval of a simulated run: idle times and transitions have spreads of their own.

use super::linearised::{Uncertainty, linearised_by};
use crate::cost::Setting;
use crate::hardware::Profile;
use crate::mapping::{Network, plan};
use crate::sim::{Outcome, Workload, run};
use crate::trace::MetricsSink;

/// Inferences simulated for each parameter of a run whose periods are all alike: the first, which
/// starts at rest, and one that stands for the others.
const ALIKE: u64 = 2;

/// Inferences simulated for each parameter when they wait for one another. A longer queue goes on
/// growing the same way.
const QUEUED: u64 = 32;

/// The linearised uncertainty of a run's figures: mean latency, energy and energy-delay product of an
/// inference, mean power. `outcome` is the run itself: while no inference waits for another, relative
/// deviations do not change with their number, and two are simulated for each parameter; otherwise
/// thirty-two.
pub fn simulated(
    network: &Network,
    setting: Setting<'_>,
    workload: &Workload,
    outcome: &Outcome,
) -> Uncertainty {
    let enough = if outcome.waited > 0 { QUEUED } else { ALIKE };
    let short = Workload { inferences: workload.inferences.min(enough), ..workload.clone() };
    linearised_by(setting.profile, |profile| {
        figures(network, profile, setting, &short).unwrap_or([f64::NAN; 4])
    })
}

fn figures(
    network: &Network,
    profile: &Profile,
    setting: Setting<'_>,
    workload: &Workload,
) -> Option<[f64; 4]> {
    let point = profile.point(Some(&setting.point.name)).ok()?;
    let setting = Setting { profile, point: &point, stacks: setting.stacks };
    let mut sink = MetricsSink::default();
    let outcome = run(&plan(network, setting), workload, setting, &mut sink).ok()?;
    let (latency, energy) = (outcome.latency.mean(), outcome.energy_per_inference());
    Some([latency.0, energy.0, outcome.edp().0, outcome.metrics.mean.0])
}
