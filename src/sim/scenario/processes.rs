//! Arrival processes out of a scenario.

use super::read::{Reader, known, known_or};
use super::{ArrivalsSpec, ThinkSpec};
use crate::sim::load::{Bursts, ClosedLoop, Level, Periodic, Poisson, Process, Recorded, Think};
use crate::units::Seconds;

/// The process of the field at `path`.
pub(super) fn process(reader: &mut Reader, path: &str, spec: &ArrivalsSpec) -> Option<Process> {
    match spec {
        ArrivalsSpec::BackToBack => Some(Process::BackToBack),
        ArrivalsSpec::Periodic(spec) => {
            let period = known(&spec.period)?;
            let jitter = known_or(spec.jitter.as_ref(), Seconds::ZERO)?;
            let offset = known_or(spec.offset.as_deref(), Seconds::ZERO)?;
            let made = Periodic::new(period, jitter, offset);
            reader.tried(format!("{path}.Periodic"), made).map(Process::Periodic)
        }
        ArrivalsSpec::Poisson(spec) => {
            let made = Poisson::new(known(&spec.rate)?);
            reader.tried(format!("{path}.Poisson.rate"), made).map(Process::Poisson)
        }
        ArrivalsSpec::Bursts(spec) => {
            let quiet = Level { rate: known(&spec.quiet_rate)?, stay: known(&spec.quiet_stay)? };
            let burst = Level { rate: known(&spec.burst_rate)?, stay: known(&spec.burst_stay)? };
            let made = Bursts::new(quiet, burst);
            reader.tried(format!("{path}.Bursts"), made).map(Process::Bursts)
        }
        ArrivalsSpec::Recorded(spec) => {
            let repeat = match &spec.repeat {
                Some(time) => Some(known(time)?),
                None => None,
            };
            if reader.is_alone() {
                return None;
            }
            let made = Recorded::scan(&reader.found(&spec.file), repeat);
            reader.tried(format!("{path}.Recorded.file"), made).map(Process::Recorded)
        }
        ArrivalsSpec::ClosedLoop(spec) => {
            let think = match &spec.think {
                ThinkSpec::Fixed(time) => Think::Fixed(known(time)?),
                ThinkSpec::Exponential(time) => Think::Exponential(known(time)?),
            };
            let made = ClosedLoop::new(spec.clients, think);
            reader.tried(format!("{path}.ClosedLoop"), made).map(Process::ClosedLoop)
        }
    }
}
