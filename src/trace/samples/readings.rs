//! A whole capture in memory, for what has to look at it more than once.

use super::{Block, ChannelId, Edge, Layout, Mark, SampleClock, SampleSink, Times};
use crate::trace::Span;
use crate::units::SimTime;
use std::ops::Range;

/// Samples of a [`Series`] without a gap in time between them.
#[derive(Debug, Clone, PartialEq)]
pub enum Run {
    /// At the beats of a clock.
    Even {
        /// The clock.
        clock: SampleClock,
        /// The number of the first sample.
        first: u64,
        /// Its samples within the values of the series.
        samples: Range<usize>,
    },
    /// One by one.
    Each {
        /// When each starts.
        starts: Vec<SimTime>,
        /// When the last one ends.
        until: SimTime,
        /// Its samples within the values of the series.
        samples: Range<usize>,
    },
}

/// All samples of one channel.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Series {
    runs: Vec<Run>,
    values: Vec<f64>,
}

impl Series {
    /// Every value, gaps within a run as not-a-number.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The pieces between gaps in time.
    pub fn blocks(&self) -> impl Iterator<Item = Block<'_>> {
        self.runs.iter().map(|run| match run {
            Run::Even { clock, first, samples } => {
                Block::even(*clock, *first, self.values.get(samples.clone()).unwrap_or_default())
            }
            Run::Each { starts, until, samples } => {
                Block::each(starts, *until, self.values.get(samples.clone()).unwrap_or_default())
            }
        })
    }

    /// The segments `(start, end, value)`, in the order of time.
    pub fn segments(&self) -> impl Iterator<Item = (SimTime, SimTime, f64)> + '_ {
        self.blocks().flat_map(|block| block.segments())
    }

    /// The end of the last sample.
    pub fn end(&self) -> SimTime {
        self.blocks().last().map_or(SimTime::ZERO, |block| block.end())
    }

    /// Appends a block; it joins the run before where no time is missing between them.
    pub fn push(&mut self, block: &Block<'_>) {
        let from = self.values.len();
        self.values.extend_from_slice(block.values);
        let samples = from..self.values.len();
        match (self.runs.last_mut(), block.times) {
            (
                Some(Run::Even { clock, first, samples: before }),
                Times::Even { clock: next, first: at },
            ) if *clock == next && *first + before.len() as u64 == at => before.end = samples.end,
            (
                Some(Run::Each { starts, until, samples: before }),
                Times::Each { starts: more, until: end },
            ) if more.first() == Some(until) => {
                starts.extend_from_slice(more);
                *until = end;
                before.end = samples.end;
            }
            (_, Times::Even { clock, first }) => {
                self.runs.push(Run::Even { clock, first, samples })
            }
            (_, Times::Each { starts, until }) => {
                self.runs.push(Run::Each { starts: starts.to_vec(), until, samples });
            }
        }
    }
}

/// A [`SampleSink`] that keeps everything.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Readings {
    /// What the file says before its samples.
    pub layout: Layout,
    /// The samples of each channel.
    pub series: Vec<Series>,
    /// Changes of digital lines, in the order of the file.
    pub edges: Vec<Edge>,
    /// Lines of logs.
    pub marks: Vec<Mark>,
    /// Spans.
    pub spans: Vec<Span>,
    /// End of the last sample or span.
    pub end: SimTime,
}

impl Readings {
    /// Tells all of it to another sink: edges and marks first, then channel by channel.
    pub fn replay(&self, sink: &mut impl SampleSink) {
        sink.begin(&self.layout);
        self.edges.iter().for_each(|edge| sink.edge(*edge));
        self.marks.iter().for_each(|mark| sink.mark(mark.clone()));
        self.spans.iter().for_each(|span| sink.span(span.clone()));
        for (channel, series) in self.series.iter().enumerate() {
            series.blocks().for_each(|block| sink.samples(ChannelId(channel), &block));
        }
        sink.end(self.end);
    }
}

impl SampleSink for Readings {
    fn begin(&mut self, layout: &Layout) {
        let series = vec![Series::default(); layout.channels.len()];
        *self = Self { layout: layout.clone(), series, ..Self::default() };
    }
    fn samples(&mut self, channel: ChannelId, block: &Block<'_>) {
        if let Some(series) = self.series.get_mut(channel.0)
            && !block.values.is_empty()
        {
            series.push(block);
        }
    }
    fn edge(&mut self, edge: Edge) {
        self.edges.push(edge);
    }
    fn mark(&mut self, mark: Mark) {
        self.marks.push(mark);
    }
    fn span(&mut self, span: Span) {
        self.spans.push(span);
    }
    fn end(&mut self, at: SimTime) {
        self.end = at;
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Channel, ChannelKind, Level, LineId};
    use super::*;
    use crate::units::Hertz;

    #[test]
    fn blocks_join_unless_time_is_missing_and_a_replay_gives_the_same() {
        let mut readings = Readings::default();
        readings.begin(&Layout {
            channels: vec![
                Channel::new("i", ChannelKind::Current, "main"),
                Channel::new("v", ChannelKind::Voltage, "main"),
            ],
            lines: vec!["D0".into()],
            ..Layout::default()
        });
        let clock = SampleClock::new(SimTime(0), Hertz(1e9)).unwrap();
        readings.edge(Edge { line: LineId(0), at: SimTime(500), to: Level::High });
        readings.samples(ChannelId(0), &Block::even(clock, 0, &[1.0, 2.0]));
        readings.samples(ChannelId(0), &Block::even(clock, 2, &[f64::INFINITY]));
        readings.samples(ChannelId(0), &Block::even(clock, 5, &[4.0]));
        let starts = [SimTime(0), SimTime(1500)];
        readings.samples(ChannelId(1), &Block::each(&starts, SimTime(3000), &[3.0, 3.1]));
        readings.samples(ChannelId(1), &Block::each(&[SimTime(3000)], SimTime(6000), &[3.2]));
        readings.samples(ChannelId(7), &Block::even(clock, 0, &[9.0]));
        readings.end(SimTime(6000));
        let blocks: Vec<_> = readings.series[0].blocks().map(|b| (b.start(), b.end())).collect();
        assert_eq!(blocks, [(SimTime(0), SimTime(3000)), (SimTime(5000), SimTime(6000))]);
        assert_eq!(readings.series[1].blocks().count(), 1);
        assert_eq!(readings.series[1].segments().nth(2), Some((SimTime(3000), SimTime(6000), 3.2)));
        let mut again = Readings::default();
        readings.replay(&mut again);
        assert_eq!(again, readings);
    }
}
