//! The linearised interval of a simulated run: idle times and transitions have spreads of their own.

use super::linearised::{Figure, Uncertainty, linearised_by};
use crate::cost::Setting;
use crate::hardware::Profile;
use crate::mapping::{Network, Plan, plan};
use crate::sim::{Outcome, Workload, run};
use crate::trace::Deaf;
use crate::units::{Joules, Seconds};

/// Inferences simulated for each parameter when they wait for one another. A longer queue goes on
/// growing the same way.
const QUEUED: u64 = 32;

/// The linearised uncertainty of a run's figures: mean latency, energy and energy-delay product of an
/// inference, mean power. `outcome` is the run itself. While no inference waits for another, all but
/// the first (which starts at rest) are alike: one and two are simulated for each parameter, and the
/// others follow. Otherwise thirty-two are.
pub fn simulated(
    network: &Network,
    setting: Setting<'_>,
    workload: &Workload,
    outcome: &Outcome,
) -> Uncertainty {
    simulated_of(|setting| plan(network, setting), setting, workload, outcome)
}

/// The same of whatever plan `planned` makes of a setting.
pub fn simulated_of(
    planned: impl Fn(Setting<'_>) -> Plan + Sync,
    setting: Setting<'_>,
    workload: &Workload,
    outcome: &Outcome,
) -> Uncertainty {
    let planned = &planned;
    let figures = |profile: &Profile| {
        if outcome.waited > 0 {
            let first = totals(planned, profile, setting, workload, QUEUED)?;
            return Some(first.figures());
        }
        let one = totals(planned, profile, setting, workload, 1)?;
        let two = totals(planned, profile, setting, workload, 2)?;
        Some(one.and_then(&two, workload.inferences).figures())
    };
    linearised_by(setting, |profile| figures(profile).unwrap_or([f64::NAN; Figure::COUNT]))
}

/// Sums of a run.
struct Totals {
    inferences: f64,
    latency: Seconds,
    energy: Joules,
    duration: Seconds,
}

impl Totals {
    /// The sums of `count` inferences, where each behind the first adds what the second did.
    fn and_then(&self, two: &Self, count: u64) -> Self {
        let more = count.saturating_sub(1) as f64;
        Self {
            inferences: count as f64,
            latency: self.latency + (two.latency - self.latency) * more,
            energy: self.energy + (two.energy - self.energy) * more,
            duration: self.duration + (two.duration - self.duration) * more,
        }
    }

    /// In the order of [`Figure::ALL`](super::Figure::ALL).
    fn figures(&self) -> [f64; Figure::COUNT] {
        let (latency, energy) = (self.latency / self.inferences, self.energy / self.inferences);
        let (edp, power) = (energy * latency, self.energy / self.duration);
        [latency.0, energy.0, edp.0, power.0, (edp * latency).0]
    }
}

fn totals(
    planned: impl Fn(Setting<'_>) -> Plan + Sync,
    profile: &Profile,
    setting: Setting<'_>,
    workload: &Workload,
    most: u64,
) -> Option<Totals> {
    let point = profile.repoint(setting.point).ok()?;
    let setting = Setting { profile, point: &point, stacks: setting.stacks };
    let workload = Workload { inferences: workload.inferences.min(most), ..workload.clone() };
    let outcome = run(&planned(setting), &workload, setting, &mut Deaf).ok()?;
    let inferences = outcome.metrics.inferences as f64;
    Some(Totals {
        inferences,
        latency: outcome.latency.mean() * inferences,
        energy: outcome.metrics.energy,
        duration: outcome.metrics.duration,
    })
}
