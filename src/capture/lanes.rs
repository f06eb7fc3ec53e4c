//! Channels with clocks of their own, side by side.

use crate::trace::Block;
use crate::units::SimTime;
use std::collections::VecDeque;

/// Samples of one channel that wait for the others.
#[derive(Debug, Clone)]
struct Lane {
    /// Starts and values; each holds to the start of the next, the last to `reached`.
    waiting: VecDeque<(SimTime, f64)>,
    reached: SimTime,
    value: f64,
}

/// Merges channels into instants at which any of them changes. Until its first sample, within a
/// gap and after its last sample a channel has the value not-a-number.
#[derive(Debug, Clone)]
pub(super) struct Lanes {
    lanes: Vec<Lane>,
}

/// Samples that one channel may be ahead of another before the other counts as missing. Channels of
/// one file are written together; one that ends early must not fill memory.
const FURTHEST: usize = 1 << 22;

impl Lanes {
    pub(super) fn new(count: usize) -> Self {
        let lane = Lane { waiting: VecDeque::new(), reached: SimTime::ZERO, value: f64::NAN };
        Self { lanes: vec![lane; count] }
    }

    /// Takes in samples of one channel. What lies before the end of earlier ones is passed over.
    pub(super) fn push(&mut self, lane: usize, block: &Block<'_>) {
        let Some(lane) = self.lanes.get_mut(lane) else { return };
        for (start, end, value) in block.segments() {
            if end <= lane.reached {
                continue;
            }
            lane.miss(start);
            lane.waiting.push_back((start.max(lane.reached), value));
            lane.reached = end;
        }
    }

    /// Tells every instant up to which all channels are known, with the values from then on.
    pub(super) fn drain(&mut self, tell: &mut impl FnMut(SimTime, &Lanes)) {
        let furthest = self.lanes.iter().map(|lane| lane.waiting.len()).max().unwrap_or(0);
        let known = self.lanes.iter().map(|lane| lane.reached).min().unwrap_or_default();
        let limit = if furthest > FURTHEST {
            let most = self.lanes.iter().map(|lane| lane.reached).max().unwrap_or_default();
            self.lanes.iter_mut().for_each(|lane| lane.miss(most));
            most
        } else {
            known
        };
        self.tell_before(limit, tell);
    }

    /// Tells the rest; what a channel lacks up to `end` is a gap.
    pub(super) fn finish(&mut self, end: SimTime, tell: &mut impl FnMut(SimTime, &Lanes)) {
        self.lanes.iter_mut().for_each(|lane| lane.miss(end));
        self.tell_before(SimTime(u64::MAX), tell);
    }

    /// The value of a channel at the instant last told.
    pub(super) fn value(&self, lane: usize) -> f64 {
        self.lanes.get(lane).map_or(f64::NAN, |lane| lane.value)
    }

    fn tell_before(&mut self, limit: SimTime, tell: &mut impl FnMut(SimTime, &Lanes)) {
        loop {
            let fronts = self.lanes.iter().filter_map(|lane| lane.waiting.front());
            let Some(at) = fronts.map(|front| front.0).min().filter(|at| *at < limit) else {
                break;
            };
            for lane in &mut self.lanes {
                while let Some(&(start, value)) = lane.waiting.front()
                    && start == at
                {
                    lane.value = value;
                    lane.waiting.pop_front();
                }
            }
            tell(at, self);
        }
    }
}

impl Lane {
    /// A gap up to `until`.
    fn miss(&mut self, until: SimTime) {
        if until > self.reached {
            self.waiting.push_back((self.reached, f64::NAN));
            self.reached = until;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(lanes: &mut Lanes, end: u64) -> Vec<(u64, String)> {
        let mut out = Vec::new();
        let mut tell = |at: SimTime, lanes: &Lanes| {
            out.push((at.0, format!("{} {}", lanes.value(0), lanes.value(1))));
        };
        lanes.drain(&mut tell);
        lanes.finish(SimTime(end), &mut tell);
        out
    }

    #[test]
    fn two_clocks_become_one_row_of_instants_with_gaps_as_gaps() {
        let mut lanes = Lanes::new(2);
        lanes.push(0, &Block::each(&[SimTime(0), SimTime(10)], SimTime(20), &[1.0, 2.0]));
        lanes.push(1, &Block::each(&[SimTime(5)], SimTime(15), &[7.0]));
        lanes.push(0, &Block::each(&[SimTime(30)], SimTime(40), &[3.0]));
        let expected = [
            (0, "1 NaN"),
            (5, "1 7"),
            (10, "2 7"),
            (15, "2 NaN"),
            (20, "NaN NaN"),
            (30, "3 NaN"),
            (40, "NaN NaN"),
        ];
        let told = told(&mut lanes, 50);
        assert_eq!(told, expected.map(|(at, text)| (at, text.to_owned())));
    }

    #[test]
    fn a_channel_that_stops_does_not_fill_memory() {
        let mut lanes = Lanes::new(2);
        let starts: Vec<_> = (0..=FURTHEST as u64).map(SimTime).collect();
        let values = vec![1.0; starts.len()];
        let mut count = 0;
        for round in 0..3u64 {
            let moved: Vec<_> =
                starts.iter().map(|at| SimTime(at.0 + round * starts.len() as u64)).collect();
            let until = SimTime((round + 1) * starts.len() as u64);
            lanes.push(0, &Block::each(&moved, until, &values));
            lanes.drain(&mut |_, _| count += 1);
            assert!(lanes.lanes[0].waiting.len() <= FURTHEST);
        }
        assert_eq!(count, 3 * starts.len());
    }
}
