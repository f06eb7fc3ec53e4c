//! All tests beyond the unit tests, in one binary.

mod annotated;
mod command_line;
mod errors;
mod inspect;
mod laws;
mod models;
mod oracle_models;
mod oracle_systolic;
mod pictures;
mod rooms;
mod shared;
mod shipped;
mod trace_formats;
mod validation;
