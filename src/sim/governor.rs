//! Who chooses operating points, and by what.
//!
//! A [`Governor`] is what a scenario states; its [`GovernorState`] is what moves. Asked with what a kernel
//! knows at that moment ([`Observed`]), it answers with a point of the domain's table. Governors that look
//! at windows see the past one only, never what is to come; those that are told of jobs know the work left
//! and its deadline. What heat and rails allow is given from outside, as the highest point, and holds for
//! all. Rules are those of Linux: `drivers/cpufreq`, `kernel/sched/cpufreq_schedutil.c`, `drivers/devfreq`.

mod energy_aware;
mod error;
mod fixed;
mod hull_pace;
mod observed;
mod ondemand;
mod race_to_idle;
mod schedutil;
mod simple_ondemand;
#[cfg(test)]
mod tests;
mod words;

pub use energy_aware::{EnergyAware, PerformanceDomain, Placement, domain_power};
pub use error::GovernorError;
pub use fixed::Fixed;
pub use hull_pace::HullPace;
pub use observed::{JobLeft, Observed};
pub use ondemand::{Ondemand, OndemandSlope};
pub use race_to_idle::RaceToIdle;
pub use schedutil::Schedutil;
pub use simple_ondemand::SimpleOndemand;

use crate::physics::opp_table::OppTable;
use crate::physics::pelt::Pelt;
use crate::units::{Seconds, SimTime};
use serde::{Deserialize, Serialize};

/// A rule that chooses operating points, with its parameters.
#[derive(Debug, Clone, PartialEq)]
pub enum Governor {
    /// The fastest point.
    Performance,
    /// The slowest point.
    Powersave,
    /// One point (`userspace`).
    Fixed(Fixed),
    /// By the load of the past window, to the fastest point at once.
    Ondemand(Ondemand),
    /// By tracked utilisation.
    Schedutil(Schedutil),
    /// As schedutil, and tasks are placed where they cost the least.
    EnergyAware(EnergyAware),
    /// By the load of the past window, for devices (`devfreq`).
    SimpleOndemand(SimpleOndemand),
    /// The fastest point while there is work.
    RaceToIdle(RaceToIdle),
    /// The two points that do the work left by its deadline for the least energy.
    HullPace(HullPace),
}

/// What of a governor moves.
///
/// One kind for all of them, so that a run that goes on under another governor starts it from what was
/// tracked before.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GovernorState {
    /// Utilisation as schedutil knows it.
    utilisation: Pelt,
    /// When schedutil last changed its mind, and to which point.
    changed: Option<(SimTime, usize)>,
    /// Ondemand looks this many times more seldom; zero is once.
    more_seldom: u32,
    /// A pace changes its point after this time.
    next_stretch: Option<Seconds>,
}

/// When a governor wants to be asked.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum NextLook {
    /// Not again, unless what heat and rails allow changes.
    Never,
    /// After this time.
    After(Seconds),
    /// When a job comes or ends.
    AtJobs,
    /// When a job comes or ends, and after this time in any case.
    AtJobsOrAfter(Seconds),
}

impl GovernorState {
    /// Utilisation as the governor tracks it.
    pub fn utilisation(&self) -> Pelt {
        self.utilisation
    }
}

impl Governor {
    /// The point to go to, not above the highest that is allowed.
    pub fn decide(&self, state: &mut GovernorState, seen: &Observed, table: &OppTable) -> usize {
        let wanted = match self {
            Self::Performance => table.fastest(),
            Self::Powersave => 0,
            Self::Fixed(fixed) => fixed.point(table),
            Self::Ondemand(ondemand) => ondemand.decide(state, seen, table),
            Self::Schedutil(schedutil) => schedutil.decide(state, seen, table),
            Self::EnergyAware(aware) => aware.frequency().decide(state, seen, table),
            Self::SimpleOndemand(ondemand) => ondemand.decide(seen, table),
            Self::RaceToIdle(race) => race.decide(seen, table),
            Self::HullPace(pace) => pace.decide(state, seen),
        };
        wanted.min(seen.highest).min(table.fastest())
    }

    /// How often it looks at windows; nothing for those that never do.
    pub fn sampling_period(&self) -> Option<Seconds> {
        match self {
            Self::Ondemand(ondemand) => Some(ondemand.period()),
            Self::Schedutil(schedutil) => Some(schedutil.period()),
            Self::EnergyAware(aware) => Some(aware.frequency().period()),
            Self::SimpleOndemand(ondemand) => Some(ondemand.period()),
            Self::Performance
            | Self::Powersave
            | Self::Fixed(_)
            | Self::RaceToIdle(_)
            | Self::HullPace(_) => None,
        }
    }

    /// When it wants to be asked after its last answer.
    pub fn next_look(&self, state: &GovernorState) -> NextLook {
        match self {
            Self::Performance | Self::Powersave | Self::Fixed(_) => NextLook::Never,
            Self::Ondemand(ondemand) => NextLook::After(ondemand.next(state)),
            Self::Schedutil(schedutil) => NextLook::After(schedutil.period()),
            Self::EnergyAware(aware) => NextLook::After(aware.frequency().period()),
            Self::SimpleOndemand(ondemand) => NextLook::After(ondemand.period()),
            Self::RaceToIdle(_) => NextLook::AtJobs,
            Self::HullPace(_) => {
                state.next_stretch.map_or(NextLook::AtJobs, NextLook::AtJobsOrAfter)
            }
        }
    }
}
