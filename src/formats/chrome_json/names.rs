//! The first walk: names, what there is, and from when to when.

use super::super::ReadFault;
use super::super::named_unit::{labelled, quantity};
use super::CHROME_JSON;
use super::event::{Event, counted};
use crate::trace::{Channel, ChannelId, ChannelKind, Layout, Origin};
use std::collections::BTreeMap;

/// A counter: process, name, id, and the value within it.
pub(super) type Key = (String, String, String, String);

/// Names and extent of a trace.
#[derive(Debug, Default)]
pub(super) struct Names {
    processes: BTreeMap<String, String>,
    threads: BTreeMap<(String, String), String>,
    /// The values of each counter, in the order of the first walk.
    counters: BTreeMap<Key, u64>,
    extent: Option<(f64, f64)>,
    events: u64,
    open: BTreeMap<(String, String), u64>,
    stray: u64,
    other: u64,
    pub(super) layout: Layout,
    pub(super) targets: BTreeMap<Key, (ChannelId, f64)>,
}

impl Names {
    pub(super) fn take_in(&mut self, event: &Event) -> Result<(), ReadFault> {
        let track = || (event.pid.clone(), event.tid.clone());
        match event.ph.as_str() {
            "M" => {
                let name = event.args().and_then(|args| args.get("name")?.as_str());
                match (event.name.as_str(), name) {
                    ("process_name", Some(name)) => {
                        self.processes.insert(event.pid.clone(), name.into());
                    }
                    ("thread_name", Some(name)) => {
                        self.threads.insert(track(), name.into());
                    }
                    _ => {}
                }
                return Ok(());
            }
            "X" => {
                let dur = event.dur()?;
                if dur < 0.0 {
                    return Err(ReadFault::Value {
                        what: "dur".into(),
                        found: dur.to_string(),
                        expected: "a duration in microseconds",
                    });
                }
                self.reach(event.ts()? + dur);
                self.events += 1;
            }
            "B" => {
                *self.open.entry(track()).or_default() += 1;
                self.events += 1;
            }
            "E" => {
                let open = self.open.entry(track()).or_default();
                self.stray += u64::from(*open == 0);
                *open = open.saturating_sub(1);
            }
            "C" => {
                for (value, _) in values(event) {
                    *self.counters.entry(key(event, value)).or_default() += 1;
                }
            }
            "i" | "I" | "R" => self.events += 1,
            _ => {
                self.other += 1;
                return Ok(());
            }
        }
        self.reach(event.ts()?);
        Ok(())
    }

    fn reach(&mut self, us: f64) {
        let (from, to) = self.extent.unwrap_or((us, us));
        self.extent = Some((from.min(us), to.max(us)));
    }

    /// The first and the last instant \[us\].
    pub(super) fn extent(&self) -> (f64, f64) {
        self.extent.unwrap_or_default()
    }

    /// Makes the layout, once all has been seen.
    pub(super) fn finish(&mut self) -> Result<(), ReadFault> {
        if self.counters.is_empty() && self.events == 0 {
            return Err(ReadFault::NoSamples);
        }
        let (from, to) = self.extent();
        if (to - from) * 1e6 >= u64::MAX as f64 {
            return Err(ReadFault::PastEnd { at: ((to - from) * 1e-6).to_string() });
        }
        let origin = if from == 0.0 { Origin::FirstSample } else { Origin::OwnClock(from * 1e-6) };
        self.layout = Layout { format: CHROME_JSON.name.into(), origin, ..Layout::default() };
        for key in self.counters.keys() {
            let (channel, scale) = self.channel(key);
            let id = ChannelId(self.layout.channels.len());
            self.layout.channels.push(channel);
            self.targets.insert(key.clone(), (id, scale));
        }
        let left_open: u64 = self.open.values().sum();
        for (count, what) in [
            (self.stray, "ends of spans have no begin and are left out"),
            (left_open, "spans have no end: they end with the trace"),
            (self.other, "events of other phases (flows, asynchronous ones, objects) are not read"),
        ] {
            if count > 0 {
                self.layout.remarks.push(format!("{count} {what}"));
            }
        }
        Ok(())
    }

    /// The channel of a value of a counter: its unit is in the name of either.
    fn channel(&self, key: &Key) -> (Channel, f64) {
        let (pid, counter, id, value) = key;
        // Keys are in order: those of one counter stand together.
        let own = (pid.clone(), counter.clone(), id.clone(), String::new());
        let same = |key: &&Key| (&key.0, &key.1, &key.2) == (pid, counter, id);
        let values = self.counters.range(own..).map(|(key, _)| key).take_while(same).take(2);
        let alone = values.count() < 2;
        let of_value = quantity(value).map(|(kind, scale)| (counter.clone(), kind, scale));
        let of_counter = labelled(counter).map(|(name, kind, scale)| {
            let name = if alone { name.to_owned() } else { format!("{name}.{value}") };
            (name, kind, scale)
        });
        let (name, kind, scale) = of_value.or(of_counter).unwrap_or_else(|| {
            let name = if alone { counter.clone() } else { format!("{counter}.{value}") };
            (name, ChannelKind::Other, 1.0)
        });
        let ends = [self.counters.first_key_value(), self.counters.last_key_value()];
        let several = ends.into_iter().flatten().any(|((other, ..), _)| other != pid);
        let process = self.processes.get(pid).filter(|_| several);
        let name = match (process, id.as_str()) {
            (Some(process), _) => format!("{process}/{name}"),
            (None, "") => name,
            (None, id) => format!("{name}#{id}"),
        };
        let rail = if kind == ChannelKind::Other { String::new() } else { name.clone() };
        (Channel::new(name, kind, rail), scale)
    }

    /// The name of the track of an event.
    pub(super) fn track(&self, pid: &str, tid: &str) -> String {
        let key = (pid.to_owned(), tid.to_owned());
        let thread = self.threads.get(&key).cloned();
        let several = self.processes.len() > 1;
        match (self.processes.get(pid), thread) {
            (Some(process), Some(thread)) if several => format!("{process}/{thread}"),
            (_, Some(thread)) => thread,
            (Some(process), None) => format!("{process}/{tid}"),
            (None, None) => format!("{pid}/{tid}"),
        }
    }
}

pub(super) fn key(event: &Event, value: &str) -> Key {
    (event.pid.clone(), event.name.clone(), event.id.clone(), value.into())
}

/// The values of a counter.
pub(super) fn values(event: &Event) -> impl Iterator<Item = (&str, f64)> {
    let pairs = event.args().into_iter().flatten();
    pairs.filter_map(|(name, value)| Some((name.as_str(), counted(value)?)))
}
