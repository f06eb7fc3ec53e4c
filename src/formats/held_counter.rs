//! A counter that is told value by value, each with its time, and holds each to the next.

use super::ReadFault;
use crate::trace::{Block, ChannelId, SampleSink};
use crate::units::SimTime;

/// Values that are told at once.
const BLOCK: usize = 1024;

/// Values that wait for the end of the last of them.
#[derive(Debug, Default)]
pub(super) struct HeldCounter {
    starts: Vec<SimTime>,
    values: Vec<f64>,
}

impl HeldCounter {
    /// The counter stands at `value` from `at` on; of several at one instant the last holds.
    pub(super) fn set(
        &mut self,
        channel: ChannelId,
        at: SimTime,
        value: f64,
        sink: &mut dyn SampleSink,
    ) -> Result<(), ReadFault> {
        match (self.starts.last(), self.values.last_mut()) {
            (Some(before), _) if *before > at => return Err(ReadFault::backwards(*before, at)),
            (Some(before), Some(last)) if *before == at => *last = value,
            _ => {
                if self.starts.len() >= BLOCK {
                    self.tell(channel, at, sink);
                }
                self.starts.push(at);
                self.values.push(value);
            }
        }
        Ok(())
    }

    /// The last value holds until `end`; one at the very end holds for no time.
    pub(super) fn finish(mut self, channel: ChannelId, end: SimTime, sink: &mut dyn SampleSink) {
        if self.starts.last() == Some(&end) {
            self.starts.pop();
            self.values.pop();
        }
        self.tell(channel, end, sink);
    }

    fn tell(&mut self, channel: ChannelId, until: SimTime, sink: &mut dyn SampleSink) {
        if !self.starts.is_empty() {
            sink.samples(channel, &Block::each(&self.starts, until, &self.values));
        }
        self.starts.clear();
        self.values.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{Channel, ChannelKind, Layout, Readings};

    #[test]
    fn each_value_holds_to_the_next_over_any_number_of_blocks() {
        let mut readings = Readings::default();
        readings.begin(&Layout {
            channels: vec![Channel::new("c", ChannelKind::Other, "")],
            ..Layout::default()
        });
        let (mut counter, channel) = (HeldCounter::default(), ChannelId(0));
        let count = 2 * BLOCK as u64 + 7;
        for at in 0..count {
            counter.set(channel, SimTime(10 * at), -1.0, &mut readings).unwrap();
            counter.set(channel, SimTime(10 * at), at as f64, &mut readings).unwrap();
        }
        assert!(counter.set(channel, SimTime(3), 0.0, &mut readings).is_err());
        counter.set(channel, SimTime(10 * count), 9.0, &mut readings).unwrap();
        counter.finish(channel, SimTime(10 * count), &mut readings);
        let told: Vec<_> = readings.series[0].segments().collect();
        let expected = (0..count).map(|at| (SimTime(10 * at), SimTime(10 * at + 10), at as f64));
        assert_eq!(told, expected.collect::<Vec<_>>());
    }
}
