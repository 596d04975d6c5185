//! Size limits for responses read into memory: all except file contents.

use std::collections::HashSet;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::task_local;

/// Minimum size that a page counts for. Limits the number of pages, because some stores return
/// pages without names.
const PAGE: u64 = 64 << 10;

/// A response exceeded its size limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Excess {
    #[error("a response of more than {0} bytes")]
    Answer(u64),
    #[error("a listing of more than {0} bytes")]
    Listing(u64),
    #[error("a listing that returns to an earlier page")]
    Cycle,
}

/// State of a listing across pages.
#[derive(Debug)]
pub(crate) struct Listing {
    /// Maximum size of all pages in bytes.
    most: u64,
    left: AtomicU64,
    /// Hashes of the received pages' URLs. The URLs themselves may contain secrets.
    pages: Mutex<HashSet<u64>>,
    hasher: RandomState,
}

task_local! {
    /// Listing of the current task.
    static LISTING: Arc<Listing>;
}

impl Listing {
    pub(crate) fn new(most: u64) -> Arc<Self> {
        Arc::new(Self { most, left: AtomicU64::new(most), pages: Mutex::default(), hasher: RandomState::new() })
    }

    /// Runs a future, counting its requests for this listing.
    pub(crate) async fn of<T>(self: Arc<Self>, asking: impl Future<Output = T>) -> T {
        LISTING.scope(self, asking).await
    }

    /// Returns the listing of the current task, if any.
    pub(crate) fn current() -> Option<Arc<Self>> {
        LISTING.try_with(Arc::clone).ok()
    }

    /// Records a received page.
    pub(crate) fn page(&self, url: &str) -> Result<(), Excess> {
        let hash = self.hasher.hash_one(url);
        if !self.pages.lock().unwrap_or_else(PoisonError::into_inner).insert(hash) {
            return Err(Excess::Cycle);
        }
        self.bytes(PAGE)
    }

    /// Records received bytes.
    pub(crate) fn bytes(&self, count: u64) -> Result<(), Excess> {
        let less = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(count));
        less.map(|_| ()).map_err(|_| Excess::Listing(self.most))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endless_listings_end() {
        let listing = Listing::new(10 * PAGE);
        assert_eq!(listing.page("a"), Ok(()));
        assert_eq!(listing.page("b"), Ok(()));
        assert_eq!(listing.page("a"), Err(Excess::Cycle));
        assert_eq!(listing.bytes(8 * PAGE), Ok(()));
        assert_eq!(listing.bytes(1), Err(Excess::Listing(10 * PAGE)));
        assert_eq!(listing.page("c"), Err(Excess::Listing(10 * PAGE)));
        assert_eq!(Listing::new(u64::MAX).bytes(u64::MAX), Ok(()));
    }
}
