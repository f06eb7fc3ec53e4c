//! Power between inferences, and of whole periods.

use super::scatter::Told;
use crate::capture::{Measured, PowerSeries};
use crate::units::{Seconds, SimTime};

/// A picosecond count of a time that is not below zero.
fn picoseconds(time: Seconds) -> u64 {
    SimTime::from_seconds(time).map_or(u64::MAX, |time| time.0)
}

/// Power in the gaps between windows, from `settling` behind each to as long before the next. An edge is told to
/// a sample, so that two of them are left out on both sides too.
pub(super) fn between(
    series: &PowerSeries,
    measured: &Measured,
    settling: Seconds,
    sample: Seconds,
) -> Option<Told> {
    let margin = picoseconds(settling).saturating_add(picoseconds(sample).saturating_mul(2));
    let pairs = measured.measured.iter().zip(measured.measured.iter().skip(1));
    let gaps = pairs.filter_map(|(before, after)| {
        let from = SimTime(before.window.stop.0.saturating_add(margin));
        let to = SimTime(after.window.start.0.saturating_sub(margin));
        (from < to).then_some((from, to))
    });
    let gaps: Vec<_> = gaps.collect();
    let powers: Vec<f64> = series.means(&gaps).into_iter().flatten().map(|power| power.0).collect();
    Told::of(&powers, 0.0)
}

/// Mean power of whole periods from the start of the trace. Any stretch as long as a period holds the same
/// energy, wherever it starts.
pub(super) fn periods(series: &PowerSeries, period: Seconds) -> Option<Told> {
    let long = picoseconds(period).max(1);
    let count = series.end.0 / long;
    let most = count.min(MOST);
    let stretch = |k: u64| (SimTime(k * long), SimTime((k + 1) * long));
    let stretches: Vec<_> = (0..most).map(stretch).collect();
    let powers: Vec<f64> =
        series.means(&stretches).into_iter().flatten().map(|power| power.0).collect();
    Told::of(&powers, 0.0)
}

/// Periods of one trace that are looked at.
const MOST: u64 = 1 << 20;
