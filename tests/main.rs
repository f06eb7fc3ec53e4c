//! All tests beyond the unit tests, in one binary.

mod annotated;
mod bad_models;
mod command_line;
mod errors;
mod extends;
mod inspect;
mod laws;
mod models;
mod onnx_composite;
mod onnx_corpus;
mod oracle_models;
mod oracle_systolic;
mod oracle_thermal;
mod oracle_tiling;
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
