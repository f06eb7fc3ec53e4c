//! What is asked of the system, and when: arrivals, wake-on-inference cascades, queues, and the states
//! that other blocks go through.
//!
//! Nothing here knows a network or a chip. A [`Process`] is what is known of arrivals (mean rate,
//! dispersion); its [`Source`] is one run of it, told by a random stream of its own ([`stream`]).
//! Times are integer picoseconds, and a time past their end is an error, not a wrap.

mod admission;
mod batch;
mod bursts;
mod cascade;
mod closed_loop;
mod counted;
mod deadlines;
mod dice;
mod error;
mod order;
mod periodic;
mod poisson;
mod process;
mod recorded;
mod recorded_file;
mod request;
mod rest;
mod schedule;
#[cfg(test)]
mod served;
mod source;
#[cfg(test)]
mod statistics;
mod stream;
mod tally;

pub use admission::{Admission, Dropped, Refused, Verdict, WhenFull};
pub use batch::{BatchStart, MicroBatch};
pub use bursts::{Bursts, BurstyTimes, Level};
pub use cascade::{Cascade, Events, Look, Looks, Stage};
pub use closed_loop::{Clients, ClosedLoop, Think};
pub use counted::CountedTimes;
pub use deadlines::Deadlines;
pub use error::LoadError;
pub use order::{StreamRank, next_stream};
pub use periodic::{Periodic, PeriodicTimes};
pub use poisson::{Poisson, PoissonTimes};
pub use process::Process;
pub use recorded::{Recorded, RecordedTimes};
pub use request::Request;
pub use rest::RestRule;
pub use schedule::{StateChange, StateChanges, StateSchedule};
pub use source::Source;
pub use stream::stream;
pub use tally::{Expected, ExpectedStage, Tally};
