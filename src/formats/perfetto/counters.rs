//! The counters: which there are, and when they are worth a packet.

use super::super::FormatError;
use super::super::instants::Instants;
use super::packets::{Counted, Packets};
use crate::trace::Trace;
use std::io::Write;

/// Which counters to write.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Emit {
    /// Those whose value is another than the one last written.
    Changed,
    /// Every one that has no value at this instant yet.
    All,
}

pub(super) struct Counters {
    components: usize,
    counters: Vec<Counter>,
}

struct Counter {
    track: u64,
    written: Option<(u64, f64)>,
}

impl Counters {
    /// Describes the tracks: total power, power by component, voltage, current and power by rail.
    pub(super) fn describe(
        trace: &Trace,
        packets: &mut Packets<impl Write>,
    ) -> Result<Self, FormatError> {
        let power = packets.group("power")?;
        let watts = |name: &str, scale| Counted { name: name.to_owned(), unit: "W", scale };
        let mut tracks = vec![packets.counter(&watts("total", Some("power")), power)?];
        for component in &trace.header.components {
            tracks.push(packets.counter(&watts(&component.name, Some("power")), power)?);
        }
        let rails = packets.group("rails")?;
        for rail in &trace.header.rails {
            for (what, unit) in [("voltage", "V"), ("current", "A"), ("power", "W")] {
                let name = format!("{} {what}", rail.name);
                tracks.push(packets.counter(&Counted { name, unit, scale: None }, rails)?);
            }
        }
        let counters = tracks.into_iter().map(|track| Counter { track, written: None }).collect();
        Ok(Self { components: trace.header.components.len(), counters })
    }

    /// Writes the values that hold from nanosecond `at` on.
    pub(super) fn emit(
        &mut self,
        at: u64,
        instants: &Instants<'_>,
        which: Emit,
        packets: &mut Packets<impl Write>,
    ) -> Result<(), FormatError> {
        let values = values(instants, self.components);
        for (counter, value) in self.counters.iter_mut().zip(values) {
            let known = counter.written.is_some_and(|(when, written)| {
                written.to_bits() == value.to_bits() && (which == Emit::Changed || when == at)
            });
            if !known {
                packets.value(at, counter.track, value)?;
                counter.written = Some((at, value));
            }
        }
        Ok(())
    }
}

/// The values of all counters in the order of their tracks; zero before the first of a waveform.
fn values<'a>(instants: &'a Instants<'_>, components: usize) -> impl Iterator<Item = f64> + 'a {
    let (powers, rails) = instants.values().split_at(components.min(instants.values().len()));
    let total: f64 = powers.iter().flatten().sum();
    let of_rails = rails.chunks(2).flat_map(|pair| {
        let value = |at: usize| pair.get(at).copied().flatten().unwrap_or(0.0);
        [value(0), value(1), value(0) * value(1)]
    });
    // An empty sum is minus zero.
    std::iter::once(total + 0.0).chain(powers.iter().map(|p| p.unwrap_or(0.0))).chain(of_rails)
}
