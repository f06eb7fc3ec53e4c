//! Sessions as they are written.

use super::super::FormatError;
use super::super::archive::ArchiveWriter;
use super::{FRAME, LINES, METADATA, RAW, VERSION};
use crate::trace::{ChannelKind, Level, Origin, Readings, SampleClock, Times};
use std::io::{self, Seek, Write};

/// Writes the one channel of current of a capture, and its first eight lines, as a session.
///
/// Its samples have to be at the beats of one clock; a gap is written as not-a-number. An edge
/// between two samples moves to the later one.
pub fn write(readings: &Readings, out: impl Write + Seek) -> Result<(), FormatError> {
    let failed = |source| FormatError::Write { file: "PPK2 session".into(), source };
    let (channel, clock) = current(readings).map_err(|said| failed(io::Error::other(said)))?;
    let start = match readings.layout.origin {
        Origin::Wall { unix_ns, .. } => unix_ns / 1_000_000,
        _ => 0,
    };
    let metadata = serde_json::json!({
        "metadata": { "samplesPerSecond": clock.rate().0, "startSystemTime": start },
        "formatVersion": VERSION,
    });
    let mut archive = ArchiveWriter::new(out);
    let raw = archive.entry(RAW, |out| frames(readings, channel, clock, out));
    let json = raw.and_then(|()| {
        archive.entry(METADATA, |out| out.write_all(metadata.to_string().as_bytes()))
    });
    json.and_then(|()| archive.finish()).map_err(failed)?;
    Ok(())
}

/// The channel of current and its clock.
fn current(readings: &Readings) -> Result<(usize, SampleClock), &'static str> {
    let only = "a session keeps one channel of current at an even rate from time zero on";
    let mut of_current = readings
        .layout
        .channels
        .iter()
        .enumerate()
        .filter(|(_, channel)| channel.kind == ChannelKind::Current);
    let (Some((channel, _)), None) = (of_current.next(), of_current.next()) else {
        return Err(only);
    };
    let mut found = None;
    for block in readings.series.get(channel).iter().flat_map(|series| series.blocks()) {
        match (block.times, found) {
            (Times::Even { clock, .. }, None) if clock.start.0 == 0 => found = Some(clock),
            (Times::Even { clock, .. }, Some(before)) if clock == before => {}
            _ => return Err(only),
        }
    }
    found.map(|clock| (channel, clock)).ok_or(only)
}

fn frames(
    readings: &Readings,
    channel: usize,
    clock: SampleClock,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut edges: Vec<_> =
        readings.edges.iter().filter(|edge| edge.line.0 < LINES).copied().collect();
    edges.sort_by_key(|edge| edge.at);
    let mut edges = edges.into_iter().peekable();
    let (mut bits, mut sample) = (0u16, 0u64);
    let mut frame = |value: f64, sample: u64, out: &mut dyn Write| {
        while let Some(edge) = edges.next_if(|edge| edge.at <= clock.at(sample)) {
            let level = match edge.to {
                Level::Low => 1,
                Level::High => 2,
                Level::Unknown => 0,
            };
            let shift = 2 * edge.line.0;
            bits = bits & !(3 << shift) | level << shift;
        }
        let mut bytes = [0; FRAME];
        let (current, digital) = bytes.split_at_mut(4);
        current.copy_from_slice(&((value * 1e6) as f32).to_le_bytes());
        digital.copy_from_slice(&bits.to_be_bytes());
        out.write_all(&bytes)
    };
    for block in readings.series.get(channel).iter().flat_map(|series| series.blocks()) {
        let Times::Even { first, .. } = block.times else { continue };
        while sample < first {
            frame(f64::NAN, sample, out)?;
            sample += 1;
        }
        for value in block.values {
            frame(*value, sample, out)?;
            sample += 1;
        }
    }
    Ok(())
}
