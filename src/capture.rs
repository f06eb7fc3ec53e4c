//! What a measurement means: supply lines from channels, windows from edges, one clock from two,
//! the profile of one inference from many.

mod host_clock;
mod lanes;
mod measured;
mod rails;
mod statistics;
mod supply;
mod windows;

pub use host_clock::{ClockFit, HostEvent, HostRole, Matched, host_events, match_edges};
pub use measured::{Measured, MeasuredWindow};
pub use rails::Rails;
pub use statistics::{Gap, Statistics, Summary, median};
pub use supply::{Electrical, Supply, SupplyLine};
pub use windows::{EdgeRule, Window, WindowOptions, Windows, find_windows};
