//! Calls that are made at the same time.

use clariq_core::Result;
use std::num::NonZeroUsize;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

/// Calls `each` with all items, in order, at most `most` at a time. After the first error no further
/// item is begun.
pub(super) fn concurrently<T: Sync>(
    most: NonZeroUsize,
    items: &[T],
    each: impl Fn(&T) -> Result<()> + Sync,
) -> Result<()> {
    let next = AtomicUsize::new(0);
    let has_failed = AtomicBool::new(false);
    let results: Vec<OnceLock<Result<()>>> = items.iter().map(|_| OnceLock::new()).collect();
    thread::scope(|scope| {
        for _ in 0..most.get().min(items.len()) {
            scope.spawn(|| {
                while !has_failed.load(Ordering::Relaxed) {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(index) else { break };
                    let result = each(item);
                    if result.is_err() {
                        has_failed.store(true, Ordering::Relaxed);
                    }
                    let _ = results[index].set(result);
                }
            });
        }
    });
    // Items are begun in order: one that was not begun comes after one that failed.
    results.into_iter().filter_map(OnceLock::into_inner).collect()
}
