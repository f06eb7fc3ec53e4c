//! What instruments write, as it streams by: blocks of samples by channel, edges of digital lines,
//! marks of a log.
//!
//! A reader tells a [`SampleSink`] first the [`Layout`], all that is known before the samples, then
//! blocks, edges and marks, then the end. Every value is in SI and holds from its start to the next
//! (*sample and hold*), so that a capture is the same kind of step function as a simulated trace.
//! What is missing is not there: a sample that is not a number, or a block that starts behind the
//! end of the one before, is a gap, never zero.

mod block;
mod layout;
mod readings;

pub use block::{Block, SampleClock, Segments, Times};
pub use layout::{Channel, ChannelKind, Layout, Origin, StatedRun};
pub use readings::{Readings, Run, Series};

use super::Span;
use crate::units::SimTime;

/// Index of a channel in the [`Layout`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChannelId(pub usize);

/// Index of a digital line in the [`Layout`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LineId(pub usize);

/// Level of a digital line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Low.
    Low,
    /// High.
    High,
    /// Not recorded, or both within one sample.
    Unknown,
}

/// A digital line at a level from `at` on. Two edges to one level may follow each other where the
/// instrument keeps only edges of one direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edge {
    /// The line.
    pub line: LineId,
    /// When.
    pub at: SimTime,
    /// The level from then on.
    pub to: Level,
}

/// Whose clock an instant is told by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Teller {
    /// The instrument that took the samples.
    Meter,
    /// Another machine, whose clock has its own start and its own pace.
    Host,
}

/// Something that a log says happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    /// Whose clock `at` is of.
    pub teller: Teller,
    /// When. The two clocks share no zero until they are aligned.
    pub at: SimTime,
    /// Who said it: the source within a log, a channel of marks.
    pub track: String,
    /// What was said.
    pub name: String,
}

/// Where a reader tells what it reads.
///
/// Blocks, edges and marks of one channel, line or teller come in the order of time. An edge or a
/// mark of the meter comes before any sample that starts after it.
pub trait SampleSink {
    /// All that is known before the samples; comes first.
    fn begin(&mut self, layout: &Layout);
    /// Samples of one channel.
    fn samples(&mut self, channel: ChannelId, block: &Block<'_>);
    /// A digital line changes.
    fn edge(&mut self, edge: Edge);
    /// A line of a log.
    fn mark(&mut self, mark: Mark);
    /// Something with a start and an end, such as a layer of a profiler's table.
    fn span(&mut self, span: Span);
    /// The file ends; `at` is the end of the last sample or span.
    fn end(&mut self, at: SimTime);
}
