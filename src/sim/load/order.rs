//! Which of several streams is served next.

use crate::units::SimTime;

/// What decides between a stream and others, of its request that has waited longest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StreamRank {
    /// Higher goes first.
    pub priority: u32,
    /// Of equal priority the one that is due sooner goes first, and one with no deadline last.
    pub due: Option<SimTime>,
    /// Of equal deadlines the one that came first.
    pub arrived: SimTime,
}

impl StreamRank {
    /// Smaller is sooner.
    fn key(self) -> (u32, SimTime, SimTime) {
        (u32::MAX - self.priority, self.due.unwrap_or(SimTime(u64::MAX)), self.arrived)
    }

    /// True where it goes before `other` whatever their places are.
    pub fn is_before(self, other: Self) -> bool {
        self.key() < other.key()
    }
}

/// The stream to serve next, by its place, of those that have somebody waiting: priority, then deadline,
/// then arrival, then place.
pub fn next_stream(streams: impl IntoIterator<Item = Option<StreamRank>>) -> Option<usize> {
    let ready = streams.into_iter().enumerate().filter_map(|(place, rank)| Some((rank?, place)));
    ready.min_by_key(|(rank, place)| (rank.key(), *place)).map(|(_, place)| place)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rank(priority: u32, due: Option<u64>, arrived: u64) -> Option<StreamRank> {
        Some(StreamRank { priority, due: due.map(SimTime), arrived: SimTime(arrived) })
    }

    #[test]
    fn priority_goes_before_deadline_before_arrival_before_place() {
        assert_eq!(next_stream([rank(0, Some(1), 0), rank(2, None, 9), rank(1, None, 0)]), Some(1));
        assert_eq!(
            next_stream([rank(1, None, 0), rank(1, Some(9), 5), rank(1, Some(8), 6)]),
            Some(2)
        );
        assert_eq!(next_stream([rank(1, None, 7), rank(1, None, 3)]), Some(1));
        assert_eq!(next_stream([None, rank(1, Some(4), 3), rank(1, Some(4), 3)]), Some(1));
        assert_eq!(next_stream([None, None]), None);
    }
}
