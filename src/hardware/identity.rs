//! Which profile a profile is, so that what was worked out of one is never taken for another.
//!
//! A profile is what was read, with some numbers moved since. Whatever else is done to it makes it one that
//! nothing is known of. Copies are the same profile.

use super::view::Reaches;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// Profiles so far.
static MADE: AtomicU64 = AtomicU64::new(0);

/// Which profile a profile is.
#[derive(Debug, Clone)]
pub(super) struct Identity {
    /// Number of what was read.
    pub(super) origin: u64,
    /// Numbers that were moved since, by their place in [`super::Profile::parameters`], with their values.
    pub(super) moved: Vec<(usize, f64)>,
    /// What each of its engines reaches: the same whatever numbers are.
    pub(super) reaches: Arc<OnceLock<Reaches>>,
}

impl Identity {
    /// One that there was not before.
    pub(super) fn new() -> Self {
        let origin = MADE.fetch_add(1, Ordering::Relaxed);
        Self { origin, moved: Vec::new(), reaches: Arc::default() }
    }

    /// The same with these numbers moved, by rising place.
    pub(super) fn moved(&self, mut moved: Vec<(usize, f64)>) -> Self {
        let anew = moved.len();
        let again = |place: &usize| moved.iter().take(anew).any(|(own, _)| own == place);
        let before: Vec<_> =
            self.moved.iter().filter(|(place, _)| !again(place)).copied().collect();
        moved.extend(before);
        moved.sort_by_key(|(place, _)| *place);
        Self { origin: self.origin, moved, reaches: Arc::clone(&self.reaches) }
    }
}
