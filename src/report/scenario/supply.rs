//! What feeds a run, in words.

use super::ScenarioRun;
use crate::sim::Cause;

impl ScenarioRun<'_> {
    /// The name of a rail.
    pub fn rail_name(&self, rail: usize) -> &str {
        let rails = &self.simulated.metrics.header.rails;
        rails.get(rail).map_or("", |rail| rail.name.as_str())
    }

    /// The first brown-out and what follows from it; nothing where every rail was held.
    pub fn brown_out(&self) -> Option<String> {
        let supplied = &self.simulated.supplied;
        let first = supplied.first?;
        let rail = self.rail_name(first.rail);
        let why = match first.cause {
            Cause::Empty => {
                let source = supplied.sources.iter().find(|own| own.rail == first.rail);
                let name = source.and_then(|own| own.name.as_deref()).unwrap_or("its source");
                format!("{name} is empty")
            }
            Cause::BelowMinimum => "it is below its minimum".to_owned(),
            Cause::Collapse => "no voltage passes what is asked for".to_owned(),
        };
        let then = match supplied.ended {
            true => "the run ends there".to_owned(),
            false => {
                let (unmet, times) = (self.simulated.ledger.unmet, supplied.brown_outs);
                format!("{times} in all, and {unmet} that were asked for could not be given")
            }
        };
        Some(format!("BROWN-OUT: rail {rail} after {}: {why}; {then}", first.at.seconds()))
    }
}
