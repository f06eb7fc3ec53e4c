//! The hardware profile: a chip and its board as a user writes it, checked and resolved.

mod check;
mod components;
mod error;
mod extends;
mod point;
mod profile;
mod shipped;
mod spec;

pub use components::{Role, components};
pub use error::HardwareError;
pub use point::Point;
pub use profile::{Links, ParameterRecord, Profile};
pub use shipped::{ShippedProfile, shipped_profiles};
pub use spec::{
    Array, Bandwidth, Dataflow, Domain, DomainState, Engine, EngineEnergy, LeakageSpec, Memory,
    OperandStore, OperatingPoint, PerCycle, Precision, ProfileSpec, RailSpec, Regulator,
    RegulatorKind, Scratchpads, SoftwareStack, Standing, SystemKind, Systolic, TensorClass,
    Transfers,
};
