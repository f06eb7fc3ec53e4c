//! One operator on one engine at one operating point: cycles, utilisation, operand passes, joules.
//!
//! Utilisation follows from shapes and array, never from a constant. Whatever an engine cannot run
//! is a [`Refusal`] that placement can act on, never a cost of zero.

mod ahead;
mod block_engine;
mod channel;
mod executed;
mod fixed_function;
mod lanes;
mod operator;
mod port;
mod standing;
mod supply;
mod systolic;
mod tensor_tiles;
mod tiling;
mod timing;
mod transition;
mod voltage;

pub use channel::{access_energy, bandwidth, latency};
pub use executed::executed_on;
pub use fixed_function::{StageCost, has_stages, no_stage, stage};
pub use operator::{Cost, Setting, Start, busy_energy, cost, cost_in_cycles, runs_in, start};
pub use standing::{
    DomainPower, KnownPower, asleep, background, domain_temperature, leakage_law, leaked,
    load_leakage_law, load_leaked, load_power, load_power_in, load_temperature, resting_memory,
    resting_power, standing_power, working_power,
};
pub use supply::{
    Changed, ModeChange, SourceState, SupplyState, SupplyTree, evidence_at_sources, grid_kind,
    is_fed,
};
pub use systolic::{SystolicCycles, systolic_cycles};
pub(crate) use tiling::Mixing;
pub use tiling::{
    Factor, Image, ROOMS, Results, RowTile, Rows, StagedTiling, Staging, TileLoop, TileTraffic,
    Tiling, Tilings, halo, search, tile_sizes, tilings,
};
pub use timing::{Passes, Refusal};
pub use transition::{Spent, Transition, transition};
pub use voltage::dynamic_scale;
