//! The discrete-event kernel. It knows no networks and no hardware.
//!
//! A [`Queue`] holds what will happen, in one total order. A [`System`] handles one event after
//! another and [`drive`] runs it until nothing is left or a [`Stops`] says so. A component that
//! plans anew overtakes its older events by a [`Generation`]. Chance comes from [`Streams`], one
//! stream a component. [`Station`] and [`Line`] are servers and those who wait for them.
//!
//! Queue, station, generations and streams are written and read with serde: a run that is stopped,
//! written, read and driven on gives the same bytes as one that was never stopped.

mod drive;
mod error;
mod generation;
mod queue;
mod snapshot;
mod station;
mod streams;

pub use drive::{Ending, Stops, System, drive};
pub use error::KernelError;
pub use generation::{Generation, Ticket};
pub use queue::{Class, Queue};
pub use station::{Admission, Line, Station};
pub use streams::{Stream, Streams};
