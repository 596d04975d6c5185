//! What was measured.

use tdb_reference::TimedReads;

/// One side's figures.
pub(crate) struct Measured {
    pub(crate) one_thread: TimedReads,
    pub(crate) all_threads: TimedReads,
}
