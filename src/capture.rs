//! What a measurement means: supply lines from channels, windows from edges, one clock from two,
//! the profile of one inference from many.

mod busy;
mod carried;
mod change_points;
mod fold;
mod host_clock;
mod lanes;
mod layers;
mod measured;
mod power_series;
mod rails;
mod repeats;
mod request;
mod statistics;
mod supply;
mod windows;

pub use carried::Carried;
pub use change_points::{Pieces, change_points};
pub use fold::{FoldFault, Folded, fold};
pub use host_clock::{ClockFit, HostEvent, HostRole, HostWords, Matched, events_of, match_edges};
pub use layers::{AssignFault, AssignOptions, Assigned, Expected, assign};
pub use measured::{Measured, MeasuredWindow};
pub use power_series::PowerSeries;
pub use rails::Rails;
pub use repeats::{Compared, Repeats, Runs, values_of};
pub use request::{Request, fold_measured, is_run};
pub use statistics::{Gap, Statistics, Summary, median};
pub use supply::{Electrical, Supply, SupplyLine};
pub use windows::{EdgeRule, Window, WindowOptions, Windows, find_windows};
