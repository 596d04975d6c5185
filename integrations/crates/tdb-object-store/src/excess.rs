//! What a store may answer at most: listings, refusals and whatever else is read as a whole before anybody looks at it.

use std::collections::HashSet;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::task_local;

/// What a page of a listing counts for at least. It bounds how many there can be: some stores have pages without names, so that those
/// say nothing of whether a listing ends.
const PAGE: u64 = 64 << 10;

/// That a store answers with more than it may.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Excess {
    #[error("an answer of more than {0} bytes")]
    Answer(u64),
    #[error("a listing of more than {0} bytes")]
    Listing(u64),
    #[error("a listing that begins again where it was before")]
    Circle,
}

/// A listing whose pages are being asked for.
#[derive(Debug)]
pub(crate) struct Listing {
    /// Bytes that its pages may have together.
    most: u64,
    left: AtomicU64,
    /// The pages that were answered, by hashes of their URLs, which may hold secrets.
    pages: Mutex<HashSet<u64>>,
    hasher: RandomState,
}

task_local! {
    /// The listing that the requests of a task belong to.
    static LISTING: Arc<Listing>;
}

impl Listing {
    pub(crate) fn new(most: u64) -> Arc<Self> {
        Arc::new(Self { most, left: AtomicU64::new(most), pages: Mutex::default(), hasher: RandomState::new() })
    }

    /// Does something whose requests are those of this listing.
    pub(crate) async fn of<T>(self: Arc<Self>, asking: impl Future<Output = T>) -> T {
        LISTING.scope(self, asking).await
    }

    /// The listing that the running task is about, if it is about one.
    pub(crate) fn current() -> Option<Arc<Self>> {
        LISTING.try_with(Arc::clone).ok()
    }

    /// Notes that a page came.
    pub(crate) fn page(&self, url: &str) -> Result<(), Excess> {
        let hash = self.hasher.hash_one(url);
        if !self.pages.lock().unwrap_or_else(PoisonError::into_inner).insert(hash) {
            return Err(Excess::Circle);
        }
        self.bytes(PAGE)
    }

    /// Notes that bytes came.
    pub(crate) fn bytes(&self, count: u64) -> Result<(), Excess> {
        let less = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(count));
        less.map(|_| ()).map_err(|_| Excess::Listing(self.most))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listings_end() {
        let listing = Listing::new(10 * PAGE);
        assert_eq!(listing.page("a"), Ok(()));
        assert_eq!(listing.page("b"), Ok(()));
        assert_eq!(listing.page("a"), Err(Excess::Circle));
        assert_eq!(listing.bytes(8 * PAGE), Ok(()));
        assert_eq!(listing.bytes(1), Err(Excess::Listing(10 * PAGE)));
        assert_eq!(listing.page("c"), Err(Excess::Listing(10 * PAGE)));
        assert_eq!(Listing::new(u64::MAX).bytes(u64::MAX), Ok(()));
    }
}
