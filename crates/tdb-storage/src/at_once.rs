//! Concurrent execution of blocking jobs.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Runs `job` for each item, with up to `in_flight` jobs at once, and returns the results in the
/// order of the items.
///
/// Intended for jobs that wait for I/O. If no thread can be created, the calling thread runs all
/// jobs.
///
/// ```
/// let squares = tdb_storage::at_once(3, &[1, 2, 3, 4], |number| number * number);
/// assert_eq!(squares, [1, 4, 9, 16]);
/// ```
pub fn at_once<T: Sync, R: Send + Sync>(in_flight: usize, items: &[T], job: impl Fn(&T) -> R + Sync) -> Vec<R> {
    if in_flight <= 1 || items.len() <= 1 {
        return items.iter().map(job).collect();
    }
    let results: Vec<OnceLock<R>> = items.iter().map(|_| OnceLock::new()).collect();
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some((item, result)) = {
            let index = next.fetch_add(1, Ordering::Relaxed);
            items.get(index).zip(results.get(index))
        } {
            // Each index is handed out once.
            let _ = result.set(job(item));
        }
    };
    thread::scope(|scope| {
        for _ in 1..in_flight.min(items.len()) {
            if thread::Builder::new().spawn_scoped(scope, work).is_err() {
                break;
            }
        }
        work();
    });
    results.into_iter().filter_map(OnceLock::into_inner).collect()
}
