//! Scenarios: what is asked of which hardware, when, for how long, and what rests meanwhile.
//!
//! A [`ScenarioSpec`] is the file as written; a [`Scenario`] is it with hardware, networks and names
//! found, its arrivals, cascades and schedules made. Its [`Outlook`] is what closed forms say before
//! anything runs.

mod background;
mod checked;
mod claims;
mod dvfs;
mod error;
mod hardware;
mod heat;
mod hosts;
mod networks;
mod outlook;
mod processes;
mod read;
mod resolved;
mod resting;
mod rests;
mod shipped;
mod spec;
mod supply;
mod workloads;

pub use dvfs::Dvfs;
pub use error::ScenarioError;
pub use outlook::{EngineLoad, Outlook, StreamOutlook, Warning};
pub use read::check;
pub use resolved::{
    Coupling, End, HeatStart, Host, Placed, PowerSource, Rest, Scenario, StageWork, Task,
    WakeCascade, Work, Workload,
};
pub use resting::RestOutlook;
pub use shipped::{ShippedScenario, list, scenario_text, shipped_scenarios};
pub use spec::*;
