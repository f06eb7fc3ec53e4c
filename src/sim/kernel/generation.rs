//! How a component overtakes the events that it planned before.
//!
//! Nothing is taken out of a queue when plans change. The component renews its generation and puts
//! the ticket into the new event; whoever takes an event asks once whether its ticket still counts.

use serde::{Deserialize, Serialize};

/// How often a component has planned anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Generation(u64);

/// What an event carries of the generation that planned it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Ticket(u64);

impl Generation {
    /// Overtakes all events planned so far; the ticket of those planned from here on.
    pub fn renew(&mut self) -> Ticket {
        // 2^64 renewals are five centuries of one a nanosecond.
        self.0 = self.0.wrapping_add(1);
        self.ticket()
    }

    /// The ticket of events planned now.
    pub fn ticket(self) -> Ticket {
        Ticket(self.0)
    }

    /// Whether an event with this ticket was overtaken.
    pub fn overtook(self, ticket: Ticket) -> bool {
        ticket.0 != self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_latest_plan_counts() {
        let mut generation = Generation::default();
        let first = generation.renew();
        assert!(!generation.overtook(first));
        let second = generation.renew();
        assert!(generation.overtook(first));
        assert!(!generation.overtook(second));
        assert_eq!(generation.ticket(), second);
    }
}
