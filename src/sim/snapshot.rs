//! A run at a moment, written down, so that what comes after it can be run again: as it was, or under
//! other policies.
//!
//! A snapshot holds everything that moves: pending events, requests, random streams, accounts, metrics so
//! far. What is fixed comes from the scenario, and is compared by a digest of each part. Policies (when
//! domains rest, priorities, deadlines, batches, queues, the end) may differ from that moment on; hardware,
//! networks and arrivals may not.

use super::kernel::Queue;
use super::system::{Event, SavedSystem};
use crate::trace::MetricsSink;
use crate::units::SimTime;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

const SCHEMA: &str = "joulecast.snapshot/1";

/// A run at a moment.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Snapshot {
    schema: String,
    version: String,
    scenario: String,
    seed: u64,
    at_ps: SimTime,
    /// Digests of what has to stay as it is, by name.
    fixed: BTreeMap<String, String>,
    /// What may change, by name, in words.
    policies: BTreeMap<String, String>,
    pub(super) queue: Queue<Event>,
    pub(super) system: SavedSystem,
    pub(super) sums: MetricsSink,
    /// Of all above.
    #[serde(default)]
    digest: String,
}

/// What a scenario fixes and what it is free to change, by name.
#[derive(Debug, Default)]
pub(super) struct Terms {
    pub(super) fixed: BTreeMap<String, String>,
    pub(super) policies: BTreeMap<String, String>,
}

/// Why a snapshot cannot be taken up.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SnapshotError {
    /// It is none.
    #[error("this is no snapshot of a run: {0}")]
    NotOne(String),
    /// It is not as it was written.
    #[error("the snapshot is not as it was written: its digest does not fit")]
    Changed,
    /// It comes from another version, whose state is another.
    #[error("the snapshot was written by version {0}, and this is {current}: run to its moment anew", current = env!("CARGO_PKG_VERSION"))]
    Version(String),
    /// The scenario differs in what has to stay.
    #[error("the snapshot is of another run: {} differ{}\nhelp: from a snapshot on, policies may change (when domains rest, priorities, deadlines, batches, queues, the end); hardware, networks and arrivals may not", .0.join(", "), if .0.len() == 1 { "s" } else { "" })]
    Differs(Vec<String>),
    /// A domain is in a state that the scenario rests it in no longer.
    #[error(
        "domain `{0}` is at rest at the moment of the snapshot, in another state than the scenario rests it in\nhelp: keep its state and change when it rests, or take the snapshot while it is on"
    )]
    Resting(String),
    /// It does not hold together with the scenario.
    #[error(
        "the snapshot holds work that the scenario does not plan (a batch in service that is larger than its batches?)"
    )]
    Unfit,
    /// One of a moment at which the run is over is asked for.
    #[error("a snapshot at {at} of a run that ends at {end} holds nothing that could go on")]
    PastEnd {
        /// The moment.
        at: SimTime,
        /// The end.
        end: SimTime,
    },
    /// One of a moment before the run begins is asked for.
    #[error("a snapshot at {at} of a run that goes on from {start} comes before its start")]
    BeforeStart {
        /// The moment.
        at: SimTime,
        /// The start.
        start: SimTime,
    },
    /// The end lies before it.
    #[error("the snapshot is of {at}, and the run is to end at {end}")]
    Ended {
        /// Its moment.
        at: SimTime,
        /// The end that is asked for.
        end: SimTime,
    },
}

impl Snapshot {
    pub(super) fn new(
        (scenario, seed): (&str, u64),
        terms: Terms,
        at: SimTime,
        (queue, system, sums): (Queue<Event>, SavedSystem, MetricsSink),
    ) -> Self {
        let mut made = Self {
            schema: SCHEMA.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            scenario: scenario.to_owned(),
            seed,
            at_ps: at,
            fixed: terms.fixed,
            policies: terms.policies,
            queue,
            system,
            sums,
            digest: String::new(),
        };
        made.digest = made.digest();
        made
    }

    /// The moment that it is of.
    pub fn at(&self) -> SimTime {
        self.at_ps
    }

    /// The seed of its run.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The scenario that it is of, by name.
    pub fn scenario(&self) -> &str {
        &self.scenario
    }

    /// As text.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// From its text.
    ///
    /// # Errors
    /// It is no snapshot, of another version, or was changed since it was written.
    pub fn from_json(text: &str) -> Result<Self, SnapshotError> {
        #[derive(Deserialize)]
        struct Head {
            schema: String,
            version: String,
        }
        let none = |error: serde_json::Error| SnapshotError::NotOne(error.to_string());
        let head: Head = serde_json::from_str(text).map_err(none)?;
        if head.schema != SCHEMA {
            return Err(SnapshotError::NotOne(format!("its schema is `{}`", head.schema)));
        }
        if head.version != env!("CARGO_PKG_VERSION") {
            return Err(SnapshotError::Version(head.version));
        }
        let read: Self = serde_json::from_str(text).map_err(none)?;
        if read.digest == read.digest() { Ok(read) } else { Err(SnapshotError::Changed) }
    }

    fn digest(&self) -> String {
        let bare = Self { digest: String::new(), ..self.clone() };
        let mut hash = Hash::default();
        hash.0.update(bare.to_json().as_bytes());
        hash.text()
    }

    /// Names of the policies that `terms` changes.
    ///
    /// # Errors
    /// What has to stay differs.
    pub(super) fn changes(&self, terms: &Terms) -> Result<BTreeSet<String>, SnapshotError> {
        let differing = differing(&self.fixed, &terms.fixed);
        if !differing.is_empty() {
            return Err(SnapshotError::Differs(differing.into_iter().collect()));
        }
        Ok(self::differing(&self.policies, &terms.policies))
    }

    /// A policy as it was, in words.
    pub fn policy(&self, name: &str) -> Option<&str> {
        self.policies.get(name).map(String::as_str)
    }
}

type Named = BTreeMap<String, String>;

fn differing(old: &Named, new: &Named) -> BTreeSet<String> {
    let names = old.keys().chain(new.keys());
    names.filter(|name| old.get(*name) != new.get(*name)).cloned().collect()
}

/// A digest of what is written into it.
#[derive(Default)]
struct Hash(Sha256);

impl Hash {
    fn text(self) -> String {
        self.0.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

impl fmt::Write for Hash {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.update(text.as_bytes());
        Ok(())
    }
}

impl Terms {
    /// Something that has to stay as it is, by all that its `Debug` tells.
    pub(super) fn fix(&mut self, name: impl Into<String>, value: &impl fmt::Debug) {
        let mut hash = Hash::default();
        // Writing into a digest does not fail.
        let _ = fmt::write(&mut hash, format_args!("{value:?}"));
        self.fixed.insert(name.into(), hash.text());
    }

    /// Something that may change.
    pub(super) fn free(&mut self, name: impl Into<String>, value: impl Into<String>) {
        self.policies.insert(name.into(), value.into());
    }
}
