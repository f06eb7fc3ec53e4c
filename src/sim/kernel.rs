//! The event queue. It knows no networks and no hardware.

mod queue;

pub use queue::{Class, KernelError, Queue};
