//! A queue as it is written down: state, and pending events in the order in which they come.

use super::queue::{Class, Entry, Order, Queue};
use crate::units::SimTime;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeSet;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Pending<E> {
    at_ps: SimTime,
    class: Class,
    sequence: u64,
    event: E,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written<E> {
    now_ps: SimTime,
    taken: u64,
    at_this_instant: u64,
    instant_limit: u64,
    crowded_at: u64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    last: Vec<String>,
    next_sequence: u64,
    pending: Vec<Pending<E>>,
}

/// Why a written queue is none.
#[derive(Debug, thiserror::Error)]
enum Broken {
    #[error("an event is pending at {at}, before the present of the queue, {now}")]
    Past { at: SimTime, now: SimTime },
    #[error("the event number {0} is pending twice")]
    Twice(u64),
    #[error("an event is pending as number {0}, and {1} would be the next to be given")]
    Future(u64, u64),
    #[error("{0} events cannot be numbered")]
    Exhausted(u64),
}

impl<E: Serialize> Serialize for Queue<E> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut entries: Vec<_> = self.heap.iter().collect();
        // How the heap lies in memory depends on how it came about; the order of events does not.
        entries.sort_unstable_by_key(|e| (e.at, e.order));
        Written {
            now_ps: self.now,
            taken: self.taken,
            at_this_instant: self.at_this_instant,
            instant_limit: self.instant_limit,
            crowded_at: self.crowded_at as u64,
            last: self.last.clone(),
            next_sequence: self.sequence,
            pending: entries.into_iter().map(pending).collect(),
        }
        .serialize(serializer)
    }
}

impl<'de, E: Deserialize<'de>> Deserialize<'de> for Queue<E> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let written = Written::deserialize(deserializer)?;
        restore(written).map_err(serde::de::Error::custom)
    }
}

fn pending<E>(entry: &Entry<E>) -> Pending<&E> {
    let Entry { at, order, event } = entry;
    Pending { at_ps: *at, class: order.class(), sequence: order.sequence(), event }
}

fn restore<E>(written: Written<E>) -> Result<Queue<E>, Broken> {
    let Written { now_ps: now, next_sequence, pending, .. } = written;
    if next_sequence > Order::SEQUENCES {
        return Err(Broken::Exhausted(next_sequence));
    }
    let mut seen = BTreeSet::new();
    for Pending { at_ps: at, sequence, .. } in &pending {
        if *at < now {
            return Err(Broken::Past { at: *at, now });
        }
        if *sequence >= next_sequence {
            return Err(Broken::Future(*sequence, next_sequence));
        }
        if !seen.insert(*sequence) {
            return Err(Broken::Twice(*sequence));
        }
    }
    let entry = |p: Pending<E>| {
        let order = Order::new(p.class, p.sequence);
        Entry { at: p.at_ps, order, event: p.event }
    };
    Ok(Queue {
        heap: pending.into_iter().map(entry).collect(),
        sequence: next_sequence,
        now,
        taken: written.taken,
        at_this_instant: written.at_this_instant,
        instant_limit: written.instant_limit,
        last: written.last,
        crowded_at: usize::try_from(written.crowded_at).unwrap_or(usize::MAX),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn class() -> impl Strategy<Value = Class> {
        (0..5usize).prop_map(|c| {
            use Class::*;
            [Crossing, Completion, Control, Arrival, Flush][c]
        })
    }

    proptest! {
        /// Steps put an event or take one; the queue is written and read between two of them.
        #[test]
        fn a_queue_read_back_goes_on_as_the_one_that_was_written(
            steps in proptest::collection::vec((0u64..20, class(), any::<bool>()), 0..200),
            cut in 0..200usize,
        ) {
            let mut one = Queue::default();
            let mut other = Queue::default();
            for (number, (delay, class, takes)) in steps.into_iter().enumerate() {
                if number == cut {
                    other = serde_json::from_str(&serde_json::to_string(&one).unwrap()).unwrap();
                }
                if takes {
                    prop_assert_eq!(one.take().unwrap(), other.take().unwrap());
                } else {
                    one.schedule_after(SimTime(delay), class, number).unwrap();
                    other.schedule_after(SimTime(delay), class, number).unwrap();
                }
                prop_assert_eq!(
                    serde_json::to_string(&one).unwrap(),
                    serde_json::to_string(&other).unwrap()
                );
            }
        }
    }

    #[test]
    fn a_written_queue_that_cannot_be_is_refused() {
        let mut queue = Queue::default();
        queue.schedule(SimTime(5), Class::Control, 'a').unwrap();
        queue.schedule(SimTime(6), Class::Control, 'b').unwrap();
        queue.take().unwrap();
        let text = serde_json::to_string(&queue).unwrap();
        let read = |from: &str, to: &str| {
            assert!(text.contains(from), "{text}");
            serde_json::from_str::<Queue<char>>(&text.replacen(from, to, 1)).map(|_| ())
        };
        let refused = |from, to| read(from, to).unwrap_err().to_string();
        read("6", "7").unwrap();
        assert!(refused(r#""at_ps":6"#, r#""at_ps":4"#).contains("before the present"));
        assert!(refused(r#""sequence":1"#, r#""sequence":2"#).contains("would be the next"));
        let twice = r#""pending":[{"at_ps":7,"class":"Flush","sequence":1,"event":"c"},"#;
        assert!(refused(r#""pending":["#, twice).contains("twice"));
        let many = format!(r#""next_sequence":{}"#, u64::MAX);
        assert!(refused(r#""next_sequence":2"#, &many).contains("numbered"));
        refused(r#""taken""#, r#""shaken""#);
    }
}
