//! A trace as frames, one for each instant at which anything changes: what tables and timelines
//! are written from, whether the trace is in memory or streams by.

use super::FormatError;
use crate::trace::{
    ComponentId, CounterId, Edge, Header, Mark, RailId, Sink, Span, Trace, Waveform,
};
use crate::units::{Amperes, SimTime, Volts, Watts};

/// Writes frames to a file.
///
/// The values of a frame are the power of each component of the header, then voltage and current
/// of each rail in turn, then counters. A value is none until it has been told, and zero is meant;
/// not-a-number is unknown.
pub trait FrameWriter {
    /// From `at` on these values hold. Each frame is later than the one before.
    fn frame(&mut self, at: SimTime, values: &[Option<f64>]) -> Result<(), FormatError>;
    /// The trace ends at `at`, not before the last frame.
    fn end(&mut self, at: SimTime, values: &[Option<f64>]) -> Result<(), FormatError>;
}

/// Writes the frames of a trace in memory, without collecting them; how many there were.
pub fn write_frames(trace: &Trace, writer: &mut impl FrameWriter) -> Result<u64, FormatError> {
    let (mut waves, mut frames) = (Waves::of(trace), 0);
    while let Some(at) = waves.peek() {
        if at > trace.end {
            return Err(FormatError::PastEnd { end: trace.end, at });
        }
        waves.advance(at);
        writer.frame(at, &waves.values)?;
        frames += 1;
    }
    writer.end(trace.end, &waves.values)?;
    Ok(frames)
}

/// Walks the waveforms of a trace side by side.
struct Waves<'a> {
    waves: Vec<&'a [(SimTime, f64)]>,
    next: Vec<usize>,
    values: Vec<Option<f64>>,
}

impl<'a> Waves<'a> {
    /// A component without a waveform stands for one that never changes.
    fn of(trace: &'a Trace) -> Self {
        let points =
            |waves: &'a [Waveform], at: usize| waves.get(at).map_or(&[][..], |w| w.points());
        let header = &trace.header;
        let powers = (0..header.components.len()).map(|c| points(&trace.power, c));
        let rails = (0..header.rails.len())
            .flat_map(|r| [points(&trace.voltage, r), points(&trace.current, r)]);
        let counters = (0..header.counters.len()).map(|c| points(&trace.counters, c));
        let waves: Vec<_> = powers.chain(rails).chain(counters).collect();
        Self { next: vec![0; waves.len()], values: vec![None; waves.len()], waves }
    }

    /// The next instant at which any wave has a point.
    fn peek(&self) -> Option<SimTime> {
        let heads = self.waves.iter().zip(&self.next).filter_map(|(wave, at)| wave.get(*at));
        heads.map(|point| point.0).min()
    }

    /// Takes in every point at or before `until`.
    fn advance(&mut self, until: SimTime) {
        for ((wave, next), value) in self.waves.iter().zip(&mut self.next).zip(&mut self.values) {
            while let Some(point) = wave.get(*next).filter(|p| p.0 <= until) {
                *value = Some(point.1);
                *next += 1;
            }
        }
    }
}

/// A [`Sink`] that makes frames of what streams by. Edges, marks and spans go to the writer with
/// the [`Annotations`](crate::trace::Annotations) that it is made with, and are passed over here.
#[derive(Debug)]
pub struct FrameSink<W> {
    writer: W,
    components: usize,
    rails: usize,
    values: Vec<Option<f64>>,
    now: SimTime,
    /// True where a value at `now` is another than in the last frame.
    changed: bool,
    frames: u64,
    /// The first thing that went wrong; nothing is written after it.
    result: Result<(), FormatError>,
}

impl<W: FrameWriter> FrameSink<W> {
    /// Of a trace with this header.
    pub fn new(writer: W, header: &Header) -> Self {
        let (components, rails) = (header.components.len(), header.rails.len());
        let values = vec![None; components + 2 * rails + header.counters.len()];
        let (now, changed, frames, result) = (SimTime::ZERO, false, 0, Ok(()));
        Self { writer, components, rails, values, now, changed, frames, result }
    }

    /// Frames told so far.
    pub fn frames(&self) -> u64 {
        self.frames
    }

    /// The writer, or the first thing that went wrong.
    pub fn finish(self) -> Result<W, FormatError> {
        self.result.map(|()| self.writer)
    }

    fn set(&mut self, at: SimTime, place: usize, value: f64) {
        if at > self.now {
            self.flush();
            self.now = at;
        }
        if let Some(slot) = self.values.get_mut(place)
            && !slot.is_some_and(|held| held == value || (held.is_nan() && value.is_nan()))
        {
            *slot = Some(value);
            self.changed = true;
        }
    }

    fn flush(&mut self) {
        if std::mem::take(&mut self.changed) && self.result.is_ok() {
            self.frames += 1;
            self.result = self.writer.frame(self.now, &self.values);
        }
    }
}

impl<W: FrameWriter> Sink for FrameSink<W> {
    fn begin(&mut self, _: &Header) {}
    fn power(&mut self, at: SimTime, component: ComponentId, power: Watts) {
        if component.0 < self.components {
            self.set(at, component.0, power.0);
        }
    }
    fn rail(&mut self, at: SimTime, rail: RailId, voltage: Volts, current: Amperes) {
        if rail.0 < self.rails {
            let place = self.components + 2 * rail.0;
            self.set(at, place, voltage.0);
            self.set(at, place + 1, current.0);
        }
    }
    fn counter(&mut self, at: SimTime, counter: CounterId, value: f64) {
        self.set(at, self.components + 2 * self.rails + counter.0, value);
    }
    fn edge(&mut self, _: Edge) {}
    fn mark(&mut self, _: Mark) {}
    fn span(&mut self, _: Span) {}
    fn end(&mut self, at: SimTime) {
        if self.changed && self.now > at && self.result.is_ok() {
            self.result = Err(FormatError::PastEnd { end: at, at: self.now });
        }
        self.flush();
        if self.result.is_ok() {
            self.result = self.writer.end(at, &self.values);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{ChannelKind, Component, ComponentKind, Counter, Rail, Recorder};

    #[derive(Default)]
    struct Told(Vec<String>);

    impl FrameWriter for Told {
        fn frame(&mut self, at: SimTime, values: &[Option<f64>]) -> Result<(), FormatError> {
            self.0.push(format!("{} {values:?}", at.0));
            Ok(())
        }
        fn end(&mut self, at: SimTime, values: &[Option<f64>]) -> Result<(), FormatError> {
            self.0.push(format!("end {} {values:?}", at.0));
            Ok(())
        }
    }

    fn header() -> Header {
        let component = Component {
            name: "dut".into(),
            kind: ComponentKind::Measured,
            domain: String::new(),
            rail: "dut".into(),
        };
        Header {
            components: vec![component],
            rails: vec![Rail { name: "dut".into(), is_source: true }],
            counters: vec![Counter { name: "t".into(), kind: ChannelKind::Temperature }],
            lines: Vec::new(),
        }
    }

    fn tell(sink: &mut impl Sink) {
        sink.begin(&header());
        sink.power(SimTime(0), ComponentId(0), Watts(1.0));
        sink.power(SimTime(4), ComponentId(0), Watts(f64::NAN));
        sink.rail(SimTime(4), RailId(0), Volts(2.0), Amperes(0.5));
        sink.power(SimTime(6), ComponentId(0), Watts(f64::NAN));
        sink.counter(SimTime(7), CounterId(0), 40.0);
        sink.end(SimTime(9));
    }

    #[test]
    fn a_stream_and_a_trace_in_memory_give_the_same_frames() {
        let mut stream = FrameSink::new(Told::default(), &header());
        tell(&mut stream);
        let streamed = stream.finish().unwrap().0;
        let mut recorder = Recorder::default();
        tell(&mut recorder);
        let mut told = Told::default();
        write_frames(&recorder.into_trace(), &mut told).unwrap();
        assert_eq!(streamed, told.0);
        assert_eq!(streamed.len(), 4, "what changes nothing makes no frame: {streamed:?}");
        assert_eq!(streamed[3], "end 9 [Some(NaN), Some(2.0), Some(0.5), Some(40.0)]");
    }

    #[test]
    fn a_change_behind_the_end_is_an_error() {
        let mut stream = FrameSink::new(Told::default(), &header());
        stream.power(SimTime(7), ComponentId(0), Watts(1.0));
        stream.end(SimTime(5));
        assert!(matches!(stream.finish(), Err(FormatError::PastEnd { at: SimTime(7), .. })));
    }
}
