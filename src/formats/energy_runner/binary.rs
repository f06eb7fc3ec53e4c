//! `trace1-energy.bin`: a byte of version, the rate, and energies.

use super::super::{FormatError, Input, Place, ReadFault};
use super::{LINE, TRACE, tell};
use crate::trace::{
    Block, Channel, ChannelId, ChannelKind, Edge, Layout, Mark, SampleClock, SampleSink,
};
use crate::units::{Hertz, SimTime};
use std::io::Read;

const VERSION: u8 = 0xf1;
const HEAD: u64 = 5;
/// Samples read at once.
const BLOCK: usize = 64 * 1024;

/// The sample rate in a head that is one of this format.
pub(super) fn rate(head: &[u8]) -> Option<Hertz> {
    let (&VERSION, rest) = head.split_first()? else { return None };
    let rate = f32::from_le_bytes(rest.get(..4)?.try_into().ok()?);
    (1e-3..=1e9).contains(&rate).then_some(Hertz(f64::from(rate)))
}

pub(super) fn read(
    input: &mut Input<'_>,
    mut layout: Layout,
    edges: &[Edge],
    marks: &[Mark],
    sink: &mut dyn SampleSink,
) -> Result<(), FormatError> {
    let clock = clock(input)?;
    if layout.format.is_empty() {
        layout.format = TRACE.name.into();
    }
    layout.channels = vec![Channel::new("energy", ChannelKind::Power, "dut")];
    layout.lines = vec![LINE.into()];
    layout.remarks.push("samples are taken as microjoule, as the published energies are".into());
    tell(&layout, edges, marks, sink);
    let samples = input.size.saturating_sub(HEAD) / 4;
    let last = clock.reaches(samples).map_err(|_| {
        let at = (samples as f64 / clock.rate().0).to_string();
        input.fault(Place::Whole, ReadFault::PastEnd { at })
    })?;
    stream(input, clock, samples, sink)?;
    sink.end(last);
    Ok(())
}

fn clock(input: &mut Input<'_>) -> Result<SampleClock, FormatError> {
    let mut head = [0; HEAD as usize];
    let found = fill(input, &mut head)?;
    if found == 0 {
        return Err(input.fault(Place::Whole, ReadFault::Empty));
    }
    let clock = rate(&head).and_then(|rate| SampleClock::new(SimTime::ZERO, rate));
    let Some(clock) = clock else {
        let found = head.iter().take(found).map(|byte| format!("{byte:02x} ")).collect::<String>();
        let expected = "the byte f1 and a float32 sample rate".into();
        let fault = ReadFault::Head { expected, found: found.trim_end().into() };
        return Err(input.fault(Place::Byte(0), fault));
    };
    let body = input.size - HEAD;
    if body == 0 {
        return Err(input.fault(Place::Byte(HEAD), ReadFault::NoSamples));
    }
    if !body.is_multiple_of(4) {
        let fault = ReadFault::Truncated { what: "a sample", expected: 4, found: body % 4 };
        return Err(input.fault(Place::Byte(HEAD + body / 4 * 4), fault));
    }
    Ok(clock)
}

fn stream(
    input: &mut Input<'_>,
    clock: SampleClock,
    samples: u64,
    sink: &mut dyn SampleSink,
) -> Result<(), FormatError> {
    let watts_per_microjoule = 1e-6 * clock.rate().0;
    let mut bytes = vec![0; BLOCK * 4];
    let mut values = Vec::with_capacity(BLOCK);
    let mut first = 0;
    while first < samples {
        let found = fill(input, &mut bytes)?;
        values.clear();
        values.extend(bytes[..found].chunks_exact(4).map(|word| {
            let energy = f32::from_le_bytes([word[0], word[1], word[2], word[3]]);
            f64::from(energy) * watts_per_microjoule
        }));
        if values.is_empty() {
            let fault = ReadFault::Truncated {
                what: "the samples",
                expected: samples * 4,
                found: first * 4 + found as u64,
            };
            return Err(input.fault(Place::Byte(HEAD + first * 4), fault));
        }
        sink.samples(ChannelId(0), &Block::even(clock, first, &values));
        first += values.len() as u64;
    }
    Ok(())
}

/// Fills the buffer as far as the file goes.
fn fill(input: &mut Input<'_>, buffer: &mut [u8]) -> Result<usize, FormatError> {
    let mut filled = 0;
    while filled < buffer.len() {
        match input.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(n) => filled += n,
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
            Err(source) => return Err(FormatError::Read { file: input.name.clone(), source }),
        }
    }
    Ok(filled)
}
