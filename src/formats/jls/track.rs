//! The samples of one signal, piece by piece: along the chain of its data chunks, and where one is
//! left out along the chain of its first summaries.

use super::super::fields::Fields;
use super::super::{FormatError, Input, Place, ReadFault};
use super::chunk::{Chunk, DATA, ENTRIES_HEAD, Entries, INDEX, SUMMARY};
use super::definitions::Signal;
use crate::trace::{Block, ChannelId, Edge, Level, LineId, SampleClock, SampleSink};
use crate::units::SimTime;

/// Samples told at once.
const BLOCK: usize = 64 * 1024;

/// Where the samples go.
#[derive(Debug, Clone, Copy)]
pub(super) enum Out {
    Channel(ChannelId),
    Line(LineId),
}

/// From where to where the next piece reaches.
#[derive(Debug, Clone, Copy)]
pub(super) struct Piece {
    pub(super) start: SimTime,
    pub(super) end: SimTime,
}

#[derive(Debug, Clone, Copy)]
enum Next {
    Data(Chunk, Entries),
    /// Entry of the summary from a sample on, up to another.
    Means {
        from: i64,
        to: i64,
    },
}

/// Means of the first level from a sample on.
#[derive(Debug)]
struct Means {
    first: i64,
    means: Vec<f64>,
}

/// One signal on its way to the sink.
#[derive(Debug)]
pub(super) struct Track<'a> {
    signal: &'a Signal,
    clock: SampleClock,
    out: Out,
    /// The byte behind the last chunk that can be read.
    file_end: u64,
    /// The sample that comes next.
    position: i64,
    data: Option<(Chunk, Entries)>,
    next_data: Option<u64>,
    next_index: Option<u64>,
    means: Option<Means>,
    next: Option<Next>,
    chunks: u64,
    level: Option<Level>,
    payload: Vec<u8>,
    values: Vec<f64>,
}

/// The next chunk of a chain, which lies behind this one; none where the chain ends.
pub(super) fn next_of_chain(
    input: &Input<'_>,
    chunk: &Chunk,
    tag: u8,
    end: u64,
) -> Result<Option<u64>, FormatError> {
    let wrong = chunk.tag != tag || (chunk.next != 0 && chunk.next <= chunk.at);
    if wrong {
        let fault = ReadFault::Value {
            what: "the next chunk of a signal".into(),
            found: format!("tag {:#04x}, next at byte {}", chunk.tag, chunk.next),
            expected: "a later chunk of the same kind",
        };
        return Err(input.fault(Place::Byte(chunk.at), fault));
    }
    Ok((chunk.next != 0 && chunk.next < end).then_some(chunk.next))
}

impl<'a> Track<'a> {
    pub(super) fn new(signal: &'a Signal, clock: SampleClock, out: Out, file_end: u64) -> Self {
        Self {
            signal,
            clock,
            out,
            file_end,
            position: signal.first_data.map_or(0, |(_, first)| first),
            data: None,
            next_data: signal.first_data.map(|(at, _)| at),
            next_index: signal.first_index,
            means: None,
            next: None,
            chunks: 0,
            level: None,
            payload: Vec::new(),
            values: Vec::new(),
        }
    }

    /// The next piece; none at the end.
    pub(super) fn next(&self) -> Option<Piece> {
        let (from, to) = match self.next? {
            Next::Data(_, entries) => {
                (entries.first, entries.first.saturating_add(entries.count.into()))
            }
            Next::Means { from, to } => (from, to),
        };
        Some(Piece { start: self.at(from), end: self.at(to) })
    }

    fn number(&self, sample: i64) -> u64 {
        let first = self.signal.first_data.map_or(0, |(_, first)| first);
        u64::try_from(sample.saturating_sub(first)).unwrap_or_default()
    }

    fn at(&self, sample: i64) -> SimTime {
        self.clock.at(self.number(sample))
    }

    /// Finds the next piece.
    pub(super) fn prepare(&mut self, input: &mut Input<'_>) -> Result<(), FormatError> {
        self.next = None;
        if self.data.is_none() {
            self.data = self.follow(input)?;
        }
        let limit = self.data.map(|(_, entries)| entries.first);
        if let Some((chunk, entries)) = self.data.filter(|(_, e)| e.first <= self.position) {
            if entries.first < self.position {
                let seconds = |sample| self.at(sample).decimal_seconds();
                let fault = ReadFault::Backwards {
                    before: seconds(self.position),
                    at: seconds(entries.first),
                };
                return Err(input.fault(Place::Byte(chunk.at), fault));
            }
            self.next = Some(Next::Data(chunk, entries));
            return Ok(());
        }
        // A data chunk is left out: the first summaries from here on, or else a gap.
        let step = i64::from(self.signal.decimation.max(1));
        while let Some(means) = self.means_from(input, step)? {
            let (first, count) = (means.first, means.means.len() as i64);
            let from = self.position.max(first);
            let to = first.saturating_add(count.saturating_mul(step));
            let to = to.min(limit.unwrap_or(to));
            if from < to {
                self.next = Some(Next::Means { from, to });
                return Ok(());
            }
            if limit.is_some_and(|limit| first >= limit) {
                break;
            }
            self.means = None;
        }
        if let Some((_, entries)) = self.data {
            self.position = entries.first;
            return self.prepare(input);
        }
        Ok(())
    }

    /// The next data chunk of the chain.
    fn follow(&mut self, input: &mut Input<'_>) -> Result<Option<(Chunk, Entries)>, FormatError> {
        let Some(at) = self.next_data else {
            if self.chunks < self.signal.chunks {
                let (found, all) = (self.chunks, self.signal.chunks);
                let what = format!(
                    "the chain of `{}` ends after {found} of {all} chunks: the rest",
                    self.signal.name
                );
                return Err(input.fault(Place::Whole, ReadFault::Missing { what }));
            }
            return Ok(None);
        };
        let chunk = Chunk::head(input, at)?;
        self.next_data = next_of_chain(input, &chunk, DATA, self.file_end)?;
        if chunk.signal() != self.signal.id {
            let fault = ReadFault::Value {
                what: format!("the signal of a chunk of `{}`", self.signal.name),
                found: chunk.signal().to_string(),
                expected: "its own",
            };
            return Err(input.fault(Place::Byte(at), fault));
        }
        self.chunks += 1;
        let entries = chunk.entries(input)?;
        if entries.bits != self.signal.bits {
            let fault = ReadFault::Value {
                what: format!("the bits of a sample of `{}`", self.signal.name),
                found: entries.bits.to_string(),
                expected: "those of its definition",
            };
            return Err(input.fault(Place::Byte(at), fault));
        }
        Ok(Some((chunk, entries)))
    }

    /// The means that reach beyond the position; none where no summary does.
    fn means_from(
        &mut self,
        input: &mut Input<'_>,
        step: i64,
    ) -> Result<Option<&Means>, FormatError> {
        loop {
            let reaches = self.means.as_ref().is_some_and(|means| {
                let covered = (means.means.len() as i64).saturating_mul(step);
                means.first.saturating_add(covered) > self.position
            });
            if reaches {
                return Ok(self.means.as_ref());
            }
            let Some(at) = self.next_index else { return Ok(None) };
            let index = Chunk::head(input, at)?;
            self.next_index = next_of_chain(input, &index, INDEX, self.file_end)?;
            // A summary follows its index.
            if index.end() >= self.file_end {
                return Ok(None);
            }
            let summary = Chunk::head(input, index.end())?;
            let own = index.signal() == self.signal.id && index.level() == 1;
            if summary.tag != SUMMARY || summary.meta != index.meta || !own {
                let what = "the summary behind an index".into();
                return Err(input.fault(Place::Byte(index.at), ReadFault::Missing { what }));
            }
            self.means = Some(self.load(input, &summary)?);
        }
    }

    fn load(&mut self, input: &mut Input<'_>, summary: &Chunk) -> Result<Means, FormatError> {
        let entries = summary.entries(input)?;
        summary.payload(input, &mut self.payload)?;
        let mut fields = Fields::of(&self.payload);
        fields.bytes(ENTRIES_HEAD as usize);
        let width = usize::from(entries.bits / 8);
        let mut means = Vec::new();
        // Mean, deviation, least and most, each of four or eight bytes.
        while let Some(entry) = fields.bytes(width).filter(|entry| entry.len() >= 16) {
            let mut entry = Fields::of(entry);
            let mean = if width == 32 { entry.f64() } else { entry.f32().map(f64::from) };
            means.push(self.signal.of_mean(mean.unwrap_or(f64::NAN)));
        }
        means.truncate(entries.count as usize);
        Ok(Means { first: entries.first, means })
    }

    /// Tells the next piece and finds the one behind it.
    pub(super) fn step(
        &mut self,
        input: &mut Input<'_>,
        sink: &mut dyn SampleSink,
    ) -> Result<(), FormatError> {
        match self.next {
            Some(Next::Data(chunk, entries)) => {
                chunk.payload(input, &mut self.payload)?;
                self.samples(entries.count as usize, sink);
                self.data = None;
            }
            Some(Next::Means { from, to }) => self.stand_in(from, to, sink),
            None => return Ok(()),
        }
        self.prepare(input)
    }

    /// Tells the samples of the payload, from the position on.
    fn samples(&mut self, count: usize, sink: &mut dyn SampleSink) {
        let mut done = 0;
        while done < count {
            let take = (count - done).min(BLOCK);
            // A block is a whole number of bytes, whatever the bits of a sample.
            let from = ENTRIES_HEAD as usize + done * usize::from(self.signal.bits) / 8;
            self.values.clear();
            let packed = self.payload.get(from..).unwrap_or_default();
            self.signal.unpack(packed, take, &mut self.values);
            let first = self.number(self.position);
            match self.out {
                Out::Channel(channel) => {
                    sink.samples(channel, &Block::even(self.clock, first, &self.values));
                }
                Out::Line(line) => {
                    for (number, value) in (first..).zip(&self.values) {
                        edge(line, *value, self.clock.at(number), &mut self.level, sink);
                    }
                }
            }
            done += take;
            self.position = self.position.saturating_add(take as i64);
        }
    }

    /// Tells means in place of the samples of chunks that were left out: one value for all the
    /// samples that it is the mean of.
    fn stand_in(&mut self, from: i64, to: i64, sink: &mut dyn SampleSink) {
        let step = i64::from(self.signal.decimation.max(1));
        self.position = to;
        let Some(means) = &self.means else { return };
        let (mut starts, mut values) = (Vec::new(), Vec::new());
        let mut entry = from.saturating_sub(means.first) / step;
        let mut at = from;
        while at < to {
            let place = usize::try_from(entry).ok();
            let Some(mean) = place.and_then(|place| means.means.get(place)) else { break };
            starts.push(self.at(at));
            values.push(*mean);
            entry += 1;
            at = means.first.saturating_add(entry.saturating_mul(step));
        }
        match self.out {
            Out::Channel(channel) => {
                let mut behind = starts.chunks(BLOCK).skip(1).filter_map(|next| next.first());
                for (starts, values) in starts.chunks(BLOCK).zip(values.chunks(BLOCK)) {
                    let until = behind.next().copied().unwrap_or(self.at(to));
                    sink.samples(channel, &Block::each(starts, until, values));
                }
            }
            Out::Line(line) => {
                for (at, mean) in starts.iter().zip(&values) {
                    edge(line, *mean, *at, &mut self.level, sink);
                }
            }
        }
    }
}

fn edge(
    line: LineId,
    value: f64,
    at: SimTime,
    level: &mut Option<Level>,
    sink: &mut dyn SampleSink,
) {
    let to = if value == 0.0 { Level::Low } else { Level::High };
    if *level != Some(to) {
        *level = Some(to);
        sink.edge(Edge { line, at, to });
    }
}
