//! joulecast predicts the energy trace of a neural-network workload on hardware that may not exist
//! yet, says how sure it is and why.
//!
//! ```
//! use joulecast::cost::Setting;
//! use joulecast::{estimate, hardware, mapping, model, uncertainty};
//!
//! let graph = model::load("kws_ds_cnn", &model::Bindings::default())?;
//! let network = mapping::Network::of(&graph)?;
//! let profile = hardware::Profile::load("stm32l4r5")?;
//! let point = profile.point(Some("120mhz_3v0"))?;
//! let stacks = profile.stacks(None)?;
//! let setting = Setting { profile: &profile, point: &point, stacks: &stacks };
//!
//! let predicted = estimate::estimate(&mapping::plan(&network, setting), setting);
//! let sure = uncertainty::linearised(&network, setting);
//! let interval = sure.interval(uncertainty::Figure::Energy, predicted.energy.0);
//! assert!(interval.low < predicted.energy.0 && predicted.energy.0 < interval.high);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Rooms
//!
//! Data moves one way, and a room imports only from the rooms before it; a test walks the sources
//! and holds them to it.
//!
//! ```text
//!  .ron .tflite .onnx ──► model ──┐                    ┌► estimate ──┬► uncertainty ─┐
//!                                 ├─► cost ─► mapping ─┤             │               ├► report ─► cli
//!  hardware_profiles/ ─► hardware ┘          (Plan)    └► sim ─► trace ──► formats ──┤
//!  validation/ ──► calibrate ────────────────────────────────────────────────────────┘
//! ```
//!
//! | room | owns | must not know |
//! |---|---|---|
//! | [`units`] | typed quantities, the quantity literal, integer time | anything else |
//! | [`evidence`] | sources, kinds, spreads, coverage, the walk over all parameters | what a value is for |
//! | [`diagnostic`] | field path to span to line and caret, collected faults | domains |
//! | [`physics`] | exact laws, one a file | events, traces, files |
//! | [`model`] | the operator graph, shapes, work counts, importers | hardware |
//! | [`hardware`] | the profile, checked and resolved | how a model is scheduled |
//! | [`cost`] | one operator on one engine at one operating point; the rail tree at one instant | graphs, schedules |
//! | [`mapping`] | placement, memory plan, traffic, phases: the plan | time of day, power states |
//! | [`mod@estimate`] | a plan summed up | events |
//! | [`trace`] | piecewise-constant power, spans, sinks, exact metrics, the ledger of joules | files; where a trace came from |
//! | [`formats`] | one codec a file | who asks |
//! | [`sim`] | the event kernel and the components on it | files, plots |
//! | [`uncertainty`] | intervals, linearised and sampled; what headline numbers rest on | where the numbers go |
//! | [`capture`] | what a measurement means: supply lines, windows, clocks | the simulator |
//! | [`calibrate`] | measured references and predictions against them | file formats of captures |
//! | [`report`] | tables, JSON, plots, folders | computing anything |
//! | [`cli`] | arguments, exit codes | physics |
//!
//! # Invariants
//!
//! - **Every joule sits in one cell** of *where* (rail, domain, component) and *why* (layer, idle,
//!   transition). Sums over causes, components and rails and the integral of the trace agree to 1e-9
//!   relative in every run, from independent accumulators; a breach is an error of the run.
//! - **Power drawn is positive.** *Load* energy is what domains draw, *source* energy what the supply
//!   gave; the difference is loss and stored energy, each by name.
//! - **Nothing is costed at zero in silence.** What no engine runs is listed, with its share.
//! - **Every number of a profile** has unit, source and spread, and is part of every interval: the
//!   types are declared so that no field can be left out of the walk.
//! - **Every headline figure** carries an interval and its evidence coverage; below 50 % it is
//!   printed as indicative.
//! - **Time is integer picoseconds**; a seed makes every random stream; the same input gives the same
//!   bytes.
//! - **No input panics.** Bad input is one clear error, exit code 2, and nothing is written.
#![warn(missing_docs, missing_debug_implementations)]

pub mod calibrate;
pub mod capture;
pub mod cli;
pub mod cost;
pub mod diagnostic;
pub mod estimate;
pub mod evidence;
pub mod formats;
pub mod hardware;
pub mod mapping;
pub mod model;
pub mod physics;
pub mod report;
pub mod sim;
pub mod trace;
pub mod uncertainty;
pub mod units;
