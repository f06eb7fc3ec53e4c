//! joulecast.
#![warn(missing_docs, missing_debug_implementations)]

pub mod cost;
pub mod diagnostic;
pub mod estimate;
pub mod evidence;
pub mod formats;
pub mod hardware;
pub mod mapping;
pub mod model;
pub mod physics;

pub mod calibrate;
pub mod cli;
pub mod report;
pub mod sim;
pub mod trace;
pub mod uncertainty;
pub mod units;
