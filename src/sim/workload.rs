//! What is asked of the network, and when.

use crate::units::Seconds;

/// When inferences are asked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Arrivals {
    /// The next as soon as the one before is done.
    BackToBack,
    /// One each period, the first at once. One that comes while another runs waits its turn.
    Periodic(Seconds),
}

/// A number of inferences and their arrivals.
#[derive(Debug, Clone, PartialEq)]
pub struct Workload {
    /// How many inferences.
    pub inferences: u64,
    /// When they are asked for.
    pub arrivals: Arrivals,
    /// The state of rest to wait in, by name; `None` is each domain's first.
    pub rest: Option<String>,
}

impl Workload {
    /// One inference, from start to end.
    pub fn single() -> Self {
        Self { inferences: 1, arrivals: Arrivals::BackToBack, rest: None }
    }
}
