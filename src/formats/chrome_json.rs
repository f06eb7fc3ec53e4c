//! Events in Chrome's JSON: of profilers, of browsers, of this program.
//!
//! Either an array of events or an object whose `traceEvents` is one; the bracket that closes an
//! array may be missing. An event has a phase `ph` (`X` a span with its duration, `B` and `E` the
//! two ends of one, by process and thread, `C` counters, `i` an instant, `M` names), `ts` and
//! `dur` in microseconds, fractions allowed, whatever `displayTimeUnit` says. Counters have a unit
//! only where their name (`soc (mW)`) or the name of their value (`{"W": 1.5}`) is one. A value
//! that JSON cannot keep (`NaN`) is a gap.
//!
//! The file is walked event by event, twice: for names and the first instant, then for the
//! samples. What is kept is bounded by the tracks, the series and the spans that are open at one
//! time.

mod emit;
mod event;
mod names;
mod split;
mod write;

pub use write::write;

use super::{Format, FormatError, Input, Options, Place, ReadFault, Shape};
use crate::trace::SampleSink;
use emit::Emitter;
use event::Event;
use names::Names;
use split::Events;

pub(super) const CHROME_JSON: Format = Format {
    name: "chrome-json",
    title: "Chrome trace events (JSON)",
    shape: Shape::File {
        recognises: |head| {
            let text = head.text().trim_start();
            text.starts_with(['[', '{'])
                && text.contains("\"ph\"")
                && (text.contains("\"ts\"") || text.contains("\"pid\""))
        },
        read,
    },
};

fn read(input: &mut Input<'_>, _: &Options, sink: &mut dyn SampleSink) -> Result<(), FormatError> {
    let mut names = Names::default();
    walk(input, &mut |event| names.take_in(event))?;
    names.finish().map_err(|fault| input.fault(Place::Whole, fault))?;
    let mut emitter = Emitter::new(&names, sink);
    walk(input, &mut |event| emitter.take_in(event))?;
    emitter.end();
    Ok(())
}

fn walk(
    input: &mut Input<'_>,
    on: &mut dyn FnMut(&Event) -> Result<(), ReadFault>,
) -> Result<(), FormatError> {
    input.rewind()?;
    let mut events = Events::of(input);
    while let Some(text) = events.next()? {
        let event = serde_json::from_slice(text).map_err(|error| {
            let reason = error.to_string();
            ReadFault::Json { reason: reason.split(" at line").next().unwrap_or(&reason).into() }
        });
        let event: Event = event.map_err(|fault| events.fault(fault))?;
        on(&event).map_err(|fault| events.fault(fault))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
