//! All tests beyond the unit tests, in one binary.

mod annotated;
mod bad_models;
mod chips;
mod command_line;
mod errors;
mod inspect;
mod laws;
mod models;
mod onnx_composite;
mod onnx_corpus;
mod operator_costs;
mod oracle_models;
mod oracle_systolic;
mod oracle_thermal;
mod pictures;
mod recurrence;
mod rooms;
mod shared;
mod shipped;
mod trace_formats;
mod transformers;
mod transforms;
mod validation;
mod variants;
mod wire;
