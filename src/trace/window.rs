//! The largest mean over a sliding window, exact on piecewise-constant data.
//!
//! With F the running integral, F(t) - F(t - w) is piecewise linear in t, with kinks where t or
//! t - w is a break point; its maximum lies on a kink. Both kinds are tested as segments come in,
//! with memory for one window only.

use crate::units::{SimTime, Watts};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct WindowPeak {
    width: SimTime,
    /// Break points of the last window: time, integral up to it \[W ps\], value behind it.
    past: VecDeque<(SimTime, f64, f64)>,
    /// From an origin that moves with the window, for a window is little beside a long run.
    integral: f64,
    /// Break points dropped since the origin last moved.
    dropped: usize,
    now: SimTime,
    largest: Option<f64>,
}

impl WindowPeak {
    pub(super) fn new(width: SimTime) -> Self {
        Self {
            width,
            past: VecDeque::new(),
            integral: 0.0,
            dropped: 0,
            now: SimTime::ZERO,
            largest: None,
        }
    }

    /// Appends a segment of constant `value` up to `end`.
    #[inline]
    pub(super) fn push(&mut self, end: SimTime, value: f64) {
        if end <= self.now {
            return;
        }
        let start = self.now;
        let base = self.integral;
        self.past.push_back((start, base, value));
        self.integral = base + value * end.since(start).0 as f64;
        self.now = end;
        // Kinks where the window's tail passes a break point inside this segment.
        let mut leave = 0;
        for (i, &(at, before, _)) in self.past.iter().enumerate() {
            let head = SimTime(at.0.saturating_add(self.width.0));
            if head > end {
                break;
            }
            leave = i;
            if head >= start {
                let here = base + value * head.since(start).0 as f64;
                self.largest = larger(self.largest, here - before);
            }
        }
        // The kink at this segment's end. A window within the segment needs nothing before it.
        if end.since(start) >= self.width {
            let whole = value * self.width.0 as f64;
            self.largest = larger(self.largest, whole);
            self.past.clear();
            self.past.push_back((SimTime(end.0 - self.width.0), 0.0, value));
            (self.integral, self.dropped) = (whole, 0);
            return;
        }
        if let Some(tail) = end.0.checked_sub(self.width.0).map(SimTime) {
            // The last break point at or before the tail; those before it are done with.
            self.past.drain(..leave);
            if let Some(&(at, before, after)) = self.past.front() {
                let until_tail = before + after * tail.since(at).0 as f64;
                self.largest = larger(self.largest, self.integral - until_tail);
            }
            self.dropped += leave;
            if self.dropped >= self.past.len() {
                self.move_origin();
            }
        }
    }

    fn move_origin(&mut self) {
        let origin = self.past.front().map_or(0.0, |front| front.1);
        for (_, before, _) in &mut self.past {
            *before -= origin;
        }
        self.integral -= origin;
        self.dropped = 0;
    }

    /// The largest mean; over a trace shorter than the window, the mean of the whole.
    pub(super) fn largest(&self) -> Watts {
        let width = self.width.0 as f64;
        match self.largest {
            Some(energy) => Watts(energy / width),
            None if self.now > SimTime::ZERO => Watts(self.integral / self.now.0 as f64),
            None => Watts(0.0),
        }
    }
}

fn larger(current: Option<f64>, candidate: f64) -> Option<f64> {
    Some(current.map_or(candidate, |c| c.max(candidate)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn by_definition(segments: &[(u64, f64)], width: u64) -> f64 {
        let mut ends = vec![0u64];
        for (d, _) in segments {
            ends.push(ends.last().unwrap() + d);
        }
        let total = *ends.last().unwrap();
        let integral = |t: u64| -> f64 {
            segments
                .iter()
                .zip(&ends)
                .map(|((d, v), start)| v * t.saturating_sub(*start).min(*d) as f64 * 1e-12)
                .sum()
        };
        if total < width {
            return integral(total) / (total as f64 * 1e-12);
        }
        (width..=total)
            .map(|t| (integral(t) - integral(t - width)) / (width as f64 * 1e-12))
            .fold(f64::MIN, f64::max)
    }

    #[test]
    fn a_window_late_in_a_long_run_is_as_exact_as_an_early_one() {
        let second = 1_000_000_000_000;
        for (long, short, times) in [(1_000_000 * second, second / 100, 10), (0, 300, 1_000_000)] {
            let width = 1_000_000;
            let mut peak = WindowPeak::new(SimTime(width));
            let mut end = 0;
            for round in 0..times {
                for (duration, value) in [(long, 0.006436), (short, 0.043632)] {
                    end += duration;
                    peak.push(SimTime(end), value + f64::from(round % 2) * 1e-9);
                }
            }
            let expected = if long > 0 { 0.043632001 } else { 0.0436320005 };
            let error = peak.largest().0 / expected - 1.0;
            // Windows of many short segments hold a few more of one value than of the other.
            assert!(error.abs() < if long > 0 { 1e-12 } else { 1e-9 }, "{error}");
        }
    }

    proptest! {
        #[test]
        fn equals_the_definition_at_every_instant(
            segments in proptest::collection::vec((1u64..15, -3.0..10.0f64), 1..20),
            width in 1u64..40,
        ) {
            let mut peak = WindowPeak::new(SimTime(width));
            let mut end = 0;
            for (duration, value) in &segments {
                end += duration;
                peak.push(SimTime(end), *value);
            }
            let expected = by_definition(&segments, width);
            prop_assert!((peak.largest().0 - expected).abs() < 1e-9 * expected.abs().max(1.0));
        }
    }
}
