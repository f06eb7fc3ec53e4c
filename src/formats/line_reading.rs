//! What a sampler says of a digital line within one sample, which may have held both levels.

use crate::trace::Level;

/// A line within one sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineReading {
    Low,
    High,
    /// Low for a part of the sample, high for the rest.
    Both,
    /// Not recorded.
    Unknown,
}

/// A line as its samples come by.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct LineState {
    reading: Option<LineReading>,
    level: Option<Level>,
}

impl LineState {
    /// The level from this sample on, where it is another than before. A sample of both levels holds
    /// an edge, so that a pulse shorter than a sample is not lost; of several in a row the first edge
    /// is told.
    pub(super) fn take(&mut self, reading: LineReading) -> Option<Level> {
        if self.reading.replace(reading) == Some(reading) {
            return None;
        }
        let to = match (reading, self.level) {
            (LineReading::Low, _) | (LineReading::Both, Some(Level::High)) => Level::Low,
            (LineReading::High, _) | (LineReading::Both, Some(Level::Low)) => Level::High,
            (LineReading::Both | LineReading::Unknown, _) => Level::Unknown,
        };
        (self.level.replace(to) != Some(to)).then_some(to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pulse_within_a_sample_is_an_edge_there_and_back() {
        use LineReading::{Both, High, Low, Unknown};
        let told = |readings: &[LineReading]| {
            let mut state = LineState::default();
            readings.iter().map(|reading| state.take(*reading)).collect::<Vec<_>>()
        };
        let (low, high, lost) = (Some(Level::Low), Some(Level::High), Some(Level::Unknown));
        assert_eq!(told(&[High, High, Both, High]), [high, None, low, high]);
        assert_eq!(told(&[Low, Both, Both, High]), [low, high, None, None]);
        assert_eq!(told(&[Low, Both, Low, Unknown, Low]), [low, high, low, lost, low]);
        assert_eq!(told(&[Both, Low]), [lost, low]);
    }
}
