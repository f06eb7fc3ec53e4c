//! Power between inferences, and of whole periods.

use super::files::Stretch;
use super::scatter::Told;
use crate::capture::{Measured, PowerSeries};
use crate::units::{Seconds, SimTime};

/// A picosecond count of a time that is not below zero.
fn picoseconds(time: Seconds) -> u64 {
    SimTime::from_seconds(time).map_or(u64::MAX, |time| time.0)
}

/// Power in the gaps between windows, from `settling` behind each to as long before the next. An edge is told to
/// a sample, so that two of them are left out on both sides too. When another network of the file runs, the board is
/// not at rest: `busy`, in the order of time.
pub(super) fn between(
    series: &PowerSeries,
    measured: &Measured,
    (settling, sample): (Seconds, Seconds),
    busy: &[Stretch],
) -> Option<Told> {
    let margin = picoseconds(settling).saturating_add(picoseconds(sample).saturating_mul(2));
    let pairs = measured.measured.iter().zip(measured.measured.iter().skip(1));
    let gaps = pairs.flat_map(|(before, after)| {
        quiet((before.window.stop, after.window.start), busy).into_iter().filter_map(
            |(from, to)| {
                let (from, to) = (from.0.saturating_add(margin), to.0.saturating_sub(margin));
                (from < to).then_some((SimTime(from), SimTime(to)))
            },
        )
    });
    let gaps: Vec<_> = gaps.collect();
    let powers: Vec<f64> = series.means(&gaps).into_iter().flatten().map(|power| power.0).collect();
    Told::of(&powers, 0.0)
}

/// What is left of a gap without stretches that are in the order of time.
fn quiet((mut from, to): Stretch, busy: &[Stretch]) -> Vec<Stretch> {
    let first = busy.partition_point(|(_, end)| *end <= from);
    let mut left = Vec::new();
    for (start, end) in busy.iter().skip(first).take_while(|(start, _)| *start < to) {
        if *start > from {
            left.push((from, *start));
        }
        from = from.max(*end);
    }
    if from < to {
        left.push((from, to));
    }
    left
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_in_which_another_network_runs_is_quiet_before_and_behind_it() {
        let at = |own: &[(u64, u64)]| -> Vec<Stretch> {
            own.iter().map(|(from, to)| (SimTime(*from), SimTime(*to))).collect()
        };
        let gap = (SimTime(100), SimTime(200));
        assert_eq!(quiet(gap, &[]), at(&[(100, 200)]));
        let busy = at(&[(10, 20), (90, 110), (150, 160), (300, 400)]);
        assert_eq!(quiet(gap, &busy), at(&[(110, 150), (160, 200)]));
        assert_eq!(quiet(gap, &at(&[(50, 250)])), at(&[]));
    }
}
