//! joulecast.
#![warn(missing_docs, missing_debug_implementations)]

pub mod diagnostic;
pub mod evidence;
pub mod model;
pub mod trace;
pub mod units;
