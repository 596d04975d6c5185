//! What is known of a read before it begins.

use tdb_cells::Watch;
use tdb_snapshot::{Result, Snapshot};
use tdb_storage::{PlannedFile, ReadAhead};

use crate::plan::{FileReads, FragmentPlan};

/// Has the bytes fetched that will be read, up to so many `bytes` ahead, where answers take long; and says what they are to who
/// watches the query. Where neither is wanted, no plan is made.
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

/// Whether a plan is wanted.
pub(super) fn is_wanted(array: &Snapshot) -> bool {
    array.ahead().is_some() || array.workers().watch().is_some_and(Watch::wants_plan)
}
