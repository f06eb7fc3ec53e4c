//! Memory plans of a network, worked out once.

use super::placement::placed;
use super::planned::MemoryPlan;
use super::sizes::{Formats, Sizes};
use crate::hardware::{Profile, TensorClass};
use crate::model::{Buffers, Edge};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Sizes and plans that are kept, each.
const KEPT: usize = 32;

/// A memory that an engine works from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Room {
    /// The memory, by index.
    pub memory: usize,
    /// Whole bytes that it holds.
    pub capacity: u64,
    pub weights: bool,
    /// Activations, as far as those at the edge of the network have no memory of their own.
    pub activations: bool,
    /// What is handed in.
    pub inputs: bool,
    /// What is handed out.
    pub results: bool,
}

impl Room {
    /// Whether it holds activations of any sort.
    pub(super) fn takes_any(&self) -> bool {
        self.activations || self.inputs || self.results
    }

    /// Whether it holds an activation that passes the edge of the network here, or none.
    pub(super) fn takes(&self, edge: Option<Edge>) -> bool {
        match edge {
            None => self.activations,
            Some(Edge::In) => self.inputs,
            Some(Edge::Out) => self.results,
        }
    }
}

/// What a plan depends on.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Key {
    formats: Formats,
    rooms: Vec<Room>,
}

/// What has been worked out.
#[derive(Default)]
struct Known {
    sizes: Vec<(Formats, Arc<Sizes>)>,
    plans: Vec<(Key, Arc<MemoryPlan>)>,
}

/// Buffers of a network, with the memory plans that have been asked for. Copies share them.
#[derive(Clone, Default)]
pub struct Homes {
    buffers: Arc<Buffers>,
    known: Arc<Mutex<Known>>,
}

impl Homes {
    /// Homes of these buffers.
    pub fn new(buffers: Buffers) -> Self {
        Self { buffers: Arc::new(buffers), known: Arc::default() }
    }

    /// The buffers.
    pub fn buffers(&self) -> &Buffers {
        &self.buffers
    }

    /// The plan of one engine, kept for the next time.
    pub fn plan(&self, engine: usize, profile: &Profile) -> Arc<MemoryPlan> {
        let formats = Formats::of(&self.buffers, engine, profile);
        let key = Key { formats, rooms: rooms(engine, profile) };
        let found = find(&self.known().plans, &key);
        found.unwrap_or_else(|| {
            let sizes = self.sizes(&key.formats);
            let plan = Arc::new(placed(&self.buffers, &sizes, &key.rooms));
            keep(&mut self.known().plans, key, &plan);
            plan
        })
    }

    fn sizes(&self, formats: &Formats) -> Arc<Sizes> {
        let found = find(&self.known().sizes, formats);
        found.unwrap_or_else(|| {
            let sizes = Arc::new(Sizes::of(&self.buffers, formats));
            keep(&mut self.known().sizes, formats.clone(), &sizes);
            sizes
        })
    }

    /// A thread that stopped half-way leaves nothing half-done here.
    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn find<K: PartialEq, V>(list: &[(K, Arc<V>)], key: &K) -> Option<Arc<V>> {
    list.iter().find(|(own, _)| own == key).map(|(_, value)| Arc::clone(value))
}

fn keep<K, V>(list: &mut Vec<(K, Arc<V>)>, key: K, value: &Arc<V>) {
    if list.len() >= KEPT {
        list.remove(0);
    }
    list.push((key, Arc::clone(value)));
}

fn rooms(engine: usize, profile: &Profile) -> Vec<Room> {
    let memories = &profile.spec().memories;
    let reached = profile.links().engine_memories.get(engine).into_iter().flatten().copied();
    let inputs_live = profile.class_of_home(engine, TensorClass::Inputs);
    let results_live = profile.class_of_home(engine, TensorClass::Results);
    let rooms = reached.filter_map(|memory| {
        let own = memories.get(memory)?;
        let holds = |class| own.holds.contains(&class);
        let (weights, activations) = (holds(TensorClass::Weights), holds(TensorClass::Activations));
        let (inputs, results) = (holds(inputs_live), holds(results_live));
        // Parts of bytes hold nothing, and nothing is past 64 bits.
        let capacity = own.room().get().0.max(0.0) as u64;
        let holds_any = weights || activations || inputs || results;
        let room = Room { memory, capacity, weights, activations, inputs, results };
        holds_any.then_some(room)
    });
    rooms.collect()
}

/// Of the same buffers: what has been worked out of them is no difference.
impl PartialEq for Homes {
    fn eq(&self, other: &Self) -> bool {
        self.buffers == other.buffers
    }
}

impl fmt::Debug for Homes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Homes").field("buffers", &self.buffers).finish_non_exhaustive()
    }
}
