//! Tables of layers, as profilers print them: spans laid end to end from zero, and what was counted
//! in each layer.
//!
//! A count, such as cycles or cache refills, is a channel of kind *other* with one sample a layer:
//! sample n starts and ends with span n, and its value is the count of that whole layer.

use super::feed::Feed;
use super::stamps::Picoseconds;
use super::{FormatError, Input, Place, ReadFault};
use crate::trace::{Channel, ChannelKind, Layout, SampleSink, Span, SpanKind};
use crate::units::SimTime;

/// Tables are text for reading; what is larger is none \[bytes\].
pub(super) const LARGEST: u64 = 256 << 20;

/// One layer.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Layer {
    /// Its name in the table.
    pub(super) name: String,
    /// The inference it is of, from 0.
    pub(super) inference: u64,
    /// How long it takes.
    pub(super) duration: Picoseconds,
    /// As many as the table has counters; not a number for none.
    pub(super) counts: Vec<f64>,
}

/// A table.
#[derive(Debug, Default)]
pub(super) struct LayerTable {
    /// The tool or engine.
    pub(super) track: String,
    /// Names of what is counted.
    pub(super) counters: Vec<String>,
    /// The layers, in the order in which they run.
    pub(super) layers: Vec<Layer>,
}

impl LayerTable {
    /// Tells all of it.
    pub(super) fn tell(
        &self,
        input: &Input<'_>,
        mut layout: Layout,
        sink: &mut dyn SampleSink,
    ) -> Result<(), FormatError> {
        if self.layers.is_empty() {
            return Err(input.fault(Place::Whole, ReadFault::NoSamples));
        }
        self.ends().map_err(|fault| input.fault(Place::Whole, fault))?;
        let counter = |name: &String| Channel::new(name.clone(), ChannelKind::Other, "");
        layout.channels = self.counters.iter().map(counter).collect();
        layout.remarks.push("layers are laid end to end: time between them is not recorded".into());
        if !self.counters.is_empty() {
            layout.remarks.push("counts are of the layer that starts and ends with them".into());
        }
        sink.begin(&layout);
        let mut feed = Feed::new(0, self.counters.len());
        let mut start = SimTime::ZERO;
        for layer in &self.layers {
            let end = SimTime(start.0.saturating_add(whole(layer.duration)));
            sink.span(Span {
                kind: SpanKind::Layer,
                name: layer.name.clone(),
                track: self.track.clone(),
                inference: Some(layer.inference),
                start,
                end,
            });
            feed.row(start, end, &layer.counts, sink);
            start = end;
        }
        feed.finish(sink);
        sink.end(start);
        Ok(())
    }

    /// The end of the last layer; a fault where a duration is below zero or the sum too long.
    fn ends(&self) -> Result<SimTime, ReadFault> {
        let mut end = 0u64;
        for layer in &self.layers {
            if layer.duration < 0 {
                return Err(ReadFault::Value {
                    what: format!("the duration of {}", layer.name),
                    found: super::stamps::in_seconds(layer.duration),
                    expected: "no less than zero",
                });
            }
            let past = || ReadFault::PastEnd { at: super::stamps::in_seconds(layer.duration) };
            let duration = u64::try_from(layer.duration).map_err(|_| past())?;
            end = end.checked_add(duration).ok_or_else(past)?;
        }
        Ok(SimTime(end))
    }
}

fn whole(duration: Picoseconds) -> u64 {
    u64::try_from(duration).unwrap_or(0)
}

/// The nearest picosecond to a duration in seconds.
pub(super) fn seconds(duration: f64, column: &str) -> Result<Picoseconds, ReadFault> {
    let ps = (duration * 1e12).round();
    match (0.0..=1e20).contains(&ps) {
        true => Ok(ps as Picoseconds),
        false => Err(ReadFault::Value {
            what: column.into(),
            found: duration.to_string(),
            expected: "a duration of zero or more seconds",
        }),
    }
}
