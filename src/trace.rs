//! The trace: piecewise-constant power by component and rail, spans that say what was going on,
//! sinks a run writes into, and exact metrics.
//!
//! A simulated run and a capture are the same type. Power drawn is positive, delivered negative.
//! Every joule sits in one cell of two axes: *where* (rail, domain, component) and *why* (layer of
//! an inference, idle, transition); [`Ledger`] checks that the sums agree.

mod annotations;
mod buckets;
mod instrument;
mod ledger;
mod levels;
mod metrics;
mod opening;
mod recorder;
mod samples;
mod sink;
mod waveform;
mod window;

pub use annotations::{Annotations, PlacedMark};
pub use buckets::{Bounds, Bucket, BucketSink, Bucketed, Buckets};
pub use instrument::{Instrument, InstrumentFault, Reading};
pub use ledger::{Cause, Ledger, Residuals};
pub use levels::{LevelSink, Levels};
pub use metrics::{Metrics, MetricsSink, WINDOWS};
pub use opening::Opening;
pub use recorder::{Recorder, Trace};
pub use samples::{
    Block, Channel, ChannelId, ChannelKind, Edge, Layout, Level, LineId, Mark, Origin, Readings,
    Run, SampleClock, SampleSink, Segments, Series, StatedRun, Teller, Times,
};
pub use sink::PassName;
pub use sink::{
    Component, ComponentId, ComponentKind, Counter, CounterId, Deaf, Header, Rail, RailId, Sink,
    Span, SpanKind, Tee,
};
pub use waveform::Waveform;
