//! Perfetto traces as they are read: power rails, counters, slices and instants.
//!
//! A `PowerRails` packet says the energy of rails since boot in microwattsecond, each with its own
//! `timestamp_ms` since boot, which is not the packet's clock: the power of a rail is the mean
//! between two such readings. A counter holds from its packet to its next. Counters of a trace of
//! this program keep what they stand for: a component is part of the total, and the voltage,
//! current and power of a rail share its name. Its digital lines are lines again, and what its lanes
//! of gaps name is unknown there: the counter itself, with the power of a line also the total and the
//! voltage and current of that line, which stand at their last values again behind the gap.
//!
//! The file is walked packet by packet, twice: for names and the first instant, then for the
//! samples. What is kept is bounded by the tracks and by the slices that are open at one time.

mod decode;
mod emit;
mod names;
mod packets;

use super::super::{Format, FormatError, Input, Options, Place, ReadFault, Shape};
use crate::trace::SampleSink;
pub(in crate::formats) use decode::kind;
use decode::{Decoder, Happening};
use emit::Emitter;
use names::Names;
use packets::Packets;

pub(in crate::formats) const PERFETTO: Format = Format {
    name: "perfetto",
    title: "Perfetto trace (protobuf): power rails, counters, slices",
    shape: Shape::File { recognises: |head| packets::recognised(head.bytes()), read },
};

fn read(input: &mut Input<'_>, _: &Options, sink: &mut dyn SampleSink) -> Result<(), FormatError> {
    let mut names = Names::default();
    let mut decoder = Decoder::default();
    walk(input, &mut decoder, &mut |happening| {
        names.take_in(happening);
        Ok(())
    })?;
    names.finish(&decoder).map_err(|fault| input.fault(Place::Whole, fault))?;
    let mut emitter = Emitter::new(&names, sink);
    walk(input, &mut Decoder::default(), &mut |happening| emitter.take_in(happening))?;
    emitter.end();
    Ok(())
}

fn walk(
    input: &mut Input<'_>,
    decoder: &mut Decoder,
    on: &mut dyn FnMut(Happening<'_>) -> Result<(), ReadFault>,
) -> Result<(), FormatError> {
    input.rewind()?;
    let mut packets = Packets::of(input);
    while let Some((at, packet)) = packets.next()? {
        decoder.decode(&packet, on).map_err(|fault| packets.fault(at, fault))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
