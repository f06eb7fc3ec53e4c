//! Why a run cannot go on.

use crate::units::{SimTime, TimeError};

/// Why a run cannot go on.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum KernelError {
    /// Time ran out of its range.
    #[error(transparent)]
    Time(#[from] TimeError),
    /// An event before now.
    #[error("an event at {at} was scheduled at {now}, in its past: {event}")]
    Past {
        /// When it should have been.
        at: SimTime,
        /// When it was scheduled.
        now: SimTime,
        /// The event.
        event: String,
    },
    /// Time stands still.
    #[error("{count} events at {at} without time going on; the last were {}", .last.join(", "))]
    Stuck {
        /// The instant.
        at: SimTime,
        /// Events at it.
        count: u64,
        /// The last of them, the latest last.
        last: Vec<String>,
    },
    /// More events than can be numbered.
    #[error("a run cannot schedule more than {0} events")]
    Exhausted(u64),
    /// Two components would draw the same numbers.
    #[error("the stream of random numbers `{name}` {index} is already in use")]
    StreamTaken {
        /// Name of the component.
        name: String,
        /// Its index.
        index: u64,
    },
    /// A server that has nothing to finish.
    #[error("server {server} of {servers} is not at work")]
    NotAtWork {
        /// The server.
        server: usize,
        /// Servers of the station.
        servers: usize,
    },
}
