//! Prefetching and progress of a planned read.

use tdb_cells::Watch;
use tdb_snapshot::{Result, Snapshot};
use tdb_storage::{PlannedFile, ReadAhead};

use crate::plan::{FileReads, FragmentPlan};

/// Announces a planned read. On a remote storage, starts to prefetch up to `bytes` bytes ahead.
/// Reports the plan to the monitor of the query, if any. Calls `plan` only if the prefetcher or the
/// monitor needs a plan. Returns `None` without prefetching.
///
/// # Errors
/// The error of `plan`.
pub fn announce(
    array: &Snapshot,
    bytes: u64,
    plan: impl FnOnce() -> Result<Vec<FragmentPlan>>,
) -> Result<Option<ReadAhead>> {
    if !is_wanted(array) {
        return Ok(None);
    }
    let fragments = plan()?;
    if let Some(watch) = array.workers().watch().filter(|watch| watch.wants_plan()) {
        for fragment in &fragments {
            let files = fragment.reads.iter().map(|reads| (reads.file.clone(), reads.ranges.clone()));
            watch.plan(fragment.tiles.len() as u64, files);
        }
    }
    let Some(ahead) = array.ahead() else { return Ok(None) };
    let reads = fragments.into_iter().flat_map(|fragment| fragment.reads);
    let file = |reads: FileReads| PlannedFile { path: reads.file, size: reads.size, ranges: reads.ranges };
    let ahead = ahead.read_ahead(reads.map(file).collect(), bytes);
    Ok(Some(match array.workers().watch() {
        Some(watch) => ahead.until(watch.cancel_token()),
        None => ahead,
    }))
}

/// Returns `true` if a plan is needed.
pub(super) fn is_wanted(array: &Snapshot) -> bool {
    array.ahead().is_some() || array.workers().watch().is_some_and(Watch::wants_plan)
}
