//! What supplies do by themselves, and what a rail that cannot be held means for a run.

use super::{Event, System};
use crate::sim::SimError;
use crate::sim::kernel::Queue;
use crate::trace::Sink;

impl<S: Sink> System<'_, '_, S> {
    /// Schedules what supplies are to do as things are now. A run that is to stop where a rail browns out
    /// is over when one does.
    pub(super) fn settle_supply(&mut self, queue: &mut Queue<Event>) -> Result<(), SimError> {
        while let Some((at, event)) = self.accounts.next_plan() {
            // What comes after the end is none of the run's.
            if self.horizon.is_none_or(|horizon| at <= horizon) {
                queue.schedule(at, event.class(), Event::Supply(event))?;
            }
        }
        if self.browned_out() {
            self.finished = true;
        }
        Ok(())
    }

    /// True of a run that ended where a rail could not be held.
    pub(in crate::sim) fn browned_out(&self) -> bool {
        self.stops && self.accounts.first_brown_out().is_some()
    }
}
