//! The walk over the heads of all chunks.

use super::super::fields::Fields;
use super::super::{FormatError, Input, Place, ReadFault};
use super::JLS;
use super::chunk::{
    ANNOTATION, CHUNK_HEAD, Chunk, DATA, END, ENTRIES_HEAD, FILE_HEAD, INDEX, SIGNAL, SOURCE,
    SUMMARY, UTC, VARIABLE_DATA, is_known, stated_length,
};
use super::definitions::{Signal, Source};
use crate::trace::{Channel, ChannelKind, Layout};
use std::collections::BTreeMap;

/// Signals that a file can define.
const MOST_SIGNALS: u16 = 256;

/// What a file holds.
#[derive(Debug)]
pub(super) struct Survey {
    pub(super) sources: BTreeMap<u16, Source>,
    pub(super) signals: BTreeMap<u16, Signal>,
    /// The byte behind the last whole chunk.
    pub(super) end: u64,
    pub(super) remarks: Vec<String>,
}

impl Survey {
    pub(super) fn of(input: &mut Input<'_>) -> Result<Self, FormatError> {
        let length = stated_length(input)?;
        let closed = length != 0;
        if length > input.size {
            return Err(input.cut(0, "the chunks", length, input.size));
        }
        let mut survey = Self {
            sources: BTreeMap::new(),
            signals: BTreeMap::new(),
            end: FILE_HEAD,
            remarks: Vec::new(),
        };
        let limit = if closed { length } else { input.size };
        let mut ended = false;
        while survey.end + CHUNK_HEAD <= limit && !ended {
            let at = survey.end;
            let chunk = match Chunk::head(input, at) {
                Ok(chunk) if chunk.end() <= limit => chunk,
                Ok(chunk) if closed => {
                    let (size, limit) = (chunk.length, limit - at);
                    let fault = ReadFault::Size { what: "a chunk", size, limit };
                    return Err(input.fault(Place::Byte(at), fault));
                }
                Err(error) if closed => return Err(error),
                // What a program wrote last before it died.
                _ => break,
            };
            ended = chunk.tag == END;
            survey.take_in(input, &chunk)?;
            survey.end = chunk.end();
        }
        survey.finish(input, closed, limit, ended)?;
        Ok(survey)
    }

    fn finish(
        &mut self,
        input: &Input<'_>,
        closed: bool,
        limit: u64,
        ended: bool,
    ) -> Result<(), FormatError> {
        if closed && !ended {
            let what = "the chunk that ends the file".into();
            return Err(input.fault(Place::Byte(self.end), ReadFault::Missing { what }));
        }
        if !closed {
            let left = limit.saturating_sub(self.end);
            self.remarks.push(format!(
                "the file was never closed: it is read up to its last whole chunk, {left} bytes behind it are not"
            ));
        }
        for signal in self.signals.values().filter(|signal| signal.id != 0) {
            if signal.rate == 0 {
                self.remarks
                    .push(format!("{}: a signal without a fixed rate is not read", signal.name));
            } else if signal.samples == 0 {
                self.remarks.push(format!("{} has no sample", signal.name));
            }
        }
        if !self.signals.values().any(Signal::has_samples) {
            return Err(input.fault(Place::Whole, ReadFault::NoSamples));
        }
        Ok(())
    }

    fn take_in(&mut self, input: &mut Input<'_>, chunk: &Chunk) -> Result<(), FormatError> {
        let place = Place::Byte(chunk.at);
        if !is_known(chunk.tag) {
            let fault = ReadFault::Value {
                what: "the tag of a chunk".into(),
                found: format!("{:#04x}", chunk.tag),
                expected: "a tag of the format",
            };
            return Err(input.fault(place, fault));
        }
        let mut payload = Vec::new();
        match chunk.tag {
            SOURCE => {
                chunk.payload(input, &mut payload)?;
                let Some(source) = Source::parse(&payload) else {
                    return Err(input.cut(chunk.at, "the definition of a source", 0, chunk.length));
                };
                self.sources.insert(chunk.signal(), source);
            }
            SIGNAL => {
                chunk.payload(input, &mut payload)?;
                let id = chunk.meta;
                if id >= MOST_SIGNALS {
                    let fault = ReadFault::Value {
                        what: "the number of a signal".into(),
                        found: id.to_string(),
                        expected: "0 to 255",
                    };
                    return Err(input.fault(place, fault));
                }
                let signal = Signal::parse(id, &payload).map_err(|f| input.fault(place, f))?;
                self.signals.insert(id, signal);
            }
            DATA | INDEX | SUMMARY | UTC | ANNOTATION | VARIABLE_DATA => {
                self.of_signal(input, chunk)?;
            }
            _ => {}
        }
        Ok(())
    }

    fn of_signal(&mut self, input: &mut Input<'_>, chunk: &Chunk) -> Result<(), FormatError> {
        let Some(signal) = self.signals.get_mut(&chunk.signal()) else {
            let what = format!("the definition of signal {}", chunk.signal());
            return Err(input.fault(Place::Byte(chunk.at), ReadFault::Missing { what }));
        };
        match (chunk.tag, chunk.level()) {
            (DATA, _) => {
                let entries = chunk.entries(input)?;
                if entries.bits != signal.bits {
                    let fault = ReadFault::Value {
                        what: format!("the bits of a sample of `{}`", signal.name),
                        found: entries.bits.to_string(),
                        expected: "those of its definition",
                    };
                    return Err(input.fault(Place::Byte(chunk.at), fault));
                }
                signal.chunks += 1;
                signal.samples = signal.samples.saturating_add(entries.count.into());
                signal.first_data.get_or_insert((chunk.at, entries.first));
                let end = entries.first.saturating_add(entries.count.into());
                signal.end = signal.end.max(end);
            }
            (INDEX, 1) => {
                signal.first_index.get_or_insert(chunk.at);
            }
            (SUMMARY, 1) => {
                let entries = chunk.entries(input)?;
                let covered = i64::from(entries.count) * i64::from(signal.decimation);
                signal.end = signal.end.max(entries.first.saturating_add(covered));
            }
            (ANNOTATION, _) => {
                signal.first_annotation.get_or_insert(chunk.at);
            }
            (UTC, _) if signal.utc.is_none() => {
                let mut payload = Vec::new();
                chunk.payload(input, &mut payload)?;
                let mut fields = Fields::of(&payload);
                let sample = fields.i64();
                fields.bytes(ENTRIES_HEAD as usize - 8);
                signal.utc = sample.zip(fields.i64());
            }
            _ => {}
        }
        Ok(())
    }

    pub(super) fn measures_voltage(&self) -> bool {
        self.with_samples().any(|signal| signal.kind == ChannelKind::Voltage)
    }

    fn with_samples(&self) -> impl Iterator<Item = &Signal> {
        self.signals.values().filter(|signal| signal.has_samples())
    }

    pub(super) fn source_of(&self, signal: &Signal) -> &str {
        self.sources.get(&signal.source).map_or("", |source| source.name.as_str())
    }

    pub(super) fn layout(&self) -> Layout {
        let mut layout = Layout { format: JLS.name.into(), ..Layout::default() };
        let several = self
            .with_samples()
            .any(|signal| self.with_samples().any(|other| other.source != signal.source));
        for signal in self.with_samples() {
            let source = self.source_of(signal);
            let name = match several {
                true => format!("{source}.{}", signal.name),
                false => signal.name.clone(),
            };
            if signal.is_line() {
                layout.lines.push(name);
            } else {
                layout.channels.push(Channel::new(name, signal.kind, source));
            }
        }
        layout.remarks.extend(self.remarks.iter().cloned());
        for signal in self.with_samples().filter(|signal| signal.bits > 8) {
            let first = signal.first_data.map_or(0, |(_, first)| first);
            let missing = signal.end.abs_diff(first).saturating_sub(signal.samples);
            if missing > 0 {
                layout.remarks.push(format!(
                    "{}: {missing} samples were left out when it was written; where summaries cover them, one mean stands in for each {} samples",
                    signal.name, signal.decimation
                ));
            }
        }
        layout
    }
}
