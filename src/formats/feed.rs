//! From rows of a log to blocks: samples of each channel are collected and handed on, and a stretch
//! without rows stays a gap.

use crate::trace::{Block, ChannelId, SampleSink};
use crate::units::SimTime;

/// Samples of a channel handed on at once.
const BLOCK: usize = 4096;
/// Intervals that are looked at for the usual one.
const LOOKED_AT: usize = 4096;

#[derive(Debug, Default)]
struct Pending {
    starts: Vec<SimTime>,
    values: Vec<f64>,
    until: SimTime,
}

/// Samples of neighbouring channels on their way to a sink.
#[derive(Debug)]
pub(super) struct Feed {
    first: usize,
    pending: Vec<Pending>,
}

impl Feed {
    /// Of `channels` channels from number `first` on.
    pub(super) fn new(first: usize, channels: usize) -> Self {
        Self { first, pending: (0..channels).map(|_| Pending::default()).collect() }
    }

    /// A sample of one channel, counted from the first of the feed.
    pub(super) fn sample(
        &mut self,
        channel: usize,
        start: SimTime,
        until: SimTime,
        value: f64,
        sink: &mut dyn SampleSink,
    ) {
        let id = ChannelId(self.first + channel);
        let Some(pending) = self.pending.get_mut(channel) else { return };
        if pending.values.len() == BLOCK || start != pending.until {
            pending.flush(id, sink);
        }
        pending.starts.push(start);
        pending.values.push(value);
        pending.until = until.max(start);
    }

    /// A sample of each channel.
    pub(super) fn row(
        &mut self,
        start: SimTime,
        until: SimTime,
        values: &[f64],
        sink: &mut dyn SampleSink,
    ) {
        for (channel, value) in values.iter().enumerate() {
            self.sample(channel, start, until, *value, sink);
        }
    }

    /// Hands on what is left; the end of the last sample of all.
    pub(super) fn finish(mut self, sink: &mut dyn SampleSink) -> SimTime {
        for (channel, pending) in self.pending.iter_mut().enumerate() {
            pending.flush(ChannelId(self.first + channel), sink);
        }
        self.pending.iter().map(|pending| pending.until).max().unwrap_or_default()
    }
}

impl Pending {
    fn flush(&mut self, id: ChannelId, sink: &mut dyn SampleSink) {
        if !self.values.is_empty() {
            sink.samples(id, &Block::each(&self.starts, self.until, &self.values));
            self.starts.clear();
            self.values.clear();
        }
    }
}

/// The usual time from one row to the next, found before the rows are handed on.
#[derive(Debug, Default)]
pub(super) struct Pace {
    before: Option<i128>,
    intervals: Vec<u64>,
}

impl Pace {
    /// Takes in a stamp \[ps\].
    pub(super) fn take(&mut self, stamp: i128) {
        if let Some(before) = self.before.replace(stamp)
            && let Ok(interval) = u64::try_from(stamp - before)
        {
            self.interval(interval);
        }
    }

    /// Takes in an interval \[ps\].
    pub(super) fn interval(&mut self, interval: u64) {
        if interval > 0 && self.intervals.len() < LOOKED_AT {
            self.intervals.push(interval);
        }
    }

    /// The median of the intervals seen; none where there was none.
    pub(super) fn usual(&self) -> Option<SimTime> {
        let mut sorted = self.intervals.clone();
        sorted.sort_unstable();
        sorted.get(sorted.len() / 2).copied().map(SimTime)
    }
}

/// The end of a reading taken at `at` that holds until the next at `next`: beyond two and a half of
/// the usual interval rows are missing, and it holds for one.
pub(super) fn held(at: SimTime, next: SimTime, usual: SimTime) -> SimTime {
    if is_gap(at, next, usual) { later(at, usual) } else { next }
}

/// True where rows are missing between two.
pub(super) fn is_gap(at: SimTime, next: SimTime, usual: SimTime) -> bool {
    next.since(at).0 > usual.0.saturating_mul(2).saturating_add(usual.0 / 2)
}

/// Later by a duration, at most the end of time.
pub(super) fn later(at: SimTime, by: SimTime) -> SimTime {
    SimTime(at.0.saturating_add(by.0))
}

/// Rows of readings each of which holds until the next.
#[derive(Debug)]
pub(super) struct Held {
    feed: Feed,
    usual: SimTime,
    row: Option<(SimTime, Vec<f64>)>,
}

impl Held {
    /// Of `channels` channels from number `first` on.
    pub(super) fn new(first: usize, channels: usize, usual: SimTime) -> Self {
        Self { feed: Feed::new(first, channels), usual, row: None }
    }

    /// A row read at `at`.
    pub(super) fn row(&mut self, at: SimTime, values: &[f64], sink: &mut dyn SampleSink) {
        if let Some((start, mut row)) = self.row.take() {
            self.feed.row(start, held(start, at, self.usual), &row, sink);
            row.clear();
            row.extend_from_slice(values);
            self.row = Some((at, row));
        } else {
            self.row = Some((at, values.to_vec()));
        }
    }

    /// The last row holds for the usual interval; its end.
    pub(super) fn finish(mut self, sink: &mut dyn SampleSink) -> SimTime {
        if let Some((start, row)) = self.row.take() {
            self.feed.row(start, later(start, self.usual), &row, sink);
        }
        self.feed.finish(sink)
    }
}

/// Rows each of which is a mean of the time before its stamp.
#[derive(Debug)]
pub(super) struct Means {
    feed: Feed,
    usual: SimTime,
    before: SimTime,
}

impl Means {
    /// Of `channels` channels; time zero is the start of the first mean.
    pub(super) fn new(channels: usize, usual: SimTime) -> Self {
        Self { feed: Feed::new(0, channels), usual, before: SimTime::ZERO }
    }

    /// A row stamped `at`.
    pub(super) fn row(&mut self, at: SimTime, values: &[f64], sink: &mut dyn SampleSink) {
        let start = match is_gap(self.before, at, self.usual) {
            true => SimTime(at.0.saturating_sub(self.usual.0)),
            false => self.before,
        };
        self.feed.row(start, at, values, sink);
        self.before = at;
    }

    /// The end of the last.
    pub(super) fn finish(self, sink: &mut dyn SampleSink) -> SimTime {
        self.feed.finish(sink)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{Channel, ChannelKind, Layout, Readings};

    fn readings() -> Readings {
        let mut readings = Readings::default();
        let channels = vec![Channel::new("p", ChannelKind::Power, "p")];
        readings.begin(&Layout { channels, ..Layout::default() });
        readings
    }

    #[test]
    fn a_stretch_without_rows_is_a_gap() {
        let mut readings = readings();
        let mut held = Held::new(0, 1, SimTime(10));
        for (at, value) in [(0, 1.0), (10, 2.0), (20, 3.0), (60, 4.0)] {
            held.row(SimTime(at), &[value], &mut readings);
        }
        assert_eq!(held.finish(&mut readings), SimTime(70));
        let segments: Vec<_> =
            readings.series[0].segments().map(|(a, b, v)| (a.0, b.0, v)).collect();
        assert_eq!(segments, [(0, 10, 1.0), (10, 20, 2.0), (20, 30, 3.0), (60, 70, 4.0)]);
    }

    #[test]
    fn a_mean_stands_before_its_stamp() {
        let mut readings = readings();
        let mut means = Means::new(1, SimTime(10));
        for (at, value) in [(10, 1.0), (20, 2.0), (60, 3.0)] {
            means.row(SimTime(at), &[value], &mut readings);
        }
        assert_eq!(means.finish(&mut readings), SimTime(60));
        let segments: Vec<_> =
            readings.series[0].segments().map(|(a, b, v)| (a.0, b.0, v)).collect();
        assert_eq!(segments, [(0, 10, 1.0), (10, 20, 2.0), (50, 60, 3.0)]);
    }

    #[test]
    fn the_usual_interval_is_the_median_and_blocks_join() {
        let mut pace = Pace::default();
        [0, 10, 20, 20, 30, 990].into_iter().for_each(|at| pace.take(at));
        assert_eq!(pace.usual(), Some(SimTime(10)));
        assert_eq!(Pace::default().usual(), None);
        let mut readings = readings();
        let mut held = Held::new(0, 1, SimTime(1));
        for at in 0..10_000u64 {
            held.row(SimTime(at), &[at as f64], &mut readings);
        }
        held.finish(&mut readings);
        assert_eq!(readings.series[0].blocks().count(), 1);
        assert_eq!(readings.series[0].values().len(), 10_000);
    }
}
