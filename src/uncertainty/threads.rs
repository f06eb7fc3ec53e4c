//! Work that is shared out over threads, with results in the order of the work.

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};

thread_local! {
    /// True on a thread that has a share of some work: the work itself shares out no more.
    static SHARED: Cell<bool> = const { Cell::new(false) };
}

/// Most threads that are started.
const MOST: usize = 4;

/// `work` of each item, which depends on it alone, so that it does not matter how many threads share them
/// out. A thread that cannot be started is done without.
pub(crate) fn mapped<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    if SHARED.get() {
        return items.iter().map(work).collect();
    }
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = processors.min(MOST).min(items.len());
    if threads <= 1 {
        return items.iter().map(work).collect();
    }
    let next = AtomicUsize::new(0);
    let part = || {
        let before = SHARED.replace(true);
        let mut found = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(at) else { break };
            found.push((at, work(item)));
        }
        SHARED.set(before);
        found
    };
    let mut found = std::thread::scope(|scope| {
        let start = |_| std::thread::Builder::new().spawn_scoped(scope, part).ok();
        let others: Vec<_> = (1..threads).filter_map(start).collect();
        let mut found = part();
        for other in others {
            match other.join() {
                Ok(more) => found.extend(more),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        found
    });
    found.sort_by_key(|(at, _)| *at);
    found.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_items() {
        let items: Vec<usize> = (0..1000).collect();
        let squares = mapped(&items, |i| i * i);
        assert!(squares.iter().enumerate().all(|(i, square)| *square == i * i));
        assert_eq!(squares.len(), 1000);
        assert!(mapped(&[] as &[usize], |i| *i).is_empty());
    }
}
