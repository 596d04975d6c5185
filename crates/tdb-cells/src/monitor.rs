//! Watching queries from outside: cancelling them, and seeing how far they are.

mod watch;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use tdb_storage::CancelToken;

pub use watch::Watch;

/// Cancels queries, and says how far they are, from any thread: a handle that is cheap to clone.
///
/// Queries that share a monitor are cancelled together, and their progress adds up.
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
    /// Whether nobody asks how far queries are.
    only_cancels: bool,
    tiles: AtomicU64,
    planned_tiles: AtomicU64,
    bytes: AtomicU64,
    planned_bytes: AtomicU64,
    unneeded_tiles: AtomicU64,
    unneeded_bytes: AtomicU64,
}

/// How far queries are.
///
/// What is planned is what the plan of a query says, labels not included. A tile counts once, however many
/// fields it has and however often it is unfiltered; what turns out not to be needed counts when the last batch was given.
/// So a query that was read to its end has done all that was planned, and none ever does more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// Tiles of which something was read, counted once per fragment and not per field.
    pub tiles: u64,
    /// Tiles that are to be read.
    pub planned_tiles: u64,
    /// Bytes of data files, as they are stored, of tiles that were read.
    pub bytes: u64,
    /// Bytes of data files that are to be read.
    pub planned_bytes: u64,
    /// Those of `tiles` that weren't read, because they turned out not to be needed.
    pub unneeded_tiles: u64,
    /// The same of `bytes`.
    pub unneeded_bytes: u64,
}

impl Monitor {
    /// A handle that no query has yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A handle that only cancels: its [`progress`](Self::progress) stays nothing, and queries needn't make a plan for it, which
    /// counts where few cells of many are wanted.
    #[must_use]
    pub fn only_cancelling() -> Self {
        Self { shared: Arc::new(Shared { only_cancels: true, ..Shared::default() }) }
    }

    /// Ends the queries that have this handle, and those that will get it: each says [`Cancelled`](crate::Cancelled) in place of
    /// its next batch, or as soon as it has left the chunk of a tile that it is in. Bytes that are fetched ahead of it are
    /// given up, requests that are on their way included. There is no way back: another query takes another handle.
    pub fn cancel(&self) {
        self.shared.cancelled.cancel();
    }

    /// Whether somebody has cancelled the queries.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.shared.cancelled.is_cancelled()
    }

    /// How far the queries are that have begun.
    #[must_use]
    pub fn progress(&self) -> Progress {
        let Shared { tiles, planned_tiles, bytes, planned_bytes, unneeded_tiles, unneeded_bytes, .. } = &*self.shared;
        let (unneeded_tiles, unneeded_bytes) = (unneeded_tiles.load(Relaxed), unneeded_bytes.load(Relaxed));
        // What is done is read first: it never seems more than what was planned by then.
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

    /// What ends requests of storages.
    #[must_use]
    pub fn cancel_token(&self) -> &CancelToken {
        &self.shared.cancelled
    }

    /// Whether somebody asks how far queries are.
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
