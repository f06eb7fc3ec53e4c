//! What the MicroProfiler of TensorFlow Lite for Microcontrollers prints, as it stands in the log
//! of a device.
//!
//! `CONV_2D took 12345 ticks (1 ms).` a layer, or the CSV of `LogCsv`: `"Event","Tag","Ticks"` with
//! rows `0,CONV_2D,12345`. Ports print microseconds in place of ticks, whole milliseconds behind
//! them, or `us (N cycles)`. Anything may stand before them on the line, as loggers put it. Totals
//! by tag, which some versions add, repeat the events and are left out.
//!
//! Ticks need their rate: `--rate` gives it. Else, where milliseconds are printed, it follows from
//! them: they are cut to whole ones, so that each layer bounds the rate from both sides.
//! In the text form an inference ends where its first tag comes after a line that is no layer; in
//! the CSV where the number of the event starts again.

mod ticks;

use super::layer_table::{LARGEST, Layer, LayerTable, seconds};
use super::{Format, FormatError, Input, Options, Place, ReadFault, Shape, lines};
use crate::trace::{Layout, SampleSink};
use ticks::TickRate;

/// A log with a profile.
pub(super) const FORMAT: Format = Format {
    name: "tflm-profile",
    title: "TensorFlow Lite Micro: MicroProfiler log, text or CSV",
    shape: Shape::File {
        recognises: |head| {
            head.lines().any(|line| Event::of_text(line).is_some() || Head::of(line).is_some())
        },
        read,
    },
};

/// The unit of a duration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unit {
    Ticks,
    Microseconds,
}

/// One event.
#[derive(Debug, Clone, PartialEq)]
struct Event {
    tag: String,
    unit: Unit,
    duration: f64,
    milliseconds: Option<f64>,
    cycles: Option<f64>,
    inference: u64,
}

impl Event {
    /// `TAG took N ticks (M ms).`
    fn of_text(line: &str) -> Option<Self> {
        let (before, after) = line.split_once(" took ")?;
        let tag = before.rsplit([' ', '\t', ':', ']', '>']).next()?;
        let mut words = after.split_whitespace();
        let duration = digits(words.next()?)?;
        let unit = match words.next()?.trim_end_matches('.') {
            "ticks" => Unit::Ticks,
            "microseconds" | "us" => Unit::Microseconds,
            _ => return None,
        };
        let inner = words.next().and_then(|word| digits(word.strip_prefix('(')?));
        let of = words.next().unwrap_or_default();
        let milliseconds = inner.filter(|_| of.starts_with("ms)"));
        let cycles = inner.filter(|_| of.starts_with("cycles)"));
        let tag = tag.to_owned();
        (!tag.is_empty()).then_some(Self {
            tag,
            unit,
            duration,
            milliseconds,
            cycles,
            inference: 0,
        })
    }
}

/// A number of digits alone.
fn digits(text: &str) -> Option<f64> {
    let few = (1..=20).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    few.then(|| text.parse().ok())?
}

/// The head of the CSV.
#[derive(Debug, Clone, PartialEq)]
struct Head {
    unit: Unit,
    columns: usize,
    milliseconds: Option<usize>,
}

impl Head {
    fn of(line: &str) -> Option<Self> {
        let at = line.find("\"Event\"")?;
        let names: Vec<String> = line
            .get(at..)?
            .split(',')
            .map(|name| name.trim().trim_matches('"').to_ascii_lowercase())
            .collect();
        let unit = match names.get(2)?.as_str() {
            "ticks" => Unit::Ticks,
            "microseconds" => Unit::Microseconds,
            _ => return None,
        };
        let milliseconds = names.iter().position(|name| name == "ms");
        (names.get(1)? == "tag").then_some(Self { unit, columns: names.len(), milliseconds })
    }

    /// A row, whatever stands before it, and the number of its event.
    fn row(&self, line: &str) -> Option<(u64, Event)> {
        let mut cells: Vec<&str> = line.rsplitn(self.columns, ',').map(str::trim).collect();
        cells.reverse();
        let number = digits(cells.first()?.rsplit([' ', '\t', ':', ']', '>']).next()?)? as u64;
        let tag = (*cells.get(1)?).to_owned();
        let duration = digits(cells.get(2)?)?;
        let milliseconds = self.milliseconds.and_then(|at| digits(cells.get(at)?));
        let unit = self.unit;
        let event = Event { tag, unit, duration, milliseconds, cycles: None, inference: 0 };
        (cells.len() == self.columns).then_some((number, event))
    }
}

/// What is found so far.
#[derive(Debug, Default)]
struct Found {
    head: Option<Head>,
    events: Vec<Event>,
    inference: u64,
    last_number: Option<u64>,
    in_block: bool,
    totals: bool,
    cut: bool,
}

impl Found {
    fn line(&mut self, line: lines::Line<'_>) {
        if !line.whole {
            self.cut = true;
            return;
        }
        if let Some(head) = Head::of(line.text) {
            self.head = Some(head);
            self.last_number = None;
            if !self.events.is_empty() {
                self.inference += 1;
            }
        } else if let Some((number, event)) = self.head.as_ref().and_then(|h| h.row(line.text)) {
            if self.last_number.is_some_and(|last| number <= last) {
                self.inference += 1;
            }
            self.last_number = Some(number);
            self.push(event);
        } else if let Some(event) = Event::of_text(line.text) {
            let first = self.events.first().map(|first| &first.tag);
            if !self.in_block && first == Some(&event.tag) {
                self.inference += 1;
            }
            self.in_block = true;
            self.push(event);
        } else {
            self.in_block = false;
            self.totals |= line.text.contains("\"Unique Tag\"");
        }
    }

    fn push(&mut self, mut event: Event) {
        event.inference = self.inference;
        self.events.push(event);
    }
}

fn read(
    input: &mut Input<'_>,
    options: &Options,
    sink: &mut dyn SampleSink,
) -> Result<(), FormatError> {
    if input.size > LARGEST {
        let fault = ReadFault::Size { what: "the log", size: input.size, limit: LARGEST };
        return Err(input.fault(Place::Whole, fault));
    }
    let mut found = Found::default();
    lines::each(input, |line| {
        found.line(line);
        Ok(())
    })?;
    let whole = |fault| input.fault(Place::Whole, fault);
    if found.events.is_empty() && found.totals {
        let what = "a line for each event (totals by tag are no layers)".into();
        return Err(whole(ReadFault::Missing { what }));
    }
    let mut layout = Layout { format: FORMAT.name.into(), ..Layout::default() };
    let ticks = found.events.iter().any(|event| event.unit == Unit::Ticks);
    let rate = match options.rate {
        _ if !ticks => TickRate::of(1e6),
        Some(rate) => {
            layout.remarks.push(format!("a tick is 1/{} s as --rate says", rate.0));
            TickRate::of(rate.0)
        }
        None => {
            let pairs = found.events.iter().filter_map(|e| Some((e.duration, e.milliseconds?)));
            let rate = TickRate::from_milliseconds(pairs).map_err(whole)?;
            layout.remarks.push(rate.remark());
            rate
        }
    };
    if found.totals {
        layout.remarks.push("totals by tag repeat the events and are left out".into());
    }
    if found.cut {
        layout.remarks.push(lines::CUT.into());
    }
    let table = table(&found.events, rate).map_err(whole)?;
    table.tell(input, layout, sink)
}

fn table(events: &[Event], rate: TickRate) -> Result<LayerTable, ReadFault> {
    let mut table = LayerTable { track: "tflm".into(), ..LayerTable::default() };
    let ticks = events.iter().any(|event| event.unit == Unit::Ticks);
    let cycles = events.iter().any(|event| event.cycles.is_some());
    if ticks {
        table.counters.push("ticks".into());
    }
    if cycles {
        table.counters.push("cycles".into());
    }
    for event in events {
        let (rate, in_ticks) = match event.unit {
            Unit::Ticks => (rate.hertz(), Some(event.duration)),
            Unit::Microseconds => (1e6, None),
        };
        let counts = [ticks.then_some(in_ticks), cycles.then_some(event.cycles)];
        table.layers.push(Layer {
            name: event.tag.clone(),
            inference: event.inference,
            duration: seconds(event.duration / rate, "the duration of a layer")?,
            counts: counts.into_iter().flatten().map(|n| n.unwrap_or(f64::NAN)).collect(),
        });
    }
    Ok(table)
}

#[cfg(test)]
mod tests;
