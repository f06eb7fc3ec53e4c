//! The hardware profile: a chip and its board as a user writes it, checked and resolved.

mod channel;
mod check;
mod components;
mod corner;
mod error;
mod extends;
mod gaps;
mod in_use;
mod out_of_reach;
mod point;
mod profile;
mod shipped;
mod spec;

pub use channel::Channel;
pub use components::{Role, components};
pub use error::HardwareError;
pub use out_of_reach::OutOfReach;
pub use point::Point;
pub use profile::{Links, ParameterRecord, Profile};
pub use shipped::{ShippedProfile, shipped_profiles};
pub use spec::*;
