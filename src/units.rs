//! Typed quantities, the quantity literal, and integer simulation time.
//!
//! Everything inside is SI; a unit is met only where text is read ([`Literal`]) or printed
//! ([`engineering`]). Values of different kinds cannot be added, and only lawful products exist
//! (`Volts * Amperes = Watts`), so that a swapped argument does not compile.

mod dimension;
mod literal;
mod quantity;
mod sum;
mod time;

pub use dimension::{Dimension, UnitError, parse_unit};
pub use literal::{Literal, LiteralError, Spread};
pub use quantity::{
    Amperes, AmperesPerSecond, Bytes, BytesPerCycle, BytesPerMac, BytesPerSecond, Celsius,
    Coulombs, Cycles, CyclesPerElement, CyclesPerMac, CyclesPerOperation, Farads, Hertz,
    JouleSeconds, JouleSecondsSquared, Joules, JoulesPerByte, JoulesPerCycle, JoulesPerKelvin,
    JoulesPerMac, JoulesPerOperation, Kelvins, KelvinsPerWatt, MacsPerByte, MacsPerCycle,
    MacsPerJoule, MacsPerSecond, Ohms, OperationsPerByte, OperationsPerCycle, OperationsPerJoule,
    OperationsPerSecond, PerKelvin, PerVolt, Quantity, Ratio, RelativeError, Seconds, Volts,
    VoltsPerSecond, Watts, WattsPerKelvin, engineering,
};
pub use sum::CompensatedSum;
pub use time::{SimTime, TimeError};
