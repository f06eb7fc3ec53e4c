//! Packets into what happened: clocks into nanoseconds since boot, interned names into text.

use super::super::super::ReadFault;
use super::super::message::{
    COUNTER, ClockSnapshot, INSTANT, InternedData, SLICE_BEGIN, SLICE_END, STATE_CLEARED,
    TracePacket, TrackDescriptor, TrackEvent,
};
use crate::trace::SpanKind;
use std::collections::BTreeMap;

const BOOT: u32 = 6;
const REALTIME: u32 = 1;
/// Clocks from here on are of one sequence.
const OWN_CLOCKS: u32 = 64;

/// What a packet says. Times are nanoseconds since boot.
#[derive(Debug, Clone, Copy)]
pub(super) enum Happening<'a> {
    Rail { index: u32, name: &'a str },
    Energy { index: u32, ms: u64, uws: u64 },
    Track(&'a TrackDescriptor),
    Count { track: u64, ns: u64, value: f64 },
    Begin { track: u64, ns: u64, name: &'a str, kind: SpanKind, inference: Option<u64> },
    End { track: u64, ns: u64 },
    Instant { track: u64, ns: u64, name: &'a str },
}

#[derive(Debug, Default)]
struct Sequence {
    names: BTreeMap<u64, String>,
    categories: BTreeMap<u64, String>,
    clock: Option<u32>,
    track: Option<u64>,
    clocks: BTreeMap<u32, OwnClock>,
}

/// A clock of a sequence: nanoseconds since boot at one of its readings.
#[derive(Debug, Clone, Copy)]
struct OwnClock {
    reading: u64,
    boot: u64,
    unit_ns: u64,
    incremental: bool,
}

/// The state that packets rely on.
#[derive(Debug, Default)]
pub(super) struct Decoder {
    sequences: BTreeMap<u32, Sequence>,
    /// Reading of a clock minus that of boot time.
    offsets: BTreeMap<u32, i128>,
    /// Packets on a clock that nothing ties to boot time.
    pub(super) unknown_clocks: u64,
    /// Packets that are compressed.
    pub(super) compressed: u64,
}

impl Decoder {
    /// Wall time minus time since boot \[ns\].
    pub(super) fn wall(&self) -> Option<i128> {
        self.offsets.get(&REALTIME).copied()
    }

    pub(super) fn decode(
        &mut self,
        packet: &TracePacket,
        on: &mut dyn FnMut(Happening<'_>) -> Result<(), ReadFault>,
    ) -> Result<(), ReadFault> {
        let id = packet.sequence.unwrap_or_default();
        let cleared = packet.sequence_flags.unwrap_or_default() & STATE_CLEARED != 0
            || packet.incremental_state_cleared == Some(true);
        if cleared {
            self.sequences.remove(&id);
        }
        self.compressed += u64::from(packet.compressed_packets.is_some());
        self.take_in_state(id, packet);
        if let Some(descriptor) = &packet.track_descriptor {
            on(Happening::Track(descriptor))?;
        }
        if let Some(rails) = &packet.power_rails {
            for rail in &rails.descriptors {
                let names = [&rail.subsys_name, &rail.rail_name];
                let name = names.into_iter().flatten().filter(|name| !name.is_empty());
                let name = name.map(String::as_str).collect::<Vec<_>>().join("/");
                on(Happening::Rail { index: rail.index.unwrap_or_default(), name: &name })?;
            }
            for reading in &rails.energies {
                let (Some(ms), Some(uws)) = (reading.timestamp_ms, reading.energy_uws) else {
                    continue;
                };
                on(Happening::Energy { index: reading.index.unwrap_or_default(), ms, uws })?;
            }
        }
        match &packet.track_event {
            Some(event) => match self.boot(id, packet) {
                Some(ns) => self.event(id, event, ns, on),
                None => {
                    self.unknown_clocks += 1;
                    Ok(())
                }
            },
            None => Ok(()),
        }
    }

    fn take_in_state(&mut self, id: u32, packet: &TracePacket) {
        if let Some(snapshot) = &packet.clock_snapshot {
            self.snapshot(id, snapshot);
        }
        let sequence = self.sequences.entry(id).or_default();
        if let Some(defaults) = &packet.defaults {
            sequence.clock = defaults.timestamp_clock_id;
            sequence.track = defaults.track_event.and_then(|event| event.track_uuid);
        }
        if let Some(InternedData { event_categories, event_names }) = &packet.interned_data {
            for (of, into) in
                [(event_names, &mut sequence.names), (event_categories, &mut sequence.categories)]
            {
                let pairs = of.iter().filter_map(|entry| Some((entry.iid?, entry.name.clone()?)));
                into.extend(pairs);
            }
        }
    }

    fn snapshot(&mut self, id: u32, snapshot: &ClockSnapshot) {
        let reading = |wanted| snapshot.clocks.iter().find(|c| c.id == Some(wanted))?.timestamp;
        let Some(boot) = reading(BOOT) else { return };
        for clock in &snapshot.clocks {
            let (Some(number), Some(reading)) = (clock.id, clock.timestamp) else { continue };
            if number < OWN_CLOCKS {
                self.offsets.entry(number).or_insert(i128::from(reading) - i128::from(boot));
            } else {
                let own = OwnClock {
                    reading,
                    boot,
                    unit_ns: clock.unit_ns.unwrap_or(1),
                    incremental: clock.is_incremental == Some(true),
                };
                self.sequences.entry(id).or_default().clocks.insert(number, own);
            }
        }
    }

    /// The time of a packet since boot.
    fn boot(&mut self, id: u32, packet: &TracePacket) -> Option<u64> {
        let stamp = packet.timestamp?;
        let sequence = self.sequences.entry(id).or_default();
        match packet.timestamp_clock_id.or(sequence.clock).unwrap_or(BOOT) {
            0 | BOOT => Some(stamp),
            clock if clock < OWN_CLOCKS => {
                let offset = self.offsets.get(&clock)?;
                u64::try_from(i128::from(stamp) - offset).ok()
            }
            clock => {
                let own = sequence.clocks.get_mut(&clock)?;
                let passed =
                    if own.incremental { stamp } else { stamp.checked_sub(own.reading)? };
                let now = own.boot.checked_add(passed.checked_mul(own.unit_ns)?)?;
                if own.incremental {
                    own.boot = now;
                }
                Some(now)
            }
        }
    }

    fn event(
        &self,
        id: u32,
        event: &TrackEvent,
        ns: u64,
        on: &mut dyn FnMut(Happening<'_>) -> Result<(), ReadFault>,
    ) -> Result<(), ReadFault> {
        let sequence = self.sequences.get(&id);
        let track = event.track_uuid.or(sequence.and_then(|s| s.track)).unwrap_or_default();
        let interned = event.name_iid.and_then(|iid| sequence?.names.get(&iid));
        let name = event.name.as_ref().or(interned).map_or("", String::as_str);
        match event.kind {
            Some(COUNTER) => {
                let whole = event.counter_value.map(|value| value as f64);
                match event.double_counter_value.or(whole) {
                    Some(value) => on(Happening::Count { track, ns, value }),
                    None => Ok(()),
                }
            }
            Some(SLICE_BEGIN) => {
                let named = |iid: &u64| sequence?.categories.get(iid);
                let kind = event
                    .categories
                    .iter()
                    .chain(event.category_iids.iter().filter_map(named))
                    .find_map(|category| kind(category))
                    .unwrap_or(SpanKind::Phase);
                let inference = event
                    .debug_annotations
                    .iter()
                    .find(|annotation| annotation.name.as_deref() == Some("inference"))
                    .and_then(|annotation| annotation.uint_value);
                on(Happening::Begin { track, ns, name, kind, inference })
            }
            Some(SLICE_END) => on(Happening::End { track, ns }),
            Some(INSTANT) => on(Happening::Instant { track, ns, name }),
            _ => Ok(()),
        }
    }
}

/// The kind of a span by its name.
pub(in crate::formats) fn kind(name: &str) -> Option<SpanKind> {
    use SpanKind::{Idle, Inference, Layer, Phase, Transition, Window};
    [Inference, Layer, Phase, Idle, Transition, Window].into_iter().find(|k| k.name() == name)
}
