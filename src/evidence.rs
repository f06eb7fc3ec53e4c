//! What a value rests on: its source, the kind of that source, its spread, and how much of a
//! result rests on evidence.

mod coverage;
mod parameter;
mod path;
mod source;

pub use coverage::{Coverage, INDICATIVE_BELOW};
pub use parameter::{
    Condition, Parameter, Parameters, ValueFault, Valued, described, no_parameters,
};
pub use path::FieldPath;
pub use source::{CommonSpread, Kind, Source, Sources};
