//! The linearised interval of a simulated run: idle times and transitions have spreads of their own.

use super::linearised::{Uncertainty, linearised_by};
use crate::cost::Setting;
use crate::hardware::Profile;
use crate::mapping::{Network, plan};
use crate::sim::{Workload, run};
use crate::trace::MetricsSink;

/// Periods that are simulated for each parameter: the first, which starts at rest, and one more,
/// which stands for all others.
const PERIODS: u64 = 2;

/// The linearised uncertainty of a run's figures: mean response time, energy, energy-delay product
/// of an inference, mean power. Relative deviations do not change with the number of periods, so
/// two of them are simulated for each parameter, however long the run.
pub fn simulated(network: &Network, setting: Setting<'_>, workload: &Workload) -> Uncertainty {
    let short = Workload { inferences: workload.inferences.min(PERIODS), ..workload.clone() };
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
    let count = outcome.latencies.len().max(1) as f64;
    let latency = outcome.latencies.iter().map(|l| l.0).sum::<f64>() / count;
    let energy = outcome.metrics.energy.0 / count;
    Some([latency, energy, energy * latency, outcome.metrics.mean.0])
}
