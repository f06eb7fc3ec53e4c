//! The first walk: names, what there is, and from when to when.

use super::super::super::ReadFault;
use super::super::super::named_unit::{labelled, quantity};
use super::super::message::TrackDescriptor;
use super::PERFETTO;
use super::decode::{Decoder, Happening};
use crate::trace::{Channel, ChannelId, ChannelKind, Layout, Level, LineId, Origin};
use std::collections::{BTreeMap, BTreeSet};

/// Groups of tracks that this program writes.
const POWER: &str = "power";
const RAILS: &str = "rails";
const ACTIVITY: &str = "activity";
const LINES: &str = "lines";
const GAPS: &str = "gaps";
const COUNTERS: &str = "counters";
const TOTAL: &str = "total";
const UNKNOWN: &str = "unknown";
/// What a line with parts is called for the rest of it.
const REST: &str = " (rest)";

/// What a channel is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Of {
    Rail(u32),
    Counter(u64),
}

/// Where values of a counter go.
#[derive(Debug, Clone, Copy)]
pub(super) struct Target {
    pub(super) channel: ChannelId,
    pub(super) scale: f64,
    pub(super) incremental: bool,
}

/// Names and extent of a trace.
#[derive(Debug, Default)]
pub(super) struct Names {
    tracks: BTreeMap<u64, TrackDescriptor>,
    rails: BTreeMap<u32, String>,
    counted: BTreeMap<Of, u64>,
    extent: Option<(u64, u64)>,
    events: u64,
    /// How deep slices are open on each track, and the ends without a begin.
    open: BTreeMap<u64, u64>,
    stray: u64,
    last_energy: BTreeMap<u32, (u64, u64)>,
    resets: u64,
    repeats: u64,
    /// Tracks with a slice or an instant of another name than lines, or gaps, have.
    not_lines: BTreeSet<u64>,
    not_gaps: BTreeSet<u64>,
    pub(super) layout: Layout,
    pub(super) targets: BTreeMap<Of, Target>,
    /// Tracks that are digital lines.
    pub(super) lines: BTreeMap<u64, LineId>,
    /// Tracks that tell of gaps, and the counters that are unknown within them.
    pub(super) gaps: BTreeMap<u64, Vec<Of>>,
}

/// Counters in the groups of this program.
#[derive(Debug, Default)]
struct CountedHere {
    total: Option<Of>,
    power: BTreeMap<String, Of>,
    of_rail: BTreeMap<(String, ChannelKind), Of>,
    others: BTreeMap<String, Of>,
}

impl CountedHere {
    /// The counters that are unknown where the one of this name is: its own; with the power of a line
    /// the total, and what else is told of the line; with a voltage or a current their product.
    fn unknown_with(&self, name: &str) -> Vec<Of> {
        use ChannelKind::{Current, Power, Voltage};
        let of_rail = |rail: &str, kind| self.of_rail.get(&(rail.to_owned(), kind)).copied();
        if let Some(own) = self.power.get(name) {
            let line = name.strip_suffix(REST).unwrap_or(name);
            let beside =
                [Voltage, Current, Power].into_iter().filter_map(|kind| of_rail(line, kind));
            return std::iter::once(*own).chain(self.total).chain(beside).collect();
        }
        let product = [" voltage", " current"].iter().find_map(|end| name.strip_suffix(end));
        let product = product.and_then(|rail| of_rail(rail, Power));
        self.others.get(name).copied().into_iter().chain(product).collect()
    }
}

/// The level that a slice or an instant of a line tells of.
pub(super) fn level(name: &str) -> Option<Level> {
    match name {
        "low" | "fall" => Some(Level::Low),
        "high" | "rise" => Some(Level::High),
        _ => None,
    }
}

impl Names {
    pub(super) fn take_in(&mut self, happening: Happening<'_>) {
        match happening {
            Happening::Rail { index, name } => {
                self.rails.insert(index, name.into());
            }
            Happening::Track(descriptor) => {
                self.tracks.insert(descriptor.uuid.unwrap_or_default(), descriptor.clone());
            }
            Happening::Energy { index, ms, uws } => {
                self.reach(ms.saturating_mul(1_000_000));
                *self.counted.entry(Of::Rail(index)).or_default() += 1;
                if let Some((before, energy)) = self.last_energy.insert(index, (ms, uws)) {
                    self.resets += u64::from(uws < energy);
                    self.repeats += u64::from(ms == before);
                }
            }
            Happening::Count { track, ns, .. } => {
                self.reach(ns);
                *self.counted.entry(Of::Counter(track)).or_default() += 1;
            }
            Happening::Begin { track, ns, name, .. } => {
                self.reach(ns);
                self.see(track, name);
                *self.open.entry(track).or_default() += 1;
                self.events += 1;
            }
            Happening::End { track, ns } => {
                self.reach(ns);
                let open = self.open.entry(track).or_default();
                self.stray += u64::from(*open == 0);
                *open = open.saturating_sub(1);
            }
            Happening::Instant { track, ns, name } => {
                self.reach(ns);
                self.see(track, name);
                self.events += 1;
            }
        }
    }

    fn see(&mut self, track: u64, name: &str) {
        if level(name).is_none() {
            self.not_lines.insert(track);
        }
        if name != UNKNOWN {
            self.not_gaps.insert(track);
        }
    }

    fn reach(&mut self, ns: u64) {
        let (from, to) = self.extent.unwrap_or((ns, ns));
        self.extent = Some((from.min(ns), to.max(ns)));
    }

    /// The first and the last instant.
    pub(super) fn extent(&self) -> (u64, u64) {
        self.extent.unwrap_or_default()
    }

    /// Makes the layout, once all has been seen.
    pub(super) fn finish(&mut self, decoder: &Decoder) -> Result<(), ReadFault> {
        let (from, to) = self.extent();
        // One reading of an energy is no power yet.
        self.counted.retain(|of, count| matches!(of, Of::Counter(_)) || *count > 1);
        if self.counted.is_empty() && self.events == 0 {
            return Err(ReadFault::NoSamples);
        }
        if (to - from).checked_mul(1000).is_none() {
            return Err(ReadFault::PastEnd { at: ((to - from) as f64 * 1e-9).to_string() });
        }
        let wall = decoder.wall().and_then(|wall| i64::try_from(wall + i128::from(from)).ok());
        self.layout = Layout {
            format: PERFETTO.name.into(),
            origin: match wall {
                Some(unix_ns) => Origin::Wall { unix_ns, utc: true },
                None if from == 0 => Origin::FirstSample,
                None => Origin::OwnClock(from as f64 * 1e-9),
            },
            ..Layout::default()
        };
        self.channels();
        self.lines_and_gaps();
        let left_open: u64 = self.open.values().sum();
        for (count, what) in [
            (decoder.compressed, "compressed packets are not read"),
            (
                decoder.unknown_clocks,
                "events on a clock that nothing ties to boot time are left out",
            ),
            (self.stray, "ends of slices have no begin and are left out"),
            (left_open, "slices have no end: they end with the trace"),
            (self.resets, "readings of a rail's energy are below the one before: a gap each"),
            (self.repeats, "readings of a rail's energy repeat a time and are left out"),
        ] {
            if count > 0 {
                self.layout.remarks.push(format!("{count} {what}"));
            }
        }
        if self.counted.keys().any(|of| matches!(of, Of::Rail(_))) {
            let remark = "rails may feed each other: which do is not in the file";
            self.layout.remarks.push(remark.into());
        }
        Ok(())
    }

    fn channels(&mut self) {
        for of in self.counted.keys() {
            let channel = ChannelId(self.layout.channels.len());
            let (made, scale, incremental) = match of {
                Of::Rail(index) => {
                    let unnamed = || format!("rail {index}");
                    let name = self.rails.get(index).cloned().unwrap_or_else(unnamed);
                    (Channel::new(name.clone(), ChannelKind::Power, name), 1.0, false)
                }
                Of::Counter(track) => self.counter(*track),
            };
            self.layout.channels.push(made);
            self.targets.insert(*of, Target { channel, scale, incremental });
        }
    }

    /// Lanes of this program that are no slices.
    fn lines_and_gaps(&mut self) {
        let counted = self.counted_here();
        let tracks: Vec<u64> = self.tracks.keys().copied().collect();
        for track in tracks {
            match self.group(track).as_deref() {
                Some(LINES) if !self.not_lines.contains(&track) => {
                    self.lines.insert(track, LineId(self.layout.lines.len()));
                    self.layout.lines.push(self.name(track));
                }
                Some(GAPS) if !self.not_gaps.contains(&track) => {
                    self.gaps.insert(track, counted.unknown_with(&self.name(track)));
                }
                _ => {}
            }
        }
    }

    fn counted_here(&self) -> CountedHere {
        let mut counted = CountedHere::default();
        for (of, target) in &self.targets {
            let (Of::Counter(track), Some(channel)) =
                (of, self.layout.channels.get(target.channel.0))
            else {
                continue;
            };
            let name = channel.name.clone();
            match self.group(*track).as_deref() {
                Some(POWER) if name == TOTAL => counted.total = Some(*of),
                Some(POWER) => drop(counted.power.insert(name, *of)),
                Some(RAILS) => {
                    counted.of_rail.insert((channel.rail.clone(), channel.kind), *of);
                    counted.others.insert(name, *of);
                }
                Some(COUNTERS) => drop(counted.others.insert(name, *of)),
                _ => {}
            }
        }
        counted
    }

    fn counter(&self, track: u64) -> (Channel, f64, bool) {
        let name = self.name(track);
        let counter = self.tracks.get(&track).and_then(|track| track.counter.as_ref());
        let unit = counter.and_then(|counter| counter.unit_name.as_deref());
        let multiplier = counter.and_then(|counter| counter.unit_multiplier).unwrap_or(1);
        let incremental = counter.is_some_and(|counter| counter.is_incremental == Some(true));
        let measured = unit.and_then(quantity).map(|(kind, scale)| (name.as_str(), kind, scale));
        let (label, kind, scale) =
            measured.or(labelled(&name)).unwrap_or((&name, ChannelKind::Other, 1.0));
        let scale = scale * multiplier as f64;
        let rail = if kind == ChannelKind::Other { "" } else { label };
        let mut channel = Channel::new(label, kind, rail);
        match self.group(track).as_deref() {
            Some(POWER) if label != TOTAL => channel.part_of = Some(TOTAL.into()),
            Some(RAILS) => {
                let ends = [" voltage", " current", " power"];
                let rail = ends.iter().find_map(|end| label.strip_suffix(end));
                channel.rail = rail.unwrap_or(label).into();
                // The power of a rail is what its components draw, seen from another side.
                channel.part_of = (kind == ChannelKind::Power).then(|| TOTAL.into());
            }
            _ => {}
        }
        (channel, scale, incremental)
    }

    /// The name of the group that a track stands in, where that is itself in none.
    fn group(&self, track: u64) -> Option<String> {
        let parent = self.tracks.get(&track)?.parent_uuid?;
        self.tracks.get(&parent)?.parent_uuid.is_none().then(|| self.name(parent))
    }

    fn name(&self, track: u64) -> String {
        let Some(known) = self.tracks.get(&track) else { return format!("track {track}") };
        let thread = known.thread.as_ref();
        let process = known.process.as_ref();
        let named = known
            .name
            .clone()
            .or(known.static_name.clone())
            .or(thread.and_then(|thread| thread.name.clone()))
            .or(process.and_then(|process| process.name.clone()))
            .filter(|name| !name.is_empty());
        named
            .or(thread.and_then(|thread| Some(format!("thread {}", thread.tid?))))
            .or(process.and_then(|process| Some(format!("process {}", process.pid?))))
            .unwrap_or_else(|| format!("track {track}"))
    }

    /// The name of a lane; one of this program's lanes is called after its track, not `npu (2)`.
    pub(super) fn lane(&self, track: u64) -> String {
        let name = self.name(track);
        if self.group(track).as_deref() != Some(ACTIVITY) {
            return name;
        }
        let of_track = name
            .strip_suffix(')')
            .and_then(|name| name.rsplit_once(" ("))
            .filter(|(_, number)| number.parse::<u32>().is_ok_and(|number| number > 1))
            .map(|(track, _)| track.to_owned());
        of_track.unwrap_or(name)
    }
}
