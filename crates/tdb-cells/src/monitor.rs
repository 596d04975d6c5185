//! Cancellation and progress of queries.

mod watch;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use tdb_storage::CancelToken;

pub use watch::Watch;

/// A handle to cancel queries and to observe progress from any thread. Cheap to clone.
///
/// Queries with the same monitor are cancelled together. Their progress is added up.
///
/// ```
/// use tdb_cells::Monitor;
///
/// let monitor = Monitor::new();
/// let elsewhere = monitor.clone();
/// std::thread::spawn(move || elsewhere.cancel()).join().expect("it cancels");
/// assert!(monitor.is_cancelled());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Monitor {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    cancelled: CancelToken,
    /// `true` if the monitor does not count progress.
    only_cancels: bool,
    tiles: AtomicU64,
    planned_tiles: AtomicU64,
    bytes: AtomicU64,
    planned_bytes: AtomicU64,
    unneeded_tiles: AtomicU64,
    unneeded_bytes: AtomicU64,
}

/// The progress of queries.
///
/// The planned numbers come from the query plan, and exclude reads of dimension labels. A tile
/// counts once, independent of the number of fields and reads. When a query has returned the last
/// batch, all planned tiles that were not read count as finished and as unneeded. The finished work
/// of a query never exceeds the plan, and finally equals the plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// The number of finished tiles: read in part or in full, or unneeded. Counted once per
    /// fragment and not per field.
    pub tiles: u64,
    /// The number of planned tiles.
    pub planned_tiles: u64,
    /// The stored bytes, in data files, of the finished tiles.
    pub bytes: u64,
    /// The stored bytes, in data files, of the planned tiles.
    pub planned_bytes: u64,
    /// The number of tiles in `tiles` that the query did not need to read.
    pub unneeded_tiles: u64,
    /// The number of bytes in `bytes` that the query did not need to read.
    pub unneeded_bytes: u64,
}

impl Monitor {
    /// Creates a monitor without queries.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a monitor for cancellation only. [`progress`](Self::progress) stays zero, and
    /// queries skip planning for progress. This saves time in queries for a few cells of a large
    /// array.
    #[must_use]
    pub fn only_cancelling() -> Self {
        Self { shared: Arc::new(Shared { only_cancels: true, ..Shared::default() }) }
    }

    /// Cancels the current and future queries of this monitor. Each query returns
    /// [`Cancelled`](crate::Cancelled) instead of the next batch, at the latest after unfiltering
    /// the current chunk of a tile. Prefetching stops, and pending requests are dropped.
    /// Cancellation is permanent: use another monitor for further queries.
    pub fn cancel(&self) {
        self.shared.cancelled.cancel();
    }

    /// Returns `true` after [`cancel`](Self::cancel).
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.shared.cancelled.is_cancelled()
    }

    /// Returns the progress of the queries started so far.
    #[must_use]
    pub fn progress(&self) -> Progress {
        let Shared { tiles, planned_tiles, bytes, planned_bytes, unneeded_tiles, unneeded_bytes, .. } = &*self.shared;
        let (unneeded_tiles, unneeded_bytes) = (unneeded_tiles.load(Relaxed), unneeded_bytes.load(Relaxed));
        // Finished work is loaded first, because planned work can only grow. `max` and `min` below
        // hide reordered loads.
        let (tiles, bytes) = (tiles.load(Relaxed), bytes.load(Relaxed));
        let (planned_tiles, planned_bytes) = (planned_tiles.load(Relaxed), planned_bytes.load(Relaxed));
        Progress {
            tiles,
            planned_tiles: planned_tiles.max(tiles),
            bytes,
            planned_bytes: planned_bytes.max(bytes),
            unneeded_tiles: unneeded_tiles.min(tiles),
            unneeded_bytes: unneeded_bytes.min(bytes),
        }
    }

    /// Returns the token for cancelling storage requests.
    #[must_use]
    pub fn cancel_token(&self) -> &CancelToken {
        &self.shared.cancelled
    }

    /// Returns `true` if the monitor counts progress.
    #[must_use]
    pub fn has_progress(&self) -> bool {
        !self.shared.only_cancels
    }

    fn plan(&self, tiles: u64, bytes: u64) {
        self.shared.planned_tiles.fetch_add(tiles, Relaxed);
        self.shared.planned_bytes.fetch_add(bytes, Relaxed);
    }

    fn spare(&self, tiles: u64, bytes: u64) {
        self.advance(tiles, bytes);
        self.shared.unneeded_tiles.fetch_add(tiles, Relaxed);
        self.shared.unneeded_bytes.fetch_add(bytes, Relaxed);
    }

    fn advance(&self, tiles: u64, bytes: u64) {
        self.shared.tiles.fetch_add(tiles, Relaxed);
        self.shared.bytes.fetch_add(bytes, Relaxed);
    }
}
